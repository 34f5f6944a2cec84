// SPDX-License-Identifier: BSD-3-Clause
#include "datatype/constructors.hpp"

#include <algorithm>

#include "base/checked.hpp"

namespace windrow {

Result<TypeData> vector_type(const TypeMap& type, int64_t count, int64_t block, int64_t stride) {
  const auto one = repeated(type.data, block, type.extent);
  return one.ok() ? repeated(one.value(), count, stride) : one;
}

Result<TypeData> indexed_type(const TypeMap& type, const std::vector<int64_t>& counts,
                              const std::vector<int64_t>& displacements) {
  return blocks_of(type.data, type.extent, displacements, counts);
}

Result<TypeData> struct_type(const std::vector<TypeMap>& types, const std::vector<int64_t>& counts,
                             const std::vector<int64_t>& displacements) {
  std::vector<TypeData> parts;
  for (size_t i = 0; i < types.size(); ++i) {
    auto part = repeated(types[i].data, counts[i], types[i].extent);
    if (part.ok())
      part = moved(std::move(part).value(), displacements[i]);
    if (!part.ok())
      return part;
    parts.push_back(std::move(part).value());
  }
  return sequence_of(std::move(parts));
}

namespace {

// The local indices of one dimension, with `extent` from index to index.
Result<TypeData> along(const TypeData& element, const ArrayDimension& dimension, int64_t extent) {
  const int64_t local = dimension.end - dimension.first;
  if (element.node == nullptr || local <= 0 || dimension.block <= 0)
    return TypeData{};
  const int64_t whole = local < dimension.block ? 0 : (local - dimension.block) / dimension.cycle + 1;
  // Begins the block that may be shorter.
  const int64_t last = checked_multiply(whole, dimension.cycle).value_or(INT64_MAX);
  const int64_t rest = last < local ? std::min(local - last, dimension.block) : 0;
  const auto place = checked_multiply(dimension.first, extent), step = checked_multiply(dimension.cycle, extent),
             rest_place = checked_multiply(last, extent);
  if (!place || (whole > 1 && !step) || (rest > 0 && !rest_place))
    return Status(Code::bad_argument, "the elements of an array do not fit into 64 bits");
  auto block = whole > 0 ? repeated(element, dimension.block, extent) : Result<TypeData>(TypeData{});
  auto all = block.ok() ? repeated(block.value(), whole, step.value_or(0)) : block;
  auto shorter = repeated(element, rest, extent);
  if (rest > 0 && shorter.ok())
    shorter = moved(std::move(shorter).value(), *rest_place);
  if (!all.ok() || !shorter.ok())
    return all.ok() ? shorter : all;
  auto both = sequence_of({std::move(all).value(), std::move(shorter).value()});
  return both.ok() ? moved(std::move(both).value(), *place) : both;
}

}  // namespace

Result<TypeData> array_type(const TypeMap& type, const std::vector<ArrayDimension>& dimensions) {
  TypeData data = type.data;
  std::optional<int64_t> extent = type.extent;
  for (size_t i = dimensions.size(); i-- > 0;) {
    if (!extent)
      return Status(Code::bad_argument, "the elements of an array do not fit into 64 bits");
    auto next = along(data, dimensions[i], *extent);
    if (!next.ok())
      return next;
    data = std::move(next).value();
    extent = checked_multiply(*extent, dimensions[i].size);
  }
  return data;
}

std::vector<ArrayDimension> dimensions_of(const DistributedArray& array) {
  std::vector<ArrayDimension> dimensions;
  int64_t ranks = array.ranks, rank = array.rank;
  for (size_t i = 0; i < array.sizes.size(); ++i) {
    const int64_t size = array.sizes[i], processes = std::max<int64_t>(1, array.processes[i]);
    ranks = std::max<int64_t>(1, ranks / processes);
    const int64_t coordinate = rank / ranks;
    rank %= ranks;
    int64_t block = array.blocks[i];
    if (array.distributions[i] == Distribution::none)
      block = size;
    else if (block <= 0)
      block = array.distributions[i] == Distribution::block ? std::max<int64_t>(1, ceil_divide(size, processes)) : 1;
    // Indices are at most `size`, so that products of a large block and the processes cannot overflow.
    block = std::clamp<int64_t>(block, 1, std::max<int64_t>(1, size));
    const auto first = checked_multiply(coordinate, block), cycle = checked_multiply(processes, block);
    dimensions.push_back({size, first.value_or(size), block, cycle.value_or(INT64_MAX), size});
  }
  return dimensions;
}

}  // namespace windrow
