// SPDX-License-Identifier: BSD-3-Clause
// File: the steps of its set of subfiles (subfiling/subfile_set.hpp). File adds what a step means for plans,
// publication and the base file.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "comm/agree.hpp"
#include "planning/machine.hpp"
#include "session/file.hpp"
#include "subfiling/new_set.hpp"
#include "subfiling/part_definitions.hpp"
#include "subfiling/set_checksums.hpp"

namespace windrow {
namespace {

// Room for the attributes of about twenty variables. A header that outgrows it makes the subfile's owner rewrite the
// whole subfile.
constexpr int64_t k_header_room = 16384;

}  // namespace

FormatMode File::format_mode() const noexcept {
  return mode_ == Mode::create ? FormatMode::create : mode_ == Mode::update ? FormatMode::update : FormatMode::read;
}

FormatOptions File::format_options() const {
  FormatOptions options;
  options.alignment = std::max<int64_t>(1, settings_.bytes("alignment"));
  if (const std::string version = settings_.text("netcdf_version"); version != "auto")
    options.netcdf_version = version.front() - '0';
  options.header_room = settings_.bytes("header_room");
  options.record_alignment = std::max<int64_t>(1, settings_.bytes("record_alignment"));
  options.durable = settings_.boolean("durable");
  return options;
}

SplitPolicy File::split_policy() const {
  return SplitPolicy({.path = path(),
                      .is_new = is_temporary_file(),
                      .subfiles = set_.default_count(),
                      .count_was_chosen = !set_.wanted().why.empty(),
                      .most_file_bytes = settings_.bytes("subfile_bytes"),
                      .expected_bytes = settings_.bytes("expected_bytes"),
                      .alignment = settings_.bytes("alignment")},
                     metadata_.catalog(), set_.map().get());
}

Result<int64_t> File::subfiles_of_variable(const Settings& own) const {
  return split_policy().subfiles_of_variable(own, settings_, comm_->size());
}

// Rank 0. Returns the reason why the new file cannot be a set; "" if it can.
std::string File::why_no_set() const {
  return windrow::why_no_set(*format_, opened_.format_name, format_options(), publication_.temporary().final_path);
}

// Rank 0. Chooses the number of subfiles. The message of the opening sends it to all ranks.
Status File::choose_files_on_root() {
  const FileCountInput input{.kind = file_system_at(publication_.temporary().temporary_path, settings_),
                             .can_split = format_->can_split(),
                             .ranks = comm_->size(),
                             .hosts = static_cast<int64_t>(comm_->host_roots().size()),
                             .targets = targets_of(storage_.striping.layout)};
  FileCount chosen = choose_file_count(input);
  if (!storage_.machine_text.empty()) {
    const auto known = machine_of(storage_.machine_text, settings_.text("machine"));
    if (!known.ok())
      return known.status();
    chosen = choose_file_count_by(*known.value(), input, settings_.bytes("expected_bytes"));
  }
  set_.want(limit_file_count(std::move(chosen), why_no_set()));
  return {};
}

// Rank 0. Makes the folder of a new set. start_set() completes the set on all ranks.
Status File::make_set_on_root(int64_t count) {
  if (const std::string why = why_no_set(); !why.empty())
    return {Code::unsupported, fmt::format("\"{}\": {}", path(), why)};
  const TemporaryFile& temporary = publication_.temporary();
  set_.create(new_set_names(opened_.format_name, path(), temporary.final_path), temporary.temporary_path, count);
  const std::string& folder = set_.map()->names().folder;
  if (Status status = subfile_folder_->start(temporary, folder, set_.final_folder(temporary.final_path)); !status.ok())
    return status;
  set_.hold_folder(folder);
  return {};
}

// Collective, agreed. A new single file becomes the base file of a set.
Status File::become_set(SubfileRequest request) {
  std::vector<std::byte> message;
  Status local = comm_->rank() != 0 ? Status{} : guard([&] {
    Status status = make_set_on_root(request.count);
    if (status.ok())
      status = references_.start(publication_.temporary());
    if (status.ok())
      message = set_.names().encode();
    return status;
  });
  local = share_from_root(*comm_, std::move(local), message);
  if (local.ok() && !set_.map())
    local = guard([&] {
      const auto names = SetNames::decode(message);
      if (names.ok())
        set_.create(names.value(), data_->path(), request.count);
      return names.status();
    });
  if (Status verdict = agree(*comm_, std::move(local)); !verdict.ok()) {
    if (comm_->rank() == 0 && set_.map())
      (void)set_.map()->close_formats();
    if (comm_->rank() == 0)
      subfile_folder_->abandon();
    set_.forget();
    return verdict;
  }
  if (request.of_all)
    set_.want_count(request.count);
  record_data();
  allocator_.mark_unplaced();
  Status verdict = start_set();
  flush_.forget_plans();
  fit_line();
  publication_.fail(verdict);  // after an error the base file may refer to subfiles that do not exist
  return verdict;
}

// Collective, agreed.
Status File::start_set() {
  SetOptions options;
  Status local = guard([&] {
    const bool durable = settings_.boolean("durable");
    options = {.subfiles = {format_options(), data_->options(), flush_.planner().limits().buffer_bytes, durable,
                            settings_.boolean("checksum")},
               .places_late = traits().places_late,
               .joins_parts = traits().joins_parts,
               .line_unit = line_unit()};
    options.subfiles.format.header_room = std::max(options.subfiles.format.header_room, k_header_room);
    return Status{};
  });
  return set_.start(std::move(local), *data_, format_.get(), std::move(options));
}

// Local, the same on all ranks. Plans refer to places in the address space, so they are dropped if it changes.
void File::fit_line() {
  if (!set_.fit_line(line_unit()))
    return;
  flush_.forget_plans();
}

// Local, the same on all ranks. Called after variables were defined or have grown.
void File::update_set() {
  if (!set_.map())
    return;
  set_.update_records();
  fit_line();
}

// Collective, agreed.
Status File::define_parts(std::span<const VariableDefinition> definitions, std::map<int, SplitVariable>& splits,
                          int first) {
  Status verdict = PartDefinitions(set_).define(guard([&] { return allocator_.cut_leftovers(formats()); }), definitions,
                                                splits, first);
  if (verdict.ok())
    allocator_.mark_cut();
  return verdict;
}

// Collective, agreed.
Status File::place_subfiles(Status local) {
  bool moved = false;
  Status verdict = set_.place(std::move(local), moved);
  if (moved)
    flush_.forget_plans();
  fit_line();
  return verdict;
}

// Collective, agreed.
Status File::finish_subfiles(bool ends) {
  bool moved = false;
  Status verdict = set_.finish(format_.get(), ends, moved);
  if (moved) {
    flush_.forget_plans();
    fit_line();
  }
  if (moved && !verdict.ok())
    allocator_.mark_unplaced();
  return verdict;
}

Result<std::string> File::check_subfiles() {
  const CallScope call(*comm_, Call::check_subfiles, &identity_);
  if (Status before = end_pending(); !before.ok())
    return before;
  std::vector<std::byte> bytes;
  std::vector<int64_t> found;
  if (set_.map() && mode_ != Mode::create)
    if (Status verdict = SetChecksums(set_).compare(found); !verdict.ok())
      return verdict;
  Status local;
  if (comm_->rank() == 0 && set_.map())
    local = guard([&] {
      const std::string lines = set_.problems(*format_) + SetChecksums(set_).describe(found);
      const auto text = std::as_bytes(std::span(lines));
      bytes.assign(text.begin(), text.end());
      return Status{};
    });
  local = share_from_root(*comm_, std::move(local), bytes);
  std::string lines;
  if (local.ok())
    local = guard([&] {
      lines.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      return Status{};
    });
  if (Status verdict = agree(*comm_, std::move(local)); !verdict.ok())
    return verdict;
  return lines;
}

}  // namespace windrow
