// SPDX-License-Identifier: BSD-3-Clause
// Where chunks lie, by the index that HDF5 keeps of each dataset. HDF5 is asked for room and for places; it never sees
// what is in a chunk.
#pragma once

#include <hdf5.h>

#include <array>
#include <cstdint>
#include <map>
#include <set>
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

// What a chunk is placed for.
struct ChunkRoom {
  int64_t bytes = 0;
  bool keeps_old = false;  // there is more in it than is written anew
  bool published = false;  // others may have the file: what its index names is to stay
  bool made_here = true;   // the file was created by this program, which skips no filters
};

// Of one open file, until close(). Chunks are named by their variable and their first element.
class ChunkPlaces {
 public:
  ChunkPlaces(hid_t file, const std::string& path, const Scales& scales) : file_(file), path_(path), scales_(scales) {}

  // The dataset, open as long as it is not forgotten.
  Result<hid_t> dataset(const std::string& variable);
  void forget(const std::string& variable) { datasets_.erase(variable); }
  void forget_all() noexcept { datasets_.clear(); }

  // As Format::place_chunk(), reserve_chunk(), restore_chunk(), fill_chunk(), settle_chunks() and find_chunk().
  Result<PlacedChunk> place(const std::string& variable, std::span<const int64_t> first, const ChunkRoom& room);
  Result<PlacedChunk> reserve(const std::string& variable, std::span<const int64_t> first, const ChunkRoom& room);
  Status restore(const std::string& variable, std::span<const int64_t> first);
  Status fill(const std::string& variable, std::span<const int64_t> first, std::span<const std::byte> bytes);
  void settle() noexcept { moved_.clear(), briefly_kept_.let_go(); }
  Result<ChunkPlace> find(const std::string& variable, std::span<const int64_t> first);
  Result<std::vector<int64_t>> stored(const std::string& variable);

  // Places are kept, and the index with them, until let_go() is told that the index is in the file.
  bool index_held() const noexcept { return index_held_; }
  Status let_go();
  void close() noexcept { forget_all(), settle(), kept_.let_go(); }

 private:
  using Name = std::pair<std::string, std::vector<int64_t>>;  // of a chunk: its variable and its first element
  static Name name_of(const std::string& variable, std::span<const int64_t> first) {
    return {variable, {first.begin(), first.end()}};
  }

  bool is_there(hid_t dataset, std::span<const int64_t> first, hsize_t& bytes) const;
  Result<int64_t> insert(const std::string& variable, std::span<const int64_t> first, int64_t bytes,
                         uint32_t skipped = 0);
  Status give_other_size(const std::string& variable, std::span<const int64_t> first, int64_t bytes);
  Result<bool> has_filters(const std::string& variable);
  Result<bool> has_one_chunk(const std::string& variable);
  Result<int64_t> move(const std::string& variable, std::span<const int64_t> first, int64_t bytes,
                       const ChunkPlace& old);
  Status hold_index(bool held);

  hid_t file_;
  std::string path_;  // of the file, for messages
  const Scales& scales_;
  std::map<std::string, Handle, std::less<>> datasets_;
  KeptPlaces kept_;                   // that the index in the file names
  KeptPlaces briefly_kept_;           // that it does not: until settle()
  std::set<int64_t> unpublished_;     // places that chunks got since the last flush
  std::map<Name, int64_t> reserved_;  // offsets of chunks that are to come
  std::map<Name, ChunkPlace> moved_;  // chunks that were moved since settle(): where they were
  bool index_held_ = false;
};

// As HDF5 takes them.
std::array<hsize_t, k_most_dimensions> coordinates(std::span<const int64_t> first);

}  // namespace windrow
