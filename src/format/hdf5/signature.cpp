// SPDX-License-Identifier: BSD-3-Clause
#include "format/hdf5/signature.hpp"

#include <array>
#include <cstring>

namespace windrow {

// Source: HDF5 File Format Specification, III.A: the signature is at byte 0, 512, 1024, 2048, ...; before it is the
// user block.
Result<int64_t> find_superblock(Store& file) {
  constexpr std::array<unsigned char, 8> k_signature{0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  const Result<int64_t> size = file.size();
  if (!size.ok())
    return size.status();
  for (int64_t offset = 0; offset <= size.value() - int64_t{k_signature.size()};
       offset = offset == 0 ? 512 : 2 * offset) {
    std::array<std::byte, k_signature.size()> read{};
    Status status = file.read_at(offset, read);
    if (!status.ok())
      return status;
    if (std::memcmp(read.data(), k_signature.data(), read.size()) == 0)
      return offset;
  }
  return -1;
}

Result<int64_t> find_mark_of_hdf5(Store& file) {
  constexpr int64_t k_version = 8;
  const Result<int64_t> superblock = find_superblock(file);
  return superblock.ok() && superblock.value() >= 0 ? superblock.value() + k_version : superblock;
}

Result<bool> recognises_hdf5(const std::string&, Store& file) {
  const Result<int64_t> superblock = find_superblock(file);
  if (!superblock.ok())
    return superblock.status();
  return superblock.value() >= 0;
}

}  // namespace windrow
