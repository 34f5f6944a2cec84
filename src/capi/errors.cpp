// SPDX-License-Identifier: BSD-3-Clause
#include "base/numbering.hpp"
#include "capi/handles.hpp"

namespace windrow {
namespace {
thread_local std::string last_message;
thread_local int last_rank = -1;
}  // namespace

int finish(const Status& status) noexcept {
  if (status.ok())
    return WINDROW_OK;
  try {
    last_message = status.message().empty() ? code_name(status.code()) : status.message();
  } catch (const std::bad_alloc&) {
    last_message.clear();
  }
  last_rank = status.rank();
  return static_cast<int>(status.code());
}

}  // namespace windrow

extern "C" {

const char* windrow_code_name(int code) {
  return windrow::code_name(static_cast<windrow::Code>(code));
}
const char* windrow_error_message(void) {
  return windrow::last_message.c_str();
}
int windrow_error_rank(void) {
  return windrow::last_rank;
}

int windrow_set_numbering(int numbering) {
  const int before = static_cast<int>(windrow::numbering());
  if (numbering == WINDROW_NUMBERING_C || numbering == WINDROW_NUMBERING_FORTRAN)
    windrow::set_numbering(static_cast<windrow::Numbering>(numbering));
  return before;
}

}  // extern "C"
