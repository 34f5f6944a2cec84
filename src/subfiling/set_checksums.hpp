// SPDX-License-Identifier: BSD-3-Clause
// SetChecksums: checksums of the elements of parts, in the subfiles. The owners of the subfiles make them when a set is
// closed, and compare them when it is checked.
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
  explicit SetChecksums(SubfileSet& set) noexcept : set_(set), map_(*set.map()) {}

  // Local: of the own parts that have changed. `wanted`: new ones are made, since no rank writes any more; otherwise
  // the previous ones are removed.
  Status renew(bool wanted);
  // Local: removes those of an own subfile before bytes change that a reader of the checksum would include: of the
  // parts that `picks` says, and of all that have changed. If there are any, flushes the subfile.
  Status withdraw(int64_t number, Format& format, FunctionRef<bool(const SplitVariable&)> picks);

  // Collective, agreed. `found`: for each part of each split variable what is wrong with its elements; the same on all
  // ranks.
  Status compare(std::vector<int64_t>& found);
  // The problems that compare() has found, one per line.
  std::string describe(std::span<const int64_t> found) const;

 private:
  Status renew_part(int64_t number, int variable, const SplitVariable& split, bool wanted);
  Status compare_own(std::span<int64_t> found);
  Result<int64_t> compare_part(int64_t number, const SplitVariable& split, const Subfiles::PartSum& expected);

  SubfileSet& set_;
  Subfiles& map_;
};

}  // namespace windrow
