// SPDX-License-Identifier: BSD-3-Clause
// What a store is asked to be.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "layout.hpp"

namespace striped_store {

constexpr int k_most_clients = 64;  // a stripe's writers are the bits of one integer
constexpr int k_most_targets = 256;

struct Settings {
  std::string backing;              // folder that holds the files; made where it is missing
  std::vector<std::string> mounts;  // one for each client
  int targets = 4;
  int64_t rate = 0;                          // bytes a second of each target; 0: no limit
  std::chrono::nanoseconds request_cost{0};  // of each request to a target
  std::chrono::nanoseconds lock_cost{0};     // of each hand-over of a lock
  int64_t write_behind = 0;                  // bytes that each client may have under way to each target; 0: writes wait
  int64_t join = 0;                          // bytes of the longest request that a client makes of several; 0: none
  Layout layout{.components = {Component{}}, .pool = {}};  // of new files where their folder says no other
  bool is_in_memory = false;                               // the backing folder is of this store alone and goes with it
  bool stays_in_foreground = false;
};

}  // namespace striped_store
