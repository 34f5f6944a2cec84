// SPDX-License-Identifier: BSD-3-Clause
// Files in memory, by name; visible to all handles of this process only. For tests and single ranks.
#pragma once

#include "storage/store.hpp"

namespace windrow {

Result<std::unique_ptr<Store>> open_memory_store(const std::string& path, StoreMode mode, const StoreOptions& options);

}  // namespace windrow
