// SPDX-License-Identifier: BSD-3-Clause
// KerchunkSidecar: a text beside the file that tells Zarr's readers in which bytes each chunk lies. It is made before
// the format is closed, and published when the file has its name.
#pragma once

#include <string>
#include <utility>

#include "publication/references.hpp"
#include "publication/sidecar.hpp"

namespace windrow {

class KerchunkSidecar final : public Sidecar {
 public:
  // `shown`: the file's path as the user gave it; `path`: as it will be. `is_new`: the file is created.
  KerchunkSidecar(std::string shown, std::string path, bool is_new)
      : shown_(std::move(shown)), path_(std::move(path)), is_new_(is_new) {}
  // Of a file that is created: makes the text's temporary. What stands in its way is told before hours of computing.
  Status start(const TemporaryFile& file);
  // While the format can still be asked, with all data in place.
  Status make(const ReferenceSources& sources);
  // When the file has its name.
  Status publish(bool durable);

  // Whether there will be a text.
  void want(bool wanted) noexcept { wanted_ = wanted; }
  bool takes_turns() const override { return wanted_; }
  // By an old text readers would find other bytes. One that has not our mark is somebody else's.
  Status withdraw() override;
  void abandon() noexcept override;

 private:
  std::string shown_, path_;
  bool is_new_ = false, wanted_ = false;
  TemporaryFile temporary_;
  std::string text_;  // until it is published
};

}  // namespace windrow
