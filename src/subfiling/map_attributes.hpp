// SPDX-License-Identifier: BSD-3-Clause
// Names and access of the attributes that store the map of a set.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/format.hpp"

namespace windrow::map {

inline constexpr std::string_view k_set = "windrow_set", k_folder = "windrow_folder", k_count = "windrow_subfiles",
                                  k_ending = "windrow_ending", k_number = "windrow_subfile",
                                  k_sum = "windrow_map_checksum";
inline constexpr std::string_view k_enabled = "windrow_split", k_shape = "windrow_split_shape",
                                  k_elements = "windrow_split_elements", k_parts = "windrow_split_parts",
                                  k_order = "windrow_split_order", k_bounds = "windrow_split_bounds",
                                  k_range = "windrow_split_range", k_fill = "windrow_split_fill",
                                  k_element_sum = "windrow_split_checksum", k_chunk = "windrow_split_chunk",
                                  k_filters = "windrow_split_filters";

Attribute attribute_of(std::string_view name, Type type);
Attribute numbers(std::string_view name, std::span<const int64_t> values, bool scalar = false);
Attribute number(std::string_view name, int64_t value);
Attribute word(std::string_view name, const std::string& text);

const Attribute* find_in(const std::vector<Attribute>& attributes, std::string_view name);
std::vector<int64_t> numbers_of(const std::vector<Attribute>& attributes,
                                std::string_view name);  // empty: missing, or not 64-bit integers
std::optional<int64_t> number_of(const std::vector<Attribute>& attributes, std::string_view name);
std::string word_of(const std::vector<Attribute>& attributes, std::string_view name);

}  // namespace windrow::map
