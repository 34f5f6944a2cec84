// SPDX-License-Identifier: BSD-3-Clause
// OrphanedPuts: one rank, the owner, writes an element that several ranks hold. If the owner does not put it, what the
// others put would be lost. The first agreement of a flush detects that ranks put different things; only then a further
// collective step looks for puts that would be lost.
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
  // Numbers of this rank, which an agreement combines over all ranks.
  std::array<int64_t, k_maxima> maximum;
  int64_t sum = 0;
  bool is_doubtful() const noexcept;  // of the combined numbers; the same on every rank

  // Collective, agreed. Code::bad_argument names a variable whose elements would be lost. loses(request): whether other
  // ranks write some elements of it.
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
