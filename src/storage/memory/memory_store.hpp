// SPDX-License-Identifier: BSD-3-Clause
// Bytes in memory, by name; seen by all handles of this process and by no other. For tests and for one rank.
#pragma once

#include "storage/store.hpp"

namespace windrow {

Result<std::unique_ptr<Store>> open_memory_store(const std::string& path, StoreMode mode, const StoreOptions& options);

}  // namespace windrow
