// SPDX-License-Identifier: BSD-3-Clause
// Grids, meshes and fields for viewers: every rank checks and keeps them, rank 0 writes the text when the file is
// published.
#include <fmt/format.h>

#include "base/numbering.hpp"
#include "comm/agree.hpp"
#include "comm/same.hpp"
#include "session/file.hpp"

namespace windrow {

Result<int> File::define_grid(ViewerGrid grid, Status local) {
  const CallScope call(*comm_, Call::define_grid, &identity_);
  if (Status before = end_pending(); !before.ok())
    return before;
  uint64_t arguments = 0;
  if (local.ok())
    local = guard([&]() -> Status {
      if (Status status = check_writable("describe a grid"); !status.ok())
        return status;
      arguments = hash_of({arguments_of(grid)});
      if (Status status = check_grid(grid, grids_.all, catalog_); !status.ok())
        return status;
      if (grids_.all.size() == grids_.all.capacity())
        grids_.all.reserve(2 * grids_.all.size() + 1);
      return {};
    });
  // A temporary that was made for nothing serves the next grid, and goes when the file is closed.
  if (local.ok() && comm_->rank() == 0)
    local = guard([&] { return xdmf_->start(); });
  if (Status verdict = agree_same(*comm_, std::move(local), arguments, "arguments of the grid"); !verdict.ok())
    return verdict;
  grids_.all.push_back(std::move(grid));  // room was made
  grids_.changed = true;
  return static_cast<int>(grids_.all.size()) - 1;
}

Status File::define_field(int grid, GridField field, Status local) {
  const CallScope call(*comm_, Call::define_field, &identity_);
  if (Status before = end_pending(); !before.ok())
    return before;
  uint64_t arguments = 0;
  if (local.ok())
    local = guard([&]() -> Status {
      if (Status status = check_writable("describe a field"); !status.ok())
        return status;
      if (grid < 0 || static_cast<size_t>(grid) >= grids_.all.size())
        return {Code::bad_argument, fmt::format("there is no grid number {}", shown_index(grid))};
      ViewerGrid& at = grids_.all[static_cast<size_t>(grid)];
      arguments = hash_of({arguments_of(grid, field)});
      if (Status status = check_field(at, field, catalog_); !status.ok())
        return status;
      if (at.fields.size() == at.fields.capacity())
        at.fields.reserve(2 * at.fields.size() + 1);
      return {};
    });
  if (Status verdict = agree_same(*comm_, std::move(local), arguments, "arguments of the field"); !verdict.ok())
    return verdict;
  grids_.all[static_cast<size_t>(grid)].fields.push_back(std::move(field));  // room was made
  grids_.changed = true;
  return {};
}

}  // namespace windrow
