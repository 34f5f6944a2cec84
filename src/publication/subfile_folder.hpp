// SPDX-License-Identifier: BSD-3-Clause
// SubfileFolder: the folder of the subfiles of a new set. When the new file replaces a set, it also removes the folder
// of that set.
#pragma once

#include <string>
#include <utility>

#include "publication/sidecar.hpp"

namespace windrow {

class SubfileFolder final : public Sidecar {
 public:
  // `final_path`: the final path of the new file. The file need not be a set: it has no folder until start().
  SubfileFolder(std::string format, std::string final_path)
      : format_(std::move(format)), final_path_(std::move(final_path)) {}
  // Makes the folder. `final_folder`: its path after the file has its name.
  Status start(const TemporaryFile& temporary, std::string folder, std::string final_folder);

  bool takes_turns() const override;
  Status prepare(const PublishedFile& file, std::vector<Rename>& renames) override;
  void take_names(bool all) noexcept override;
  void abandon() noexcept override;

 private:
  std::string replaced_folder() const;

  std::string format_, final_path_;
  std::string folder_, final_folder_;  // "" if there are no subfiles, or if the folder has its final name
  HeldFile held_;
  std::string replaced_;  // the folder of the set that the new file replaces
  bool in_turn_ = false;
};

}  // namespace windrow
