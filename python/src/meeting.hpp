// SPDX-License-Identifier: BSD-3-Clause
// The word between the ranks that each collective call begins with. Calls on all files of a communicator, and those
// that make files and decompositions, exchange it in one place, so that ranks which are in different calls, of
// different files too, meet there and hear of it.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "communicator.hpp"

namespace windrow_python {

// What the ranks told each other before a call.
struct Verdict {
  int rank = -1;           // the lowest that has a problem, before others one that has left a file; -1: none has
  bool abandoned = false;  // a rank has left a file: nobody goes on with that
  std::string message;     // the same on every rank
};

// Throws where a rank has a problem.
void raise(const Verdict& verdict);

// What a rank comes with.
struct Call {
  std::string name;
  std::string problem = {};  // what is wrong with this rank's arguments, or ""
  int64_t file = 0;          // the number of the file that the call is on; 0: none
  bool abandon = false;      // this rank leaves the file
};

class Meeting {
 public:
  static constexpr double k_forever = std::numeric_limits<double>::infinity();

  // That of a communicator, kept with it and freed with it, or with the last of its files. Collective the first time,
  // and then nothing when the others have not come in time.
  static std::shared_ptr<Meeting> of(const Communicator& comm, double seconds = k_forever);
  static bool is_only_one();  // whether this process has no other, in which ranks might wait for it

  MPI_Comm get() const { return comm_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  // Whether the program has not freed its communicator.
  bool has_owner() const { return has_owner_; }

  // Collective. Ranks that are in different calls, or of which one has a problem, all learn it, before any of them
  // waits for another in a call that this one will not make. Files that a rank abandons are discarded on all ranks.
  Verdict agree(const Call& call) { return *agree_within(k_forever, call); }
  // The same, for a rank that does not wait for ever: nothing when the others have not come in time. What it said stays
  // said: it is heard by whoever comes, and this rank's next call here begins with the end of this one.
  std::optional<Verdict> agree_within(double seconds, const Call& call);
  bool settle(double seconds);  // Collective where a call has not ended: whether it has now.

  bool any(bool mine);                         // Collective.
  std::string first(const std::string& text);  // Collective. The text of the lowest rank that has one; "": none has.
  std::pair<int64_t, int64_t> place(
      int64_t count);  // Collective. How many the ranks before this one have, and how many all have.

  // Files are opened and closed on all ranks, in the same order: so a number means the same everywhere.
  int64_t add(const std::string& path, std::function<void()> discard);
  void remove(int64_t file);
  void lose_owner();

 private:
  // What the ranks tell each other, and the smallest of each number.
  struct Words {
    Call call;
    std::array<int64_t, 5> mine{};
    std::array<int64_t, 5> all{};
    MPI_Request request = MPI_REQUEST_NULL;
  };
  struct Open {
    std::string path;
    std::function<void()> discard;
  };

  Meeting(MPI_Comm comm, int rank, int size) : comm_(comm), rank_(rank), size_(size) {}
  std::string key_of(const Call& call) const;
  Verdict verdict_of(const Words& words);
  std::string difference(const Call& call, int& culprit) const;
  std::string discard(int64_t first, int64_t last);
  std::string from_rank(int root, const std::string& text) const;
  void free_unused();

  MPI_Comm comm_;
  int rank_;
  int size_;
  bool has_owner_ = true;
  int64_t opened_ = 0;
  std::map<int64_t, Open> files_;
  std::unique_ptr<Words> pending_;  // MPI goes on writing to it
};

}  // namespace windrow_python
