// SPDX-License-Identifier: BSD-3-Clause
#include "model/predict.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace windrow {
namespace {

constexpr double k_most = 1e15;  // seconds, bytes or counts: an upper bound of real values

double sound(double number) noexcept {
  return number > 0 ? std::min(number, k_most) : 0;
}  // also rejects NaN

double seconds_for(double bytes, double bytes_per_s) noexcept {
  return bytes_per_s > 0 ? sound(bytes / bytes_per_s) : 0;
}

double ranks_of_host(const Work& work) noexcept {
  return std::ceil(sound(work.ranks) / std::max(1.0, sound(work.hosts)));
}

// A tree over all ranks. A measured time is for the number of ranks of the machine file.
double agreement_seconds(const Work& work, const Machine& machine) noexcept {
  const double steps = std::log2(std::max(2.0, sound(work.ranks)));
  if (work.ranks <= 1)
    return 0;
  if (machine.network.agree_s > 0) {
    const double measured = static_cast<double>(machine.hosts) * static_cast<double>(machine.ranks_per_host);
    return machine.network.agree_s * steps / std::log2(std::max(2.0, measured));
  }
  const double latency = work.hosts > 1 ? machine.network.latency_s : machine.network.within_host_latency_s;
  return 2 * steps * latency;
}

// A measured time covers more than agreements. It grows with the number of ranks as they do.
double plan_seconds(const Work& work, const Machine& machine) noexcept {
  const double agreements = sound(work.agreements) * agreement_seconds(work, machine);
  const bool direct = machine.metadata.direct_flush_s > 0 && !(work.rank_copies > 0);
  const double flush = direct ? machine.metadata.direct_flush_s : machine.metadata.flush_s;
  if (flush <= 0)
    return agreements;
  const double measured = static_cast<double>(machine.hosts) * static_cast<double>(machine.ranks_per_host);
  return flush * std::max(1.0, std::log2(std::max(2.0, sound(work.ranks))) / std::log2(std::max(2.0, measured)));
}

// Cores for the ranks of a host.
double cores_of(const Work& work, const Machine& machine) noexcept {
  return std::max(1.0, std::min(ranks_of_host(work),
                                machine.cores_per_host > 0 ? static_cast<double>(machine.cores_per_host) : k_most));
}

// Time on links to other hosts. The exchange chooses the codec from measured messages, so compression never makes this
// time longer.
double link_seconds(const Work& work, const Machine& machine) noexcept {
  const MachineNetwork& network = machine.network;
  const double bisection =
      network.bisection_bytes_per_s > 0 ? seconds_for(work.sends / 2, network.bisection_bytes_per_s) : 0;
  const double plain = std::max({seconds_for(work.rank_sends, network.bytes_per_s),
                                 seconds_for(work.host_sends, network.host_bytes_per_s), bisection});
  double best = plain;
  for (const MachineCodec& codec : machine.codecs) {
    if (!work.compresses)
      break;
    const double byte_s = seconds_for(1, codec.encode_bytes_per_s) + seconds_for(1, codec.decode_bytes_per_s);
    const double computes = byte_s * std::max(sound(work.rank_sends), sound(work.host_sends) / cores_of(work, machine));
    best = std::min(best, sound(std::min(sound(work.shrinks_to), 1.0) * plain + computes));
  }
  return best;
}

// Copies are bound by one rank or by the memory of its host. Links are bound by a rank, by its host or by the
// bisection.
double exchange_seconds(const Work& work, const Machine& machine) noexcept {
  const MachineMemory& memory = machine.memory;
  const MachineNetwork& network = machine.network;
  const double copies =
      std::max(seconds_for(work.rank_copies, memory.copy_bytes_per_s) + sound(work.rank_pieces) * memory.piece_s,
               seconds_for(work.host_copies, memory.host_copy_bytes_per_s) +
                   sound(work.host_pieces) * memory.piece_s / cores_of(work, machine));  // the ranks share cores
  const double messages = sound(work.messages) * network.message_s;
  const double waits = sound(work.rounds) * (work.sends > 0 ? network.latency_s : agreement_seconds(work, machine));
  return sound(copies + link_seconds(work, machine) + messages + waits);
}

// The measured rate of this number of ranks.
double measured_rate(const StorageWork& part, const Machine& machine, double ranks) {
  const double request = std::clamp(sound(part.request_bytes), 1.0, 1e15);
  return rate_at(part.reading ? machine.reads : machine.writes, static_cast<int64_t>(request),
                 static_cast<int64_t>(std::clamp(ranks, 1.0, 1e9)), part.sharing);
}

// All targets wait for the busiest: the bytes that there would be if every active target had as many as that one.
double bytes_as_of_busiest(const StorageWork& part, double at_work) noexcept {
  return std::max(sound(part.bytes), sound(part.target_bytes) * at_work);
}

// The targets that hold a part's bytes, their stripes, and the clients that access them.
struct Contention {
  double targets = 1, stripe = 1;
  double requests = 0;  // requests at all targets, after clients split their requests and at ends of stripes
  double clients = 1;   // concurrent clients of one target
};

Contention contention_of(const StorageWork& part, const MachineStorage& storage, double ranks) noexcept {
  Contention contention;
  contention.targets = part.targets > 0 ? sound(part.targets) : static_cast<double>(storage.stripe_count);
  contention.stripe =
      std::max(1.0, part.stripe_bytes > 0 ? sound(part.stripe_bytes) : static_cast<double>(storage.stripe_bytes));
  const auto reached_by = [&](double bytes) {
    return std::clamp(std::ceil(sound(bytes) / contention.stripe), 1.0, std::max(1.0, contention.targets));
  };
  const double request = std::max(1.0, sound(part.request_bytes));
  const double of_a_target = std::min(request / reached_by(request), static_cast<double>(storage.request_bytes));
  contention.requests = sound(part.bytes) / std::max(1.0, of_a_target);
  const double reached =
      part.sharing == Sharing::targets ? 1 : reached_by(part.span_bytes > 0 ? part.span_bytes : part.rank_bytes);
  contention.clients =
      std::clamp(std::ceil(ranks * reached / std::max(1.0, contention.targets)), 1.0, std::max(1.0, ranks));
  return contention;
}

// If more ranks are active than were measured together, each request waits for the others at its target.
double seconds_of_turns(const StorageWork& part, const Machine& machine, double measured_ranks) noexcept {
  const double ranks = std::max(1.0, sound(part.ranks));
  if (ranks <= measured_ranks || machine.storage.turn_s <= 0)
    return 0;
  const Contention now = contention_of(part, machine.storage, ranks),
                   then = contention_of(part, machine.storage, std::max(1.0, measured_ranks));
  return now.requests * machine.storage.turn_s * std::max(0.0, now.clients - then.clients) / std::max(1.0, now.targets);
}

double most_measured(const StorageWork& part, const Machine& machine) noexcept {
  double most = 0;
  for (const MeasuredRate& rate : part.reading ? machine.reads : machine.writes)
    if (rate.sharing == part.sharing)
      most = std::max(most, static_cast<double>(rate.ranks));
  return most;
}

double measured_seconds(const StorageWork& part, const Machine& machine) {
  const double all = measured_rate(part, machine, part.ranks), one = measured_rate(part, machine, 1);
  const double bytes = bytes_as_of_busiest(part, std::min(sound(part.ranks), sound(part.targets)));
  const double seconds = std::max(seconds_for(bytes, all), seconds_for(part.rank_bytes, one));
  return seconds > 0 && part.sharing != Sharing::mapped
             ? seconds + seconds_of_turns(part, machine, most_measured(part, machine))
             : seconds;
}

// How often locks of stripes move between writers, over all targets.
double lock_transfers(const StorageWork& part, double targets, double requests, double stripe) noexcept {
  if (part.reading || part.ranks < 2)
    return 0;
  switch (part.sharing) {
    case Sharing::interleaved:
      return std::max(requests, part.bytes / stripe);
    case Sharing::apart:
      return part.ranks * targets;  // a lock covers all free bytes of an object, so each further writer revokes it
    case Sharing::targets:
    case Sharing::mapped:
    case Sharing::sieved:
      break;
  }
  return 0;
}

// From the numbers of `storage` alone, without measured rates.
double modelled_seconds(const StorageWork& part, const Work& work, const Machine& machine) noexcept {
  const MachineStorage& storage = machine.storage;
  const double ranks = std::max(1.0, sound(part.ranks)), hosts = std::max(1.0, sound(work.hosts));
  if (part.sharing == Sharing::mapped)
    return seconds_for(part.bytes, machine.memory.host_copy_bytes_per_s * hosts);
  const Contention contention = contention_of(part, storage, ranks);
  const double targets = std::max(1.0, contention.targets), stripe = contention.stripe;
  const double request = std::clamp(sound(part.request_bytes), 1.0, static_cast<double>(storage.request_bytes));
  const double requests = sound(part.bytes) / request;
  const double ranks_each_host = std::ceil(ranks / hosts);
  const double own = seconds_for(part.rank_bytes, storage.client_bytes_per_s / ranks_each_host) +
                     sound(part.rank_bytes) / request * storage.request_s;
  const double rate = part.reading ? storage.target_read_bytes_per_s : storage.target_write_bytes_per_s;
  const double at_targets =
      (seconds_for(bytes_as_of_busiest(part, targets), rate) +
       contention.requests * (storage.target_request_s + storage.turn_s * (contention.clients - 1)) +
       lock_transfers(part, targets, requests, stripe) * storage.lock_s) /
      targets;
  const double servers = std::ceil(targets / static_cast<double>(storage.targets_per_server));
  const double at_servers =
      storage.server_bytes_per_s > 0 ? seconds_for(part.bytes, storage.server_bytes_per_s * servers) : 0;
  return sound(std::max({own, at_targets, at_servers}));
}

double part_seconds(const StorageWork& part, const Work& work, const Machine& machine) {
  if (!(part.bytes > 0))
    return 0;
  const double measured = measured_seconds(part, machine);
  return measured > 0 ? measured : modelled_seconds(part, work, machine);
}

// Measurements of data sieving cover the read and the write. Without them, the two times are added.
double sieving_seconds(StorageWork part, const Work& work, const Machine& machine) {
  part.sieving = false;
  StorageWork both = part, before = part;
  both.sharing = Sharing::sieved;
  before.reading = true;
  const double measured = measured_seconds(both, machine);
  return measured > 0 ? measured : part_seconds(before, work, machine) + part_seconds(part, work, machine);
}

double storage_seconds(const Work& work, const Machine& machine) {
  double seconds = work.hosts > 1 ? sound(work.call_backs) * machine.storage.lock_s : 0;
  for (size_t i = 0; i < std::min(work.storage_parts, work.storage.size()); ++i) {
    const StorageWork& part = work.storage[i];
    seconds += part.sieving && !part.reading ? sieving_seconds(part, work, machine) : part_seconds(part, work, machine);
  }
  return sound(seconds);
}

double open_seconds(const Work& work, const Machine& machine) noexcept {
  double ranks = 0;
  bool reading = work.storage_parts > 0;
  for (size_t i = 0; i < std::min(work.storage_parts, work.storage.size()); ++i) {
    ranks = std::max(ranks, sound(work.storage[i].ranks));
    reading = reading && work.storage[i].reading;
  }
  const MachineMetadata& metadata = machine.metadata;
  return (reading ? 0 : 1 / metadata.creates_per_s) + metadata.open_s + sound(ranks / metadata.opens_per_s);
}

// Copies of one round overlap the requests of another if a core is free for the copies. Storage on this host uses the
// host's own cores.
double overlapped(const Work& work, const Machine& machine, double exchange, double storage) noexcept {
  const bool free_cores =
      machine.storage.kind != "local" ||
      (machine.cores_per_host > 0 && static_cast<double>(machine.cores_per_host) > ranks_of_host(work));
  if (!free_cores || work.rounds < 2)
    return exchange + storage;
  return std::max(exchange, storage) + std::min(exchange, storage) / sound(work.rounds);
}

}  // namespace

namespace {

// A request of a target that one rank has alone, and the same where others have their own.
struct SharedRequest {
  int64_t ranks = 0, bytes = 0;
  double own_s = 0, more_s = 0;  // time at a target of its own, and the additional time with others
};

// The measurement of ranks with targets of their own that corresponds to `apart`: that of the most ranks; or nullptr.
const MeasuredRate* rate_of_own_targets(std::span<const MeasuredRate> rates, const MeasuredRate& apart) {
  const MeasuredRate* own = nullptr;
  for (const MeasuredRate& each : rates) {
    const bool is_alike = each.sharing == Sharing::targets && each.request_bytes == apart.request_bytes;
    if (!is_alike || each.ranks > apart.ranks || !(each.bytes_per_s > 0))
      continue;
    if (own == nullptr || own->ranks < each.ranks)
      own = &each;
  }
  return own;
}

std::vector<SharedRequest> shared_requests(std::span<const MeasuredRate> rates, int64_t targets) {
  std::vector<SharedRequest> found;
  for (const MeasuredRate& apart : rates) {
    if (apart.sharing != Sharing::apart || apart.ranks < 2 || !(apart.bytes_per_s > 0))
      continue;
    const MeasuredRate* own = rate_of_own_targets(rates, apart);
    const int64_t targets_in_use = std::min(apart.ranks, targets);
    if (own == nullptr || own->ranks < targets_in_use)
      continue;
    const auto bytes = static_cast<double>(apart.request_bytes);
    const double own_s = static_cast<double>(own->ranks) * bytes / own->bytes_per_s;
    const double apart_s = static_cast<double>(targets_in_use) * bytes / apart.bytes_per_s;
    found.push_back(
        {.ranks = apart.ranks, .bytes = apart.request_bytes, .own_s = own_s, .more_s = std::max(0.0, apart_s - own_s)});
  }
  return found;
}

}  // namespace

// Uses the measurements with the most ranks, which have the most clients at a target. Two effects grow with the request
// length and are not contention: clients that meet at a target by chance, and lock transfers, which many short requests
// share. Comparing the shortest with the longest requests removes both.
double turn_seconds(std::span<const MeasuredRate> rates, int64_t targets) {
  std::vector<SharedRequest> found = shared_requests(rates, targets);
  int64_t most = 0;
  for (const SharedRequest& each : found)
    most = std::max(most, each.ranks);
  std::erase_if(found, [most](const SharedRequest& each) { return each.ranks < most; });
  if (found.empty())
    return 0;
  const auto [shortest, longest] = std::minmax_element(
      found.begin(), found.end(), [](const SharedRequest& a, const SharedRequest& b) { return a.bytes < b.bytes; });
  double turn = shortest->more_s;
  if (const double ratio = shortest->own_s / longest->own_s; ratio < 1)
    turn = std::clamp((shortest->more_s - ratio * longest->more_s) / (1 - ratio), 0.0, shortest->more_s);
  return turn / static_cast<double>(most - 1);
}

Prediction predict(const Work& work, const Machine& machine) {
  Prediction seconds;
  seconds.open = sound(open_seconds(work, machine));
  seconds.plan = sound(plan_seconds(work, machine));
  seconds.exchange = sound(exchange_seconds(work, machine));
  seconds.storage = sound(storage_seconds(work, machine));
  seconds.total = sound(seconds.open + seconds.plan + overlapped(work, machine, seconds.exchange, seconds.storage));
  return seconds;
}

}  // namespace windrow
