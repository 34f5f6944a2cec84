// SPDX-License-Identifier: BSD-3-Clause
// The messages in which rank 0 sends what it knows about a file to all ranks. Decoding is safe on any input; it returns
// Code::internal if the bytes are not such a message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "format/format.hpp"
#include "layout/layout.hpp"

namespace windrow {

// A file that rank 0 has opened.
struct OpenBroadcast {
  std::string data_path;
  std::string elsewhere;        // a path on the host of rank 0 that still leads to the file if its name changes; or ""
  uint64_t file_number = 0;     // 0 if unknown
  bool is_interrupted = false;  // see Format
  std::string format;           // name of the format
  FormatTraits traits;
  std::optional<Catalog> catalog;  // of a file that existed before
  // Names of a new set of subfiles; "" if there is none.
  std::string set_identity, set_folder, subfile_ending;
  std::string files_reason;  // why the library chose the number of files; "" if it was requested
  StorageLayout layout;
  std::string layout_reason;  // the reason for the layout, if it is not as requested
  std::string trace, trace_problem;
  std::string machine_text;  // content of the machine file
  friend bool operator==(const OpenBroadcast&, const OpenBroadcast&) = default;

  std::vector<std::byte> encode() const;
  static Result<OpenBroadcast> decode(std::span<const std::byte> bytes);
};

// The places of a format with late allocation.
struct LayoutBroadcast {
  std::vector<Placement> placements;  // in the order of the catalog, without the byte order
  // The new file if the file is rewritten; otherwise `path` is "".
  std::string path;
  uint64_t file_number = 0;
  StorageLayout layout;
  friend bool operator==(const LayoutBroadcast&, const LayoutBroadcast&) = default;

  std::vector<std::byte> encode() const;
  static Result<LayoutBroadcast> decode(std::span<const std::byte> bytes);
};

}  // namespace windrow
