// SPDX-License-Identifier: BSD-3-Clause
// Places of chunks, according to the index that HDF5 keeps of each dataset. HDF5 allocates the space; it never sees the
// contents of a chunk.
#pragma once

#include <hdf5.h>

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "format/check.hpp"
#include "format/format.hpp"
#include "format/hdf5/dimensions.hpp"
#include "format/hdf5/handle.hpp"
#include "format/hdf5/kept_places.hpp"

namespace windrow {

// Why a chunk is allocated.
struct ChunkRoom {
  int64_t bytes = 0;
  bool keeps_old = false;  // the chunk is only partially overwritten
  bool published = false;  // others may have the file, so places in its index must stay valid
  bool made_here = true;   // this program created the file, and it skips no filters
};

// For one open file, until close(). Chunks are identified by their variable and their first element.
class ChunkPlaces {
 public:
  ChunkPlaces(hid_t file, const std::string& path, const Scales& scales, const FormatOptions& options)
      : file_(file), path_(path), scales_(scales), kept_(file, options.alignment, options.alignment_threshold) {}

  // The dataset, kept open until it is forgotten.
  Result<hid_t> dataset(const std::string& variable);
  void forget(const std::string& variable) { datasets_.erase(variable); }
  void forget_all() noexcept { datasets_.clear(); }

  // As Format::place_chunk(), reserve_chunk(), restore_chunk(), fill_chunk(), forget_moved_chunks() and find_chunk().
  Result<PlacedChunk> place(const std::string& variable, std::span<const int64_t> first, const ChunkRoom& room);
  Result<PlacedChunk> reserve(const std::string& variable, std::span<const int64_t> first, const ChunkRoom& room);
  Status restore(const std::string& variable, std::span<const int64_t> first);
  Status fill(const std::string& variable, std::span<const int64_t> first, std::span<const std::byte> bytes);
  void forget_moved() noexcept { moved_.clear(), kept_.forget_moved(); }
  Result<ChunkPlace> find(const std::string& variable, std::span<const int64_t> first);
  Result<std::vector<int64_t>> stored(const std::string& variable);

  // Freed places and the index are kept until let_go(), which is called when the index has been written.
  bool holds() const noexcept { return index_held_ || !kept_.empty(); }
  Status let_go();
  // Readers find the file as it is.
  Status set_published() { return kept_.set_published(); }
  // Called after changes by which HDF5 may free places, and before it allocates a place for other elements than chunks:
  // it gives none that readers need.
  void expect_freed() noexcept { kept_.expect_freed(); }
  Status keep_freed() { return kept_.keep_freed(); }
  void close() noexcept { forget_all(), forget_moved(), kept_.let_go(); }

 private:
  using Name = std::pair<std::string, std::vector<int64_t>>;  // a chunk: variable and first element
  static Name name_of(const std::string& variable, std::span<const int64_t> first) {
    return {variable, {first.begin(), first.end()}};
  }

  // According to the index; 0: there is no such chunk. Code::bad_file: the index is damaged.
  Result<int64_t> stored_bytes(const std::string& variable, std::span<const int64_t> first);
  Result<int64_t> insert(const std::string& variable, std::span<const int64_t> first, int64_t bytes,
                         uint32_t skipped = 0);
  Result<ChunkPlace> old_place(const std::string& variable, std::span<const int64_t> first, const ChunkRoom& room);
  Result<int64_t> enter(const std::string& variable, std::span<const int64_t> first, const ChunkRoom& room,
                        const ChunkPlace& old);
  Result<int64_t> replace(const std::string& variable, std::span<const int64_t> first, int64_t bytes);
  Result<bool> has_filters(const std::string& variable);
  Result<bool> has_one_chunk(const std::string& variable);
  Result<int64_t> move(const std::string& variable, std::span<const int64_t> first, int64_t bytes,
                       const ChunkPlace& old);
  Status put_back(const std::string& variable, std::span<const int64_t> first, const ChunkPlace& old);
  Status hold_index(bool held);

  hid_t file_;
  std::string path_;  // of the file, for messages
  const Scales& scales_;
  std::map<std::string, Handle, std::less<>> datasets_;
  KeptPlaces kept_;
  std::map<Name, int64_t> reserved_;  // offsets of future chunks
  std::map<Name, ChunkPlace> moved_;  // previous places of chunks that were moved since forget_moved()
  bool index_held_ = false;
};

// Coordinates as HDF5 takes them.
std::array<hsize_t, k_most_dimensions> coordinates(std::span<const int64_t> first);

}  // namespace windrow
