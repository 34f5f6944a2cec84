// SPDX-License-Identifier: BSD-3-Clause
// HostTable: the host of each rank. If the ranks of each host are consecutive, as most launchers place them, the lowest
// rank of each host suffices. Pure.
#pragma once

#include <algorithm>
#include <vector>

namespace windrow {

class HostTable {
 public:
  // [ranks] to be filled with the lowest rank of each rank's host. May throw std::bad_alloc.
  std::vector<int>& resize(int ranks) {
    hosts_.resize(static_cast<size_t>(ranks));
    return hosts_;
  }

  // `roots`: [hosts] lowest ranks, ascending. Frees the table if it is not needed.
  void number(const std::vector<int>& roots) noexcept {
    bool consecutive = true;
    for (size_t rank = 0; rank < hosts_.size(); ++rank) {
      const auto found = std::lower_bound(roots.begin(), roots.end(), hosts_[rank]);
      hosts_[rank] = static_cast<int>(found - roots.begin());
      consecutive = consecutive && hosts_[rank] == by_roots(roots, static_cast<int>(rank));
    }
    if (consecutive)
      std::vector<int>().swap(hosts_);
  }

  int host_of(const std::vector<int>& roots, int rank) const noexcept {
    return hosts_.empty() ? by_roots(roots, rank) : hosts_[static_cast<size_t>(rank)];
  }
  bool is_kept() const noexcept { return !hosts_.empty(); }

 private:
  static int by_roots(const std::vector<int>& roots, int rank) noexcept {
    return static_cast<int>(std::upper_bound(roots.begin(), roots.end(), rank) - roots.begin()) - 1;
  }

  std::vector<int> hosts_;
};

}  // namespace windrow
