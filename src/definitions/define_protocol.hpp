// SPDX-License-Identifier: BSD-3-Clause
// DefineProtocol: the protocol of collective definitions. All ranks have a copy of the metadata; only rank 0 has the
// format, which writes the metadata into the file. Every call has the same steps:
//
//   check     local: each rank checks the arguments against its copy of the metadata
//   compare   one agreement: the arguments of all ranks are the same, by a hash
//   change    rank 0 changes the format; the owners of subfiles change the parts of a split variable
//   enter     local: all ranks enter the same change into their metadata
//
// An error in a step ends the call on all ranks, with the same status, before the next step. So the copies of the
// metadata stay equal. Memory for the last step is allocated in the first, so that the last cannot fail.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "allocation/space_allocator.hpp"
#include "base/function_ref.hpp"
#include "base/status.hpp"
#include "comm/comm.hpp"
#include "metadata/metadata.hpp"
#include "subfiling/subfile_set.hpp"

namespace windrow {

// Rank 0. Makes groups in the format: all of them, or none after an error. A group that exists is not an error: an
// earlier call made it and then failed.
Status define_groups(Format& format, std::span<const std::string> groups);
// Rank 0. Removes groups that define_groups() made, if the format then refuses what belongs into them.
void withdraw_groups(Format& format, std::span<const std::string> groups);

class DefineProtocol {
 public:
  // The parts of an open file that definitions use. The caller owns them; they must outlive this object.
  struct Parts {
    const Comm& comm;
    Metadata& metadata;
    SpaceAllocator& allocator;  // a definition can make it necessary to place variables again
    Format* format;             // of rank 0; nullptr on other ranks
    SubfileSet& set;            // without a map if the file is a single file
  };
  explicit DefineProtocol(const Parts& parts) noexcept : parts_(parts) {}

  // All calls are collective, and their status is agreed. `local`: an error that this rank has found before the call.
  // The calls fail if the arguments are invalid or differ between ranks. After an error the metadata are unchanged.

  // Also makes the parent groups of the path.
  Status define_group(const std::string& path, Status local) const;
  // Writes an attribute, or replaces it. All ranks pass the object and the name; only the value of rank 0 is written.
  // After an error the base file and the subfiles still have the old attribute; otherwise the message says so. The same
  // is true of delete_attribute().
  Status put_attribute(const std::string& object, Attribute attribute, Status local) const;
  Status delete_attribute(const std::string& object, const std::string& name, Status local) const;
  // Makes the link `path` to the object `target`, and the parent groups of `path`.
  Status define_link(const std::string& path, const std::string& target, Status local) const;
  Status define_dimension(const std::string& path, int64_t length, Status local) const;
  // Names the dimensions of a variable, one name for each. Dimensions that do not exist are made.
  Status name_dimensions(int variable, const std::vector<std::string>& names, Status local) const;

 private:
  bool is_root() const noexcept { return parts_.comm.rank() == 0; }
  const SplitVariable* find_split(const std::string& path) const;
  Status for_own_parts(const SplitVariable& split, FunctionRef<Status(Format&)> work) const;
  Status check_attribute(const std::string& object, const std::string& name, std::string& place) const;
  Status share_attribute(Attribute& attribute) const;
  const Attribute* find_attribute(const std::string& place, std::string_view name) const;
  using FormatChange = FunctionRef<Status(Format&)>;
  Status change_object(const std::string& place, FormatChange change, FormatChange revert) const;
  Status define_dimensions(DimensionAdditions added) const;
  Status define_dimensions_on_root(const DimensionAdditions& added) const;
  Status name_dimensions_of_parts(const DimensionAdditions& added) const;

  const Parts parts_;
};

}  // namespace windrow
