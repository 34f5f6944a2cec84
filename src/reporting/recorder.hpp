// SPDX-License-Identifier: BSD-3-Clause
// Recorder: what a file with the option trace records of its flushes. Each flush has a line of numbers, which all ranks
// have already. Each rank also records details into memory of a fixed size. Rank 0 gathers them after the first flush
// with its plans and after one that failed, and makes a line of them. Several lines are appended at a time. Their
// format is in docs/traces.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/clock.hpp"
#include "comm/gather.hpp"
#include "reporting/trace_lines.hpp"
#include "storage/appended_text.hpp"
#include "trace/recording.hpp"

namespace windrow {

class Recorder {
 public:
  static constexpr size_t k_most_details = 1000;

  // Local; rank 0 has `text`, to which the lines are appended. May throw std::bad_alloc.
  Recorder(const Comm& comm, std::optional<AppendedText> text);
  ~Recorder();  // appends the waiting lines
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Collective, once: measures the differences of the hosts' clocks, and writes what all flushes have in common. The
  // status is MPI's; any other failure is only in problem().
  Status start(const Comm& comm, TracedOpening opening);

  Recording& recording() noexcept { return recording_; }
  void begin(double now) noexcept;  // local: a flush begins
  // Local, once per flush: whether it has details; then end() needs its queue. All ranks have the same plans and
  // verdict, so the result is the same.
  bool needs_details(const FlushReport& report, const Status& verdict) noexcept;
  // Collective: two MPI calls if there are details, otherwise none. The status is MPI's.
  Status end(const Comm& comm, const Trace& trace, const TracedFlush& flush);

  // On rank 0: the reason why a line could not be appended. No later line is appended then. "": no failure.
  const std::string& problem() const noexcept { return problem_; }

 private:
  void pack(const Comm& comm, const Trace& trace, const TracedFlush& flush);
  void pack_queue(std::span<const TracedRequest> queue, size_t share);
  bool add_section(size_t share);  // appends section_ to message_ if it fits
  void describe(const SharedDecomposition& decomposition);
  void describe_list(const TracedList& list);
  void add_elements(PieceView held);
  // Rank 0 only, like the next. Lines of flushes are buffered, unless `now` is set.
  void write(const std::function<std::string()>& line, bool now);
  void add_waiting();

  Gatherer gatherer_;
  std::optional<AppendedText> text_;  // rank 0
  TracedOpening opening_;             // rank 0
  std::string waiting_;               // buffered lines
  std::string problem_;
  ClockOffset clock_;
  double opened_ = 0;  // the time of opening on rank 0, by this rank's clock
  double began_ = 0;
  int64_t flushes_ = 0;
  struct DetailedFlush {
    uint64_t plans;  // a hash of their numbers; 0: the flush failed or had none
    int64_t flush;
  };
  std::vector<DetailedFlush> detailed_flushes_;  // capacity: k_most_details
  int64_t details_ = 0;                          // the flush that has the details of this one; 0: none
  bool samples_all_ = true, is_sampled_ = true;
  Recording recording_;
  std::vector<std::byte> message_, section_;
};

}  // namespace windrow
