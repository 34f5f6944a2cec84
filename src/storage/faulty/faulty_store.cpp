// SPDX-License-Identifier: BSD-3-Clause
#include "storage/faulty/faulty_store.hpp"

#include <csignal>

#include "storage/faulty/fault_plan.hpp"

namespace windrow {

Result<std::unique_ptr<Store>> open_faulty_store(const std::string& path, StoreMode mode, const StoreOptions& options) {
  if (options.fault.empty())
    return open_hooked_posix_store(path, mode, nullptr);
  const Result<FaultPlan> plan = parse_fault_plan(options.fault);
  if (!plan.ok())
    return plan.status();
  if (plan.value().rank && *plan.value().rank != options.rank)
    return open_hooked_posix_store(path, mode, nullptr);
  Hook hook = [plan = plan.value(), calls = int64_t{0}](Operation operation) mutable {
    const bool now = operation == plan.operation && calls++ == plan.after;
    if (now && plan.kill)
      (void)std::raise(SIGKILL);
    return now ? plan.fault : Intervention{};
  };
  return open_hooked_posix_store(path, mode, std::move(hook));
}

}  // namespace windrow
