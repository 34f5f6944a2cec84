// SPDX-License-Identifier: BSD-3-Clause
// ResolvedOptions: the options of a file, from the call that opens it and from the environment, checked and parsed.
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
  std::string text;  // all options that are set, for the comparison between ranks
  Strategy strategy;
  PlanLimits limits;
  StripingOptions striping;
  StoreOptions store;
  int64_t subfiles = 1;  // 0 if rank 0 is to choose the number
};

// Local. `creates`: the file is new. bad_argument or unsupported if a file cannot be opened with an option.
Result<ResolvedOptions> resolve_options(const Comm& comm, const Settings& program, bool creates);

std::string text_of(const Settings& settings);  // "key=value\n" for each option

}  // namespace windrow
