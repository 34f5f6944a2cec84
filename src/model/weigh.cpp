// SPDX-License-Identifier: BSD-3-Clause
#include "model/weigh.hpp"

#include <algorithm>

#include "model/predict.hpp"

namespace windrow {
namespace {

constexpr double k_rank_bytes = 1 << 20;     // bytes that the rank writes: large enough for the rates of long writes
constexpr double k_request_bytes = 1 << 20;  // the size of a buffer
constexpr double k_least_byte_s = 1e-15;

// The work of the rank alone, without overlap.
double seconds_of(const Work& work, const Machine& machine) {
  const Prediction seconds = predict(work, machine);
  return seconds.exchange + seconds.storage;
}

double by_requests(const Machine& machine, double intervals, double bytes) {
  Work work{.storage_parts = 1};
  work.storage[0] = {.bytes = bytes, .rank_bytes = bytes, .request_bytes = bytes / intervals};
  return seconds_of(work, machine);
}

double by_buffers(const Machine& machine, double intervals, double bytes) {
  Work work{.rank_copies = bytes,
            .host_copies = bytes,
            .rank_pieces = intervals,
            .host_pieces = intervals,
            .storage_parts = 1};
  work.storage[0] = {.bytes = bytes, .rank_bytes = bytes, .request_bytes = k_request_bytes};
  return seconds_of(work, machine);
}

}  // namespace

WriteWeights weigh_writing(const Machine& machine, int64_t interval_bytes) {
  const double intervals = std::max(2.0, k_rank_bytes / std::max(1.0, static_cast<double>(interval_bytes)));
  const auto way = by_requests(machine, intervals, k_rank_bytes) < by_buffers(machine, intervals, k_rank_bytes)
                       ? by_requests
                       : by_buffers;
  const double whole = way(machine, intervals, k_rank_bytes);
  const double fewer = way(machine, intervals / 2, k_rank_bytes), longer = way(machine, intervals, 2 * k_rank_bytes);
  return {.interval_s = std::max(0.0, (whole - fewer) / (intervals / 2)),
          .byte_s = std::max(k_least_byte_s, (longer - whole) / k_rank_bytes)};
}

}  // namespace windrow
