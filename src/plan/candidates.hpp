// SPDX-License-Identifier: BSD-3-Clause
// Candidates: the strategies for a piece of work, with the seconds predicted for a machine. Pure. Time and memory do
// not depend on the number of ranks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/predict.hpp"
#include "plan/plan.hpp"
#include "plan/strategy.hpp"

namespace windrow {

// A strategy with its numbers.
struct Candidate {
  Strategy strategy;         // every axis is decided, except a codec that is left to measurement
  int64_t writers = 0;       // aggregators with a domain; 0: none
  int64_t direct_bytes = 0;  // with domains: pieces of at least this length are moved by their holder; 0: none
  friend bool operator==(const Candidate&, const Candidate&) = default;
};

struct Alternative {
  Candidate candidate;
  Prediction seconds;
  bool chosen = false;
};

// The input of a plan: enough to predict the seconds of each alternative later.
struct PlanInput {
  Strategy asked;
  Pattern pattern;
  Topology topology;
  PlanLimits limits;  // `machine` is set
  Candidate rule;     // choice of the fixed rule
};

struct Weighing {
  std::string machine;                    // its name
  bool measured = false;                  // measured: the predicted seconds decide; otherwise they are only reported
  std::vector<Alternative> alternatives;  // fastest first
};

// Locks held by the writers of data that is read. The writers are assumed to be the same ranks, with the plan of the
// fixed rule. Readers with the same plan hold the locks already; others revoke them.
struct LocksLeft {
  Domains domains = Domains::automatic;  // automatic: no locks, or none are revoked
  int64_t writers = 0;
  double at_a_target = 0;
};
LocksLeft locks_left(const Pattern& pattern, const Topology& topology, const PlanLimits& limits);

// The work of a candidate for a pattern. Assumes that holders of data are spread evenly over hosts, and pieces over
// their holders.
Work work_of(const Candidate& candidate, const Pattern& pattern, const Topology& topology, const PlanLimits& limits,
             const LocksLeft& left = {});

// Candidates differ in the axes that `asked` leaves to automatic. The first one is the choice of the fixed rule.
std::vector<Candidate> candidates_for(const PlanInput& input);

// Predicts the seconds of each candidate. Takes the rule's choice unless the machine was measured and another candidate
// is predicted to be clearly faster. make_plan() calls this only for a measured machine.
Weighing weigh(const PlanInput& input);

// The chosen alternative of a result of weigh().
const Alternative& chosen_of(const Weighing& weighing) noexcept;

// "target, 8 writers, contiguous"; defaults are left out.
std::string short_text(const Candidate& candidate, bool reading);

}  // namespace windrow
