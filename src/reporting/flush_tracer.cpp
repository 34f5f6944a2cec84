// SPDX-License-Identifier: BSD-3-Clause
#include "reporting/flush_tracer.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <windrow/windrow.h>

#include <chrono>
#include <filesystem>

namespace windrow {
namespace {

// "2026-11-22T18:05:52.123456Z"
std::string time_text(std::chrono::system_clock::time_point time) {
  const auto since = std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count();
  const std::time_t seconds = since / 1'000'000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, since % 1'000'000);
}

std::string columns_of(const StorageLayout& layout, bool is_set) {
  if (is_set)
    return "files";
  if (!layout.is_striped())
    return "file";
  return names_targets(layout) ? "targets" : "stripes";
}

}  // namespace

void FlushTracer::open_on_root(const std::string& asked, const std::string& path, FlushReport& report) {
  if (asked.empty())
    return;
  const Status status = guard([&]() -> Status {
    report.trace = std::filesystem::absolute(asked).string();
    if (report.trace == std::filesystem::absolute(path))
      return {Code::bad_argument, fmt::format("\"{}\" is the data file", asked)};
    auto text = AppendedText::open(report.trace, fmt::format("{}{},", k_trace_begins, k_trace_version));
    if (!text.ok())
      return text.status();
    text_.emplace(std::move(text).value());
    return {};
  });
  if (!status.ok())
    report.trace_problem = status.message().empty() ? code_name(status.code()) : status.message();
}

void FlushTracer::make_recorder(const Comm& comm, const FlushReport& report) {
  if (!report.trace.empty() && report.trace_problem.empty())
    recorder_ = std::make_unique<Recorder>(comm, std::move(text_));
}

void FlushTracer::start(const Comm& comm, const TracedFile& file, FlushReport& report) {
  if (!recorder_)
    return;
  TracedOpening opening;
  (void)guard([&] {
    const auto now = std::chrono::system_clock::now();
    opening.created = time_text(now);
    opening.identity = fmt::format("{:x}-{:x}", now.time_since_epoch().count(), getpid());
    opening.file = file.path;
    opening.mode = file.mode;
    opening.format = file.format;
    opening.version = fmt::format("{}.{}.{}", WINDROW_VERSION_MAJOR, WINDROW_VERSION_MINOR, WINDROW_VERSION_PATCH);
    opening.columns = columns_of(file.layout, file.is_set);
    opening.layout = file.layout;
    opening.settings = file.settings.values();
    return Status{};
  });
  (void)recorder_->start(comm, std::move(opening));
  take_problem(report);
}

void FlushTracer::begin(double now, Trace& trace) noexcept {
  if (!recorder_)
    return;
  recorder_->begin(now);
  trace.timeline = &recorder_->recording().program;
}

void FlushTracer::end(const Comm& comm, Trace& trace, const Flushed& flushed, FlushReport& report) {
  const Status& verdict = flushed.verdict;
  trace.timeline = nullptr;
  if (!recorder_ || verdict.code() == Code::mpi || (flushed.is_empty && verdict.ok()))
    return;
  std::vector<TracedRequest> traced;
  if (recorder_->needs_details(report, verdict))
    (void)guard([&] {
      for (const QueuedRequest& request : flushed.requests)
        traced.push_back({.variable = request.variable,
                          .put = request.put,
                          .record = request.record,
                          .ordinal = request.ordinal,
                          .type = request.staged ? std::optional(request.staged->type) : std::nullopt,
                          .decomposition = *request.decomposition});
      return Status{};
    });
  (void)recorder_->end(comm, trace, {report, flushed.catalog, verdict, traced, flushed.list});
  take_problem(report);
}

void FlushTracer::take_problem(FlushReport& report) {
  if (recorder_->problem().empty() || !report.trace_problem.empty())
    return;
  (void)guard([&] { return report.trace_problem = recorder_->problem(), Status{}; });
}

}  // namespace windrow
