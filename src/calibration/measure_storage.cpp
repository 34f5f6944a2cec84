// SPDX-License-Identifier: BSD-3-Clause
// The storage: opening files, and writing and reading them in requests of several lengths, by several ranks with
// several access patterns.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "calibration/measure.hpp"
#include "comm/agree.hpp"
#include "model/predict.hpp"
#include "plan/domains.hpp"
#include "storage/publish.hpp"

namespace windrow {
namespace {

constexpr int64_t k_longest_request = int64_t{4} << 20;
constexpr double k_trial_seconds = 0.12;                    // per trial: a slow storage moves less in it
constexpr double k_repeating_seconds = 20;                  // in all: afterwards each trial is run once
constexpr int64_t k_forgetting_bytes = int64_t{128} << 20;  // per host: more than caches hold
constexpr int k_repetitions = 5;
constexpr double k_least_seconds =
    0.005;  // faster reads are repeated, because clock and scheduling errors would be too large

struct Trial {
  bool reading = false;
  Sharing sharing = Sharing::apart;
  int64_t request_bytes = 0;
  int64_t ranks = 1;
};

// 1, 2, 4, ... and all ranks.
std::vector<int64_t> rank_counts(int ranks) {
  std::vector<int64_t> counts;
  for (int64_t count = 1; count < ranks; count *= 2)
    counts.push_back(count);
  counts.push_back(ranks);
  return counts;
}

int64_t targets_of_layout(const StorageLayout& layout) noexcept {
  int64_t targets = 0;
  for (const LayoutComponent& each : layout.components)
    targets = std::max(targets, each.stripe_count);
  return layout.is_striped() ? targets : 0;
}

constexpr int64_t k_least_unbroken = int64_t{64} << 10;

std::vector<Trial> trials_for(int ranks, const StorageLayout& layout) {
  std::vector<Trial> trials;
  const int64_t targets = targets_of_layout(layout);
  for (const bool reading : {false, true})
    for (const int64_t count : rank_counts(ranks))
      for (const int64_t request :
           {int64_t{512}, int64_t{4} << 10, int64_t{64} << 10, int64_t{1} << 20, k_longest_request}) {
        trials.push_back({reading, Sharing::apart, request, count});
        // A single rank has no neighbours; long requests of several ranks are nearly separate parts.
        if (count > 1 && request < k_longest_request)
          trials.push_back({reading, Sharing::interleaved, request, count});
        if (count > 1 && count <= targets && request >= k_least_unbroken && request <= lock_unit(layout))
          trials.push_back({reading, Sharing::targets, request, count});
        if (reading && request < k_longest_request)
          trials.push_back({reading, Sharing::mapped, request, count});
        if (!reading && request >= k_least_unbroken)
          trials.push_back({reading, Sharing::sieved, request, count});
      }
  return trials;
}

// Offsets of the requests of one rank of a trial, all within k_measured_bytes.
class Places {
 public:
  Places(const Trial& trial, const StorageLayout& layout, int64_t index)
      : trial_(trial),
        stripe_(std::max(trial.request_bytes, lock_unit(layout))),
        targets_(std::max<int64_t>(1, targets_of_layout(layout))),
        index_(index),
        share_(share_of(trial)) {
    // If the distance of the parts was a multiple of all targets' stripes, all ranks would write to one target at a
    // time. This is unusual for a file.
    const int64_t stripe = std::max<int64_t>(1, lock_unit(layout));
    if (targets_ > 1 && trial.ranks > 1 && stripe + trial.request_bytes <= share_ && share_ / stripe % targets_ == 0)
      share_ -= stripe;
  }

  // Offset of the next request, or -1 at the end.
  int64_t next() noexcept {
    const int64_t place = trial_.sharing == Sharing::targets ? next_of_targets()
                          : is_apart()                       ? index_ * share_ + count_ * stride()
                                                             : (count_ * trial_.ranks + index_) * trial_.request_bytes;
    const int64_t end = is_apart() ? (index_ + 1) * share_ : trial_.ranks * share_;
    ++count_;
    return place >= 0 && place + trial_.request_bytes <= std::min(end, k_measured_bytes) ? place : -1;
  }

 private:
  static int64_t share_of(const Trial& trial) noexcept {
    return std::max(trial.request_bytes, round_down(k_measured_bytes / trial.ranks, trial.request_bytes));
  }
  bool is_apart() const noexcept { return trial_.sharing == Sharing::apart || trial_.sharing == Sharing::sieved; }
  // Short requests in a rank's own part have gaps between them. Otherwise they would be one piece, and clients that
  // merge queued requests would merge them.
  int64_t stride() const noexcept { return (trial_.request_bytes < k_least_unbroken ? 2 : 1) * trial_.request_bytes; }

  // Stripes of the rank's own columns, request by request.
  int64_t next_of_targets() noexcept {
    const int64_t of_stripe = std::max<int64_t>(1, stripe_ / trial_.request_bytes);
    if (count_ % of_stripe == 0) {
      do
        ++number_;
      while (number_ * stripe_ < k_measured_bytes && number_ % targets_ * trial_.ranks / targets_ != index_);
    }
    return number_ * stripe_ + count_ % of_stripe * trial_.request_bytes;
  }

  const Trial& trial_;
  int64_t stripe_, targets_, index_, share_, count_ = 0, number_ = -1;
};

// One rank's part of a trial: requests until all are done, or the time is over.
class TrialRank {
 public:
  TrialRank(const MeasuredPlace& place, const Trial& trial, int64_t index)
      : place_(place), trial_(trial), index_(index) {}

  Status open() {
    auto store = open_store(place_.path, trial_.reading ? StoreMode::read : StoreMode::update, place_.options);
    if (!store.ok())
      return store.status();
    store_ = std::move(store).value();
    return {};
  }

  // Includes the time until the bytes are stored, because some storages transfer them only at close.
  Status run(std::span<std::byte> memory) {
    Status status = trial_.sharing == Sharing::mapped ? run_mapped(memory) : run_requests(memory);
    status.update(store_->close());
    store_.reset();
    return status;
  }
  int64_t bytes() const noexcept { return bytes_; }

 private:
  // Uses the whole memory in turn, as a program does, so that it does not stay in a cache.
  std::span<std::byte> piece_of(std::span<std::byte> memory) const noexcept {
    return memory.subspan(static_cast<size_t>(bytes_ % static_cast<int64_t>(memory.size())),
                          static_cast<size_t>(trial_.request_bytes));
  }

  // Visits the offsets of its requests, repeatedly if a run is too short to measure, until a visit fails.
  template <class Visit>
  Status visit_places(Visit&& visit) {
    const double begin = seconds_now();
    Status status;
    do {
      Places places(trial_, place_.layout, index_);
      for (int64_t at = places.next(); at >= 0 && status.ok() && seconds_now() < begin + k_trial_seconds;
           at = places.next()) {
        status = visit(at);
        bytes_ += trial_.request_bytes;
      }
    } while (trial_.reading && status.ok() && bytes_ > 0 && seconds_now() < begin + k_least_seconds);
    return status;
  }

  Status run_requests(std::span<std::byte> memory) {
    const bool reads = trial_.reading || trial_.sharing == Sharing::sieved;
    return visit_places([&](int64_t at) {
      Status status = reads ? store_->read_at(at, piece_of(memory)) : Status{};
      if (!trial_.reading && status.ok())
        status = store_->write_at(at, piece_of(memory));
      return status;
    });
  }

  Status run_mapped(std::span<std::byte> memory) {
    auto mapped = store_->map(0, k_measured_bytes);
    if (!mapped.ok())
      return mapped.status().code() == Code::unsupported ? Status{} : mapped.status();
    (void)visit_places([&](int64_t at) {
      std::memcpy(piece_of(memory).data(), mapped.value() + at, static_cast<size_t>(trial_.request_bytes));
      return Status{};
    });
    return store_->unmap();
  }

  const MeasuredPlace& place_;
  const Trial& trial_;
  int64_t index_, bytes_ = 0;
  std::unique_ptr<Store> store_;
};

// A program's data and the pages of its file are rarely in a cache, unlike those of the previous trial. So every rank
// touches enough memory to evict them. memory: as long as a rank's data.
void forget_caches(std::span<std::byte> memory) noexcept {
  for (size_t at = 0; at < memory.size(); at += 64)
    memory[at] ^= std::byte{1};
}

// Index of this rank among those of a trial, or -1. Spread over hosts, as a plan spreads writers.
int64_t index_among(const Comm& comm, int64_t count) {
  const std::vector<int> ranks = spread_writers({.ranks = comm.size(), .host_roots = comm.host_roots()}, count);
  const auto found = std::find(ranks.begin(), ranks.end(), comm.rank());
  return found == ranks.end() ? -1 : found - ranks.begin();
}

enum class Filled {
  nowhere,
  at_the_end,
  everywhere
};

// Rank 0 creates the file, and writes it if it will be read; for sieving it has its length but no data. Collective.
Status make_file(const Comm& comm, const MeasuredPlace& place, Filled filled, std::span<std::byte> memory) {
  Status local;
  auto waited = timed_together(comm, [&] {
    if (comm.rank() == 0)
      local = guard([&] {
        auto store = open_store(place.path, StoreMode::create, place.options);
        Status status = store.status();
        if (filled == Filled::at_the_end && status.ok())
          status = store.value()->write_at(k_measured_bytes, memory.first(1));
        for (int64_t at = 0; filled == Filled::everywhere && at < k_measured_bytes && status.ok();
             at += k_longest_request)
          status = store.value()->write_at(at, memory.first(static_cast<size_t>(k_longest_request)));
        if (store.ok())
          status.update(store.value()->close());
        return status;
      });
  });
  local.update(waited.status());
  return agree(comm, std::move(local));
}

// Collective: bytes per second of all ranks together; 0: this storage does not support it.
Result<double> run_trial(const Comm& comm, const MeasuredPlace& place, const Trial& trial,
                         std::span<std::byte> memory) {
  if (!trial.reading)
    if (Status made =
            make_file(comm, place, trial.sharing == Sharing::sieved ? Filled::at_the_end : Filled::nowhere, memory);
        !made.ok())
      return made;
  int64_t index = -1;
  Status local = guard([&] { return index = index_among(comm, trial.ranks), Status{}; });
  TrialRank rank(place, trial, index);
  if (index >= 0)
    local = guard([&] { return rank.open(); });
  forget_caches(memory);
  if (Status opened = agree(comm, std::move(local)); !opened.ok())
    return opened;
  local = Status{};
  auto seconds = timed_together(
      comm,
      [&] {
        if (index >= 0)
          local = guard([&] { return rank.run(memory); });
      },
      Clock::common);
  local.update(seconds.status());
  int64_t bytes = rank.bytes();
  if (Status verdict = agree(comm, std::move(local), Reduction{.maximum = {}, .sum = std::span(&bytes, 1), .bits = {}});
      !verdict.ok())
    return verdict;
  return bytes > 0 ? std::clamp(static_cast<double>(bytes) / std::max(seconds.value(), 1e-9), 1.0, 1e18) : 0;
}

// A request at the begin of the file and one elsewhere. `longer`: by how much the first read takes longer.
Status time_two_requests(const MeasuredPlace& place, bool reading, int64_t elsewhere, std::span<std::byte> piece,
                         double& longer) {
  auto store = open_store(place.path, reading ? StoreMode::read : StoreMode::update, place.options);
  if (!store.ok())
    return store.status();
  Status status;
  double begin = seconds_now();
  for (const int64_t at : {int64_t{0}, elsewhere}) {
    if (status.ok())
      status = reading ? store.value()->read_at(at, piece) : store.value()->write_at(at, piece);
    const double end = seconds_now(), took = end - std::exchange(begin, end);
    if (reading)
      longer = at == 0 ? took : std::max(0.0, longer - took);
  }
  status.update(store.value()->close());
  return status;
}

// Additional time to read what another host has just written, because its lock is revoked. Collective; for striped
// files and several hosts.
Result<double> call_back_seconds(const Comm& comm, const MeasuredPlace& place, std::span<std::byte> memory) {
  constexpr int k_times = 3;
  constexpr int64_t k_bytes = 4096;
  // On the same target, or in the same stripe if the target has no second one.
  const LayoutComponent& first = place.layout.components.front();
  const int64_t row = checked_multiply(first.stripe_bytes, first.stripe_count).value_or(INT64_MAX),
                room = std::min(first.bytes.end, k_measured_bytes) - k_bytes;
  const int64_t elsewhere =
      row <= room ? row : round_down(std::max(k_bytes, std::min(first.stripe_bytes - k_bytes, room)), k_bytes);
  const auto piece = memory.first(k_bytes);
  std::array<double, k_times> longer{};
  for (double& each : longer) {
    if (Status made = make_file(comm, place, Filled::nowhere, memory); !made.ok())
      return made;
    for (const bool reading : {false, true}) {
      Status local;
      const int rank = reading ? 0 : comm.host_roots().back();
      auto waited = timed_together(comm, [&] {
        if (comm.rank() == rank)
          local = guard([&] { return time_two_requests(place, reading, elsewhere, piece, each); });
      });
      local.update(waited.status());
      if (Status verdict = agree(comm, std::move(local)); !verdict.ok())
        return verdict;
    }
  }
  std::sort(longer.begin(), longer.end());
  auto nanoseconds = static_cast<int64_t>(longer[k_times / 2] * 1e9);  // 0 on ranks that do not read
  if (Status verdict = agree(comm, Status{}, Reduction{.maximum = std::span(&nanoseconds, 1), .sum = {}, .bits = {}});
      !verdict.ok())
    return verdict;
  return static_cast<double>(nanoseconds) * 1e-9;
}

Status open_and_close(const MeasuredPlace& place, StoreMode mode) noexcept {
  return guard([&] {
    auto store = open_store(place.path, mode, place.options);
    return store.ok() ? store.value()->close() : store.status();
  });
}

// A single rank has the same rate with any sharing.
void keep_rate(const Trial& trial, double rate, Machine& machine) {
  if (rate <= 0)
    return;
  auto& rates = trial.reading ? machine.reads : machine.writes;
  rates.push_back(
      {.request_bytes = trial.request_bytes, .ranks = trial.ranks, .bytes_per_s = rate, .sharing = trial.sharing});
  if (trial.ranks > 1 || trial.sharing != Sharing::apart)
    return;
  for (const Sharing sharing : {Sharing::interleaved, Sharing::targets})
    rates.push_back({.request_bytes = trial.request_bytes, .ranks = 1, .bytes_per_s = rate, .sharing = sharing});
}

double best_rate(const std::vector<MeasuredRate>& rates, double otherwise) {
  double best = 0;
  for (const MeasuredRate& rate : rates)
    if (rate.sharing != Sharing::mapped && rate.sharing != Sharing::sieved)
      best = std::max(best, rate.bytes_per_s);
  return best > 0 ? best : otherwise;
}

// Single numbers for what was not measured.
void sum_up(const StorageLayout& layout, Machine& machine) {
  MachineStorage& storage = machine.storage;
  storage.targets = storage.stripe_count = std::max<int64_t>(1, targets_of_layout(layout));
  if (layout.is_striped())
    storage.stripe_bytes = std::max<int64_t>(1, lock_unit(layout));
  const auto targets = static_cast<double>(storage.targets);
  storage.target_write_bytes_per_s =
      std::max(1.0, best_rate(machine.writes, storage.target_write_bytes_per_s) / targets);
  storage.target_read_bytes_per_s = std::max(1.0, best_rate(machine.reads, storage.target_read_bytes_per_s) / targets);
  storage.client_bytes_per_s = std::max(best_rate(machine.writes, 1), best_rate(machine.reads, 1));
  storage.turn_s = std::min(turn_seconds(machine.writes, storage.targets), 1e3);
  if (const double rate = rate_at(machine.writes, 4096, 1); rate > 0)
    storage.request_s = storage.target_request_s = std::clamp(4096 / rate, 1e-7, 10.0);
}

}  // namespace

Status measure_metadata(const Comm& comm, const MeasuredPlace& place, Machine& machine) {
  constexpr int k_files = 5;
  Status local;
  double created = 0;
  auto waited = timed_together(comm, [&] {
    if (comm.rank() != 0)
      return;
    const double begin = seconds_now();
    for (int i = 0; i < k_files && local.ok(); ++i) {
      local = open_and_close(place, StoreMode::create);
      if (local.ok())
        local = guard([&] { return remove_files(std::span(&place.path, 1)); });
    }
    created = (seconds_now() - begin) / k_files;
    if (local.ok())
      local = open_and_close(place, StoreMode::create);
  });
  local.update(waited.status());
  if (Status verdict = agree(comm, std::move(local)); !verdict.ok())
    return verdict;
  local = Status{};
  const auto open = [&] { local.update(open_and_close(place, StoreMode::read)); };
  auto one = timed_together(comm, [&] {
    if (comm.rank() == 0)
      open();
  });
  auto all = timed_together(comm, open);
  local.update(one.status());
  local.update(all.status());
  if (Status verdict = agree(comm, std::move(local)); !verdict.ok())
    return verdict;
  machine.metadata = {.open_s = std::clamp(one.value(), 1e-7, 1e3),
                      .opens_per_s = std::clamp(comm.size() / std::max(all.value(), 1e-9), 1e-3, 1e9),
                      .creates_per_s = std::clamp(1 / std::max(created, 1e-9), 1e-3, 1e9)};
  return {};
}

namespace {

// Collective. Adds the seconds of the slowest rank to `spent`.
Result<double> time_trial(const Comm& comm, const MeasuredPlace& place, const Trial& trial, std::span<std::byte> memory,
                          double& spent) {
  if (auto waited = timed_together(comm, [] {}); !waited.ok())
    return waited.status();
  const double begin = seconds_now();
  auto rate = run_trial(comm, place, trial, memory);
  if (!rate.ok())
    return rate;  // agreed in the trial, or MPI's
  double took = seconds_now() - begin;
  if (int rc = MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, comm.get()); rc != MPI_SUCCESS)
    return mpi_status(rc, "MPI_Allreduce");
  spent += took;
  return rate;
}

// Collective. Fewer repetitions if much time is spent already.
Result<double> repeat_trial(const Comm& comm, const MeasuredPlace& place, const Trial& trial,
                            std::span<std::byte> memory, double& spent) {
  std::array<double, k_repetitions> rates{};
  int made = 0;
  for (; made == 0 || (made < k_repetitions && spent < k_repeating_seconds); ++made) {
    auto rate = time_trial(comm, place, trial, memory, spent);
    if (!rate.ok())
      return rate;
    rates[static_cast<size_t>(made)] = rate.value();
  }
  // Other activity only slows measurements down; the fastest one may be a clock error.
  std::sort(rates.begin(), rates.begin() + made);
  return rates[static_cast<size_t>(std::max(0, made - 2))];
}

}  // namespace

Status measure_storage(const Comm& comm, const MeasuredPlace& place, Machine& machine) {
  std::vector<std::byte> memory;
  std::vector<Trial> trials;
  Status local = guard([&] {
    const int64_t share = round_up(k_forgetting_bytes / machine.ranks_per_host, k_longest_request);
    memory.resize(static_cast<size_t>(share), std::byte{0x5a});
    trials = trials_for(comm.size(), place.layout);
    machine.writes.reserve(3 * trials.size());
    machine.reads.reserve(3 * trials.size());
    return Status{};
  });
  if (Status verdict = agree(comm, std::move(local)); !verdict.ok())
    return verdict;
  double spent = 0;  // the same on all ranks, because all summands are
  bool full = false;
  for (const Trial& trial : trials) {
    if (trial.reading && !full)
      if (Status made = make_file(comm, place, Filled::everywhere, memory); !made.ok())
        return made;
    full = trial.reading;
    const auto rate = repeat_trial(comm, place, trial, memory, spent);
    if (!rate.ok())
      return rate.status();
    keep_rate(trial, rate.value(), machine);
  }
  sum_up(place.layout, machine);
  if (!place.layout.is_striped() || comm.host_roots().size() < 2)
    return {};
  auto lock = call_back_seconds(comm, place, memory);
  if (lock.ok())
    machine.storage.lock_s = std::min(lock.value(), 1e3);
  return lock.status();
}

}  // namespace windrow
