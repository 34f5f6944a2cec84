// SPDX-License-Identifier: BSD-3-Clause
// Checks and printing of UTF-8, the encoding of all names.
#pragma once

#include <string>
#include <string_view>

namespace windrow {

// Rejects overlong forms, surrogates and code points above U+10FFFF (RFC 3629, section 4).
bool is_utf8(std::string_view text) noexcept;

// The text with "\xNN" for bytes that are not UTF-8 and for NUL, which would end a C string.
std::string readable(std::string_view text);

// The text with entities for the characters that XML and HTML reserve. `apostrophe`: its entity, which is &apos; in XML
// but not in old HTML.
std::string with_entities(std::string_view text, std::string_view apostrophe);

// Whether `name` ends in `ending`, case-insensitively: "RUN.H5" ends in ".h5". `ending` is in lower case.
bool has_ending(std::string_view name, std::string_view ending) noexcept;

}  // namespace windrow
