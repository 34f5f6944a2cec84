// SPDX-License-Identifier: BSD-3-Clause
// Chunked variables on their way to and from the file. The exchange sees the chunks' own line (extent/chunks.hpp) as if
// it were the file, in windows of whole chunks. Here a full window becomes encoded chunks with room in the file, and
// stored chunks become a window. Rank 0 alone knows the file's index of chunks, and of a subfile the rank that looks
// after it: writers ask them for room while they go on (docs/internals/modules/session.md).
#pragma once

#include <mpi.h>

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

// A variable's chunks, or those of one part of a variable that is split.
struct ChunkPart {
  int64_t number = -1;  // of the part's subfile; -1: of a variable that is not split
  ChunkGrid grid;
  Chunking chunking;
  int64_t first = 0;                             // its first chunk's number in the line
  int root = 0;                                  // the rank that has the index of its chunks
  int64_t file_base = 0, file_room = INT64_MAX;  // of the subfile in the line of files
};

// How a variable is cut, and what a chunk of it is made of. The chunks of all parts in `parts` are one line, part after
// part, and are all of one size.
struct ChunkLayout {
  std::string path;
  std::vector<ChunkPart> parts;       // ascending by number, and by root; one at least
  std::vector<std::byte> fill_value;  // of an element, as stored; empty: zeros
  int64_t element_bytes = 1;
  int64_t group = -1;  // of the variable's parts; -1: it is not split

  bool is_split() const noexcept { return group >= 0; }
  int64_t count() const noexcept { return parts.back().first + parts.back().grid.count(); }
  int64_t chunk_bytes() const noexcept { return parts.front().grid.elements() * element_bytes; }
  Extent bytes_of(int64_t chunk) const noexcept { return {chunk * chunk_bytes(), (chunk + 1) * chunk_bytes()}; }
  Extent bytes_of(const ChunkPart& part) const noexcept {
    return {part.first * chunk_bytes(), (part.first + part.grid.count()) * chunk_bytes()};
  }
  // The part with this chunk; O(log parts).
  const ChunkPart& part_of(int64_t chunk) const noexcept;
  int root_of(int64_t chunk) const noexcept { return part_of(chunk).root; }
  // What the bytes of a chunk go through.
  std::span<const Filter> filters_of(int64_t chunk) const noexcept;
  int64_t bytes_inside(int64_t chunk) const noexcept;
  // Whole elements that were never written; `bytes` begins with one.
  void fill(std::span<std::byte> bytes) const noexcept;
  // The chunks of a window, which is of whole ones: visit(chunk, its place in the buffer).
  void for_each_chunk(const Window& window, auto&& visit) const {
    window.for_each_part([&](Extent part, int64_t place) {
      for (int64_t chunk = part.begin / chunk_bytes(); chunk * chunk_bytes() < part.end; ++chunk)
        visit(chunk, place + chunk * chunk_bytes() - part.begin);
    });
  }
  // Of chunks in ascending order those whose index one rank has: visit(root, first, count) for each such stretch.
  // chunk_at(i): number of the i-th.
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

// Bytes of the line in which something moves: from part to part what the hull holds of them, and of what grows the
// records.
std::vector<Extent> regions_of(const ChunkLayout& layout, Extent hull, Extent records);
int64_t chunks_in_regions(const ChunkLayout& layout, Extent hull, Extent records) noexcept;

// Finds the index of the chunks of a part, on its root.
using FormatOfPart = std::function<Result<Format*>(const ChunkPart& part)>;

Result<std::shared_ptr<const ChunkLayout>> layout_of(const Variable& variable);

// Ascending numbers, as they travel.
std::vector<std::byte> numbers_as_letter(std::span<const int64_t> numbers);

// About 1 to 2 MiB, as near to a cube as halving makes it: from the variable alone.
std::vector<int64_t> choose_chunk(std::span<const int64_t> shape, int64_t element_bytes);

struct KnownChunk {
  int64_t number = 0;
  ChunkPlace place;
};

// Chunks whose places this rank has asked for, sorted.
using KnownChunks = std::vector<KnownChunk>;

// What a writer asks room for, as it travels: chunk, bytes once encoded, and whether there is more in it than is
// written anew.
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

// On a root of a layout, which is rank 0 where the file is one: finds room for the chunks of others.
class ChunkPlacer final : public Role {
 public:
  // `others`: writers beside this rank that may have chunks of its parts; each says once that it is at its end. `most`:
  // chunks that one of them asks for at once.
  ChunkPlacer(const Comm& comm, Trace& trace, const ChunkLayout& layout, FormatOfPart format_of, int64_t others,
              int64_t most)
      : Role(comm, trace),
        layout_(layout),
        format_of_(std::move(format_of)),
        others_(others),
        message_(WantedChunk::k_words * static_cast<size_t>(most)),
        answer_(static_cast<size_t>(most)) {}
  Status prepare() override { return {}; }
  int64_t buffer_bytes() const override { return 0; }
  void begin(std::span<const Item>, std::byte*) override { left_ = others_, status_ = {}, placed_.clear(); }
  bool step() override;
  bool finished() const override { return broken_ || left_ == 0; }

  // To offsets; -1: there is no room, and status() says why.
  void place(std::span<const int64_t> wanted, std::span<int64_t> offsets);

  // Local, when all have written what they could. If one could not, chunks that were to keep a part of what was in them
  // are what they were, and new ones hold the fill value; so do those that were to be written as a whole and cannot be
  // decoded.
  void settle(bool written, DataFile& file) noexcept;

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

// Other ranks that a writer may ask for room; each is told of its end.
struct ChunkRoots {
  std::vector<int> others;
  std::vector<MPI_Request> requests;  // one each
};

// What sink and fetcher share: chunks from the file.
class ChunkReader {
 public:
  ChunkReader(DataFile& file, const ChunkLayout& layout, const KnownChunks& known)
      : file_(file), layout_(layout), known_(known) {}
  // All bytes of a chunk, to `out`; a chunk that was never written is filled.
  Status read(int64_t chunk, std::span<std::byte> out);

 private:
  DataFile& file_;
  const ChunkLayout& layout_;
  const KnownChunks& known_;
  ByteBuffer stored_;
  FilterBuffers buffers_;
};

// A collector's windows become encoded chunks in the file. Holds two windows' encoded bytes: of one that waits for room
// while the next is encoded.
class ChunkSink final : public Sink {
 public:
  // `placer`: on a root, which asks itself.
  ChunkSink(const Comm& comm, DataFile& file, const ChunkLayout& layout, const KnownChunks& known, ChunkPlacer* placer,
            ChunkRoots& roots)
      : comm_(comm), file_(file), layout_(layout), reader_(file, layout, known), placer_(placer), roots_(roots) {}
  void progress() override;  // a root waits until its answer is taken
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
    ByteBuffer bytes;                      // encoded, one behind the other
    std::vector<int64_t> wanted, offsets;  // chunks; one each
    std::vector<Answer> answers;           // one for each other root
    std::vector<MPI_Request> requests;     // for each answer to come: it, and its question
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
  std::vector<std::byte> old_;  // a chunk that is changed in part, as it was
  int64_t consumed_ = 0;
  char end_ = 0;
  bool end_sent_ = false;
  Status status_;
};

// Stored chunks become a distributor's windows.
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
