// SPDX-License-Identifier: BSD-3-Clause
// Files of plain bytes.
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "bytefile/byte_file.hpp"
#include "capi/handles.hpp"
#include "capi/report_format.hpp"
#include "datatype/combine.hpp"
#include "datatype/decode.hpp"

using windrow::ByteFile;
using windrow::ByteList;
using windrow::Code;
using windrow::enter;
using windrow::FreeNest;
using windrow::guard;
using windrow::Loop;
using windrow::null_argument;
using windrow::Piece;
using windrow::Result;
using windrow::Status;

struct windrow_byte_list {
  ByteList list;
  Status problem;  // why the list could not be made: calls with it fail on all ranks
};

struct windrow_bytes {
  std::unique_ptr<ByteFile> file;
  Status refused;    // of windrow_bytes_refuse(), for the next call
  std::string text;  // result of the last explain or report
};

namespace {

// A list must outlive the call, and a rank may pass none.
const ByteList& list_of(const windrow_byte_list* list) {
  static const ByteList* const nothing = new ByteList;
  return list != nullptr ? list->list : *nothing;
}

Status check_bytes(const windrow_bytes* file) {
  return file != nullptr && file->file != nullptr ? Status{} : null_argument("the file");
}

// Why this rank cannot take part in a call, which all ranks then get.
Status problem_of(windrow_bytes* file, const windrow_byte_list* list) {
  Status problem = std::exchange(file->refused, Status{});
  if (list != nullptr)
    problem.update(list->problem);
  return problem;
}

windrow_byte_list& list_without_memory() {
  static windrow_byte_list list{{}, {Code::out_of_memory, "there was no memory for a list"}};
  return list;
}

// Never nullptr, which would be a list without bytes: the other ranks would move theirs, and nobody would know.
windrow_byte_list* unusable(const Status& problem) noexcept {
  auto* const list = new (std::nothrow) windrow_byte_list{{}, problem};
  return list != nullptr ? list : &list_without_memory();
}

template <class Make>
int make_list(int64_t count, windrow_byte_list** list, Make&& make) {
  return enter([&]() -> Status {
    if (list == nullptr)
      return null_argument("list");
    Status status = guard([&]() -> Status {
      if (count < 0)
        return {Code::bad_argument, "the list has " + std::to_string(count) + " entries"};
      Result<ByteList> made = make();
      if (!made.ok())
        return made.status();
      *list = new windrow_byte_list{std::move(made).value(), {}};
      return {};
    });
    if (!status.ok())
      *list = unusable(status);
    return status;
  });
}

Status add_run(const windrow_byte_run& run, std::vector<FreeNest>& nests) {
  if (run.loops < 0)
    return {Code::bad_argument, "a run of the list has " + std::to_string(run.loops) + " loops"};
  if (run.loops > 0 && (run.counts == nullptr || run.file_strides == nullptr || run.memory_strides == nullptr))
    return null_argument("counts or strides of a run");
  nests.push_back({.first = {run.file_offset, run.memory_offset, run.length}, .loops = {}});
  for (int i = 0; i < run.loops; ++i)
    nests.back().loops.push_back(Loop{run.counts[i], run.file_strides[i], run.memory_strides[i]});
  return {};
}

Result<windrow::TiledView> view_of(const windrow_byte_view* view) {
  windrow::TiledView made;
  auto filetype = windrow::type_map_of(view != nullptr ? view->filetype : MPI_BYTE);
  if (!filetype.ok())
    return filetype.status();
  made.filetype = std::move(filetype).value();
  if (view == nullptr)
    return made;
  const auto etype = windrow::type_map_of(view->etype);
  if (!etype.ok())
    return etype.status();
  made.displacement = view->displacement;
  made.etype_size = etype.value().size();
  if (made.etype_size > 0 && made.filetype.size() % made.etype_size != 0)
    return Status{Code::bad_argument, "the size of the filetype, " + std::to_string(made.filetype.size()) +
                                          " bytes, is no multiple of the size of the etype, " +
                                          std::to_string(made.etype_size)};
  return made;
}

Result<ByteList> list_of_types(const windrow_byte_view* view, int64_t offset, int64_t count, MPI_Datatype datatype) {
  const auto tiled = view_of(view);
  if (!tiled.ok())
    return tiled.status();
  const auto memory = windrow::type_map_of(datatype);
  if (!memory.ok())
    return memory.status();
  auto bytes = windrow::combine(tiled.value(), offset, memory.value(), count);
  if (!bytes.ok())
    return bytes.status();
  return ByteList::of_sorted(std::move(bytes.value().pieces), bytes.value().memory_base);
}

std::optional<ByteFile::Mode> mode_of(int mode) noexcept {
  switch (mode) {
    case WINDROW_READ:
      return ByteFile::Mode::read;
    case WINDROW_UPDATE:
      return ByteFile::Mode::update;
    case WINDROW_UPDATE_OR_CREATE:
      return ByteFile::Mode::create;
    default:
      return std::nullopt;
  }
}

}  // namespace

extern "C" {

int windrow_byte_list_pieces(int64_t count, const int64_t* file_offsets, const int64_t* memory_offsets,
                             const int64_t* lengths, windrow_byte_list** list) {
  return make_list(count, list, [&]() -> Result<ByteList> {
    if (count > 0 && (file_offsets == nullptr || lengths == nullptr))
      return null_argument(file_offsets == nullptr ? "file_offsets" : "lengths");
    std::vector<int64_t> packed;  // places in memory, if the caller gives none
    if (memory_offsets == nullptr) {
      packed.resize(static_cast<size_t>(count));
      for (size_t i = 1; i < packed.size(); ++i)
        if (__builtin_add_overflow(packed[i - 1], lengths[i - 1], &packed[i]))
          return Status{Code::bad_argument, "the list has more than 2^63 - 1 bytes"};
      memory_offsets = packed.data();
    }
    return ByteList::of_pieces(static_cast<size_t>(count), [&](size_t i) {
      return Piece{file_offsets[i], memory_offsets[i], lengths[i]};
    });
  });
}

int windrow_byte_list_runs(int64_t count, const windrow_byte_run* runs, windrow_byte_list** list) {
  return make_list(count, list, [&]() -> Result<ByteList> {
    if (count > 0 && runs == nullptr)
      return null_argument("runs");
    std::vector<FreeNest> nests;
    for (int64_t i = 0; i < count; ++i)
      if (Status status = add_run(runs[i], nests); !status.ok())
        return status;
    return ByteList::of_nests(nests);
  });
}

int windrow_byte_list_memory(const windrow_byte_list* list, int64_t* begin, int64_t* end) {
  return enter([&]() -> Status {
    if (begin == nullptr || end == nullptr)
      return null_argument(begin == nullptr ? "begin" : "end");
    *begin = list_of(list).memory_begin();
    *end = list_of(list).memory_end();
    return {};
  });
}

int windrow_byte_list_types(const windrow_byte_view* view, int64_t offset, int64_t count, MPI_Datatype datatype,
                            windrow_byte_list** list) {
  return make_list(count, list, [&] { return list_of_types(view, offset, count, datatype); });
}

void windrow_byte_list_free(windrow_byte_list* list) {
  if (list != &list_without_memory())
    delete list;
}

int windrow_bytes_open(MPI_Comm comm, const char* path, int mode, const windrow_options* options,
                       windrow_bytes** file) {
  if (file != nullptr)
    *file = nullptr;
  return enter([&]() -> Status {
    std::unique_ptr<windrow_bytes> handle;
    std::string name;
    windrow::Settings settings;
    const auto asked = mode_of(mode);
    Status local = guard([&]() -> Status {
      handle = std::make_unique<windrow_bytes>();
      if (path == nullptr || file == nullptr)
        return null_argument(path == nullptr ? "the path of the file" : "file");
      if (!asked)
        return {Code::bad_argument,
                "the mode of a file of bytes is WINDROW_READ, WINDROW_UPDATE or "
                "WINDROW_UPDATE_OR_CREATE"};
      name = path;
      if (options != nullptr)
        settings = options->settings;
      return {};
    });
    auto opened = ByteFile::open(comm, name, asked.value_or(ByteFile::Mode::read), settings, std::move(local));
    if (!opened.ok())
      return opened.status();
    handle->file = std::move(opened).value();
    *file = handle.release();
    return {};
  });
}

int windrow_bytes_write(windrow_bytes* file, const windrow_byte_list* list, const void* memory) {
  return enter([&]() -> Status {
    if (Status status = check_bytes(file); !status.ok())
      return status;
    return file->file->write(list_of(list), static_cast<const std::byte*>(memory), problem_of(file, list));
  });
}

int windrow_bytes_read(windrow_bytes* file, const windrow_byte_list* list, void* memory, int64_t* bytes_read) {
  if (bytes_read != nullptr)
    *bytes_read = 0;
  return enter([&]() -> Status {
    if (Status status = check_bytes(file); !status.ok())
      return status;
    auto read = file->file->read(list_of(list), static_cast<std::byte*>(memory), problem_of(file, list));
    if (!read.ok())
      return read.status();
    if (bytes_read != nullptr)
      *bytes_read = read.value();
    return {};
  });
}

int windrow_bytes_explain(windrow_bytes* file, int writes, const windrow_byte_list* list, const char* format,
                          const char** text) {
  return enter([&]() -> Status {
    if (Status status = check_bytes(file); !status.ok())
      return status;
    bool json = false;
    Status local = problem_of(file, list);
    if (local.ok())
      local = guard([&] { return windrow::check_text(format, text, json); });
    auto explained = file->file->explain(writes == 0, list_of(list), json, std::move(local));
    if (!explained.ok())
      return explained.status();
    file->text = std::move(explained).value();
    *text = file->text.c_str();
    return {};
  });
}

int windrow_bytes_refuse(windrow_bytes* file, const char* message) {
  return enter([&]() -> Status {
    Status refusal = message == nullptr ? null_argument("the message") : Status{Code::bad_argument, message};
    if (file != nullptr)
      file->refused = refusal;
    return refusal;
  });
}

int windrow_bytes_report(windrow_bytes* file, const char* format, const char** text) {
  return enter([&]() -> Status {
    if (Status status = check_bytes(file); !status.ok())
      return status;
    bool json = false;
    if (Status status = windrow::check_text(format, text, json); !status.ok())
      return status;
    file->text = file->file->report(json);
    *text = file->text.c_str();
    return {};
  });
}

int windrow_bytes_sum(windrow_bytes* file, int64_t count, int64_t* numbers) {
  return enter([&]() -> Status {
    if (Status status = check_bytes(file); !status.ok())
      return status;
    Status local;
    if (numbers == nullptr && count > 0)
      local = guard([] { return null_argument("the numbers"); });
    const size_t room = local.ok() && count > 0 ? static_cast<size_t>(count) : 0;
    return file->file->sum({numbers, room}, count, std::move(local));
  });
}

int windrow_bytes_sync(windrow_bytes* file) {
  return enter([&]() -> Status {
    if (Status status = check_bytes(file); !status.ok())
      return status;
    return file->file->sync();
  });
}

int windrow_bytes_close(windrow_bytes* file) {
  if (file == nullptr)
    return WINDROW_OK;
  return enter([&]() -> Status {
    const std::unique_ptr<windrow_bytes> handle(file);
    return handle->file->close();
  });
}

}  // extern "C"
