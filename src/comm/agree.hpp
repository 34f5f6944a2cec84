// SPDX-License-Identifier: BSD-3-Clause
// Agreement: the only exit of a collective step. All ranks leave with the same status.
#pragma once

#include <cstdint>
#include <span>

#include "base/function_ref.hpp"
#include "base/status.hpp"
#include "comm/comm.hpp"

namespace windrow {

// Numbers that an agreement combines over all ranks, in three groups. The spans have the same lengths on every rank and
// are overwritten with the results.
struct Reduction {
  std::span<int64_t> maximum;
  std::span<int64_t> sum;
  std::span<int64_t> bits;  // combined by or
};

// number of entries of all groups that are always combined, even without memory
inline constexpr size_t k_numbers_without_memory = 1000;

// Collective. Combines `local` and the reduction of all ranks and returns the same status everywhere: the worst one,
// with the lowest such rank and its message. If every rank failed with that code, no rank is named.
//
// Ranks that are in different calls (CallScope), or pass other lengths, all leave with Code::mpi and a message that
// names two of them. After that, each agreement of these calls and of the files concerned returns that error at once,
// without communication.
//
// A failed allocation on one rank is an ordinary error and leaves the numbers unchanged. More than
// k_numbers_without_memory numbers may fail with out_of_memory, unless the ranks have agreed on the memory before.
Status agree(const Comm& comm, Status local, Reduction reduction);
Status agree(const Comm& comm, Status local);

// Work of rank 0 within an agreement. It receives the combined numbers and may change them for all ranks.
using RootWork = FunctionRef<Status(const Reduction& agreed)>;
// Collective. As agree(); if all ranks are OK, rank 0 does its work before any rank continues, and the result of the
// work is the status. All ranks pass `work`; only that of rank 0 is called. `at_work`: whether an error comes from the
// work. Costs one agreement if the ranks of each host share memory, otherwise one more broadcast.
Status agree_and_work(const Comm& comm, Status local, Reduction reduction, RootWork work, bool* at_work = nullptr);

// Sums to which only some ranks contribute. The others do not take part; they go on to the next step of all ranks. This
// is possible only if all ranks share a host and the numbers fit into a round; otherwise all take part.
class SomeRanks {
 public:
  // Local, on all ranks; `numbers` is the length of later sums. Order of calls on all ranks: last sum of an earlier
  // SomeRanks, a collective step, this call, a collective step, first sum. The ranks are 0, spacing, 2 spacing and so
  // on, `count` in total.
  SomeRanks(const Comm& comm, int spacing, int count, size_t numbers) noexcept;
  bool contain_me() const noexcept;
  // Collective over these ranks. They alone get the status.
  Status sum(std::span<int64_t> numbers);

 private:
  const Comm& comm_;
  bool by_rounds_;
};

// Collective. Sends rank 0's status and bytes to all ranks, for metadata that only rank 0 has. `bytes` is the input on
// rank 0 and the output elsewhere; empty on error. An error that any rank came with is returned on every rank. Lack of
// memory for the bytes is a rank's own error, which the caller must agree on. `maximum`: a few more numbers to combine.
// Up to k_shared_at_once bytes cost one agreement; with that much capacity reserved on all ranks, no rank fails alone.
inline constexpr size_t k_shared_at_once = 4096;
Status share_from_root(const Comm& comm, Status local, std::vector<std::byte>& bytes, std::span<int64_t> maximum = {});

}  // namespace windrow
