// SPDX-License-Identifier: BSD-3-Clause
#include "storage/appended_text.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "storage/system_error.hpp"

namespace windrow {
namespace {

Status check_beginning(int descriptor, const std::string& path, std::string_view begins) {
  struct stat about {};
  if (fstat(descriptor, &about) != 0)
    return system_status("look at", path, errno);
  if (!S_ISREG(about.st_mode))
    return {Code::bad_argument, fmt::format("\"{}\" is not a file", path)};
  if (about.st_size == 0)
    return {};
  std::string found(begins.size(), '\0');
  const ssize_t read = pread(descriptor, found.data(), found.size(), 0);
  if (read < 0)
    return system_status("read of", path, errno);
  if (found != begins)
    return {Code::bad_file, fmt::format("\"{}\" already exists and does not begin with {}", path, begins)};
  char last = '\n';
  if (pread(descriptor, &last, 1, about.st_size - 1) == 1 && last != '\n')
    return {Code::bad_file, fmt::format("\"{}\" ends in the middle of a line", path)};
  return {};
}

}  // namespace

Result<AppendedText> AppendedText::open(const std::string& path, std::string_view begins) {
  // O_NONBLOCK: opening a pipe must not wait for its other end.
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
  if (descriptor < 0)
    return system_status("open of", path, errno);
  AppendedText opened(path, descriptor);
  if (Status status = check_beginning(descriptor, path, begins); !status.ok())
    return status;
  return opened;
}

AppendedText::AppendedText(AppendedText&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

AppendedText::~AppendedText() {
  if (descriptor_ >= 0)
    (void)::close(descriptor_);
}

Status AppendedText::append(std::string_view lines) {
  struct stat about {};
  if (fstat(descriptor_, &about) == 0 && beyond_file_size_limit(about.st_size + static_cast<int64_t>(lines.size())))
    return system_status("write to", path_, EFBIG);
  while (!lines.empty()) {
    const ssize_t written = ::write(descriptor_, lines.data(), lines.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return system_status("write to", path_, errno);
    lines.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

}  // namespace windrow
