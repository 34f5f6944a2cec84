// SPDX-License-Identifier: BSD-3-Clause
// SetChecksums: the checksums of the elements in the subfiles of a set. There is one for each part, as an attribute of
// its subfile. Only the owner of a subfile reads or writes its checksums:
//
//   renew()     when the set is closed, computes the checksums of parts that have changed
//   withdraw()  removes a checksum before the bytes that it includes change in place
//   compare()   when the set is checked, compares the elements with their checksums
//
// Invariant: a checksum in a subfile matches the elements, unless the file was damaged. So a job that is killed leaves
// no checksum of elements that it was changing. The object has no state; it is made for one call.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/function_ref.hpp"
#include "base/status.hpp"
#include "subfiling/subfile_set.hpp"

namespace windrow {

class SetChecksums {
 public:
  // `set` must have a map, and outlive this object.
  explicit SetChecksums(SubfileSet& set) noexcept : set_(set), map_(*set.map()) {}

  // Local. Handles the own parts that have changed. If `wanted`, computes and writes their checksums; the caller makes
  // sure that no rank writes elements any more. Otherwise removes the previous checksums.
  Status renew(bool wanted);
  // Local. Removes checksums from an own subfile, before bytes change that they include: of the parts of which
  // picks(split) is true, and of all parts that have changed. Flushes the subfile if picks() was true of any part.
  Status withdraw(int64_t number, Format& format, FunctionRef<bool(const SplitVariable&)> picks);

  // Collective, agreed. Sets `found` to one finding for each part of each split variable, the same on all ranks.
  // Elements that do not match are a finding, not an error.
  Status compare(std::vector<int64_t>& found);
  // Pure. Returns the problems in the result of compare() as text, one per line.
  std::string describe(std::span<const int64_t> found) const;

 private:
  Status renew_part(int64_t number, int variable, const SplitVariable& split, bool wanted);
  Status compare_own(std::span<int64_t> found);
  Result<int64_t> compare_part(int64_t number, const SplitVariable& split, const Subfiles::PartSum& expected);

  SubfileSet& set_;
  Subfiles& map_;
};

}  // namespace windrow
