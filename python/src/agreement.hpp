// SPDX-License-Identifier: BSD-3-Clause
// The agreement with which each collective call begins. All calls on a communicator use the same one: calls on any of
// its files, and those that make files and decompositions. So ranks that are in different calls, or in calls on
// different files, all get an error.
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

// The outcome of an agreement, the same on all ranks.
struct Verdict {
  int rank = -1;           // the lowest rank that has left a file, else the lowest with a problem; -1: none
  bool abandoned = false;  // a rank has left a file, so no rank continues with it
  std::string message;
};

// Throws if a rank has a problem.
void raise(const Verdict& verdict);

// What a rank contributes to an agreement.
struct Call {
  std::string name;
  std::string problem = {};  // what is wrong with this rank's arguments, or ""
  int64_t file = 0;          // the number of the file that the call is on; 0: none
  bool abandon = false;      // this rank leaves the file
};

// A duplicate of a communicator, in which its ranks agree.
class AgreementComm {
 public:
  static constexpr double k_forever = std::numeric_limits<double>::infinity();

  // The one of a communicator. It is freed with the communicator, or with the last of its files. Collective at the
  // first call, which returns nullptr if the other ranks do not call it in time.
  static std::shared_ptr<AgreementComm> of(const Communicator& comm, double seconds = k_forever);
  static bool is_only_one();  // whether no rank can wait for this process in another communicator

  MPI_Comm get() const { return comm_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  // Whether the program has not freed its communicator.
  bool has_owner() const { return has_owner_; }

  // Collective. If the ranks are in different calls, or if one has a problem, all get an error here, so no rank waits
  // in a call that another rank does not make. Files that a rank abandons are discarded on all ranks.
  Verdict agree(const Call& call) { return *agree_within(k_forever, call); }
  // The same with a time limit: nullopt if the other ranks do not call it in time. The reduction stays pending: other
  // ranks that call later get this rank's contribution, and the next agreement of this rank first completes it.
  std::optional<Verdict> agree_within(double seconds, const Call& call);
  // Completes a pending agreement within the time; collective if there is one. Returns whether none is pending.
  bool settle(double seconds);

  // All collective.
  bool any(bool mine);
  std::string first(const std::string& text);        // the text of the lowest rank that has one, or ""
  std::pair<int64_t, int64_t> place(int64_t count);  // the sums over the ranks before this one, and over all ranks

  // All ranks open and close files in the same order, so a number is the same file on all ranks.
  int64_t add(const std::string& path, std::function<void()> discard);
  void remove(int64_t file);
  void lose_owner();

 private:
  // The numbers of an agreement, of this rank and their minima over all ranks.
  struct Reduction {
    Call call;
    std::array<int64_t, 5> mine{};
    std::array<int64_t, 5> all{};
    MPI_Request request = MPI_REQUEST_NULL;
  };
  struct Open {
    std::string path;
    std::function<void()> discard;
  };

  AgreementComm(MPI_Comm comm, int rank, int size) : comm_(comm), rank_(rank), size_(size) {}
  std::string key_of(const Call& call) const;
  Verdict verdict_of(const Reduction& reduction);
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
  std::unique_ptr<Reduction> pending_;  // MPI may still write to it
};

}  // namespace windrow_python
