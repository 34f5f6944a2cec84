// SPDX-License-Identifier: BSD-3-Clause
// ResolvedOptions: what the options of a call that opens a file, and those of the environment, come to.
#pragma once

#include <cstdint>
#include <string>

#include "base/settings.hpp"
#include "comm/comm.hpp"
#include "plan/plan.hpp"
#include "plan/strategy.hpp"
#include "storage/store.hpp"
#include "storage/striping.hpp"

namespace windrow {

struct ResolvedOptions {
  Settings settings;
  std::string text;  // of all that is set, to be compared with other ranks
  Strategy strategy;
  PlanLimits limits;
  StripingOptions striping;
  StoreOptions store;
  int64_t subfiles = 1;  // 0: to be chosen
};

// Local. `creates`: of a new file. bad_argument, unsupported: an option that a file cannot be opened with.
Result<ResolvedOptions> resolve_options(const Comm& comm, const Settings& program, bool creates);

std::string text_of(const Settings& settings);  // "key=value\n" each

}  // namespace windrow
