// SPDX-License-Identifier: BSD-3-Clause
// LeftPlans: what a file leaves to the next one of its communicator when it is closed: the plans that it kept. A program that writes a file a step then plans once. On all ranks the same plans in the same order, as in a
// file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "session/file.hpp"

namespace windrow {

inline constexpr size_t k_most_plans = 62;  // kept: a bit for each, see File::plan_bits()

struct LeftPlans {
  static constexpr int64_t k_most_bytes = int64_t{16} << 20;  // on a rank, that they may take while nobody has the file open that made them

  std::vector<std::unique_ptr<KeptPlan>> plans;  // the last used is the last
  int64_t next_id = 1;

  // The communicator's, with room for all that two files may leave. May throw std::bad_alloc.
  static std::shared_ptr<LeftPlans> of(Comm& comm);
};

}  // namespace windrow
