// SPDX-License-Identifier: BSD-3-Clause
#include "datatype/type_map.hpp"

#include <algorithm>

#include "base/checked.hpp"

namespace windrow {
namespace {

using Kind = TypeNode::Kind;
using NodePointer = std::shared_ptr<const TypeNode>;

Status too_large() {
  return {Code::bad_argument, "the bytes of a datatype do not fit into 64 bits"};
}

bool is_checked(const TypeData& data) noexcept {
  int64_t span = 0;
  return checked_add(data.offset, data.node->low) && checked_add(data.offset, data.node->high) &&
         !__builtin_sub_overflow(data.node->high, data.node->low, &span);
}

Result<TypeData> placed(int64_t offset, TypeNode node) {
  TypeData data{offset, std::make_shared<const TypeNode>(std::move(node))};
  return is_checked(data) ? Result<TypeData>(std::move(data)) : too_large();
}

// Collects the parts of a node in their order.
class NodeBuilder {
 public:
  explicit NodeBuilder(Kind kind) { node_.kind = kind; }
  TypeNode& node() noexcept { return node_; }
  bool good() const noexcept { return good_; }

  // `count` copies of a part at `stride`, from `offset` on.
  void add(const TypeNode& part, int64_t offset, int64_t count, int64_t stride) noexcept {
    const int64_t reach = multiply(count - 1, stride);
    const int64_t low = add(offset, add(part.low, std::min<int64_t>(reach, 0)));
    const int64_t high = add(offset, add(part.high, std::max<int64_t>(reach, 0)));
    const bool is_first = node_.size == 0;
    node_.ascending =
        (is_first || low >= node_.high) && node_.ascending && part.ascending && (count == 1 || stride >= part.high);
    node_.low = is_first ? low : std::min(node_.low, low);
    node_.high = is_first ? high : std::max(node_.high, high);
    node_.size = add(node_.size, multiply(part.size, count));
  }

 private:
  int64_t add(int64_t one, int64_t other) noexcept { return checked(checked_add(one, other)); }
  int64_t multiply(int64_t one, int64_t other) noexcept { return checked(checked_multiply(one, other)); }
  int64_t checked(std::optional<int64_t> value) noexcept {
    good_ = good_ && value;
    return value.value_or(0);
  }

  TypeNode node_;
  bool good_ = true;
};

// Blocks of copies, without empty ones. A block that continues the previous one is merged with it.
struct Blocks {
  std::vector<int64_t> offsets, counts;

  void add(int64_t offset, int64_t count, int64_t stride) {
    if (count == 0)
      return;
    if (!offsets.empty()) {
      const auto bytes = checked_multiply(counts.back(), stride);
      const auto end = bytes ? checked_add(offsets.back(), *bytes) : std::nullopt;
      if (end == offset)
        if (const auto sum = checked_add(counts.back(), count)) {
          counts.back() = *sum;
          return;
        }
    }
    offsets.push_back(offset);
    counts.push_back(count);
  }
};

// The distance of values that are all equally far apart; of one value, 0.
std::optional<int64_t> common_distance(const std::vector<int64_t>& values) noexcept {
  int64_t distance = 0;
  for (size_t i = 1; i < values.size(); ++i) {
    int64_t step = 0;
    if (__builtin_sub_overflow(values[i], values[i - 1], &step) || (i > 1 && step != distance))
      return std::nullopt;
    distance = step;
  }
  return distance;
}

bool is_same(const TypeNode& one, const TypeNode& other) noexcept {
  return &one == &other || (one.kind == Kind::bytes && other.kind == Kind::bytes && one.size == other.size);
}

}  // namespace

TypeData contiguous_bytes(int64_t size) {
  if (size == 0)
    return {};
  TypeNode node;
  node.size = node.high = size;
  return {0, std::make_shared<const TypeNode>(std::move(node))};
}

Result<TypeData> moved(TypeData data, int64_t distance) {
  if (data.node == nullptr)
    return data;
  const auto offset = checked_add(data.offset, distance);
  if (!offset)
    return too_large();
  data.offset = *offset;
  return is_checked(data) ? Result<TypeData>(std::move(data)) : too_large();
}

Result<TypeData> repeated(const TypeData& data, int64_t count, int64_t stride) {
  if (data.node == nullptr || count == 0)
    return TypeData{};
  if (count == 1)
    return data;
  const TypeNode& part = *data.node;
  NodeBuilder builder(Kind::loop);
  builder.add(part, 0, count, stride);
  if (!builder.good())
    return too_large();
  TypeNode& node = builder.node();
  if (part.kind == Kind::bytes && stride == part.size) {
    node.kind = Kind::bytes;
  } else if (part.kind == Kind::loop && checked_multiply(part.count, part.stride) == stride) {
    node.count = count * part.count;
    node.stride = part.stride;
    node.parts = part.parts;
  } else {
    node.count = count;
    node.stride = stride;
    node.parts.push_back(data.node);
  }
  return placed(data.offset, std::move(node));
}

Result<TypeData> blocks_of(const TypeData& data, int64_t stride, const std::vector<int64_t>& offsets,
                           const std::vector<int64_t>& counts) {
  if (data.node == nullptr)
    return TypeData{};
  Blocks blocks;
  for (size_t i = 0; i < offsets.size(); ++i)
    blocks.add(offsets[i], counts[i], stride);
  if (blocks.offsets.empty())
    return TypeData{};
  const int64_t first = blocks.offsets.front();
  if (const auto distance = common_distance(blocks.offsets);
      distance && std::equal(blocks.counts.begin() + 1, blocks.counts.end(), blocks.counts.begin())) {
    const auto block = repeated(data, blocks.counts.front(), stride);
    const auto all =
        block.ok() ? repeated(block.value(), static_cast<int64_t>(blocks.offsets.size()), *distance) : block;
    return all.ok() ? moved(all.value(), first) : all;
  }
  NodeBuilder builder(Kind::list);
  TypeNode& node = builder.node();
  node.stride = stride;
  node.parts.push_back(data.node);
  node.starts.reserve(blocks.offsets.size() + 1);
  for (size_t i = 0; i < blocks.offsets.size() && builder.good(); ++i) {
    int64_t& offset = blocks.offsets[i];
    if (__builtin_sub_overflow(offset, first, &offset))
      return too_large();
    node.starts.push_back(node.size);
    builder.add(*data.node, offset, blocks.counts[i], stride);
  }
  if (!builder.good())
    return too_large();
  node.starts.push_back(node.size);
  node.offsets = std::move(blocks.offsets);
  node.offsets.shrink_to_fit();
  const auto offset = checked_add(data.offset, first);
  return offset ? placed(*offset, std::move(node)) : too_large();
}

namespace {

// Parts that are all contiguous bytes.
Result<TypeData> sequence_of_bytes(const std::vector<TypeData>& parts) {
  std::vector<int64_t> offsets, counts;
  for (const TypeData& part : parts) {
    offsets.push_back(part.offset);
    counts.push_back(part.node->size);
  }
  return blocks_of(contiguous_bytes(1), 1, offsets, counts);
}

// Contiguous bytes that continue the previous part are merged with it.
std::vector<TypeData> merged(std::vector<TypeData> parts) {
  std::vector<TypeData> all;
  for (TypeData& part : parts) {
    if (part.node == nullptr)
      continue;
    const bool continues = !all.empty() && part.node->kind == Kind::bytes && all.back().node->kind == Kind::bytes &&
                           all.back().end() == part.offset;
    if (continues)
      all.back().node = contiguous_bytes(all.back().size() + part.size()).node;
    else
      all.push_back(std::move(part));
  }
  return all;
}

}  // namespace

Result<TypeData> sequence_of(std::vector<TypeData> parts) {
  if (std::all_of(parts.begin(), parts.end(),
                  [](const TypeData& part) { return part.node == nullptr || part.node->kind == Kind::bytes; })) {
    std::erase_if(parts, [](const TypeData& part) { return part.node == nullptr; });
    return sequence_of_bytes(parts);
  }
  parts = merged(std::move(parts));
  if (parts.size() == 1)
    return parts.front();
  std::vector<int64_t> offsets;
  for (const TypeData& part : parts)
    offsets.push_back(part.offset);
  const int64_t first = offsets.front();
  if (const auto distance = common_distance(offsets);
      distance && std::all_of(parts.begin(), parts.end(),
                              [&](const TypeData& part) { return is_same(*part.node, *parts.front().node); }))
    return repeated(parts.front(), static_cast<int64_t>(parts.size()), *distance);
  NodeBuilder builder(Kind::sequence);
  TypeNode& node = builder.node();
  for (size_t i = 0; i < parts.size() && builder.good(); ++i) {
    if (__builtin_sub_overflow(offsets[i], first, &offsets[i]))
      return too_large();
    node.starts.push_back(node.size);
    builder.add(*parts[i].node, offsets[i], 1, 0);
    node.parts.push_back(std::move(parts[i].node));
  }
  if (!builder.good())
    return too_large();
  node.starts.push_back(node.size);
  node.offsets = std::move(offsets);
  return placed(first, std::move(node));
}

}  // namespace windrow
