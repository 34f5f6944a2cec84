// SPDX-License-Identifier: BSD-3-Clause
// Status: an error as a value. Result<T>: a value or a status. guard(): converts std::bad_alloc to a status at a
// module's entry points.
#pragma once

#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace windrow {

// The numbers are those of enum windrow_code (windrow.h) and grow with severity, so the worst code is the maximum.
enum class Code : int {
  ok = 0,
  bad_argument = 1,
  bad_state = 2,
  not_found = 3,
  exists = 4,
  unsupported = 5,
  bad_file = 6,
  no_permission = 7,
  no_space = 8,
  io = 9,
  out_of_memory = 10,
  mpi = 11,
  internal = 12,
};

const char* code_name(Code code) noexcept;

class [[nodiscard]] Status {
 public:
  Status() noexcept = default;
  // Cold: keeps the code that builds errors apart from the hot code of every function. If there is no memory for the
  // message, the status has only its code.
  [[gnu::cold]] Status(Code code, std::string message, int rank = -1) noexcept;
  // Copying never throws, so that a rank without memory can still pass a verdict on. It then loses only the message.
  Status(const Status& other) noexcept : code_(other.code_), rank_(other.rank_) {
    if (other.message_ != nullptr)
      copy_message(*other.message_);
  }
  Status& operator=(const Status& other) noexcept {
    if (this != &other)
      *this = Status(other);
    return *this;
  }
  Status(Status&&) noexcept = default;
  Status& operator=(Status&&) noexcept = default;
  ~Status() = default;

  bool ok() const noexcept { return code_ == Code::ok; }
  Code code() const noexcept { return code_; }
  int rank() const noexcept { return rank_; }  // -1: unknown, or all ranks
  const std::string& message() const noexcept { return message_ != nullptr ? *message_ : default_message(); }

  // Keeps the first error: `status.update(next())` has no effect on a status that is an error already.
  void update(Status next) noexcept {
    if (ok() && !next.ok())
      *this = std::move(next);
  }

 private:
  [[gnu::cold]] void copy_message(const std::string& message) noexcept;
  [[gnu::cold]] const std::string& default_message() const noexcept;

  Code code_ = Code::ok;
  int rank_ = -1;
  std::unique_ptr<std::string> message_;  // nullptr: no error, or no memory for the message
};

// A value, or the reason why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}                   // NOLINT: implicit on purpose
  Result(Status status) noexcept : status_(std::move(status)) {}  // NOLINT
  bool ok() const noexcept { return value_.has_value(); }
  const Status& status() const noexcept { return status_; }
  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return std::move(*value_); }

 private:
  std::optional<T> value_;
  Status status_;
};

// Has the message "out of memory" even if no memory for a message is left.
inline Status out_of_memory() noexcept {
  return {Code::out_of_memory, std::string()};
}

// Runs `work`, which returns a Status or a Result, and converts a failed allocation inside to a status. A rank without
// memory thus still reaches the next agreement.
template <class Work>
std::decay_t<std::invoke_result_t<Work>> guard(Work&& work) noexcept {
  try {
    return std::forward<Work>(work)();
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::length_error&) {  // larger than any memory
    return out_of_memory();
  } catch (const std::exception& error) {
    try {
      return Status(Code::internal, std::string("unexpected: ") + error.what());
    } catch (...) {
      return out_of_memory();
    }
  }
}

}  // namespace windrow
