// SPDX-License-Identifier: BSD-3-Clause
#include "publication/format_sidecars.hpp"

#include <span>

namespace windrow {

Status FormatSidecars::start(const TemporaryFile& temporary) {
  files_ = format_sidecars(format_, temporary.temporary_path);
  const auto final_paths = format_sidecars(format_, temporary.final_path);
  for (size_t i = 0; i < files_.size(); ++i)
    names_.push_back({files_[i], final_paths[i]});
  Status status = start_sidecars(temporary, names_, &held_);
  for (size_t i = 0; i < held_.size(); ++i)
    names_[i].held = &held_[i];
  return status;
}

// Two files cannot be renamed at the same time. So first an interim sidecar is published, which describes both the
// replaced file and the new one. The final sidecar follows after the file.
Status FormatSidecars::prepare(const PublishedFile& file, std::vector<Rename>& renames) {
  if (names_.empty())
    return {};
  std::vector<Rename> all = names_;
  files_.reserve(files_.size() + 1);
  auto interim = write_interim_sidecar_file(format_, file.temporary);
  if (!interim.ok())
    return interim.status();
  if (!interim.value().empty()) {
    files_.push_back(interim.value());
    all.front().follows = true;
    all.insert(all.begin(), {std::move(interim).value(), all.front().to});
  }
  renames.insert(renames.end(), all.begin(), all.end());
  return {};
}

void FormatSidecars::take_names(bool all) noexcept {
  if (!all)
    (void)guard([&] { return remove_files(files_); });
  names_.clear();
  files_.clear();
  held_.clear();
}

void FormatSidecars::abandon() noexcept {
  (void)guard([&] {
    for (size_t i = 0; i < files_.size(); ++i)
      if (i >= held_.size() || held_[i].is_at(files_[i]))
        (void)remove_files(std::span(&files_[i], 1));
    return Status{};
  });
  names_.clear();
  files_.clear();
}

}  // namespace windrow
