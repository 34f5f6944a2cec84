// SPDX-License-Identifier: BSD-3-Clause
// The collective call that a rank is in, with its file. Agreements compare it: ranks in different calls leave with an
// error that names both. No later step of these calls, nor of the files concerned, waits for another rank.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace windrow {

class Comm;

enum class Call : uint8_t {
  none,
  make_decomposition,
  open,
  close,
  discard,
  sync,
  flush,
  flush_begin,
  flush_end,
  write_block,
  read_block,
  explain,
  set_strategy,
  define_group,
  define_variables,
  define_grid,
  define_field,
  define_link,
  define_dimension,
  name_dimensions,
  put_attribute,
  delete_attribute,
  put_texts,
  get_texts,
  write_references,
  check_subfiles,
  inquire_written,
  copy,
  open_bytes,
  write_bytes,
  read_bytes,
  sum
};
std::string_view name_of(Call call) noexcept;

// Describes ranks that reached one step in different calls. Two of these combine to one; the combination is
// commutative.
struct Mismatch {
  static constexpr size_t k_words = 6;

  int64_t rank = 0, call = 0;  // the lowest rank, and the number of its call
  int64_t other_rank = 0,
          other_call = 0;  // the lowest rank in another call; if it equals `call`, the steps within the call differ
  // Numbers of the files in the calls: the lowest and the highest, and whether there are others between.
  int64_t first_file = INT64_MAX, last_file = 0;
  bool has_more_files = false;

  static Mismatch of(int64_t rank, int64_t call) noexcept;
  void combine(const Mismatch& other) noexcept;
  // Whether a file is out of step. If there are more than two, those with a number between them are too.
  bool affects(int64_t file) const noexcept {
    return file == first_file || file == last_file || (has_more_files && file > first_file && file < last_file);
  }

  static Mismatch read(const int64_t* words) noexcept {
    return {words[0], words[1], words[2], words[3], words[4], std::abs(words[5]), words[5] < 0};
  }
  void store(int64_t* words) const noexcept;
};

// An open file as agreements know it.
struct OpenFile {
  std::string path;
  int64_t number = 0;        // counts the files opened on the communicator, the same on every rank; 0: not open yet
  bool out_of_step = false;  // ranks were in different calls, at least one of which was of this file
  OpenFile* next = nullptr;  // in the list of the communicator
};

// The collective call of a rank. Nested calls count as the outermost call.
class CallScope {
 public:
  // `file`: nullptr if the call does not belong to an open file.
  CallScope(const Comm& comm, Call call, const OpenFile* file = nullptr) noexcept;
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  int64_t number() const noexcept;  // of the call and the file; the same on every rank in the same call
  // OK, or the error of an earlier mismatch in this call or of its file.
  Status check_in_step() const;
  void lose_step(const Mismatch& found) noexcept { mismatch_ = found; }

 private:
  const Comm& comm_;
  Call call_;
  const OpenFile* file_;
  std::optional<Mismatch> mismatch_;
};

// Local: marks the scope and the files, and returns the error.
Status lose_step(const Comm& comm, const Mismatch& found);
// For a later call of the file. OK: the file is not concerned.
Status check_in_step(const OpenFile& file);

}  // namespace windrow
