// SPDX-License-Identifier: BSD-3-Clause
// Bytes that HDF5 has written, and that other readers do not find yet: HDF5 itself reads them.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <map>
#include <span>
#include <vector>

namespace windrow {

class PendingWrites {
 public:
  void add(haddr_t address, std::span<const std::byte> bytes);  // in place of earlier ones of this range
  void drop(haddr_t address, size_t size);
  // Replaces the bytes that were read from `address` on.
  void show(haddr_t address, std::span<std::byte> bytes) const noexcept;
  const std::map<haddr_t, std::vector<std::byte>>& pieces() const noexcept { return pieces_; }  // by address, disjoint
  void clear() noexcept { pieces_.clear(); }

 private:
  std::map<haddr_t, std::vector<std::byte>> pieces_;
};

}  // namespace windrow
