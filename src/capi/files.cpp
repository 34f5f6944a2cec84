// SPDX-License-Identifier: BSD-3-Clause
// Options; create, open, sync, close.
#include <optional>

#include "capi/handles.hpp"
#include "storage/publish.hpp"

using windrow::File;

namespace {

// A NULL argument on one rank becomes that rank's error inside the collective call, so that the others do not wait for
// it.
int open_file(MPI_Comm comm, const char* path, std::optional<File::Mode> mode, const windrow_options* options,
              windrow_file** file) {
  std::unique_ptr<windrow_file> handle;
  if (file != nullptr)
    *file = nullptr;
  return enter([&]() -> Status {
    std::string name;
    windrow::Settings settings;
    Status local = guard([&]() -> Status {
      handle = std::make_unique<windrow_file>();
      if (path == nullptr || file == nullptr)
        return null_argument(path == nullptr ? "the path of the file" : "file");
      if (!mode)
        return {Code::bad_argument,
                "open of \"" + std::string(path) + "\": the mode is WINDROW_READ or WINDROW_UPDATE"};
      name = path;
      if (options != nullptr)
        settings = options->settings;
      return {};
    });
    auto opened = File::open(comm, name, mode.value_or(File::Mode::read), settings, std::move(local));
    if (!opened.ok())
      return opened.status();
    handle->file = std::move(opened).value();
    *file = handle.release();
    return {};
  });
}

int close_file(windrow_file* file, bool publish) {
  if (file == nullptr)
    return WINDROW_OK;
  return enter([&]() -> Status {
    const std::unique_ptr<windrow_file> handle(file);
    return handle->file->close(publish);
  });
}

}  // namespace

extern "C" {

int windrow_options_create(windrow_options** options) {
  return enter([&]() -> Status {
    if (options == nullptr)
      return null_argument("options");
    *options = new windrow_options;
    return {};
  });
}

int windrow_options_set(windrow_options* options, const char* key, const char* value) {
  return enter([&]() -> Status {
    if (options == nullptr)
      return null_argument("options");
    if (key == nullptr)
      return null_argument("the key of an option");
    if (value == nullptr)
      return null_argument("the value of an option");
    return options->settings.set(key, value);
  });
}

void windrow_options_free(windrow_options* options) {
  delete options;
}

int windrow_create(MPI_Comm comm, const char* path, const windrow_options* options, windrow_file** file) {
  return open_file(comm, path, File::Mode::create, options, file);
}

int windrow_open(MPI_Comm comm, const char* path, int mode, const windrow_options* options, windrow_file** file) {
  std::optional<File::Mode> asked;
  if (mode == WINDROW_READ)
    asked = File::Mode::read;
  if (mode == WINDROW_UPDATE)
    asked = File::Mode::update;
  return open_file(comm, path, asked, options, file);
}

int windrow_sync(windrow_file* file) {
  return enter([&]() -> Status {
    if (Status status = check_file(file); !status.ok())
      return status;
    return file->file->sync();
  });
}

int windrow_close(windrow_file* file) {
  return close_file(file, true);
}
int windrow_discard(windrow_file* file) {
  return close_file(file, false);
}

int windrow_remove_leftovers(const char* path, const char** removed) {
  static thread_local std::string text;
  return enter([&]() -> Status {
    if (removed != nullptr)
      *removed = nullptr;
    if (path == nullptr || removed == nullptr)
      return null_argument(path == nullptr ? "the path of the file" : "removed");
    text.clear();
    for (const std::string& each : windrow::remove_leftovers(path))
      text += each + '\n';
    *removed = text.c_str();
    return {};
  });
}

}  // extern "C"
