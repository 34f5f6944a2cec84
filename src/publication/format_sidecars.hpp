// SPDX-License-Identifier: BSD-3-Clause
// FormatSidecars: the files that a format has beside its own, of a new file: the raw format's description.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "publication/sidecar.hpp"

namespace windrow {

class FormatSidecars final : public Sidecar {
 public:
  explicit FormatSidecars(std::string format) : format_(std::move(format)) {}
  // Makes them, empty, under temporary names.
  Status start(const TemporaryFile& temporary);

  bool takes_turns() const override { return !names_.empty(); }
  Status prepare(const PublishedFile& file, std::vector<Rename>& renames) override;
  void take_names(bool all) noexcept override;
  void abandon() noexcept override;

 private:
  std::string format_;
  std::vector<Rename> names_;
  std::vector<HeldFile> held_;      // of these
  std::vector<std::string> files_;  // what has to go when the file is not published
};

}  // namespace windrow
