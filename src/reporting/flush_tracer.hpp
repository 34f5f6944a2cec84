// SPDX-License-Identifier: BSD-3-Clause
// FlushTracer: the trace of an open file, if the option trace asks for one. Rank 0 opens it together with the file, all
// ranks learn whether it could, and each flush ends with its line. An error of the trace is no error of the program: it
// is in the report.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/settings.hpp"
#include "queueing/queued_request.hpp"
#include "reporting/recorder.hpp"
#include "reporting/report.hpp"
#include "storage/appended_text.hpp"

namespace windrow {

// What the first line of a trace says of its file.
struct TracedFile {
  const std::string& path;
  const char* mode = "";
  const std::string& format;
  const StorageLayout& layout;
  bool is_set = false;  // it has subfiles
  const Settings& settings;
};

class FlushTracer {
 public:
  // Rank 0: opens the trace `asked`, unless it is "". `path`: of the data file. The report gets the name or the error.
  void open_on_root(const std::string& asked, const std::string& path, FlushReport& report);
  // Local, once the report has what rank 0 found: there is a recorder on all ranks, or on none. May throw
  // std::bad_alloc.
  void make_recorder(const Comm& comm, const FlushReport& report);
  Recording* recording() noexcept { return recorder_ ? &recorder_->recording() : nullptr; }  // nullptr: no trace

  // Collective, once all ranks have opened the file.
  void start(const Comm& comm, const TracedFile& file, FlushReport& report);
  // Local: a flush begins. The stages of `trace` are recorded until its end.
  void begin(double now, Trace& trace) noexcept;
  // What a flush has moved. All but the requests and the list is the same on all ranks.
  struct Flushed {
    const Catalog& catalog;
    std::span<const QueuedRequest> requests;
    const Status& verdict;
    bool is_empty;  // no rank had anything to move
    TracedList list = {};
  };
  // Collective. All ranks agree whether there is a line: none for an empty flush, nor after an error of MPI.
  void end(const Comm& comm, Trace& trace, const Flushed& flushed, FlushReport& report);

 private:
  void take_problem(FlushReport& report);

  std::optional<AppendedText> text_;    // rank 0, until the recorder has it
  std::unique_ptr<Recorder> recorder_;  // nullptr: there is no trace
};

}  // namespace windrow
