// SPDX-License-Identifier: BSD-3-Clause
// windrow copy: windrow_copy() with a progress bar, and its result as text or JSON.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <optional>
#include <utility>

#include "base/units.hpp"
#include "cli/commands.hpp"
#include "cli/inputs.hpp"
#include "cli/progress.hpp"

namespace cli {

namespace {

// State of the bar; its length is known at the first step.
struct Shown {
  bool shows = false;
  int64_t done = 0;
  std::optional<Progress> bar;
};

void advance(void* context, int64_t done, int64_t total) {
  Shown& shown = *static_cast<Shown*>(context);
  if (!shown.bar)
    shown.bar.emplace("copy", total, shown.shows);
  shown.bar->advance(done - std::exchange(shown.done, done));
}

void print_errors(const World& world, const std::string& begin, const char* list) {
  for (const std::string& line : lines_of(list))
    print_error_line(world, begin + line);
}

// An error of opening or creating is a usage error; a later one is a failure.
Failure failure_of_copy(const World& world, const std::string& input, const windrow_copy_info& info, int code) {
  const windrow::Error error(code, windrow_error_rank(), windrow_error_message());
  if (*info.refused != '\0') {
    print_errors(world, "cannot copy ", info.refused);
    return {k_exit_unsupported, error.what()};
  }
  if (info.begun != 0)
    return {k_exit_failed, error.what()};
  if (code == WINDROW_BAD_FILE)
    require_known_format(world, input);
  return failure_from(error);
}

double total_seconds(const nlohmann::json& report) {
  return report.contains("seconds") ? report["seconds"].value("total", 0.0) : 0.0;
}

nlohmann::json part_of(const nlohmann::json& details, const char* which, const char* side) {
  return details[which].is_object() && details[which].contains(side) ? details[which][side] : nlohmann::json(nullptr);
}

void print_result(const World& world, const Arguments& arguments, const windrow_copy_info& info, double seconds) {
  if (!world.prints())
    return;
  const nlohmann::json details = nlohmann::json::parse(info.details);
  if (arguments.json) {
    using nlohmann::json;
    const json object{
        {"input", arguments.input},
        {"output", arguments.output},
        {"ranks", world.size},
        {"variables", info.variables},
        {"groups", info.groups},
        {"attributes", info.attributes},
        {"bytes", info.bytes},
        {"changed", lines_of(info.changed)},
        {"seconds", seconds},
        {"plan", {{"read", part_of(details, "plan", "read")}, {"write", part_of(details, "plan", "write")}}},
        {"report", details["report"]}};
    print_line(world, object.dump(2, ' ', false, json::error_handler_t::replace));
    return;
  }
  if (arguments.explain && details["explanation"].is_object())
    print_line(world, "reading:\n" + details["explanation"].value("read", "") + "\nwriting:\n" +
                          details["explanation"].value("write", ""));
  if (arguments.quiet)
    return;
  print_errors(world, "changed: ", info.changed);
  const double rate = seconds > 0 ? static_cast<double>(info.bytes) / seconds : 0;
  print_line(world,
             fmt::format("copied {}, {}, {}, {} in {} ({}/s; read {}, write {})",
                         windrow::counted(info.variables, "variable"), windrow::counted(info.groups, "group"),
                         windrow::counted(info.attributes, "attribute"), bytes_text(info.bytes), seconds_text(seconds),
                         bytes_text(static_cast<int64_t>(rate)), seconds_text(total_seconds(details["report"]["read"])),
                         seconds_text(total_seconds(details["report"]["write"]))));
}

}  // namespace

int copy(const World& world, const Arguments& arguments) {
  const double start = MPI_Wtime();
  Settings settings = arguments.settings;
  if (!arguments.format.empty())
    settings.pairs.push_back("format=" + arguments.format);
  const windrow::Options options = options_from(settings);
  require_on_rank_0(world, [&] { return problem_with_input(arguments.input); });
  Shown shown;
  shown.shows = shows_bar(arguments, world.rank);
  windrow_copy_info info{};
  info.size = sizeof info;
  info.buffer_bytes = settings.buffer_bytes;
  info.explains = arguments.explain || arguments.json ? 1 : 0;
  info.progress = &advance;
  info.context = &shown;
  const int code = windrow_copy(world.comm, arguments.input.c_str(), arguments.output.c_str(), options.get(), &info);
  shown.bar.reset();  // clears its line before anything is printed
  if (code != WINDROW_OK)
    throw failure_of_copy(world, arguments.input, info, code);
  print_result(world, arguments, info, MPI_Wtime() - start);
  return k_exit_ok;
}

}  // namespace cli
