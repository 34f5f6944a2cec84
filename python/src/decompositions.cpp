// SPDX-License-Identifier: BSD-3-Clause
#include "bindings.hpp"

namespace windrow_python {
namespace {

using Flags = nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

using Handle = DecompositionHandle;

template <class Make>
Handle* made(Make&& make) {
  windrow_decomposition* decomposition = nullptr;
  without_gil([&] { check(make(&decomposition)); });
  return new Handle{Decomposition(decomposition)};
}

Handle* blocks(const Communicator& comm, const Numbers& shape, Table starts, Table counts, Table memory_shapes,
               Table memory_starts) {
  const auto number = static_cast<int64_t>(starts.shape(0));
  return made([&](windrow_decomposition** result) {
    return windrow_blocks(comm.get(), static_cast<int>(shape.size()), shape.data(), number, starts.data(),
                          counts.data(), memory_shapes.size() == 0 ? nullptr : memory_shapes.data(),
                          memory_starts.size() == 0 ? nullptr : memory_starts.data(), result);
  });
}

Handle* strided_blocks(const Communicator& comm, const Numbers& shape, Table starts, Table counts, Table offsets,
                       Table strides) {
  return made([&](windrow_decomposition** result) {
    return windrow_strided_blocks(comm.get(), static_cast<int>(shape.size()), shape.data(),
                                  static_cast<int64_t>(starts.shape(0)), starts.data(), counts.data(), offsets.data(),
                                  strides.data(), result);
  });
}

Handle* rows(const Communicator& comm, int64_t number, int64_t count) {
  return made([&](windrow_decomposition** result) { return windrow_rows(comm.get(), number, count, result); });
}

Handle* points(const Communicator& comm, int64_t number, Table list, Flags owned, bool has_flags,
               const Settings& settings) {
  const Options options(settings);  // checked by the package
  return made([&](windrow_decomposition** result) {
    return windrow_points_with(comm.get(), number, static_cast<int64_t>(list.shape(0)), list.data(),
                               has_flags ? owned.data() : nullptr, options.get(), result);
  });
}

Handle* same(const Communicator& comm, const Numbers& shape, const Numbers& start, const Numbers& count) {
  return made([&](windrow_decomposition** result) {
    return windrow_same(comm.get(), static_cast<int>(shape.size()), shape.empty() ? nullptr : shape.data(),
                        start.empty() ? nullptr : start.data(), count.empty() ? nullptr : count.data(), result);
  });
}

nb::tuple row_range(const Handle& handle) {
  int64_t first = 0;
  int64_t count = 0;
  check(windrow_decomposition_rows(handle.owned.get(), &first, &count));
  return nb::make_tuple(first, count);
}

std::pair<Numbers, int64_t> owned_points(const Handle& handle, const std::string& owner) {
  int64_t count = 0;
  int64_t intervals = 0;
  check(windrow_decomposition_owned(handle.owned.get(), owner.c_str(), 0, nullptr, &count, &intervals));
  Numbers list(static_cast<size_t>(count));
  if (count > 0)
    check(windrow_decomposition_owned(handle.owned.get(), owner.c_str(), count, list.data(), &count, &intervals));
  return {list, intervals};
}

int64_t holes(const Handle& handle) {
  int64_t number = 0;
  check(windrow_decomposition_holes(handle.owned.get(), &number));
  return number;
}

}  // namespace

void bind_decompositions(nb::module_& module) {
  module.attr("EVEN") = WINDROW_EVEN;
  nb::class_<Handle>(module, "Decomposition").def("rows", &row_range).def("owned", &owned_points).def("holes", &holes);
  module.def("blocks", &blocks);
  module.def("strided_blocks", &strided_blocks);
  module.def("rows", &rows);
  module.def("points", &points);
  module.def("same", &same);
}

}  // namespace windrow_python
