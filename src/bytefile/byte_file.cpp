// SPDX-License-Identifier: BSD-3-Clause
// ByteFile: calls that move bytes. All ranks take the same path through the collective functions. Between two
// agreements there is no return.
#include "bytefile/byte_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "bytefile/byte_context.hpp"
#include "bytefile/disjoint.hpp"
#include "comm/agree.hpp"
#include "comm/handle.hpp"
#include "comm/same.hpp"
#include "extent/bins.hpp"
#include "format/catalog.hpp"
#include "planning/sampled_ratio.hpp"
#include "storage/publish.hpp"
#include "storage/system_error.hpp"

namespace windrow {
namespace {

// A sum of addresses: with MPI_BOTTOM the buffer is a null pointer, and the places in memory are addresses.
std::byte* moved(std::byte* memory, int64_t offset) noexcept {
  return reinterpret_cast<std::byte*>(reinterpret_cast<uintptr_t>(memory) + static_cast<uintptr_t>(offset));
}

// Allocates no memory.
void set_runs(RequestBatch& batch, std::shared_ptr<const ByteRuns> runs, int rank) noexcept {
  if (batch.items.empty())
    return;
  std::byte* const memory = batch.items.front().memory;
  static_cast<PatternNumbers&>(batch) = PatternNumbers{.sampled_ratio = batch.sampled_ratio};
  batch.items.clear();
  batch.runs.clear();
  if (runs && !runs->runs.empty()) {
    batch.hull = runs->hull;
    batch.add(std::move(runs), 0, {.data = memory});
  }
  batch.finish(rank);
}

const Catalog& no_variables() {
  static const Catalog* const empty = new Catalog;
  return *empty;
}

}  // namespace

Status ByteFile::check_mode(bool reading) const {
  if (reading || mode_ != Mode::read)
    return {};
  return {Code::bad_state, fmt::format("write: \"{}\" is open for reading only", path_)};
}

// Sets `size` to the present length of the file.
Status ByteFile::look_at_file(int64_t& size) {
  struct stat about {};
  if (::fstat(held_.descriptor(), &about) != 0)
    return system_status("stat of", path_, errno);
  size = about.st_size;
  return held_.is_reached_by(data_->path()) ? Status{} : replaced_by_others(data_->path());
}

// `end`: the length of the file, for reading.
Status ByteFile::build(Moving& moving, int64_t end) {
  moving.pieces = moving.reading ? part_before(moving.list.pieces(), end) : moving.list.pieces();
  const KnownList& known = known_.find(moving.pieces, engine_.planner.limits().direct_bytes);
  moving.batch = RequestBatch{};
  moving.batch.reading = moving.reading;
  if (!moving.pieces.empty()) {
    moving.batch.key = {{0, 1, known.number}};
    moving.batch.objects = {1};
    moving.batch.hull = known.runs->hull;
    moving.batch.add(known.runs, 0, {.data = moved(moving.memory, moving.list.memory_begin())});
  }
  moving.batch.finish(comm_->rank());
  if (!moving.reading && moving.moves && engine_.planner.may_compress(moving.batch))
    moving.batch.sampled_ratio = sampled_ratio_of(moving.batch.items);
  const Access access = engine_.planner.strategy().access;
  // Only rank 0 asks the page cache, so that all ranks plan with the same answer.
  if (moving.reading && comm_->rank() == 0 && !moving.batch.items.empty() && storage_.is_local_disk &&
      comm_->host_roots().size() == 1 && (access == Access::automatic || access == Access::contiguous))
    moving.batch.in_memory = data_->in_memory(moving.batch.hull) ? 1 : 0;
  return {};
}

// Collective, agreed. Sets the batch of this rank and the summary of all. A read needs the present length of the file:
// rank 0 looks, and the others assume that it is as before. If that was wrong for any of them, all build their batches
// once more.
Status ByteFile::summarize(Moving& moving, Status local) {
  int64_t now = 0;
  if (comm_->rank() == 0 && local.ok())
    local = guard([&] { return look_at_file(now); });
  for (;;) {
    if (local.ok()) {
      const StageTimer timer(engine_.trace, Stage::describe);
      local = guard([&] { return build(moving, size_); });
    }
    const StageTimer timer(engine_.trace, Stage::agree);
    Planner::Extra extra{.maximum = {now, hull(moving.list.pieces()).end, 0, 0}};
    if (Status verdict = engine_.planner.summarize(std::move(local), {&moving.batch}, {&moving.summary}, &extra);
        !verdict.ok())
      return verdict;
    now = extra.maximum[0];
    if (!moving.reading || now == size_)
      return {};
    const int64_t assumed = std::exchange(size_, now);
    if (extra.maximum[1] <= std::min(now, assumed))
      return {};
    local = Status{};
  }
}

// Collective, agreed. The batch becomes the part of the list that this rank writes. `bits`: combined by or.
Status ByteFile::keep_written(Moving& moving, std::span<int64_t> bits) {
  auto list = make_disjoint(*comm_, Status{}, moving.pieces, moving.summary.hull, bits);
  if (!list.ok())
    return list.status();
  if (!list.value().is_changed)
    return {};
  const Pieces& written = list.value().written;
  Status changed = guard([&] {
    if (total_bytes(written) != total_bytes(moving.pieces))
      set_runs(moving.batch, byte_runs_of(written, engine_.planner.limits().direct_bytes), comm_->rank());
    return Status{};
  });
  return engine_.planner.summarize(std::move(changed), {&moving.batch}, {&moving.summary});
}

// Collective, agreed.
Result<PreparedPlan*> ByteFile::ready(Moving& moving) {
  if (moving.summary.plan_id > 0) {
    // Cached: also the part of the list that this rank writes.
    auto cached = engine_.planner.ready(moving.batch, moving.summary, ByteContext(*data_, {}, storage_.striping));
    if (cached.ok() && !moving.reading) {
      const auto& runs = cached.value()->runs;
      set_runs(moving.batch, runs.empty() ? nullptr : runs.front(), comm_->rank());
    }
    return cached;
  }
  // The regions have all bytes of the lists of all ranks and little else, whoever writes them.
  HullBins bins(moving.summary.hull);
  bins.mark(moving.pieces);
  Status verdict = moving.reading ? agree(*comm_, Status{}, {.maximum = {}, .sum = {}, .bits = bins.bits()})
                                  : keep_written(moving, bins.bits());
  if (!verdict.ok())
    return verdict;
  std::vector<Extent> regions;
  Status local = guard([&] { return regions = bins.regions(), Status{}; });
  return engine_.planner.ready(moving.batch, moving.summary, ByteContext(*data_, std::move(regions), storage_.striping),
                               std::move(local));
}

// Collective, agreed.
Status ByteFile::move(Moving& moving, PreparedPlan& prepared) {
  InFlightBatch in_flight(*comm_, engine_.executor.io_thread());
  in_flight.local = guard([&] {
    engine_.add_plan(prepared, prepared.forecast, moving.summary.plan_id > 0);
    return Status{};
  });
  engine_.executor.begin(in_flight, prepared, moving.batch, *data_, false);
  Status local = engine_.executor.end(in_flight);
  if (moving.reading && local.ok())
    copy_repeated(moving);
  return engine_.conclude(std::move(local), in_flight, *data_, held_.is_held() ? 1 : 0);
}

void ByteFile::copy_repeated(const Moving& moving) noexcept {
  std::byte* const memory = moved(moving.memory, moving.list.memory_begin());
  for (const ByteList::Repeated& each : moving.list.repeated()) {
    const int64_t length = std::min(each.length, size_ - each.file);
    if (length <= 0)
      continue;
    std::memmove(memory + each.to, memory + each.from, static_cast<size_t>(length));
    engine_.trace.bytes_copied += length;
  }
}

// Collective, agreed.
Status ByteFile::run(Moving& moving, Status local) {
  if (Status verdict = summarize(moving, std::move(local)); !verdict.ok())
    return verdict;
  if (moving.summary.bytes == 0)
    return {};
  auto prepared = ready(moving);
  if (!prepared.ok())
    return prepared.status();
  Status verdict = move(moving, *prepared.value());
  if (!moving.reading && verdict.ok())
    size_ = std::max(size_, moving.summary.hull.end);
  return verdict;
}

// Addresses of the first page are those of null pointers.
Status ByteFile::check_memory(const Moving& moving) {
  if (moving.memory != nullptr || moving.list.pieces().empty() || moving.list.memory_begin() >= 4096)
    return {};
  return {Code::bad_argument, fmt::format("the buffer is a null pointer, and the list has memory at offset {} from it",
                                          moving.list.memory_begin())};
}

Status ByteFile::call(Moving& moving, Status local) {
  if (Status status = check_in_step(identity_); !status.ok())
    return status;
  engine_.begin(*data_);
  local.update(guard([&] {
    Status status = check_mode(moving.reading);
    status.update(check_memory(moving));
    return status;
  }));
  Status verdict = run(moving, std::move(local));
  engine_.end();
  const auto& runs = moving.batch.runs;
  const Pieces list = runs.empty() ? Pieces() : runs.front()->elements;
  engine_.tracer.end(*comm_, engine_.trace,
                     {.catalog = no_variables(),
                      .requests = {},
                      .verdict = verdict,
                      .is_empty = moving.summary.bytes == 0,
                      .list = {.writes = !moving.reading, .moved = &list}},
                     engine_.report);
  return verdict;
}

Status ByteFile::write(const ByteList& list, const std::byte* memory, Status local) {
  const CallScope call(*comm_, Call::write_bytes, &identity_);
  // The engine has one kind of memory, which it does not change when it writes.
  Moving moving{.reading = false, .list = list, .memory = const_cast<std::byte*>(memory)};
  return this->call(moving, std::move(local));
}

Result<int64_t> ByteFile::read(const ByteList& list, std::byte* memory, Status local) {
  const CallScope call(*comm_, Call::read_bytes, &identity_);
  Moving moving{.reading = true, .list = list, .memory = memory};
  Status verdict = this->call(moving, std::move(local));
  if (!verdict.ok())
    return verdict;
  return list.bytes_before(size_);
}

Result<std::string> ByteFile::explain(bool reading, const ByteList& list, bool json, Status local) {
  const CallScope call(*comm_, Call::explain, &identity_);
  if (Status status = check_in_step(identity_); !status.ok())
    return status;
  if (Status verdict = agree_same(*comm_, std::move(local), uint64_t{reading ? 4U : 5U} * (json ? 2 : 1),
                                  "the directions or formats of the explanation");
      !verdict.ok())
    return verdict;
  Moving moving{.reading = reading, .moves = false, .list = list, .memory = nullptr};
  if (Status verdict = summarize(moving, guard([&] { return check_mode(reading); })); !verdict.ok())
    return verdict;
  FlushReport planned;
  std::string text;
  const bool is_cached = moving.summary.plan_id > 0;
  if (moving.summary.bytes > 0) {
    auto prepared = ready(moving);
    if (!prepared.ok())
      return prepared.status();
    local = guard([&] {
      planned.plans.push_back({prepared.value()->plan, prepared.value()->forecast, is_cached});
      return Status{};
    });
  }
  local.update(guard([&] {
    text = json ? explain_json(planned) : planned.plans.empty() ? "no rank moves a byte\n" : explain_text(planned);
    return Status{};
  }));
  if (Status verdict = agree(*comm_, std::move(local)); !verdict.ok())
    return verdict;
  return text;
}

Status ByteFile::sum(std::span<int64_t> numbers, int64_t count, Status local) {
  const CallScope call(*comm_, Call::sum, &identity_);
  if (Status status = check_in_step(identity_); !status.ok())
    return status;
  if (local.ok() && (count < 0 || count > k_most_sums))
    local = guard([&] {
      return Status{Code::bad_argument, fmt::format("a sum of {} numbers: 0 to {} are allowed", count, k_most_sums)};
    });
  // As many numbers on each rank, whatever a rank has passed.
  std::array<int64_t, k_most_sums> sums{};
  if (local.ok())
    std::copy(numbers.begin(), numbers.end(), sums.begin());
  std::array<int64_t, 2> counts{count, ~count};
  if (Status status = agree(*comm_, std::move(local), {.maximum = counts, .sum = sums, .bits = {}}); !status.ok())
    return status;
  if (counts[0] != ~counts[1])
    return guard([&] {
      return Status{Code::bad_argument,
                    fmt::format("a sum of {} numbers on one rank, and of {} on another", ~counts[1], counts[0])};
    });
  std::copy_n(sums.begin(), numbers.size(), numbers.begin());
  return {};
}

Status ByteFile::sync() {
  const CallScope call(*comm_, Call::sync, &identity_);
  if (Status status = check_in_step(identity_); !status.ok())
    return status;
  Status local = guard([&] { return mode_ == Mode::read ? Status{} : data_->sync(); });
  if (comm_->rank() == 0 && local.ok())
    local = guard([&]() -> Status {
      int64_t size = 0;
      if (Status status = look_at_file(size); !status.ok() || mode_ == Mode::read)
        return status;
      if (::fsync(held_.descriptor()) != 0)
        return system_status("sync of", path_, errno);
      if (!is_new_)
        return {};
      Status named = sync_folder(std::filesystem::path(data_->path()).parent_path().string());
      is_new_ = !named.ok();
      return named;
    });
  return agree(*comm_, std::move(local));
}

Status ByteFile::close() {
  const CallScope call(*comm_, Call::close, &identity_);
  Status local = guard([&] { return data_->close(); });
  if (Status lost = check_in_step(identity_); !lost.ok())
    return lost;
  if (!mpi_is_running())
    return {Code::bad_state, fmt::format("\"{}\" is closed after MPI_Finalize", path_)};
  int64_t size = 0;
  if (comm_->rank() == 0 && local.ok())
    local = guard([&] { return look_at_file(size); });
  // 0 on all ranks if no other file uses the communicator, and the user may have freed it.
  int64_t stays_open = Comm::is_last(comm_) ? 0 : 1;
  Status verdict = agree(*comm_, std::move(local), {.maximum = {}, .sum = {}, .bits = std::span(&stays_open, 1)});
  if (stays_open == 0 && verdict.code() != Code::mpi)
    Comm::end(comm_);
  return verdict;
}

std::string ByteFile::report(bool json) const {
  return json ? report_json(engine_.report) : report_text(engine_.report);
}

}  // namespace windrow
