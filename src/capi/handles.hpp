// SPDX-License-Identifier: BSD-3-Clause
// What stands behind the opaque handles of windrow.h, and the door: every entry turns a status into a code and a
// message, and lets no exception out.
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
  mutable std::string text;      // of the last explain or report
  std::vector<int64_t> written;  // of the last windrow_inquire_written()
  mutable std::unordered_set<std::string>
      texts;  // all that has been handed out until the file is closed, each once: see keep()
};

struct windrow_decomposition {
  std::shared_ptr<windrow::SharedDecomposition> shared;
};

namespace windrow {

// Keeps the status for windrow_error_message() and windrow_error_rank(); returns its code.
int finish(const Status& status) noexcept;

// Runs the body of an entry, which returns a Status.
template <class Work>
int enter(Work&& work) noexcept {
  return finish(guard(std::forward<Work>(work)));
}

inline Status null_argument(const char* what) {
  return {Code::bad_argument, std::string(what) + " is NULL"};
}

// A copy of `text` that stays where it is until the file is closed, whatever the catalog's own does when it grows.
inline const char* keep(const windrow_file* file, const std::string& text) {
  return text.empty() ? "" : file->texts.insert(text).first->c_str();  // most are
}

// A handle's file, or why there is none.
inline Status check_file(const windrow_file* file) {
  return file != nullptr && file->file != nullptr ? Status{} : null_argument("the file");
}

}  // namespace windrow
