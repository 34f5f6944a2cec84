// SPDX-License-Identifier: BSD-3-Clause
// KerchunkSidecar: the references of a file for Zarr's readers, a text beside it that has the place of each chunk. The
// text is made before the format is closed, since the format has the chunk indices. It is published after the file has
// its name. Rank 0; no call communicates.
#pragma once

#include <string>
#include <utility>

#include "publication/references.hpp"
#include "publication/sidecar.hpp"

namespace windrow {

class KerchunkSidecar final : public Sidecar {
 public:
  // `shown`: the path of the file as the user gave it. `path`: its final path. `is_new`: the file is created.
  KerchunkSidecar(std::string shown, std::string path, bool is_new)
      : shown_(std::move(shown)), path_(std::move(path)), is_new_(is_new) {}
  // For a new file: creates the temporary file of the text, so that an obstacle is reported at once and not at close.
  Status start(const TemporaryFile& file);
  // Makes the text. The format is open, and all data is in place.
  Status make(const ReferenceSources& sources);
  // Writes the text and renames it to its final name. The file has its name.
  Status publish(bool durable);

  // Whether the file gets a text.
  void want(bool wanted) noexcept { wanted_ = wanted; }
  bool takes_turns() const override { return wanted_; }
  // Removes the text of the replaced file, since its places would be wrong. If the file gets no text, a file without
  // our mark stays: another program has made it.
  Status withdraw() override;
  void abandon() noexcept override;

 private:
  std::string shown_, path_;
  bool is_new_ = false, wanted_ = false;
  TemporaryFile temporary_;
  std::string text_;  // until it is published
};

}  // namespace windrow
