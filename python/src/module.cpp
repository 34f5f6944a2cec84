// SPDX-License-Identifier: BSD-3-Clause
// The module windrow._core: windrow.h for the package windrow. Programs use the package only.
#include <exception>

#include "bindings.hpp"

namespace {

using windrow_python::AgreementComm;
using windrow_python::Communicator;
using windrow_python::Failure;
namespace nb = nanobind;

// WindrowError of the package is made from a tuple: code, rank, message.
void translate_failures() {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Failure& failure) {
      try {
        const nb::object type = nb::module_::import_("windrow._errors").attr("WindrowError");
        const nb::object error = type(std::string(failure.what()), failure.code(), failure.rank());
        PyErr_SetObject(type.ptr(), error.ptr());
      } catch (nb::python_error& interrupt) {  // Ctrl-C during the construction of the error
        interrupt.restore();
      }
    }
  });
}

void bind_communicators(nb::module_& module) {
  nb::class_<Communicator>(module, "Communicator")
      .def_static("named", &Communicator::named)
      .def_static("from_fortran", &Communicator::from_fortran)
      .def_prop_ro("rank", &Communicator::rank)
      .def_prop_ro("size", &Communicator::size)
      .def("any",
           [](const Communicator& comm, bool mine) {
             return windrow_python::without_gil([&] { return AgreementComm::of(comm)->any(mine); });
           })
      .def("place",
           [](const Communicator& comm, int64_t count) {
             return windrow_python::without_gil([&] { return AgreementComm::of(comm)->place(count); });
           })
      .def("first",
           [](const Communicator& comm, const std::string& text) {
             return windrow_python::without_gil([&] { return AgreementComm::of(comm)->first(text); });
           })
      // For a rank that ends: reports its error to the ranks that call in time.
      .def("tell",
           [](const Communicator& comm, double seconds, const std::string& problem) {
             windrow_python::without_gil([&] {
               if (const auto agreements = AgreementComm::of(comm, seconds))
                 (void)agreements->agree_within(seconds, {.name = "end", .problem = problem});
             });
           })
      // Collective: all raise the error of the lowest rank that has one.
      .def("agree", [](const Communicator& comm, const std::string& call, const std::string& problem) {
        windrow_python::without_gil(
            [&] { windrow_python::raise(AgreementComm::of(comm)->agree({.name = call, .problem = problem})); });
      });
  module.def("is_only_communicator", &AgreementComm::is_only_one);
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
  windrow_python::bind_bytes(module);
  windrow_python::bind_decompositions(module);
  windrow_python::bind_meshes(module);
}
