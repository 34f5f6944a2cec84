// SPDX-License-Identifier: BSD-3-Clause
// A new file is written under a temporary name beside its final one and takes its name by rename: until then the file
// that stood there stays whole, whatever happens to the job. One rank calls these; none of them talks.
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

// Where a new file is written, and what it will be called.
struct TemporaryFile {
  std::string temporary_path;  // ".NAME.windrow-XXXX"; where that is too long for the file system, NAME without its end
  std::string final_path;      // the path that was asked for; of a symbolic link, what it points to
  HeldFile held = {};          // the temporary file, locked: see remove_leftover()
};

struct Rename {
  std::string from;
  std::string to;
  const HeldFile* held = nullptr;  // what `from` was when it was made; nullptr: nobody knows
  bool follows = false;            // the file that publishes the set has its name before this one
};

// Makes an empty file under a temporary name that nobody else has. What a killed job has left under such a name is
// removed. It gets the mode of the file that it will replace. A
// symbolic link is followed: the link stays, and the file that it points to is replaced.
// not_found, no_permission: the folder. no_permission: the file that stands there must not be written to. bad_argument:
// the path is a folder, a device or the like, or its last name is longer than the file system allows.
Result<TemporaryFile> start_temporary_file(const std::string& path);

// Whether the file system lets a file beside `path` have so many bytes: one without any content is made so long, and
// removed. OK where that cannot be tried.
Status check_file_size(const std::string& path, int64_t bytes);

// Makes the empty files that will be published together with a temporary. Each has from its first moment the mode of
// the file that it will replace or, when there is none, that of the temporary. `held`: gets one for each. Errors as
// start_temporary_file(); what was made until then stays.
Status start_sidecars(const TemporaryFile& temporary, std::span<const Rename> sidecars,
                      std::vector<HeldFile>* held = nullptr);

// Makes the folder of files that will be published together with a temporary. Who may read or write the temporary may
// so do its files.
Status start_folder(const TemporaryFile& temporary, const std::string& path, HeldFile* held = nullptr);

// Why nothing more is written to a file: its name is another's, or nobody's.
Status replaced_by_others(const std::string& path);

// Removes a folder and the files in it, but no folders; one that does not exist is fine.
Status remove_folder(const std::string& path);

// A file in a folder that is named by no file any more: it stays for those who have opened the file that named it.
inline constexpr std::string_view k_replaced_mark = ".windrow-replaced";

// Says of a folder that it is replaced. Those that have been longer are removed, where nobody reads or writes their
// files: `folders` without these two.
void retire_folder(const std::string& replaced, const std::string& replacing,
                   std::span<const std::string> folders) noexcept;

// The folders beside `path` whose names begin with its own and `mark`.
std::vector<std::string> folders_beside(const std::string& path, const std::string& mark);

// Renames all files, in order. The last that does not follow is the one whose appearance publishes the set, so its
// sidecars come first. A file
// that is replaced hands down its mode. `durable`: file and folder are on stable storage when this returns, and the
// file is before it is renamed. After an error, what was not yet renamed is still under its temporary name. io: a
// temporary name is another's file or folder now; nothing is renamed then. `options`: a faulty store fails here too.
// `named`: whether the set is published, as it may be after an error: what follows has not got its name, or the folder
// could not be synced. Everybody reads the new files then, and whoever
// goes on with the old ones writes where nobody reads.
Status publish(std::span<const Rename> files, bool durable, const StoreOptions& options = {}, bool* named = nullptr);

// Removes the temporary file, unless its name is another's file now.
void remove_temporary_file(const TemporaryFile& temporary) noexcept;

// Gives a file other content: a temporary file is written, on stable storage where `durable`, and takes its name.
// Whatever fails, or ends the process, the file has either the old or the new content. Needs permission to write to the
// folder.
Status replace_content(const std::string& path, std::span<const std::byte> content, bool durable);

// Removes files; one that does not exist is fine.
Status remove_files(std::span<const std::string> paths);

// Whether a file's name is one that start_temporary_file() gives, or a sidecar's of it.
bool is_temporary(std::string_view name) noexcept;

// What a calibration of a folder makes a temporary of, which never gets this name.
inline constexpr std::string_view k_calibration = "windrow-calibration";

// Temporary files of `path` and of calibrations of its folder, and their sidecars, that a killed job left behind (or
// a running one is writing); sorted.
std::vector<std::string> leftovers(const std::string& path);

// Removes those whose makers have ended (remove_leftover()); returns them.
std::vector<std::string> remove_leftovers(const std::string& path);

}  // namespace windrow
