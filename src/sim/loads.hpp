// SPDX-License-Identifier: BSD-3-Clause
// Loads: the load of a simulated transfer on the machine, by phase, and the time of the busiest resource. A phase
// consists of the rounds that can be in flight together. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/machine.hpp"

namespace windrow {

// Sums by phase. Only a few phases are in use at a time.
class PhaseSums {
 public:
  explicit PhaseSums(size_t phases) : sums_(phases) {}
  void add(size_t phase, double amount) {
    if (sums_[phase] == 0)
      touched_.push_back(phase);
    sums_[phase] += amount;
  }
  // Takes the maximum for each phase.
  void take_into(std::vector<double>& most) {
    for (const size_t phase : touched_) {
      most[phase] = std::max(most[phase], sums_[phase]);
      sums_[phase] = 0;
    }
    touched_.clear();
  }

 private:
  std::vector<double> sums_;
  std::vector<size_t> touched_;
};

// The bottleneck: the name of the slowest resource, for users.
struct Bound {
  double seconds = 0;
  const char* what = "nothing";
  void take(double other, const char* name) {
    if (other > seconds)
      seconds = other, what = name;
  }
};

// One message, or a copy within a host, between a rank and a server (aggregator or root).
struct Transmission {
  int from = 0, to = 0;  // ranks; the reverse direction costs the same
  size_t server = 0;     // index of `to` among the servers
  size_t phase = 0;
  int64_t bytes = 0;
  bool copies = false;  // through shared memory
};

// The effect of a codec on messages between hosts, for each raw byte; the default is no codec.
struct Compression {
  std::string_view codec;  // "": none
  double shrinks_to = 1;
  double rank_s = 0, server_s = 0;  // at the two ends of a transmission
};

// Ranks are added in order; each ends with end_rank().
class ExchangeLoads {
 public:
  ExchangeLoads(const Machine& machine, int ranks, std::vector<int> servers, size_t phases,
                const Compression& compression = {});
  void add(const Transmission& transmission);
  void end_rank(int rank);
  void finish();  // after all ranks
  Bound bound_of(size_t phase) const;
  std::string_view codec() const noexcept { return compression_.codec; }

 private:
  int host_of(int rank) const noexcept { return static_cast<int>(rank / machine_.ranks_per_host); }
  size_t at(size_t server, size_t phase) const noexcept { return server * phases_ + phase; }
  void end_host();

  const Machine& machine_;
  Compression compression_;
  int hosts_;
  std::vector<int> servers_;  // their ranks
  size_t phases_;
  int host_ = -1;
  PhaseSums rank_work_, host_out_, host_copies_;
  std::vector<double> most_rank_work_, most_host_out_, most_host_copies_, most_server_work_,
      most_host_in_;                                 // [phases]; out and in: uncompressed
  std::vector<double> crossing_up_, crossing_down_;  // [phases] bytes through the middle of the network
  std::vector<double> server_work_, server_in_;      // [servers x phases]
};

// Values by file and target number; sparse if there are very many.
template <class Value>
class Objects {
 public:
  explicit Objects(int64_t count) {
    constexpr int64_t k_most_listed = int64_t{4} << 20;
    if (count <= k_most_listed)
      listed_.resize(static_cast<size_t>(count));
  }
  Value& at(int64_t number) { return listed_.empty() ? found_[number] : listed_[static_cast<size_t>(number)]; }
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (size_t i = 0; i < listed_.size(); ++i)
      visit(static_cast<int64_t>(i), listed_[i]);
    for (const auto& [number, value] : found_)
      visit(number, value);
  }

 private:
  std::vector<Value> listed_;
  std::unordered_map<int64_t, Value> found_;
};

// The load of clients, one after another: begin_client(), its requests, end_client().
class StorageLoads {
 public:
  StorageLoads(const Machine& machine, bool reading, int64_t files, size_t phases, size_t rows);
  void begin_client(int rank, size_t row);
  void request(size_t phase, int64_t bytes, int64_t times = 1,
               int64_t together = 1);  // `times` equal requests; the client waits once for every `together`
  void touch(size_t phase, int64_t file, int64_t target, int64_t bytes, int64_t times = 1);  // a target's share
  void cut_stripes(int64_t stripes) { cut_stripes_ = stripes; }                              // with two writers
  void end_client();
  void finish();
  // Of phases [first, last) together, which may overlap at the targets.
  Bound bound_of(size_t first, size_t last) const;
  double host_bytes_of_phase() const;  // of the busiest host, on average
  double lock_seconds() const;
  const std::vector<std::vector<double>>& matrix() const noexcept { return matrix_; }  // [rows][targets] bytes
  int64_t clients() const noexcept { return clients_; }

 private:
  size_t at(size_t phase, size_t target) const noexcept {
    return phase * static_cast<size_t>(machine_.storage.targets) + target;
  }
  void end_host();
  void add_measured();
  const std::vector<MeasuredRate>& rates() const noexcept { return reading_ ? machine_.reads : machine_.writes; }

  const Machine& machine_;
  bool reading_;
  size_t phases_;
  int rank_ = 0, host_ = -1;
  size_t row_ = 0;
  int64_t clients_ = 0, cut_stripes_ = 0;
  double busiest_host_bytes_ = 0, host_total_ = 0;
  PhaseSums client_work_, host_bytes_;
  std::vector<double> most_client_work_, most_host_bytes_, measured_;  // [phases]
  std::map<std::pair<size_t, int64_t>, double> by_size_;  // by phase and request size: bytes; if there are measurements
  struct Visits {
    int64_t latest = 0;  // last client
    double requests = 0, clients = 0;
  };
  std::vector<double> bytes_, seconds_of_requests_;  // [phases x targets]
  Objects<Visits> visits_, visits_of_all_;           // by file, phase and target; and of all phases together
  std::vector<double> lock_transfers_;               // [targets] lock transfers
  std::vector<std::vector<double>> matrix_;
};

}  // namespace windrow
