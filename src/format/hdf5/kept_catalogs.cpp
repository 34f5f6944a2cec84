// SPDX-License-Identifier: BSD-3-Clause
#include "format/hdf5/kept_catalogs.hpp"

#include <algorithm>
#include <list>
#include <mutex>
#include <vector>

#include "format/hdf5/driver.hpp"
#include "format/hdf5/open_files.hpp"
#include "format/hdf5/sizes.hpp"

namespace windrow {
namespace {

// Those used last. Never destroyed: files are closed as late as in the destructors of a program's own objects.
class Catalogs {
 public:
  static Catalogs& all() {
    static auto& catalogs = *new Catalogs;
    return catalogs;
  }
  std::vector<std::shared_ptr<const KeptCatalog>> of_length(int64_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<std::shared_ptr<const KeptCatalog>> found;
    for (const auto& each : catalogs_)
      if (each->read.end == bytes) found.push_back(each);
    return found;
  }
  void keep(std::shared_ptr<const KeptCatalog> catalog) {
    constexpr size_t k_most = 8;
    const std::lock_guard<std::mutex> lock(mutex_);
    catalogs_.push_front(std::move(catalog));
    if (catalogs_.size() > k_most) catalogs_.pop_back();
  }
  void used(const std::shared_ptr<const KeptCatalog>& catalog) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = std::find(catalogs_.begin(), catalogs_.end(), catalog);
    if (found != catalogs_.end()) catalogs_.splice(catalogs_.begin(), catalogs_, found);
  }

 private:
  std::mutex mutex_;
  std::list<std::shared_ptr<const KeptCatalog>> catalogs_;
};

bool all_supported(const std::vector<Attribute>& attributes) noexcept {
  return std::all_of(attributes.begin(), attributes.end(), [](const Attribute& each) { return each.unsupported.empty(); });
}

// What is said of the rest names the file, or may depend on other files.
bool all_supported(const Catalog& catalog) noexcept {
  return catalog.unsupported.empty() && std::all_of(catalog.groups.begin(), catalog.groups.end(), [](const Group& each) { return all_supported(each.attributes); }) &&
         std::all_of(catalog.variables.begin(), catalog.variables.end(),
                     [](const Variable& each) { return each.unsupported.empty() && all_supported(each.attributes); });
}

}  // namespace

void keep_catalog(const ImageRecord& record, const Catalog& catalog) noexcept {
  constexpr int64_t k_most_bytes = int64_t{1} << 20;
  if (record.is_spoiled() || !all_supported(catalog) || memory_of(catalog) > k_most_bytes) return;
  (void)guard([&] {
    if (auto image = record.image()) Catalogs::all().keep(std::make_shared<const KeptCatalog>(KeptCatalog{std::move(*image), catalog, record.asks_for_lock()}));
    return Status();
  });
}

std::shared_ptr<const KeptCatalog> find_catalog(Store& file) {
  const Result<int64_t> bytes = file.size();
  if (!bytes.ok() || OpenFile::exists(file.descriptor(), OpenFor::writing)) return nullptr;  // what HDF5 has in memory counts then
  bool locked = false;
  for (const auto& each : Catalogs::all().of_length(bytes.value())) {
    if (each->locked && !locked && !lock_for_reading(file.descriptor())) return nullptr;
    locked = locked || each->locked;
    if (each->locked != locked) continue;  // of a file that HDF5 was not to lock
    const Result<bool> same = matches(file, each->read);
    if (!same.ok() || !same.value()) continue;
    Catalogs::all().used(each);
    return each;
  }
  if (locked) end_lock(file.descriptor());
  return nullptr;
}

}  // namespace windrow
