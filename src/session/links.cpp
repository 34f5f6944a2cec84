// SPDX-License-Identifier: BSD-3-Clause
// Soft links are made, and attributes deleted: every rank checks against its copy of the catalog, rank 0 tells the
// format, all enter the outcome.
#include "comm/agree.hpp"
#include "comm/same.hpp"
#include "session/file.hpp"

namespace windrow {

Status File::define_link(const std::string& path, const std::string& target, Status local) {
  const CallScope call(*comm_, Call::define_link, &identity_);
  if (Status before = end_pending(); !before.ok())
    return before;
  LinkAddition added;
  if (local.ok())
    local = guard([&]() -> Status {
      if (Status status = check_writable("define a link"); !status.ok())
        return status;
      return metadata_.check_link(path, target, added);
    });
  const auto define = [&]() -> Status {
    if (Status status = define_groups_on_root(added.groups.groups); !status.ok())
      return status;
    Status made = format_->define_link(added.link);
    if (!made.ok())
      withdraw_groups_on_root(added.groups.groups);
    return made;
  };
  if (Status verdict = agree_same(
          *comm_, std::move(local), hash_of({path, target}), "path or target of the link",
          [&] {
            return quoted({path, target});
          },
          define);
      !verdict.ok())
    return verdict;
  metadata_.enter_link(added);
  return {};
}

Status File::delete_attribute(const std::string& object, const std::string& name, Status local) {
  const CallScope call(*comm_, Call::delete_attribute, &identity_);
  if (Status before = end_pending(); !before.ok())
    return before;
  std::string place;  // of the object
  if (local.ok())
    local = guard([&]() -> Status {
      if (Status status = check_writable("delete an attribute"); !status.ok())
        return status;
      return metadata_.check_delete(object, name, place);
    });
  if (Status verdict = agree_same(*comm_, std::move(local), hash_of({object, name}), "object or name of the attribute",
                                  [&] {
                                    return quoted({object, name});
                                  });
      !verdict.ok())
    return verdict;
  local = comm_->rank() == 0 ? guard([&] { return format_->delete_attribute(place, name); }) : Status{};
  if (local.ok() && is_split(place))
    local = guard([&] {
      return for_own_parts(place, [&](Format& format) {
        Status status = format.delete_attribute(place, name);
        return status.code() == Code::not_found ? Status{} : status;
      });
    });
  allocator_.mark_unplaced();
  if (Status verdict = agree(*comm_, std::move(local)); !verdict.ok())
    return verdict;
  metadata_.delete_attribute(place, name);
  return {};
}

}  // namespace windrow
