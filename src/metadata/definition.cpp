// SPDX-License-Identifier: BSD-3-Clause
#include "metadata/definition.hpp"

#include <fmt/format.h>

#include <array>

#include "base/numbering.hpp"

namespace windrow {
namespace {

void add_word(std::string& text, uint64_t word) {
  text.append(reinterpret_cast<const char*>(&word), sizeof word);
}

void add_text(std::string& text, std::string_view more) {
  add_word(text, more.size());
  text += more;
}

void add_numbers(std::string& text, std::span<const int64_t> numbers) {
  add_word(text, numbers.size());
  for (const int64_t each : numbers)
    add_word(text, static_cast<uint64_t>(each));
}

}  // namespace

std::string description_of(const VariableDefinition& definition) {
  std::string text =
      fmt::format("\"{}\" of {}, shape {}", definition.path, type_name(definition.type), shown_sizes(definition.shape));
  if (definition.shape.empty())
    text = fmt::format("\"{}\" of {}, a scalar", definition.path, type_name(definition.type));
  if (!definition.chunking.empty())
    text += fmt::format(", chunks {}", fmt::join(definition.chunking.shape, " x "));
  if (!definition.chunking.filters.empty())
    text += fmt::format(", filters {}", text_of(definition.chunking.filters));
  if (definition.extendible)
    text += ", extendible";
  if (definition.big_endian)
    text += ", big-endian";
  if (!definition.fill.empty())
    text += ", with a fill value";
  return text;
}

void append_definition(std::string& text, const VariableDefinition& definition) {
  add_text(text, definition.path);
  add_numbers(text, definition.shape);
  add_numbers(text, definition.chunking.shape);
  add_numbers(text, std::array<int64_t, 5>{static_cast<int64_t>(definition.type), definition.big_endian,
                                           definition.extendible, definition.null_space, definition.split_asked});
  add_word(text, static_cast<uint64_t>(definition.subfiles));
  add_text(text, definition.chunking.filters.empty() ? std::string() : text_of(definition.chunking.filters));
  add_numbers(text, std::array<int64_t, 3>{definition.details.bytes, definition.details.text_ascii,
                                           static_cast<int64_t>(definition.details.text_padding)});
  add_text(text, definition.details.tag);
  add_text(text, definition.details.enumeration);
  add_text(text, {reinterpret_cast<const char*>(definition.fill.data()), definition.fill.size()});
  add_text(text, definition.split.axes);
  add_text(text, definition.split.parts);
}

}  // namespace windrow
