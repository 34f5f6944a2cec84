// SPDX-License-Identifier: BSD-3-Clause
// Measurements of calibration. All are collective and agreed. Their results are only valid on rank 0.
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

// Where the storage is measured. The file is removed between measurements.
struct MeasuredPlace {
  std::string path;
  StorageLayout layout;  // of the file
  StoreOptions options;
};

// Maximum of all ranks' numbers, yielding the core while waiting. The status is MPI's.
Status largest(const Comm& comm, double& number);

// All ranks wait for each other without using cores, then run `work`. Clock::slowest measures the seconds of the
// slowest rank. Clock::common measures from the first rank's begin to the last one's end, for ranks that share cores
// and begin at different times. The status is MPI's. `work` does not throw.
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
Status measure_codecs(const Comm& comm, Machine& machine);  // measured by rank 0
Status measure_metadata(const Comm& comm, const MeasuredPlace& place, Machine& machine);
Status measure_flush(MPI_Comm user, Comm& comm, const MeasuredPlace& place,
                     Machine& machine);  // after metadata is measured
Status measure_storage(const Comm& comm, const MeasuredPlace& place, Machine& machine);

}  // namespace windrow
