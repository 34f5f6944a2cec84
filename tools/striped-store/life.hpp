// SPDX-License-Identifier: BSD-3-Clause
// The begin and the end of a store. Its backing folder has files/, which clients see, and a file with the number of the
// process, which is locked as long as the process lives. So a killed store is distinguished from one that runs.
#pragma once

#include <string>
#include <vector>

#include "settings.hpp"

namespace striped_store {

constexpr const char* k_subtype = "striped-store";  // the type of its mounts is fuse.striped-store

// Both return the exit code, and print why it is not 0.
int up(Settings settings);
// Each of `paths` is a mount of a store or its backing folder. Does nothing where nothing is up.
int down(const std::vector<std::string>& paths);

// Without waiting for programs that use it. Does nothing where nothing is mounted.
void unmount(const std::string& path);

}  // namespace striped_store
