// SPDX-License-Identifier: BSD-3-Clause
#include "publication/viewer_grids.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/numbering.hpp"
#include "comm/same.hpp"

namespace windrow {
namespace {

// Allocates memory for one more, so that entering it cannot fail.
template <class T>
void make_room(std::vector<T>& list) {
  if (list.size() == list.capacity())
    list.reserve(2 * list.size() + 1);
}

}  // namespace

Result<int> define_grid(const Comm& comm, const Catalog& catalog, ViewerGrids& grids, ViewerGrid grid, Status local) {
  uint64_t arguments = 0;
  if (local.ok())
    local = guard([&]() -> Status {
      arguments = hash_of({arguments_of(grid)});
      if (Status status = check_grid(grid, grids.all, catalog); !status.ok())
        return status;
      make_room(grids.all);
      return {};
    });
  // If the definition fails on another rank, the next grid uses this temporary file. It is removed at close otherwise.
  if (local.ok() && comm.rank() == 0)
    local = guard([&] { return grids.sidecar->start(); });
  if (Status verdict = agree_same(comm, std::move(local), arguments, "arguments of the grid"); !verdict.ok())
    return verdict;
  grids.all.push_back(std::move(grid));
  grids.changed = true;
  return static_cast<int>(grids.all.size()) - 1;
}

Status define_field(const Comm& comm, const Catalog& catalog, ViewerGrids& grids, int grid, GridField field,
                    Status local) {
  uint64_t arguments = 0;
  if (local.ok())
    local = guard([&]() -> Status {
      if (grid < 0 || static_cast<size_t>(grid) >= grids.all.size())
        return {Code::bad_argument, fmt::format("there is no grid number {}", shown_index(grid))};
      ViewerGrid& target = grids.all[static_cast<size_t>(grid)];
      arguments = hash_of({arguments_of(grid, field)});
      if (Status status = check_field(target, field, catalog); !status.ok())
        return status;
      make_room(target.fields);
      return {};
    });
  if (Status verdict = agree_same(comm, std::move(local), arguments, "arguments of the field"); !verdict.ok())
    return verdict;
  grids.all[static_cast<size_t>(grid)].fields.push_back(std::move(field));
  grids.changed = true;
  return {};
}

}  // namespace windrow
