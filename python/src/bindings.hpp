// SPDX-License-Identifier: BSD-3-Clause
// Declarations of the parts of the module windrow._core. Arrays are passed as addresses. The package keeps them alive
// and checks their types.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <string>
#include <utility>

#include "file.hpp"

// Texts of a file are bytes. Other programs store names and texts that are not UTF-8. They are converted as by
// os.fsdecode(), and back without loss. Replaces nanobind/stl/string.h; a `const char*` would have to be UTF-8.
template <>
struct nanobind::detail::type_caster<std::string> {
  NB_TYPE_CASTER(std::string, const_name("str"))

  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    PyObject* bytes =
        PyUnicode_Check(source.ptr()) ? PyUnicode_AsEncodedString(source.ptr(), "utf-8", "surrogateescape") : nullptr;
    char* text = nullptr;
    Py_ssize_t length = 0;
    const bool done = bytes != nullptr && PyBytes_AsStringAndSize(bytes, &text, &length) == 0;
    if (done)
      value.assign(text, static_cast<size_t>(length));
    if (!done)
      PyErr_Clear();
    Py_XDECREF(bytes);
    return done;
  }
  static handle from_cpp(const std::string& text, rv_policy, cleanup_list*) noexcept {
    return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape");
  }
};

namespace windrow_python {

namespace nb = nanobind;
using Table = nb::ndarray<const int64_t, nb::c_contig, nb::device::cpu>;

// A decomposition as an object of Python.
struct DecompositionHandle {
  Decomposition owned;
};

inline void* pointer_of(uintptr_t address) {
  return reinterpret_cast<void*>(address);
}

// Releases the GIL in a call that may wait for other ranks.
template <class Action>
auto without_gil(Action&& action) {
  const nb::gil_scoped_release released;
  return std::forward<Action>(action)();
}

void bind_files(nb::module_& module);
void bind_bytes(nb::module_& module);
void bind_objects(nb::module_& module, nb::class_<File, OpenFile>& file);
void bind_attributes(nb::module_& module, nb::class_<File, OpenFile>& file);
void bind_viewers(nb::class_<File, OpenFile>& file);
void bind_decompositions(nb::module_& module);
void bind_meshes(nb::module_& module);

}  // namespace windrow_python
