// SPDX-License-Identifier: BSD-3-Clause
// PartDefinitions: the definitions of split variables in the files of a set. Each part is defined by the owner of its
// subfile, and the whole variable in the base file by rank 0. The object has no state; it is made for one call.
#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "base/status.hpp"
#include "subfiling/subfile_set.hpp"

namespace windrow {

class PartDefinitions {
 public:
  // `set` must have a map, and outlive this object.
  explicit PartDefinitions(SubfileSet& set) noexcept : set_(set), map_(*set.map()) {}

  // Collective, agreed. Defines the parts of split variables in the subfiles, and enters their places into `splits`.
  // `splits`: by number of the variable. `first`: the number of the first definition. After an error the parts are
  // removed.
  Status define(Status local, std::span<const VariableDefinition> definitions, std::map<int, SplitVariable>& splits,
                int first);
  // Local; all ranks call it after the definitions of a call. Unless `succeeded`, removes the parts of the variables
  // from number `end` on, which were refused.
  void end(int end, bool succeeded);
  // Rank 0. Defines a split variable in the base file, with its attributes of the map. After an error the variable is
  // removed. `records`: see Format::undefine().
  Status define_in_base(Format& base, const VariableDefinition& definition, const SplitVariable& split,
                        int64_t records) const;

 private:
  Status define_own(std::span<const VariableDefinition> definitions, const std::map<int, SplitVariable>& splits,
                    int first, std::span<int64_t> offsets);
  Status withdraw(const std::map<int, SplitVariable>& splits, int first);
  void drop_unused();

  SubfileSet& set_;
  Subfiles& map_;
};

}  // namespace windrow
