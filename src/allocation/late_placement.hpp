// SPDX-License-Identifier: BSD-3-Clause
// LatePlacement: places the variables of a format with late allocation, after definitions and before data moves. If
// variables that have a place must move, all ranks copy their bytes into a new file beside it, which then takes its
// name. No byte is moved over another, so a job that is killed leaves one whole file or the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/function_ref.hpp"
#include "base/status.hpp"
#include "comm/comm.hpp"
#include "dataio/data_file.hpp"
#include "metadata/broadcasts.hpp"
#include "metadata/metadata.hpp"
#include "publication/publication.hpp"
#include "storage/striping.hpp"

namespace windrow {

class LatePlacement {
 public:
  // What it needs of an open file. References must outlive it.
  struct Parts {
    const Comm& comm;
    Metadata& metadata;
    Publication& publication;
    Format* format;  // rank 0's
    DataFile& file;
    const Striping& striping;  // of the file
    const StripingOptions& striping_options;
    int64_t buffer_bytes = 0;  // memory for the copy
    bool durable = false;
  };
  explicit LatePlacement(const Parts& parts) : parts_(parts) {}

  // Collective, agreed. Afterwards the places are in force on all ranks, or after an error the file and they are as
  // before; is_in_force() says which. complete(): local; what else must be in the file system before a file that was
  // rewritten in place takes its name.
  Status place(Status local, FunctionRef<Status()> complete);

  bool is_laid_out() const noexcept { return laid_out_; }  // rank 0's format has found places
  bool is_in_force() const noexcept { return in_force_; }  // also after an error: the new file may have its name
  // Of the file that was rewritten; nullptr: none was.
  const std::shared_ptr<const StorageLayout>& new_layout() const noexcept { return new_layout_; }

 private:
  bool is_rewritten() const noexcept { return !layout_.path.empty(); }
  Status lay_out(Status local);
  Status lay_out_on_root();
  Status start_new_file_on_root();
  Result<Striping> stripe_as_before() const;
  Status receive(std::span<const std::byte> bytes);
  Status rewrite(FunctionRef<Status()> complete);
  Status copy(FunctionRef<Status()> complete);
  Status publish_on_root(bool& named);
  void enter() noexcept;

  const Parts parts_;
  LayoutBroadcast layout_;
  std::shared_ptr<const StorageLayout> new_layout_;
  TemporaryFile new_file_;  // rank 0's
  bool laid_out_ = false, in_force_ = false;
};

}  // namespace windrow
