// SPDX-License-Identifier: BSD-3-Clause
// Helpers of the sidecar's JSON: members without exceptions, and values of attributes.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "format/format.hpp"

namespace windrow {

using Json = nlohmann::ordered_json;

// nullptr: missing, or of another kind.
const Json* member(const Json& object, const char* key);
std::optional<int64_t> whole(const Json& value);
std::optional<int64_t> whole(const Json& object, const char* key);
const std::string* string_of(const Json& object, const char* key);

Type type_called(const std::string* name) noexcept;  // none when there is no such name

// A text that is not UTF-8 is {"hex": "fffe"}.
Json text_json(const std::string& text);
bool take_text(const Json& value, std::string& text);

// A flat list. Booleans are true and false, complex numbers [r, i], opaque elements {"hex": "fffe"}. Numbers are
// numbers; those that are not finite are their bits as "0x7ff8000000000000", because JSON cannot represent them.
Json values_json(const Attribute& attribute);

// Fills data or texts; false when a value is not of the attribute's type.
bool take_values(const Json& values, Attribute& attribute);

}  // namespace windrow
