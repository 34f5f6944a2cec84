// SPDX-License-Identifier: BSD-3-Clause
#include "errors.hpp"

#include <windrow/windrow.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <new>
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

// Sets the text of a code, and returns whether MPI returns it. MPICH 4 has texts for codes of new classes only.
bool has_text(int code, std::string text) {
  std::array<char, MPI_MAX_ERROR_STRING> found{};
  int length = 0;
  text.resize(std::min<size_t>(text.size(), MPI_MAX_ERROR_STRING - 1));
  return MPI_Add_error_string(code, text.c_str()) == MPI_SUCCESS &&
         MPI_Error_string(code, found.data(), &length) == MPI_SUCCESS && text == found.data();
}

// One code of MPI for each class, because codes cannot be removed. Its text is that of the last error. Without texts
// the class itself is the code.
int code_of(int error_class, const std::string& text) {
  static std::mutex mutex;
  static auto* const codes = new std::map<int, int>;
  const std::lock_guard lock(mutex);
  const auto [place, is_new] = codes->try_emplace(error_class, error_class);
  if (is_new && MPI_Add_error_code(error_class, &place->second) != MPI_SUCCESS)
    place->second = error_class;
  if (place->second != error_class && !has_text(place->second, text))
    place->second = error_class;
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
