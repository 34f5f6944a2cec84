// SPDX-License-Identifier: BSD-3-Clause
// A set's variables are defined: how each is split, its parts in their subfiles, and what the base file says of it.
#include <algorithm>
#include <limits>

#include "comm/agree.hpp"
#include "format/paths.hpp"
#include "session/file.hpp"

namespace windrow {
namespace {

constexpr int64_t k_unknown = std::numeric_limits<int64_t>::min();
int64_t files_of(const std::map<int, SplitVariable>& splits) {
  int64_t files = 0;
  for (const auto& [variable, split] : splits)
    files = std::max(files, split.split.parts());
  return files;
}

}  // namespace

Result<int64_t> File::subfiles_of_variable(const Settings& own) const {
  return split_policy().subfiles_of_variable(own, settings_, comm_->size());
}

SplitPolicy File::split_policy() const {
  return SplitPolicy({.path = path_,
                      .is_new = is_temporary_file(),
                      .subfiles = default_subfiles(),
                      .count_was_chosen = !files_reason_.empty(),
                      .most_file_bytes = settings_.bytes("subfile_bytes"),
                      .expected_bytes = settings_.bytes("expected_bytes"),
                      .alignment = settings_.bytes("alignment")},
                     catalog_, subfiles_.get());
}

int64_t File::default_subfiles() const noexcept {
  if (mode_ == Mode::create)
    return wanted_subfiles_;
  return subfiles_ ? subfiles_->count() : 1;
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
