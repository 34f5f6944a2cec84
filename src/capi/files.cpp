// SPDX-License-Identifier: BSD-3-Clause
// Options; create, open, sync, close.
#include "capi/handles.hpp"

using windrow::check_file;
using windrow::Code;
using windrow::enter;
using windrow::File;
using windrow::null_argument;
using windrow::Status;

namespace {

// A NULL argument on one rank is that rank's error inside the collective call, so that the others do not wait for it.
int open_file(MPI_Comm comm, const char* path, File::Mode mode, const windrow_options* options, windrow_file** file) {
  std::unique_ptr<windrow_file> handle;
  if (file != nullptr) *file = nullptr;
  return enter([&]() -> Status {
    handle = std::make_unique<windrow_file>();
    auto opened = File::open(comm, path == nullptr || file == nullptr ? "" : path, mode,
                             options == nullptr ? windrow::Settings{} : options->settings);
    if (!opened.ok()) return opened.status();
    handle->file = std::move(opened).value();
    *file = handle.release();
    return {};
  });
}

int close_file(windrow_file* file, bool publish) {
  if (file == nullptr) return WINDROW_OK;
  return enter([&]() -> Status {
    const std::unique_ptr<windrow_file> handle(file);
    return handle->file->close(publish);
  });
}

}  // namespace

extern "C" {

int windrow_options_create(windrow_options** options) {
  return enter([&]() -> Status {
    if (options == nullptr) return null_argument("options");
    *options = new windrow_options;
    return {};
  });
}

int windrow_options_set(windrow_options* options, const char* key, const char* value) {
  return enter([&]() -> Status {
    if (options == nullptr) return null_argument("options");
    if (key == nullptr) return null_argument("the key of an option");
    if (value == nullptr) return null_argument("the value of an option");
    return options->settings.set(key, value);
  });
}

void windrow_options_free(windrow_options* options) { delete options; }

int windrow_create(MPI_Comm comm, const char* path, const windrow_options* options, windrow_file** file) {
  return open_file(comm, path, File::Mode::create, options, file);
}

int windrow_open(MPI_Comm comm, const char* path, int mode, const windrow_options* options, windrow_file** file) {
  return open_file(comm, path, mode == WINDROW_UPDATE ? File::Mode::update : File::Mode::read, options, file);
}

int windrow_sync(windrow_file* file) {
  return enter([&]() -> Status {
    if (Status status = check_file(file); !status.ok()) return status;
    return file->file->sync();
  });
}

int windrow_close(windrow_file* file) { return close_file(file, true); }
int windrow_discard(windrow_file* file) { return close_file(file, false); }

}  // extern "C"
