// SPDX-License-Identifier: BSD-3-Clause
// AppendedText: a file of lines that programs only append to. One rank of a program writes. Several programs may write
// concurrently on a file system with atomic appends.
#pragma once

#include <string>
#include <string_view>

#include "base/status.hpp"

namespace windrow {

class AppendedText {
 public:
  // Creates the file if it does not exist. `begins`: the required beginning of an existing, non-empty file; bad_file:
  // it differs, which protects other files from accidental writes. bad_argument: a folder, a pipe or a device.
  static Result<AppendedText> open(const std::string& path, std::string_view begins);

  AppendedText(AppendedText&& other) noexcept;
  AppendedText& operator=(AppendedText&&) = delete;
  ~AppendedText();

  Status append(std::string_view lines);  // in one request, unless the system writes less

 private:
  AppendedText(std::string path, int descriptor) noexcept : path_(std::move(path)), descriptor_(descriptor) {}
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace windrow
