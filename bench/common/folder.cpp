// SPDX-License-Identifier: BSD-3-Clause
#include "folder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <vector>

namespace bench {

void make_folder(const std::string& path, int64_t bytes) {
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  const std::string filled = path + "/memory";
  const std::vector<char> block(size_t{1} << 20);
  const int file = ::open(filled.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0)
    throw std::system_error(errno, std::generic_category(), "open of \"" + filled + "\"");
  for (int64_t left = bytes + bytes / 8; left > 0;) {
    const ssize_t done =
        ::write(file, block.data(), static_cast<size_t>(std::min(left, static_cast<int64_t>(block.size()))));
    if (done <= 0)
      break;  // a full disk: the sample itself will say so
    left -= done;
  }
  ::close(file);
  std::filesystem::remove(filled);
}

}  // namespace bench
