// SPDX-License-Identifier: BSD-3-Clause
#include "report.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <nlohmann/json.hpp>

namespace mpiio {
namespace {

const char* report_path() noexcept {
  const char* const path = std::getenv("WINDROW_MPIIO_REPORT");
  return path != nullptr && *path != '\0' ? path : nullptr;
}

}  // namespace

std::string name_of(const mpiio_call& call) {
  std::string name = call.writes != 0 ? "write" : "read";
  if (call.has_offset != 0)
    name += "_at";
  name += "_all";
  if (call.is_begin != 0)
    name += "_begin";
  return name;
}

bool Tally::is_wanted() noexcept {
  return report_path() != nullptr;
}

// A report without some calls is better than a program that ends.
void Tally::add(const mpiio_call& call, const char* because, int64_t bytes, double seconds) noexcept {
  if (!is_wanted())
    return;
  try {
    Sum& sum = sums_[{name_of(call), because}];
    ++sum.calls;
    sum.bytes += bytes;
    sum.seconds += seconds;
  } catch (const std::bad_alloc&) {}
}

std::string Tally::line(const std::string& path, int ranks, const char* because, const std::string& message) const {
  nlohmann::ordered_json calls = nlohmann::ordered_json::array();
  for (const auto& [key, sum] : sums_)
    calls.push_back({{"name", std::get<0>(key)},
                     {"taken", std::get<1>(key).empty()},
                     {"because", std::get<1>(key)},
                     {"calls", sum.calls},
                     {"bytes", sum.bytes},
                     {"seconds", sum.seconds}});
  nlohmann::ordered_json whole = {
      {"file", path}, {"ranks", ranks}, {"passed_because", because}, {"calls", std::move(calls)}};
  if (!message.empty())
    whole["message"] = message;
  return whole.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void Tally::write(const std::string& path, int ranks, const char* because, const std::string& message) const noexcept {
  const char* const report = report_path();
  if (report == nullptr)
    return;
  std::string text;
  try {
    text = line(path, ranks, because, message);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "windrow-mpiio: no report of \"%s\": %s\n", path.c_str(), error.what());
    return;
  }
  // One write, so that lines of processes do not mix.
  const int file = ::open(report, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0 || ::write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    std::fprintf(stderr, "windrow-mpiio: the report \"%s\" could not be written: %s\n", report, std::strerror(errno));
  if (file >= 0)
    ::close(file);
}

}  // namespace mpiio
