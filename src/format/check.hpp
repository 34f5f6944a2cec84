// SPDX-License-Identifier: BSD-3-Clause
// Checks that all formats apply to a path, a shape and an attribute before they store it.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/function_ref.hpp"
#include "format/format.hpp"

namespace windrow {

inline constexpr size_t k_most_dimensions = 32;  // WINDROW_MAX_DIMENSIONS, and HDF5's H5S_MAX_RANK

// Maximum number of groups inside each other, without the root group. Deeper objects of foreign files are not read,
// because the memory of their paths would grow with the square of the depth.
inline constexpr int64_t k_most_groups = 200;

// "/a/b": absolute, without an empty component, ".", NUL or trailing slash. "/" alone is valid.
Status check_object_path(const std::string& path);

// "/a" of "/a/b", "/" of "/a".
std::string parent_of(const std::string& path);

// Product of a shape. nullopt: too many dimensions, a negative length, or more than 64 bits.
std::optional<int64_t> element_count(std::span<const int64_t> shape);

// Names an object in the message of an error; not called without one.
using ObjectName = FunctionRef<std::string()>;

// Checks whether elements of `type` can have `details`. Code::bad_argument gives the reason.
Status check_details(ObjectName name, Type type, const Details& details);

// Whether a format supports references to objects.
enum class References {
  none,
  some
};

// Bytes of all elements of a variable; 0 for types that is_moved_whole(). Code::bad_argument: invalid path, type or
// shape; Code::unsupported: references.
Result<int64_t> check_definition(const VariableDefinition& definition, References references = References::none);

// Checks that name, type, shape and number of elements agree. Code::unsupported: an attribute that could not be read,
// or of references.
Status check_attribute(const std::string& object, const Attribute& attribute, References references = References::none);

// Texts are sent to all ranks as one message. Code::unsupported: `count` texts with `characters` in all exceed its
// limit.
Status check_texts_fit(const std::string& path, int64_t count, int64_t characters);

// Code::bad_argument: an invalid path, or a target that is empty or contains a NUL.
Status check_link(const SoftLink& link);

Status check_dimension(const Dimension& dimension);

Status check_options(const FormatOptions& options);

bool is_integer(Type type) noexcept;

}  // namespace windrow
