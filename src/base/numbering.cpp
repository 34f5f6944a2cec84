// SPDX-License-Identifier: BSD-3-Clause
#include "base/numbering.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace windrow {
namespace {

thread_local Numbering current = Numbering::c;

bool is_fortran() noexcept {
  return current == Numbering::fortran;
}

}  // namespace

Numbering set_numbering(Numbering numbering) noexcept {
  return std::exchange(current, numbering);
}
Numbering numbering() noexcept {
  return current;
}

int64_t shown_index_of(int64_t index) noexcept {
  return is_fortran() && index < INT64_MAX ? index + 1 : index;
}

int64_t shown_dimension(size_t number, size_t dimensions) noexcept {
  return static_cast<int64_t>(is_fortran() ? dimensions - number : number);
}

std::vector<int64_t> shown_order(std::span<const int64_t> sizes) {
  std::vector<int64_t> shown(sizes.begin(), sizes.end());
  if (is_fortran())
    std::ranges::reverse(shown);
  return shown;
}

std::string shown_sizes(std::span<const int64_t> sizes) {
  return sizes.empty() ? "()" : fmt::format("{}", fmt::join(shown_order(sizes), " x "));
}

std::string shown_indices(std::span<const int64_t> indices) {
  std::vector<int64_t> shown(indices.begin(), indices.end());
  for (int64_t& index : shown)
    index = shown_index(index);
  return shown_sizes(shown);
}

std::string shown_range(int64_t count) {
  return count == 0 ? "none" : fmt::format("{} to {}", shown_index(0), shown_index(count - 1));
}

const char* slowest_side() noexcept {
  return is_fortran() ? "last" : "first";
}
const char* fastest_side() noexcept {
  return is_fortran() ? "first" : "last";
}

}  // namespace windrow
