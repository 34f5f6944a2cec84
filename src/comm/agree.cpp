// SPDX-License-Identifier: BSD-3-Clause
#include "comm/agree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <vector>

#include "comm/handle.hpp"
#include "comm/host_messages.hpp"
#include "comm/wait.hpp"

namespace windrow {
namespace {

// Wire format of a reduction, in int64: three lengths, the number of the call and a place for HostTree, then maxima,
// sums, bits. The whole reduction is one MPI element, so the combining function always sees all of it.
constexpr size_t k_head = HostTree::k_head;
// maxima before those of the reduction: the worst verdict, the mildest, that of the work; whether there is work, and
// whether there is none
constexpr size_t k_verdicts = 5;
constexpr size_t k_inline = 1024;  // shorter reductions need no allocation and therefore cannot fail
static_assert(k_numbers_without_memory + k_head + k_verdicts + 1 <= k_inline);
static_assert(k_head + k_verdicts + 1 >= HostTree::k_least);

void add_up(const int64_t* from, int64_t* to, size_t count) noexcept {
  for (size_t i = 0; i < count;
       ++i)  // counts from users may have any value, so a sum wraps around instead of overflowing
    to[i] = static_cast<int64_t>(static_cast<uint64_t>(to[i]) + static_cast<uint64_t>(from[i]));
}

void combine_reductions(const int64_t* from, int64_t* to, size_t) noexcept {
  size_t i = k_head;
  const size_t maxima = i + static_cast<size_t>(from[0]), sums = maxima + static_cast<size_t>(from[1]);
  const size_t all = sums + static_cast<size_t>(from[2]);
  for (; i < maxima; ++i)
    to[i] = std::max(to[i], from[i]);
  add_up(from + i, to + i, sums - i);
  i = sums;
  for (; i < all; ++i)
    to[i] |= from[i];
}

void combine(void* in, void* inout, int* count, MPI_Datatype* type) {
  MPI_Count bytes = 0;
  MPI_Type_size_x(*type, &bytes);
  const size_t length = static_cast<size_t>(bytes) / sizeof(int64_t);
  for (size_t element = 0; element < static_cast<size_t>(*count); ++element)
    combine_reductions(static_cast<const int64_t*>(in) + element * length,
                       static_cast<int64_t*>(inout) + element * length, length);
}

// Collective. One MPI element is the whole reduction.
int reduce_by_messages(const Comm& comm, std::span<int64_t> wire) {
  MPI_Datatype raw_type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(static_cast<int>(wire.size()), MPI_INT64_T, &raw_type);
  MPI_Type_commit(&raw_type);
  const Datatype type(raw_type);
  MPI_Op raw_op = MPI_OP_NULL;
  MPI_Op_create(combine, 1, &raw_op);
  const Op op(raw_op);
  MPI_Request request = MPI_REQUEST_NULL;
  const int rc = MPI_Iallreduce(MPI_IN_PLACE, wire.data(), 1, type.get(), op.get(), comm.get(), &request);
  return rc == MPI_SUCCESS ? wait_for(&request, comm.machine_size()) : rc;
}

// Whether all ranks are in the same step, either with work of rank 0 or without.
bool is_one_kind(std::span<const int64_t> combined) noexcept {
  return combined[k_head + 3] + combined[k_head + 4] == 1;
}

// The step for HostRounds: the numbers of maxima and sums, each below HostRounds::k_most.
HostRounds::Step step_of(std::span<const int64_t> wire) noexcept {
  static_assert(static_cast<int64_t>(HostRounds::k_most * HostRounds::k_most) < HostRounds::k_kinds);
  return {.call = wire[HostTree::k_kinds - 1], .kind = wire[0] * static_cast<int64_t>(HostRounds::k_most) + wire[1]};
}

// All ranks are in the same call, but in different steps of it.
Status different_steps(const Comm& comm) {
  return lose_step(comm, Mismatch::of(0, comm.call_number()));
}

// Collective.
Status reduce_by_hosts(const Comm& comm, std::span<int64_t> wire, HostRounds::Between between) {
  const auto work = [&](std::span<int64_t> combined) {
    if (is_one_kind(combined))
      between(combined);
  };
  int code = MPI_SUCCESS;
  Mismatch mismatch;
  const HostTree::Outcome outcome =
      comm.tree().run({.numbers = wire,
                       .step = step_of(wire),
                       .combine = combine_reductions,
                       .progress = comm.get(),
                       .between = between ? HostRounds::Between(work) : HostRounds::Between()},
                      code, mismatch);
  if (outcome == HostTree::Outcome::failed)
    return guard([&] {
      return code != MPI_SUCCESS ? mpi_status(code, "an agreement of several hosts")
                                 : Status{Code::mpi, "an agreement of several hosts: an earlier one failed in MPI"};
    });
  if (outcome == HostTree::Outcome::different_calls)
    return lose_step(comm, mismatch);
  return is_one_kind(wire) ? Status{} : different_steps(comm);
}

// Collective.
Status reduce_with(const Comm& comm, std::span<int64_t> wire, HostRounds::Between between) {
  if (comm.size() > 1 && comm.rounds().is_ready() && wire.size() <= HostRounds::k_most) {
    Mismatch mismatch;
    const bool same = comm.rounds().run({.numbers = wire,
                                         .step = step_of(wire),
                                         .combine = combine_reductions,
                                         .progress = comm.get(),
                                         .between = between},
                                        mismatch);
    return same ? Status{} : lose_step(comm, mismatch);
  }
  if (comm.tree().is_ready() && wire.size() <= HostRounds::k_most)
    return reduce_by_hosts(comm, wire, between);
  if (comm.size() > 1)
    if (Status status = mpi_status(reduce_by_messages(comm, wire), "MPI_Allreduce"); !status.ok())
      return status;
  if (!is_one_kind(wire))
    return different_steps(comm);  // otherwise only some ranks would take part in the broadcast
  if (!between)
    return {};
  if (comm.rank() == 0)
    between(wire);
  if (comm.size() == 1)
    return {};
  MPI_Request request = MPI_REQUEST_NULL;
  const int rc = MPI_Ibcast(wire.data(), static_cast<int>(wire.size()), MPI_INT64_T, 0, comm.get(), &request);
  return mpi_status(rc == MPI_SUCCESS ? wait_for(&request, comm.machine_size()) : rc, "MPI_Bcast");
}

// The worst code comes first, then the lowest rank: a maximum selects both.
int64_t encode_verdict(const Status& status, int rank) {
  return status.ok() ? 0 : static_cast<int64_t>(status.code()) * (int64_t{1} << 32) + (INT_MAX - rank);
}

struct Verdict {
  Code code;
  int rank;
};
Verdict decode_verdict(int64_t value) {
  return {static_cast<Code>(value >> 32), INT_MAX - static_cast<int>(value & 0xffffffff)};
}

// Collective. Broadcasts the message of `verdict.rank`. It is truncated to a fixed size, so nothing here can fail for
// lack of memory.
Status share_message(const Comm& comm, const Status& local, Verdict verdict, bool all_failed) {
  // A status from an earlier verdict names a rank already, possibly another one than the rank that passes it on.
  int rank = all_failed || local.rank() >= 0 ? local.rank() : verdict.rank;
  std::array<char, 2048> words{};
  const auto text = std::span(words).subspan(sizeof(rank));
  if (comm.rank() == verdict.rank) {
    std::memcpy(words.data(), &rank, sizeof(rank));
    size_t length = std::min(local.message().size(), text.size() - 200);
    while (length > 0 && length < local.message().size() &&
           (static_cast<unsigned char>(local.message()[length]) & 0xc0) == 0x80)
      --length;  // not within a character
    std::memcpy(text.data(), local.message().data(), length);
    if (!all_failed && comm.size() > 1 && local.rank() < 0)
      fmt::format_to_n(text.data() + length, text.size() - 1 - length, " (rank {}, host {})", comm.rank(),
                       comm.host_name());
  }
  if (int rc = MPI_Bcast(words.data(), static_cast<int>(words.size()), MPI_CHAR, verdict.rank, comm.get());
      rc != MPI_SUCCESS)
    return mpi_status(rc, "MPI_Bcast");
  std::memcpy(&rank, words.data(), sizeof(rank));
  try {
    return {verdict.code, std::string(text.data()), rank};
  } catch (const std::bad_alloc&) {
    return {verdict.code, std::string(), rank};
  }
}

// The places in the numbers of an agreement.
struct WireParts {
  std::span<int64_t> numbers;
  size_t maximum = 0, sum = 0, bits = 0;  // numbers of the reduction

  explicit WireParts(const Reduction& reduction)
      : maximum(reduction.maximum.size()), sum(reduction.sum.size()), bits(reduction.bits.size()) {}

  size_t maxima() const noexcept { return k_verdicts + maximum; }
  size_t sums() const noexcept { return 1 + sum; }
  size_t length() const noexcept { return k_head + maxima() + sums() + bits; }
  // See k_verdicts.
  std::span<int64_t> verdicts() const noexcept { return numbers.subspan(k_head, k_verdicts); }
  int64_t& failed() const noexcept { return numbers[k_head + maxima()]; }  // ranks
  Reduction reduction() const noexcept {
    return {.maximum = numbers.subspan(k_head + k_verdicts, maximum),
            .sum = numbers.subspan(k_head + maxima() + 1, sum),
            .bits = numbers.subspan(k_head + maxima() + sums(), bits)};
  }
};

void copy_numbers(const Reduction& from, const Reduction& to) noexcept {
  std::copy(from.maximum.begin(), from.maximum.end(), to.maximum.begin());
  std::copy(from.sum.begin(), from.sum.end(), to.sum.begin());
  std::copy(from.bits.begin(), from.bits.end(), to.bits.begin());
}

void fill_wire(const WireParts& wire, const Comm& comm, const Status& local, const Reduction& reduction,
               bool has_work) noexcept {
  wire.numbers[0] = static_cast<int64_t>(wire.maxima());
  wire.numbers[1] = static_cast<int64_t>(wire.sums());
  wire.numbers[2] = static_cast<int64_t>(wire.bits);
  wire.numbers[3] = comm.call_number();
  wire.numbers[4] = 0;
  const std::span<int64_t> verdicts = wire.verdicts();
  verdicts[0] = encode_verdict(local, comm.rank());
  verdicts[1] = -static_cast<int64_t>(local.code());  // the mildest code, as a maximum
  verdicts[2] = 0;                                    // verdict of the work
  verdicts[3] = has_work ? 1 : 0;
  verdicts[4] = has_work ? 0 : 1;
  wire.failed() = local.ok() ? 0 : 1;
  copy_numbers(reduction, wire.reduction());
}

// Collective: all ranks agree that each has the memory for this many numbers.
Status agree_on_room(const Comm& comm, size_t length, std::vector<int64_t>& numbers) {
  Status room = guard([&] {
    numbers.resize(length);
    return Status{};
  });
  // Also agrees on the length. The third number and the sum distinguish this step from an agreement on two numbers,
  // in which other ranks may be.
  std::array<int64_t, 3> lengths{static_cast<int64_t>(length), -static_cast<int64_t>(length), 0};
  std::array<int64_t, 1> one{1};
  Status verdict = agree(comm, std::move(room), Reduction{.maximum = lengths, .sum = one, .bits = {}});
  if (!verdict.ok())
    return verdict;
  return lengths[0] == -lengths[1] ? Status{} : different_steps(comm);
}

// Collective. The status of all ranks, from combined numbers.
Status conclude(const WireParts& wire, const Comm& comm, const Status& local, bool& at_work) {
  const int64_t worst = wire.verdicts()[0], worked = wire.verdicts()[2];
  const auto mildest = static_cast<Code>(-wire.verdicts()[1]);
  at_work = worst == 0 && worked != 0;
  if (at_work)
    return share_message(comm, local, decode_verdict(worked), false);
  if (worst == 0)
    return {};
  const Verdict verdict = decode_verdict(worst);
  const bool all_failed = comm.size() > 1 && wire.failed() == comm.size() && mildest == verdict.code;
  return share_message(comm, local, verdict, all_failed);
}

// Collective. `work`: of rank 0, or none.
Status agree_on_all(const Comm& comm, Status local, Reduction reduction, RootWork work, bool& at_work) {
  // Every collective call of the library begins here or in Comm::of().
  if (!mpi_is_running())
    return guard([] { return Status{Code::bad_state, "a collective call after MPI_Finalize"}; });
  if (Status lost = comm.check_in_step(); !lost.ok())
    return lost;
  std::array<int64_t, k_inline> small;
  std::vector<int64_t> large;
  WireParts wire(reduction);
  const size_t length = wire.length();
  if (length > k_inline)
    if (Status verdict = agree_on_room(comm, length, large); !verdict.ok())
      return verdict;
  wire.numbers = length > k_inline ? std::span(large) : std::span(small).first(length);
  fill_wire(wire, comm, local, reduction, static_cast<bool>(work));
  const auto between = [&](std::span<int64_t> result) {
    WireParts combined = wire;
    combined.numbers = result;
    if (combined.verdicts()[0] != 0)
      return;
    local = guard([&] { return work(combined.reduction()); });
    combined.verdicts()[2] = encode_verdict(local, 0);
  };
  Status status = reduce_with(comm, wire.numbers, work ? HostRounds::Between(between) : HostRounds::Between());
  if (!status.ok())
    return status;
  copy_numbers(wire.reduction(), reduction);
  return conclude(wire, comm, local, at_work);
}

}  // namespace

Status agree(const Comm& comm, Status local, Reduction reduction) {
  bool at_work = false;
  return agree_on_all(comm, std::move(local), reduction, {}, at_work);
}

Status agree_and_work(const Comm& comm, Status local, Reduction reduction, RootWork work, bool* at_work) {
  bool unused = false;
  return agree_on_all(comm, std::move(local), reduction, work, at_work != nullptr ? *at_work : unused);
}

SomeRanks::SomeRanks(const Comm& comm, int spacing, int count, size_t numbers) noexcept
    : comm_(comm), by_rounds_(comm.rounds().is_ready() && numbers <= HostRounds::k_most) {
  if (by_rounds_)
    comm.rounds().start_some(spacing, count);
}

bool SomeRanks::contain_me() const noexcept {
  return !by_rounds_ || comm_.rounds().is_one_of_some();
}

Status SomeRanks::sum(std::span<int64_t> numbers) {
  if (!by_rounds_)
    return agree(comm_, Status{}, Reduction{.maximum = {}, .sum = numbers, .bits = {}});
  Mismatch mismatch;
  return comm_.rounds().run_some({.numbers = numbers, .combine = add_up, .progress = comm_.get()}, mismatch)
             ? Status{}
             : lose_step(comm_, mismatch);
}

Status agree(const Comm& comm, Status local) {
  return agree(comm, std::move(local), Reduction{});
}

namespace {

// Collective: all of `size` bytes, for which all ranks agree that each has the memory.
Status broadcast_from_root(const Comm& comm, std::vector<std::byte>& bytes, int64_t size) {
  Status verdict = agree(comm, guard([&] {
                           bytes.resize(static_cast<size_t>(size));
                           return Status{};
                         }));
  if (!verdict.ok())
    return verdict;
  constexpr int64_t k_part = int64_t{1} << 30;
  int rc = MPI_SUCCESS;
  for (int64_t done = 0; done < size && rc == MPI_SUCCESS; done += k_part)
    rc = MPI_Bcast(bytes.data() + done, static_cast<int>(std::min(k_part, size - done)), MPI_BYTE, 0, comm.get());
  return mpi_status(rc, "MPI_Bcast");
}

// Whether short data is passed in shared memory, which is unusable after MPI_Finalize; agree() then returns an error.
bool passes_in_memory(const Comm& comm) {
  return comm.size() > 1 && comm.rounds().is_ready() && comm.rounds().has_room() && mpi_is_running();
}

}  // namespace

Status share_from_root(const Comm& comm, Status local, std::vector<std::byte>& bytes, std::span<int64_t> maximum) {
  // Short data is passed in shared memory, or as bits of the agreement; the other ranks contribute zero bits.
  const bool in_memory = passes_in_memory(comm);
  std::array<int64_t, k_shared_at_once / sizeof(int64_t)> memory;
  const std::span<int64_t> word = in_memory ? std::span<int64_t>() : memory;
  std::fill(word.begin(), word.end(), 0);
  const int64_t most = in_memory ? most_message_bytes(comm.size()) : static_cast<int64_t>(k_shared_at_once);
  std::array<int64_t, 16> numbers;
  const bool sends = comm.rank() == 0 && local.ok();
  const std::span<int64_t> all = std::span(numbers).first(1 + maximum.size());
  all[0] = sends ? static_cast<int64_t>(bytes.size()) : 0;
  std::copy(maximum.begin(), maximum.end(), all.begin() + 1);
  const bool sends_now = sends && all[0] <= most;
  if (sends_now && in_memory)
    store_for_all(comm.rounds(), comm.size(), bytes);
  else if (sends_now && !bytes.empty())
    std::memcpy(word.data(), bytes.data(), bytes.size());
  Status verdict = agree(comm, std::move(local), Reduction{.maximum = all, .sum = {}, .bits = word});
  std::copy(all.begin() + 1, all.end(), maximum.begin());
  const int64_t size = all[0];
  if (!verdict.ok()) {
    bytes.clear();
    return verdict;
  }
  if (size > most)
    return broadcast_from_root(comm, bytes, size);
  if (comm.rank() == 0)
    return {};
  const auto shared = in_memory ? stored_for_all(comm.rounds(), comm.size(), size)
                                : std::as_bytes(word).first(static_cast<size_t>(size));
  return guard([&] {
    bytes.assign(shared.begin(), shared.end());
    return Status{};
  });
}

}  // namespace windrow
