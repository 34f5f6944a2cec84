// SPDX-License-Identifier: BSD-3-Clause
// OrphanedPuts: finds puts that would be lost. An element that several ranks hold is written by one of them, the owner.
// If the owner does not put it, the puts of the other ranks are lost. The first agreement of a flush detects whether
// the ranks put different variables; only then a further collective step searches for lost puts.
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
  // The numbers of this rank. The caller combines them over all ranks in an agreement.
  std::array<int64_t, k_maxima> maximum;
  int64_t sum = 0;
  // Whether puts may be lost, by the combined numbers. The same on every rank.
  bool is_doubtful() const noexcept;

  // Collective, agreed. bad_argument if elements would be lost; the message names a variable. loses(request): whether
  // other ranks write some elements of the request.
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
