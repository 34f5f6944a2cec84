// SPDX-License-Identifier: BSD-3-Clause
// The objects of windrow.h's opaque handles, and the boundary of the interface: every entry turns a status into a code
// and a message, and lets no exception escape.
#pragma once

#include <windrow/windrow.h>

#include <memory>
#include <string>
#include <unordered_set>

#include "base/settings.hpp"
#include "base/status.hpp"
#include "session/file.hpp"

struct windrow_options {
  windrow::Settings settings;
};

struct windrow_file {
  std::unique_ptr<windrow::File> file;
  mutable std::string text;      // result of the last explain or report
  std::vector<int64_t> written;  // result of the last windrow_inquire_written()
  mutable std::unordered_set<std::string>
      texts;  // all strings that were returned and must live until the file is closed, each once: see keep()
};

struct windrow_decomposition {
  std::shared_ptr<windrow::SharedDecomposition> shared;
};

namespace windrow {

// Stores the status for windrow_error_message() and windrow_error_rank(); returns its code.
int finish(const Status& status) noexcept;

// Runs the body of an entry that returns a Status.
template <class Work>
int enter(Work&& work) noexcept {
  return finish(guard(std::forward<Work>(work)));
}

inline Status null_argument(const char* what) {
  return {Code::bad_argument, std::string(what) + " is NULL"};
}

// A copy of `text` with a stable address until the file is closed, even if the catalog grows.
inline const char* keep(const windrow_file* file, const std::string& text) {
  return text.empty() ? "" : file->texts.insert(text).first->c_str();  // the usual case
}

// Checks that a handle has a file.
inline Status check_file(const windrow_file* file) {
  return file != nullptr && file->file != nullptr ? Status{} : null_argument("the file");
}

// Copies a text that a collective call needs. `what`: names it in the error if it is NULL.
inline Status copy_text(const char* text, const char* what, std::string& copy) {
  return guard([&]() -> Status {
    if (text == nullptr)
      return null_argument(what);
    copy = text;
    return {};
  });
}

}  // namespace windrow

// The entries of the interface are outside of the namespace. Each uses these.
using windrow::check_file;
using windrow::Code;
using windrow::enter;
using windrow::guard;
using windrow::keep;
using windrow::null_argument;
using windrow::Result;
using windrow::Status;
