// SPDX-License-Identifier: BSD-3-Clause
#include "allocation/file_size_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <string_view>

#include "base/units.hpp"
#include "storage/publish.hpp"

namespace windrow {
namespace {

// The product fits: check_definition() has checked it.
int64_t bytes_of(const VariableDefinition& definition) {
  int64_t bytes = element_bytes(definition.type, definition.details);
  for (const int64_t extent : definition.shape)
    bytes *= extent;
  return bytes;
}

}  // namespace

void FileSizeCheck::add(int64_t bytes) noexcept {
  constexpr int64_t k_most = std::numeric_limits<int64_t>::max() / 2;
  bytes_ += std::min(bytes, k_most - bytes_);
}

Status FileSizeCheck::check(const Catalog& catalog, std::span<const VariableDefinition> definitions,
                            FunctionRef<bool(size_t)> is_elsewhere) {
  constexpr int64_t k_always_allowed = int64_t{1} << 40;  // every file system for data allows it, so it is not tried
  const size_t first = catalog.variables.size();
  if (counted_variables_ != first) {
    bytes_ = 0;
    for (size_t i = 0; i < first; ++i)
      if (!catalog.variables[i].is_chunked() && !is_elsewhere(i))
        add(catalog.variables[i].placement.bytes);
  }
  counted_variables_ = first + definitions.size();
  std::string_view largest;
  int64_t most = 0;
  for (size_t i = 0; i < definitions.size(); ++i) {
    const VariableDefinition& each = definitions[i];
    if (!each.chunking.empty() || is_elsewhere(first + i))
      continue;
    const int64_t bytes = bytes_of(each);
    add(bytes);
    if (bytes > most)
      most = bytes, largest = each.path;
  }
  // The limit of a file system is a power of two, or slightly less.
  const auto width = static_cast<int>(std::bit_width(static_cast<uint64_t>(bytes_)));
  if (bytes_ <= k_always_allowed || most == 0 || width == tried_width_)
    return {};
  Status status = check_file_size(path_, bytes_);
  if (status.ok()) {
    tried_width_ = width;
    return status;
  }
  return {status.code(),
          fmt::format("variable \"{}\" of {}: {}; a chunked variable takes space only when it is written", largest,
                      format_bytes(most), status.message())};
}

}  // namespace windrow
