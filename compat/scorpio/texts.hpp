// SPDX-License-Identifier: BSD-3-Clause
// Texts that are handed out and taken in, in datasets and in attributes.
#pragma once

#include "state.hpp"

namespace scorpio {

bool is_ascii(std::string_view text);

// Options of text of fixed length, `bytes` each with the NUL at its end.
void set_text_options(Options& options, int64_t bytes, bool ascii);

// Of malloc(); throws std::bad_alloc.
char* copy_of(std::string_view text);

// An array of malloc() with texts of malloc(), as callers get it; frees what has not been released.
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
