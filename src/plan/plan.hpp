// SPDX-License-Identifier: BSD-3-Clause
// Plan: a value that defines, for any number of ranks, the messages between ranks and the storage accesses with their
// order. Pure: no MPI, no clock, no files. A plan for 100 000 ranks is a unit test. No member has one entry for each
// rank.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "extent/extent.hpp"
#include "layout/layout.hpp"
#include "plan/deal.hpp"
#include "plan/strategy.hpp"
#include "plan/windows.hpp"

namespace windrow {

struct Machine;
struct PlanInput;

// The access pattern of a batch over all ranks.
struct Pattern {
  bool reading = false;
  int64_t bytes = 0;       // sum over ranks
  int64_t pieces = 0;      // extents that are contiguous in file and memory
  int64_t entries = 0;     // requests; if there are no more pieces, each is one piece
  int64_t long_bytes = 0;  // in pieces of at least PlanLimits::direct_bytes
  int64_t long_pieces = 0;
  int64_t ranks_with_data = 0;
  int64_t largest_rank_bytes = 0;
  bool shared_reads = false;  // several ranks intentionally read the same bytes, not only at boundaries
  bool in_memory = false;     // read: the file is on a local disk and in the page cache
  bool swapped = false;       // some data is stored in the other byte order
  // write: there are holes, and no data was written yet, so holes need not be read
  bool never_written = false;
  bool uniform = false;      // read: all ranks read the same
  bool owned_flags = false;  // points have owner flags
  bool replicas = false;     // several ranks hold some of the points
  int64_t points = 0,
          load = 0;   // with points: their number, and the elements of each
  int64_t holes = 0;  // points that no rank holds
  // compressed size of 64 bytes for another host: 64, 32, ... 1; 0: not sampled
  int64_t shrinks_to_of_64 = 0;
  bool overlapping = false;     // objects overlap in the file, as only in a damaged one
  std::vector<Extent> regions;  // file bytes of the objects concerned: sorted, disjoint, maximal
  friend bool operator==(const Pattern&, const Pattern&) = default;
};

// Converts a compression ratio to 64ths: 64, 32, 16, 8, 4, 2 or 1. Data differ slightly between time steps, and plans
// must not.
int64_t ratio_of_64(double left_of_one) noexcept;

struct Topology {
  int ranks = 1;
  std::vector<int> host_roots = {0};  // [hosts] lowest rank of each, ascending
  double link_seconds = 0;            // for each byte, between hosts; 0: unknown
  friend bool operator==(const Topology&, const Topology&) = default;
};

// The usual PlanLimits::short_window on a local disk, unless the user sets buffer sizes.
inline constexpr int64_t k_local_window = int64_t{1} << 20;

// Limits and facts for a plan.
struct PlanLimits {
  int64_t buffer_bytes = int64_t{16} << 20;  // in one round of an aggregator
  int64_t unit = 4096;                       // domains=aligned cuts at multiples of it: a stripe, a block
  // small domains may end at multiples of this, where alignment to `unit` gains nothing; 0: at multiples of `unit` only
  int64_t least_unit = 0;
  int64_t direct_bytes = int64_t{64} << 10;       // pieces of at least this length are moved by their holder
  int64_t direct_read_bytes = int64_t{64} << 10;  // read: all pieces are, if their mean length is at least this
  int64_t direct_row_bytes = int64_t{64} << 10;   // the same if every put or get is one piece
  bool direct_asked = false;                      // set by the user: only these bounds decide
  int64_t hole_bytes = int64_t{64} << 10;         // sieving includes holes up to this
  int64_t buffers = 4;  // of an aggregator: one is being written, one is full, one fills, one is ready to fill
  int64_t writers = 0;  // requested; 0: the plan decides
  // domains=aligned cuts at its stripe boundaries; nullptr: at multiples of `unit`
  std::shared_ptr<const StorageLayout> layout = nullptr;
  std::shared_ptr<const Machine> machine = nullptr;  // for predictions; nullptr: none
  // the machine is the one that runs this: its predictions decide axes left to automatic
  bool machine_measured = false;
  // one host only: window size of long domains, with more buffers in the same memory; 0: no short windows
  int64_t short_window = 0;
  // writes choose access=sieve only if this is set: without sole ownership of the holes it needs locks
  bool may_sieve_writes = true;
  // windows are whole multiples of it, at least one, whatever buffer_bytes is; 0: not used
  int64_t window_unit = 0;
  friend bool operator==(const PlanLimits&, const PlanLimits&) = default;
};

// Compares layouts by value and machines by identity.
bool are_alike(const PlanLimits& a, const PlanLimits& b) noexcept;

struct Plan {
  Strategy strategy;  // every axis is decided, except a codec that is left to measurement
  bool reading = false;
  int ranks = 1;
  std::vector<int> writers;  // [domains] rank of each domain's aggregator, ascending; empty if domains=none
  Pattern pattern;           // that it was made for
  std::vector<Extent>
      domains;  // [writers] file bytes; they cover the regions. Ascending and disjoint, unless stripes are assigned
  // domains are sets of stripes: each aggregator has those of its group in its range of the file; nullptr: all bytes
  std::shared_ptr<const Deal> deal = nullptr;
  int64_t sharers = 1;  // aggregators of a group, with one range each; aggregator i is in group i / sharers
  // aggregators of a group, except the one with the first range, process theirs in file order
  bool sharers_in_order = false;
  // number of stripes that two domains share; nullopt: no domains, or stripes are unknown
  std::optional<int64_t> stripes_cut = std::nullopt;
  bool broadcast = false;       // rank 0 reads and broadcasts to all
  int64_t team = 0;             // ranks of a team if gather=team
  std::vector<int> host_roots;  // if gather=host
  int64_t slots = 1;            // buffers of an aggregator, one window each
  // the same if ranks of its host send messages too, which need memory until they are copied into windows
  int64_t slots_of_messages = 1;
  bool whole_windows = false;    // the storage side fills windows completely, whatever ranks hold
  int64_t message_bytes = 4096;  // largest message for a rank's bytes of a window
  // holes before a write are read in parts of this size, small relative to the buffers
  int64_t read_before_bytes = 4096;
  int64_t window_bytes = 0;  // a round covers the file bytes [k, k+1) x window_bytes of a domain
  // The ranks have at least as many bytes as the regions. Written bytes are disjoint, so they cover the regions; reads
  // may overlap, so the regions may have a few bytes that no rank reads. Aggregators then know what is covered without
  // knowing each piece.
  bool whole = false;
  // with domains: pieces of at least this length are still moved by their holder; 0: none
  int64_t direct_bytes = 0;
  std::vector<std::string> reasons;  // one sentence for each choice
  // input of weigh(); nullptr: the machine is unknown, or such a plan cannot be predicted
  std::shared_ptr<const PlanInput> input = nullptr;

  bool gathers() const noexcept { return team > 0 || !host_roots.empty(); }
  bool has_domains() const noexcept { return !writers.empty(); }
};

// Decides the axes left to automatic, by the fixed rule of docs/internals/modules/plan.md or by predictions for the
// machine, with reasons. Validates the others.
Result<Plan> make_plan(const Strategy& strategy, const Pattern& pattern, const Topology& topology,
                       const PlanLimits& limits);

// The rank that gathers for `rank`; `rank` itself if the plan does not gather.
int team_root(const Plan& plan, int rank, int host_root);

// The windows of a domain.
Windows windows_of(const Plan& plan, size_t domain);

// Text for users, and for programs.
std::string describe_text(const Plan& plan);

}  // namespace windrow
