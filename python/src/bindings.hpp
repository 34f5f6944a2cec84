// SPDX-License-Identifier: BSD-3-Clause
// What the parts of the module windrow._core share. Arrays come as addresses: the package keeps them alive and knows their types.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <utility>

#include "file.hpp"

namespace windrow_python {

namespace nb = nanobind;
using Table = nb::ndarray<const int64_t, nb::c_contig, nb::device::cpu>;

// What Python holds of a decomposition.
struct DecompositionHandle {
  Decomposition owned;
};

inline void* pointer_of(uintptr_t address) { return reinterpret_cast<void*>(address); }

// What may wait for other ranks lets other threads of Python run.
template <class Action>
auto without_gil(Action&& action) {
  const nb::gil_scoped_release released;
  return std::forward<Action>(action)();
}

void bind_files(nb::module_& module);
void bind_objects(nb::module_& module, nb::class_<File>& file);
void bind_attributes(nb::module_& module, nb::class_<File>& file);
void bind_viewers(nb::class_<File>& file);
void bind_decompositions(nb::module_& module);
void bind_meshes(nb::module_& module);

}  // namespace windrow_python
