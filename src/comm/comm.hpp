// SPDX-License-Identifier: BSD-3-Clause
// Comm: the library's own duplicate of a user's communicator, made at its first use and kept with it, and the hosts
// that its ranks run on. Errors of MPI calls on it are returned, never fatal.
#pragma once

#include <mpi.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "comm/call.hpp"
#include "comm/host_rounds.hpp"
#include "comm/host_table.hpp"
#include "comm/host_tree.hpp"
#include "comm/shared_segment.hpp"

namespace windrow {

// Tags of our messages in our duplicate. Sparse exchanges use two, in turn (see sparse.cpp).
inline constexpr int k_tag_notice = 1;
inline constexpr int k_tag_description = 3;
inline constexpr int k_tag_hull = 4;
inline constexpr int k_tag_data = 5;
inline constexpr int k_tag_relay = 6;
inline constexpr int k_tag_chunks = 7;       // a writer asks rank 0 for room
inline constexpr int k_tag_placed = 8;       // and is answered
inline constexpr int k_tag_link = 9;         // how fast is the way to another host
inline constexpr int k_tag_clock = 10;       // what time is it on rank 0
inline constexpr int k_tag_chunks_end = 11;  // a writer asks for no more
inline constexpr int k_tag_up = 12;          // what a host has to be combined with others'
inline constexpr int k_tag_down = 13;        // and what has become of it

// Who still uses the memory that the host shares when its transfer is over for the other ranks.
class SegmentHolder {
 public:
  virtual void wait() noexcept = 0;  // until it does not any more; local

 protected:
  ~SegmentHolder() = default;
};

class Comm {
 public:
  // The duplicate that belongs to `user`. Collective when it is the first use of that communicator, else local; which
  // of the two it is, is the same on every rank. Lives until the user's communicator is freed and nobody holds the
  // pointer any more.
  static Result<std::shared_ptr<Comm>> of(MPI_Comm user);

  // Whether the user's communicator is gone and `held`, which the caller holds once, is the last to use this duplicate
  // on this rank.
  static bool is_last(const std::shared_ptr<Comm>& held);
  // Collective, when is_last() is true on all ranks: gives the duplicate back to MPI. Nothing may use it after that.
  static void end(const std::shared_ptr<Comm>& held);

  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;

  MPI_Comm get() const noexcept { return raw_; }
  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }
  const std::string& host_name() const noexcept { return host_name_; }

  // Ranks that share memory with this one. host() is the one sub-communicator that we make.
  MPI_Comm host() const noexcept { return host_; }
  int host_rank() const noexcept { return host_rank_; }
  int host_size() const noexcept { return host_size_; }
  int machine_size() const noexcept {
    return machine_size_;
  }  // ranks on this machine: more than on this host where parts of it, containers or name spaces count as hosts
  int host_root() const noexcept { return host_roots_[static_cast<size_t>(host_index_)]; }  // lowest rank of this host
  int host_index() const noexcept { return host_index_; }
  // A rank's number within this host, or -1 when it runs on another.
  int host_rank_of(int rank) const noexcept;
  // Which host any rank runs on: a place in host_roots().
  int host_index_of(int rank) const noexcept { return host_table_.host_of(host_roots_, rank); }
  // [hosts] lowest rank of each host, ascending.
  const std::vector<int>& host_roots() const noexcept { return host_roots_; }

  SharedSegment& shared() noexcept { return shared_; }
  const SharedSegment& shared() const noexcept { return shared_; }
  // The number of the next transfer that uses the shared segment; the same on every rank.
  int64_t next_generation() noexcept { return ++generation_; }
  int64_t generation() const noexcept { return generation_; }

  // Where all ranks run on one host; else, or where there is no memory to share, it is not ready.
  HostRounds& rounds() const noexcept { return rounds_; }
  // Where there are several hosts, or no memory to share.
  HostTree& tree() const noexcept { return tree_; }

  // Of the call that this rank is in: see CallScope; 0 and OK where none says so.
  Status check_in_step() const { return scope_ == nullptr ? Status{} : scope_->check_in_step(); }
  int64_t call_number() const noexcept { return scope_ == nullptr ? 0 : scope_->number(); }
  // Local, on all ranks in the same order: a file is open, and is closed.
  void enter(OpenFile& file) noexcept;
  void leave(OpenFile& file) noexcept;
  const OpenFile* open_files() const noexcept { return open_files_; }
  // Local: this call and the files that ranks were in calls of talk to no other rank any more.
  void lose_step(const Mismatch& found) const noexcept;

  // At most one at a time: whoever is next waits for it first.
  void set_holder(SegmentHolder* holder) noexcept { holder_ = holder; }
  void release_holder(SegmentHolder* holder) noexcept {
    if (holder_ == holder)
      holder_ = nullptr;
  }
  void wait_for_holder() noexcept {
    if (SegmentHolder* holder = holder_) {
      holder->wait();
      release_holder(holder);
    }
  }

  // Seconds a byte between hosts, once somebody has measured them (comm/link.hpp); 0: not known.
  bool link_measured() const noexcept { return link_measured_; }
  double link() const noexcept { return link_; }
  void set_link(double seconds_per_byte) noexcept { link_ = seconds_per_byte, link_measured_ = true; }

  // What rooms above remember for as long as the communicator lives, each in a place of its own.
  enum class Remembered {
    arena,
    codecs
  };
  std::shared_ptr<void>& attachment(Remembered what) noexcept { return attachments_[static_cast<size_t>(what)]; }

  // The parity of sparse exchanges on this communicator, the same on every rank.
  int next_parity() noexcept { return parity_ ^= 1; }

  ~Comm() = default;

 private:
  friend struct CommRegistry;
  friend class CallScope;
  Comm() = default;
  static Status make(MPI_Comm user, std::unique_ptr<std::shared_ptr<Comm>>& kept);  // collective
  Status take(MPI_Comm raw, MPI_Comm host, int hosts, std::vector<uint32_t>& marks);
  Status find_hosts(std::vector<uint32_t>& marks);  // collective

  MPI_Comm raw_ = MPI_COMM_NULL;
  MPI_Comm host_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  int host_rank_ = 0, host_size_ = 1, host_index_ = 0, machine_size_ = 1;
  int parity_ = 0;
  std::string host_name_;
  std::vector<int> host_roots_;
  std::vector<int> host_ranks_;  // [host_size] ascending
  HostTable host_table_;         // where there are several hosts
  SharedSegment shared_;
  mutable HostRounds rounds_;  // a reduction changes nothing that anybody sees
  HostRounds host_rounds_;     // the tree's
  mutable HostTree tree_;
  mutable CallScope* scope_ = nullptr;
  OpenFile* open_files_ = nullptr;
  int64_t files_opened_ = 0;
  int64_t generation_ = 0;
  SegmentHolder* holder_ = nullptr;
  std::shared_ptr<Comm> older_orphan_;  // see CommRegistry
  bool link_measured_ = false;
  double link_ = 0;
  std::array<std::shared_ptr<void>, 2> attachments_;  // one for each Remembered
};

// A failed MPI call as a status: "MPI_Allreduce: <what MPI says>".
Status mpi_status(int mpi_code, const char* call);

}  // namespace windrow
