// SPDX-License-Identifier: BSD-3-Clause
// Files of plain bytes, and lists of bytes.
#include "bindings.hpp"

namespace windrow_python {
namespace {

struct FreeByteList {
  void operator()(windrow_byte_list* list) const { windrow_byte_list_free(list); }
};

struct ByteList {
  // `make` gets where the list goes, and returns a code. A list that could not be made is freed too.
  template <class Make>
  explicit ByteList(Make&& make) {
    windrow_byte_list* list = nullptr;
    const int code = make(&list);
    owned.reset(list);
    check(code);
  }
  std::unique_ptr<windrow_byte_list, FreeByteList> owned;
};

class ByteFile : public OpenFile {
 public:
  ByteFile(const Communicator& comm, const std::string& path, int mode, const Settings& settings,
           const std::string& problem)
      : OpenFile(comm, problem) {
    const Options options(settings);  // checked by the package
    check(windrow_bytes_open(comm.get(), path.c_str(), mode, options.get(), &file_));
    opened(path);
  }
  windrow_bytes* get() const {
    check_open();
    return file_;
  }

 private:
  int close_handle() override { return windrow_bytes_close(std::exchange(file_, nullptr)); }
  int discard_handle() override { return close_handle(); }

  windrow_bytes* file_ = nullptr;
};

// Without memory offsets the pieces are in memory one after another.
ByteList* list_of_pieces(Table offsets, Table lengths, Table memory_offsets, bool has_memory_offsets) {
  return new ByteList([&](windrow_byte_list** list) {
    return windrow_byte_list_pieces(static_cast<int64_t>(offsets.shape(0)), offsets.data(),
                                    has_memory_offsets ? memory_offsets.data() : nullptr, lengths.data(), list);
  });
}

// Tables of [runs][loops].
ByteList* list_of_runs(Table offsets, Table lengths, Table memory_offsets, Table counts, Table strides,
                       Table memory_strides) {
  const size_t number = offsets.shape(0), loops = counts.shape(1);
  std::vector<windrow_byte_run> runs;
  for (size_t i = 0; i < number; ++i)
    runs.push_back({offsets.data()[i], memory_offsets.data()[i], lengths.data()[i], static_cast<int>(loops),
                    counts.data() + i * loops, strides.data() + i * loops, memory_strides.data() + i * loops});
  return new ByteList([&](windrow_byte_list** list) {
    return windrow_byte_list_runs(static_cast<int64_t>(number), runs.data(), list);
  });
}

// Datatypes are mpi4py's numbers of Fortran. Without etype and filetype there is no view.
ByteList* list_of_types(int datatype, int64_t count, int64_t offset, int64_t displacement, std::pair<int, int> view,
                        bool has_view) {
  return new ByteList([&](windrow_byte_list** list) {
    const windrow_byte_view seen{displacement, MPI_Type_f2c(view.first), MPI_Type_f2c(view.second)};
    return windrow_byte_list_types(has_view ? &seen : nullptr, offset, count, MPI_Type_f2c(datatype), list);
  });
}

std::pair<int64_t, int64_t> memory_of(const ByteList& list) {
  std::pair<int64_t, int64_t> range;
  check(windrow_byte_list_memory(list.owned.get(), &range.first, &range.second));
  return range;
}

const windrow_byte_list* list_of(const ByteList* list) {
  return list == nullptr ? nullptr : list->owned.get();
}

void write_bytes(ByteFile& file, const ByteList* list, uintptr_t data, const std::string& problem) {
  without_gil([&] {
    file.agree("write", problem);
    check(windrow_bytes_write(file.get(), list_of(list), pointer_of(data)));
  });
}

int64_t read_bytes(ByteFile& file, const ByteList* list, uintptr_t data, const std::string& problem) {
  return without_gil([&] {
    int64_t bytes = 0;
    file.agree("read", problem);
    check(windrow_bytes_read(file.get(), list_of(list), pointer_of(data), &bytes));
    return bytes;
  });
}

std::string explain_bytes(ByteFile& file, bool reading, const ByteList* list, const std::string& format,
                          const std::string& problem) {
  return without_gil([&] {
    const char* text = "";
    file.agree(reading ? "explain of a read" : "explain of a write", problem);
    check(windrow_bytes_explain(file.get(), reading ? 0 : 1, list_of(list), format.c_str(), &text));
    return std::string(text);
  });
}

std::string report_bytes(const ByteFile& file, const std::string& format) {
  const char* text = "";
  check(windrow_bytes_report(file.get(), format.c_str(), &text));
  return text;
}

}  // namespace

void bind_bytes(nb::module_& module) {
  module.attr("UPDATE_OR_CREATE") = static_cast<int>(WINDROW_UPDATE_OR_CREATE);
  nb::class_<ByteList>(module, "ByteList")
      .def_static("pieces", &list_of_pieces)
      .def_static("runs", &list_of_runs)
      .def_static("types", &list_of_types)
      .def("memory", &memory_of);
  nb::class_<ByteFile, OpenFile>(module, "ByteFile")
      .def("__init__",
           [](ByteFile* self, const Communicator& comm, const std::string& path, int mode, const Settings& settings,
              const std::string& problem) {
             without_gil([&] { new (self) ByteFile(comm, path, mode, settings, problem); });
           })
      .def("write", &write_bytes, nb::arg("list").none(), nb::arg("data"), nb::arg("problem"))
      .def("read", &read_bytes, nb::arg("list").none(), nb::arg("data"), nb::arg("problem"))
      .def("explain", &explain_bytes, nb::arg("reading"), nb::arg("list").none(), nb::arg("format"), nb::arg("problem"))
      .def("report", &report_bytes)
      .def("sync", [](ByteFile& self, const std::string& problem) {
        without_gil([&] {
          self.agree("sync", problem);
          check(windrow_bytes_sync(self.get()));
        });
      });
}

}  // namespace windrow_python
