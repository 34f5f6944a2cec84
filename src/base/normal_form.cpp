// SPDX-License-Identifier: BSD-3-Clause
#include "base/normal_form.hpp"

#include <algorithm>

#if WINDROW_BASE_UTF8PROC
#include <utf8proc.h>

#include <cstdlib>
#include <memory>
#endif

namespace windrow {

std::optional<std::string> normal_form_c(std::string_view text) {
  // Characters below U+0300 are in normal form whatever follows them. Their lead bytes are below 0xcc.
  const auto is_below_marks = [](char each) { return static_cast<unsigned char>(each) < 0xcc; };
  if (std::all_of(text.begin(), text.end(), is_below_marks))
    return std::string(text);
#if WINDROW_BASE_UTF8PROC
  utf8proc_uint8_t* mapped = nullptr;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
  const utf8proc_ssize_t length = utf8proc_map(bytes, static_cast<utf8proc_ssize_t>(text.size()), &mapped, options);
  const std::unique_ptr<utf8proc_uint8_t, void (*)(void*)> owned(mapped, std::free);
  if (length < 0)
    return std::nullopt;
  return std::string(reinterpret_cast<const char*>(owned.get()), static_cast<size_t>(length));
#else
  return std::nullopt;
#endif
}

}  // namespace windrow
