// SPDX-License-Identifier: BSD-3-Clause
#include "bindings.hpp"

namespace windrow_python {
namespace {

using Parts = nb::ndarray<const int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Offsets and neighbours. The first call returns the sizes of the arrays that the second fills.
std::pair<Numbers, Numbers> neighbours(int64_t nodes, int cell, Table connectivity, bool across_cells) {
  Numbers offsets(static_cast<size_t>(nodes + 1));
  const auto length = static_cast<int64_t>(connectivity.size());
  const auto call = [&](Numbers& list) {
    check(windrow_mesh_neighbours(nodes, cell, length, connectivity.data(), across_cells ? 1 : 0,
                                  static_cast<int64_t>(list.size()), offsets.data(), list.data()));
  };
  Numbers none;
  call(none);
  Numbers list(static_cast<size_t>(offsets.back()));
  if (!list.empty())
    call(list);
  return {offsets, list};
}

std::pair<Numbers, std::vector<int>> classify(int64_t nodes, Table offsets, Table list, Parts partition) {
  Numbers part_offsets(static_cast<size_t>(nodes + 1));
  const auto call = [&](std::vector<int>& parts) {
    check(windrow_classify_nodes(nodes, offsets.data(), list.data(), partition.data(),
                                 static_cast<int64_t>(parts.size()), part_offsets.data(), parts.data()));
  };
  std::vector<int> none;
  call(none);
  std::vector<int> parts(static_cast<size_t>(part_offsets.back()));
  if (!parts.empty())
    call(parts);
  return {part_offsets, parts};
}

}  // namespace

void bind_meshes(nb::module_& module) {
  module.def("mesh_neighbours", &neighbours);
  module.def("classify_nodes", &classify);
}

}  // namespace windrow_python
