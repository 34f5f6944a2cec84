// SPDX-License-Identifier: BSD-3-Clause
// Wishes: what the options of an opening come to. Those of the last few are kept with the communicator: time steps open one file like another, and every rank would read the same texts anew.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/settings.hpp"
#include "comm/comm.hpp"
#include "plan/plan.hpp"
#include "plan/strategy.hpp"
#include "session/striping.hpp"
#include "storage/store.hpp"

namespace windrow {

struct Wishes {
  Settings program;         // what the program has set
  std::string environment;  // what the environment has
  bool creates = false;     // what they come to for a new file
  Settings settings;
  std::string text;         // of all that is set, to be compared with other ranks
  Strategy strategy;
  PlanLimits limits;
  StripingOptions striping;
  StoreOptions store;
  int64_t plan_memory = 0;
  int64_t subfiles = 1;     // 0: to be chosen

  // This rank's own. bad_argument, unsupported: an option that a file cannot be opened with.
  static Result<std::shared_ptr<const Wishes>> of(Comm& comm, const Settings& program, bool creates);
};

std::string text_of(const Settings& settings);  // "key=value\n" each

}  // namespace windrow
