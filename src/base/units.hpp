// SPDX-License-Identifier: BSD-3-Clause
// Sizes and times in the notation of users.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace windrow {

// Parses "16 MiB", "16MiB", "4k", "1.5 GB" or "4096" to bytes, rounded down. K, M, G, T and P alone or with iB are
// powers of 1024, as in dd and lfs; with B they are powers of 1000. Case does not matter. nullopt: any other text, a
// negative number, or a value beyond int64_t.
std::optional<int64_t> parse_bytes(std::string_view text) noexcept;

// "16 MiB" if that is exact, otherwise rounded: "4.2 MB"; below 1000 "17 bytes".
std::string format_bytes(int64_t bytes);

// "1 rank", "4 ranks"; "2 entries" if the plural is given.
std::string counted_text(std::string number, bool one, std::string_view noun, std::string_view plural);

template <std::integral Number>
std::string counted(Number count, std::string_view noun, std::string_view plural = {}) {
  return counted_text(std::to_string(count), count == 1, noun, plural);
}

// "1.23 s", "4.50 ms", "17.0 µs".
std::string format_seconds(double seconds);

// Parses a whole number with an optional sign and no surrounding text. nullopt: any other text.
std::optional<int64_t> parse_integer(std::string_view text) noexcept;

}  // namespace windrow
