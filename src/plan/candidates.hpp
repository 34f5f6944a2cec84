// SPDX-License-Identifier: BSD-3-Clause
// Candidates: the strategies that could do a piece of work, each with the seconds that a machine would take. Pure; the
// time does not depend on the number of ranks, and nothing is as long as they are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/predict.hpp"
#include "plan/plan.hpp"
#include "plan/strategy.hpp"

namespace windrow {

// A strategy with the numbers that go with it.
struct Candidate {
  Strategy strategy;         // every axis decided, but for a codec that is left to what is measured
  int64_t writers = 0;       // that have a domain; 0: there are none
  int64_t direct_bytes = 0;  // with domains: pieces of at least this length are moved by their holder; 0: none
  friend bool operator==(const Candidate&, const Candidate&) = default;
};

struct Alternative {
  Candidate candidate;
  Prediction seconds;
  bool chosen = false;
};

// What a plan was chosen from: enough to predict the seconds of each alternative later.
struct PlanInput {
  Strategy asked;
  Pattern pattern;
  Topology topology;
  PlanLimits limits;  // `machine` is there
  Candidate rule;     // the fixed rule's choice
};

struct Weighing {
  std::string machine;    // its name
  bool measured = false;  // somebody has measured it: then the seconds decide, else they are only reported
  std::vector<Alternative> alternatives;  // the fastest first
};

// Locks of what is read: whoever wrote it is taken to have done so as the fixed rule does, with the same ranks, and to
// hold the locks. Readers that go about it in the same way have theirs; others call them back.
struct LocksLeft {
  Domains domains = Domains::automatic;  // automatic: there are no locks, or none are called back
  int64_t writers = 0;
  double at_a_target = 0;
};
LocksLeft locks_left(const Pattern& pattern, const Topology& topology, const PlanLimits& limits);

// The work that a candidate makes of a pattern. Holders of data are taken to be spread evenly over hosts, and pieces
// over their holders.
Work work_of(const Candidate& candidate, const Pattern& pattern, const Topology& topology, const PlanLimits& limits,
             const LocksLeft& left = {});

// Candidates differ on the axes that `asked` leaves to automatic; the fixed rule's choice is the first of them.
std::vector<Candidate> candidates_for(const PlanInput& input);

// Predicts the seconds of each candidate. The rule's choice is taken unless the machine was measured and another is
// predicted to be clearly faster. A plan is weighed when it is made only if its machine was measured.
Weighing weigh(const PlanInput& input);

// The one that is chosen. Of a weighing as weigh() makes it.
const Alternative& chosen_of(const Weighing& weighing) noexcept;

// "target, 8 writers, contiguous"; what goes without saying is left out.
std::string short_text(const Candidate& candidate, bool reading);

}  // namespace windrow
