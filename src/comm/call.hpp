// SPDX-License-Identifier: BSD-3-Clause
// Which collective call a rank is in, and of which file. Agreements compare it: ranks that are in different calls leave
// with an error that names both, and no later step of these calls, nor of the files concerned, waits for another rank.
#pragma once

#include <array>
#include <cstdint>
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
  check_subfiles
};
std::string_view name_of(Call call) noexcept;

// What ranks learn that have come to one step in different calls. Two of these are combined to one; the order does not
// matter.
struct Mismatch {
  static constexpr size_t k_words = 6;

  int64_t rank = 0, call = 0;  // the lowest rank, and the number of its call
  int64_t other_rank = 0,
          other_call = 0;  // the lowest rank in another one; the same as `call`: there is none, the call's steps differ
  int64_t first_file = INT64_MAX, last_file = 0;  // the numbers of all files in calls

  static Mismatch of(int64_t rank, int64_t call) noexcept;
  void combine(const Mismatch& other) noexcept;

  static Mismatch read(const int64_t* words) noexcept {
    return {words[0], words[1], words[2], words[3], words[4], words[5]};
  }
  void store(int64_t* words) const noexcept;
};

// An open file, as agreements know it.
struct OpenFile {
  std::string path;
  int64_t number = 0;  // among the files that the communicator has opened, the same on every rank; 0: not open yet
  bool out_of_step = false;  // ranks were in different calls, of this file or instead of one of it
  OpenFile* next = nullptr;  // of the communicator's
};

// The collective call that a rank is in. A call that is part of another counts as that.
class CallScope {
 public:
  // `file`: nullptr where the call is not one of an open file.
  CallScope(const Comm& comm, Call call, const OpenFile* file = nullptr) noexcept;
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  int64_t number() const noexcept;  // of the call and the file, the same on every rank that is in the same
  // Ranks were in different calls, in this one or in one of the file before: OK, or what all ranks are told.
  Status check_in_step() const;
  void lose_step(const Mismatch& found) noexcept { mismatch_ = found; }

 private:
  const Comm& comm_;
  Call call_;
  const OpenFile* file_;
  std::optional<Mismatch> mismatch_;
};

// Local: the scope and the files are marked, and the outcome is said in words.
Status lose_step(const Comm& comm, const Mismatch& found);
// Of a call after that. OK: the file is not concerned.
Status check_in_step(const OpenFile& file);

}  // namespace windrow
