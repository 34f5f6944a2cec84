// SPDX-License-Identifier: BSD-3-Clause
// What all formats ask of a path, a shape and an attribute before they store it.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "format/format.hpp"

namespace windrow {

inline constexpr size_t k_most_dimensions = 32;  // WINDROW_MAX_DIMENSIONS, and HDF5's H5S_MAX_RANK

// Names in a path. What others have made deeper is not read: the paths alone would take memory with the square of the
// depth.
inline constexpr int64_t k_most_levels = 200;

// "/a/b": absolute, no empty component, none that is ".", no NUL, no slash at the end. "/" alone is fine.
Status check_object_path(const std::string& path);

// "/a" of "/a/b", "/" of "/a".
std::string parent_of(const std::string& path);

// Product of a shape; none when it has too many dimensions, a negative one, or leaves 64 bits.
std::optional<int64_t> element_count(std::span<const int64_t> shape);

// Whether elements of `type` can be as `details` say. Code::bad_argument: why not; `what` names the object.
Status check_details(const std::string& what, Type type, const Details& details);

// Whether a format has references to objects.
enum class References {
  none,
  some
};

// Bytes of all elements of a variable; 0 for what is moved whole. Code::bad_argument: the path, the type or the shape;
// unsupported: references.
Result<int64_t> check_definition(const VariableDefinition& definition, References references = References::none);

// Name, type, shape and number of elements agree. Code::unsupported: an attribute that could not be read, or of
// references.
Status check_attribute(const std::string& object, const Attribute& attribute, References references = References::none);

// Texts travel to all ranks as one message. Code::unsupported: `count` of them with `characters` in all are more than
// it holds.
Status check_texts_fit(const std::string& path, int64_t count, int64_t characters);

// Code::bad_argument: the path, or a target that is empty or has a NUL in it.
Status check_link(const SoftLink& link);

Status check_dimension(const Dimension& dimension);

Status check_options(const FormatOptions& options);

bool is_integer(Type type) noexcept;

}  // namespace windrow
