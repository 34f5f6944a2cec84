// SPDX-License-Identifier: BSD-3-Clause
// Recorder: what a file with the option trace keeps of its flushes. Each rank records into memory of a fixed size; at a
// flush's end rank 0 gathers that and makes one line of it; lines are added to the trace file several at a time. Of
// flushes that together take less than two hundred times as long as that, rank 0 keeps what all ranks know already, and
// nobody says a word. The format of the lines is docs/traces.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "comm/clock.hpp"
#include "comm/gather.hpp"
#include "reporting/trace_lines.hpp"
#include "storage/appended_text.hpp"
#include "trace/recording.hpp"

namespace windrow {

class SharedDecomposition;

// A put or get that a flush will move.
struct TracedRequest {
  int variable = 0;
  bool put = true;
  int64_t record = -1;  // -1: of the whole variable
  int64_t ordinal = 0;
  std::optional<Type> type;  // in memory, where it is not the variable's
  const SharedDecomposition& decomposition;
};

class Recorder {
 public:
  // Local; rank 0 has `text`, which the lines go to. `tells_all`, the same on all ranks: each flush has a whole line.
  // May throw std::bad_alloc.
  Recorder(const Comm& comm, std::optional<AppendedText> text, bool tells_all);
  ~Recorder();  // adds what waits
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Collective, once: puts the hosts' clocks beside each other, and writes what all flushes have in common. The status
  // is MPI's; what else fails is the trace's own problem().
  Status start(const Comm& comm, TracedOpening opening);

  Recording& recording() noexcept { return recording_; }
  void begin(double now) noexcept;          // local: a flush does
  void take(const TracedRequest& request);  // local: what it will move
  // Collective: two calls of MPI, or none; the report and the verdict are those of all ranks. The status is MPI's.
  Status end(const Comm& comm, const Trace& trace, const TracedFlush& flush);

  double line_seconds() const noexcept {
    return line_seconds_;
  }  // that a whole line takes this rank; 0: there was none

  // On rank 0: why lines could not be added, and none that follows will be; "": nothing went wrong.
  const std::string& problem() const noexcept { return problem_; }

 private:
  bool is_told_whole(const TracedFlush& flush, const BriefReport& brief);
  void take_line_seconds(double seconds) noexcept;
  void keep_brief(const BriefReport& brief);  // rank 0 only
  void write_brief();                         // the same
  void pack(const Comm& comm, const Trace& trace, std::span<const SentTo> sent);
  void add_section(size_t share);  // of what section_ has, if there is room
  void describe(const SharedDecomposition& decomposition);
  // Rank 0 only, as the next. Lines of flushes wait for each other; `now`: not this one.
  void write(const std::function<std::string()>& line, bool now);
  void add_waiting();

  Gatherer gatherer_;
  std::optional<AppendedText> text_;  // rank 0
  TracedOpening opening_;             // rank 0
  std::string waiting_;               // lines that are not in the file yet
  double added_ = 0;                  // when some were last, on this rank's clock
  std::string problem_;
  ClockOffset clock_;
  double opened_ = 0;  // on this rank's clock, when it was on rank 0's
  double began_ = 0;
  bool tells_all_ = false;
  double line_seconds_ = 0;
  double brief_seconds_ = 0;       // of flushes that had no whole line, since one had
  int plans_told_ = 0;             // new ones, whole
  std::vector<BriefFlush> brief_;  // rank 0: that no line tells yet
  int64_t flushes_ = 0;
  bool samples_all_ = true, is_sampled_ = true;
  Recording recording_;
  std::vector<std::byte> message_, section_;
  std::vector<std::byte> queue_, decompositions_;  // of the flush that was begun
  int64_t queued_ = 0, left_out_ = 0, described_ = 0;
  std::vector<int64_t> describing_;  // whose description goes with this flush
  std::set<int64_t> told_;           // whose went with an earlier one
};

}  // namespace windrow
