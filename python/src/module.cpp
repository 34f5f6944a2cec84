// SPDX-License-Identifier: BSD-3-Clause
// The module windrow._core: windrow.h for the package windrow, which is what programs use.
#include <exception>

#include "bindings.hpp"

namespace {

using windrow_python::Communicator;
using windrow_python::Failure;
namespace nb = nanobind;

// WindrowError of the package is made from a tuple: code, rank, message.
void translate_failures() {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Failure& failure) {
      const nb::object type = nb::module_::import_("windrow._errors").attr("WindrowError");
      const nb::object error = type(std::string(failure.what()), failure.code(), failure.rank());
      PyErr_SetObject(type.ptr(), error.ptr());
    }
  });
}

void bind_communicators(nb::module_& module) {
  nb::class_<Communicator>(module, "Communicator")
      .def_static("named", &Communicator::named)
      .def_static("from_fortran", &Communicator::from_fortran)
      .def_prop_ro("rank", &Communicator::rank)
      .def_prop_ro("size", &Communicator::size)
      .def("any", [](const Communicator& comm,
                     bool mine) { return windrow_python::without_gil([&] { return comm.any(mine); }); })
      .def("place", [](const Communicator& comm,
                       int64_t count) { return windrow_python::without_gil([&] { return comm.place(count); }); })
      .def("first",
           [](const Communicator& comm, const std::string& text) {
             return windrow_python::without_gil([&] { return comm.first(text); });
           })
      // For a rank that ends: what is wrong is told to those who come in time.
      .def("tell",
           [](const Communicator& comm, double seconds, const std::string& problem) {
             (void)windrow_python::without_gil([&] { return comm.agree_within(seconds, "end", problem, false); });
           })
      // Collective: all raise what the lowest rank found wrong.
      .def("agree", [](const Communicator& comm, const std::string& call, const std::string& problem) {
        const auto verdict = windrow_python::without_gil([&] { return comm.agree(call, problem); });
        if (verdict.rank >= 0)
          throw Failure(WINDROW_BAD_ARGUMENT, verdict.rank,
                        verdict.message + " (rank " + std::to_string(verdict.rank) + ")");
      });
  module.def("world_size", &windrow_python::world_size);
  module.def("mpi_library_version", &windrow_python::mpi_library_version);
}

}  // namespace

NB_MODULE(_core, module) {
  nb::set_leak_warnings(false);  // a program that ends by an exception leaves files open
  translate_failures();
  module.def("version", &windrow_version);
  module.def("has", [](const std::string& feature) { return windrow_has(feature.c_str()) != 0; });
  module.def("features", &windrow_features);
  bind_communicators(module);
  windrow_python::bind_files(module);
  windrow_python::bind_decompositions(module);
  windrow_python::bind_meshes(module);
}
