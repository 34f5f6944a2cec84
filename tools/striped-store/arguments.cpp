// SPDX-License-Identifier: BSD-3-Clause
#include "arguments.hpp"

#include <CLI/CLI.hpp>
#include <array>
#include <cmath>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/units.hpp"

namespace striped_store {
namespace {

int64_t bytes_of(const std::string& text) {
  const std::optional<int64_t> bytes = windrow::parse_bytes(text);
  if (!bytes)
    throw Mistake("\"" + text + "\" is not a number of bytes, as 64KiB, 1MiB or 200MB");
  return *bytes;
}

int64_t rate_of(std::string text) {
  if (text == "none")
    return 0;
  if (text.ends_with("/s"))
    text.resize(text.size() - 2);
  return bytes_of(text);
}

std::chrono::nanoseconds time_of(const std::string& text) {
  static constexpr std::array<std::pair<std::string_view, double>, 4> k_units{
      {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
  for (const auto& [unit, nanoseconds] : k_units) {
    if (!text.ends_with(unit))
      continue;
    const std::string number = text.substr(0, text.size() - unit.size());
    size_t used = 0;
    double value = -1;
    try {
      value = std::stod(number, &used);
    } catch (const std::logic_error&) {}
    if (used == number.size() && value >= 0 && value * nanoseconds < 3.6e12)
      return std::chrono::nanoseconds(std::llround(value * nanoseconds));
  }
  if (text == "0")
    return {};
  throw Mistake("\"" + text + "\" is not a time of less than an hour, as 300us or 2ms");
}

int count_of(const std::string& text) {
  if (text == "all")
    return k_all_targets;
  const std::optional<int64_t> count = windrow::parse_integer(text);
  if (!count || *count < 1 || *count > k_most_targets)
    throw Mistake("\"" + text + "\" is not a number of targets, or all");
  return static_cast<int>(*count);
}

// END:STRIPE:COUNT, where END is a size or "end".
Component component_of(const std::string& text, int64_t begin) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, ':');)
    parts.push_back(part);
  if (parts.size() != 3)
    throw Mistake("\"" + text + "\" is not END:STRIPE:COUNT, as 4MiB:1MiB:2 or end:4MiB:all");
  return {.begin = begin,
          .end = parts[0] == "end" ? k_end_of_file : bytes_of(parts[0]),
          .stripe = bytes_of(parts[1]),
          .count = count_of(parts[2]),
          .first = k_any_target,
          .targets = {}};
}

// As given on the command line.
struct Words {
  std::string rate = "none", request_cost = "0", lock_cost = "0", write_behind = "0", join = "0", stripe = "1MiB",
              count = "all";
  std::vector<std::string> components;
};

void add_up(CLI::App& app, Arguments& arguments, Words& words) {
  CLI::App& up = *app.add_subcommand("up", "Begin a store and mount it; returns when it can be used");
  Settings& settings = arguments.settings;
  up.add_option("--mounts", settings.mounts,
                "Folders to mount it on, each a client of its own; made where they are missing")
      ->required()
      ->type_name("DIR");
  up.add_option("--backing", settings.backing,
                "Folder that holds the files; without it they are in memory (/dev/shm) and end with the store")
      ->type_name("DIR");
  up.add_option("--targets", settings.targets, "Storage targets, default 4")
      ->check(CLI::Range(1, k_most_targets))
      ->type_name("K");
  CLI::Option* stripe =
      up.add_option("--stripe", words.stripe, "Stripe of new files, default 1MiB; a multiple of 64KiB")
          ->type_name("BYTES");
  CLI::Option* count = up.add_option("--count", words.count, "Targets of a new file, default all")->type_name("N");
  up.add_option("--component", words.components,
                "Instead of both: new files are END:STRIPE:COUNT, END:STRIPE:COUNT ... the last END is end")
      ->type_name("PART")
      ->excludes(stripe)
      ->excludes(count);
  up.add_option("--rate", words.rate, "Bytes a second of each target, as 200MB/s; default none, no limit")
      ->type_name("RATE");
  up.add_option("--request-cost", words.request_cost, "What each request costs its target, as 300us; default 0")
      ->type_name("TIME");
  up.add_option("--lock-cost", words.lock_cost,
                "What it costs that a lock passes from client to client, as 2ms; default 0")
      ->type_name("TIME");
  up.add_option("--write-behind", words.write_behind,
                "Bytes that a client may have under way to a target while its program goes on; default 0")
      ->type_name("BYTES");
  up.add_option("--join", words.join,
                "Bytes of the longest request that a client makes of those which wait for a target and follow each "
                "other there; default 0: none")
      ->type_name("BYTES");
  up.add_flag("--foreground", settings.stays_in_foreground,
              "Stay in the foreground until a signal or the last unmount");
  up.callback([&arguments] { arguments.command = Command::up; });
}

void take(const Words& words, Settings& settings) {
  settings.rate = rate_of(words.rate);
  settings.request_cost = time_of(words.request_cost);
  settings.lock_cost = time_of(words.lock_cost);
  settings.write_behind = bytes_of(words.write_behind);
  settings.join = bytes_of(words.join);
  Component plain;
  plain.stripe = bytes_of(words.stripe);
  plain.count = count_of(words.count);
  settings.layout.components.clear();
  if (words.components.empty())
    settings.layout.components.push_back(plain);
  for (const std::string& text : words.components)
    settings.layout.components.push_back(
        component_of(text, settings.layout.components.empty() ? 0 : settings.layout.components.back().end));
  if (const std::string mistake = mistake_in(settings.layout, settings.targets); !mistake.empty())
    throw Mistake("the layout of new files: " + mistake);
  if (settings.mounts.size() > k_most_clients)
    throw Mistake("more than 64 mounts");
}

}  // namespace

Arguments parse(int argc, const char* const* argv) {
  Arguments arguments;
  Words words;
  CLI::App app(
      "striped-store: a test instrument that simulates striped storage with targets, extent locks and a record",
      "striped-store");
  app.require_subcommand(1);
  app.footer(
      "The record is MOUNT/.striped-store: reading it gives JSON, writing \"reset\" to it begins anew. "
      "docs/internals/test-beds/striped-store.md says what is simulated.");
  add_up(app, arguments, words);
  CLI::App& down = *app.add_subcommand(
      "down", "Unmount a store and end it, also one whose process was killed; nothing where nothing is up");
  down.add_option("DIR", arguments.down, "One of its mounts, or its backing folder")->required()->type_name("...");
  down.callback([&arguments] { arguments.command = Command::down; });
  try {
    app.parse(argc, argv);
    if (arguments.command == Command::up)
      take(words, arguments.settings);
  } catch (const CLI::Success& asked) {
    std::ostringstream text;
    app.exit(asked, text, text);
    arguments.text = text.str();
    arguments.command = Command::none;
  } catch (const CLI::ParseError& mistake) {
    throw Mistake(std::string(mistake.what()) + " (see: striped-store --help)");
  }
  return arguments;
}

}  // namespace striped_store
