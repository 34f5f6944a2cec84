// SPDX-License-Identifier: BSD-3-Clause
// Sizes and times as people write and read them.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace windrow {

// "16 MiB", "16MiB", "4k", "1.5 GB", "4096": bytes, rounded down. K, M, G, T, P alone or with iB are powers of 1024, as
// in dd and lfs; with B they are powers of 1000; case does not matter. nullopt: anything else, a negative number, or
// beyond int64_t.
std::optional<int64_t> parse_bytes(std::string_view text) noexcept;

// "16 MiB" where that is exact, otherwise rounded: "4.2 MB"; below 1000 "17 bytes".
std::string format_bytes(int64_t bytes);

// "1 rank", "4 ranks", "2 entries" where the plural is given.
std::string counted_text(std::string number, bool one, std::string_view noun, std::string_view plural);

template <std::integral Number>
std::string counted(Number count, std::string_view noun, std::string_view plural = {}) {
  return counted_text(std::to_string(count), count == 1, noun, plural);
}

// "1.23 s", "4.50 ms", "17.0 µs".
std::string format_seconds(double seconds);

// A whole number, the sign allowed, nothing around it. nullopt: anything else.
std::optional<int64_t> parse_integer(std::string_view text) noexcept;

}  // namespace windrow
