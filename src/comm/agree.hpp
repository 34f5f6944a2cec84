// SPDX-License-Identifier: BSD-3-Clause
// Agreement: the only way out of a collective step. All ranks leave with the same status.
#pragma once

#include <cstdint>
#include <span>

#include "base/function_ref.hpp"
#include "base/status.hpp"
#include "comm/comm.hpp"

namespace windrow {

// What ranks tell each other at the start and the end of a flush, in one reduction: their status and three kinds of
// numbers. The spans have the same lengths on every rank and are overwritten with the result.
struct Reduction {
  std::span<int64_t> maximum;
  std::span<int64_t> sum;
  std::span<int64_t> bits;  // combined by or
};

inline constexpr size_t k_numbers_without_memory = 1000;  // numbers, of all kinds together: so many are always combined

// Ranks that come to an agreement in different calls (CallScope), or with other numbers, all leave with Code::mpi and a
// message that names two of them. After that each agreement of the same call, and of a file that one of the calls was
// of, is that error at once, without the other ranks. Collective. Combines `local` and the reduction of all ranks.
// Returns the same status everywhere: the worst one, with the lowest such rank and its message; when every rank failed
// with that code, no rank is named. An allocation that fails inside (on one rank) is a status like any other, and
// leaves the numbers as they were: so may out_of_memory with more numbers than need no memory, unless the ranks have
// agreed on it before.
Status agree(const Comm& comm, Status local, Reduction reduction);
Status agree(const Comm& comm, Status local);

// What rank 0 does in the midst of an agreement. It is given the combined numbers, and may change them for everybody.
using RootWork = FunctionRef<Status(const Reduction& agreed)>;
// Collective. As agree(); where that is well, rank 0 does its work before anybody goes on, and what becomes of that is
// the outcome. All ranks give work, that of rank 0 is called. `at_work`: whether an error is the work's. Costs one
// agreement where the ranks of each host share memory, and elsewhere a broadcast more.
Status agree_and_work(const Comm& comm, Status local, Reduction reduction, RootWork work, bool* at_work = nullptr);

// Sums of what some ranks have, where only they have anything: the others go on to the next step of all ranks. Only
// where all share a host, and of no more numbers than a round has; elsewhere all take part.
class SomeRanks {
 public:
  // Local, on all ranks; of that many numbers. A step of all has to come between the last sum of others before and
  // this, and another before the first sum. `count` ranks: 0, spacing, 2 spacing and so on.
  SomeRanks(const Comm& comm, int spacing, int count, size_t numbers) noexcept;
  bool contain_me() const noexcept;
  // Collective over them. The status is theirs alone.
  Status sum(std::span<int64_t> numbers);

 private:
  const Comm& comm_;
  bool by_rounds_;
};

// Collective. Sends rank 0's status and bytes to all: for what only rank 0 does (metadata). `bytes` is an in-out
// argument of rank 0's data; empty on error. An error that any rank came with is every rank's; one that shows on the
// way, a rank that has no memory for the bytes, is that rank's own, to be agreed on by the caller. `maximum`: numbers
// that go along, at most a few. Up to k_shared_at_once bytes cost one agreement; where all ranks have room for them
// beforehand, no error is a rank's own.
inline constexpr size_t k_shared_at_once = 4096;
Status share_from_root(const Comm& comm, Status local, std::vector<std::byte>& bytes, std::span<int64_t> maximum = {});

}  // namespace windrow
