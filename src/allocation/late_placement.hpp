// SPDX-License-Identifier: BSD-3-Clause
// LatePlacement: places the variables of a format with late allocation, after definitions and before data moves. If a
// larger header moves variables that have a place, the file is rewritten: all ranks copy the bytes into a new file in
// the same folder, which is then renamed over the old one. No byte is overwritten, so a job that is killed leaves
// either the old or the new file complete. The object is made for one call of place().
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
  // The parts of an open file that placement uses. The caller owns them; they must outlive this object.
  struct Parts {
    const Comm& comm;
    Metadata& metadata;
    Publication& publication;
    Format* format;  // of rank 0; nullptr on other ranks
    DataFile& file;
    const Striping& striping;  // the stripes of the file
    const StripingOptions& striping_options;
    int64_t buffer_bytes = 0;  // size of the buffer for copying
    bool durable = false;
  };
  explicit LatePlacement(const Parts& parts) : parts_(parts) {}

  // Collective, agreed. Afterwards either all ranks use the new places, or the file and the places are as before: see
  // is_in_force(). complete(): local; called before the rewritten file is renamed, to store what must be there first.
  Status place(Status local, FunctionRef<Status()> complete);
  // Collective, agreed. Enters the places that place() would find into the metadata. The file and the format are
  // unchanged.
  Status predict(Status local);

  bool is_laid_out() const noexcept { return laid_out_; }  // whether the format of rank 0 has found places
  // Whether all ranks use the new places. Possible after an error too, if the new file already had the name.
  bool is_in_force() const noexcept { return in_force_; }
  // The layout of the rewritten file; nullptr if the file was not rewritten.
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
  TemporaryFile new_file_;  // rank 0
  bool predicts_ = false, laid_out_ = false, in_force_ = false;
};

}  // namespace windrow
