// SPDX-License-Identifier: BSD-3-Clause
// FormatSidecars: the sidecars that belong to the format of a new file. Only the raw format has one, its description.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "publication/sidecar.hpp"

namespace windrow {

class FormatSidecars final : public Sidecar {
 public:
  explicit FormatSidecars(std::string format) : format_(std::move(format)) {}
  // Creates the sidecars, empty, under temporary names.
  Status start(const TemporaryFile& temporary);

  bool takes_turns() const override { return !names_.empty(); }
  Status prepare(const PublishedFile& file, std::vector<Rename>& renames) override;
  void take_names(bool all) noexcept override;
  void abandon() noexcept override;

 private:
  std::string format_;
  std::vector<Rename> names_;
  std::vector<HeldFile> held_;      // [names_] the open files
  std::vector<std::string> files_;  // removed if the file is not published
};

}  // namespace windrow
