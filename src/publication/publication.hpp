// SPDX-License-Identifier: BSD-3-Clause
// Publication: the names of an open file. A new file has a temporary name until publish() renames it, together with its
// sidecars. A file that existed before is kept open, so that a replacement by another program is detected: it must
// still have its name when it is changed. Only rank 0 handles names; all ranks know whether the file is published, and
// whether it has failed. No call communicates.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "format/format.hpp"
#include "publication/sidecar.hpp"
#include "storage/file_lock.hpp"
#include "storage/folder_lock.hpp"
#include "storage/held_file.hpp"
#include "storage/publish.hpp"
#include "storage/store.hpp"

namespace windrow {

// What publish() needs of the file besides its names.
struct PublishInputs {
  const Catalog& catalog;
  Format* format = nullptr;  // gets the new name; nullptr if it is closed
  bool durable = false;
  const StoreOptions& store;
};

class Publication {
 public:
  explicit Publication(bool creates) noexcept : creates_(creates) {}
  Publication(const Publication&) = delete;
  Publication& operator=(const Publication&) = delete;

  // Called on all ranks, with the same result.

  // Whether the file is new and has no final name yet.
  bool is_temporary() const noexcept { return creates_ && !published_; }
  void set_published() noexcept { published_ = true; }
  // Marks a new file as failed: it cannot be published any more. The first failure is kept.
  void fail(const Status& failure) noexcept { failure_.update(failure); }
  bool has_failed() const noexcept { return !failure_.ok(); }
  // Returns the error of every call that would publish the file.
  Status failure() const noexcept;

  // Called on rank 0 only, from here on.

  // Creates the temporary file of a new file. Its paths are absolute, because the program may change its folder.
  Status start(const std::string& path);
  // Opens a file that exists and keeps it open. `changes`: it is opened for update, and locked until this object ends;
  // bad_state if this or another process has it open for update already.
  Status hold(const std::string& path, bool changes);
  // Ends the system's lock of hold(), and lets publish() share that of the new file. HDF5 has its own locks, which
  // would conflict with it on NFS and Lustre; the shared locks of readers do not conflict with a shared one.
  void rely_on_locks_of_format() noexcept { held_.unlock(), format_locks_ = true; }
  // Ends all locks of a file that has its name: it is closed, and another program may change it.
  void let_go() noexcept { held_.release(), lock_ = FileLock(); }
  // Whether the file at `path` is still the one that was opened.
  bool holds(const std::string& path) const noexcept { return held_.is_reached_by(path); }

  const TemporaryFile& temporary() const noexcept { return temporary_; }  // of a new file, also after it is published
  const HeldFile& held() const noexcept { return is_temporary() ? temporary_.held : held_; }
  // Called after this process has replaced the temporary file by another one.
  Status follow_temporary() { return temporary_.held.follow(temporary_.temporary_path); }
  // Returns an error if another program has removed or replaced the file at `path`. OK for a temporary file, which
  // publish() checks.
  Status check_name(const std::string& path) const;
  // The same, also for a temporary file. Called before this process replaces the file by a rewritten one.
  Status check_replaceable(const std::string& path) const;
  // Called after the rewritten file has got the name.
  void take_over(HeldFile file, const std::string& path) noexcept;

  // Makes a sidecar and returns it; this object owns it. Sidecars are published in the order in which they are added.
  template <class T, class... Arguments>
  T& add(Arguments&&... arguments) {
    auto made = std::make_unique<T>(std::forward<Arguments>(arguments)...);
    T& sidecar = *made;
    sidecars_.push_back(std::move(made));
    return sidecar;
  }
  // Publishes the new file with its sidecars. All data is in place. If a sidecar takes turns, locks `turn`; the caller
  // keeps the lock until the references are published too. If is_temporary() is still true after an error, the
  // replaced file is unchanged, and its sidecars describe it, but its references (KerchunkSidecar) may be removed. A
  // reader would find wrong bytes by references to a file that was replaced, so they are removed before. They can be
  // made again. If is_temporary() is false, the file has its name, and is locked as by hold(); sidecars that follow it
  // may be missing.
  Status publish(const PublishInputs& inputs, FolderLock& turn);
  // Publishes the sidecars that have changed, of a file that has its name.
  Status publish_sidecars(const PublishInputs& inputs);
  // Closes and removes what has no final name yet. May be called several times.
  void abandon() noexcept;

 private:
  const bool creates_;
  bool published_ = false;
  Status failure_;
  TemporaryFile temporary_;
  HeldFile held_;  // the file that was opened, or was published
  FileLock lock_;  // of a file that is changed in place
  bool format_locks_ = false;
  std::vector<std::unique_ptr<Sidecar>> sidecars_;
};

}  // namespace windrow
