// SPDX-License-Identifier: BSD-3-Clause
#include "format/hdf5/pending_writes.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace windrow {

void PendingWrites::drop(haddr_t address, size_t size) {
  const haddr_t end = address + size;
  auto next = pieces_.upper_bound(address);
  if (next != pieces_.begin() && std::prev(next)->first + std::prev(next)->second.size() > address)
    --next;
  while (next != pieces_.end() && next->first < end) {
    const auto [begin, old] = *next;
    const haddr_t old_end = begin + old.size();
    next = pieces_.erase(next);
    const auto at = [&](haddr_t place) { return old.begin() + static_cast<std::ptrdiff_t>(place - begin); };
    if (old_end > end)
      next = pieces_.emplace(end, std::vector<std::byte>(at(end), old.end())).first;
    if (begin < address)
      pieces_.emplace(begin, std::vector<std::byte>(old.begin(), at(address)));
  }
}

void PendingWrites::add(haddr_t address, std::span<const std::byte> bytes) {
  std::vector<std::byte> copy(bytes.begin(), bytes.end());
  drop(address, bytes.size());
  pieces_.emplace(address, std::move(copy));
}

void PendingWrites::show(haddr_t address, std::span<std::byte> bytes) const noexcept {
  const haddr_t end = address + bytes.size();
  auto each = pieces_.upper_bound(address);
  if (each != pieces_.begin())
    --each;
  for (; each != pieces_.end() && each->first < end; ++each) {
    const haddr_t begin = std::max(address, each->first),
                  until = std::min<haddr_t>(end, each->first + each->second.size());
    if (begin < until)
      std::memcpy(bytes.data() + (begin - address), each->second.data() + (begin - each->first), until - begin);
  }
}

}  // namespace windrow
