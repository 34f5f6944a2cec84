// SPDX-License-Identifier: BSD-3-Clause
/**
 * @file error.hpp
 * Errors of the C++ interface: include windrow.hpp.
 */
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include <windrow/windrow.h>

// Errors are thrown, unless WINDROW_STATUS is defined before this header or the compiler has no exceptions: see
// take_status().
#if !defined(WINDROW_STATUS) && defined(__cpp_exceptions)
#define WINDROW_THROWS 1
#else
#define WINDROW_THROWS 0
#endif

namespace windrow {
// The inline namespace separates these symbols from those of the library itself, and from those of code with another
// error handling. Users write windrow::File.
#if WINDROW_THROWS
inline namespace api {
#else
inline namespace status_api {
#endif

/** An error of the library; what() contains what failed, where and on which rank. */
class Error : public std::runtime_error {
 public:
  Error(int code, int rank, const std::string& message) : std::runtime_error(message), code_(code), rank_(rank) {}
  int code() const noexcept { return code_; }  ///< enum windrow_code
  int rank() const noexcept { return rank_; }  ///< the rank with the error; -1: none or all

 private:
  int code_;
  int rank_;
};

#if WINDROW_THROWS
[[noreturn]] inline void fail(int code, int rank, const std::string& message) {
  throw Error(code, rank, message);
}
#else
/** Without exceptions: the first error of this thread since take_status().  Calls after an error are still made, so
 * that ranks stay together.  Objects that could not be created return -1 or nothing. */
struct Status {
  int code = WINDROW_OK;  ///< enum windrow_code
  int rank = -1;
  std::string message;
  bool ok() const noexcept { return code == WINDROW_OK; }
};
inline Status& kept_status() {
  thread_local Status status;
  return status;
}
/** Returns the first error since the last call, and resets it.
 *
 *     windrow::File file = windrow::File::create(comm, path);
 *     if (windrow::Status status = windrow::take_status(); !status.ok()) return report(status.message);
 */
inline Status take_status() {
  return std::exchange(kept_status(), Status{});
}
inline void fail(int code, int rank, const std::string& message) {
  if (kept_status().ok())
    kept_status() = {code, rank, message};
}
#endif

/** Fails when `code` is not WINDROW_OK.  For calls of windrow.h without a wrapper here. */
inline void check(int code) {
  if (code != WINDROW_OK)
    fail(code, windrow_error_rank(), windrow_error_message());
}

}  // namespace api or status_api
}  // namespace windrow
