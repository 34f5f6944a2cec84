// SPDX-License-Identifier: BSD-3-Clause
#include "publication/xdmf_sidecar.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "publication/text_file.hpp"

namespace windrow {

Status XdmfSidecar::start() {
  if (!temporary_.temporary_path.empty())
    return {};
  if (format_ != "hdf5")
    return {Code::unsupported,
            fmt::format("\"{}\" has the format {}; XDMF can describe HDF5 files only", shown_, format_)};
  const std::filesystem::path file = path_;
  if (Status status = check_reference("the file", file.filename().string()); !status.ok())
    return status;
  std::filesystem::path text = file;
  text.replace_extension(".xmf");
  if (text == file)
    return {Code::bad_argument, fmt::format("the file \"{}\" has the name of its XDMF file", shown_)};
  auto temporary = start_temporary_file(text.string());
  if (!temporary.ok())
    return temporary.status();
  temporary_ = std::move(temporary).value();
  return {};
}

Status XdmfSidecar::prepare(const PublishedFile& file, std::vector<Rename>& renames) {
  if (!grids_.changed)
    return {};
  if (Status status = start(); !status.ok())
    return status;  // after a sync there is no temporary file
  const std::string name = std::filesystem::path(path_).filename().string();
  Status status = write_text_file(temporary_.temporary_path, xdmf_text(grids_.all, file.catalog, name));
  if (status.ok())
    renames.push_back({temporary_.temporary_path, temporary_.final_path, &temporary_.held, true});
  return status;
}

void XdmfSidecar::take_names(bool all) noexcept {
  if (!all)
    abandon();  // the text did not get its name
  temporary_ = {};
}

void XdmfSidecar::abandon() noexcept {
  if (!temporary_.temporary_path.empty())
    remove_temporary_file(temporary_);
  temporary_ = {};
}

}  // namespace windrow
