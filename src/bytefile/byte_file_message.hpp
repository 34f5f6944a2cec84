// SPDX-License-Identifier: BSD-3-Clause
// The message in which rank 0 sends what it knows about an opened file to all ranks. Decoding is safe on any input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "layout/layout.hpp"

namespace windrow {

struct ByteFileMessage {
  std::string data_path;
  uint64_t file_number = 0;  // 0 if unknown
  int64_t size = 0;
  bool has_locks = true;  // the file system; unknown if the file is only read
  StorageLayout layout;
  std::string layout_reason;  // the reason for the layout, if it is not as requested
  std::string trace, trace_problem;
  std::string machine_text;  // content of the machine file

  std::vector<std::byte> encode() const;
  static Result<ByteFileMessage> decode(std::span<const std::byte> bytes);
};

}  // namespace windrow
