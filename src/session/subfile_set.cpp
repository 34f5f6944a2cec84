// SPDX-License-Identifier: BSD-3-Clause
// A file whose variables are split over subfiles: it is started and found, its parts are defined, and it is published
// as a whole. Each subfile's metadata is looked after by one rank.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>

#include "base/checked.hpp"
#include "base/units.hpp"
#include "base/utf8.hpp"
#include "base/varint.hpp"
#include "comm/agree.hpp"
#include "format/check.hpp"
#include "planning/machine.hpp"
#include "session/file.hpp"
#include "subfiling/file_count.hpp"
#include "subfiling/map_attributes.hpp"

namespace windrow {
namespace {

constexpr int64_t k_header_room = 16384;  // of some twenty variables' attributes: a subfile is written anew by one rank
constexpr int64_t k_unknown = std::numeric_limits<int64_t>::min();

// A set's format, identity, folder and ending, for the other ranks.
void append_names(std::vector<std::byte>& out, const std::string& format, const Subfiles& set) {
  for (const std::string& text : {format, set.identity(), set.folder(), set.names().ending}) {
    append_varint(out, text.size());
    const auto bytes = std::as_bytes(std::span(text));
    out.insert(out.end(), bytes.begin(), bytes.end());
  }
}

Result<std::array<std::string, 4>> read_names(std::span<const std::byte> told, size_t& position) {
  std::array<std::string, 4> texts;
  for (std::string& text : texts) {
    const auto length = read_varint(told, position);
    if (!length || *length > told.size() - position)
      return Status{Code::internal, "internal error: malformed subfile set broadcast"};
    text.assign(reinterpret_cast<const char*>(told.data()) + position, *length);
    position += *length;
  }
  return texts;
}

// How the file's name ends, for its subfiles to end so too.
std::string ending_of(const std::string& path, const std::string& format) {
  constexpr size_t k_longest = 16;
  const std::string ending = std::filesystem::path(path).extension().string();
  if (ending.size() >= 2 && ending.size() <= k_longest && is_plain_name(ending))
    return ending;
  return format == "hdf5" ? ".h5" : format == "netcdf" ? ".nc" : "." + format;
}

}  // namespace

FileSystem File::file_system_at(const std::string& path) const noexcept {
  const std::string told = settings_.text("file_system");
  return told == "auto" ? file_system_of(path) : file_system_called(told);
}

// Rank 0 alone: why the file that is created cannot be a set, "" where it can.
std::string File::why_no_set() const {
  if (!format_->can_split())
    return fmt::format("files of the format {} cannot be split over subfiles", format_name_);
  if (const int version = format_options().netcdf_version; format_name_ == "netcdf" && version != 0 && version < 5)
    return fmt::format(
        "netcdf_version={} allows no more than one file: a set of netCDF classic files is of version 5, whose numbers "
        "have 64 bits",
        version);
  if (const std::string name = std::filesystem::path(publication_.temporary().final_path).filename().string();
      !is_plain_name(name))
    return fmt::format("\"{}\" cannot be the beginning of the name of a folder of subfiles", readable(name));
  return "";
}

// Rank 0 alone, which tells all: how many files, where it is left to us. None that make_set_on_root() would refuse.
Status File::choose_files_on_root() {
  const FileSystem kind = file_system_at(publication_.temporary().temporary_path);
  const int64_t ranks = comm_->size(), hosts = static_cast<int64_t>(comm_->host_roots().size()),
                targets = targets_of(striping_.layout);
  FileCount chosen = choose_file_count(kind, format_->can_split(), ranks, hosts, targets);
  if (!machine_text_.empty()) {
    const auto known = machine_of(machine_text_, settings_.text("machine"));
    if (!known.ok())
      return known.status();
    chosen = choose_file_count_by(*known.value(), kind, format_->can_split(), ranks, hosts, targets,
                                  settings_.bytes("expected_bytes"));
  }
  if (chosen.files > 1)
    if (const std::string why = why_no_set(); !why.empty())
      chosen = {1, "files one: " + why};
  if (chosen.files > Subfiles::k_most)
    chosen = {Subfiles::k_most, fmt::format("files subfiles({}): the maximum of a set; {} were requested",
                                            Subfiles::k_most, chosen.files)};
  wanted_subfiles_ = chosen.files;
  files_reason_ = std::move(chosen.why);
  return {};
}

// Rank 0 alone: identity and folder of a new set; start_set() makes the rest.
Status File::make_set_on_root() {
  if (const std::string why = why_no_set(); !why.empty())
    return {Code::unsupported, fmt::format("\"{}\": {}", path_, why)};
  const TemporaryFile& temporary = publication_.temporary();
  const std::string identity = make_identity();
  const std::string folder = folder_name(std::filesystem::path(temporary.final_path).filename().string(), identity);
  const SubfileNames names{temporary.temporary_path + ".subfiles", ending_of(path_, format_name_), wanted_subfiles_};
  subfiles_ = std::make_unique<Subfiles>(format_name_, identity, folder, names);
  if (Status status = subfile_folder_->start(temporary, names.folder, final_folder(temporary.final_path)); !status.ok())
    return status;
  folder_lock_ = FolderLock::share(names.folder);
  return {};
}

// Collective, agreed. The new file, which has been one so far, becomes the base file of a set.
Status File::become_set(SubfileRequest wish) {
  const int64_t before = wanted_subfiles_;
  std::vector<std::byte> told;
  wanted_subfiles_ = wish.count;
  Status local = comm_->rank() != 0 ? Status{} : guard([&] {
    Status status = make_set_on_root();
    if (status.ok() && wants_references())
      status = references_->start(publication_.temporary());
    if (status.ok())
      append_names(told, format_name_, *subfiles_);
    return status;
  });
  local = share_from_root(*comm_, std::move(local), told);
  if (local.ok() && !subfiles_)
    local = guard([&]() -> Status {
      size_t position = 0;
      auto names = read_names(told, position);
      if (!names.ok())
        return names.status();
      const auto& [format, identity, folder, ending] = names.value();
      subfiles_ = std::make_unique<Subfiles>(format, identity, folder,
                                             SubfileNames{data_->path() + ".subfiles", ending, wish.count});
      return {};
    });
  Status verdict = agree(*comm_, std::move(local));
  if (!verdict.ok() || !wish.of_all)
    wanted_subfiles_ = before;
  if (!verdict.ok()) {
    if (comm_->rank() == 0)
      abandon_set();
    subfiles_.reset();
    return verdict;
  }
  (void)subfiles_->fit_line(catalog_, line_unit());
  planner_.cache().clear();
  layouts_.clear();
  data_->set_line(subfiles_->line());
  if (recorder_)
    data_->record(&recorder_->recording(), nullptr);
  unplaced_ = traits().places_late;
  verdict = start_set();
  publication_.fail(verdict);  // the base file may have been told of subfiles that there are not
  return verdict;
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

// Local: `work(number, format)` for each of the first `end` subfiles that this rank looks after.
Status File::for_own_subfiles(int64_t end, const std::function<Status(int64_t, Format&)>& work) {
  for (int64_t number = 0; number < end; ++number) {
    if (subfiles_->owner_of(number, comm_->size()) != comm_->rank())
      continue;
    auto format = subfiles_->format(number, mode_ == Mode::create ? FormatMode::create : FormatMode::update);
    if (!format.ok())
      return format.status();
    if (Status status = work(number, *format.value()); !status.ok())
      return status;
  }
  return {};
}

bool File::is_split(const std::string& path) const {
  const auto number = metadata_.variable_at(path);
  return subfiles_ && number && subfiles_->find(*number) != nullptr;
}

// Local: what a split variable of this path has in the subfiles that this rank looks after.
Status File::for_own_parts(const std::string& path, const std::function<Status(Format&)>& work) {
  const SplitVariable& split = *subfiles_->find(*metadata_.variable_at(path));
  for (int64_t number = 0; number < split.split.parts(); ++number) {
    if (subfiles_->owner_of(number, comm_->size()) != comm_->rank())
      continue;
    auto format = subfiles_->format(number, mode_ == Mode::create ? FormatMode::create : FormatMode::update);
    if (!format.ok())
      return format.status();
    if (Status status = work(*format.value()); !status.ok())
      return status;
  }
  return {};
}

// Collective. Makes a new set's subfiles, or looks at those that there are.
Status File::start_set() {
  Status named = guard([&] {
    const bool durable = settings_.boolean("durable");
    data_->set_subfiles(subfiles_->names(), durable);
    SubfileOptions options{format_options(), data_->options(), planner_.limits().buffer_bytes, durable,
                           settings_.boolean("checksum")};
    options.format.header_room = std::max(options.format.header_room, k_header_room);
    subfiles_->set_options(std::move(options));
    return Status{};
  });
  if (mode_ == Mode::create) {
    if (named.ok() && comm_->rank() == 0)
      named = guard([&] { return subfiles_->sign(*format_, -1); });
    return agree(*comm_, std::move(named));
  }
  if (Status verdict = examine_subfiles(std::move(named)); !verdict.ok())
    return verdict;
  fit_line();
  if (!subfiles_->has_room(0))
    return agree(*comm_, guard([] {
      return Status{Code::bad_file, "the files of the set exceed the maximum size of a set"};
    }));
  // What is changed in place must be whole: parts that are at fault could not be told from those that were meant.
  sealed_ = true;
  if (mode_ != Mode::update)
    return {};
  Status local = guard([&] {
    Status status;
    for (int64_t number = 0; number < subfiles_->used() && status.ok(); ++number)
      status = subfiles_->fault_of(number);
    return status;
  });
  return agree(*comm_, std::move(local));
}

// Of each part of each split variable the offset and the stride; what is not known stays as it was.
void File::learn_places(std::span<const int64_t> found) noexcept {
  size_t at = 0;
  for (auto& [variable, split] : subfiles_->variables())
    for (size_t part = 0; part < split.offsets.size(); ++part, at += 2) {
      if (found[at] == k_unknown)
        continue;
      split.offsets[part] = found[at];
      split.strides[part] = found[at + 1];
    }
}

// Local, and the same on every rank: plans that were made for another line are for other places.
void File::fit_line() {
  if (!subfiles_->fit_line(catalog_, line_unit()))
    return;
  planner_.cache().clear();
  layouts_.clear();
  data_->set_line(subfiles_->line());
}

// Local: a subfile that this rank looks after is as long as its variables say, also where nobody has written.
Status File::lengthen_subfiles() {
  for (int64_t number = 0; number < subfiles_->used(); ++number) {
    if (subfiles_->owner_of(number, comm_->size()) != comm_->rank())
      continue;
    int64_t end = 0;
    for (const auto& [variable, split] : subfiles_->variables()) {
      if (number >= split.split.parts() || split.offsets[static_cast<size_t>(number)] < 0 || !split.chunk.empty())
        continue;
      const auto length = split.length(number, split.records);
      if (length && *length > 0)
        end = std::max(end, split.offsets[static_cast<size_t>(number)] + *length);
    }
    std::error_code unknown;
    const std::string path = subfiles_->names().path(number);
    const auto bytes = std::filesystem::file_size(path, unknown);
    if (end == 0 || unknown || bytes >= static_cast<uintmax_t>(end))
      continue;
    auto store = open_store(path, StoreMode::update, StoreOptions{});
    if (!store.ok())
      return store.status();
    Status status = store.value()->resize(end);
    status.update(store.value()->close());
    if (!status.ok())
      return status;
  }
  return {};
}

namespace {

// The checksum had its room before: nothing moves by it.
Status lay_out_sealed(Format& base) {
  const auto layout = base.lay_out();
  if (layout.ok() && layout.value().moves)
    return {Code::internal, "the map's checksum does not fit into the header"};
  return layout.status();
}

}  // namespace

// Rank 0 alone, before the base file is flushed or written anew.
Status File::seal_on_root() {
  if (sealed_ || !subfiles_ || !format_)
    return {};
  return subfiles_->seal(*format_, subfiles_->checksum(catalog_));
}

// Collective. What this rank looks after goes to the system, and after it the base file may; `ends`: it is closed.
Status File::finish_subfiles(bool ends) {
  const bool durable = settings_.boolean("durable");
  Status local = guard([&] {
    Status status;
    for (int64_t number = 0; number < subfiles_->used(); ++number)
      if (subfiles_->owner_of(number, comm_->size()) == comm_->rank())
        status.update(subfiles_->check_name(number));
    if (status.ok())
      status = lengthen_subfiles();
    if (status.ok())
      status = renew_sums(ends);
    return status;
  });
  if (local.ok())
    local = guard([&] {
      if (comm_->rank() != 0 || sealed_)
        return Status{};
      Status status = seal_on_root();
      if (status.ok() && format_ && traits().places_late)
        status = lay_out_sealed(*format_);
      return status;
    });
  if (traits().places_late) {  // what has been said of subfiles since the last flush may have outgrown its room
    if (local.ok())
      local = guard([&] {
        if (sealed_)
          return subfiles_->finish_formats();
        // New records are to be known to those as well that are not open.
        return for_own_subfiles(subfiles_->used(), [&](int64_t number, Format& format) {
          return subfiles_->finish_format(number, format);
        });
      });
    int64_t moved = subfiles_->moved() ? 1 : 0;
    local = agree(*comm_, std::move(local), Reduction{.maximum = std::span(&moved, 1), .sum = {}, .bits = {}});
    if (moved == 1 && local.code() != Code::mpi)
      local = place_subfiles(std::move(local));
    unplaced_ = unplaced_ || (moved == 1 && !local.ok());
    if (local.ok())
      local = guard([&] { return lengthen_subfiles(); });
  }
  local.update(ends ? subfiles_->close_formats() : subfiles_->flush_formats());
  if (durable && local.ok())
    local = guard([&]() -> Status {
      for (int64_t number = 0; number < subfiles_->used(); ++number) {
        if (subfiles_->owner_of(number, comm_->size()) != comm_->rank())
          continue;
        std::vector<std::string> all = format_sidecars(format_name_, subfiles_->names().path(number));
        all.push_back(subfiles_->names().path(number));
        for (const std::string& each : all) {
          auto store = open_store(each, StoreMode::update, StoreOptions{});
          if (!store.ok())
            return store.status();
          Status status = store.value()->sync();
          status.update(store.value()->close());
          if (!status.ok())
            return status;
        }
      }
      return {};
    });
  Status verdict = agree(*comm_, std::move(local));
  sealed_ = sealed_ || verdict.ok();
  return verdict;
}

// Where the folder will be, beside the file.
std::string File::final_folder(const std::string& final_path) const {
  return (std::filesystem::path(final_path).parent_path() / subfiles_->folder()).string();
}

// Rank 0 alone: the folder of the set that was opened stays while it is open.
void File::hold_folder_on_root(const Catalog& catalog) {
  const std::string folder =
      catalog.groups.empty() ? "" : map::word_of(catalog.groups.front().attributes, map::k_folder);
  if (!is_plain_name(folder))
    return;
  std::error_code unknown;
  const auto real = std::filesystem::canonical(path_, unknown);
  if (unknown)
    return;
  folder_lock_ = FolderLock::share((real.parent_path() / folder).string());
}

// Rank 0 alone, of a file that is not published.
void File::abandon_set() {
  if (subfiles_)
    (void)subfiles_->close_formats();
  subfile_folder_->abandon();
}

// Rank 0 alone. What opening has found, what other files the folder has, and whether other programs are led where the
// map leads.
std::string File::check_set_on_root() const {
  std::string lines;
  for (int64_t number = 0; number < subfiles_->used(); ++number)
    if (Status fault = subfiles_->fault_of(number); !fault.ok())
      lines += fault.message() + '\n';
  for (const std::string& line : subfiles_->strangers())
    lines += line + '\n';
  for (const auto& [variable, split] : subfiles_->variables()) {
    const std::string& path = catalog_.variables[static_cast<size_t>(variable)].path;
    auto parts = format_->parts_of(path);
    if (parts.status().code() == Code::unsupported)
      continue;
    if (!parts.ok()) {
      lines += parts.status().message() + '\n';
      continue;
    }
    bool same = static_cast<int64_t>(parts.value().size()) == split.split.parts();
    for (int64_t part = 0; same && part < split.split.parts(); ++part) {
      const Part& shown = parts.value()[static_cast<size_t>(part)];
      same = shown.file == subfiles_->relative_name(part) && shown.box == split.split.box(part);
    }
    if (!same)
      lines += fmt::format("\"{}\": the base file refers other programs to other places than the map does\n", path);
  }
  return lines;
}

Result<std::string> File::check_subfiles() {
  const CallScope call(*comm_, Call::check_subfiles, &identity_);
  if (Status before = end_pending(); !before.ok())
    return before;
  std::vector<std::byte> bytes;
  std::vector<int64_t> sums;
  if (subfiles_ && mode_ != Mode::create)
    if (Status verdict = compare_sums(sums); !verdict.ok())
      return verdict;
  Status local;
  if (comm_->rank() == 0 && subfiles_)
    local = guard([&] {
      const std::string lines = check_set_on_root() + lines_of_sums(sums);
      const auto* text = reinterpret_cast<const std::byte*>(lines.data());
      bytes.assign(text, text + lines.size());
      return Status{};
    });
  local = share_from_root(*comm_, std::move(local), bytes);
  std::string text;
  if (local.ok())
    local = guard([&] {
      text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      return Status{};
    });
  if (Status verdict = agree(*comm_, std::move(local)); !verdict.ok())
    return verdict;
  return text;
}

}  // namespace windrow
