// SPDX-License-Identifier: BSD-3-Clause
#include "format/hdf5/reading_format.hpp"

#include <filesystem>
#include <optional>
#include <utility>

#include "format/hdf5/kept_catalogs.hpp"
#include "format/hdf5/open_files.hpp"

namespace windrow {
namespace {

class ReadingFormat final : public LateFormat {
 public:
  ReadingFormat(const std::string& path, std::unique_ptr<Store> store, std::shared_ptr<const KeptCatalog> kept, MakeByHdf5 make)
      : path_(std::filesystem::absolute(path).string()), store_(std::move(store)), kept_(std::move(kept)), make_(std::move(make)) {
    open_.emplace(store_->descriptor(), OpenFor::reading_without_hdf5);
  }

  Result<Catalog> catalog() override {
    return guard([&]() -> Result<Catalog> {
      if (is_closed_) return closed();
      return kept_->catalog;
    });
  }

  Status close() override {
    if (is_closed_) return guard([&] { return closed(); });
    Status status = real_ ? real_->close() : store_ ? store_->close() : Status();
    is_closed_ = true;
    store_ = nullptr;
    open_.reset();
    return status;
  }

 private:
  Status closed() const { return {Code::bad_state, "\"" + path_ + "\" is closed"}; }

  Result<Format*> by_hdf5() override {
    if (is_closed_) return closed();
    if (real_ == nullptr) {
      if (store_ == nullptr) {  // it was given away when memory ran out
        auto opened = open_store(path_, StoreMode::read, {});
        if (!opened.ok()) return opened.status();
        store_ = std::move(opened).value();
      }
      // It counts as locked, but not all programs lock what they change: what the catalog says is what HDF5 is going to find.
      const Result<bool> same = matches(*store_, kept_->read);
      if (!same.ok()) return same.status();
      if (!same.value()) return Status(Code::bad_file, "\"" + path_ + "\": somebody else has changed it since it was opened");
      auto made = make_(path_, std::move(store_), nullptr);
      if (!made.ok()) return made.status();
      real_ = std::move(made).value();
      open_.reset();
    }
    return real_.get();
  }
  Format* if_by_hdf5() noexcept override { return real_.get(); }

  std::string path_;  // the program may change its folder
  std::unique_ptr<Store> store_;  // until HDF5 gets it
  std::shared_ptr<const KeptCatalog> kept_;
  MakeByHdf5 make_;
  std::unique_ptr<Format> real_;
  std::optional<OpenFile> open_;  // until HDF5 knows of it
  bool is_closed_ = false;
};

}  // namespace

Result<std::unique_ptr<Format>> read_hdf5_format(const std::string& path, std::unique_ptr<Store> store, MakeByHdf5 make) {
  auto kept = find_catalog(*store);
  if (kept == nullptr) return make(path, std::move(store), std::make_shared<ImageRecord>(ImageRecord::Of::reads));
  return std::unique_ptr<Format>(std::make_unique<ReadingFormat>(path, std::move(store), std::move(kept), std::move(make)));
}

}  // namespace windrow
