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

constexpr int64_t k_smallest_buffer = 4096;             // below it the overhead is larger than the data
constexpr int64_t k_largest_buffer = int64_t{1} << 40;  // keeps buffer x ranks within 64 bits

const char* const k_footer =
    "Run it alone, or with several ranks:  mpirun -n 4 windrow copy in.h5 out.h5\nLibrary options can also be set in "
    "the environment: WINDROW_STRATEGY=scorpio; docs/settings.md lists them.\n\nExit codes: 0 done; 1 the work failed "
    "(storage, memory, a damaged file); 2 usage error, nothing was written;\n3 the file has parts that cannot be read "
    "or copied yet, nothing was written.\nmpirun adds lines of its own when a program exits with another code than 0; "
    "Open MPI's `mpirun --quiet` does not.";

// "16M" is 16 MiB, as in the library's own options. CLI11 would read it as 16 MB.
std::string letter_is_binary(std::string& size) {
  if (!size.empty() && std::string_view("kmgtpKMGTP").find(size.back()) != std::string_view::npos)
    size += "iB";
  return "";
}

// An empty name is an error, often an unset shell variable, and not the same as no name.
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
          "Data that each rank holds at a time, such as 64MiB; the library adds up to twice as much, at most 32 MiB")
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
          "Progress bar: auto (if standard error is a terminal), always, never")
      ->type_name("WHEN")
      ->default_str("auto");
  command.add_flag("--json", arguments.json, "Print one JSON object instead of text");
  command.add_flag("--quiet,-q", arguments.quiet, "Print errors only");
}

void add_copy(CLI::App& app, Arguments& arguments) {
  CLI::App& copy = *app.add_subcommand(
      "copy", "Copy every variable, group and attribute of a file, in parallel and in bounded memory");
  copy.add_option("IN", arguments.input, "File to read: HDF5, netCDF classic or raw")->type_name("")->required();
  copy.add_option("OUT", arguments.output, "File to write; an existing file is replaced when the copy is complete")
      ->type_name("")
      ->required();
  copy.add_option("--format", arguments.format, "Format of OUT: hdf5, netcdf or raw; default: by OUT's name")
      ->check(not_empty())
      ->type_name("NAME");
  copy.add_flag("--explain", arguments.explain, "Print the plans for reading and writing, and their reasons");
  add_settings(copy, arguments);
  add_output(copy, arguments);
  copy.footer(
      "Chunks, filters, fill values, links and extendible dimensions are copied too. What cannot be copied (compound\n"
      "types, variable-length data other than text, external links, ...) is listed on standard error, one line each,\n"
      "with exit code 3; then OUT is not written.");
  copy.callback([&arguments] { arguments.command = Command::copy; });
}

void add_info(CLI::App& app, Arguments& arguments) {
  CLI::App& info = *app.add_subcommand(
      "info", "List the contents of a file: groups, variables, attributes, and what cannot be read yet");
  auto* file = info.add_option("FILE", arguments.input, "File to list")->type_name("");
  auto* features =
      info.add_flag("--features", arguments.features, "List the built-in features of this library; no FILE is needed");
  info.add_flag("--json", arguments.json, "Print one JSON object instead of text");
  info.footer("Temporary files of interrupted runs in the folder of FILE (.NAME.windrow-*) are listed too.");
  info.callback([&arguments, file, features] {
    if (file->count() == 0 && features->count() == 0)
      throw CLI::RequiredError("FILE");
    arguments.command = Command::info;
  });
}

void add_check(CLI::App& app, Arguments& arguments) {
  CLI::App& check =
      *app.add_subcommand("check", "Read a whole file, in parallel and in bounded memory, and report errors");
  check.add_option("FILE", arguments.input, "File to check")->type_name("")->required();
  add_settings(check, arguments);
  add_output(check, arguments);
  check.add_flag("--clean", arguments.clean,
                 "Remove what killed jobs and replaced sets left in the folder of FILE; FILE need not exist");
  check.footer("Exit code 0: the whole file was read; 1: damaged; 3: parts cannot be read yet, the rest is sound.");
  check.callback([&arguments] { arguments.command = Command::check; });
}

void add_references(CLI::App& app, Arguments& arguments) {
  CLI::App& references = *app.add_subcommand(
      "references", "Write a kerchunk reference file, with which xarray and zarr open FILE and its subfiles as one");
  references.add_option("FILE", arguments.input, "File to refer to: HDF5, netCDF classic or raw")
      ->type_name("")
      ->required();
  references.add_option("--output", arguments.output, "File to write; default: FILE.kerchunk.json")
      ->check(not_empty())
      ->type_name("TEXT");
  references
      .add_option("--prefix", arguments.prefix,
                  "Prefix of the file names in the output, such as /data/run/ or s3://bucket/run/")
      ->type_name("PREFIX");
  references.add_flag("--quiet,-q", arguments.quiet, "Print errors only");
  references.footer(
      "Without a prefix, names are relative to FILE's folder, where readers must be started. What Zarr cannot express\n"
      "is listed on standard error, one line each, with exit code 3; the rest is in the output.");
  references.callback([&arguments] { arguments.command = Command::references; });
}

void add_mpiio_env(CLI::App& app, Arguments& arguments) {
  CLI::App& command =
      *app.add_subcommand("mpiio-env", "Print what to set so that programs of MPI-IO go through Windrow, unchanged");
  command.footer("Use it in a shell:  eval \"$(windrow mpiio-env)\"");
  command.callback([&arguments] { arguments.command = Command::mpiio_env; });
}

void add_report(CLI::App& app, Arguments& arguments) {
  CLI::App& report = *app.add_subcommand("report", "Summarise each flush of a traced program, and draw it");
  report.add_option("TRACE", arguments.input, "Trace of a program that ran with WINDROW_TRACE=TRACE")
      ->type_name("")
      ->required();
  report
      .add_option(
          "--html", arguments.output,
          "HTML page to write, with pictures of the ranks' timelines, of bytes by rank and target, and of requests")
      ->check(not_empty())
      ->type_name("PAGE");
  report.add_flag("--quiet,-q", arguments.quiet, "Print errors only");
  report.footer(
      "A killed program may leave a truncated trace. All complete lines of it are reported, with exit code 1.");
  report.callback([&arguments] { arguments.command = Command::report; });
}

void add_pattern(CLI::App& simulate, SimulateArguments& asked) {
  simulate.add_option("--ranks", asked.ranks, "Number of ranks")
      ->check(CLI::Range(int64_t{1}, int64_t{INT32_MAX}).description(""))
      ->type_name("N");
  simulate
      .add_option(
          "--pattern", asked.pattern,
          "Data of each rank: rows, grid, cyclic (blocks of elements in turn), same (all ranks read everything)")
      ->check(CLI::IsMember({"rows", "grid", "cyclic", "same"}).description(""))
      ->type_name("NAME");
  simulate.add_option("--shape", asked.shape, "Shape of each variable, such as 1920x1920x480")
      ->check(not_empty())
      ->type_name("SHAPE");
  simulate
      .add_option("--grid", asked.grid,
                  "Ranks along each dimension, for the pattern grid; default: as even as possible")
      ->check(not_empty())
      ->type_name("RANKS");
  simulate.add_option("--block", asked.block, "Elements of a block, for the pattern cyclic")->type_name("N");
  simulate.add_option("--element-bytes", asked.element_bytes, "Bytes per element; default: 8")->type_name("N");
  simulate.add_option("--variables", asked.variables, "Number of variables; default: 1")->type_name("N");
  simulate.add_flag("--read", asked.reads, "Read instead of write");
}

void add_other_libraries(CLI::App& simulate, SimulateArguments& asked) {
  simulate.add_flag("--all-open", asked.all_open, "As in other libraries: every rank opens the file");
  simulate.add_flag("--in-step", asked.in_step,
                    "As in other libraries: all ranks wait for each other after every round");
  simulate.add_flag("--at-once", asked.at_once,
                    "As in other libraries: all data is exchanged first, in unbounded memory");
  simulate.add_option("--splits", asked.splits, "As in other libraries: communicators that are split first")
      ->type_name("N");
  simulate.add_option("--list-pieces", asked.list_pieces, "As in other libraries: pieces per request of access=list")
      ->type_name("N");
}

void add_simulate(CLI::App& app, Arguments& arguments) {
  SimulateArguments& asked = arguments.simulated;
  CLI::App& simulate = *app.add_subcommand(
      "simulate", "Plan for any number of ranks, and predict the cost on a modelled machine; nothing is measured");
  simulate
      .add_option(
          "TRACE", arguments.input,
          "Instead of a pattern: a trace, to simulate one of its flushes, or a decomposition map of PIO or SCORPIO")
      ->type_name("");
  simulate.add_option("--machine", asked.machine, "A machine file, or a built-in machine: " + windrow::machine_names())
      ->check(not_empty())
      ->type_name("FILE");
  add_pattern(simulate, asked);
  simulate.add_option("--flush", asked.flush, "Flush of TRACE, the first is 1; default: the last that moved data")
      ->check(CLI::Range(int64_t{1}, INT64_MAX).description(""))
      ->type_name("N");
  simulate.add_option("--strategy", arguments.settings.strategy, "Preset, as for copy")
      ->check(not_empty())
      ->type_name("NAME");
  simulate.add_option("--set", arguments.settings.pairs, "An option of the library, key=value; may be repeated")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all();
  simulate.add_flag("--by-rule", asked.by_rule, "auto uses its fixed rule, as without a machine file");
  add_other_libraries(simulate, asked);
  simulate
      .add_option("--shrinks-to", asked.shrinks_to,
                  "Compressed size of a byte of a message between hosts; default: 0.5")
      ->type_name("X");
  simulate.add_option("--times", asked.times, "Number of repetitions, each opening the file")->type_name("N");
  simulate
      .add_option("--html", arguments.output,
                  "HTML page to write, with pictures of seconds by stage and of bytes by rank and target")
      ->check(not_empty())
      ->type_name("PAGE");
  simulate.add_flag("--json", arguments.json, "Print one JSON object instead of text");
  simulate.add_flag("--explain", arguments.explain, "Print the plan and its reasons");
  simulate
      .add_option("--print-machine", asked.shown, "Print a built-in machine file as a template; nothing is simulated")
      ->type_name("NAME");
  simulate.footer(
      "Messages, requests and bytes come from the library's own planner. Seconds come from a model:\n"
      "docs/simulation.md lists which numbers of the built-in machines are from papers and which were fitted.\n"
      "The environment is ignored.");
  simulate.callback([&arguments] { arguments.command = Command::simulate; });
}

void add_calibrate(CLI::App& app, Arguments& arguments) {
  CLI::App& calibrate = *app.add_subcommand(
      "calibrate", "Measure this machine and the storage of a folder into a machine file, in less than a minute");
  calibrate.add_option("DIR", arguments.input, "A folder on the storage of the files; nothing is left in it")
      ->type_name("")
      ->required();
  calibrate.add_option("--out", arguments.output, "The machine file to write, replaced when everything is measured")
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
      "Use as many ranks and hosts as the programs that will use the file:\nmpirun -n 16 windrow calibrate "
      "/scratch/run --out machine.json;  WINDROW_MACHINE=machine.json mpirun -n 16 ./simulation");
  calibrate.callback([&arguments] {
    if (arguments.output.empty())
      arguments.output = "windrow-machine.json";
    arguments.command = Command::calibrate;
  });
}

void add_advise(CLI::App& app, Arguments& arguments) {
  CLI::App& advise = *app.add_subcommand(
      "advise", "Print what auto would choose for the flushes of a trace, with predicted and measured seconds");
  advise.add_option("TRACE", arguments.input, "Trace of a program that ran with WINDROW_TRACE=TRACE")
      ->type_name("")
      ->required();
  advise.add_option("--machine", arguments.machine, "A machine file; default: typical numbers of such a storage")
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

// `windrow help` and `windrow help copy` are equivalent to `windrow --help` and `windrow copy --help`.
std::vector<std::string> words_of(int argc, const char* const* argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  return {words.rbegin(), words.rend()};  // CLI11 takes the arguments in reverse order
}

}  // namespace

Parsed parse(int argc, const char* const* argv) {
  Parsed parsed;
  CLI::App app("windrow: list, check and copy files of parallel programs", "windrow");
  app.set_version_flag("--version", std::string("windrow ") + windrow_version(), "Print the version");
  app.set_help_flag("--help,-h", "Print this help; `windrow help copy` for one command");
  app.require_subcommand(1);
  app.footer(k_footer);
  add_copy(app, parsed.arguments);
  add_info(app, parsed.arguments);
  add_check(app, parsed.arguments);
  add_references(app, parsed.arguments);
  add_mpiio_env(app, parsed.arguments);
  add_report(app, parsed.arguments);
  add_simulate(app, parsed.arguments);
  add_calibrate(app, parsed.arguments);
  add_advise(app, parsed.arguments);
  std::vector<std::string> words = words_of(argc, argv);
  if (!words.empty() && !words.back().starts_with('-') && !is_command(app, words.back()))
    throw Failure(k_exit_mistake, "unknown command \"" + words.back() +
                                      "\"; the commands are copy, info, check, references, mpiio-env, report, "
                                      "simulate, calibrate and advise (see: windrow --help)");
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
