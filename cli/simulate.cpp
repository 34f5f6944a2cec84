// SPDX-License-Identifier: BSD-3-Clause
// windrow simulate: predicts a plan's cost on another machine.
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/units.hpp"
#include "cli/commands.hpp"
#include "cli/mapped_workload.hpp"
#include "cli/simulation_text.hpp"
#include "cli/traced_workload.hpp"
#include "sim/machines.hpp"

namespace cli {

namespace {

// "1920x1920x480"
std::vector<int64_t> numbers_of(const std::string& text, const char* option) {
  std::vector<int64_t> numbers;
  // a text that ends with x has an empty last number
  std::stringstream stream(text + (text.ends_with('x') ? "x" : ""));
  for (std::string word; std::getline(stream, word, 'x');) {
    const auto number = windrow::parse_integer(word);
    if (!number)
      throw Failure(k_exit_mistake,
                    fmt::format("{} cannot be \"{}\": it must be whole numbers separated by x, such as 1920x1920x480",
                                option, text));
    numbers.push_back(*number);
  }
  return numbers;
}

windrow::Workload workload_of(const Arguments& arguments) {
  const SimulateArguments& asked = arguments.simulated;
  if (!arguments.input.empty()) {
    if (!asked.shape.empty() || asked.ranks > 0)
      throw Failure(k_exit_mistake,
                    "a trace or a map defines the ranks and their data: use --ranks and --shape without one");
    if (is_map(arguments.input))
      return mapped_workload(
          arguments.input,
          {.reading = asked.reads, .element_bytes = asked.element_bytes, .variables = asked.variables});
    return traced_workload(arguments.input, asked.flush);
  }
  if (asked.ranks == 0 || asked.shape.empty())
    throw Failure(k_exit_mistake, "nothing to simulate: give a trace, or --ranks and --shape");
  windrow::Workload workload{.reading = asked.reads,
                             .ranks = static_cast<int>(asked.ranks),
                             .shape = numbers_of(asked.shape, "--shape"),
                             .element_bytes = asked.element_bytes,
                             .variables = asked.variables,
                             .block = asked.block};
  if (!asked.grid.empty())
    workload.rank_grid = numbers_of(asked.grid, "--grid");
  workload.division = asked.pattern == "grid"     ? windrow::Division::grid
                      : asked.pattern == "cyclic" ? windrow::Division::cyclic
                      : asked.pattern == "same"   ? windrow::Division::same
                                                  : windrow::Division::rows;
  return workload;
}

template <class Value>
Value value_of(windrow::Result<Value> result) {
  if (!result.ok())
    throw Failure(k_exit_mistake, result.status().message());
  return std::move(result).value();
}

windrow::Machine machine_of(const std::string& name) {
  if (name.empty())
    throw Failure(k_exit_mistake,
                  "--machine is missing: give a machine file or a built-in machine, such as --machine jaguar");
  if (const windrow::NamedMachine* known = windrow::find_machine(name))
    return value_of(windrow::parse_machine(known->file, name));
  std::ifstream stream(name, std::ios::binary);
  if (!stream)
    throw Failure(k_exit_mistake, fmt::format("machine file \"{}\": {}", name, std::strerror(errno)));
  constexpr size_t k_most = (size_t{1} << 20) + 1;  // one more than a machine file can have
  std::string text(k_most, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(k_most));
  text.resize(static_cast<size_t>(stream.gcount()));
  return value_of(windrow::parse_machine(text, name));
}

windrow::Settings settings_of(const Settings& asked) {
  windrow::Settings settings;
  const auto set = [&](const std::string& key, const std::string& value) {
    if (const windrow::Status status = settings.set(key, value); !status.ok())
      throw Failure(k_exit_mistake, status.message());
  };
  if (!asked.strategy.empty())
    set("strategy", asked.strategy);
  for (const std::string& pair : asked.pairs) {
    const size_t equals = pair.find('=');
    if (equals == std::string::npos)
      throw Failure(k_exit_mistake, fmt::format("--set takes key=value, not \"{}\"", pair));
    const std::string key = pair.substr(0, equals);
    if (key == "layout")
      throw Failure(k_exit_mistake,
                    "--set layout: the machine file defines the layout; --set stripe=size=1MiB,count=4 selects another "
                    "layout on its targets");
    if (key == "machine")
      throw Failure(k_exit_mistake, "--set machine: use --machine instead");
    set(key, pair.substr(equals + 1));
  }
  return settings;
}

void write_page(const std::string& path, const std::string& page) {
  std::ofstream stream(path, std::ios::binary);
  if (!stream)
    throw Failure(k_exit_mistake, fmt::format("\"{}\": {}", path, std::strerror(errno)));
  stream << page;
  stream.close();
  if (!stream)
    throw Failure(k_exit_mistake, fmt::format("\"{}\" could not be written to its end", path));
}

std::vector<std::string> simulate_alone(const Arguments& arguments) {
  const SimulateArguments& asked = arguments.simulated;
  if (!asked.shown.empty()) {
    const windrow::NamedMachine* known = windrow::find_machine(asked.shown);
    if (known == nullptr)
      throw Failure(k_exit_mistake, fmt::format("there is no built-in machine \"{}\"; the built-in machines are {}",
                                                asked.shown, windrow::machine_names()));
    return {std::string(known->file)};
  }
  const windrow::SimulationRequest request{
      .workload = workload_of(arguments),
      .machine = machine_of(asked.machine),
      .settings = settings_of(arguments.settings),
      .library = {.all_open = asked.all_open,
                  .in_step = asked.in_step,
                  .at_once = asked.at_once,
                  .splits = asked.splits,
                  .list_pieces = asked.list_pieces},
      .times = asked.times,
      .shrinks_to = asked.shrinks_to,
      .by_machine = !asked.by_rule && windrow::find_machine(asked.machine) == nullptr};
  const windrow::Simulation simulation = value_of(windrow::simulate(request));
  if (!arguments.output.empty())
    write_page(arguments.output, simulation_page(simulation));
  if (arguments.json)
    return {simulation_json(simulation)};
  std::vector<std::string> lines = simulation_lines(simulation);
  if (arguments.explain)
    lines.push_back(windrow::describe_text(simulation.plan));
  return lines;
}

}  // namespace

// Only rank 0 works.
int simulate(const World& world, const Arguments& arguments) {
  std::vector<std::string> lines;
  const auto inspect = [&] {
    lines = simulate_alone(arguments);
    return std::string();
  };
  require_on_rank_0(world, inspect);
  for (const std::string& line : lines)
    print_line(world, line);
  return k_exit_ok;
}

}  // namespace cli
