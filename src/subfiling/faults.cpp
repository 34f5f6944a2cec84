// SPDX-License-Identifier: BSD-3-Clause
// Subfiles: examination of subfiles, and their faults.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/utf8.hpp"
#include "storage/file_system.hpp"
#include "storage/system_error.hpp"
#include "subfiling/map_attributes.hpp"
#include "subfiling/subfiles.hpp"

namespace windrow {

using namespace map;

namespace {

// Differences between a subfile's variable and the map.
enum class Difference : int64_t {
  missing,
  type,
  byte_order,
  shape,
  chunks,
  place
};
constexpr int64_t k_differences = 8;  // an upper bound, packed together with the variable's number in one fault

const char* name_of(Difference difference) noexcept {
  switch (difference) {
    case Difference::missing:
      return "is missing";
    case Difference::type:
      return "has another type";
    case Difference::byte_order:
      return "has another byte order";
    case Difference::shape:
      return "has another shape";
    case Difference::chunks:
      return "has other chunks or filters";
    case Difference::place:
      return "has an invalid place or none";
  }
  return "differs";
}

Fault fault_by(const Status& status) noexcept {
  return status.code() == Code::not_found       ? Fault::missing
         : status.code() == Code::no_permission ? Fault::unreadable
         : status.code() == Code::bad_state     ? Fault::locked
                                                : Fault::damaged;
}

// Shape of a part in its subfile, which may have more records than the set (a killed job).
std::vector<int64_t> shape_with_records(const SplitVariable& split, int64_t part, const Variable& own) {
  std::vector<int64_t> shape = split.split.box(part).count;
  if (split.grows && own.extendible && own.shape.size() == shape.size())
    shape[0] = std::max(own.shape[0], split.records);
  return shape;
}

// Returns the first difference between a part and the map. `longest`: the maximum length of a file.
std::optional<Difference> difference_of(const Variable& own, const Variable& whole, const SplitVariable& split,
                                        int64_t part, int64_t longest) {
  if (!own.unsupported.empty() || own.type != whole.type || element_bytes(own.type, own.details) != split.element_bytes)
    return Difference::type;
  if (own.placement.big_endian != whole.placement.big_endian)
    return Difference::byte_order;
  if (own.extendible != split.grows || own.shape != shape_with_records(split, part, own))
    return Difference::shape;
  if (own.is_chunked() != split.is_chunked())
    return Difference::chunks;
  if ((!own.placement.is_known() && !split.is_chunked()) || own.placement.offset >= longest)
    return Difference::place;
  return std::nullopt;
}

int64_t packed(int variable, Difference difference) noexcept {
  return Subfiles::pack(Fault::different, variable * k_differences + static_cast<int64_t>(difference));
}

}  // namespace

Status Subfiles::fault_of(int64_t number) const {
  const int64_t packed = faults_[static_cast<size_t>(number)], found = packed >> 8;
  const std::string what = fmt::format("subfile \"{}\"", relative_name(number));
  switch (static_cast<Fault>(packed & 0xff)) {
    case Fault::none:
      return {};
    case Fault::missing:
      return {Code::not_found, what + " is missing"};
    case Fault::not_a_file:
      return {Code::bad_file, what + " is a link, a folder or a device, not a file in the set's own folder"};
    case Fault::elsewhere:
      return {Code::bad_file,
              fmt::format("{}: \"{}\" is a link or a file, not the set's own folder", what, readable(folder_))};
    case Fault::unreadable:
      return {Code::no_permission, what + " cannot be read: no permission"};
    case Fault::locked:
      return {Code::bad_state, what + " is open in another program and locked by it"};
    case Fault::damaged:
      return {Code::bad_file, fmt::format("{} is damaged: truncated, or not a file of the format {}", what, format_)};
    case Fault::foreign:
      return {Code::bad_file, what + " belongs to another set of files"};
    case Fault::swapped:
      return {Code::bad_file,
              fmt::format("{} is number {} of its set, under the name of number {}", what, found, number)};
    case Fault::different: {
      const auto variable = variables_.find(static_cast<int>(found / k_differences));
      return {Code::bad_file, fmt::format("{} does not match the map: \"{}\" {}", what,
                                          variable == variables_.end() ? "?" : variable->second.path,
                                          name_of(static_cast<Difference>(found % k_differences)))};
    }
    case Fault::failed:
      return {Code::io, fmt::format("{} could not be read: {}", what, fault_text(number)), static_cast<int>(found)};
    case Fault::contradicting:
      return {Code::bad_file, fmt::format("{} does not match the map: {}", what, fault_text(number))};
  }
  return {Code::internal, what};
}

// Found without opening anything: opening a pipe would block.
Fault Subfiles::fault_by_name(int64_t number) const {
  if (!has_own_folder())
    return Fault::elsewhere;
  const std::string path = names_.path(number);
  std::vector<std::string> all = format_sidecars(format_, path);
  all.push_back(path);
  std::error_code unknown;
  for (const std::string& each : all) {
    const auto kind = std::filesystem::symlink_status(each, unknown).type();
    if (kind != std::filesystem::file_type::regular && kind != std::filesystem::file_type::not_found &&
        kind != std::filesystem::file_type::none)
      return Fault::not_a_file;
  }
  return Fault::none;
}

int64_t Subfiles::note_contradiction(int64_t number, std::string text) {
  set_fault_text(number, std::move(text));
  return pack(Fault::contradicting);
}

// `root`: attributes of the subfile.
int64_t Subfiles::examine_root(int64_t number, const std::vector<Attribute>& root) {
  if (word_of(root, k_set) != identity_)
    return pack(Fault::foreign);
  const auto found_number = number_of(root, k_number);
  if (found_number != number)
    return pack(Fault::swapped, std::clamp<int64_t>(found_number.value_or(-1), -1, k_most));
  if (const auto found_count = number_of(root, k_count); found_count != count())
    return note_contradiction(number,
                              fmt::format("attribute \"{}\" is {} and not {}", k_count,
                                          found_count ? std::to_string(*found_count) : "not an integer", count()));
  return pack(Fault::none);
}

// `places`: gets the place of the part if it is contiguous.
int64_t Subfiles::examine_part(const ExaminedSubfile& subfile, int variable, const SplitVariable& split,
                               std::map<int, Placement>& places) {
  const int64_t number = subfile.number;
  const Variable& whole = subfile.base.variables[static_cast<size_t>(variable)];
  const auto& variables = subfile.found.variables;
  const auto own =
      std::find_if(variables.begin(), variables.end(), [&](const Variable& each) { return each.path == whole.path; });
  if (own == variables.end())
    return packed(variable, Difference::missing);
  if (const auto difference = difference_of(*own, whole, split, number, longest_file()))
    return packed(variable, *difference);
  if (std::string text = contradiction_in(*own, split, number); !text.empty())
    return note_contradiction(number, std::move(text));
  if (find_in(own->attributes, k_element_sum) != nullptr)
    summed_.insert(number);
  const bool is_longer = split.grows && own->shape[0] > split.records;
  if (is_longer)
    longer_.insert(number);
  if (split.is_chunked()) {
    const auto chunking = split.chunking(number);
    if (!chunking.ok() || chunking.value() != own->chunking)
      return packed(variable, Difference::chunks);
    if (is_longer)
      leftovers_[{variable, number}] = own->shape[0];
    return pack(Fault::none);
  }
  SplitVariable part = split;
  part.strides[static_cast<size_t>(number)] = own->placement.stride;
  const auto length = part.length(number, split.records);
  if (!length || *length >= longest_file() - own->placement.offset)
    return packed(variable, Difference::place);
  if (*length > 0 && subfile.bytes < static_cast<uintmax_t>(own->placement.offset + *length))
    return pack(Fault::damaged);
  places[variable] = own->placement;
  return pack(Fault::none);
}

Result<int64_t> Subfiles::examine(int64_t number, const Catalog& base, std::map<int, Placement>& places) {
  ++opens_;
  if (const Fault fault = fault_by_name(number); fault != Fault::none)
    return pack(fault);
  const std::string path = names_.path(number);
  auto opened = open_format(format_, path, FormatMode::read, {});
  if (opened.ok())
    set_file_number(number, file_number(path));
  if (opened.ok() && opened.value()->is_interrupted())
    interrupted_.insert(number);
  auto found = opened.ok() ? opened.value()->catalog() : Result<Catalog>(opened.status());
  if (opened.ok())
    (void)opened.value()->close();
  if (found.status().code() == Code::out_of_memory || found.status().code() == Code::io)
    return found.status();
  if (!found.ok())
    return pack(fault_by(found.status()));
  std::error_code unknown;
  const auto bytes = std::filesystem::file_size(path, unknown);
  if (unknown)
    return system_status("size of", path, unknown.value());
  if (const int64_t fault = examine_root(number, found.value().groups.front().attributes); fault != pack(Fault::none))
    return fault;
  const ExaminedSubfile subfile{number, base, found.value(), bytes};
  for (const auto& [variable, split] : variables_) {
    if (!split.has_part(number))
      continue;
    if (const int64_t fault = examine_part(subfile, variable, split, places); fault != pack(Fault::none))
      return fault;
  }
  note_unknown(number, found.value(), base);
  return pack(Fault::none);
}

void Subfiles::note_unknown(int64_t number_in_set, const Catalog& subfile, const Catalog& base) {
  std::set<std::string_view> known;
  for (const Group& group : base.groups)
    known.insert(group.path);
  for (const auto& [variable, split] : variables_)
    if (split.has_part(number_in_set))
      known.insert(split.path);
  std::vector<std::string> unknown;
  for (const Group& group : subfile.groups)
    if (!known.contains(group.path))
      unknown.push_back(group.path);
  for (const Variable& variable : subfile.variables)
    if (!known.contains(variable.path))
      unknown.push_back(variable.path);
  if (!unknown.empty())
    unknown_[number_in_set] = std::move(unknown);
}

}  // namespace windrow
