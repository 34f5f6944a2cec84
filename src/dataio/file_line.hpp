// SPDX-License-Identifier: BSD-3-Clause
// The files of a set and their common linear address space, so that one plan moves data in several files: first the
// base file, then each subfile, all with the same room. Offsets before the line are those of the base file.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "base/checked.hpp"

namespace windrow {

struct FileLine {
  static constexpr int64_t k_begin = int64_t{1} << 60;
  // files begin at multiples: domains are cut there, and reads never span a gap this long
  static constexpr int64_t k_unit = int64_t{1} << 20;

  // The same for domains by target: multiples of common stripes, so that stripes of a file are stripes of the line
  // (layout/line.hpp).
  static constexpr int64_t k_unit_of_targets = int64_t{1} << 30;

  int64_t room = 0;  // bytes of the line for each file; 0: there is no line

  static int64_t room_for(int64_t longest, int64_t unit) noexcept { return round_up(longest, unit) + unit; }
  // File 0 is the base file, file k + 1 is subfile k.
  int64_t place(int64_t file, int64_t offset) const noexcept { return k_begin + file * room + offset; }
  int64_t file_of(int64_t place) const noexcept { return is_before(place) ? 0 : (place - k_begin) / room; }
  int64_t offset_of(int64_t place) const noexcept { return is_before(place) ? place : (place - k_begin) % room; }
  bool is_before(int64_t place) const noexcept { return room == 0 || place < k_begin; }
  friend bool operator==(const FileLine&, const FileLine&) = default;
};

// Subfile 7 of 100 is "07.h5" in the folder of its set.
struct SubfileNames {
  std::string folder;  // a path
  std::string ending;  // ".h5"
  int64_t count = 0;
  std::string path(int64_t number) const {
    return fmt::format("{}/{:0{}}{}", folder, number, std::to_string(count > 0 ? count - 1 : 0).size(), ending);
  }
};

}  // namespace windrow
