// SPDX-License-Identifier: BSD-3-Clause
// Files: opened, flushed, closed, and what is queued for them.
#include "bindings.hpp"

namespace windrow_python {
namespace {

void move(File& file, bool put, int variable, Table starts, Table counts, Table offsets, Table strides, int type,
          uintptr_t data, const std::string& problem) {
  const auto blocks = static_cast<int64_t>(starts.shape(0));
  const Pieces pieces{.blocks = blocks,
                      .starts = starts.data(),
                      .counts = counts.data(),
                      .memory_offsets = offsets.size() == 0 ? nullptr : offsets.data(),
                      .memory_strides = strides.size() == 0 ? nullptr : strides.data()};
  without_gil([&] { file.move(put, variable, pieces, {.type = type, .data = pointer_of(data)}, problem); });
}

// record -1: all of the variable.
void queue(File& file, bool put, int variable, int64_t record, const DecompositionHandle& decomposition, int type,
           uintptr_t data) {
  if (record >= 0) {
    check(put ? windrow_put_record_as(file.get(), variable, record, decomposition.owned.get(), type, pointer_of(data))
              : windrow_get_record_as(file.get(), variable, record, decomposition.owned.get(), type, pointer_of(data)));
  } else {
    check(put ? windrow_put_as(file.get(), variable, decomposition.owned.get(), type, pointer_of(data))
              : windrow_get_as(file.get(), variable, decomposition.owned.get(), type, pointer_of(data)));
  }
}

std::string explain(File& file, const std::string& format, const std::string& problem) {
  return without_gil([&] {
    const char* text = "";
    file.together("explain", problem,
                  [&](windrow_file* handle) { return windrow_explain(handle, format.c_str(), &text); });
    return std::string(text);
  });
}

std::string report(const File& file, const std::string& format) {
  const char* text = "";
  check(windrow_report(file.get(), format.c_str(), &text));
  return text;
}

void set_strategy(File& file, const Settings& settings, const std::string& problem) {
  without_gil([&] {
    file.together("set_strategy", problem,
                  [&](windrow_file* handle) { return windrow_set_strategy(handle, Options(settings).get()); });
  });
}

// The error in options, as the argument `problem` of the call that uses them, or "".
std::string problem_of(const Settings& settings) {
  try {
    const Options options(settings);
    return "";
  } catch (const Failure& failure) {
    return failure.what();
  }
}

std::string write_references(File& file, const std::string& path, const std::string& prefix,
                             const std::string& problem) {
  return without_gil([&] {
    const char* left_out = "";
    file.together("write_references", problem, [&](windrow_file* handle) {
      return windrow_write_references(handle, path.c_str(), prefix.c_str(), &left_out);
    });
    return std::string(left_out);
  });
}

std::string check_subfiles(File& file, const std::string& problem) {
  return without_gil([&] {
    const char* problems = "";
    file.together("check_subfiles", problem,
                  [&](windrow_file* handle) { return windrow_check_subfiles(handle, &problems); });
    return std::string(problems);
  });
}

// Collective.
void calibrate(const Communicator& comm, const std::string& folder, const Settings& settings,
               const std::string& machine) {
  const Options options(settings);  // checked by the package
  without_gil([&] { check(windrow_calibrate(comm.get(), folder.c_str(), options.get(), machine.c_str())); });
}

// Collective. `progress`: None, or called with the bytes done and the total; its exception is raised when the copy has
// ended. Returns what differs in the target, one line each.
std::string copy_file(const Communicator& comm, const std::string& source, const std::string& target,
                      const Settings& settings, int64_t buffer, const nb::object& progress) {
  struct Shown {
    const nb::object& call;
    std::exception_ptr raised;
  } shown{progress, nullptr};
  const Options options(settings);  // checked by the package
  windrow_copy_info info{};
  info.size = sizeof info;
  info.buffer_bytes = buffer;
  info.context = &shown;
  if (!progress.is_none())
    info.progress = [](void* context, int64_t done, int64_t total) {
      auto& to = *static_cast<Shown*>(context);
      const nb::gil_scoped_acquire lock;
      try {
        if (!to.raised)
          to.call(done, total);
      } catch (...) {
        to.raised = std::current_exception();
      }
    };
  without_gil([&] {
    const int code = windrow_copy(comm.get(), source.c_str(), target.c_str(), options.get(), &info);
    if (code == WINDROW_OK)
      return;
    const std::string message = windrow_error_message(),
                      refused = *info.refused == '\0' ? "" : std::string(":\n") + info.refused;
    throw Failure(code, windrow_error_rank(), message + refused.substr(0, refused.find_last_not_of('\n') + 1));
  });
  if (shown.raised)
    std::rethrow_exception(shown.raised);
  return info.changed;
}

std::string advise(const std::string& trace, const std::string& machine, const std::string& format) {
  const char* text = "";
  check(windrow_advise(trace.c_str(), machine.empty() ? nullptr : machine.c_str(), format.c_str(), &text));
  return text;
}

}  // namespace

void bind_files(nb::module_& module) {
  module.attr("CREATE") = File::k_create;
  module.attr("READ") = static_cast<int>(WINDROW_READ);
  module.attr("UPDATE") = static_cast<int>(WINDROW_UPDATE);
  module.def("problem_of", &problem_of);
  module.def("calibrate", &calibrate);
  module.def("copy", &copy_file, nb::arg("comm"), nb::arg("source"), nb::arg("target"), nb::arg("settings"),
             nb::arg("buffer"), nb::arg("progress").none());
  module.def("advise", &advise);
  nb::class_<OpenFile>(module, "OpenFile")
      .def_prop_ro("is_open", &OpenFile::is_open)
      .def_prop_ro("rank", [](const OpenFile& self) { return self.agreements().rank(); })
      .def_prop_ro("size", [](const OpenFile& self) { return self.agreements().size(); })
      .def("agree", [](OpenFile& self, const std::string& call,
                       const std::string& problem) { without_gil([&] { self.agree(call, problem); }); })
      .def("close", [](OpenFile& self, const std::string& problem) { without_gil([&] { self.close(problem); }); })
      .def("abandon", [](OpenFile& self, const std::string& reason) { without_gil([&] { self.abandon(reason); }); })
      .def("abandon_within", [](OpenFile& self, double seconds, const std::string& reason) {
        return without_gil([&] { return self.abandon_within(seconds, reason); });
      });
  nb::class_<File, OpenFile> file(module, "File");
  file.def("__init__",
           [](File* self, const Communicator& comm, const std::string& path, int mode, const Settings& settings,
              const std::string& problem) {
             without_gil([&] { new (self) File(comm, path, mode, settings, problem); });
           })
      // Collective. It fails if a rank has left the file, like every call.
      .def("any",
           [](File& self, bool mine) {
             return without_gil([&] {
               self.agree("any", "");  // of this file
               return self.agreements().any(mine);
             });
           })
      .def("move", &move)
      .def("queue", &queue)
      .def("refuse", [](File& self, const std::string& message) { return windrow_refuse(self.get(), message.c_str()); })
      .def("flush",
           [](File& self, const std::string& problem) {
             without_gil([&] { self.together("flush", problem, windrow_flush); });
           })
      .def("flush_begin",
           [](File& self, const std::string& problem) {
             without_gil([&] { self.together("flush_begin", problem, windrow_flush_begin); });
           })
      .def("flush_end",
           [](File& self, const std::string& problem) {
             without_gil([&] { self.together("flush_end", problem, windrow_flush_end); });
           })
      .def("sync",
           [](File& self, const std::string& problem) {
             without_gil([&] { self.together("sync", problem, windrow_sync); });
           })
      .def("set_strategy", &set_strategy)
      .def("explain", &explain)
      .def("report", &report)
      .def("check_subfiles", &check_subfiles)
      .def("write_references", &write_references);
  bind_objects(module, file);
  bind_attributes(module, file);
  bind_viewers(file);
}

}  // namespace windrow_python
