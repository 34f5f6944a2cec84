// SPDX-License-Identifier: BSD-3-Clause
// What calibration measures, room by room. All are collective and agreed; what they fill in is rank 0's to write, and
// the same on no other rank.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/status.hpp"
#include "comm/comm.hpp"
#include "layout/layout.hpp"
#include "model/machine.hpp"
#include "storage/store.hpp"
#include "trace/trace.hpp"

namespace windrow {

inline constexpr int64_t k_measured_bytes =
    int64_t{32} << 20;  // copied, sent, or moved to and from the storage at a time, by all ranks together

// Where the storage is measured. The file is removed whenever nobody measures with it.
struct MeasuredPlace {
  std::string path;
  StorageLayout layout;  // of the file
  StoreOptions options;
};

// Waits for the largest of all ranks' numbers, giving the core away. The status is MPI's.
Status largest(const Comm& comm, double& number);

// All ranks wait for each other without taking cores from those who work; then `work`, whose seconds are the slowest
// rank's, or from when the first rank begins until the last one ends, where ranks share cores and some begin late. The
// status is MPI's. `work` throws nothing.
enum class Clock {
  slowest,
  common
};
template <class Work>
Result<double> timed_together(const Comm& comm, Work&& work, Clock clock = Clock::slowest) {
  double seconds = 0, none = 0;
  Status status = largest(comm, seconds);
  const double begin = seconds_now();
  work();
  if (clock == Clock::common)
    status.update(largest(comm, none));
  seconds = seconds_now() - begin;
  status.update(largest(comm, seconds));
  if (!status.ok())
    return status;
  return seconds;
}

Status measure_memory(const Comm& comm, Machine& machine);
Status measure_network(const Comm& comm, Machine& machine);
Status measure_codecs(const Comm& comm, Machine& machine);  // by rank 0
Status measure_metadata(const Comm& comm, const MeasuredPlace& place, Machine& machine);
Status measure_flush(MPI_Comm user, Comm& comm, const MeasuredPlace& place,
                     Machine& machine);  // once metadata is measured
Status measure_storage(const Comm& comm, const MeasuredPlace& place, Machine& machine);

}  // namespace windrow
