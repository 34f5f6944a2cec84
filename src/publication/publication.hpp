// SPDX-License-Identifier: BSD-3-Clause
// Publication: how a file gets its name, and how long it has it. A new file has a temporary name until it is published;
// a file that was there is held, and must still have its name when it is changed.
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
  Format* format = nullptr;  // is told the name; nullptr: it is closed
  bool durable = false;
  const StoreOptions& store;
};

class Publication {
 public:
  explicit Publication(bool creates) noexcept : creates_(creates) {}
  Publication(const Publication&) = delete;
  Publication& operator=(const Publication&) = delete;

  // On all ranks.
  bool is_temporary() const noexcept { return creates_ && !published_; }
  void set_published() noexcept { published_ = true; }
  // A new file that has failed in this way cannot be published any more. The first failure counts.
  void fail(const Status& failure) noexcept { failure_.update(failure); }
  bool has_failed() const noexcept { return !failure_.ok(); }
  Status failure() const noexcept;  // says so

  // On rank 0 only, from here on.
  // Of a new file: makes its temporary. Paths are absolute: the program may change its folder while it writes.
  Status start(const std::string& path);
  // Of a file that is there. `changes`: bad_state where this process changes it already.
  Status hold(const std::string& path, bool changes);
  // The same file, which is to be changed in place: no other process may change it until this object ends. bad_state:
  // another one does. HDF5 has locks of its own, which would meet this one on NFS and Lustre.
  Status exclude_writers(const std::string& path);
  bool holds(const std::string& path) const noexcept { return held_.is_behind(path); }

  const TemporaryFile& temporary() const noexcept { return temporary_; }  // of a new file, also once it is published
  const HeldFile& held() const noexcept { return is_temporary() ? temporary_.held : held_; }
  // This process has given the temporary's name to another file.
  Status follow_temporary() { return temporary_.held.follow(temporary_.temporary_path); }
  // Whether somebody else has removed or replaced the file at `path`. publish() asks for a temporary.
  Status check_name(const std::string& path) const;
  // Before another file of this process takes the name, temporary or not.
  Status check_replaceable(const std::string& path) const;
  // That file has the name now.
  void take_over(HeldFile file) noexcept;

  // Sidecars are published in the order in which they are added.
  template <class T, class... Arguments>
  T& add(Arguments&&... arguments) {
    auto made = std::make_unique<T>(std::forward<Arguments>(arguments)...);
    T& sidecar = *made;
    sidecars_.push_back(std::move(made));
    return sidecar;
  }
  // Publishes the new file. All data is in place. `turn`: is set where a sidecar takes turns. Where it fails, the old
  // file and its sidecars are as they were, unless is_temporary() is false then: the file has its name.
  Status publish(const PublishInputs& inputs, FolderLock& turn);
  // Publishes what sidecars have to say anew of a file that has its name.
  Status publish_sidecars(const PublishInputs& inputs);
  // Removes all that has no final name yet. May be called again.
  void abandon() noexcept;

 private:
  const bool creates_;
  bool published_ = false;
  Status failure_;
  TemporaryFile temporary_;
  HeldFile held_;  // the file that was opened, or has been published
  FileLock lock_;  // of a file that is changed in place
  std::vector<std::unique_ptr<Sidecar>> sidecars_;
};

}  // namespace windrow
