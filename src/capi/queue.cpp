// SPDX-License-Identifier: BSD-3-Clause
// put, get, flush and combinations; explain and report.
#include <optional>

#include "base/numbering.hpp"
#include "capi/decompositions.hpp"
#include "capi/report_format.hpp"

using windrow::NewRequest;
using windrow::SharedDecomposition;

namespace {

NewRequest request_of(bool put, int variable, const windrow_decomposition* decomposition, void* data) {
  return {put, variable, decomposition == nullptr ? nullptr : decomposition->shared, static_cast<std::byte*>(data)};
}

NewRequest put_of(int variable, const windrow_decomposition* decomposition, const void* data) {
  return request_of(true, variable, decomposition, const_cast<void*>(data));  // a put does not write to it
}

NewRequest get_of(int variable, const windrow_decomposition* decomposition, void* data) {
  return request_of(false, variable, decomposition, data);
}

// A negative record is refused like one beyond the end.
NewRequest of_record(NewRequest request, int64_t record) {
  request.record = record < 0 ? INT64_MAX : record;
  return request;
}

NewRequest as_type(NewRequest request, int type) {
  request.type = static_cast<windrow::Type>(type);
  return request;
}

int queue(windrow_file* file, NewRequest request) {
  return enter([&]() -> Status {
    if (Status status = check_file(file); !status.ok())
      return status;
    return file->file->queue(std::move(request));
  });
}

// The queue records the error of an entry, so that the flush reports it to all ranks.
int queue_and_flush(windrow_file* file, NewRequest request) {
  return enter([&]() -> Status {
    if (Status status = check_file(file); !status.ok())
      return status;
    (void)file->file->queue(std::move(request));
    return file->file->flush();
  });
}

// A block of a variable and the program's memory for it.
struct BlockAccess {
  int variable;
  const int64_t* start;
  const int64_t* count;
  void* data;
};

windrow::Result<windrow::Decomposition> block_of_variable(const windrow::File& file, const char* verb,
                                                          const BlockAccess& access) {
  const int variable = access.variable;
  windrow::Result<windrow::Decomposition> block{Status{}};
  Status status = windrow::guard([&]() -> Status {
    if (!file.refused().ok())
      return file.refused();  // from windrow_refuse() or an invalid put; the other ranks get it in this call
    const auto& variables = file.catalog().variables;
    if (variable < 0 || variable >= static_cast<int>(variables.size()))
      return {Code::bad_argument, "there is no variable number " + std::to_string(windrow::shown_index(variable))};
    const windrow::Variable& target = variables[static_cast<size_t>(variable)];
    block = windrow::block_of({.ndims = static_cast<int>(target.shape.size()),
                               .shape = target.shape.data(),
                               .start = access.start,
                               .count = access.count});
    if (block.ok())
      return {};
    return {block.status().code(), std::string(verb) + " of \"" + target.path + "\": " + block.status().message()};
  });
  if (!status.ok())
    return status;
  return block;
}

int move_block(windrow_file* file, bool put, const BlockAccess& access) {
  return enter([&]() -> Status {
    if (Status status = check_file(file); !status.ok())
      return status;
    const windrow::CallScope call(file->file->comm(), put ? windrow::Call::write_block : windrow::Call::read_block,
                                  &file->file->identity());
    if (Status before = file->file->end_pending(); !before.ok())
      return before;
    auto block = block_of_variable(*file->file, put ? "write_block" : "read_block", access);
    auto shared = SharedDecomposition::make(file->file->comm(), std::move(block),
                                            put ? SharedDecomposition::Use::any : SharedDecomposition::Use::reading);
    if (!shared.ok()) {
      file->file->drop_queue();
      return shared.status();
    }
    (void)file->file->queue({put, access.variable, std::move(shared).value(), static_cast<std::byte*>(access.data)});
    return file->file->flush();
  });
}

}  // namespace

extern "C" {

int windrow_put(windrow_file* file, int variable, const windrow_decomposition* decomposition, const void* data) {
  return queue(file, put_of(variable, decomposition, data));
}

int windrow_get(windrow_file* file, int variable, const windrow_decomposition* decomposition, void* data) {
  return queue(file, get_of(variable, decomposition, data));
}

int windrow_put_record(windrow_file* file, int variable, int64_t record, const windrow_decomposition* decomposition,
                       const void* data) {
  return queue(file, of_record(put_of(variable, decomposition, data), record));
}

int windrow_get_record(windrow_file* file, int variable, int64_t record, const windrow_decomposition* decomposition,
                       void* data) {
  return queue(file, of_record(get_of(variable, decomposition, data), record));
}

int windrow_put_as(windrow_file* file, int variable, const windrow_decomposition* decomposition, int type,
                   const void* data) {
  return queue(file, as_type(put_of(variable, decomposition, data), type));
}

int windrow_get_as(windrow_file* file, int variable, const windrow_decomposition* decomposition, int type, void* data) {
  return queue(file, as_type(get_of(variable, decomposition, data), type));
}

int windrow_put_record_as(windrow_file* file, int variable, int64_t record, const windrow_decomposition* decomposition,
                          int type, const void* data) {
  return queue(file, as_type(of_record(put_of(variable, decomposition, data), record), type));
}

int windrow_get_record_as(windrow_file* file, int variable, int64_t record, const windrow_decomposition* decomposition,
                          int type, void* data) {
  return queue(file, as_type(of_record(get_of(variable, decomposition, data), record), type));
}

int windrow_set_strategy(windrow_file* file, const windrow_options* options) {
  return enter([&]() -> Status {
    if (Status status = check_file(file); !status.ok())
      return status;
    const windrow::Settings none;
    return file->file->set_strategy(options == nullptr ? none : options->settings);
  });
}

int windrow_flush(windrow_file* file) {
  return enter([&]() -> Status {
    if (Status status = check_file(file); !status.ok())
      return status;
    return file->file->flush();
  });
}

int windrow_flush_begin(windrow_file* file) {
  return enter([&]() -> Status {
    if (Status status = check_file(file); !status.ok())
      return status;
    return file->file->flush_begin();
  });
}

int windrow_flush_end(windrow_file* file) {
  return enter([&]() -> Status {
    if (Status status = check_file(file); !status.ok())
      return status;
    return file->file->flush_end();
  });
}

int windrow_refuse(windrow_file* file, const char* message) {
  return enter([&]() -> Status {
    Status refusal = message == nullptr ? null_argument("the message") : Status{Code::bad_argument, message};
    if (file != nullptr && file->file != nullptr)
      file->file->refuse(refusal);
    return refusal;
  });
}

int windrow_write(windrow_file* file, int variable, const windrow_decomposition* decomposition, const void* data) {
  return queue_and_flush(file, put_of(variable, decomposition, data));
}

int windrow_read(windrow_file* file, int variable, const windrow_decomposition* decomposition, void* data) {
  return queue_and_flush(file, get_of(variable, decomposition, data));
}

int windrow_write_block(windrow_file* file, int variable, const int64_t* start, const int64_t* count,
                        const void* data) {
  return move_block(file, true, {variable, start, count, const_cast<void*>(data)});
}

int windrow_read_block(windrow_file* file, int variable, const int64_t* start, const int64_t* count, void* data) {
  return move_block(file, false, {variable, start, count, data});
}

int windrow_explain(windrow_file* file, const char* format, const char** text) {
  return enter([&]() -> Status {
    if (Status status = check_file(file); !status.ok())
      return status;
    bool json = false;
    Status local = windrow::guard([&] { return windrow::check_text(format, text, json); });
    auto explained = file->file->explain(json, std::move(local));
    if (!explained.ok())
      return explained.status();
    file->text = std::move(explained).value();
    *text = file->text.c_str();
    return {};
  });
}

int windrow_report(windrow_file* file, const char* format, const char** text) {
  return enter([&]() -> Status {
    if (Status status = check_file(file); !status.ok())
      return status;
    bool json = false;
    if (Status status = windrow::check_text(format, text, json); !status.ok())
      return status;
    file->text = file->file->report(json);
    *text = file->text.c_str();
    return {};
  });
}

}  // extern "C"
