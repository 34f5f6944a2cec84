// SPDX-License-Identifier: BSD-3-Clause
// Each set has a folder with a unique name. So the replaced file keeps its subfiles until the new file has the name.
// They are removed when the next set is published, for the sake of readers that have opened the replaced file.
#include "publication/subfile_folder.hpp"

#include <filesystem>
#include <memory>

#include "subfiling/subfiles.hpp"

namespace windrow {
namespace {

constexpr std::string_view k_mark = ".subfiles-";

}  // namespace

Status SubfileFolder::start(const TemporaryFile& temporary, std::string folder, std::string final_folder) {
  folder_ = std::move(folder);
  final_folder_ = std::move(final_folder);
  return start_folder(temporary, folder_, &held_);
}

bool SubfileFolder::takes_turns() const {
  return !folder_.empty() || !replaced_folder().empty();
}

Status SubfileFolder::prepare(const PublishedFile& file, std::vector<Rename>& renames) {
  in_turn_ = file.turn != nullptr && file.turn->is_there();
  replaced_ = file.turn != nullptr ? replaced_folder() : "";
  if (!folder_.empty())
    renames.push_back({folder_, final_folder_, &held_});
  return {};
}

void SubfileFolder::take_names(bool) noexcept {
  held_.release();
  if ((in_turn_ && !folder_.empty()) || !replaced_.empty())
    (void)guard([&] {
      retire_folder(replaced_, final_folder_, folders_beside(final_path_, std::string(k_mark)));
      return Status{};
    });
  folder_.clear();
  final_folder_.clear();
}

void SubfileFolder::abandon() noexcept {
  (void)guard([&] {
    for (const std::string* folder : {&folder_, &final_folder_})
      if (!folder->empty() && held_.is_at(*folder))
        (void)remove_folder(*folder);
    return Status{};
  });
  folder_.clear();
  final_folder_.clear();
}

// Returns the folder of the set that the new file replaces; "" if there is none. A folder that the replaced file does
// not name, or that is a link, belongs to somebody else.
std::string SubfileFolder::replaced_folder() const {
  std::string folder;
  (void)guard([&]() -> Status {
    std::error_code ignored;
    if (!std::filesystem::exists(final_path_, ignored))
      return {};  // the usual case: a folder that may be large need not be searched
    const auto candidates = folders_beside(final_path_, std::string(k_mark));
    if (candidates.empty())
      return {};
    auto found = find_format(final_path_, FormatMode::read);
    if (!found.ok())
      return found.status();
    auto format = open_format(found.value().name, final_path_, FormatMode::read, {}, std::move(found.value().store));
    if (!format.ok())
      return format.status();
    auto catalog = format.value()->catalog();
    (void)format.value()->close();
    if (!catalog.ok())
      return catalog.status();
    auto set = Subfiles::take_from(catalog.value(), format_, final_path_);
    if (!set.ok() || !set.value())
      return set.status();
    const std::string name = set.value()->folder();
    for (const std::string& candidate : candidates)
      if (std::filesystem::path(candidate).filename() == name && !std::filesystem::is_symlink(candidate, ignored))
        folder = candidate;
    return {};
  });
  return folder;
}

}  // namespace windrow
