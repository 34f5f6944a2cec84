// SPDX-License-Identifier: BSD-3-Clause
// windrow report: a trace as a table and as a page.
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "cli/commands.hpp"
#include "cli/trace_text.hpp"

namespace cli {

namespace {

std::string write_page(const Arguments& arguments, const Trace& trace) {
  std::error_code error;
  if (std::filesystem::equivalent(arguments.input, arguments.output, error))
    return "the page would replace its trace: \"" + arguments.output + "\"";
  std::ofstream stream(arguments.output, std::ios::binary);
  if (!stream)
    return fmt::format("\"{}\": {}", arguments.output, std::strerror(errno));
  stream << trace_page(trace, arguments.input);
  stream.close();
  return stream ? "" : fmt::format("\"{}\" could not be written to its end", arguments.output);
}

}  // namespace

// Only rank 0 works.
int report(const World& world, const Arguments& arguments) {
  Trace trace;
  const auto inspect = [&] {
    trace = read_trace(arguments.input);
    return arguments.output.empty() ? std::string() : write_page(arguments, trace);
  };
  require_on_rank_0(world, inspect);
  if (!arguments.quiet)
    for (const std::string& line : trace_table(trace))
      print_line(world, line);
  // The part before the damage is reported: killed programs leave truncated traces.
  require_on_rank_0(
      world, [&] { return trace.damage; }, k_exit_failed);
  return k_exit_ok;
}

}  // namespace cli
