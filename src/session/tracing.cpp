// SPDX-License-Identifier: BSD-3-Clause
// A file's trace: rank 0 opens it with the file, all ranks learn whether it could, and each flush ends with its line.
// Nothing that goes wrong here is the program's error.
#include <fmt/format.h>
#include <unistd.h>
#include <windrow/windrow.h>

#include <chrono>
#include <filesystem>

#include "session/file.hpp"

namespace windrow {
namespace {

std::string mode_name(File::Mode mode) {
  return mode == File::Mode::create ? "create" : mode == File::Mode::read ? "read" : "update";
}

// "2026-11-22T18:05:52.123456Z"
std::string time_text(std::chrono::system_clock::time_point time) {
  const auto since = std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count();
  const std::time_t seconds = since / 1'000'000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, since % 1'000'000);
}

std::string columns_of(const StorageLayout& layout, bool set) {
  if (set)
    return "files";
  if (!layout.is_striped())
    return "file";
  return names_targets(layout) ? "targets" : "stripes";
}

}  // namespace

// Rank 0 alone.
void File::open_trace_on_root() {
  const std::string asked = settings_.text("trace");
  if (asked.empty())
    return;
  const Status status = guard([&]() -> Status {
    report_.trace = std::filesystem::absolute(asked).string();
    if (report_.trace == std::filesystem::absolute(path_))
      return {Code::bad_argument, fmt::format("\"{}\" is the data file", asked)};
    auto text = AppendedText::open(report_.trace, fmt::format("{}{},", k_trace_begins, k_trace_version));
    if (!text.ok())
      return text.status();
    trace_text_.emplace(std::move(text).value());
    return {};
  });
  if (!status.ok())
    report_.trace_problem = status.message().empty() ? code_name(status.code()) : status.message();
}

// Collective, on a file that all ranks have open.
void File::start_trace() {
  if (!recorder_)
    return;
  TracedOpening opening;
  (void)guard([&] {
    const auto now = std::chrono::system_clock::now();
    opening.created = time_text(now);
    opening.identity = fmt::format("{:x}-{:x}", now.time_since_epoch().count(), getpid());
    opening.file = path_;
    opening.mode = mode_name(mode_);
    opening.format = format_name_;
    opening.version = fmt::format("{}.{}.{}", WINDROW_VERSION_MAJOR, WINDROW_VERSION_MINOR, WINDROW_VERSION_PATCH);
    opening.columns = columns_of(striping_.layout, subfiles_ != nullptr);
    opening.layout = striping_.layout;
    opening.settings = settings_.values();
    return Status{};
  });
  data_->record(&recorder_->recording(), subfiles_ ? nullptr : layout_);
  (void)recorder_->start(*comm_, std::move(opening));
  take_trace_problem();
}

// Local: a flush begins.
void File::begin_trace() {
  if (!recorder_)
    return;
  recorder_->begin(flush_begin_);
  trace_.timeline = &recorder_->recording().program;
}

// Collective. Whether there is a line is decided by what all ranks know alike: none where nobody had anything to move,
// nor where MPI has failed.
void File::end_trace(const Status& verdict, const RequestList& queue) {
  trace_.timeline = nullptr;
  if (!recorder_ || verdict.code() == Code::mpi || (nothing_queued_ && verdict.ok()))
    return;
  std::vector<TracedRequest> requests;
  if (recorder_->needs_details(report_, verdict))
    (void)guard([&] {
      for (const QueuedRequest& entry : queue.requests())
        requests.push_back({.variable = entry.variable,
                            .put = entry.put,
                            .record = entry.record,
                            .ordinal = entry.ordinal,
                            .type = entry.staged ? std::optional(entry.staged->type) : std::nullopt,
                            .decomposition = *entry.decomposition});
      return Status{};
    });
  (void)recorder_->end(*comm_, trace_, {report_, catalog_, verdict, requests});
  take_trace_problem();
}

void File::take_trace_problem() {
  if (recorder_->problem().empty() || !report_.trace_problem.empty())
    return;
  (void)guard([&] { return report_.trace_problem = recorder_->problem(), Status{}; });
}

}  // namespace windrow
