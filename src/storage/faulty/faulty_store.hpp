// SPDX-License-Identifier: BSD-3-Clause
// A POSIX store that fails on command, for tests: StoreOptions::fault (fault_plan.hpp). "" never fails.
#pragma once

#include "storage/store.hpp"

namespace windrow {

Result<std::unique_ptr<Store>> open_faulty_store(const std::string& path, StoreMode mode, const StoreOptions& options);

}  // namespace windrow
