// SPDX-License-Identifier: BSD-3-Clause
// Pure functions on meshes.
#include <algorithm>

#include <fmt/format.h>

#include "base/units.hpp"
#include "capi/handles.hpp"
#include "graph/adjacency.hpp"
#include "graph/classification.hpp"

using windrow::counted;

namespace {

// Returns the offsets of lists and, if the buffer is large enough, the numbers.
template <class Number>
Status give(const windrow::Lists& lists, int64_t room, int64_t* offsets, Number* numbers, const char* what) {
  std::copy(lists.offsets.begin(), lists.offsets.end(), offsets);
  if (room == 0)
    return {};
  if (room < lists.offsets.back())
    return {Code::bad_argument,
            fmt::format("a buffer for {} {} is too small for {}", room, what, lists.offsets.back())};
  std::transform(lists.numbers.begin(), lists.numbers.end(), numbers,
                 [](int64_t number) { return static_cast<Number>(number); });
  return {};
}

}  // namespace

extern "C" {

int windrow_mesh_neighbours(int64_t nodes, int cell, int64_t length, const int64_t* connectivity, int across_cells,
                            int64_t room, int64_t* offsets, int64_t* neighbours) {
  return enter([&] {
    return guard([&]() -> Status {
      if (length < 0)
        return {Code::bad_argument, fmt::format("the length of the connectivity is {}", length)};
      if (offsets == nullptr || (length > 0 && connectivity == nullptr))
        return null_argument(offsets == nullptr ? "offsets" : "the connectivity");
      if (room > 0 && neighbours == nullptr)
        return null_argument("neighbours");
      const auto lists =
          windrow::neighbours_of(nodes, cell, std::span(connectivity, static_cast<size_t>(length)),
                                 across_cells != 0 ? windrow::Neighbourhood::cells : windrow::Neighbourhood::edges);
      return lists.ok() ? give(lists.value(), room, offsets, neighbours, "neighbours") : lists.status();
    });
  });
}

int windrow_classify_nodes(int64_t nodes, const int64_t* offsets, const int64_t* neighbours, const int* partition,
                           int64_t room, int64_t* part_offsets, int* parts) {
  return enter([&] {
    return guard([&]() -> Status {
      if (nodes < 0)
        return {Code::bad_argument, fmt::format("a mesh cannot have {}", counted(nodes, "node"))};
      if (offsets == nullptr || part_offsets == nullptr)
        return null_argument(offsets == nullptr ? "offsets" : "part_offsets");
      if (nodes > 0 && partition == nullptr)
        return null_argument("the partition");
      const auto count = static_cast<size_t>(nodes);
      if (offsets[count] < 0)
        return {Code::bad_argument, fmt::format("the mesh has {}", counted(offsets[count], "neighbour"))};
      if (offsets[count] > 0 && neighbours == nullptr)
        return null_argument("the neighbours");
      if (room > 0 && parts == nullptr)
        return null_argument("parts");
      const auto lists = windrow::classify_nodes(std::span(offsets, count + 1),
                                                 std::span(neighbours, static_cast<size_t>(offsets[count])),
                                                 std::span(partition, count));
      return lists.ok() ? give(lists.value(), room, part_offsets, parts, "parts") : lists.status();
    });
  });
}

}  // extern "C"
