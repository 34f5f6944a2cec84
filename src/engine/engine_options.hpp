// SPDX-License-Identifier: BSD-3-Clause
// EngineOptions: the options by which a file is planned and stored, checked and parsed.
#pragma once

#include <string>
#include <vector>

#include "base/settings.hpp"
#include "base/status.hpp"
#include "plan/plan.hpp"
#include "plan/strategy.hpp"
#include "storage/store.hpp"
#include "storage/striping.hpp"

namespace windrow {

struct EngineOptions {
  Settings settings;  // of the call and the environment
  std::string text;   // all options that are set, for the comparison between ranks
  Strategy strategy;
  PlanLimits limits;
  StripingOptions striping;
  StoreOptions store;
};

// Local. `program`: the options of the call that opens a file; those of the environment are added. `rank`: this rank.
// bad_argument or unsupported if a file cannot be opened with an option.
Result<EngineOptions> resolve_engine_options(const Settings& program, int rank);

std::string text_of(const Settings& settings);                // "key=value\n" for each option
std::vector<std::string> texts_of(const Settings& settings);  // the same as a list, for messages

}  // namespace windrow
