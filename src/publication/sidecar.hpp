// SPDX-License-Identifier: BSD-3-Clause
// Sidecar: the interface of a file or folder that accompanies a file and is published with it. Only rank 0 has
// sidecars; no call communicates.
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
  // Set if a sidecar needs the lock of the folder; unlocked if another program held it too long.
  const FolderLock* turn = nullptr;
};

// A publication has these steps, each for all sidecars: prepare(), withdraw(), the renames, take_names(). An error in
// prepare() or withdraw() ends the publication; then abandon() removes what was made.
class Sidecar {
 public:
  Sidecar() = default;
  Sidecar(const Sidecar&) = delete;
  Sidecar& operator=(const Sidecar&) = delete;
  virtual ~Sidecar() = default;
  // Whether programs that publish a file under the same name must do so one after another.
  virtual bool takes_turns() const { return false; }
  // Completes the sidecar under its temporary name, and adds the renames that publish it. Adds none if it is unchanged.
  virtual Status prepare(const PublishedFile&, std::vector<Rename>&) { return {}; }
  // Removes an old sidecar that no rename replaces, before another file takes the name of the one that it describes.
  virtual Status withdraw() { return {}; }
  // Called when the file has its name. The argument: whether all renames are done; otherwise those after the rename of
  // the file are not.
  virtual void take_names(bool) noexcept {}
  // Removes what has no final name yet. May be called several times.
  virtual void abandon() noexcept {}
};

}  // namespace windrow
