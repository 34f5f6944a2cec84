// SPDX-License-Identifier: BSD-3-Clause
#include "chunking/leftovers.hpp"

#include "session/file.hpp"

namespace windrow {

// Rank 0, before a chunked variable grows for the first time: see blank_tail(). The parts of a split one:
// SubfileSet::extend_parts().
Status File::blank_tail_of(int number) {
  const Variable& variable = catalog_.variables[static_cast<size_t>(number)];
  if (mode_ != Mode::update || variable.chunking.empty() || is_split(variable.path) || grown_.contains(number))
    return {};
  const auto layout = layout_of(variable);
  if (!layout.ok())
    return layout.status();
  if (Status status = blank_tail(*data_, *format_, *layout.value(), variable.shape.front()); !status.ok())
    return status;
  grown_.insert(number);
  return {};
}

}  // namespace windrow
