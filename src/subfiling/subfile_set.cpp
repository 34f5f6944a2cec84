// SPDX-License-Identifier: BSD-3-Clause
// SubfileSet: creation, opening, placement and completion.
#include "subfiling/subfile_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "comm/agree.hpp"
#include "comm/sparse.hpp"
#include "storage/file_system.hpp"
#include "subfiling/map_attributes.hpp"
#include "subfiling/set_checksums.hpp"

namespace windrow {
namespace {

// A rank that cannot allocate memory for all numbers must still learn what has moved, so they are sent in parts.
constexpr size_t k_at_once = k_numbers_without_memory;

Status malformed_findings() {
  return {Code::internal, "internal error: malformed subfile message"};
}

// Calls visit(part, offset, stride) for all parts of all variables, in the same order on all ranks.
template <class Map, class Visit>
void for_each_place(Map& map, Visit&& visit) {
  for (auto& [variable, split] : map.variables())
    for (size_t part = 0; part < split.offsets.size(); ++part)
      visit(static_cast<int64_t>(part), split.offsets[part], split.strides[part]);
}

}  // namespace

void SubfileSet::create(const SetNames& names, const std::string& temporary_path, int64_t count) {
  map_ = std::make_unique<Subfiles>(names.format, names.identity, names.folder,
                                    SubfileNames{temporary_path + ".subfiles", names.ending, count});
}

SetNames SubfileSet::names() const {
  return {map_->format_name(), map_->identity(), map_->folder(), map_->names().ending};
}

Status SubfileSet::open(Catalog& catalog, const std::string& format_name, const std::string& path) {
  auto found = Subfiles::take_from(catalog, format_name, path);
  if (found.ok())
    map_ = std::move(found).value();
  return found.status();
}

void SubfileSet::hold_folder_of(const Catalog& catalog, const std::string& path) {
  const std::string folder =
      catalog.groups.empty() ? "" : map::word_of(catalog.groups.front().attributes, map::k_folder);
  if (!is_plain_name(folder))
    return;
  std::error_code unknown;
  const auto real = std::filesystem::canonical(path, unknown);
  if (!unknown)
    hold_folder((real.parent_path() / folder).string());
}

std::string SubfileSet::final_folder(const std::string& final_path) const {
  return (std::filesystem::path(final_path).parent_path() / map_->folder()).string();
}

void SubfileSet::move() noexcept {
  map_->move_to(std::move(map_folder_));
  data_->move_to(std::move(data_folder_));
  is_in_place_ = true;
  if (refuses_others()) {
    const uint64_t number = file_number(base_path_);
    map_->set_base(std::move(base_path_), number);
  }
}

Status SubfileSet::for_own(int64_t end, FunctionRef<Status(int64_t, Format&)> work) {
  for (int64_t number = 0; number < end; ++number) {
    if (!is_own(number))
      continue;
    auto opened = format(number);
    if (!opened.ok())
      return opened.status();
    if (Status status = work(number, *opened.value()); !status.ok())
      return status;
  }
  return {};
}

bool SubfileSet::fit_line(int64_t unit) {
  if (!map_->fit_line(catalog_, unit))
    return false;
  data_->set_line(map_->line());
  return true;
}

Status SubfileSet::start(Status local, DataFile& data, Format* base, SetOptions options) {
  data_ = &data;
  options_ = std::move(options);
  if (local.ok())
    local = guard([&] {
      data.set_subfiles(map_->names(), options_.subfiles.durable);
      map_->set_options(options_.subfiles);
      return Status{};
    });
  if (mode_ != FormatMode::create)
    return start_opened(std::move(local), base);
  if (local.ok() && comm_.rank() == 0)
    local = guard([&] { return map_->sign(*base, -1); });
  return agree(comm_, std::move(local));
}

Status SubfileSet::start_opened(Status local, Format* base) {
  if (Status verdict = examine(std::move(local)); !verdict.ok())
    return verdict;
  (void)fit_line(options_.line_unit);
  if (!map_->has_room(0))
    return agree(comm_, guard([] {
                   return Status{Code::bad_file, "the files of the set exceed the maximum size of a set"};
                 }));
  complete_ = true;
  if (mode_ != FormatMode::update)
    return {};
  // A set must have no fault before it is changed in place: a fault could not be distinguished from a change later.
  local = guard([&] {
    Status status;
    for (int64_t number = 0; number < map_->used() && status.ok(); ++number)
      status = map_->fault_of(number);
    return status;
  });
  return restore_interrupted(std::move(local), base);
}

// Collective, agreed. Opening a subfile for update restores it. Only then may other programs read the base file again.
Status SubfileSet::restore_interrupted(Status local, Format* base) {
  is_in_place_ = true;
  if (local.ok())
    local = guard([&] {
      if (refuses_others())
        map_->set_base(data_->path(), data_->base_number());
      for (int64_t number = 0; number < map_->used(); ++number) {
        if (!is_own(number) || !map_->is_interrupted(number))
          continue;
        const Result<Format*> restored = format(number);
        if (!restored.ok())
          return restored.status();
        if (Status status = restored.value()->refuse_others(false); !status.ok())
          return status;
      }
      return Status{};
    });
  Status verdict = agree(comm_, std::move(local));
  if (verdict.ok() && base != nullptr)
    (void)base->refuse_others(false);
  return verdict;
}

// Local.
Status SubfileSet::find_own(SubfileFindings& own) {
  for (int64_t number = 0; number < map_->used(); ++number) {
    if (!is_own(number))
      continue;
    std::map<int, Placement> places;
    const auto fault = map_->examine(number, catalog_, places);
    if (fault.status().code() == Code::out_of_memory)
      return fault.status();
    SubfileFinding& finding = own.subfiles.emplace_back();
    finding.fault = fault.ok() ? fault.value() : Subfiles::pack(Fault::failed, comm_.rank());
    if (!fault.ok())
      map_->set_fault_text(number, comm_.size() == 1
                                       ? fault.status().message()
                                       : fmt::format("{} (rank {})", fault.status().message(), comm_.rank()));
    finding.file_number = map_->file_number_of(number);
    finding.is_interrupted = map_->is_interrupted(number);
    if (Subfiles::has_text(finding.fault))
      finding.text = map_->fault_text(number);
    for (const auto& [variable, split] : map_->variables()) {
      if (!split.has_contiguous_part(number))
        continue;
      const auto place = places.find(variable);
      finding.places.push_back(place == places.end()
                                   ? SubfileFinding::Place{}
                                   : SubfileFinding::Place{place->second.offset, place->second.stride});
    }
  }
  return {};
}

// Local.
Status SubfileSet::learn(const SubfileFindings& all) {
  for (int64_t number = 0; number < map_->used(); ++number) {
    const SubfileFinding& finding = all.subfiles[static_cast<size_t>(number)];
    map_->set_file_number(number, finding.file_number);
    data_->set_number(number + 1, finding.file_number);
    map_->set_fault(number, finding.fault);
    if (finding.is_interrupted)
      map_->note_interrupted(number);
    if (Subfiles::has_text(finding.fault))
      map_->set_fault_text(number, finding.text);
    size_t places = 0;
    for (auto& [variable, split] : map_->variables()) {
      if (!split.has_contiguous_part(number))
        continue;
      if (places == finding.places.size())
        return malformed_findings();
      const auto& [offset, stride] = finding.places[places++];
      split.offsets[static_cast<size_t>(number)] = offset;
      split.strides[static_cast<size_t>(number)] = stride;
    }
    if (places != finding.places.size())
      return malformed_findings();
  }
  return {};
}

// Collective, agreed. Each rank examines its own subfiles, and all ranks get all findings.
Status SubfileSet::examine(Status local) {
  std::vector<std::byte> mine, all;
  if (local.ok())
    local = guard([&] {
      SubfileFindings own;
      Status status = find_own(own);
      mine = own.encode();
      return status;
    });
  local = gather_to_all(comm_, std::move(local), std::move(mine), all);
  if (local.ok())
    local = guard([&] {
      const auto findings = SubfileFindings::decode(all, static_cast<size_t>(map_->used()));
      return findings.ok() ? learn(findings.value()) : findings.status();
    });
  return agree(comm_, std::move(local));
}

// Collective, agreed, even if ranks cannot allocate memory. Sets the numbers to the maxima over all ranks.
Status SubfileSet::agree_on_places(Status local, std::span<int64_t> numbers) {
  Status verdict;
  while (!numbers.empty()) {
    const auto some = numbers.first(std::min(numbers.size(), k_at_once));
    numbers = numbers.subspan(some.size());
    Status status = agree(comm_, std::exchange(local, Status{}), Reduction{.maximum = some, .sum = {}, .bits = {}});
    if (status.code() == Code::mpi)
      return status;
    if (verdict.ok())
      verdict = std::move(status);
  }
  return verdict;
}

// Collective, agreed. find(): local; finds the places of own parts. If `keeps`, all ranks enter them after an error
// too.
Status SubfileSet::share_places(Status local, FunctionRef<Status()> find, bool keeps, bool& moved) {
  constexpr int64_t k_unknown = std::numeric_limits<int64_t>::min();
  std::vector<int64_t> numbers;  // whether a subfile has moved; offset and stride of each part
  Status memory = guard([&] {
    size_t length = 1;
    for_each_place(*map_, [&](int64_t, int64_t, int64_t) { length += 2; });
    numbers.assign(length, k_unknown);
    return Status{};
  });
  if (Status verdict = agree(comm_, std::move(memory)); !verdict.ok())
    return verdict;
  if (local.ok())
    local = guard(find);
  numbers[0] = map_->moved() ? 1 : 0;
  auto at = numbers.begin() + 1;
  for_each_place(*map_, [&](int64_t part, int64_t offset, int64_t stride) {
    if (is_own(part)) {
      at[0] = offset;
      at[1] = stride;
    }
    at += 2;
  });
  Status verdict = agree_on_places(std::move(local), numbers);
  if (verdict.code() == Code::mpi || (!verdict.ok() && !keeps))
    return verdict;
  at = numbers.begin() + 1;
  for_each_place(*map_, [&](int64_t, int64_t& offset, int64_t& stride) {
    if (at[0] != k_unknown) {
      offset = at[0];
      stride = at[1];
    }
    at += 2;
  });
  moved = numbers[0] == 1;
  return verdict;
}

Status SubfileSet::place(Status local, bool& moved) {
  const auto finish = [&] {
    return for_own(map_->used(), [&](int64_t number, Format& own) { return map_->finish_format(number, own); });
  };
  Status verdict = share_places(std::move(local), finish, true, moved);
  if (verdict.code() != Code::mpi)
    map_->forget_moves();
  if (moved) {
    (void)data_->close();  // open stores refer to the subfiles that had the names before
    data_->forget_subfile_numbers();
  }
  return verdict;
}

Status SubfileSet::predict_places() {
  bool moved = false;
  return share_places(
      Status{}, [&] { return map_->predict_places(); }, false, moved);
}

void SubfileSet::predict_records() noexcept {
  for (auto& [number, split] : map_->variables())
    if (split.grows)
      split.records = catalog_.variables[static_cast<size_t>(number)].shape.front();
}

void SubfileSet::restore(Subfiles::Places places) noexcept {
  map_->restore(std::move(places));
  data_->set_line(map_->line());
}

Status SubfileSet::lengthen() {
  for (int64_t number = 0; number < map_->used(); ++number)
    if (is_own(number))
      if (Status status = map_->lengthen(number); !status.ok())
        return status;
  return {};
}

Status SubfileSet::write_checksum(Format& base) {
  return complete_ ? Status{} : map_->write_checksum(base, map_->checksum(catalog_));
}

// Local. Completes own subfiles, except for steps that move data.
Status SubfileSet::complete_own(bool ends) {
  Status status;
  for (int64_t number = 0; number < map_->used(); ++number)
    if (is_own(number))
      status.update(map_->check_name(number));
  if (status.ok())
    status = lengthen();
  return status.ok() ? SetChecksums(*this).renew(ends && options_.subfiles.sums) : status;
}

// Rank 0.
Status SubfileSet::complete_base(Format* base) {
  if (complete_ || base == nullptr)
    return {};
  if (Status status = write_checksum(*base); !status.ok() || !options_.places_late)
    return status;
  // The header has had room for the checksum before, so nothing may move.
  const auto layout = base->lay_out();
  if (!layout.ok())
    return layout.status();
  if (layout.value().moves)
    return {Code::internal, "the map's checksum does not fit into the header"};
  base->take_layout();
  return {};
}

// Collective, agreed. For formats that allocate late: attributes since the last flush may have outgrown the headers of
// subfiles, which are then rewritten.
Status SubfileSet::settle(Status local, bool& moved) {
  if (local.ok())
    local = guard([&] {
      if (complete_)
        return map_->finish_formats();
      // Subfiles that are not open must get new records, too.
      return for_own(map_->used(), [&](int64_t number, Format& own) { return map_->finish_format(number, own); });
    });
  int64_t any_moved = map_->moved() ? 1 : 0;
  local = agree(comm_, std::move(local), Reduction{.maximum = std::span(&any_moved, 1), .sum = {}, .bits = {}});
  moved = any_moved == 1;
  bool ignored = false;
  if (moved && local.code() != Code::mpi)
    local = place(std::move(local), ignored);
  if (local.ok())
    local = guard([&] { return lengthen(); });
  return local;
}

Status SubfileSet::finish(Format* base, bool ends, bool& moved) {
  Status local = guard([&] { return complete_own(ends); });
  if (local.ok() && comm_.rank() == 0)
    local = guard([&] { return complete_base(base); });
  if (options_.places_late)
    local = settle(std::move(local), moved);
  if (refuses_others())
    local = refuse_others(std::move(local), base);
  if (!refuses_others() || local.ok())
    local.update(guard([&] { return ends ? map_->close_formats() : map_->flush_formats(); }));
  else if (ends)
    map_->drop_formats();
  if (options_.subfiles.durable && local.ok())
    local = guard([&] {
      Status status;
      for (int64_t number = 0; number < map_->used() && status.ok(); ++number)
        if (is_own(number))
          status = map_->sync(number);
      return status;
    });
  Status verdict = agree(comm_, std::move(local));
  has_half_changed_ = false;
  if (!verdict.ok() && refuses_others() && verdict.code() != Code::mpi)
    find_half_changed(base);
  complete_ = complete_ || verdict.ok();
  return verdict;
}

// Collective, agreed. HDF5 takes a part that it cannot read for one that was never written. So other programs must not
// open the base file while subfiles are half changed, and after a process was killed meanwhile.
Status SubfileSet::refuse_others(Status local, Format* base) {
  int64_t any_open = map_->has_open_formats() ? 1 : 0;
  local = agree(comm_, std::move(local), Reduction{.maximum = std::span(&any_open, 1), .sum = {}, .bits = {}});
  if (!local.ok() || any_open == 0)
    return local;
  return agree(comm_, base != nullptr ? guard([&] { return base->refuse_others(true); }) : Status{});
}

// Collective. After an error.
void SubfileSet::find_half_changed(Format* base) {
  int64_t half_changed = 0;
  for (int64_t number = 0; number < map_->used(); ++number) {
    if (!is_own(number))
      continue;
    const Result<bool> refused =
        guard([&] { return others_are_refused_at(map_->format_name(), map_->names().path(number)); });
    half_changed = !refused.ok() || refused.value() ? 1 : half_changed;
  }
  const Status agreed =
      agree(comm_, Status{}, Reduction{.maximum = std::span(&half_changed, 1), .sum = {}, .bits = {}});
  has_half_changed_ = !agreed.ok() || half_changed == 1;
  if (base != nullptr)
    (void)accept_others(*base);
}

Status SubfileSet::accept_others(Format& base) const {
  return refuses_others() && !has_half_changed_ ? base.refuse_others(false) : Status();
}

std::string SubfileSet::problems(Format& base) const {
  std::string lines;
  for (int64_t number = 0; number < map_->used(); ++number)
    if (Status fault = map_->fault_of(number); !fault.ok())
      lines += fault.message() + '\n';
  for (const std::string& line : map_->unexpected_files())
    lines += line + '\n';
  for (const auto& [variable, split] : map_->variables()) {
    const std::string& path = catalog_.variables[static_cast<size_t>(variable)].path;
    auto parts = base.parts_of(path);
    if (parts.status().code() == Code::unsupported)
      continue;
    if (!parts.ok()) {
      lines += parts.status().message() + '\n';
      continue;
    }
    bool same = static_cast<int64_t>(parts.value().size()) == split.split.parts();
    for (int64_t part = 0; same && part < split.split.parts(); ++part) {
      const Part& shown = parts.value()[static_cast<size_t>(part)];
      same = shown.file == map_->relative_name(part) && shown.box == split.split.box(part);
    }
    if (!same)
      lines += fmt::format("\"{}\": the base file refers other programs to other places than the map does\n", path);
  }
  return lines;
}

}  // namespace windrow
