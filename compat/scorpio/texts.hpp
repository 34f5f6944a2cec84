// SPDX-License-Identifier: BSD-3-Clause
// Texts of datasets and attributes.
#pragma once

#include "state.hpp"

namespace scorpio {

bool is_ascii(std::string_view text);

// Options of text of fixed length, `bytes` each including a NUL.
void set_text_options(Options& options, int64_t bytes, bool ascii);

// Allocated with malloc(); throws std::bad_alloc.
char* copy_of(std::string_view text);

// A malloc() array of malloc() texts, as callers get it; frees what was not released.
class TextArray {
 public:
  explicit TextArray(int64_t count);  // throws std::bad_alloc
  ~TextArray();
  TextArray(const TextArray&) = delete;
  TextArray& operator=(const TextArray&) = delete;
  char*& operator[](int64_t number) { return texts_[number]; }
  char** release() noexcept;

 private:
  char** texts_ = nullptr;
  int64_t count_ = 0;
};

}  // namespace scorpio
