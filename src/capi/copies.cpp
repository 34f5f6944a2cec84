// SPDX-License-Identifier: BSD-3-Clause
// Copying of files.
#include <fmt/format.h>

#include "base/units.hpp"
#include "capi/handles.hpp"
#include "comm/agree.hpp"
#include "comm/same.hpp"
#include "copy/copy.hpp"
#include "format/format.hpp"

namespace {

constexpr int64_t k_usual_buffer = int64_t{16} << 20;

// Checks the size of the struct, which the caller's version of the header determines.
Status check_info(const windrow_copy_info* info) {
  if (info == nullptr || info->size >= static_cast<int64_t>(sizeof(windrow_copy_info)))
    return {};
  return {Code::bad_argument, "copy: size of windrow_copy_info is not set to sizeof(windrow_copy_info)"};
}

// The caller's `info` exists until the copy has ended.
void take_info(const windrow_copy_info& info, copying::Request& request) {
  if (info.buffer_bytes != 0)
    request.buffer_bytes = info.buffer_bytes;
  request.reports = true;
  request.explains = info.explains != 0;
  if (info.progress != nullptr)
    request.progress = [&info](int64_t done, int64_t total) { info.progress(info.context, done, total); };
}

struct CopyArguments {
  const char* source;
  const char* target;
  const windrow_options* options;
  const windrow_copy_info* info;
};

// Local. `text`: all arguments that must be equal on every rank.
Status take_arguments(const CopyArguments& from, copying::Request& request, std::string& text) {
  if (from.source == nullptr || from.target == nullptr)
    return null_argument(from.source == nullptr ? "the source" : "the target");
  if (Status status = check_info(from.info); !status.ok())
    return status;
  request.source = from.source;
  request.target = from.target;
  const windrow::Settings none;
  const windrow::Settings& settings = from.options == nullptr ? none : from.options->settings;
  for (const auto& [key, value] : settings.values()) {
    text.append(key).append("=").append(value).append("\n");
    if (key != "format")
      request.options.emplace_back(key, value);
  }
  auto resolved = windrow::resolve(settings);
  if (!resolved.ok())
    return resolved.status();
  request.format = resolved.value().text("format");
  const std::string format = request.format == "auto" ? windrow::format_of_name(request.target) : request.format;
  request.is_netcdf = format == "netcdf";
  request.has_unlimited = format != "raw";
  request.keeps_chunks = !settings.is_set("chunks") && !settings.is_set("filters");
  request.buffer_bytes = k_usual_buffer;
  if (from.info != nullptr)
    take_info(*from.info, request);
  if (request.buffer_bytes < 0)
    return {Code::bad_argument, fmt::format("copy: a buffer of {}", windrow::counted(request.buffer_bytes, "byte"))};
  text += fmt::format("{} {}\n", request.buffer_bytes, request.explains);
  return {};
}

// Collective, agreed.
Status agree_on_arguments(const windrow::Comm& comm, const CopyArguments& from, copying::Request& request) {
  const windrow::CallScope call(comm, windrow::Call::copy);
  std::string text;
  Status local = guard([&] { return take_arguments(from, request, text); });
  const uint64_t arguments = windrow::hash_of({request.source, request.target, text});
  const auto describe = [&] { return windrow::quoted({request.source, request.target}); };
  return agree_same(comm, std::move(local), arguments, "source, target or options of the copy", describe);
}

void fill_info(const copying::Outcome& outcome, windrow_copy_info& info) {
  static thread_local std::string refused, changed, details;  // valid until this thread's next copy
  refused = outcome.refused;
  changed = outcome.changed;
  details = outcome.details;
  info.begun = outcome.begun ? 1 : 0;
  info.variables = outcome.variables;
  info.groups = outcome.groups;
  info.attributes = outcome.attributes;
  info.bytes = outcome.bytes;
  info.refused = refused.c_str();
  info.changed = changed.c_str();
  info.details = details.c_str();
}

}  // namespace

extern "C" {

int windrow_copy(MPI_Comm comm, const char* source, const char* target, const windrow_options* options,
                 windrow_copy_info* info) {
  return enter([&]() -> Status {
    if (check_info(info).ok() && info != nullptr)
      fill_info({}, *info);
    auto ranks = windrow::Comm::of(comm);
    if (!ranks.ok())
      return ranks.status();
    copying::Request request;
    if (Status verdict = agree_on_arguments(*ranks.value(), {source, target, options, info}, request); !verdict.ok())
      return verdict;
    const copying::Outcome outcome = copying::copy({comm, ranks.value()->rank(), ranks.value()->size()}, request);
    if (info != nullptr)
      fill_info(outcome, *info);
    return outcome.code == WINDROW_OK ? Status()
                                      : Status(static_cast<Code>(outcome.code), outcome.message, outcome.rank);
  });
}

}  // extern "C"
