// SPDX-License-Identifier: BSD-3-Clause
#include "storage/system_error.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <cctype>
#include <cerrno>
#include <system_error>

namespace windrow {

Code code_of_errno(int error) noexcept {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return Code::no_space;
    case EACCES:
    case EPERM:
    case EROFS:
      return Code::no_permission;
    case ENOENT:
    case ENOTDIR:
      return Code::not_found;
    case EISDIR:
    case ENAMETOOLONG:
      return Code::bad_argument;
    case ENOMEM:
      return Code::out_of_memory;
    default:
      return Code::io;
  }
}

std::string text_of_errno(int error) {
  std::string text = std::generic_category().message(error);
  // "Input/output error" becomes "input/output error"; a word in upper case stays.
  if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])))
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

Status system_status(std::string_view what, std::string_view path, int error) noexcept {
  return guard(
      [&] { return Status(code_of_errno(error), fmt::format("{} \"{}\": {}", what, path, text_of_errno(error))); });
}

bool means_no_locks(int error) noexcept {
  return error == EINVAL || error == ENOLCK || error == ENOSYS || error == EOPNOTSUPP;
}

bool beyond_file_size_limit(int64_t end) noexcept {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
         static_cast<rlim_t>(end) > limit.rlim_cur;
}

}  // namespace windrow
