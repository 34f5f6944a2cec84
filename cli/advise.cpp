// SPDX-License-Identifier: BSD-3-Clause
// windrow advise: what auto would choose for the flushes of a trace.
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/commands.hpp"

namespace cli {

// Only rank 0 works.
int advise(const World& world, const Arguments& arguments) {
  std::string json, text;
  const auto ask = [&](const char* format, std::string& answer) -> std::string {
    const char* advice = nullptr;
    const char* machine = arguments.machine.empty() ? nullptr : arguments.machine.c_str();
    if (windrow_advise(arguments.input.c_str(), machine, format, &advice) != WINDROW_OK)
      return windrow_error_message();
    answer = advice;
    return "";
  };
  require_on_rank_0(world, [&] { return ask("json", json); });
  require_on_rank_0(world, [&] { return arguments.json ? "" : ask("text", text); });
  std::istringstream lines(arguments.json ? json : text);
  for (std::string line; std::getline(lines, line);)
    print_line(world, arguments.json ? line : one_line(line));
  // The part before the damage is used: killed programs leave truncated traces.
  require_on_rank_0(
      world, [&] { return nlohmann::json::parse(json).at("damage").get<std::string>(); }, k_exit_failed);
  return k_exit_ok;
}

}  // namespace cli
