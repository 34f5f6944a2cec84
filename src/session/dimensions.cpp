// SPDX-License-Identifier: BSD-3-Clause
// Dimensions and names of them: every rank checks against its copy of the catalog, rank 0 tells the format, all enter
// the outcome.
#include <fmt/format.h>

#include "comm/agree.hpp"
#include "comm/same.hpp"
#include "session/file.hpp"

namespace windrow {

// Collective, after all ranks have agreed on what is to be done: rank 0 does it, and all enter what it has done.
Status File::define_dimensions(DimensionAdditions added) {
  const Variable* named = added.named.empty() ? nullptr : &metadata_.variable(added.named.back().first);
  Status local;
  if (comm_->rank() == 0)
    local = guard([&]() -> Status {
      if (Status status = define_groups_on_root(added.groups.groups); !status.ok())
        return status;
      for (const Dimension& dimension : added.dimensions)
        // One that is there already was made by a call that failed afterwards.
        if (Status status = format_->define_dimension(dimension); !status.ok() && status.code() != Code::exists)
          return status;
      return named != nullptr ? format_->name_dimensions(named->path, added.named.back().second) : Status{};
    });
  const bool in_parts = subfiles_ && named != nullptr && traits().names_dimensions;
  if (in_parts)
    local = agree(*comm_, std::move(local));  // what the base file refuses comes to no subfile
  if (local.ok() && in_parts)
    local = guard([&] { return name_dimensions_of_parts(*named, added.named.back().second, added.dimensions); });
  allocator_.mark_unplaced();
  if (Status verdict = agree(*comm_, std::move(local)); !verdict.ok())
    return verdict;
  metadata_.enter_dimensions(added);
  return {};
}

// Local: in subfiles as in the base file, where parts have their lengths. Coordinates may be split otherwise than what
// they are coordinates of.
Status File::name_dimensions_of_parts(const Variable& named, const std::vector<std::string>& names,
                                      std::span<const Dimension> added) {
  for (const std::string& path : names)
    if (path != named.path && is_split(path) && metadata_.dimension_at(path, added) == nullptr)
      if (Status status = for_own_parts(path, [&](Format& format) { return format.name_dimensions(path, {path}); });
          !status.ok())
        return status;
  if (!is_split(named.path))
    return {};
  return for_own_parts(named.path, [&](Format& format) { return format.name_dimensions(named.path, names); });
}

Status File::define_dimension(const std::string& path, int64_t length, Status local) {
  const CallScope call(*comm_, Call::define_dimension, &identity_);
  if (Status before = end_pending(); !before.ok())
    return before;
  DimensionAdditions added;
  if (local.ok())
    local = guard([&]() -> Status {
      if (Status status = check_writable("define a dimension"); !status.ok())
        return status;
      return metadata_.check_dimension(path, length, added);
    });
  const uint64_t arguments = hash_of({path, std::to_string(length)});
  if (Status verdict = agree_same(*comm_, std::move(local), arguments, "path or length of the dimension",
                                  [&] {
                                    return quoted({path, std::to_string(length)});
                                  });
      !verdict.ok())
    return verdict;
  return define_dimensions(std::move(added));
}

Status File::name_dimensions(int variable, const std::vector<std::string>& names, Status local) {
  const CallScope call(*comm_, Call::name_dimensions, &identity_);
  if (Status before = end_pending(); !before.ok())
    return before;
  DimensionAdditions added;
  uint64_t arguments = 0;
  if (local.ok())
    local = guard([&]() -> Status {
      if (Status status = check_writable("name dimensions"); !status.ok())
        return status;
      if (Status status = metadata_.check_names(variable, names, added); !status.ok())
        return status;
      std::string text = std::to_string(variable);
      for (const std::string& name : names)
        text += fmt::format("|{}:{}", name.size(), name);
      arguments = hash_of({text});
      return {};
    });
  const auto describe = [&] {
    std::vector<std::string> texts = quoted({metadata_.variable(variable).path});
    for (const std::string& name : names)
      texts.push_back(quoted({name}).front());
    return texts;
  };
  if (Status verdict = agree_same(*comm_, std::move(local), arguments, "variable or names of the dimensions", describe);
      !verdict.ok())
    return verdict;
  return define_dimensions(std::move(added));
}

}  // namespace windrow
