// SPDX-License-Identifier: BSD-3-Clause
#include "datatype/combine.hpp"

#include <algorithm>
#include <numeric>

#include "base/checked.hpp"

namespace windrow {
namespace {

using Kind = TypeNode::Kind;

// A part of the data of one side: bytes [begin, begin + length) of the data of copies of a node at `stride`, the first
// of which is at `at`. Without a node: contiguous bytes from `at` on.
struct Slice {
  const TypeNode* node = nullptr;
  int64_t at = 0, stride = 0, begin = 0, length = 0;

  int64_t size() const noexcept { return node == nullptr ? 1 : node->size; }  // of one copy
  bool is_within_copy() const noexcept { return node != nullptr && begin + length <= node->size; }
  // `bytes` of the slice, from byte `first` on.
  Slice part(int64_t first, int64_t bytes) const noexcept {
    return node == nullptr ? Slice{nullptr, at + first, 0, 0, bytes} : Slice{node, at, stride, begin + first, bytes};
  }
  // Bytes before the next copy begins; 0 at the begin of one.
  int64_t head() const noexcept { return (size() - begin % size()) % size(); }
};

size_t block_of(const TypeNode& node, int64_t begin) noexcept {
  const auto after = std::upper_bound(node.starts.begin(), node.starts.end(), begin);
  return static_cast<size_t>(after - node.starts.begin()) - 1;
}

// The part of a list or sequence from `begin` on that is in one block; `slice` is within one copy of it.
Slice block_part(const Slice& slice, size_t block, int64_t begin, int64_t length) noexcept {
  const TypeNode& node = *slice.node;
  return {&node.part(block), slice.at + node.offsets[block], node.stride, begin - node.starts[block], length};
}

// The same bytes, as contiguous bytes, several copies, or several blocks within one copy.
Slice narrowed(Slice slice) noexcept {
  while (slice.node != nullptr) {
    const TypeNode& node = *slice.node;
    const int64_t copy = slice.begin / node.size, within = slice.begin % node.size;
    if (within + slice.length > node.size) {
      const bool is_contiguous = node.kind == Kind::bytes && slice.stride == node.size;
      return is_contiguous ? Slice{nullptr, slice.at + slice.begin, 0, 0, slice.length} : slice;
    }
    slice.at += copy * slice.stride;
    slice.begin = within;
    if (node.kind == Kind::bytes) {
      slice = {nullptr, slice.at + within, 0, 0, slice.length};
    } else if (node.kind == Kind::loop) {
      slice.stride = node.stride;
      slice.node = node.parts.front().get();
    } else {
      const size_t block = block_of(node, within);
      if (within + slice.length > node.starts[block + 1])
        return slice;
      slice = block_part(slice, block, within, slice.length);
    }
  }
  return slice;
}

// Takes nests in file order. add() returns false if the caller should stop.
class NestSink {
 public:
  virtual bool add(const Nest& nest) = 0;
  virtual bool takes_one() const noexcept = 0;

 protected:
  ~NestSink() = default;
};

class ListSink final : public NestSink {
 public:
  explicit ListSink(PiecesBuilder& builder) : builder_(builder) {}
  bool add(const Nest& nest) override {
    builder_.add(nest);
    return true;
  }
  bool takes_one() const noexcept override { return false; }

 private:
  PiecesBuilder& builder_;
};

// Fails at the second nest.
class SingleSink final : public NestSink {
 public:
  bool add(const Nest& nest) override {
    if (has_nest_)
      return false;
    nest_ = nest;
    has_nest_ = true;
    return true;
  }
  bool takes_one() const noexcept override { return true; }
  Nest& nest() noexcept { return nest_; }

 private:
  Nest nest_;
  bool has_nest_ = false;
};

// Pairs the bytes of two slices of equal length. False: the sink failed.
bool pair(Slice file, Slice memory, NestSink& sink);

// Pairs slices part by part: [0, first), and then parts of `each` bytes.
bool pair_parts(const Slice& file, const Slice& memory, int64_t first, int64_t each, NestSink& sink) {
  int64_t bytes = first > 0 ? std::min(first, file.length) : std::min(each, file.length);
  for (int64_t at = 0; at < file.length; at += bytes, bytes = std::min(each, file.length - at))
    if (!pair(file.part(at, bytes), memory.part(at, bytes), sink))
      return false;
  return true;
}

// `blocks` is one side, which is a part of a list; `swapped`: it is the memory.
bool pair_blocks(const Slice& blocks, const Slice& other, bool swapped, NestSink& sink) {
  const TypeNode& node = *blocks.node;
  size_t block = block_of(node, blocks.begin);
  for (int64_t at = 0; at < blocks.length; ++block) {
    const int64_t begin = blocks.begin + at, bytes = std::min(blocks.length - at, node.starts[block + 1] - begin);
    const Slice one = block_part(blocks, block, begin, bytes), rest = other.part(at, bytes);
    if (!(swapped ? pair(rest, one, sink) : pair(one, rest, sink)))
      return false;
    at += bytes;
  }
  return true;
}

// Bytes of data after which copies of both sides begin again.
int64_t common_period(const Slice& one, const Slice& other) noexcept {
  const int64_t factor = one.size() / std::gcd(one.size(), other.size());
  return checked_multiply(factor, other.size()).value_or(INT64_MAX);
}

// Slices that repeat their begin after each `period` bytes, `count` times.
bool pair_periods(const Slice& file, const Slice& memory, int64_t period, int64_t count, NestSink& sink) {
  const auto step = [&](const Slice& slice) {
    return slice.node == nullptr ? period : period / slice.size() * slice.stride;
  };
  SingleSink single;
  if (pair(file.part(0, period), memory.part(0, period), single) && single.nest().depth < k_max_loops) {
    single.nest().repeat(count, step(file), step(memory));
    return sink.add(single.nest());
  }
  return !sink.takes_one() && pair_parts(file, memory, 0, period, sink);
}

// Two slices, at least one of which has several copies, and none several blocks of a list. First the rest of a copy
// that has begun, then whole periods, then what is left, cut where the larger copies begin.
bool pair_loops(const Slice& file, const Slice& memory, NestSink& sink) {
  const Slice& larger = file.size() >= memory.size() ? file : memory;
  const int64_t head = std::min(larger.head(), file.length), period = common_period(file, memory);
  const int64_t count = (file.length - head) / period;
  if (count < 2)
    return pair_parts(file, memory, head, larger.size(), sink);
  const int64_t all = count * period, rest = file.length - head - all;
  return (head == 0 || pair(file.part(0, head), memory.part(0, head), sink)) &&
         pair_periods(file.part(head, all), memory.part(head, all), period, count, sink) &&
         (rest == 0 || pair_parts(file.part(head + all, rest), memory.part(head + all, rest), 0, larger.size(), sink));
}

bool pair(Slice file, Slice memory, NestSink& sink) {
  file = narrowed(file);
  memory = narrowed(memory);
  if (file.is_within_copy())
    return pair_blocks(file, memory, false, sink);
  if (memory.is_within_copy())
    return pair_blocks(memory, file, true, sink);
  if (file.node == nullptr && memory.node == nullptr)
    return sink.add(Nest(Run{file.at, memory.at, file.length, 0, 0, 1}));
  return pair_loops(file, memory, sink);
}

Status bad(const char* what) {
  return {Code::bad_argument, what};
}

// Copies [0, last] of a filetype are in order, without overlaps, and not before the displacement. All copies are
// checked, although only some of them are used, so that a view is right or wrong wherever the data begins.
Status check_filetype(const TypeMap& filetype, int64_t last) {
  if (filetype.data.begin() < 0)
    return bad("a displacement of the filetype is negative");
  const TypeNode& node = *filetype.data.node;
  if (!node.ascending || (last > 0 && filetype.extent < node.high))
    return bad("the displacements of the filetype do not ascend, or overlap");
  return {};
}

// The copies of the filetype that bytes [begin, end) of the data of the view touch. `begin` becomes relative to them.
Result<TypeData> touched_tiles(const TiledView& view, int64_t& begin, int64_t end) {
  const int64_t size = view.filetype.size(), first = begin / size, last = (end - 1) / size;
  begin -= first * size;
  if (Status status = check_filetype(view.filetype, last); !status.ok())
    return status;
  auto tiles = repeated(view.filetype.data, last - first + 1, view.filetype.extent);
  if (!tiles.ok())
    return tiles;
  const auto place = checked_multiply(first, view.filetype.extent);
  const auto from = place ? checked_add(*place, view.displacement) : std::nullopt;
  return from ? moved(std::move(tiles).value(), *from) : bad("an offset in the file does not fit into 64 bits");
}

Slice slice_of(const TypeData& data, int64_t begin, int64_t length) noexcept {
  return {data.node.get(), data.offset, 0, begin, length};
}

Result<ViewedBytes> combined(const TiledView& view, int64_t offset, const TypeMap& memory, int64_t count) {
  if (view.displacement < 0 || view.etype_size < 0 || offset < 0 || count < 0)
    return bad("a displacement, an offset, a size or a count is negative");
  const auto buffer = repeated(memory.data, count, memory.extent);
  if (!buffer.ok())
    return buffer.status();
  const int64_t bytes = buffer.value().size();
  if (bytes == 0)
    return ViewedBytes{};
  if (view.filetype.size() == 0 || view.etype_size == 0)
    return bad("the filetype or the etype has no data, but there is data to move");
  const auto begin = checked_multiply(offset, view.etype_size);
  const auto end = begin ? checked_add(*begin, bytes) : std::nullopt;
  if (!end)
    return bad("an offset in the data of the view does not fit into 64 bits");
  int64_t from = *begin;
  const auto tiles = touched_tiles(view, from, *end);
  if (!tiles.ok())
    return tiles.status();
  ViewedBytes list{{}, buffer.value().begin()};
  Slice inside = slice_of(buffer.value(), 0, bytes);
  inside.at -= list.memory_base;
  PiecesBuilder builder;
  ListSink sink(builder);
  pair(slice_of(tiles.value(), from, bytes), inside, sink);
  list.pieces = builder.take();
  return list;
}

}  // namespace

Result<ViewedBytes> combine(const TiledView& view, int64_t offset, const TypeMap& memory, int64_t count) {
  return guard([&] { return combined(view, offset, memory, count); });
}

}  // namespace windrow
