// SPDX-License-Identifier: BSD-3-Clause
// Simulation: runs the library's planner for any number of ranks on a modelled machine. Counts (messages, requests,
// bytes) follow from the plan as the library executes it; seconds come from a model (docs/simulation.md). Pure.
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

// Properties of other libraries, for comparison.
struct LibraryModel {
  bool all_open = false;    // every rank opens the file, not only aggregators
  bool in_step = false;     // aggregators synchronize after every round, and wait for the storage before the next one
  bool at_once = false;     // everything is exchanged before anything is written, with unlimited memory
  int64_t splits = 0;       // communicators that are split first
  int64_t list_pieces = 1;  // pieces in a list request; the client waits once for all of them
};

struct SimulationRequest {
  Workload workload;
  Machine machine;
  Settings settings;  // options of the library
  LibraryModel library;
  int64_t times = 1;  // repetitions, with opening and closing the file
  // compressed size of a byte in messages between hosts, if the machine has a codec for them
  double shrinks_to = k_usual_ratio;
  // auto chooses by `machine`, as the library does with a machine file; otherwise by the fixed rule
  bool by_machine = false;
};

struct StageSeconds {
  double split = 0, open = 0, describe = 0, plan = 0, exchange = 0, storage = 0, close = 0;
  double transfer = 0;  // exchange and storage together, with overlap
  double total() const noexcept { return split + open + describe + plan + transfer + close; }
};

// Bytes of clients on targets: a row is one client, or several.
struct TargetRow {
  int first_rank = 0, last_rank = 0;
  std::vector<double> bytes;  // [targets]
};

struct Simulation {
  Plan plan;
  std::string workload, machine, layout;
  StageSeconds seconds;
  std::string exchange_waits_for, storage_waits_for;
  std::string codec;  // codec of messages between hosts, with the number of phases; "": none
  int64_t hosts = 1, files = 1;
  int64_t bytes = 0;  // all ranks
  int64_t messages = 0, message_bytes = 0, copied_bytes = 0, descriptions = 0, write_requests = 0, read_requests = 0;
  int64_t clients = 0;  // ranks that access the file
  int64_t data_opens = 0;
  int64_t most_memory = 0, mean_memory = 0;  // buffers of a rank
  std::vector<TargetRow> rows;
};

// bad_argument: an invalid workload, options that no plan can have, or more ranks than the machine has.
Result<Simulation> simulate(const SimulationRequest& request);

}  // namespace windrow
