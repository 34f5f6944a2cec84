// SPDX-License-Identifier: BSD-3-Clause
#include "engine/storage_facts.hpp"

#include <algorithm>
#include <utility>

#include "dataio/io_thread.hpp"
#include "planning/machine.hpp"

namespace windrow {
namespace {

// On a local disk, reading a piece of 16 KiB by a separate request is faster than the exchange: it is copied once, and
// readers do not wait for each other. Writers do wait for the lock of the file.
constexpr int64_t k_local_read = int64_t{16} << 10;
constexpr int64_t k_local_row = 4096;
constexpr int64_t k_local_hole = 4096;
constexpr int64_t k_local_unit = int64_t{64} << 10;

// A request to a local disk is a system call, not a message through a network.
void fit_to_local_disk(const Settings& settings, PlanLimits& limits) {
  if (!settings.is_set("buffer") && settings.integer("buffers") == 0)
    limits.short_window = k_local_window;
  if (!settings.is_set("direct_bytes")) {
    limits.direct_read_bytes = k_local_read;
    limits.direct_row_bytes = k_local_row;
  }
  if (!settings.is_set("sieve_hole"))
    limits.hole_bytes = k_local_hole;
}

}  // namespace

Status StorageFacts::read_machine(const Settings& settings) {
  const std::string path = settings.text("machine");
  if (path.empty())
    return {};
  auto text = read_machine_file(path);
  if (!text.ok())
    return text.status();
  if (auto machine = machine_of(text.value(), path); !machine.ok())
    return machine.status();
  machine_text = std::move(text).value();
  return {};
}

void StorageFacts::take_striping(StorageLayout found, std::string why) {
  striping = {.layout = std::move(found), .why = std::move(why)};
  if (striping.layout.is_striped())
    layout = std::make_shared<const StorageLayout>(striping.layout);
}

Status StorageFacts::take_machine(const Settings& settings, FileSystem kind, int64_t cores, PlanLimits& limits) {
  is_local_disk = kind == FileSystem::local;
  limits.machine_measured = !machine_text.empty();
  if (machine_text.empty()) {
    limits.machine = usual_machine(kind, cores);
    return {};
  }
  auto machine = machine_of(machine_text, settings.text("machine"));
  if (!machine.ok())
    return machine.status();
  limits.machine = std::move(machine).value();
  return {};
}

void StorageFacts::fit_limits(const Settings& settings, PlanLimits& limits) const {
  if (is_local_disk)
    fit_to_local_disk(settings, limits);
  fit_to_layout(settings, limits);
}

// A unit that the program has set is kept. The blocks of a file system are rarely larger than the default unit.
void StorageFacts::fit_to_layout(const Settings& settings, PlanLimits& limits) const {
  if (settings.bytes("align") > 0)
    return;
  if (is_local_disk && !layout)
    limits.least_unit = std::max(k_local_unit, striping.layout.known() ? lock_unit(striping.layout) : 0);
  if (!striping.layout.known())
    return;
  limits.layout = layout;
  limits.unit = layout ? lock_unit(*layout) : std::max(limits.unit, lock_unit(striping.layout));
}

FileSystem file_system_at(const std::string& path, const Settings& settings) {
  const std::string given = settings.text("file_system");
  return given == "auto" ? file_system_of(path) : file_system_called(given);
}

// With more ranks than cores two windows are enough: the ranks have nothing left to copy while the last one is written
// (docs/internals/notes/2026-11-30-numbers-from-comments.md). With messages from other hosts two windows need four
// buffers.
int64_t buffers_for(const Comm& comm) noexcept {
  return comm.host_roots().size() > 1 || usable_cores() > comm.host_size() ? 4 : 2;
}

// Without the I/O thread, a rank that waits for the storage leaves its core to the other ranks. If there are more ranks
// than cores, a thread was not faster.
bool wants_io_thread(const Settings& settings, const Comm& comm) {
  const std::string wish = settings.text("io_thread");
  if (wish != "auto")
    return wish == "on";
  return usable_cores() > comm.host_size();
}

}  // namespace windrow
