// SPDX-License-Identifier: BSD-3-Clause
// AddressSpace: the places of the bytes of variables, as offsets in one file or as addresses in the common address
// space of a set. Local; allocates no memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "extent/extent.hpp"
#include "format/format.hpp"
#include "subfiling/subfiles.hpp"

namespace windrow {

class AddressSpace {
 public:
  // `subfiles`: nullptr if the file is a single file. Both must outlive this object.
  AddressSpace(const Catalog& catalog, const Subfiles* subfiles) noexcept : catalog_(catalog), subfiles_(subfiles) {}

  const Catalog& catalog() const noexcept { return catalog_; }
  const SplitVariable* find_split(size_t variable) const noexcept {
    return windrow::find_split(subfiles_, static_cast<int>(variable));
  }
  // Whether a contiguous variable has its place, or all its places if it is split.
  bool has_place(size_t variable) const noexcept {
    const SplitVariable* split = find_split(variable);
    return split == nullptr ? catalog_.variables[variable].placement.is_known()
                            : std::ranges::all_of(split->offsets, [](int64_t offset) { return offset >= 0; });
  }
  // The owner of the subfile that has this part of a split variable.
  int owner_of(int64_t part, int ranks) const noexcept { return subfiles_->owner_of(part, ranks); }
  // The place of a contiguous variable in the base file.
  int64_t place_of(size_t variable) const {
    const Placement& place = catalog_.variables[variable].placement;
    return subfiles_ != nullptr && place.is_known() ? subfiles_->line().place(0, place.offset) : place.offset;
  }
  int64_t place_of(const SplitVariable& split, int64_t part) const { return subfiles_->place(split, part); }
  // Calls visit(part, Extent) for each range of bytes of a variable. `part` is -1 if the variable is not split.
  template <class Visit>
  void for_each_extent(size_t variable, Visit&& visit) const {
    const Placement& place = catalog_.variables[variable].placement;
    const SplitVariable* split = find_split(variable);
    if (split == nullptr) {
      if (!place.has_bytes())
        return;
      const int64_t begin = place_of(variable);
      visit(int64_t{-1}, Extent{begin, begin + place.bytes});
      return;
    }
    for (int64_t part = 0; part < split->split.parts(); ++part) {
      if (!split->has_place(part))
        continue;
      const int64_t begin = subfiles_->place(*split, part);
      visit(part, Extent{begin, begin + split->length(part, split->records).value_or(0)});
    }
  }
  // Calls visit(part, Extent) for the range of these records of a split variable in each part.
  template <class Visit>
  void for_each_part_of_records(const SplitVariable& split, Extent records, Visit&& visit) const {
    for (int64_t part = 0; part < split.split.parts() && records.begin < records.end; ++part) {
      if (!split.has_place(part))
        continue;
      const int64_t begin = subfiles_->place(split, part) + records.begin * split.strides[static_cast<size_t>(part)];
      visit(part, Extent{begin, begin + split.length(part, records.size()).value_or(0)});
    }
  }

 private:
  const Catalog& catalog_;
  const Subfiles* subfiles_;
};

}  // namespace windrow
