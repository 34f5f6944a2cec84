// SPDX-License-Identifier: BSD-3-Clause
// Sidecar: what stands beside a file and is published with it: a file or a folder. Rank 0 calls it; it does not talk to
// other ranks.
#pragma once

#include <vector>

#include "base/status.hpp"
#include "format/format.hpp"
#include "storage/folder_lock.hpp"
#include "storage/publish.hpp"

namespace windrow {

// The file that a sidecar is published with.
struct PublishedFile {
  const TemporaryFile& temporary;
  const Catalog& catalog;
  const FolderLock* turn = nullptr;  // asked for since a sidecar takes turns, and got if nobody had it too long
};

// The steps of a publication, in this order for all sidecars: prepare, withdraw, the renames, take_names.
class Sidecar {
 public:
  Sidecar() = default;
  Sidecar(const Sidecar&) = delete;
  Sidecar& operator=(const Sidecar&) = delete;
  virtual ~Sidecar() = default;
  // Whether two programs that publish a file of one name must do so one after the other.
  virtual bool takes_turns() const { return false; }
  // Completes it under its temporary name, and adds the renames that publish it. Adds none where nothing has changed.
  virtual Status prepare(const PublishedFile&, std::vector<Rename>&) { return {}; }
  // Removes an old sidecar that no rename replaces, before another file takes the name of the one that it describes.
  virtual Status withdraw() { return {}; }
  // The file has its name. `all`: all renames are done. Else those that follow the file's are not.
  virtual void take_names(bool) noexcept {}
  // Removes what has no final name yet. Nothing is removed twice.
  virtual void abandon() noexcept {}
};

}  // namespace windrow
