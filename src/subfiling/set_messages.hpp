// SPDX-License-Identifier: BSD-3-Clause
// Messages between the ranks that have a set open. Decoding is safe on any input; it returns Code::internal if the
// bytes are not such a message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "format/format.hpp"
#include "layout/layout.hpp"

namespace windrow {

// A new set, from rank 0 to all ranks.
struct SetNames {
  std::string format, identity, folder, ending;
  friend bool operator==(const SetNames&, const SetNames&) = default;

  std::vector<std::byte> encode() const;
  static Result<SetNames> decode(std::span<const std::byte> bytes);
};

// What the owner of a subfile has found in it.
struct SubfileFinding {
  struct Place {
    int64_t offset = -1;  // -1: unknown
    int64_t stride = 0;
    friend bool operator==(const Place&, const Place&) = default;
  };
  int64_t fault = 0;         // packed (Subfiles::pack)
  uint64_t file_number = 0;  // 0: unknown
  bool is_interrupted = false;
  std::string text;           // of the fault, if it has one
  std::vector<Place> places;  // places of the unchunked parts in it, in the order of their variables
  friend bool operator==(const SubfileFinding&, const SubfileFinding&) = default;
};

// The findings in consecutive subfiles. The messages of all owners, concatenated in the order of ranks, are one message
// of all subfiles, because the owners have ascending subfiles.
struct SubfileFindings {
  std::vector<SubfileFinding> subfiles;
  friend bool operator==(const SubfileFindings&, const SubfileFindings&) = default;

  std::vector<std::byte> encode() const;
  static Result<SubfileFindings> decode(std::span<const std::byte> bytes, size_t subfiles);
};

// Layouts of consecutive subfiles; concatenated as above.
struct SubfileLayouts {
  std::vector<StorageLayout> subfiles;
  friend bool operator==(const SubfileLayouts&, const SubfileLayouts&) = default;

  std::vector<std::byte> encode() const;
  static Result<SubfileLayouts> decode(std::span<const std::byte> bytes, size_t subfiles);
};

// The chunks of parts, from their owner to rank 0: the places in C order of a part's grid, or why they are unknown.
struct PartChunkLists {
  std::vector<Result<std::vector<ChunkPlace>>> parts;

  std::vector<std::byte> encode() const;
  // `counts`: number of chunks of each part.
  static Result<PartChunkLists> decode(std::span<const std::byte> bytes, std::span<const int64_t> counts);
};

}  // namespace windrow
