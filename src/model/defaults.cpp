// SPDX-License-Identifier: BSD-3-Clause
#include "model/defaults.hpp"

#include <fmt/format.h>

namespace windrow {
namespace {

// Copies to and from the page cache: a request is a system call, and written pages are newly allocated. Source of the
// rates: docs/internals/notes/2026-11-29-time-of-a-flush.md.
MachineStorage local_storage() {
  MachineStorage storage;
  storage.kind = "local";
  storage.targets = 1;
  storage.target_write_bytes_per_s = 2.5e9, storage.target_read_bytes_per_s = 5e9, storage.client_bytes_per_s = 5e9;
  storage.request_s = 3e-6, storage.target_request_s = 3e-6;
  storage.lock_s = 0;
  storage.request_bytes = int64_t{1} << 30;
  return storage;
}

// One server behind a 10 Gbit/s link. The server handles the writes of its clients one request at a time.
MachineStorage nfs_storage() {
  MachineStorage storage;
  storage.kind = "nfs";
  storage.targets = 1;
  storage.target_write_bytes_per_s = 400e6, storage.target_read_bytes_per_s = 800e6, storage.client_bytes_per_s = 1e9;
  storage.request_s = 4e-4, storage.target_request_s = 1e-4;
  storage.request_bytes = int64_t{1} << 20;
  return storage;
}

// BeeGFS's default striping: chunks of 512 KiB on four targets. In buffered mode, clients take no range locks.
MachineStorage beegfs_storage() {
  MachineStorage storage;
  storage.kind = "beegfs";
  storage.stripe_bytes = int64_t{512} << 10, storage.stripe_count = 4;
  storage.request_bytes = int64_t{512} << 10;
  storage.lock_s = 0;
  return storage;
}

// Objects of 4 MiB on all daemons, placed by CRUSH. Each byte is written to three replicas and acknowledged when all
// have it. Capabilities cover a whole file, and clients write through while others write.
MachineStorage cephfs_storage() {
  MachineStorage storage;
  storage.kind = "cephfs";
  storage.stripe_bytes = int64_t{4} << 20, storage.stripe_count = storage.targets;
  storage.target_write_bytes_per_s = 500e6 / 3;
  storage.request_s = 1e-3, storage.target_request_s = 2e-4;
  storage.lock_s = 0;
  return storage;
}

// Blocks of 4 MiB over all disks of the file system. Byte-range tokens move between clients like locks.
MachineStorage gpfs_storage() {
  MachineStorage storage;
  storage.kind = "gpfs";
  storage.stripe_bytes = int64_t{4} << 20, storage.stripe_count = storage.targets;
  return storage;
}

}  // namespace

Machine default_machine(std::string_view file_system, int64_t cores) {
  Machine machine;
  machine.name =
      fmt::format("typical numbers of {}", file_system == "local"                            ? "a local disk"
                                           : file_system == "unknown" || file_system.empty() ? "an unknown file system"
                                                                                             : file_system);
  machine.about = "not measured";
  machine.cores_per_host = cores;
  if (file_system == "local") {
    machine.storage = local_storage();
    machine.metadata = {.open_s = 1e-5, .opens_per_s = 1e5, .creates_per_s = 1e4};
  } else if (file_system == "nfs") {
    machine.storage = nfs_storage();
  } else if (file_system == "beegfs") {
    machine.storage = beegfs_storage();
  } else if (file_system == "cephfs") {
    machine.storage = cephfs_storage();
  } else if (file_system == "gpfs") {
    machine.storage = gpfs_storage();
  } else {
    machine.storage.kind = file_system;
  }
  return machine;
}

}  // namespace windrow
