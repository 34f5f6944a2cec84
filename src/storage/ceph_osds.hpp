// SPDX-License-Identifier: BSD-3-Clause
// Queries the OSD of each object of a CephFS file. CRUSH places objects by a hash, so there is no rule to derive it
// from. Queries are made one by one, limited in number and time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "layout/layout.hpp"
#include "storage/layout_probe.hpp"

namespace windrow {

// The option ceph_osds. automatic: the kernel client, which answers at once. library: if that is not available, a
// client of our own by libcephfs, which the monitors must admit first.
enum class OsdsBy {
  nobody,
  automatic,
  library
};

struct OsdQuestion {
  OsdsBy by = OsdsBy::automatic;
  int64_t bytes = 0;      // present or future size of the file; 0: unknown
  double answer_s = 0.5;  // no query starts later than this
  int64_t mount_s = 5;    // time limit for the admission by the monitors and the metadata server
};

struct Osds {
  std::vector<int64_t> targets;  // in the format of LayoutComponent, whole rows of objects; empty: unknown
  std::string why;               // the reason for an empty or incomplete result; otherwise ""
};

// Number of objects to query: those of `bytes`, or of the first GiB if that is unknown. At most 4096, and at most as
// many as have 16384 alternating stripes. Whole rows; 0: a row is longer than that.
int64_t objects_to_ask(const LayoutComponent& component, int64_t bytes) noexcept;

// For an existing file with this layout. Never fails. Objects that do not exist yet have OSDs too. Source: Linux,
// fs/ceph/ioctl.h, CEPH_IOC_GET_DATALOC; cephfs/libcephfs.h.
Osds ask_osds(const std::string& path, const LayoutComponent& component, const OsdQuestion& question,
              const SystemCalls& calls = system_calls());

}  // namespace windrow
