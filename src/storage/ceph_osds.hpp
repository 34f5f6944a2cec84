// SPDX-License-Identifier: BSD-3-Clause
// Which OSD of a Ceph has each object of a file. CRUSH places every object by a hash, so there is no rule to be told:
// they are asked one by one, in a bounded number and a bounded time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "layout/layout.hpp"
#include "storage/layout_probe.hpp"

namespace windrow {

// The option ceph_osds. automatic: the kernel's client, which knows and answers at once. library: where that is not the
// one, a client of our own by libcephfs, which has to be let in by the monitors first.
enum class OsdsBy {
  nobody,
  automatic,
  library
};

struct OsdQuestion {
  OsdsBy by = OsdsBy::automatic;
  int64_t bytes = 0;      // as far as the file goes, or will; 0: nobody knows
  double answer_s = 0.5;  // no object is asked about later than that
  int64_t mount_s = 5;    // that the monitors and the metadata server have to let a client in
};

struct Osds {
  std::vector<int64_t> targets;  // as LayoutComponent has them, whole rows of objects; empty: not known
  std::string why;               // they are not, or that they are not all that was asked for; "" else
};

// How many objects are asked about: those of `bytes`, or of the first GiB where that is not known; 4096 of them at
// most, and not so many that they have more than 16384 stripes between others. Whole rows; 0: a row is longer than
// that.
int64_t objects_to_ask(const LayoutComponent& component, int64_t bytes) noexcept;

// Of an existing file with this layout. Never fails. Objects that the file does not have yet have their OSDs too.
// Source: Linux, fs/ceph/ioctl.h, CEPH_IOC_GET_DATALOC; cephfs/libcephfs.h.
Osds ask_osds(const std::string& path, const LayoutComponent& component, const OsdQuestion& question,
              const SystemCalls& calls = system_calls());

}  // namespace windrow
