// SPDX-License-Identifier: BSD-3-Clause
// SetLayouts: the storage layouts of the files of a set, for domains by target.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "layout/layout.hpp"
#include "storage/striping.hpp"

namespace windrow {

class DataFile;
class SubfileSet;

class SetLayouts {
 public:
  // `set` must outlive this object.
  explicit SetLayouts(SubfileSet& set) noexcept : set_(set) {}

  // Collective, agreed. The owners query the layouts of their subfiles, as far as they are not known, and all ranks get
  // them. `base`: the layout of the base file. `data` counts requests by the layout of the address space.
  Status find(Status local, const StripingOptions& options, const StorageLayout& base, DataFile& data);
  // The layout of a subfile.
  const StorageLayout& operator[](int64_t number) const noexcept { return subfiles_[static_cast<size_t>(number)]; }
  // The layout of the whole address space; nullptr if it is unknown.
  const std::shared_ptr<const StorageLayout>& line() const noexcept { return line_; }

 private:
  Status find_own(const StripingOptions& options, int64_t known, std::vector<std::byte>& message);
  Status take(std::span<const std::byte> message, int64_t known, int64_t used);

  SubfileSet& set_;
  std::vector<StorageLayout> subfiles_;  // of the first subfiles, as far as they are known
  std::shared_ptr<const StorageLayout> line_;
};

}  // namespace windrow
