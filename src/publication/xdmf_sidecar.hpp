// SPDX-License-Identifier: BSD-3-Clause
// XdmfSidecar: the text that tells viewers which grids and fields the variables of an HDF5 file are.
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
  bool changed = false;            // since they were published
  XdmfSidecar* sidecar = nullptr;  // on rank 0 of a file that is written
};

class XdmfSidecar final : public Sidecar {
 public:
  // `shown`: the file's path as the user gave it; `path`: as it will be. `grids` must outlive the sidecar.
  XdmfSidecar(const ViewerGrids& grids, std::string format, std::string shown, std::string path)
      : grids_(grids), format_(std::move(format)), shown_(std::move(shown)), path_(std::move(path)) {}
  // Makes the text's temporary, unless there is one. Made early: what stands in its way is told before hours of
  // computing, not after them.
  Status start();

  Status prepare(const PublishedFile& file, std::vector<Rename>& renames) override;
  void take_names(bool) noexcept override { temporary_ = {}; }
  void abandon() noexcept override;

 private:
  const ViewerGrids& grids_;
  std::string format_, shown_, path_;
  TemporaryFile temporary_;
};

}  // namespace windrow
