// SPDX-License-Identifier: BSD-3-Clause
// Helpers for variables and attributes: types, shapes, options of elements, and structs of several versions.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>

#include "capi/handles.hpp"

namespace windrow {

inline bool is_type(int type) {
  return type >= WINDROW_INT8 && type <= WINDROW_FLOAT16;
}

inline Status check_shape(int ndims, const int64_t* shape) {
  if (ndims < 0 || ndims > WINDROW_MAX_DIMENSIONS)
    return {Code::bad_argument,
            "ndims is " + std::to_string(ndims) + "; it must be from 0 to " + std::to_string(WINDROW_MAX_DIMENSIONS)};
  return ndims > 0 && shape == nullptr ? null_argument("the shape") : Status{};
}

// Details of elements in the options of one variable or attribute. Those of the file and of the environment do not
// apply.
inline Details details_of(const windrow_options* options) {
  Details details;
  if (options == nullptr)
    return details;
  const Settings& settings = options->settings;
  details.bytes = settings.bytes("element_bytes");
  details.text_ascii = settings.text("text_characters") == "ascii";
  details.text_padding = *padding_called(settings.text("text_padding"));
  details.tag = settings.text("opaque_tag");
  details.enumeration = settings.text("enumeration");
  return details;
}

inline bool asks_for_null_space(const windrow_options* options) {
  return options != nullptr && options->settings.boolean("null_space");
}

inline bool asks_for_big_endian(const windrow_file* file, const windrow_options* options) {
  const bool own = options != nullptr && options->settings.is_set("byte_order");
  const std::string order = (own ? options->settings : file->file->settings()).text("byte_order");
  const uint16_t one = 1;
  const bool native_big = *reinterpret_cast<const unsigned char*>(&one) == 0;
  return order == "big" || (order == "native" && native_big);
}

template <class Info, class Shape>
void fill_shape(Info& info, const Shape& shape) {
  info.ndims = static_cast<int>(shape.size());
  std::copy(shape.begin(), shape.end(), info.shape);
}

// The caller's struct may be older and smaller than ours: members beyond its size are omitted.
template <class Info>
Status hand_out(const Info& filled, Info* info) {
  if (info == nullptr)
    return null_argument("info");
  if (info->size < static_cast<int64_t>(sizeof(int64_t) * 2) || info->size > static_cast<int64_t>(sizeof(Info)))
    return {Code::bad_argument, "info->size must be set to the size of the struct before the call"};
  const auto size = static_cast<size_t>(info->size);
  std::memcpy(info, &filled, size);
  info->size = static_cast<int64_t>(size);
  return {};
}

}  // namespace windrow
