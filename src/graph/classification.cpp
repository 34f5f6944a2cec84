// SPDX-License-Identifier: BSD-3-Clause
#include "graph/classification.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/numbering.hpp"

namespace windrow {
namespace {

Status check_node(size_t node, std::span<const int64_t> offsets, std::span<const int64_t> neighbours,
                  std::span<const int> partition) {
  const int64_t begin = offsets[node], end = offsets[node + 1];
  if (begin > end || begin < 0 || end > static_cast<int64_t>(neighbours.size()))
    return {Code::bad_argument, fmt::format("the neighbours of node {} are entries {} to {} of a list of {}",
                                            shown_index(node), shown_index(begin), end, neighbours.size())};
  if (partition[node] < 0)
    return {Code::bad_argument,
            fmt::format("node {} is in part {}; parts count from 0", shown_index(node), partition[node])};
  for (int64_t i = begin; i < end; ++i) {
    const int64_t neighbour = neighbours[static_cast<size_t>(i)];
    if (neighbour < 0 || neighbour >= static_cast<int64_t>(partition.size()))
      return {Code::bad_argument,
              fmt::format("node {} has neighbour {}; the nodes of this mesh are {}", shown_index(node),
                          shown_index(neighbour), shown_range(static_cast<int64_t>(partition.size())))};
  }
  return {};
}

}  // namespace

Result<Lists> classify_nodes(std::span<const int64_t> offsets, std::span<const int64_t> neighbours,
                             std::span<const int> partition) {
  Lists lists;
  lists.offsets.push_back(0);
  for (size_t node = 0; node < partition.size(); ++node) {
    if (Status status = check_node(node, offsets, neighbours, partition); !status.ok())
      return status;
    const auto begin = static_cast<std::ptrdiff_t>(lists.numbers.size());
    lists.numbers.push_back(partition[node]);                      // L2
    for (int64_t i = offsets[node]; i < offsets[node + 1]; ++i) {  // L3
      const int part = partition[static_cast<size_t>(neighbours[static_cast<size_t>(i)])];
      if (part == partition[node])
        continue;  // L4
      if (std::find(lists.numbers.begin() + begin, lists.numbers.end(), part) == lists.numbers.end())
        lists.numbers.push_back(part);  // L5
    }
    lists.offsets.push_back(static_cast<int64_t>(lists.numbers.size()));
  }
  return lists;
}

}  // namespace windrow
