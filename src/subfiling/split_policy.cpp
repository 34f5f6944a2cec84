// SPDX-License-Identifier: BSD-3-Clause
#include "subfiling/split_policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "base/units.hpp"
#include "subfiling/file_count.hpp"

namespace windrow {
namespace {

// Bytes of a part. A shorter part is not worth the attributes that describe it.
constexpr int64_t k_least_automatic_part = 64;
// Metadata of a file, and of each variable in it, as subfile_bytes counts them.
constexpr int64_t k_file_metadata = int64_t{32} << 10;
constexpr int64_t k_variable_metadata = int64_t{4} << 10;

bool cannot_be_split(const VariableDefinition& definition) {
  return definition.null_space || is_moved_whole(definition.type, definition.details) || definition.shape.empty();
}

bool asks_for_one_file(const VariableDefinition& definition) {
  return definition.subfiles == 1 || (definition.split.axes == "none" && definition.split.parts == "auto");
}

// The shape that is split: of one record if the variable is extendible. Each record is split in the same way, and the
// extendible dimension never is.
std::vector<int64_t> shape_to_split(const VariableDefinition& definition) {
  std::vector<int64_t> shape = definition.shape;
  if (definition.extendible)
    shape[0] = 1;
  return shape;
}

int64_t bytes_of(const VariableDefinition& definition) {
  return checked_product(shape_to_split(definition)).value_or(0) *
         std::max<int64_t>(1, element_bytes(definition.type, definition.details));
}

// Options by which other libraries enable subfiles, and give their number.
struct Hint {
  const char* enabled;
  const char* number;
};
constexpr std::array k_hints{Hint{"pnetcdf_subfiling", "nc_num_subfiles"}, Hint{"subfiling", "subfiling_nfiles"},
                             Hint{"subfiling_enabled", "subfiling_nfiles"}};

// The number that the option `files` requests; 0 if none.
int64_t subfiles_of_option(const Choice& files, int ranks) {
  if (files.name == "subfiles")
    return files.argument;
  if (files.name == "per-rank")
    return ranks;
  return files.name == "auto" ? 0 : 1;
}

}  // namespace

Result<int64_t> asked_subfiles(const Settings& settings, int ranks) {
  const Choice files = settings.choice("files");
  int64_t asked = subfiles_of_option(files, ranks);
  bool disabled = false;
  for (const auto& [enabled, number] : k_hints) {
    disabled = disabled || (settings.is_set(enabled) && !settings.boolean(enabled));
    if (asked != 0 || !settings.boolean(enabled))
      continue;
    asked = settings.integer(number);
    if (asked <= 0)
      return Status(Code::bad_argument,
                    fmt::format("{} is enabled, but {} does not give the number of files", enabled, number));
  }
  const bool library_chooses = files.name == "auto" && settings.is_set("files");
  if (asked == 0 && !library_chooses)
    asked = disabled ? 1 : settings.text("strategy") == "subfiling" ? ranks : 0;
  if (asked > Subfiles::k_most)
    return Status(Code::bad_argument,
                  fmt::format("files: {} exceed the maximum of {}", counted(asked, "subfile"), Subfiles::k_most));
  return asked;
}

Result<int64_t> wanted_subfiles(const Settings& settings, int ranks) {
  auto asked = asked_subfiles(settings, ranks);
  if (!asked.ok() || asked.value() > 0)
    return asked;
  return settings.is_set("files") ? 0 : 1;
}

Result<int64_t> SplitPolicy::subfiles_of_variable(const Settings& own, const Settings& file, int ranks) const {
  if (own.is_set("subfile_bytes") && own.bytes("subfile_bytes") != file.bytes("subfile_bytes"))
    return Status{Code::bad_argument,
                  "subfile_bytes is an option of files, not of variables: set it in the call that creates the file"};
  auto asked = asked_subfiles(own, ranks);
  if (!asked.ok() || asked.value() != options_.subfiles)
    return asked;
  return 0;  // a program may pass the same options to the file and to its variables
}

Result<int64_t> SplitPolicy::subfiles_asked_by(const VariableDefinition& definition) const {
  int64_t asked = definition.subfiles;
  const bool is_cut = definition.split_asked && (definition.split.axes != "none" || definition.split.parts != "auto");
  if (is_cut && asked == 0 && set_ == nullptr) {
    if (definition.split.parts == "auto")
      return Status{Code::bad_argument,
                    fmt::format("variable \"{}\": split={} needs a number of files, because \"{}\" has no subfiles: "
                                "add files=subfiles(N), or create the file with it",
                                definition.path, definition.split.axes, options_.path)};
    auto split = make_split({.axes = "auto", .parts = definition.split.parts, .count = Subfiles::k_most, .unit = {}},
                            definition.shape);
    if (!split.ok())
      return Status{split.status().code(),
                    fmt::format("variable \"{}\": {}", definition.path, split.status().message())};
    asked = split.value().parts();
  }
  if (asked > 1 && set_ == nullptr && !options_.is_new)
    return Status{Code::bad_argument,
                  fmt::format("variable \"{}\" needs {} subfiles, but \"{}\" is a single file: subfiles can only be "
                              "created together with a new file; windrow copy can make a file with subfiles from "
                              "this one",
                              definition.path, asked, options_.path)};
  if (asked > 1 && set_ != nullptr && asked > set_->count())
    return Status{Code::bad_argument,
                  fmt::format("variable \"{}\" needs {} subfiles, but \"{}\" has {}: create the file with "
                              "files=subfiles({}), or define the variable that needs most of them first",
                              definition.path, asked, options_.path, set_->count(), asked)};
  return asked;
}

Result<SubfileRequest> SplitPolicy::request_for(std::span<const VariableDefinition> definitions) const {
  int64_t most = 0;
  for (const VariableDefinition& each : definitions) {
    auto asked = subfiles_asked_by(each);
    if (!asked.ok())
      return asked.status();
    most = std::max(most, asked.value());
  }
  // A definition that will be refused must not make a set.
  for (size_t i = 0; most > 1 && set_ == nullptr && i < definitions.size(); ++i)
    if (auto split = split_of(definitions[i], most); !split.ok())
      return split.status();
  if (options_.most_file_bytes > 0) {
    auto files = files_for_size(definitions);
    if (!files.ok())
      return files.status();
    if (set_ == nullptr && files.value() > std::max<int64_t>(1, most))
      return SubfileRequest{files.value(), true};
  }
  return set_ != nullptr || most < 2 ? SubfileRequest{} : SubfileRequest{most, false};
}

// The smallest number of subfiles with which no file exceeds the maximum. If the number is fixed already, that number,
// or an error.
Result<int64_t> SplitPolicy::files_for_size(std::span<const VariableDefinition> definitions) const {
  const int64_t most_bytes = options_.most_file_bytes;
  const VariableDefinition* largest = nullptr;
  int64_t bytes = 0;
  for (const VariableDefinition& each : definitions) {
    if (largest == nullptr || bytes_of(each) > bytes_of(*largest))
      largest = &each;
    bytes = checked_add(bytes, bytes_of(each)).value_or(std::numeric_limits<int64_t>::max());
  }
  if (largest == nullptr)
    return 0;
  const bool is_fixed = set_ != nullptr || !options_.is_new;
  const int64_t least = is_fixed ? options_.subfiles : std::max(bytes, options_.expected_bytes) / most_bytes;
  for (int64_t count = std::max<int64_t>(1, least); count <= Subfiles::k_most; count += 1 + count / 64) {
    auto fits = fits_in_files(definitions, count);
    if (!fits.ok())
      return fits.status();
    if (fits.value())
      return count;
    if (is_fixed)
      break;
  }
  if (is_fixed)
    return Status{
        Code::bad_argument,
        fmt::format("variable \"{}\" of {}: with it a file of \"{}\" would be larger than subfile_bytes, {}: "
                    "create it with a larger expected_bytes, or define all variables in one call",
                    largest->path, format_bytes(bytes_of(*largest)), options_.path, format_bytes(most_bytes))};
  return Status{Code::bad_argument,
                fmt::format("variable \"{}\" of {}: no number of subfiles keeps each within subfile_bytes, {}",
                            largest->path, format_bytes(bytes_of(*largest)), format_bytes(most_bytes))};
}

// Whether no file exceeds the maximum if `count` subfiles are the default for variables.
Result<bool> SplitPolicy::fits_in_files(std::span<const VariableDefinition> definitions, int64_t count) const {
  std::vector<int64_t> files(static_cast<size_t>(Subfiles::k_most) + 1);  // bytes; the base file first
  size_t used = 1;
  const int64_t metadata = options_.alignment + k_variable_metadata;
  const auto add = [&](int64_t parts, auto&& bytes_of_part) {
    for (int64_t part = 0; part < parts; ++part)
      files[static_cast<size_t>(part) + 1] += metadata + bytes_of_part(part);
    used = std::max(used, static_cast<size_t>(parts) + 1);
  };
  for (size_t i = 0; i < catalog_.variables.size(); ++i) {
    const SplitVariable* split = find_split(set_, static_cast<int>(i));
    files[0] += metadata + (split == nullptr ? std::max<int64_t>(0, catalog_.variables[i].placement.bytes) : 0);
    if (split != nullptr)
      add(split->split.parts(), [&](int64_t part) { return split->row_bytes(part); });
  }
  for (const VariableDefinition& each : definitions) {
    auto found = split_of(each, count);
    if (!found.ok())
      return found.status();
    const auto& split = found.value();
    files[0] += metadata + (split ? 0 : bytes_of(each));
    if (split)
      add(split->parts(), [&](int64_t part) { return split->elements(part) * element_bytes(each.type, each.details); });
  }
  return *std::max_element(files.begin(), files.begin() + static_cast<std::ptrdiff_t>(used)) + k_file_metadata <=
         options_.most_file_bytes;
}

// At most the number in the request; fewer if parts would be too short.
int64_t SplitPolicy::parts_for(const VariableDefinition& definition, const SplitRequest& request, bool asked) const {
  if (request.parts != "auto")
    return request.count;
  if (options_.count_was_chosen) {
    const int64_t bytes =
        checked_product(shape_to_split(definition)).value_or(0) * element_bytes(definition.type, definition.details);
    return std::clamp<int64_t>(bytes / k_least_part_bytes, 1, request.count);
  }
  if (!asked && request.axes == "auto" && !definition.extendible)
    return std::clamp<int64_t>(bytes_of(definition) / k_least_automatic_part, 1, request.count);
  return request.count;
}

Result<std::optional<Split>> SplitPolicy::split_of(const VariableDefinition& definition, int64_t count) const {
  std::optional<Split> none;
  if (asks_for_one_file(definition))
    return none;
  const bool asked = definition.split_asked || definition.subfiles > 1;
  if (cannot_be_split(definition)) {
    if (!asked)
      return none;
    return Status(
        Code::bad_argument,
        fmt::format("variable \"{}\": a scalar, a null space or text of variable length cannot be split over subfiles",
                    definition.path));
  }
  SplitRequest request = definition.split;
  request.count = definition.subfiles > 0 ? definition.subfiles : asked && set_ != nullptr ? set_->count() : count;
  request.unit = definition.chunking.shape;  // parts of whole chunks have the chunks of the whole
  request.count = parts_for(definition, request, asked);
  auto split = make_split(request, shape_to_split(definition));
  if (!split.ok()) {
    // The options of the file apply only to variables that can be split in this way.
    if (!asked || (definition.subfiles == 0 && split.status().code() == Code::not_found))
      return none;
    const Code code = split.status().code() == Code::not_found ? Code::bad_argument : split.status().code();
    return Status(code, fmt::format("variable \"{}\": {}{}", definition.path, split.status().message(),
                                    definition.extendible
                                        ? "; it cannot be split along its extendible dimension, which counts as 1 here"
                                        : ""));
  }
  if (split.value().parts() == 1)
    return none;
  return std::optional<Split>(std::move(split).value());
}

Result<std::map<int, SplitVariable>> SplitPolicy::split(std::span<const VariableDefinition> definitions,
                                                        int first) const {
  std::map<int, SplitVariable> splits;
  for (size_t i = 0; i < definitions.size(); ++i) {
    const VariableDefinition& definition = definitions[i];
    auto found = split_of(definition, options_.subfiles);
    if (!found.ok())
      return found.status();
    auto& split = found.value();
    if (!split)
      continue;
    SplitVariable made(*std::move(split), definition.path, element_bytes(definition.type, definition.details),
                       definition.extendible);
    made.fill = definition.fill;
    made.chunk = definition.chunking.shape;
    made.filters = text_of(definition.chunking.filters);
    splits.emplace(first + static_cast<int>(i), std::move(made));
  }
  return splits;
}

Status SplitPolicy::check_room(std::span<const VariableDefinition> definitions,
                               const std::map<int, SplitVariable>& splits, int first) const {
  constexpr int64_t k_of_metadata = FileLine::k_unit;
  int64_t bytes = 0;
  for (size_t i = 0; set_ != nullptr && i < definitions.size(); ++i) {
    const auto split = splits.find(first + static_cast<int>(i));
    int64_t elements = split == splits.end() ? checked_product(definitions[i].shape).value_or(0) : 0;
    for (int64_t part = 0; split != splits.end() && part < split->second.split.parts(); ++part)
      elements = std::max(elements, split->second.split.elements(part));
    bytes += elements * element_bytes(definitions[i].type, definitions[i].details) + options_.alignment + k_of_metadata;
    if (bytes < 0 || !set_->has_room(bytes))
      return {Code::bad_argument, fmt::format("variable \"{}\": its set of {} would exceed the maximum size of a set",
                                              definitions[i].path, counted(set_->count(), "subfile"))};
  }
  return {};
}

}  // namespace windrow
