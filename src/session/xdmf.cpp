// SPDX-License-Identifier: BSD-3-Clause
// Grids, meshes and fields for viewers: every rank checks and keeps them, rank 0 writes the text when the file is
// published.
#include <fmt/format.h>

#include <filesystem>

#include "base/numbering.hpp"
#include "comm/agree.hpp"
#include "comm/same.hpp"
#include "session/file.hpp"
#include "storage/store.hpp"

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
      if (Status status = check_grid(grid, grids_, catalog_); !status.ok())
        return status;
      if (grids_.size() == grids_.capacity())
        grids_.reserve(2 * grids_.size() + 1);
      return {};
    });
  // A temporary that was made for nothing serves the next grid, and goes when the file is closed.
  if (local.ok() && comm_->rank() == 0)
    local = guard([&] { return start_xdmf_on_root(); });
  if (Status verdict = agree_same(*comm_, std::move(local), arguments, "arguments of the grid"); !verdict.ok())
    return verdict;
  grids_.push_back(std::move(grid));  // room was made
  grids_changed_ = true;
  return static_cast<int>(grids_.size()) - 1;
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
      if (grid < 0 || static_cast<size_t>(grid) >= grids_.size())
        return {Code::bad_argument, fmt::format("there is no grid number {}", shown_index(grid))};
      ViewerGrid& at = grids_[static_cast<size_t>(grid)];
      arguments = hash_of({arguments_of(grid, field)});
      if (Status status = check_field(at, field, catalog_); !status.ok())
        return status;
      if (at.fields.size() == at.fields.capacity())
        at.fields.reserve(2 * at.fields.size() + 1);
      return {};
    });
  if (Status verdict = agree_same(*comm_, std::move(local), arguments, "arguments of the field"); !verdict.ok())
    return verdict;
  grids_[static_cast<size_t>(grid)].fields.push_back(std::move(field));  // room was made
  grids_changed_ = true;
  return {};
}

// Rank 0 alone. The text's own temporary, made early: what stands in its way is told before hours of computing, not
// after them.
Status File::start_xdmf_on_root() {
  if (!xdmf_temporary_.temporary_path.empty())
    return {};
  if (format_name_ != "hdf5")
    return {Code::unsupported,
            fmt::format("\"{}\" has the format {}; XDMF can describe HDF5 files only", path_, format_name_)};
  const std::filesystem::path file = mode_ == Mode::create ? temporary_.final_path : data_->path();
  if (Status status = check_reference("the file", file.filename().string()); !status.ok())
    return status;
  std::filesystem::path text = file;
  text.replace_extension(".xmf");
  if (text == file)
    return {Code::bad_argument, fmt::format("the file \"{}\" has the name of its XDMF file", path_)};
  auto temporary = start_temporary_file(text.string());
  if (!temporary.ok())
    return temporary.status();
  xdmf_temporary_ = std::move(temporary).value();
  xdmf_names_ = file.filename().string();
  return {};
}

// Rank 0 alone: the text, whole under its temporary name; what has to be renamed then goes to `renames`.
Status File::write_xdmf_on_root(std::vector<Rename>& renames) {
  if (!grids_changed_)
    return {};
  if (Status status = start_xdmf_on_root(); !status.ok())
    return status;  // after a sync there is none
  const std::string text = xdmf_text(grids_, catalog_, xdmf_names_);
  auto store = open_store(xdmf_temporary_.temporary_path, StoreMode::create, {});
  if (!store.ok())
    return store.status();
  Status status = store.value()->write_at(0, std::as_bytes(std::span(text)));
  status.update(store.value()->close());
  if (status.ok())
    renames.push_back({xdmf_temporary_.temporary_path, xdmf_temporary_.final_path, &xdmf_temporary_.held});
  return status;
}

// Rank 0 alone: for a file that has its name.
Status File::publish_xdmf_on_root() {
  std::vector<Rename> renames;
  if (Status status = write_xdmf_on_root(renames); !status.ok() || renames.empty())
    return status;
  bool named = false;
  Status status = windrow::publish(renames, settings_.boolean("durable"), {}, &named);
  if (named)
    xdmf_temporary_ = {};
  return status;
}

}  // namespace windrow
