// SPDX-License-Identifier: BSD-3-Clause
// Unicode's normal form C (Unicode Standard Annex 15), in which netCDF files store names.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace windrow {

// The normal form of UTF-8 text, computed by utf8proc. nullopt: the text is not UTF-8, or the library is built without
// utf8proc and the text has characters from U+0300 on, whose normal form cannot be computed.
std::optional<std::string> normal_form_c(std::string_view text);

}  // namespace windrow
