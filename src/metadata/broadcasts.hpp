// SPDX-License-Identifier: BSD-3-Clause
// What rank 0 tells all ranks of a file, as messages. Reading is safe on any input. Code::internal: it is no such
// message.
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

// Of a file that rank 0 has opened.
struct OpenBroadcast {
  std::string data_path;
  std::string elsewhere;     // where this host finds the same file, whatever its name becomes; "": nowhere
  uint64_t file_number = 0;  // 0: not known
  std::string format;        // its name
  FormatTraits traits;
  std::optional<Catalog> catalog;  // of a file that there was
  // Of a set of subfiles that is made, "" where none is.
  std::string set_identity, set_folder, subfile_ending;
  std::string files_reason;  // why so many files, where that was chosen
  StorageLayout layout;
  std::string layout_reason;  // why it is so, where somebody might wonder
  std::string trace, trace_problem;
  std::string machine_text;  // of the machine file
  friend bool operator==(const OpenBroadcast&, const OpenBroadcast&) = default;

  std::vector<std::byte> encode() const;
  static Result<OpenBroadcast> decode(std::span<const std::byte> bytes);
};

// Of the places that a format has found late.
struct LayoutBroadcast {
  std::vector<Placement> placements;  // in the order of the catalog, without the byte order
  // Of the file that is written anew; path "": none is.
  std::string path;
  uint64_t file_number = 0;
  StorageLayout layout;
  friend bool operator==(const LayoutBroadcast&, const LayoutBroadcast&) = default;

  std::vector<std::byte> encode() const;
  static Result<LayoutBroadcast> decode(std::span<const std::byte> bytes);
};

}  // namespace windrow
