// SPDX-License-Identifier: BSD-3-Clause
// DefineProtocol: definitions as collective calls. Every rank checks the arguments against its copy of the metadata,
// the ranks compare them by a hash, rank 0 changes the format, and all ranks enter the same change. All calls are
// collective and agreed. `local`: what this rank has found wrong before.
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

// Rank 0: makes groups, all or none. One that is there already was made by a call that failed afterwards.
Status define_groups(Format& format, std::span<const std::string> groups);
// Rank 0: removes groups whose contents were refused.
void withdraw_groups(Format& format, std::span<const std::string> groups);

class DefineProtocol {
 public:
  // What it needs of an open file. References must outlive it.
  struct Parts {
    const Comm& comm;
    Metadata& metadata;
    SpaceAllocator& allocator;  // definitions of some formats make variables lose their places
    Format* format;             // rank 0's
    SubfileSet* subfiles;       // nullptr: the file is a single file
  };
  explicit DefineProtocol(const Parts& parts) noexcept : parts_(parts) {}

  Status define_group(const std::string& path, Status local) const;
  Status put_attribute(const std::string& object, Attribute attribute, Status local) const;  // rank 0's value counts
  Status delete_attribute(const std::string& object, const std::string& name, Status local) const;
  Status define_link(const std::string& path, const std::string& target, Status local) const;
  Status define_dimension(const std::string& path, int64_t length, Status local) const;
  Status name_dimensions(int variable, const std::vector<std::string>& names, Status local) const;

 private:
  bool is_root() const noexcept { return parts_.comm.rank() == 0; }
  const SplitVariable* find_split(const std::string& path) const;
  Status for_own_parts(const SplitVariable& split, FunctionRef<Status(Format&)> work) const;
  Status check_attribute(const std::string& object, const std::string& name, std::string& place) const;
  Status share_attribute(Attribute& attribute) const;
  Status define_dimensions(DimensionAdditions added) const;
  Status define_dimensions_on_root(const DimensionAdditions& added) const;
  Status name_dimensions_of_parts(const DimensionAdditions& added) const;

  const Parts parts_;
};

}  // namespace windrow
