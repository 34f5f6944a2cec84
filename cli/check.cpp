// SPDX-License-Identifier: BSD-3-Clause
// windrow check: reads every variable, and names those that cannot be read.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/units.hpp"
#include "cli/clean.hpp"
#include "cli/commands.hpp"
#include "cli/inputs.hpp"
#include "cli/progress.hpp"
#include "copy/contents.hpp"
#include "copy/transfer.hpp"

namespace cli {

using copying::Batch;
using copying::Contents;
using copying::contents_of;
using copying::Item;
using copying::Piece;
using copying::Slicer;
using copying::Totals;
using copying::Transfer;

namespace {

struct Findings {
  std::vector<std::string> damaged;       // "path: message"
  std::vector<std::string> lost;          // the same of objects whose description is damaged
  std::vector<std::string> not_read;      // the same, if the storage or the system refused to read
  std::vector<std::string> set;           // faults of subfiles
  std::vector<std::string> others;        // rank 0: folders of other sets beside the file, which are harmless
  std::vector<std::string> removed;       // rank 0: what was removed
  std::vector<std::string> kept;          // rank 0: what was not removed, and why
  std::vector<std::string> interrupted;   // files that a killed program, or one that still runs, left half changed
  std::vector<std::string> restored;      // those that were restored
  std::vector<std::string> not_restored;  // and why they were not
  int64_t bytes = 0;                      // bytes read
  Totals reading;
};

// That a process has too many open files, or that a disk fails, says nothing about the content of the file.
void note_unreadable(const std::string& path, const windrow::Error& error, Findings& findings) {
  std::vector<std::string>& list = error.code() == WINDROW_IO ? findings.not_read : findings.damaged;
  if (list.empty() || !list.back().starts_with(path + ": "))
    list.push_back(path + ": " + error.what());
}

// Takes the damaged objects out of those that Windrow cannot read.
void take_lost(Contents& contents, Findings& findings) {
  constexpr std::string_view k_mark = ": damaged: ";  // windrow_unsupported_objects()
  std::vector<std::string>& lines = contents.unsupported;
  const auto is_unsupported = [&](const std::string& line) { return line.find(k_mark) == std::string::npos; };
  const auto first = std::stable_partition(lines.begin(), lines.end(), is_unsupported);
  for (auto line = first; line != lines.end(); ++line)
    findings.lost.push_back(line->replace(line->find(k_mark), k_mark.size(), ": "));
  lines.erase(first, lines.end());
}

// A failed batch is read again piece by piece, to find which variables are damaged. The rest of a damaged variable is
// not read: its header may state a length that is millions of times that of the file.
void read_batch(Transfer& transfer, windrow::File& file, Slicer& slices, const std::vector<Item>& items,
                const Batch& batch, Findings& findings) {
  try {
    transfer.read(file, batch);
    findings.reading.add(file);
    findings.bytes += transfer.bytes(batch);
  } catch (const windrow::Error& error) {
    if (error.code() == WINDROW_OUT_OF_MEMORY || error.code() == WINDROW_MPI)
      throw;  // not an error of the file
    if (batch.size() > 1) {
      for (const Piece& piece : batch)
        read_batch(transfer, file, slices, items, {piece}, findings);
      return;
    }
    note_unreadable(file.variable(items[batch.front().item].variable).path, error, findings);
    slices.leave(batch.front().item);
  }
}

// Texts of variable length, which are not read in slices.
void read_wholes(windrow::File& file, const Contents& contents, Findings& findings) {
  for (const int variable : contents.wholes) {
    if (file.variable(variable).is_null != 0)
      continue;
    try {
      for (const std::string& text : file.texts(variable))
        findings.bytes += static_cast<int64_t>(text.size());
    } catch (const windrow::Error& error) {
      if (error.code() == WINDROW_OUT_OF_MEMORY || error.code() == WINDROW_MPI)
        throw;
      note_unreadable(file.variable(variable).path, error, findings);
    }
  }
}

std::vector<std::string> printable_lines_of(const char* text) {
  std::vector<std::string> lines = lines_of(text);
  std::transform(lines.begin(), lines.end(), lines.begin(), one_line);
  return lines;
}

// Faults of subfiles, whether or not a variable is read from them.
void read_set(windrow::File& file, Findings& findings) {
  const char* problems = "";
  windrow::check(windrow_check_subfiles(file.get(), &problems));
  findings.set = printable_lines_of(problems);
}

// Collective. Opening a file for update restores it from its undo log.
windrow::File restore(const World& world, const Arguments& arguments, const windrow::Options& options,
                      windrow::File file, Findings& findings) {
  std::vector<std::string> interrupted = printable_lines_of(windrow_interrupted(file.get()));
  if (interrupted.empty())
    return file;
  file.close();
  try {
    windrow::File::open(world.comm, arguments.input, windrow::Mode::update, options).close();
    findings.restored = std::move(interrupted);
  } catch (const windrow::Error& error) {
    if (error.code() == WINDROW_OUT_OF_MEMORY || error.code() == WINDROW_MPI)
      throw;
    findings.not_restored.push_back(one_line(error.what()));
  }
  return open_to_read(world, arguments.input, options, k_exit_failed);
}

void print_interrupted(const World& world, const Findings& findings) {
  for (const std::string& name : findings.restored)
    print_line(world, fmt::format("restored: \"{}\", which a killed program had left half changed", name));
  for (const std::string& why : findings.not_restored)
    print_line(world, "not restored: " + why);
  for (const std::string& name : findings.interrupted)
    print_line(world, fmt::format("half changed: \"{}\"", name));
  if (!findings.interrupted.empty())
    print_line(world,
               "A program was killed while it changed these files, or is changing them. Windrow reads their old "
               "content from the undo log at their end; other programs may refuse them. The next program that opens "
               "the file for update restores them, and so does windrow check --clean.");
}

void print_removed(const World& world, const std::vector<std::string>& removed) {
  for (const std::string& path : removed)
    print_line(world, fmt::format("removed: \"{}\"", path));
}

// Collective. Returns whether there is a file to check; otherwise the removed files are already reported.
bool clean(const World& world, const Arguments& arguments, std::vector<std::string>& removed) {
  bool is_there = true;
  require_on_rank_0(
      world,
      [&] {
        const char* paths = "";
        windrow::check(windrow_remove_leftovers(arguments.input.c_str(), &paths));
        removed = printable_lines_of(paths);
        is_there = std::filesystem::exists(arguments.input);
        return std::string();
      },
      k_exit_failed);
  if (all_agree(world.ranks(), is_there))
    return true;
  if (arguments.json)
    print_line(world, nlohmann::json{{"file", arguments.input}, {"removed", removed}}.dump(
                          2, ' ', false, nlohmann::json::error_handler_t::replace));
  else if (!arguments.quiet)
    print_removed(world, removed);
  return false;
}

int verdict(const Findings& findings, const Contents& contents) {
  if (!findings.damaged.empty() || !findings.lost.empty() || !findings.not_read.empty() || !findings.set.empty())
    return k_exit_failed;
  return contents.unsupported.empty() ? k_exit_ok : k_exit_unsupported;
}

nlohmann::json json_of(const World& world, const Arguments& arguments, const Contents& contents,
                       const Findings& findings, double seconds) {
  std::vector<std::string> damaged = findings.damaged;
  damaged.insert(damaged.end(), findings.lost.begin(), findings.lost.end());
  return {{"file", arguments.input},
          {"ranks", world.size},
          {"variables", contents.items.size() + contents.wholes.size()},
          {"attributes", contents.attributes},
          {"bytes", findings.bytes},
          {"seconds", seconds},
          {"damaged", damaged},
          {"not_read", findings.not_read},
          {"set", findings.set},
          {"other_sets", findings.others},
          {"removed", findings.removed},
          {"not_removed", findings.kept},
          {"half_changed", findings.interrupted},
          {"restored", findings.restored},
          {"not_restored", findings.not_restored},
          {"unsupported", contents.unsupported},
          {"report", findings.reading.json()}};
}

std::string summary_of(const Contents& contents, const Findings& findings, double seconds) {
  const size_t unread = findings.damaged.size() + findings.not_read.size();
  const bool is_damaged = !findings.damaged.empty() || !findings.lost.empty() || !findings.set.empty();
  const double rate = seconds > 0 ? static_cast<double>(findings.bytes) / seconds : 0;
  const std::string unsupported =
      contents.unsupported.empty()
          ? ""
          : fmt::format("; {} cannot be read yet", windrow::counted(contents.unsupported.size(), "part"));
  return fmt::format("{}: read {} and {}, {} in {} ({}/s){}",
                     is_damaged    ? "damaged"
                     : unread == 0 ? "sound"
                                   : "not read",
                     windrow::counted(contents.items.size() + contents.wholes.size() - unread, "variable"),
                     windrow::counted(contents.attributes, "attribute"), bytes_text(findings.bytes),
                     seconds_text(seconds), bytes_text(static_cast<int64_t>(rate)), unsupported);
}

void print_findings(const World& world, const Arguments& arguments, const Contents& contents, const Findings& findings,
                    double seconds) {
  if (arguments.json) {
    print_line(world, json_of(world, arguments, contents, findings, seconds)
                          .dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    return;
  }
  for (const std::string& line : findings.set)
    print_error_line(world, "subfiles: " + line);
  for (const auto* lines : {&findings.damaged, &findings.lost})
    for (const std::string& line : *lines)
      print_error_line(world, "damaged: " + line);
  for (const std::string& line : findings.not_read)
    print_error_line(world, "not read: " + line);
  for (const std::string& line : contents.unsupported)
    print_error_line(world, "cannot read yet: " + line);
  if (arguments.quiet)
    return;
  print_interrupted(world, findings);
  print_removed(world, findings.removed);
  for (const std::string& line : findings.kept)
    print_line(world, "not removed: " + one_line(line));
  for (const std::string& name : findings.others)
    print_line(world, fmt::format("other subfiles in the same folder: \"{}\", which this file does not refer to; they "
                                  "are from a killed run or from a file that was renamed",
                                  one_line(name)));
  print_line(world, summary_of(contents, findings, seconds));
}

}  // namespace

int check(const World& world, const Arguments& arguments) {
  const double start = MPI_Wtime();
  const windrow::Options options = options_from(arguments.settings);
  Findings findings;
  if (arguments.clean && !clean(world, arguments, findings.removed))
    return k_exit_ok;
  windrow::File file = open_to_read(world, arguments.input, options, k_exit_failed);
  if (arguments.clean)
    file = restore(world, arguments, options, std::move(file), findings);
  findings.interrupted = printable_lines_of(windrow_interrupted(file.get()));
  Contents contents = contents_of(file);
  take_lost(contents, findings);
  const copying::Ranks ranks = world.ranks();
  try {
    copying::leave_out_unwritten(file, contents, [](size_t) { return true; });
    Transfer transfer(ranks, contents.items, arguments.settings.buffer_bytes, 1);
    Progress progress("check", contents.bytes, shows_bar(arguments, world.rank));
    read_set(file, findings);
    read_wholes(file, contents, findings);
    Slicer slices = transfer.slicer();
    for (Batch batch = slices.next(); !batch.empty(); batch = slices.next()) {
      read_batch(transfer, file, slices, contents.items, batch, findings);
      progress.advance(transfer.bytes(batch));
    }
  } catch (const std::runtime_error&) {  // Failure or windrow::Error: on every rank
    file.discard();
    throw;
  }
  const auto look_beside = [&] {
    if (arguments.clean && verdict(findings, contents) != k_exit_failed) {
      Cleaned cleaned = clean_beside(arguments.input);
      findings.removed.insert(findings.removed.end(), cleaned.removed.begin(), cleaned.removed.end());
      findings.kept = std::move(cleaned.kept);
    }
    findings.others = other_sets_of(file, arguments.input);
    return std::string();
  };
  try {
    require_on_rank_0(world, look_beside, k_exit_failed);
  } catch (const Failure&) {
    file.discard();
    throw;
  }
  file.close();
  print_findings(world, arguments, contents, findings, MPI_Wtime() - start);
  return verdict(findings, contents);
}

}  // namespace cli
