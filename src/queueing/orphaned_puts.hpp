// SPDX-License-Identifier: BSD-3-Clause
// OrphanedPuts: of elements that several ranks hold one writes, whichever of them put. Where that one has put nothing,
// what the others have put would be lost without a word: found out here, in an agreement that takes place anyway, and
// named by a collective step only where ranks put different things.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "comm/comm.hpp"
#include "format/format.hpp"

namespace windrow {

struct QueuedRequest;

class OrphanedPuts {
 public:
  OrphanedPuts(int rank, std::span<const QueuedRequest> queue) noexcept;

  static constexpr size_t k_maxima = 3;
  // To be combined over all ranks.
  std::array<int64_t, k_maxima> maximum;
  int64_t sum = 0;
  bool is_doubtful() const noexcept;  // once they are; the same on every rank

  // Collective. Code::bad_argument names a variable whose elements would be lost. `loses`: whether others write some of
  // what this rank puts by an entry.
  template <class Loses>
  static Status check(Comm& comm, std::span<const QueuedRequest> queue, std::span<const Variable> variables,
                      Loses&& loses) {
    std::vector<bool> losing;
    Status local = guard([&] {
      for (const QueuedRequest& entry : queue)
        losing.push_back(loses(entry));
      return Status{};
    });
    return check(comm, std::move(local), queue, losing, variables);
  }

 private:
  static Status check(Comm& comm, Status local, std::span<const QueuedRequest> queue, const std::vector<bool>& losing,
                      std::span<const Variable> variables);
};

}  // namespace windrow
