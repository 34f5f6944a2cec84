// SPDX-License-Identifier: BSD-3-Clause
#include "extent/records.hpp"

namespace windrow {

namespace {

uint64_t zigzag(int64_t value) noexcept {
  return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
}

std::byte* put_field(std::byte* to, uint64_t value, unsigned width) noexcept {
  for (unsigned i = 0; i < width; ++i, value >>= 8)
    *to++ = static_cast<std::byte>(value);
  return to;
}

// The code of the smallest width that holds the value, at least `least`.
template <size_t N>
unsigned code_of(const std::array<uint8_t, N>& widths, uint64_t value, unsigned least) noexcept {
  const auto bytes = static_cast<unsigned>(std::bit_width(value) + 7) / 8;
  unsigned code = least;
  while (widths[code] < bytes)
    ++code;
  return code;
}

}  // namespace

const std::byte* take_loops(const std::byte* from, Nest& nest) noexcept {
  nest.depth = std::to_integer<int>(*from++);
  std::memcpy(nest.loops.data(), from, Nest::at(nest.depth) * sizeof(Loop));
  return from + Nest::at(nest.depth) * sizeof(Loop);
}

std::byte* put_record(const Nest& nest, RecordState& state, std::byte* to) noexcept {
  const Run& run = nest.run;
  const bool several = run.count > 1;
  const auto begin = static_cast<uint64_t>(run.file - state.file_end);
  const bool new_length = run.length != state.length, new_stride = several && run.file_stride != state.file_stride;
  const uint64_t length = new_length ? static_cast<uint64_t>(run.length) : 0;
  const uint64_t stride = new_stride ? static_cast<uint64_t>(run.file_stride - run.length) : 0;
  const uint64_t memory = zigzag(run.memory - state.memory_end);
  const uint64_t memory_stride = several ? zigzag(run.memory_stride - run.length) : 0;

  const bool word = nest.depth > 0 || run.count > 258;
  const unsigned count_code = word                       ? k_count_word
                              : several && run.count > 2 ? k_count_byte
                                                         : static_cast<unsigned>(run.count - 1);
  const unsigned begin_code = code_of(k_widths, begin, 0),
                 length_code = code_of(k_length_widths, length, new_length ? 1 : 0);
  const unsigned stride_code = code_of(k_widths, stride, new_stride ? 1 : 0);
  const unsigned memory_code = code_of(k_widths, memory, 0), memory_stride_code = code_of(k_widths, memory_stride, 0);

  to = put_field(to,
                 begin_code << k_begin_at | stride_code << k_stride_at | memory_code << k_memory_at |
                     memory_stride_code << k_memory_stride_at | length_code << k_length_at | count_code << k_count_at,
                 2);
  if (count_code == k_count_byte)
    to = put_field(to, static_cast<uint64_t>(run.count - 3), 1);
  if (count_code == k_count_word)
    to = put_field(to, static_cast<uint64_t>(run.count) | (nest.depth > 0 ? k_loops_follow : 0), 8);
  to = put_field(to, begin, k_widths[begin_code]);
  to = put_field(to, length, k_length_widths[length_code]);
  to = put_field(to, stride, k_widths[stride_code]);
  to = put_field(to, memory, k_widths[memory_code]);
  to = put_field(to, memory_stride, k_widths[memory_stride_code]);
  if (nest.depth > 0) {
    *to++ = static_cast<std::byte>(nest.depth);
    std::memcpy(to, nest.loops.data(), Nest::at(nest.depth) * sizeof(Loop));
    to += Nest::at(nest.depth) * sizeof(Loop);
  }
  state = {nest.file_end(), last_memory_end(nest), run.length, several ? run.file_stride : state.file_stride};
  return to;
}

}  // namespace windrow
