// SPDX-License-Identifier: BSD-3-Clause
// Publication by atomic rename. A new file is written under a temporary name in the folder of its final name. Until the
// rename, the previous file stays intact, even if the job is killed. One rank calls these functions; none of them
// communicates.
//
//   none -- start_temporary_file() --> temporary (locked by its owner) -- publish() --> published
//   temporary -- remove_temporary_file(), or remove_leftovers() after its owner was killed --> none
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "storage/held_file.hpp"
#include "storage/store.hpp"

namespace windrow {

// A new file with its temporary and its final name.
struct TemporaryFile {
  std::string temporary_path;  // ".NAME.windrow-XXXX"; NAME is shortened if the result is too long for the file system
  std::string final_path;      // the requested path; for a symbolic link, its target
  HeldFile held = {};          // the open, locked temporary file: see remove_leftover()
};

struct Rename {
  std::string from;
  std::string to;
  const HeldFile* held = nullptr;  // the file `from` when it was created; nullptr: unknown
  bool follows = false;            // renamed after the file that publishes the set
};

// Creates an empty file under a unique temporary name. Removes a leftover of a killed job under such a name. The file
// gets the mode of the file that it will replace. Symbolic links are followed: the link stays, and its target is
// replaced. not_found, no_permission: of the folder. no_permission: also if the existing file is read-only.
// bad_argument: the path is a folder, a device or the like, or its last name is too long for the file system.
Result<TemporaryFile> start_temporary_file(const std::string& path);

// Whether the file system allows files of this size in the folder of `path`: makes an empty file that long and removes
// it. OK if that cannot be tried.
Status check_file_size(const std::string& path, int64_t bytes);

// Creates the empty files that are published together with a temporary file. Each has from its creation the mode of the
// file that it will replace, otherwise that of the temporary file. `held`: receives one entry for each. Errors as of
// start_temporary_file(); files created before an error stay.
Status start_sidecars(const TemporaryFile& temporary, std::span<const Rename> sidecars,
                      std::vector<HeldFile>* held = nullptr);

// Creates a folder of files that are published together with a temporary file. Permissions follow those of the
// temporary file.
Status start_folder(const TemporaryFile& temporary, const std::string& path, HeldFile* held = nullptr);

// The reason to stop writing to a file: its name belongs to another file, or to none, or that cannot be known.
Status replaced_by_others(const std::string& path);

// Removes a folder and the files in it, but no subfolders. A missing folder is no error.
Status remove_folder(const std::string& path);

// A file that marks a folder as unreferenced. The folder stays for processes that have opened the file that referred to
// it.
inline constexpr std::string_view k_replaced_mark = ".windrow-replaced";

// Marks a folder as replaced. Removes those of `folders`, except these two, that were marked earlier and whose files no
// process uses.
void retire_folder(const std::string& replaced, const std::string& replacing,
                   std::span<const std::string> folders) noexcept;

// The folders next to `path` with names that begin with its name and `mark`.
std::vector<std::string> folders_beside(const std::string& path, const std::string& mark);

// Renames all files in order. The last one that does not follow publishes the set, so its sidecars come first. A
// replaced file passes on its mode. `durable`: each file is on stable storage before its rename, and file and folder
// are when this returns. After an error, files that were not renamed keep their temporary names. io: a temporary name
// belongs to another file or folder; nothing is renamed. `options`: a faulty store fails here too. `named`: whether the
// set is published, possibly despite an error: a following file was not renamed, or the folder was not synced. Readers
// then use the new files, and writes to the old ones are lost.
Status publish(std::span<const Rename> files, bool durable, const StoreOptions& options = {}, bool* named = nullptr);

// The names in a folder are on stable storage when it returns.
Status sync_folder(const std::string& folder);

// Removes the temporary file, unless its name belongs to another file now.
void remove_temporary_file(const TemporaryFile& temporary) noexcept;

// Replaces the content of a file through a temporary file, on stable storage if `durable`. After a failure or the end
// of the process, the file has either the old or the new content. Needs write permission on the folder.
Status replace_content(const std::string& path, std::span<const std::byte> content, bool durable);

// Removes files; a missing one is no error.
Status remove_files(std::span<const std::string> paths);

// Whether a name is one of start_temporary_file() or of a sidecar.
bool is_temporary(std::string_view name) noexcept;

// The final name for temporary files of a calibration, which are never published.
inline constexpr std::string_view k_calibration = "windrow-calibration";

// Temporary files of `path` and of calibrations of its folder, and their sidecars, of killed or running jobs; sorted.
std::vector<std::string> leftovers(const std::string& path);

// Removes those whose owners have ended (remove_leftover()), and returns them.
std::vector<std::string> remove_leftovers(const std::string& path);

}  // namespace windrow
