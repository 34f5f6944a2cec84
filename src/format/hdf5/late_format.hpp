// SPDX-License-Identifier: BSD-3-Clause
// A file that HDF5 has not been asked for yet, since what is known of files like it was enough so far: whatever is not, HDF5 does.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "format/format.hpp"
#include "format/hdf5/image.hpp"

namespace windrow {

// Opens or makes the file by HDF5, in the store. `path`: as the program's folder is now. `record`: of what HDF5 reads of a file that it opens, or writes to one that it makes; nullptr: nobody
// wants it.
using MakeByHdf5 = std::function<Result<std::unique_ptr<Format>>(const std::string& path, std::unique_ptr<Store> store, std::shared_ptr<ImageRecord> record)>;

class LateFormat : public Format {
 public:
  Status define_group(const std::string& path) override;
  Result<Placement> define_variable(const VariableDefinition& definition) override;
  bool can_split() const noexcept override { return true; }
  Status undefine(const std::string& path, int64_t records) override;
  Status define_split(const VariableDefinition& definition, std::span<const Part> parts) override;
  Result<std::vector<Part>> parts_of(const std::string& path) override;
  Status put_attribute(const std::string& object, const Attribute& attribute) override { return put_attributes(object, std::span(&attribute, 1)); }
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
  Status write_held(const std::string& path, std::span<const std::byte> content) override;
  Result<PlacedChunk> place_chunk(const std::string& path, std::span<const int64_t> first, int64_t bytes, bool keep_old) override;
  Status restore_chunk(const std::string& path, std::span<const int64_t> first) override;
  Status fill_chunk(const std::string& path, std::span<const int64_t> first, std::span<const std::byte> bytes) override;
  void settle_chunks() noexcept override;
  Result<ChunkPlace> find_chunk(const std::string& path, std::span<const int64_t> first) override;
  Status flush() override;

 private:
  // The file as HDF5 has it. May throw std::bad_alloc, and can be asked again then.
  virtual Result<Format*> by_hdf5() = 0;
  virtual Format* if_by_hdf5() noexcept = 0;  // nullptr: HDF5 has not been asked
  template <class Work>
  auto ask(Work&& work) -> decltype(work(std::declval<Format&>()));
};

}  // namespace windrow
