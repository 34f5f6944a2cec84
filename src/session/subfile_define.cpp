// SPDX-License-Identifier: BSD-3-Clause
// A set's variables are defined: how each is split, its parts in their subfiles, and what the base file says of it.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/checked.hpp"
#include "base/units.hpp"
#include "comm/agree.hpp"
#include "format/check.hpp"
#include "format/paths.hpp"
#include "session/file.hpp"
#include "subfiling/file_count.hpp"

namespace windrow {
namespace {

constexpr int64_t k_unknown = std::numeric_limits<int64_t>::min();
constexpr int64_t k_least_unasked =
    64;  // bytes of a part: what is shorter is not worth the attributes that describe it
// What a file has beside its elements, and so much more for each variable (subfile_bytes).
constexpr int64_t k_file_metadata = int64_t{32} << 10;
constexpr int64_t k_variable_metadata = int64_t{4} << 10;

bool cannot_be_split(const VariableDefinition& definition) {
  return definition.null_space || is_moved_whole(definition.type, definition.details) || definition.shape.empty();
}

int64_t bytes_of(const VariableDefinition& definition) {
  std::vector<int64_t> shape = definition.shape;
  if (definition.extendible)
    shape[0] = 1;
  return checked_product(shape).value_or(0) * std::max<int64_t>(1, element_bytes(definition.type, definition.details));
}

int64_t files_of(const std::map<int, SplitVariable>& splits) {
  int64_t files = 0;
  for (const auto& [variable, split] : splits)
    files = std::max(files, split.split.parts());
  return files;
}

}  // namespace

Result<int64_t> File::subfiles_of_variable(const Settings& own) const {
  if (own.is_set("subfile_bytes") && own.bytes("subfile_bytes") != settings_.bytes("subfile_bytes"))
    return Status{Code::bad_argument,
                  "subfile_bytes is an option of files, not of variables: set it in the call that creates the file"};
  auto asked = asked_subfiles(own, comm_->size());
  if (!asked.ok() || asked.value() != default_subfiles())
    return asked;
  return 0;  // a program may hand the same options to the file and to its variables
}

int64_t File::default_subfiles() const noexcept {
  if (mode_ == Mode::create)
    return wanted_subfiles_;
  return subfiles_ ? subfiles_->count() : 1;
}

// The set that a new file becomes for these definitions; none where it is one already, or stays one file. The same on
// every rank.
Result<SubfileRequest> File::set_for(std::span<const VariableDefinition> definitions) const {
  int64_t most = 0;
  for (const VariableDefinition& each : definitions) {
    int64_t asked = each.subfiles;
    const bool cut = each.split_asked && (each.split.axes != "none" || each.split.parts != "auto");
    if (cut && asked == 0 && !subfiles_) {
      if (each.split.parts == "auto")
        return Status{Code::bad_argument,
                      fmt::format("variable \"{}\": split={} needs a number of files, because \"{}\" has no subfiles: "
                                  "add files=subfiles(N), or create the file with it",
                                  each.path, each.split.axes, path_)};
      auto split =
          make_split({.axes = "auto", .parts = each.split.parts, .count = Subfiles::k_most, .unit = {}}, each.shape);
      if (!split.ok())
        return Status{split.status().code(), fmt::format("variable \"{}\": {}", each.path, split.status().message())};
      asked = split.value().parts();
    }
    if (asked > 1 && !subfiles_ && !is_temporary_file())
      return Status{
          Code::bad_argument,
          fmt::format("variable \"{}\" needs {} subfiles, but \"{}\" is a single file: subfiles can only be created "
                      "together with a new file; windrow copy can make a file with subfiles from this one",
                      each.path, asked, path_)};
    if (asked > 1 && subfiles_ && asked > subfiles_->count())
      return Status{Code::bad_argument,
                    fmt::format("variable \"{}\" needs {} subfiles, but \"{}\" has {}: create the file with "
                                "files=subfiles({}), or define the variable that needs most of them first",
                                each.path, asked, path_, subfiles_->count(), asked)};
    most = std::max(most, asked);
  }
  // What is refused makes no set.
  for (size_t i = 0; most > 1 && !subfiles_ && i < definitions.size(); ++i)
    if (auto split = split_of(definitions[i], most); !split.ok())
      return split.status();
  if (settings_.bytes("subfile_bytes") > 0) {
    auto files = files_for_size(definitions);
    if (!files.ok())
      return files.status();
    if (!subfiles_ && files.value() > std::max<int64_t>(1, most))
      return SubfileRequest{files.value(), true};
  }
  return subfiles_ || most < 2 ? SubfileRequest{} : SubfileRequest{most, false};
}

// The smallest number of subfiles with which no file is larger than subfile_bytes; of a set that there is, its own, or
// an error.
Result<int64_t> File::files_for_size(std::span<const VariableDefinition> definitions) const {
  const int64_t limit = settings_.bytes("subfile_bytes");
  const VariableDefinition* largest = nullptr;
  int64_t bytes = 0;
  for (const VariableDefinition& each : definitions) {
    if (largest == nullptr || bytes_of(each) > bytes_of(*largest))
      largest = &each;
    bytes = checked_add(bytes, bytes_of(each)).value_or(std::numeric_limits<int64_t>::max());
  }
  if (largest == nullptr)
    return 0;
  const bool fixed = subfiles_ != nullptr || !is_temporary_file();
  const int64_t least = fixed ? default_subfiles() : std::max(bytes, settings_.bytes("expected_bytes")) / limit;
  for (int64_t count = std::max<int64_t>(1, least); count <= Subfiles::k_most; count += 1 + count / 64) {
    auto fits = fits_in_files(definitions, count);
    if (!fits.ok())
      return fits.status();
    if (fits.value())
      return count;
    if (fixed)
      break;
  }
  if (fixed)
    return Status{Code::bad_argument,
                  fmt::format("variable \"{}\" of {}: with it a file of \"{}\" would be larger than subfile_bytes, {}: "
                              "create it with a larger "
                              "expected_bytes, or define all variables in one call",
                              largest->path, format_bytes(bytes_of(*largest)), path_, format_bytes(limit))};
  return Status{Code::bad_argument,
                fmt::format("variable \"{}\" of {}: no number of subfiles keeps each within subfile_bytes, {}",
                            largest->path, format_bytes(bytes_of(*largest)), format_bytes(limit))};
}

// Whether no file is larger than subfile_bytes where variables that do not say are split over `count` subfiles.
Result<bool> File::fits_in_files(std::span<const VariableDefinition> definitions, int64_t count) const {
  std::vector<int64_t> files(static_cast<size_t>(Subfiles::k_most) + 1);
  size_t used = 1;
  const int64_t beside = settings_.bytes("alignment") + k_variable_metadata;
  for (size_t i = 0; i < catalog_.variables.size(); ++i) {
    const SplitVariable* split = subfiles_ ? subfiles_->find(static_cast<int>(i)) : nullptr;
    files[0] += beside + (split == nullptr ? std::max<int64_t>(0, catalog_.variables[i].placement.bytes) : 0);
    for (int64_t part = 0; split != nullptr && part < split->split.parts(); ++part)
      files[static_cast<size_t>(part) + 1] += beside + split->row_bytes(part);
    if (split != nullptr)
      used = std::max(used, static_cast<size_t>(split->split.parts()) + 1);
  }
  for (const VariableDefinition& each : definitions) {
    auto cut = split_of(each, count);
    if (!cut.ok())
      return cut.status();
    const auto& split = cut.value();
    files[0] += beside + (split ? 0 : bytes_of(each));
    for (int64_t part = 0; split && part < split->parts(); ++part)
      files[static_cast<size_t>(part) + 1] += beside + split->elements(part) * element_bytes(each.type, each.details);
    if (split)
      used = std::max(used, static_cast<size_t>(split->parts()) + 1);
  }
  return *std::max_element(files.begin(), files.begin() + static_cast<std::ptrdiff_t>(used)) + k_file_metadata <=
         settings_.bytes("subfile_bytes");
}

// How a variable is to be split where those that do not say are split over `count` subfiles, or not at all. The same on
// every rank.
Result<std::optional<Split>> File::split_of(const VariableDefinition& definition, int64_t count) const {
  std::optional<Split> none;
  if (definition.subfiles == 1 || (definition.split.axes == "none" && definition.split.parts == "auto"))
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
  request.count = definition.subfiles > 0 ? definition.subfiles : asked && subfiles_ ? subfiles_->count() : count;
  request.unit = definition.chunking.shape;  // parts of whole chunks have the chunks of the whole
  std::vector<int64_t> shape = definition.shape;
  if (definition.extendible)
    shape[0] = 1;  // each record for itself: what grows is not cut along its growth
  if (!files_reason_.empty() && request.parts == "auto") {
    const int64_t bytes = checked_product(shape).value_or(0) * element_bytes(definition.type, definition.details);
    request.count = std::clamp<int64_t>(bytes / k_least_part_bytes, 1, request.count);
  } else if (!asked && request.parts == "auto" && request.axes == "auto" && !definition.extendible) {
    request.count = std::clamp<int64_t>(bytes_of(definition) / k_least_unasked, 1, request.count);
  }
  auto split = make_split(request, shape);
  if (!split.ok()) {
    // What only the file's options ask for is for variables that can have it.
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

// Local: whether there is an address for every byte of all files with what is to be defined.
Status File::check_room_in_set(std::span<const VariableDefinition> definitions,
                               const std::map<int, SplitVariable>& splits, int first) const {
  constexpr int64_t k_of_metadata = FileLine::k_unit;
  int64_t bytes = 0;
  for (size_t i = 0; subfiles_ && i < definitions.size(); ++i) {
    const auto split = splits.find(first + static_cast<int>(i));
    int64_t elements = split == splits.end() ? checked_product(definitions[i].shape).value_or(0) : 0;
    for (int64_t part = 0; split != splits.end() && part < split->second.split.parts(); ++part)
      elements = std::max(elements, split->second.split.elements(part));
    bytes += elements * element_bytes(definitions[i].type, definitions[i].details) + settings_.bytes("alignment") +
             k_of_metadata;
    if (bytes < 0 || !subfiles_->has_room(bytes))
      return {Code::bad_argument, fmt::format("variable \"{}\": its set of {} would exceed the maximum size of a set",
                                              definitions[i].path, counted(subfiles_->count(), "subfile"))};
  }
  return {};
}

// Collective. Makes the parts of those definitions that are split, from variable number `first` on; `splits` are
// theirs. Every rank has its memory for them already: [variables] offsets that are not known yet.
Status File::define_parts(std::span<VariableDefinition> definitions, std::map<int, SplitVariable>& splits, int first) {
  std::vector<int64_t> offsets;
  Status local = guard([&] {
    size_t length = 0;
    for (const auto& [variable, split] : splits)
      length += split.offsets.size();
    offsets.assign(length, k_unknown);
    return Status{};
  });
  if (Status verdict = agree(*comm_, std::move(local)); !verdict.ok())
    return verdict;
  sealed_ = false;
  local = guard([&] { return cut_leftovers(); });
  if (local.ok())
    local = guard([&] {
      return for_own_subfiles(files_of(splits), [&](int64_t number, Format& format) -> Status {
        if (Status status = subfiles_->remove_unknown(number, format); !status.ok())
          return status;
        size_t at = 0;
        for (const auto& [variable, split] : splits) {
          const size_t place = at + static_cast<size_t>(number);
          at += split.offsets.size();
          if (number >= split.split.parts())
            continue;
          auto offset =
              subfiles_->define_part(format, definitions[static_cast<size_t>(variable - first)], split, number);
          if (!offset.ok())
            return offset.status();
          offsets[place] = offset.value();
        }
        return {};
      });
    });
  Status verdict = agree(*comm_, std::move(local), Reduction{.maximum = offsets, .sum = {}, .bits = {}});
  is_cut_ = is_cut_ || verdict.ok();
  size_t at = 0;
  for (auto& [variable, split] : splits)
    for (int64_t& offset : split.offsets)
      offset = offsets[at++];
  if (!verdict.ok()) {
    withdraw_parts(splits, first);
    drop_unused_subfiles();
  }
  return verdict;
}

// Local: those that were made for variables which were refused.
void File::drop_unused_subfiles() {
  (void)guard([&] {
    for (int64_t number = subfiles_->used(); number < subfiles_->count(); ++number)
      subfiles_->drop(number);
    return Status{};
  });
}

// Local: the parts of variables that were refused, from number `first` on, go from the subfiles that this rank looks
// after, and with them the groups that were made for them.
void File::withdraw_parts(const std::map<int, SplitVariable>& splits, int first) {
  (void)guard([&] {
    return for_own_subfiles(files_of(splits), [&](int64_t number, Format& format) -> Status {
      for (auto each = splits.rbegin(); each != splits.rend() && each->first >= first; ++each) {
        const SplitVariable& split = each->second;
        if (number >= split.split.parts() || split.offsets[static_cast<size_t>(number)] == k_unknown)
          continue;
        std::vector<std::string> made = parents_of(split.path);
        std::erase_if(made, [this](const std::string& group) { return metadata_.find_group(group) != nullptr; });
        made.push_back(split.path);
        subfiles_->withdraw(format, made);
      }
      return {};
    });
  });
}

// Rank 0 alone: a variable of the base file whose elements lie in subfiles.
Status File::define_split_on_root(const VariableDefinition& definition, const SplitVariable& split) {
  VariableDefinition virtually = definition;  // its chunks are in the subfiles
  virtually.chunking = {};
  std::vector<Part> parts;
  for (int64_t part = 0; part < split.split.parts(); ++part)
    parts.push_back({subfiles_->relative_name(part), split.split.box(part)});
  if (Status status = format_->define_split(virtually, parts); !status.ok())
    return status;
  Status status = subfiles_->describe(*format_, definition, split);
  if (!status.ok())
    (void)format_->undefine(definition.path, metadata_.records());
  return status;
}

}  // namespace windrow
