// SPDX-License-Identifier: BSD-3-Clause
// RankTurns: what each rank of a simulated plan sends, copies, writes and keeps in memory, rank by rank, as exchange/
// and session/ do it. Nothing is kept of a rank whose turn is over but sums and a number. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/access.hpp"
#include "sim/loads.hpp"
#include "sim/places.hpp"
#include "sim/simulate.hpp"

namespace windrow {

class RankTurns {
 public:
  // `counts`: of the simulation, which this fills.
  RankTurns(const SimulationRequest& request, const Plan& plan, const Places& places, const PlanLimits& limits,
            Simulation& counts);
  void run();

  size_t phases() const noexcept { return phasing_.phases; }
  int64_t rounds_of_phase() const noexcept { return phasing_.rounds; }
  double phases_ahead() const;  // how many of them a host's memory takes before its ranks wait for the storage
  const std::vector<double>& exchange_seconds() const noexcept {
    return exchange_;
  }  // [phases], once all have had their turns
  double describe_seconds() const;
  const StorageLoads& storage() const noexcept { return storage_; }

 private:
  struct Phasing {
    size_t phases = 1;
    int64_t rounds = 1;  // of a phase
  };
  // A window that a rank's bytes touch.
  struct Touched {
    size_t domain = 0;
    int64_t index = 0;
    int64_t bytes = 0;
  };
  // Windows with something in them, and bytes of the longest up to the last that is covered.
  struct Stored {
    int64_t windows = 0, longest = 0;
    int64_t over_holes =
        0;  // what of the longest request to write with holes is read at a time, into memory of its own
  };
  template <class Visit>
  void for_each_window(const Held& held, Visit&& visit);
  size_t domain_at(int64_t offset) const;
  size_t phase_of(int64_t index) const noexcept {
    return std::min(phasing_.phases - 1, static_cast<size_t>(index / phasing_.rounds));
  }
  int host_of(int rank) const noexcept { return static_cast<int>(rank / request_.machine.ranks_per_host); }
  bool shares_memory() const noexcept { return plan_.has_domains() != plan_.gathers(); }
  bool is_direct() const noexcept;
  // The whole file as one domain, as exchange/ has it; the line of several files ends before.
  Windows cells_of_file() const noexcept { return {.domain = {0, INT64_MAX / 4}, .bytes = plan_.window_bytes}; }

  void add_ways();
  void choose_ways();
  double broadcast_seconds() const;
  void find_groups();
  size_t column_at(int64_t offset) const;
  Phasing choose_phases() const;
  int64_t clients() const;
  int team_end(int root) const;
  void take_turn(int rank);
  void send_to_domains(int rank, const Held& held);
  void send_to_root(int rank, const Held& held);
  void serve_team(int rank);
  void serve_domain(int rank);
  void serve_alone(int rank, const Held& held);
  void access_directly(const Held& held);
  void access_share(const Share& share);
  void broadcast();
  void begin_client(int rank);
  Stored store(const Windows& windows, int64_t first_index, PieceView covered);
  void request(size_t phase, const Request& one, int64_t together = 1);
  void count_message(int64_t bytes);
  void keep_message_buffers(int rank, int64_t largest);
  void add_memory(int rank, int64_t bytes) { memory_[static_cast<size_t>(rank)] += bytes; }
  void add_slots(int rank, int64_t windows, int64_t largest_window, int64_t largest_remote, bool has_peers);
  void add_slots_of_cells(int rank, Extent hull, bool has_peers);

  const SimulationRequest& request_;
  const Plan& plan_;
  const Places& places_;
  AccessRule rule_;
  Simulation& counts_;
  std::vector<Windows> windows_;         // [domains]
  int64_t columns_ = 1;                  // of dealt stripes of a file
  std::vector<size_t> group_of_column_;  // [files * columns]
  int64_t deal_bytes_ = 1;               // of what is dealt at a time
  Phasing phasing_;
  // A way for messages between hosts to go: as they are, or by a codec.
  struct Way {
    ExchangeLoads to_roots, to_domains;
  };
  std::vector<Way> ways_;
  std::vector<double> exchange_;  // [phases] by the fastest way
  StorageLoads storage_;
  Pieces covered_;             // by all ranks
  std::vector<Touched> open_;  // [domains] of a rank's dealt windows, those that may get more bytes
  Held team_held_;             // by the team whose ranks have their turns
  int64_t team_first_ = 0;     // index of its first window
  int latest_client_ = -1;
  size_t next_domain_ = 0;                 // whose writer's turn comes
  std::vector<int64_t> remote_of_window_;  // by domain and window, where these are few: bytes that come as messages
  std::vector<size_t> first_window_;       // [domains + 1] in it
  std::vector<int64_t> letters_to_;        // [domains or teams] descriptions
  int64_t most_letters_from_ = 0;
  std::vector<int64_t> memory_;  // [ranks]
};

}  // namespace windrow
