// SPDX-License-Identifier: BSD-3-Clause
// AppendedText: a file of lines that programs add to, and never change what is there. One rank of a program writes;
// several programs may at a time, on a file system where appending is atomic.
#pragma once

#include <string>
#include <string_view>

#include "base/status.hpp"

namespace windrow {

class AppendedText {
 public:
  // Makes the file if there is none. `begins`: what a file that is there has to begin with, unless it is empty;
  // bad_file: it does not, so that nobody's file is written to by mistake. bad_argument: no file but a folder, a pipe
  // or a device.
  static Result<AppendedText> open(const std::string& path, std::string_view begins);

  AppendedText(AppendedText&& other) noexcept;
  AppendedText& operator=(AppendedText&&) = delete;
  ~AppendedText();

  Status append(std::string_view lines);  // in one request, unless the system cuts it short

 private:
  AppendedText(std::string path, int descriptor) noexcept : path_(std::move(path)), descriptor_(descriptor) {}
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace windrow
