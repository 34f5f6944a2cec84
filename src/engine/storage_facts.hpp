// SPDX-License-Identifier: BSD-3-Clause
// StorageFacts: what is known about the storage of an open file, and how it changes the limits of plans. Rank 0 finds
// the facts when it opens the file, and sends them to all ranks, so that all plan alike.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/settings.hpp"
#include "base/status.hpp"
#include "comm/comm.hpp"
#include "layout/layout.hpp"
#include "plan/plan.hpp"
#include "storage/file_system.hpp"
#include "storage/store.hpp"
#include "storage/striping.hpp"

namespace windrow {

struct StorageFacts {
  StripingOptions striping_options;
  StoreOptions store_options;
  Striping striping;
  std::shared_ptr<const StorageLayout> layout;  // domains are cut at its stripes; nullptr if there are no stripes
  bool is_local_disk = false;
  std::string machine_text;  // content of the machine file; "" if the options name none

  // Rank 0, before anything is opened. Reads the machine file that the options name.
  Status read_machine(const Settings& settings);
  // Local, on all ranks: take what rank 0 has found. Without a machine file the limits get the default numbers for this
  // kind of file system.
  void take_striping(StorageLayout found, std::string why);
  Status take_machine(const Settings& settings, FileSystem kind, int64_t cores, PlanLimits& limits);

  // Local. Fits the limits that the settings do not set to the storage.
  void fit_limits(const Settings& settings, PlanLimits& limits) const;

 private:
  void fit_to_layout(const Settings& settings, PlanLimits& limits) const;
};

// The kind of file system at a path: as the option file_system says, otherwise as the system does.
FileSystem file_system_at(const std::string& path, const Settings& settings);

// The number of buffers of an aggregator if the options do not say one.
int64_t buffers_for(const Comm& comm) noexcept;

// Whether an I/O thread makes the requests to the storage while the rank waits.
bool wants_io_thread(const Settings& settings, const Comm& comm);

}  // namespace windrow
