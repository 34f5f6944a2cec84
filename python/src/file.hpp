// SPDX-License-Identifier: BSD-3-Clause
// An open file and a decomposition, as the Python package uses them: numbers and addresses, which it has looked after.
#pragma once

#include <windrow/windrow.h>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "communicator.hpp"
#include "failure.hpp"
#include "meeting.hpp"

namespace windrow_python {

using Settings = std::map<std::string, std::string>;
using Numbers = std::vector<int64_t>;

class Options {
 public:
  explicit Options(const Settings& settings) {
    windrow_options* made = nullptr;
    check(windrow_options_create(&made));
    options_.reset(made);
    for (const auto& [key, value] : settings)
      check(windrow_options_set(made, key.c_str(), value.c_str()));
  }
  const windrow_options* get() const { return options_.get(); }

 private:
  struct Free {
    void operator()(windrow_options* options) const { windrow_options_free(options); }
  };
  std::unique_ptr<windrow_options, Free> options_;
};

struct FreeDecomposition {
  void operator()(windrow_decomposition* decomposition) const { windrow_decomposition_free(decomposition); }
};
using Decomposition = std::unique_ptr<windrow_decomposition, FreeDecomposition>;

// Where a rank's pieces lie, in the file and in memory: [blocks][dimensions], offsets [blocks]; no offsets: one behind
// the other.
struct Pieces {
  int64_t blocks = 0;
  const int64_t* starts = nullptr;
  const int64_t* counts = nullptr;
  const int64_t* memory_offsets = nullptr;
  const int64_t* memory_strides = nullptr;
};

// Elements in this rank's memory.
struct Memory {
  int type = 0;
  void* data = nullptr;
};

// An open file. Each collective call takes `problem`: what is wrong with this rank's arguments, or "". All ranks make
// the call, and all throw what the lowest of them found wrong.
class File {
 public:
  static constexpr int k_create = -1;  // beside enum windrow_mode
  File(const Communicator& comm, const std::string& path, int mode, const Settings& settings,
       const std::string& problem);
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File();

  bool is_open() const { return file_ != nullptr; }
  Meeting& meeting() const { return *meeting_; }
  windrow_file* get() const;  // throws when the file is closed

  void agree(const std::string& call, const std::string& problem);  // Collective.
  // Collective: as agree, then what `action` returns.
  template <class Action>
  void together(const std::string& call, const std::string& problem, Action&& action) {
    agree(call, problem);
    check(action(get()));
  }

  void move(bool put, int variable, const Pieces& pieces, Memory memory, const std::string& problem);  // Collective.
  void close(const std::string& problem);                                                              // Collective.
  // Collective, with whatever call the other ranks are in, on whichever file of the communicator: nobody goes on with
  // this one.
  void abandon(const std::string& reason);
  // The same, for a rank that does not wait for ever: whether the others have come in time. When not, the file stays as
  // it is.
  bool abandon_within(double seconds, const std::string& reason);

 private:
  void discard();

  std::shared_ptr<Meeting> meeting_;
  int64_t number_ = 0;  // in the meeting
  // The program's, for which the library keeps more than for another; it may be freed before the file is closed.
  Communicator given_;
  std::shared_ptr<const bool> given_is_there_;
  windrow_file* file_ = nullptr;
};

}  // namespace windrow_python
