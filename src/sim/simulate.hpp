// SPDX-License-Identifier: BSD-3-Clause
// Simulation: the library's own planner for any number of ranks on a modelled machine. What it counts (messages,
// requests, bytes) follows from the plan as the library runs it; the seconds are a model's (docs/simulation.md). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/settings.hpp"
#include "base/status.hpp"
#include "model/machine.hpp"
#include "plan/plan.hpp"
#include "sim/workload.hpp"

namespace windrow {

// What other libraries do beside the plan, to compare with them.
struct PeerHabits {
  bool all_open = false;  // every rank opens the file, not only those that touch it
  bool in_step = false;   // those that touch the file wait for each other after every round, and for the storage before
                          // the next one
  bool at_once = false;   // all is exchanged before anything is written, in memory without bounds
  int64_t splits = 0;     // communicators that are split before anything else
  int64_t list_pieces = 1;  // a request of a list carries so many pieces, and its client waits once for all of them
};

struct SimulationRequest {
  Workload workload;
  Machine machine;
  Settings settings;  // the library's options
  PeerHabits habits;
  int64_t times = 1;  // the same again and again, the file opened and closed each time
  double shrinks_to =
      k_usual_ratio;  // messages between hosts, where the machine has a codec for them: what is left of a byte
  bool by_machine =
      false;  // auto chooses by `machine`, as the library does that is given its file; else by the fixed rule
};

struct StageSeconds {
  double split = 0, open = 0, describe = 0, plan = 0, exchange = 0, storage = 0, close = 0;
  double transfer = 0;  // exchange and storage together: one goes on while the other does
  double total() const noexcept { return split + open + describe + plan + transfer + close; }
};

// Who wrote or read how much of which target: a row is one rank that touches the file, or several.
struct TargetRow {
  int first_rank = 0, last_rank = 0;
  std::vector<double> bytes;  // [targets]
};

struct Simulation {
  Plan plan;
  std::string workload, machine, layout;
  StageSeconds seconds;
  std::string exchange_waits_for, storage_waits_for;
  std::string codec;  // what becomes of messages between hosts, and in how many phases; "": nothing
  int64_t hosts = 1, files = 1;
  int64_t bytes = 0;  // of all ranks together
  int64_t messages = 0, message_bytes = 0, copied_bytes = 0, descriptions = 0, write_requests = 0, read_requests = 0;
  int64_t clients = 0;  // ranks that touch the file
  int64_t data_opens = 0;
  int64_t most_memory = 0, mean_memory = 0;  // of buffers, of a rank
  std::vector<TargetRow> rows;
};

// bad_argument: a workload that cannot be, options that no plan can have, or more ranks than the machine has.
Result<Simulation> simulate(const SimulationRequest& request);

}  // namespace windrow
