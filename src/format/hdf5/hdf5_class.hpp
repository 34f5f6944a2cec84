// SPDX-License-Identifier: BSD-3-Clause
// The format HDF5 on rank 0. hdf5_format.cpp opens, flushes and closes a file and places its data; definitions.cpp
// defines objects.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "format/format.hpp"
#include "format/hdf5/chunk_places.hpp"
#include "format/hdf5/dimensions.hpp"
#include "format/hdf5/driver.hpp"
#include "format/hdf5/handle.hpp"

namespace windrow {

class Hdf5Format final : public Format {
 public:
  Hdf5Format(std::string path, FormatMode mode, const FormatOptions& options, hid_t file)
      : path_(std::move(path)),
        mode_(mode),
        options_(options),
        file_(file),
        scales_(file),
        chunks_(file, path_, scales_, options_),
        published_(mode == FormatMode::update),
        is_interrupted_(windrow::is_interrupted(file)),
        failure_(driver_failure(file)) {}
  ~Hdf5Format() override;
  Hdf5Format(const Hdf5Format&) = delete;
  Hdf5Format& operator=(const Hdf5Format&) = delete;
  // Called once, before all others.
  Status start() { return published_ ? chunks_.set_published() : Status(); }

  Status define_group(const std::string& path) override;
  Result<Placement> define_variable(const VariableDefinition& definition) override;
  Status undefine(const std::string& path, int64_t records) override;
  bool can_split() const noexcept override { return true; }
  Status define_split(const VariableDefinition& definition, std::span<const Part> parts) override;
  Result<std::vector<Part>> parts_of(const std::string& path) override;
  Status put_attribute(const std::string& object, const Attribute& attribute) override {
    return put_attributes(object, std::span(&attribute, 1));
  }
  Status put_attributes(const std::string& object, std::span<const Attribute> attributes) override;
  Status delete_attribute(const std::string& object, const std::string& name) override;
  Status define_link(const SoftLink& link) override;
  Status define_dimension(const Dimension& dimension) override;
  Status name_dimensions(const std::string& variable, const std::vector<std::string>& dimensions) override;
  Result<std::vector<std::string>> read_texts(const std::string& path) override;
  Status write_texts(const std::string& path, const std::vector<std::string>& texts) override;
  Result<Catalog> catalog() override;
  Status extend(const std::string& path, std::span<const int64_t> shape) override;
  Result<int64_t> give_place(const std::string& path) override;
  Status write_inline(const std::string& path, std::span<const std::byte> content) override;
  Result<PlacedChunk> place_chunk(const std::string& path, std::span<const int64_t> first, int64_t bytes,
                                  bool keep_old) override;
  Result<int64_t> reserve_chunk(const std::string& path, std::span<const int64_t> first, int64_t bytes) override;
  Status restore_chunk(const std::string& path, std::span<const int64_t> first) override;
  Status fill_chunk(const std::string& path, std::span<const int64_t> first, std::span<const std::byte> bytes) override;
  void forget_moved_chunks() noexcept override;
  bool is_placing() const noexcept override { return is_placing_; }
  Result<ChunkPlace> find_chunk(const std::string& path, std::span<const int64_t> first) override;
  Result<std::vector<int64_t>> stored_chunks(const std::string& path) override;
  void take_name(std::string path) noexcept override;
  void drop_changes() noexcept override;
  FormatTraits traits() const noexcept override { return {.joins_parts = true}; }
  bool is_interrupted() const noexcept override { return is_interrupted_; }
  Status refuse_others(bool on) override;
  Status flush() override;
  Status close() override;

 private:
  Status writable(const char* what, const std::string& path) const;
  Status can_place(const char* what, const std::string& path);
  Result<int64_t> file_bytes() const;
  Status check_room(int64_t bytes) const;
  Status explain_refusal(const std::string& path) const;
  std::vector<std::string> stored_paths(const std::vector<std::string>& paths) const;
  Status create_dataset(const VariableDefinition& definition, const std::string& place, Placement& placement) const;
  Status outcome(herr_t result, const char* what) const;
  Status verify();
  // `ahead`: for a chunk that is not encoded yet.
  Result<PlacedChunk> find_room(const std::string& path, std::span<const int64_t> first, const ChunkRoom& room,
                                bool ahead);
  // Flushes what only HDF5's memory has, for the checks of heap.hpp, which read the file.
  void hand_over() const noexcept {
    if (changed_)
      (void)H5Fflush(file_, H5F_SCOPE_LOCAL);
  }
  // Runs a call that changes metadata.
  template <class Work>
  Status change(Work&& work) {
    changed_ = true;
    Status status = guard(std::forward<Work>(work));
    refused_ = refused_ || !status.ok();
    chunks_.expect_freed();
    return status;
  }

  std::string path_;
  FormatMode mode_;
  FormatOptions options_;
  hid_t file_;  // invalid when closed
  Scales scales_;
  struct {
    std::string path;
    Handle handle;
  } last_group_;  // the last group that was created: the next object is often in it, which saves HDF5 a path lookup
  ChunkPlaces chunks_;
  bool published_ = false;  // others may have the file, so places in its index must stay valid
  bool is_interrupted_;     // it was when it was opened
  bool is_placing_ = false;
  bool changed_ = false;  // since the file was opened
  bool refused_ = false;  // a call since the last verify() failed, and HDF5 may have completed a part of it
  std::shared_ptr<const Status> failure_;  // of the driver: a storage error, which is permanent
};

}  // namespace windrow
