// SPDX-License-Identifier: BSD-3-Clause
// SubfileFolder: the folder of a new set's subfiles, and the one of the set that the new file replaces.
#pragma once

#include <string>
#include <utility>

#include "publication/sidecar.hpp"

namespace windrow {

class SubfileFolder final : public Sidecar {
 public:
  // `final_path`: of the new file, which may turn out to be one without subfiles.
  SubfileFolder(std::string format, std::string final_path)
      : format_(std::move(format)), final_path_(std::move(final_path)) {}
  // Makes the folder. `final_folder`: its path when the file has its name.
  Status start(const TemporaryFile& temporary, std::string folder, std::string final_folder);

  bool takes_turns() const override;
  Status prepare(const PublishedFile& file, std::vector<Rename>& renames) override;
  void take_names(bool all) noexcept override;
  void abandon() noexcept override;

 private:
  std::string replaced_folder() const;

  std::string format_, final_path_;
  std::string folder_, final_folder_;  // "": there are no subfiles, or the folder has its name
  HeldFile held_;
  std::string replaced_;  // the folder of the set that has the name until the new file takes it
  bool in_turn_ = false;
};

}  // namespace windrow
