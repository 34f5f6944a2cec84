// SPDX-License-Identifier: BSD-3-Clause
#include "sim/loads.hpp"

#include <algorithm>

#include "base/checked.hpp"

namespace windrow {

ExchangeLoads::ExchangeLoads(const Machine& machine, int ranks, std::vector<int> servers, size_t phases,
                             const Compression& compression)
    : machine_(machine),
      compression_(compression),
      hosts_(static_cast<int>(ceil_divide(ranks, machine.ranks_per_host))),
      servers_(std::move(servers)),
      phases_(phases),
      rank_work_(phases),
      host_out_(phases),
      host_copies_(phases),
      most_rank_work_(phases),
      most_host_out_(phases),
      most_host_copies_(phases),
      most_server_work_(phases),
      most_host_in_(phases),
      crossing_up_(phases),
      crossing_down_(phases),
      server_work_(servers_.size() * phases),
      server_in_(servers_.size() * phases) {}

void ExchangeLoads::add(const Transmission& transmission) {
  const auto bytes = static_cast<double>(transmission.bytes);
  const MachineNetwork& network = machine_.network;
  const double copy = bytes / machine_.memory.copy_bytes_per_s;
  host_copies_.add(transmission.phase, bytes);
  if (transmission.from == transmission.to || transmission.copies)
    return rank_work_.add(transmission.phase, copy);
  const int host = host_of(transmission.from), other = host_of(transmission.to);
  const bool within = host == other;
  const double on_its_way =
      within ? bytes / network.within_host_bytes_per_s : bytes * compression_.shrinks_to / network.bytes_per_s;
  // Packing, unpacking and coding overlap with other messages in flight.
  const auto work = [&](double byte_s) {
    return network.message_s + std::max(copy + (within ? 0 : bytes * byte_s), on_its_way);
  };
  rank_work_.add(transmission.phase, work(compression_.rank_s));
  server_work_[at(transmission.server, transmission.phase)] += work(compression_.server_s);
  if (within)
    return;
  host_out_.add(transmission.phase, bytes);
  server_in_[at(transmission.server, transmission.phase)] += bytes;
  if (host < hosts_ / 2 && other >= hosts_ / 2)
    crossing_up_[transmission.phase] += bytes;
  if (host >= hosts_ / 2 && other < hosts_ / 2)
    crossing_down_[transmission.phase] += bytes;
}

void ExchangeLoads::end_rank(int rank) {
  rank_work_.take_into(most_rank_work_);
  host_ = host_of(rank);
  if (host_of(rank + 1) != host_)
    end_host();
}

void ExchangeLoads::end_host() {
  host_out_.take_into(most_host_out_);
  host_copies_.take_into(most_host_copies_);
}

// Servers ascend, so those of a host are consecutive.
void ExchangeLoads::finish() {
  end_host();
  for (size_t phase = 0; phase < phases_; ++phase) {
    double in = 0;
    for (size_t server = 0; server < servers_.size(); ++server) {
      const bool fresh = server == 0 || host_of(servers_[server]) != host_of(servers_[server - 1]);
      in = (fresh ? 0 : in) + server_in_[at(server, phase)];
      most_host_in_[phase] = std::max(most_host_in_[phase], in);
      most_server_work_[phase] = std::max(most_server_work_[phase], server_work_[at(server, phase)]);
    }
  }
}

Bound ExchangeLoads::bound_of(size_t phase) const {
  const MachineNetwork& network = machine_.network;
  Bound bound;
  bound.take(most_rank_work_[phase], "sending and copying of one rank");
  bound.take(most_server_work_[phase], "the messages of one writer or reader");
  const double out = most_host_out_[phase] * compression_.shrinks_to,
               in = most_host_in_[phase] * compression_.shrinks_to;
  bound.take(out / network.host_bytes_per_s, "the link of one host of many ranks");
  bound.take(in / network.host_bytes_per_s, "the link of one host with a writer or reader");
  const int64_t cores = machine_.cores_per_host > 0 ? std::min(machine_.cores_per_host, machine_.ranks_per_host)
                                                    : machine_.ranks_per_host;
  bound.take((most_host_out_[phase] * compression_.rank_s + most_host_in_[phase] * compression_.server_s) /
                 static_cast<double>(cores),
             "the cores of one host, which compress");
  bound.take(most_host_copies_[phase] / machine_.memory.host_copy_bytes_per_s, "the memory of one host");
  if (network.bisection_bytes_per_s > 0)
    bound.take(
        std::max(crossing_up_[phase], crossing_down_[phase]) * compression_.shrinks_to / network.bisection_bytes_per_s,
        "the middle of the switches");
  if (bound.seconds > 0)
    bound.seconds += most_host_out_[phase] > 0 ? network.latency_s : network.within_host_latency_s;
  return bound;
}

StorageLoads::StorageLoads(const Machine& machine, bool reading, int64_t files, size_t phases, size_t rows)
    : machine_(machine),
      reading_(reading),
      phases_(phases),
      client_work_(phases),
      host_bytes_(phases),
      most_client_work_(phases),
      most_host_bytes_(phases),
      measured_(phases),
      visits_(files * static_cast<int64_t>(phases) * machine.storage.targets),
      visits_of_all_(files * machine.storage.targets) {
  const auto targets = static_cast<size_t>(machine.storage.targets);
  bytes_.resize(phases * targets), seconds_of_requests_.resize(phases * targets);
  lock_transfers_.resize(targets);
  matrix_.assign(rows, std::vector<double>(targets));
}

void StorageLoads::begin_client(int rank, size_t row) {
  const auto host = static_cast<int>(rank / machine_.ranks_per_host);
  if (host != host_)
    end_host();
  host_ = host;
  rank_ = rank;
  row_ = row;
  ++clients_;
}

void StorageLoads::request(size_t phase, int64_t bytes, int64_t times, int64_t together) {
  const MachineStorage& storage = machine_.storage;
  const double all = static_cast<double>(bytes) * static_cast<double>(times);
  client_work_.add(phase, static_cast<double>(times) / static_cast<double>(together) * storage.request_s +
                              all / storage.client_bytes_per_s);
  host_bytes_.add(phase, all);
  host_total_ += all;
  if (!rates().empty())
    by_size_[{phase, std::max<int64_t>(1, bytes)}] += all;
}

void StorageLoads::touch(size_t phase, int64_t file, int64_t target, int64_t bytes, int64_t times) {
  const auto repeated = static_cast<double>(times);
  bytes_[at(phase, static_cast<size_t>(target))] += static_cast<double>(bytes) * repeated;
  matrix_[row_][static_cast<size_t>(target)] += static_cast<double>(bytes) * repeated;
  const double requests =
      repeated * static_cast<double>(std::max<int64_t>(1, ceil_divide(bytes, machine_.storage.request_bytes)));
  const int64_t targets = machine_.storage.targets;
  for (Visits* visits :
       {&visits_.at((file * static_cast<int64_t>(phases_) + static_cast<int64_t>(phase)) * targets + target),
        &visits_of_all_.at(file * targets + target)}) {
    if (visits->latest != clients_)
      visits->clients += 1;
    visits->latest = clients_;
    visits->requests += requests;
  }
}

void StorageLoads::end_client() {
  client_work_.take_into(most_client_work_);
}

void StorageLoads::end_host() {
  host_bytes_.take_into(most_host_bytes_);
  busiest_host_bytes_ = std::max(busiest_host_bytes_, host_total_);
  host_total_ = 0;
}

// For more ranks than were measured, only the numbers of the storage count.
void StorageLoads::add_measured() {
  int64_t most = 0;
  for (const MeasuredRate& rate : rates())
    most = std::max(most, rate.ranks);
  if (clients_ > most)
    return;
  for (const auto& [of, bytes] : by_size_)
    if (const double rate = rate_at(rates(), of.second, clients_); rate > 0)
      measured_[of.first] += bytes / rate;
}

void StorageLoads::finish() {
  end_host();
  add_measured();
  const MachineStorage& storage = machine_.storage;
  const auto places = static_cast<int64_t>(bytes_.size());
  visits_.for_each([&](int64_t number, const Visits& visits) {
    seconds_of_requests_[static_cast<size_t>(number % places)] +=
        visits.requests * (storage.target_request_s + storage.turn_s * std::max(0.0, visits.clients - 1));
  });
  visits_of_all_.for_each([&](int64_t number, const Visits& visits) {
    lock_transfers_[static_cast<size_t>(number % storage.targets)] += std::max(0.0, visits.clients - 1);
  });
}

Bound StorageLoads::bound_of(size_t first, size_t last) const {
  const MachineStorage& storage = machine_.storage;
  const auto targets = static_cast<size_t>(storage.targets);
  const auto servers = static_cast<size_t>(ceil_divide(storage.targets, storage.targets_per_server));
  const double rate = reading_ ? storage.target_read_bytes_per_s : storage.target_write_bytes_per_s;
  Bound bound;
  double client = 0, host = 0, measured = 0;
  for (size_t phase = first; phase < last; ++phase)
    client += most_client_work_[phase], host += most_host_bytes_[phase], measured += measured_[phase];
  bound.take(client, "the requests of one rank");
  bound.take(host / storage.client_bytes_per_s, "the storage client of one host");
  bound.take(measured, "the measured throughput of this number of ranks");
  std::vector<double> of_server(servers);
  for (size_t target = 0; target < targets; ++target) {
    double bytes = 0, seconds = 0;
    for (size_t phase = first; phase < last; ++phase) {
      const size_t place = at(phase, target);
      bytes += bytes_[place];
      seconds += bytes_[place] / rate + seconds_of_requests_[place];
    }
    bound.take(seconds, "one target");
    of_server[target % servers] += bytes;
  }
  if (storage.server_bytes_per_s > 0)
    bound.take(*std::max_element(of_server.begin(), of_server.end()) / storage.server_bytes_per_s,
               "the link of one server");
  if (bound.seconds > 0)
    bound.seconds += storage.request_s;
  return bound;
}

double StorageLoads::host_bytes_of_phase() const {
  return busiest_host_bytes_ / static_cast<double>(phases_);
}

// A writer's first request to a target takes the lock from the previous writer; a stripe with two writers moves back
// once more.
double StorageLoads::lock_seconds() const {
  if (reading_)
    return 0;
  const auto cut = static_cast<double>(cut_stripes_) / static_cast<double>(machine_.storage.targets);
  return machine_.storage.lock_s * (*std::max_element(lock_transfers_.begin(), lock_transfers_.end()) + cut);
}

}  // namespace windrow
