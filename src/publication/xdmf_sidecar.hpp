// SPDX-License-Identifier: BSD-3-Clause
// XdmfSidecar: the XDMF text beside a file, which describes its variables as grids and fields for viewers. Rank 0; no
// call communicates.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "publication/sidecar.hpp"
#include "xdmf/xdmf.hpp"

namespace windrow {

class XdmfSidecar;

struct ViewerGrids {
  std::vector<ViewerGrid> all;
  bool changed = false;            // since the text was published
  XdmfSidecar* sidecar = nullptr;  // on rank 0 of a file that is written; the publication owns it
};

class XdmfSidecar final : public Sidecar {
 public:
  // `shown`: the path of the file as the user gave it. `path`: its final path. `grids` must outlive the sidecar.
  XdmfSidecar(const ViewerGrids& grids, std::string format, std::string shown, std::string path)
      : grids_(grids), format_(std::move(format)), shown_(std::move(shown)), path_(std::move(path)) {}
  // Creates the temporary file of the text, unless it exists. It is created early, so that an obstacle is reported at
  // once and not at close.
  Status start();

  Status prepare(const PublishedFile& file, std::vector<Rename>& renames) override;
  void take_names(bool all) noexcept override;
  void abandon() noexcept override;

 private:
  const ViewerGrids& grids_;
  std::string format_, shown_, path_;
  TemporaryFile temporary_;
};

}  // namespace windrow
