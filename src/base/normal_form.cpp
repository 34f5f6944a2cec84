// SPDX-License-Identifier: BSD-3-Clause
#include "base/normal_form.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/normal_form_tables.hpp"

namespace windrow {
namespace {

// Hangul syllables are their consonants and vowels by arithmetic: Unicode Standard, section 3.12.
constexpr char32_t k_syllables = 0xac00, k_leading = 0x1100, k_vowels = 0x1161, k_trailing = 0x11a7;
constexpr char32_t k_leading_count = 19, k_vowel_count = 21, k_trailing_count = 28;
constexpr char32_t k_syllable_count = k_leading_count * k_vowel_count * k_trailing_count;

// UTF-8 that is_utf8().
std::vector<char32_t> decode(std::string_view text) {
  std::vector<char32_t> codes;
  for (const char each : text) {
    const auto byte = static_cast<unsigned char>(each);
    if (byte < 0x80) {
      codes.push_back(byte);
    } else if (byte >= 0xc0) {
      codes.push_back(byte & (byte >= 0xf0 ? 0x07U : byte >= 0xe0 ? 0x0fU : 0x1fU));
    } else if (!codes.empty()) {
      codes.back() = codes.back() << 6 | (byte & 0x3fU);
    }
  }
  return codes;
}

std::string encode(const std::vector<char32_t>& codes) {
  std::string text;
  const auto more = [&text](char32_t code, int shift) { text += static_cast<char>(0x80 | (code >> shift & 0x3f)); };
  for (const char32_t code : codes) {
    if (code < 0x80) {
      text += static_cast<char>(code);
      continue;
    }
    const int following = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    const unsigned lead = following == 1 ? 0xc0 : following == 2 ? 0xe0 : 0xf0;
    text += static_cast<char>(lead | code >> (6 * following));
    for (int i = following - 1; i >= 0; --i) more(code, 6 * i);
  }
  return text;
}

// The entry whose range has the character, of a table that ascends; nullptr: none has.
template <class Table>
auto* find_range(const Table& table, char32_t code) {
  const auto next = std::upper_bound(std::begin(table), std::end(table), code,
                                     [](char32_t wanted, const auto& entry) { return wanted < entry.first; });
  if (next == std::begin(table) || std::prev(next)->last < code) return static_cast<decltype(&*next)>(nullptr);
  return &*std::prev(next);
}

int combining_class(char32_t code) {
  const auto* found = find_range(k_combining_classes, code);
  return found == nullptr ? 0 : found->combining_class;
}

void append_decomposed(std::vector<char32_t>& codes, char32_t code) {
  if (code >= k_syllables && code < k_syllables + k_syllable_count) {
    const char32_t index = code - k_syllables, trailing = index % k_trailing_count;
    codes.push_back(k_leading + index / (k_vowel_count * k_trailing_count));
    codes.push_back(k_vowels + index / k_trailing_count % k_vowel_count);
    if (trailing > 0) codes.push_back(k_trailing + trailing);
    return;
  }
  const auto found = std::lower_bound(std::begin(k_composed_characters), std::end(k_composed_characters), code,
                                      [](const ComposedCharacter& entry, char32_t wanted) { return entry.composed < wanted; });
  if (found == std::end(k_composed_characters) || found->composed != code) {
    codes.push_back(code);
    return;
  }
  append_decomposed(codes, found->first);
  codes.push_back(found->second);
}

// Marks of one character in the order of their classes; those of one class stay in theirs.
void put_marks_in_order(std::vector<char32_t>& codes) {
  const auto is_mark = [](char32_t code) { return combining_class(code) != 0; };
  for (auto begin = std::find_if(codes.begin(), codes.end(), is_mark); begin != codes.end();) {
    const auto end = std::find_if_not(begin, codes.end(), is_mark);
    std::stable_sort(begin, end, [](char32_t a, char32_t b) { return combining_class(a) < combining_class(b); });
    begin = std::find_if(end, codes.end(), is_mark);
  }
}

std::optional<char32_t> compose(char32_t first, char32_t second) {
  if (first >= k_leading && first < k_leading + k_leading_count && second >= k_vowels && second < k_vowels + k_vowel_count)
    return k_syllables + ((first - k_leading) * k_vowel_count + (second - k_vowels)) * k_trailing_count;
  const bool is_open = first >= k_syllables && first < k_syllables + k_syllable_count && (first - k_syllables) % k_trailing_count == 0;
  if (is_open && second > k_trailing && second < k_trailing + k_trailing_count) return first + (second - k_trailing);
  const auto found = std::find_if(std::begin(k_composed_characters), std::end(k_composed_characters),
                                  [&](const ComposedCharacter& entry) { return entry.first == first && entry.second == second; });
  return found == std::end(k_composed_characters) ? std::nullopt : std::optional(found->composed);
}

// A mark joins the last character before it that is none, unless one between them has its class or a higher one.
std::vector<char32_t> compose_all(const std::vector<char32_t>& codes) {
  std::vector<char32_t> out;
  std::optional<size_t> starter;
  int last_class = 0;
  for (const char32_t code : codes) {
    const int own_class = combining_class(code);
    const bool adjacent = starter && *starter + 1 == out.size();
    if (starter && (adjacent || last_class < own_class)) {
      if (const auto composed = compose(out[*starter], code)) {
        out[*starter] = *composed;
        continue;
      }
    }
    if (own_class == 0) starter = out.size();
    last_class = own_class;
    out.push_back(code);
  }
  return out;
}

}  // namespace

std::optional<std::string> normal_form_c(std::string_view text) {
  std::vector<char32_t> codes;
  for (const char32_t code : decode(text)) {
    if (find_range(k_never_in_normal_form, code) != nullptr) return std::nullopt;
    append_decomposed(codes, code);
  }
  put_marks_in_order(codes);
  return encode(compose_all(codes));
}

}  // namespace windrow
