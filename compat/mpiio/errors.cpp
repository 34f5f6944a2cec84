// SPDX-License-Identifier: BSD-3-Clause
#include "errors.hpp"

#include <windrow/windrow.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>

namespace mpiio {
namespace {

int class_of(int windrow_code) noexcept {
  switch (windrow_code) {
    case WINDROW_NO_SPACE:
      return MPI_ERR_NO_SPACE;
    case WINDROW_NO_PERMISSION:
      return MPI_ERR_ACCESS;
    case WINDROW_NOT_FOUND:
      return MPI_ERR_NO_SUCH_FILE;
    case WINDROW_OUT_OF_MEMORY:
      return MPI_ERR_NO_MEM;
    case WINDROW_IO:
    case WINDROW_BAD_FILE:
      return MPI_ERR_IO;
    default:
      return MPI_ERR_OTHER;
  }
}

// One code of MPI for each class, because codes cannot be removed. Its text is that of the last error.
int code_of(int error_class, std::string text) {
  static std::mutex mutex;
  static auto* const codes = new std::map<int, int>;
  const std::lock_guard lock(mutex);
  const auto [place, is_new] = codes->try_emplace(error_class, error_class);
  if (is_new && MPI_Add_error_code(error_class, &place->second) != MPI_SUCCESS)
    place->second = error_class;
  if (place->second != error_class) {
    text.resize(std::min<size_t>(text.size(), MPI_MAX_ERROR_STRING - 1));
    MPI_Add_error_string(place->second, text.c_str());
  }
  return place->second;
}

}  // namespace

bool moved_nothing(int windrow_code) noexcept {
  return windrow_code == WINDROW_BAD_ARGUMENT || windrow_code == WINDROW_BAD_STATE ||
         windrow_code == WINDROW_UNSUPPORTED;
}

int fail(MPI_File file, int windrow_code) noexcept {
  int code = class_of(windrow_code);
  try {
    code = code_of(code, windrow_error_message());
  } catch (const std::bad_alloc&) {}
  MPI_File_call_errhandler(file, code);
  return code;
}

}  // namespace mpiio
