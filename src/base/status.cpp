// SPDX-License-Identifier: BSD-3-Clause
#include "base/status.hpp"

namespace windrow {

Status::Status(Code code, std::string message, int rank) noexcept : code_(code), rank_(rank) {
  if (!message.empty())
    message_.reset(new (std::nothrow) std::string(std::move(message)));
}

void Status::copy_message(const std::string& message) noexcept {
  try {
    message_ = std::make_unique<std::string>(message);
  } catch (const std::bad_alloc&) {
    message_.reset();
  }
}

const std::string& Status::default_message() const noexcept {
  static const std::string none, without_memory("out of memory");  // short enough to need no allocation
  return code_ == Code::out_of_memory ? without_memory : none;
}

const char* code_name(Code code) noexcept {
  switch (code) {
    case Code::ok:
      return "ok";
    case Code::bad_argument:
      return "bad argument";
    case Code::bad_state:
      return "bad state";
    case Code::not_found:
      return "not found";
    case Code::exists:
      return "exists already";
    case Code::unsupported:
      return "not supported";
    case Code::bad_file:
      return "bad file";
    case Code::no_permission:
      return "no permission";
    case Code::no_space:
      return "no space left";
    case Code::io:
      return "input/output error";
    case Code::out_of_memory:
      return "out of memory";
    case Code::mpi:
      return "MPI error";
    case Code::internal:
      return "internal error";
  }
  return "unknown code";
}

}  // namespace windrow
