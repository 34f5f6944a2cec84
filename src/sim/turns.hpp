// SPDX-License-Identifier: BSD-3-Clause
// RankTurns: the messages, copies, writes and memory of each rank of a simulated plan, rank by rank, as src/exchange
// and src/session have them. After its turn, only sums and one number are kept of a rank. Pure.
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
  // `counts`: of the simulation; filled by this class.
  RankTurns(const SimulationRequest& request, const Plan& plan, const Places& places, const PlanLimits& limits,
            Simulation& counts);
  void run();

  size_t phases() const noexcept { return phasing_.phases; }
  int64_t rounds_of_phase() const noexcept { return phasing_.rounds; }
  double phases_ahead() const;  // phases that fit into a host's memory before its ranks wait for the storage
  // [phases], valid after all turns.
  const std::vector<double>& exchange_seconds() const noexcept { return exchange_; }
  double describe_seconds() const;
  const StorageLoads& storage() const noexcept { return storage_; }

 private:
  struct Phasing {
    size_t phases = 1;
    int64_t rounds = 1;  // in a phase
  };
  // A window that a rank's bytes overlap.
  struct OverlappedWindow {
    size_t domain = 0;
    int64_t index = 0;
    int64_t bytes = 0;
  };
  // Number of windows with bytes, and bytes of the longest up to the last covered one.
  struct Stored {
    int64_t windows = 0, longest = 0;
    // bytes that are read at a time for the longest request with holes, in separate memory
    int64_t over_holes = 0;
  };
  template <class Visit>
  void for_each_window(const PlacedBytes& held, Visit&& visit);
  size_t domain_at(int64_t offset) const;
  size_t phase_of(int64_t index) const noexcept {
    return std::min(phasing_.phases - 1, static_cast<size_t>(index / phasing_.rounds));
  }
  int host_of(int rank) const noexcept { return static_cast<int>(rank / request_.machine.ranks_per_host); }
  bool shares_memory() const noexcept { return plan_.has_domains() != plan_.gathers(); }
  bool is_direct() const noexcept;
  // The whole file as one domain, as in src/exchange; the line of several files ends before.
  Windows cells_of_file() const noexcept { return {.domain = {0, INT64_MAX / 4}, .bytes = plan_.window_bytes}; }

  void add_codings();
  void choose_codings();
  double broadcast_seconds() const;
  void find_groups();
  size_t column_at(int64_t offset) const;
  Phasing choose_phases() const;
  int64_t clients() const;
  int team_end(int root) const;
  void take_turn(int rank);
  void send_to_domains(int rank, const PlacedBytes& held);
  void send_to_root(int rank, const PlacedBytes& held);
  void serve_team(int rank);
  void serve_domain(int rank);
  void serve_alone(int rank, const PlacedBytes& held);
  void access_directly(const PlacedBytes& held);
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
  int64_t columns_ = 1;                  // assigned stripes in a row of a file
  std::vector<size_t> group_of_column_;  // [files * columns]
  int64_t deal_bytes_ = 1;               // bytes assigned at a time
  Phasing phasing_;
  // How messages between hosts are sent: uncompressed, or with a codec.
  struct Coding {
    ExchangeLoads to_roots, to_domains;
  };
  std::vector<Coding> codings_;
  std::vector<double> exchange_;  // [phases] by the fastest codec
  StorageLoads storage_;
  Pieces covered_;                      // by all ranks
  std::vector<OverlappedWindow> open_;  // [domains] windows of assigned stripes of a rank that may get more bytes
  PlacedBytes team_held_;               // by the team of the current ranks
  int64_t team_first_ = 0;              // index of its first window
  int latest_client_ = -1;
  size_t next_domain_ = 0;                 // the next aggregator
  std::vector<int64_t> remote_of_window_;  // by domain and window, if there are few: bytes received as messages
  std::vector<size_t> first_window_;       // [domains + 1] index of the first entry
  std::vector<int64_t> descriptions_to_;   // [domains or teams] descriptions
  int64_t most_descriptions_from_ = 0;
  std::vector<int64_t> memory_;  // [ranks]
};

}  // namespace windrow
