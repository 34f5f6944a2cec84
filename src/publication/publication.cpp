// SPDX-License-Identifier: BSD-3-Clause
#include "publication/publication.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

namespace windrow {

Status Publication::failure() const noexcept {
  Status status = failure_;
  (void)guard([&] {
    status = Status{failure_.code(),
                    fmt::format("{}; since then this new file cannot be published any more", failure_.message()),
                    failure_.rank()};
    return Status{};
  });
  return status;
}

Status Publication::start(const std::string& path) {
  auto temporary = start_temporary_file(path);
  if (!temporary.ok())
    return temporary.status();
  temporary_ = std::move(temporary).value();
  for (std::string* each : {&temporary_.temporary_path, &temporary_.final_path})
    *each = std::filesystem::absolute(*each).string();
  return {};
}

Status Publication::hold(const std::string& path, bool changes) {
  lock_ = FileLock();
  held_.release();  // its own lock would refuse the new one
  if (!changes) {
    auto found = HeldFile::at(path);
    if (found.ok())
      held_ = std::move(found).value();
    return found.status();
  }
  auto lock = FileLock::take(path);
  if (!lock.ok())
    return lock.status();
  lock_ = std::move(lock).value();
  auto held = HeldFile::to_change(path);
  if (held.ok())
    held_ = std::move(held).value();
  return held.status();
}

Status Publication::check_name(const std::string& path) const {
  return is_temporary() || holds(path) ? Status{} : replaced_by_others(path);
}

Status Publication::check_replaceable(const std::string& path) const {
  if (is_temporary() && !temporary_.held.is_at(temporary_.temporary_path))
    return replaced_by_others(temporary_.temporary_path);
  return check_name(path);
}

void Publication::take_over(HeldFile file, const std::string& path) noexcept {
  (is_temporary() ? temporary_.held : held_) = std::move(file);
  if (is_temporary())
    return;
  lock_ = FileLock();  // of the replaced file, whose number another file may get
  (void)guard([&] {
    auto lock = FileLock::take(path);
    if (lock.ok())
      lock_ = std::move(lock).value();
    return lock.status();
  });
}

Status Publication::publish(const PublishInputs& inputs, FolderLock& turn) {
  // Two programs that publish at the same time would both replace the same file and remove its sidecars. So one waits
  // for the other.
  const bool in_turn =
      std::any_of(sidecars_.begin(), sidecars_.end(), [](const auto& sidecar) { return sidecar->takes_turns(); });
  if (in_turn) {
    constexpr auto k_backoff = std::chrono::seconds(2);  // a program does not wait forever for one that was stopped
    turn = FolderLock::take(std::filesystem::path(temporary_.final_path).parent_path().string(), k_backoff);
  }
  std::vector<Rename> renames;
  for (const auto& sidecar : sidecars_)
    if (Status status = sidecar->prepare({temporary_, inputs.catalog, in_turn ? &turn : nullptr}, renames);
        !status.ok())
      return status;
  renames.push_back({temporary_.temporary_path, temporary_.final_path, &temporary_.held});
  std::stable_partition(renames.begin(), renames.end(), [](const Rename& each) { return !each.follows; });
  for (const auto& sidecar : sidecars_)
    if (Status status = sidecar->withdraw(); !status.ok())
      return status;
  // Now, because nothing may fail after the rename.
  std::string name = temporary_.final_path;
  auto lock = FileLock::take(temporary_.temporary_path);
  if (!lock.ok())
    return lock.status();
  bool named = false;
  Status status = windrow::publish(renames, inputs.durable, inputs.store, &named);
  if (!named)
    return status;
  published_ = true;
  lock_ = std::move(lock).value();
  held_ = std::move(temporary_.held);
  if (format_locks_)
    held_.share();
  if (inputs.format != nullptr)
    inputs.format->take_name(std::move(name));
  for (const auto& sidecar : sidecars_)
    sidecar->take_names(status.ok());
  return status;
}

Status Publication::publish_sidecars(const PublishInputs& inputs) {
  for (const auto& sidecar : sidecars_) {
    std::vector<Rename> renames;
    Status status = sidecar->prepare({temporary_, inputs.catalog}, renames);
    for (Rename& each : renames)
      each.follows = false;  // the file has its name
    bool named = false;
    if (status.ok() && !renames.empty())
      status = windrow::publish(renames, inputs.durable, {}, &named);
    if (named)
      sidecar->take_names(true);
    if (!status.ok())
      return status;
  }
  return {};
}

void Publication::abandon() noexcept {
  for (const auto& sidecar : sidecars_)
    sidecar->abandon();
  if (!is_temporary() || temporary_.temporary_path.empty())
    return;
  remove_temporary_file(temporary_);
  temporary_.temporary_path.clear();
}

}  // namespace windrow
