// SPDX-License-Identifier: BSD-3-Clause
// Chunked variables on their way to and from the file. The exchange handles the linear chunk space (extent/chunks.hpp)
// like a file, in windows of whole chunks. ChunkSink turns a full window into encoded chunks and writes them;
// ChunkFetcher reads and decodes chunks into a window. Only the root has the file's chunk index: rank 0, or the rank in
// charge of a subfile. Writers request space from the root during the transfer (docs/internals/modules/chunking.md).
//
//   writer (ChunkSink)                              root (ChunkPlacer)
//   encoding: encodes a full window                 serving: polls for messages
//     | sends chunks and sizes (k_tag_chunks)  --->   | allocates space in the index
//   placing: waits for the offsets             <---   | sends offsets (k_tag_placed); -1: no space
//     | meanwhile encodes the next window             |
//   writing: writes the encoded chunks                |
//     | after the last window                         |
//   ended: sends k_tag_chunks_end              --->  finished: has one end message of each writer
// A root that is also a writer allocates by a local call.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dataio/data_file.hpp"
#include "exchange/role.hpp"
#include "extent/chunks.hpp"
#include "filter/filter.hpp"
#include "format/format.hpp"

namespace windrow {

// A variable's chunks, or those of one part of a split variable.
struct ChunkPart {
  int64_t number = -1;  // subfile of the part; -1: the variable is not split
  ChunkGrid grid;
  Chunking chunking;
  int64_t first = 0;                             // number of its first chunk in the linear space
  int root = 0;                                  // rank with the index of its chunks
  int64_t file_base = 0, file_room = INT64_MAX;  // range of the subfile in the address space of all files
};

// The chunking of a variable. The chunks of all parts in `parts` form one linear space, part after part, and have the
// same size.
struct ChunkLayout {
  std::string path;
  std::vector<ChunkPart> parts;       // ascending by number and by root; at least one
  std::vector<std::byte> fill_value;  // one element, as stored; empty: zeros
  int64_t element_bytes = 1;
  int64_t group = -1;  // group of the variable's parts; -1: not split

  bool is_split() const noexcept { return group >= 0; }
  int64_t count() const noexcept { return parts.back().first + parts.back().grid.count(); }
  int64_t chunk_bytes() const noexcept { return parts.front().grid.elements() * element_bytes; }
  Extent bytes_of(int64_t chunk) const noexcept { return {chunk * chunk_bytes(), (chunk + 1) * chunk_bytes()}; }
  Extent bytes_of(const ChunkPart& part) const noexcept {
    return {part.first * chunk_bytes(), (part.first + part.grid.count()) * chunk_bytes()};
  }
  // The part that contains this chunk; O(log parts).
  const ChunkPart& part_of(int64_t chunk) const noexcept;
  int root_of(int64_t chunk) const noexcept { return part_of(chunk).root; }
  // The filters of a chunk.
  std::span<const Filter> filters_of(int64_t chunk) const noexcept;
  int64_t bytes_inside(int64_t chunk) const noexcept;
  // Fills with whole elements of the fill value; `bytes` begins with an element.
  void fill(std::span<std::byte> bytes) const noexcept;
  // Calls visit(chunk, offset in the buffer) for each chunk of a window of whole chunks that has bytes of `covered`.
  // The time depends on these chunks only: there may be few of them in a large window.
  void for_each_chunk(const Window& window, PieceView covered, auto&& visit) const {
    const int64_t end = covered.empty() ? 0 : hull(covered).end;
    window.for_each_part([&](Extent part, int64_t place) {
      for (int64_t at = part.begin; at < std::min(part.end, end);) {
        const int64_t chunk = next_offset(covered, at) / chunk_bytes();
        at = (chunk + 1) * chunk_bytes();
        if (at <= part.end)
          visit(chunk, place + chunk * chunk_bytes() - part.begin);
      }
    });
  }
  // Groups ascending chunks by the rank that has their index: visit(root, first, count) for each range. chunk_at(i):
  // number of the i-th chunk.
  void for_each_root(size_t chunks, auto&& chunk_at, auto&& visit) const {
    for (size_t i = 0; i < chunks;) {
      const size_t first = i;
      const int root = root_of(chunk_at(i));
      while (i < chunks && root_of(chunk_at(i)) == root)
        ++i;
      visit(root, first, i - first);
    }
  }
};

// Ranges of the linear space with data to move: for each part, its share of the hull and of the records by which it
// grows.
std::vector<Extent> regions_of(const ChunkLayout& layout, Extent hull, Extent records);
int64_t chunks_in_regions(const ChunkLayout& layout, Extent hull, Extent records) noexcept;

// Finds the chunk index of a part, on its root.
using FormatOfPart = std::function<Result<Format*>(const ChunkPart& part)>;

Result<std::shared_ptr<const ChunkLayout>> layout_of(const Variable& variable);

// Encodes ascending numbers for a message.
std::vector<std::byte> numbers_as_message(std::span<const int64_t> numbers);

// A chunk of about 1 to 2 MiB, as close to a cube as repeated halving makes it. Depends on the variable only.
std::vector<int64_t> choose_chunk(std::span<const int64_t> shape, int64_t element_bytes);

struct KnownChunk {
  int64_t number = 0;
  ChunkPlace place;
};

// Chunks whose positions this rank has requested, sorted.
using KnownChunks = std::vector<KnownChunk>;

// A request for space in a message: chunk, encoded bytes, and whether the chunk keeps elements that are not written.
struct WantedChunk {
  static constexpr size_t k_words = 3;
  int64_t chunk = 0, bytes = 0;
  bool in_part = false;

  static WantedChunk at(std::span<const int64_t> wanted, size_t index) noexcept {
    const std::span<const int64_t> words = wanted.subspan(index * k_words, k_words);
    return {words[0], words[1], words[2] != 0};
  }
  void append_to(std::vector<int64_t>& wanted) const { wanted.insert(wanted.end(), {chunk, bytes, in_part ? 1 : 0}); }
};

// Allocates space for the chunks of other ranks. Runs on a root of a layout, which is rank 0 unless there are subfiles.
class ChunkPlacer final : public Role {
 public:
  struct Requests {
    int64_t writers = 0;      // others that may have chunks of its parts; each sends one end message
    int64_t most_chunks = 0;  // in a request
  };
  ChunkPlacer(const Comm& comm, Trace& trace, const ChunkLayout& layout, FormatOfPart format_of, Requests expected)
      : Role(comm, trace),
        layout_(layout),
        format_of_(std::move(format_of)),
        others_(expected.writers),
        message_(WantedChunk::k_words * static_cast<size_t>(expected.most_chunks)),
        answer_(static_cast<size_t>(expected.most_chunks)) {}
  Status prepare() override { return {}; }
  int64_t buffer_bytes() const override { return 0; }
  void begin(std::span<const Item>, std::byte*) override { left_ = others_, status_ = {}, placed_.clear(); }
  bool step() override;
  bool finished() const override { return broken_ || left_ == 0; }

  // Sets `offsets`; -1: no space, and status() has the reason.
  void place(std::span<const int64_t> wanted, std::span<int64_t> offsets);

  // Local, after all writers have ended. If a write failed, chunks that were to keep elements are restored to their
  // previous content, and new chunks get the fill value. The same holds for completely overwritten chunks that cannot
  // be decoded.
  void finish(bool written, DataFile& file) noexcept;

 private:
  void restore(DataFile& file) noexcept;
  struct Placed {
    int64_t chunk = 0;
    bool in_part = false, is_new = false;
  };
  bool is_readable(const Placed& placed, Format& format, DataFile& file);
  bool take(int tag, MPI_Status& about, int64_t& bytes);

  const ChunkLayout& layout_;
  FormatOfPart format_of_;
  int64_t others_, left_ = 0;
  std::vector<int64_t> message_, answer_;
  std::vector<Placed> placed_;  // since begin()
};

// The other roots that a writer may contact; each gets an end message.
struct ChunkRoots {
  std::vector<int> others;
  std::vector<MPI_Request> requests;  // one for each
};

// Reads chunks from the file, for the sink and the fetcher.
class ChunkReader {
 public:
  ChunkReader(DataFile& file, const ChunkLayout& layout, const KnownChunks& known)
      : file_(file), layout_(layout), known_(known) {}
  // Reads all bytes of a chunk to `out`; a chunk that was never written is filled.
  Status read(int64_t chunk, std::span<std::byte> out);

 private:
  DataFile& file_;
  const ChunkLayout& layout_;
  const KnownChunks& known_;
  ByteBuffer stored_;
  FilterBuffers buffers_;
};

// Encodes the windows of an aggregator and writes them as chunks. Holds the encoded bytes of two windows: one waits for
// space while the next is encoded.
class ChunkSink final : public Sink {
 public:
  // Who allocates the chunks.
  struct Allocators {
    ChunkPlacer* own;  // on a root; else nullptr
    ChunkRoots& others;
  };
  ChunkSink(const Comm& comm, DataFile& file, const ChunkLayout& layout, const KnownChunks& known,
            const Allocators& allocators)
      : comm_(comm),
        file_(file),
        layout_(layout),
        reader_(file, layout, known),
        placer_(allocators.own),
        roots_(allocators.others) {}
  void progress() override;  // the root's MPI_Send of an answer may block until this rank receives it
  bool ready() override;
  void consume(int64_t step, const Window& window, const std::byte* slot, PieceView covered) override;
  int64_t done() const override { return consumed_; }
  bool finished() override;
  Status status() const override { return status_; }

 private:
  struct Answer {
    int root = 0;
    std::span<int64_t> offsets;
  };
  struct Batch {
    ByteBuffer bytes;                      // encoded, concatenated
    std::vector<int64_t> wanted, offsets;  // chunks; one for each
    std::vector<Answer> answers;           // one for each other root
    std::vector<MPI_Request> requests;     // for each pending answer: its receive and the send of the request
    std::vector<int> done;
    std::vector<MPI_Status> statuses;
    bool busy = false;
  };
  Status add(int64_t chunk, std::span<std::byte> bytes, Extent extent, PieceView covered, Batch& batch);
  Status complete(int64_t chunk, std::span<std::byte> bytes, Extent extent, PieceView covered);
  void ask(Batch& batch);
  void write(Batch& batch);
  void check(const Answer& answer, int64_t bytes);
  bool mpi_ok(int code, const char* call);

  const Comm& comm_;
  DataFile& file_;
  const ChunkLayout& layout_;
  ChunkReader reader_;
  ChunkPlacer* placer_;
  ChunkRoots& roots_;
  std::array<Batch, 2> batches_;
  size_t oldest_ = 0;
  FilterBuffers buffers_;
  std::vector<std::byte> old_;  // previous content of a chunk that is partly overwritten
  int64_t consumed_ = 0;
  char end_ = 0;
  bool end_sent_ = false;
  Status status_;
};

// Reads and decodes chunks into the windows of an aggregator.
class ChunkFetcher final : public Fetcher {
 public:
  ChunkFetcher(DataFile& file, const ChunkLayout& layout, const KnownChunks& known)
      : layout_(layout), reader_(file, layout, known) {}
  void start(int64_t step, const Window& window, std::byte* slot, PieceView covered) override;
  int64_t done() override { return started_; }
  Status status() const override { return status_; }

 private:
  const ChunkLayout& layout_;
  ChunkReader reader_;
  int64_t started_ = 0;
  Status status_;
};

}  // namespace windrow
