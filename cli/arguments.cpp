// SPDX-License-Identifier: BSD-3-Clause
#include "cli/arguments.hpp"

#include <unistd.h>

#include <windrow/windrow.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "sim/machines.hpp"

namespace cli {

namespace {

constexpr int64_t k_smallest_buffer = 4096;             // below it the bookkeeping is larger than the data
constexpr int64_t k_largest_buffer = int64_t{1} << 40;  // keeps buffer x ranks within 64 bits

const char* const k_footer =
    "Run it alone, or with several ranks:  mpirun -n 4 windrow copy in.h5 out.h5\n"
    "Every option of the library is also read from the environment: WINDROW_STRATEGY=scorpio; docs/settings.md lists "
    "them.\n"
    "\nExit codes: 0 done; 1 the work failed (storage, memory, a damaged file); 2 a mistake in the command line or in "
    "a file\n"
    "named there, nothing was written; 3 the file has parts that cannot be read or copied yet, nothing was written.\n"
    "mpirun adds lines of its own when a program exits with another code than 0; Open MPI's `mpirun --quiet` does not.";

// "16M" is 16 MiB, as in the library's own options; CLI11 would take it for 16 MB.
std::string letter_is_binary(std::string& size) {
  if (!size.empty() && std::string_view("kmgtpKMGTP").find(size.back()) != std::string_view::npos)
    size += "iB";
  return "";
}

// An empty name is a mistake, often a variable of the shell that was never set, and not the same as none.
const CLI::Validator& not_empty() {
  static const CLI::Validator validator(
      [](std::string& name) { return name.empty() ? std::string("the name is empty") : ""; }, "");
  return validator;
}

Bar bar_called(const std::string& when) {
  if (when == "auto")
    return Bar::automatic;
  if (when == "always")
    return Bar::always;
  if (when == "never")
    return Bar::never;
  throw CLI::ValidationError("--progress", "takes auto, always or never, not \"" + when + "\"");
}

void add_settings(CLI::App& command, Arguments& arguments) {
  Settings& settings = arguments.settings;
  command
      .add_option("--strategy", settings.strategy,
                  "Preset: auto, scorpio, two-phase, list, ... (`windrow info --features`)")
      ->check(not_empty())
      ->type_name("NAME");
  command.add_option("--set", settings.pairs, "An option of the library, key=value; may be repeated")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all();
  command
      .add_option(
          "--buffer", settings.buffer_bytes,
          "Data held at a time by each rank, such as 64MiB; the library adds up to twice as much, at most 32 MiB")
      ->transform(CLI::AsSizeValue(true).description(""))
      ->transform(CLI::Validator(letter_is_binary, ""))
      ->check(CLI::Range(k_smallest_buffer, k_largest_buffer).description(""))
      ->type_name("BYTES")
      ->default_str("16MiB");
}

void add_output(CLI::App& command, Arguments& arguments) {
  command
      .add_option_function<std::string>(
          "--progress", [&arguments](const std::string& when) { arguments.bar = bar_called(when); },
          "Progress bar: auto (when standard error is a terminal), always, never")
      ->type_name("WHEN")
      ->default_str("auto");
  command.add_flag("--json", arguments.json, "Print one JSON object instead of text");
  command.add_flag("--quiet,-q", arguments.quiet, "Print errors only");
}

void add_copy(CLI::App& app, Arguments& arguments) {
  CLI::App& copy =
      *app.add_subcommand("copy", "Copy every variable, group and attribute of a file, in parallel, in bounded memory");
  copy.add_option("IN", arguments.input, "File to read: HDF5, netCDF classic or raw")->type_name("")->required();
  copy.add_option("OUT", arguments.output,
                  "File to write; one that exists is replaced when the copy is complete, and stays whole until then")
      ->type_name("")
      ->required();
  copy.add_option("--format", arguments.format, "Format of OUT: hdf5, netcdf or raw; without it OUT's name says")
      ->check(not_empty())
      ->type_name("NAME");
  copy.add_flag("--explain", arguments.explain, "Print the plans for reading and writing, and why");
  add_settings(copy, arguments);
  add_output(copy, arguments);
  copy.footer(
      "Chunks, filters, fill values, links and growth go along. What cannot be copied (compound types, variable-length "
      "data\n"
      "other than texts, external links, ...) is named, one line each, on standard error, with exit code 3; then no "
      "OUT is made.");
  copy.callback([&arguments] { arguments.command = Command::copy; });
}

void add_info(CLI::App& app, Arguments& arguments) {
  CLI::App& info =
      *app.add_subcommand("info", "Say what is in a file: groups, variables, attributes, and what cannot be read yet");
  auto* file = info.add_option("FILE", arguments.input, "File to look at")->type_name("");
  auto* features =
      info.add_flag("--features", arguments.features, "Say what is built into this library; no FILE is needed");
  info.add_flag("--json", arguments.json, "Print one JSON object instead of text");
  info.footer("Temporary files that interrupted runs left beside FILE (.NAME.windrow-*) are named too.");
  info.callback([&arguments, file, features] {
    if (file->count() == 0 && features->count() == 0)
      throw CLI::RequiredError("FILE");
    arguments.command = Command::info;
  });
}

void add_check(CLI::App& app, Arguments& arguments) {
  CLI::App& check =
      *app.add_subcommand("check", "Read all of a file, in parallel, in bounded memory, and say whether that works");
  check.add_option("FILE", arguments.input, "File to check")->type_name("")->required();
  add_settings(check, arguments);
  add_output(check, arguments);
  check.add_flag("--clean", arguments.clean,
                 "Remove what killed jobs and replaced sets have left beside FILE, which need not be there");
  check.footer("Exit code 0: all of it was read; 1: damaged; 3: sound as far as it could be read.");
  check.callback([&arguments] { arguments.command = Command::check; });
}

void add_references(CLI::App& app, Arguments& arguments) {
  CLI::App& references = *app.add_subcommand(
      "references", "Write a kerchunk reference file, by which xarray and zarr open FILE and its subfiles as one");
  references.add_option("FILE", arguments.input, "File to refer to: HDF5, netCDF classic or raw")
      ->type_name("")
      ->required();
  references.add_option("--output", arguments.output, "Where the text goes; without it FILE.kerchunk.json")
      ->check(not_empty())
      ->type_name("TEXT");
  references
      .add_option("--prefix", arguments.prefix,
                  "Stands before the names of files in the text, as /data/run/ or s3://bucket/run/")
      ->type_name("PREFIX");
  references.add_flag("--quiet,-q", arguments.quiet, "Print errors only");
  references.footer(
      "Names are relative to FILE's folder, where readers have to be started, unless there is a prefix. What Zarr "
      "cannot\n"
      "express is named, one line each, on standard error, with exit code 3; the text has all the rest.");
  references.callback([&arguments] { arguments.command = Command::references; });
}

void add_report(CLI::App& app, Arguments& arguments) {
  CLI::App& report = *app.add_subcommand("report", "Say what each flush of a traced program did, and draw it");
  report.add_option("TRACE", arguments.input, "What a program has written that ran with WINDROW_TRACE=TRACE")
      ->type_name("")
      ->required();
  report
      .add_option("--html", arguments.output,
                  "A page to write, with pictures of the ranks' time, of who wrote where, and of requests")
      ->check(not_empty())
      ->type_name("PAGE");
  report.add_flag("--quiet,-q", arguments.quiet, "Print errors only");
  report.footer(
      "Of a trace that is cut short, as a killed program leaves it, all whole lines are reported; the exit code is 1 "
      "then.");
  report.callback([&arguments] { arguments.command = Command::report; });
}

void add_pattern(CLI::App& simulate, SimulateArguments& asked) {
  simulate.add_option("--ranks", asked.ranks, "How many ranks")
      ->check(CLI::Range(int64_t{1}, int64_t{INT32_MAX}).description(""))
      ->type_name("N");
  simulate
      .add_option("--pattern", asked.pattern,
                  "Who holds what: rows, grid, cyclic (blocks of elements in turn), same (all read everything)")
      ->check(CLI::IsMember({"rows", "grid", "cyclic", "same"}).description(""))
      ->type_name("NAME");
  simulate.add_option("--shape", asked.shape, "Elements of each variable, as 1920x1920x480")
      ->check(not_empty())
      ->type_name("SHAPE");
  simulate
      .add_option("--grid", asked.grid, "Ranks of each dimension, for the pattern grid; without it as even as can be")
      ->check(not_empty())
      ->type_name("RANKS");
  simulate.add_option("--block", asked.block, "Elements that each rank has in turn, for the pattern cyclic")
      ->type_name("N");
  simulate.add_option("--element-bytes", asked.element_bytes, "Bytes of an element; 8")->type_name("N");
  simulate.add_option("--variables", asked.variables, "How many such variables; 1")->type_name("N");
  simulate.add_flag("--read", asked.reads, "Read them; without it they are written");
}

void add_simulate(CLI::App& app, Arguments& arguments) {
  SimulateArguments& asked = arguments.simulated;
  CLI::App& simulate = *app.add_subcommand(
      "simulate",
      "Plan for any number of ranks, and say what that would do on a modelled machine; nothing is measured");
  simulate
      .add_option("TRACE", arguments.input,
                  "Instead of a pattern: what a flush that was traced with WINDROW_TRACE moved, or a map of a "
                  "decomposition as PIO and SCORPIO write it")
      ->type_name("");
  simulate
      .add_option("--machine", asked.machine, "A machine file, or one of those built in: " + windrow::machine_names())
      ->check(not_empty())
      ->type_name("FILE");
  add_pattern(simulate, asked);
  simulate
      .add_option("--flush", asked.flush,
                  "Which flush of TRACE, the first being 1; without it the last that moved something")
      ->check(CLI::Range(int64_t{1}, INT64_MAX).description(""))
      ->type_name("N");
  simulate.add_option("--strategy", arguments.settings.strategy, "Preset, as for copy")
      ->check(not_empty())
      ->type_name("NAME");
  simulate.add_option("--set", arguments.settings.pairs, "An option of the library, key=value; may be repeated")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all();
  simulate.add_flag("--by-rule", asked.by_rule, "auto follows its fixed rule, as without a machine file");
  simulate.add_flag("--all-open", asked.all_open, "As peers do: every rank opens the file");
  simulate.add_flag("--in-step", asked.in_step, "As peers do: all wait for each other after every round");
  simulate.add_flag("--at-once", asked.at_once, "As peers do: all is exchanged first, in memory without bounds");
  simulate.add_option("--splits", asked.splits, "As peers do: so many communicators are split first")->type_name("N");
  simulate
      .add_option("--list-pieces", asked.list_pieces, "As peers do: a request of access=list carries so many pieces")
      ->type_name("N");
  simulate
      .add_option("--shrinks-to", asked.shrinks_to, "What a codec leaves of a byte of a message between hosts; 0.5")
      ->type_name("X");
  simulate.add_option("--times", asked.times, "The same so many times, the file opened each time")->type_name("N");
  simulate
      .add_option("--html", arguments.output,
                  "A page to write, with a picture of seconds by stage and of who moves how much of which target")
      ->check(not_empty())
      ->type_name("PAGE");
  simulate.add_flag("--json", arguments.json, "Print one JSON object instead of text");
  simulate.add_flag("--explain", arguments.explain, "Print the plan, and why");
  simulate
      .add_option("--print-machine", asked.shown,
                  "Print a machine file that is built in, to begin one's own with; nothing is simulated")
      ->type_name("NAME");
  simulate.footer(
      "Messages, requests and bytes follow from the library's own planner. Seconds are a model's: docs/simulation.md "
      "says\n"
      "what of the machines built in is from papers and what was fitted to them. Options of the environment do not "
      "count.");
  simulate.callback([&arguments] { arguments.command = Command::simulate; });
}

void add_calibrate(CLI::App& app, Arguments& arguments) {
  CLI::App& calibrate = *app.add_subcommand(
      "calibrate", "Measure this machine and the storage of a folder into a machine file, in less than a minute");
  calibrate
      .add_option("DIR", arguments.input, "A folder on the storage where the files will be; nothing is left in it")
      ->type_name("")
      ->required();
  calibrate.add_option("--out", arguments.output, "The machine file, which is replaced when all is measured")
      ->check(not_empty())
      ->type_name("FILE")
      ->default_str("windrow-machine.json");
  calibrate
      .add_option("--set", arguments.settings.pairs,
                  "An option of the library, key=value; may be repeated: file_system, layout")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all();
  calibrate.add_flag("--quiet,-q", arguments.quiet, "Print errors only");
  calibrate.footer(
      "Run it with as many ranks, on as many hosts, as the programs that will use the file:\n"
      "mpirun -n 16 windrow calibrate /scratch/run --out machine.json;  WINDROW_MACHINE=machine.json mpirun -n 16 "
      "./simulation");
  calibrate.callback([&arguments] {
    if (arguments.output.empty())
      arguments.output = "windrow-machine.json";
    arguments.command = Command::calibrate;
  });
}

void add_advise(CLI::App& app, Arguments& arguments) {
  CLI::App& advise = *app.add_subcommand(
      "advise", "Say what auto would choose for the flushes of a trace, with predicted and measured seconds");
  advise.add_option("TRACE", arguments.input, "What a program has written that ran with WINDROW_TRACE=TRACE")
      ->type_name("")
      ->required();
  advise.add_option("--machine", arguments.machine, "A machine file; without it what is usual for such a storage")
      ->check(not_empty())
      ->type_name("FILE");
  advise.add_flag("--json", arguments.json, "Print one JSON object instead of text");
  advise.callback([&arguments] { arguments.command = Command::advise; });
}

bool is_command(const CLI::App& app, const std::string& word) {
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  return std::any_of(commands.begin(), commands.end(),
                     [&](const CLI::App* command) { return command->get_name() == word; });
}

// `windrow help` and `windrow help copy` are `windrow --help` and `windrow copy --help`.
std::vector<std::string> words_of(int argc, const char* const* argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  return {words.rbegin(), words.rend()};  // CLI11 takes them last first
}

}  // namespace

Parsed parse(int argc, const char* const* argv) {
  Parsed parsed;
  CLI::App app("windrow: look into, check and copy files of parallel programs", "windrow");
  app.set_version_flag("--version", std::string("windrow ") + windrow_version(), "Print the version");
  app.set_help_flag("--help,-h", "Print this help; `windrow help copy` for one command");
  app.require_subcommand(1);
  app.footer(k_footer);
  add_copy(app, parsed.arguments);
  add_info(app, parsed.arguments);
  add_check(app, parsed.arguments);
  add_references(app, parsed.arguments);
  add_report(app, parsed.arguments);
  add_simulate(app, parsed.arguments);
  add_calibrate(app, parsed.arguments);
  add_advise(app, parsed.arguments);
  std::vector<std::string> words = words_of(argc, argv);
  if (!words.empty() && !words.back().starts_with('-') && !is_command(app, words.back()))
    throw Failure(k_exit_mistake, "there is no command \"" + words.back() +
                                      "\"; there are copy, info, check, references, report, simulate, calibrate and "
                                      "advise (see: windrow --help)");
  try {
    app.parse(words);
  } catch (const CLI::Success& asked) {  // help, version
    std::ostringstream text;
    app.exit(asked, text, text);
    parsed.text = text.str();
    while (parsed.text.ends_with('\n'))
      parsed.text.pop_back();
    parsed.arguments.command = Command::none;
  } catch (const CLI::ParseError& mistake) {
    throw Failure(k_exit_mistake, one_line(mistake.what()) + " (see: windrow --help)");
  }
  return parsed;
}

bool shows_bar(const Arguments& arguments, int rank) {
  if (rank != 0 || arguments.bar == Bar::never)
    return false;
  if (arguments.bar == Bar::always)
    return true;
  return !arguments.quiet && isatty(STDERR_FILENO) == 1;
}

}  // namespace cli
