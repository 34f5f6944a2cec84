// SPDX-License-Identifier: BSD-3-Clause
// Plan: a value that says, for any number of ranks, who sends what to whom and who touches which bytes when. Pure: no
// MPI, no clock, no files; a plan for 100 000 ranks is a unit test. Nothing in it is as long as there are ranks.
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

// Of everything that is moved by one plan, over all ranks.
struct Pattern {
  bool reading = false;
  int64_t bytes = 0;       // sum over ranks
  int64_t pieces = 0;      // extents, contiguous in file and memory
  int64_t entries = 0;     // puts or gets; where there are no more pieces, each is one row
  int64_t long_bytes = 0;  // of those: in pieces of at least PlanLimits::direct_bytes
  int64_t long_pieces = 0;
  int64_t ranks_with_data = 0;
  int64_t largest_rank_bytes = 0;
  bool shared_reads = false;  // several ranks want the same bytes by intent, not only along seams
  bool in_memory = false;     // to read: the file is on a disk of this host, and its bytes are in memory
  bool swapped = false;       // some of it is stored in the other byte order than this machine's
  bool never_written =
      false;             // to write: there are holes, and nobody has written any of it yet, so they need not be read
  bool uniform = false;  // to read: all ranks want the very same
  bool owned_flags = false;  // points carry flags that say who owns them
  bool replicas = false;     // several ranks hold some of the points
  int64_t points = 0,
          load = 0;   // where there are points: how many, and how many elements of a variable each stands for
  int64_t holes = 0;  // points that nobody holds
  int64_t shrinks_to_of_64 =
      0;  // what a compressor leaves of 64 bytes that go to another host: 64, 32, ... 1; 0: nobody looked
  bool overlapping = false;     // variables lie over each other, as they do in no sound file
  std::vector<Extent> regions;  // bytes of the file that the variables concerned occupy: sorted, disjoint, maximal
  friend bool operator==(const Pattern&, const Pattern&) = default;
};

// What is left of 64 bytes where that is so much of one: 64, 32, 16, 8, 4, 2 or 1. Data differ a little from one time
// step to the next, and plans shall not.
int64_t ratio_of_64(double left_of_one) noexcept;

struct Topology {
  int ranks = 1;
  std::vector<int> host_roots = {0};  // [hosts] lowest rank of each, ascending
  double link_seconds = 0;            // a byte, between hosts; 0: not known
  friend bool operator==(const Topology&, const Topology&) = default;
};

// What PlanLimits::short_window is on a disk of this host, where nobody asks for buffers of another length.
inline constexpr int64_t k_local_window = int64_t{1} << 20;

// Bounds and facts that a plan has to keep to.
struct PlanLimits {
  int64_t buffer_bytes = int64_t{16} << 20;  // of a writer's round
  int64_t unit = 4096;                       // bytes that domains=aligned cuts at: a stripe, a block
  int64_t least_unit =
      0;  // small domains may end at multiples of so few bytes: nothing is gained at those of `unit`; 0: at those only
  int64_t direct_bytes = int64_t{64} << 10;       // pieces of at least this length are moved by their holder
  int64_t direct_read_bytes = int64_t{64} << 10;  // to read: all pieces are, when they have this mean length
  int64_t direct_row_bytes = int64_t{64} << 10;   // the same where every put or get is one piece
  bool direct_asked = false;                      // these were asked for: nothing but them decides
  int64_t hole_bytes = int64_t{64} << 10;         // sieving reads over holes up to this
  int64_t buffers = 4;  // of a writer: one is written, one is full, one fills, one is ready to fill
  int64_t writers = 0;  // asked for; 0: the plan decides
  std::shared_ptr<const StorageLayout> layout =
      nullptr;  // domains=aligned cuts where its stripes end; nullptr: at multiples of `unit`
  std::shared_ptr<const Machine> machine = nullptr;  // by which seconds are predicted; nullptr: they are not
  bool machine_measured =
      false;  // the machine is the one that runs this: what is predicted decides where axes are left to automatic
  int64_t short_window = 0;  // of one host: long domains have windows of so many bytes, and the more buffers in the
                             // same memory; 0: they do not
  int64_t window_unit =
      0;  // windows are whole multiples of it, one at least, whatever buffer_bytes says; 0: of nothing
  friend bool operator==(const PlanLimits&, const PlanLimits&) = default;
};

// Layouts by what they say, machines by being the same object.
bool are_alike(const PlanLimits& a, const PlanLimits& b) noexcept;

struct Plan {
  Strategy strategy;  // every axis decided, but for a codec that is left to what is measured: no other automatic left
  bool reading = false;
  int ranks = 1;
  std::vector<int> writers;  // [domains] the rank of each domain, ascending; empty when domains=none
  Pattern pattern;           // that it was made for
  std::vector<Extent>
      domains;  // [writers] file bytes; together they cover the regions. Ascending and disjoint, unless they are dealt
  std::shared_ptr<const Deal> deal = nullptr;  // domains are stripes: each writer has those of its group in its stretch
                                               // of the file; nullptr: all bytes
  int64_t sharers = 1;  // of a group of the deal: writers with a stretch each. Writer i is of group i / sharers
  bool sharers_in_order = false;  // of them, all but those with the first stretch go through theirs in the file's order
  std::optional<int64_t> stripes_cut =
      std::nullopt;        // that two domains have bytes of; nullopt: there are no domains, or nobody knows stripes
  bool broadcast = false;  // rank 0 reads, and sends to all at once
  int64_t team = 0;        // ranks of a team when gather=team
  std::vector<int> host_roots;    // when gather=host
  int64_t slots = 1;              // buffers of a writer or reader, of a window each
  int64_t slots_of_messages = 1;  // the same where the ranks of its host send messages too: those lie beside the
                                  // windows until they are in place
  bool whole_windows = false;     // the storage's side fills windows to their end, whatever of them ranks hold
  int64_t message_bytes = 4096;   // a rank's bytes of a window travel in messages of no more than so many each
  int64_t read_before_bytes =
      4096;                  // of what lies in holes that are written over, at a time: little beside the buffers
  int64_t window_bytes = 0;  // a round covers the file bytes [k, k+1) x window_bytes of a domain
  // The ranks' bytes are at least as many as the regions'. What is written is disjoint, so they are all of the regions'
  // then; of what is read a few bytes too many may be among them. Who puts the pieces together need not know each of
  // them to know what there is.
  bool whole = false;
  int64_t direct_bytes =
      0;  // with domains: pieces of at least this length are moved by their holder all the same; 0: none
  std::vector<std::string> reasons;  // one sentence a choice
  std::shared_ptr<const PlanInput> input =
      nullptr;  // for weigh(); nullptr: no machine is known, or nothing is predicted of such a plan

  bool gathers() const noexcept { return team > 0 || !host_roots.empty(); }
  bool has_domains() const noexcept { return !writers.empty(); }
};

// Decides the axes left to automatic, by the fixed rule of docs/internals/modules/plan.md or by the seconds predicted
// for the machine, with reasons; checks the others.
Result<Plan> make_plan(const Strategy& strategy, const Pattern& pattern, const Topology& topology,
                       const PlanLimits& limits);

// The rank that gathers for `rank` (itself when the plan does not gather).
int team_root(const Plan& plan, int rank, int host_root);

// Of one of its domains.
Windows windows_of(const Plan& plan, size_t domain);

// Text for people and for programs.
std::string describe_text(const Plan& plan);

}  // namespace windrow
