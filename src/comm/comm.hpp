// SPDX-License-Identifier: BSD-3-Clause
// Comm: the library's duplicate of a user's communicator, with the hosts of its ranks. It is made at the first use and
// stored with the communicator. MPI errors on it are returned, never fatal.
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

// Message tags on our duplicate. Sparse exchanges alternate between two (see sparse.cpp).
inline constexpr int k_tag_notice = 1;
inline constexpr int k_tag_description = 3;
inline constexpr int k_tag_hull = 4;
inline constexpr int k_tag_data = 5;
inline constexpr int k_tag_relay = 6;
inline constexpr int k_tag_chunks = 7;       // a writer requests space for chunks
inline constexpr int k_tag_placed = 8;       // the answer
inline constexpr int k_tag_link = 9;         // measures the link to another host
inline constexpr int k_tag_clock = 10;       // asks for the time of rank 0
inline constexpr int k_tag_chunks_end = 11;  // a writer has sent its last request
inline constexpr int k_tag_up = 12;          // numbers of a host, up the tree
inline constexpr int k_tag_down = 13;        // the combined result, down the tree

// A transfer that may still use the shared memory of the host after it has ended on other ranks.
class SegmentHolder {
 public:
  virtual void wait() noexcept = 0;  // until this rank no longer uses it; local

 protected:
  ~SegmentHolder() = default;
};

class Comm {
 public:
  // The duplicate that belongs to `user`. Collective at the first use of the communicator, otherwise local; all ranks
  // see the same case. It lives until the user frees the communicator and no pointer to the duplicate is left.
  static Result<std::shared_ptr<Comm>> of(MPI_Comm user);

  // The duplicate for a file that is opened on `user`. Collective. If threads may call MPI at the same time
  // (MPI_THREAD_MULTIPLE), each file has its own duplicate, so that threads may be in calls on different files;
  // otherwise it is of(user).
  static Result<std::shared_ptr<Comm>> for_file(MPI_Comm user);

  // Whether the user's communicator is freed and `held`, of which the caller has one copy, is the last pointer on this
  // rank.
  static bool is_last(const std::shared_ptr<Comm>& held);
  // Collective, after the opening of a file has failed on all ranks: frees the duplicate if it is the file's own.
  static void end_unused(const std::shared_ptr<Comm>& held);
  // Collective, if is_last() is true on all ranks: frees the duplicate. It must not be used afterwards.
  static void end(const std::shared_ptr<Comm>& held);

  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;

  MPI_Comm get() const noexcept { return raw_; }
  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }
  const std::string& host_name() const noexcept { return host_name_; }

  // The ranks that share memory with this one. host() is our only sub-communicator.
  MPI_Comm host() const noexcept { return host_; }
  int host_rank() const noexcept { return host_rank_; }
  int host_size() const noexcept { return host_size_; }
  // Ranks on this machine: more than on this host if parts of it, containers or namespaces count as hosts.
  int machine_size() const noexcept { return machine_size_; }
  int host_root() const noexcept { return host_roots_[static_cast<size_t>(host_index_)]; }  // lowest rank of this host
  int host_index() const noexcept { return host_index_; }
  // The rank's number within this host, or -1 on another host.
  int host_rank_of(int rank) const noexcept;
  // The host of any rank, as an index of host_roots().
  int host_index_of(int rank) const noexcept { return host_table_.host_of(host_roots_, rank); }
  // [hosts] lowest rank of each host, ascending.
  const std::vector<int>& host_roots() const noexcept { return host_roots_; }

  SharedSegment& shared() noexcept { return shared_; }
  const SharedSegment& shared() const noexcept { return shared_; }
  // The number of the next transfer that uses the shared segment; the same on every rank.
  int64_t next_generation() noexcept { return ++generation_; }
  int64_t generation() const noexcept { return generation_; }

  // Ready only if all ranks run on one host and memory can be shared.
  HostRounds& rounds() const noexcept { return rounds_; }
  // For several hosts, or without shared memory.
  HostTree& tree() const noexcept { return tree_; }

  // The state of this rank's current CallScope; 0 and OK if there is none.
  Status check_in_step() const { return scope_ == nullptr ? Status{} : scope_->check_in_step(); }
  int64_t call_number() const noexcept { return scope_ == nullptr ? 0 : scope_->number(); }
  // Local, on all ranks in the same order: registers a file that is opened, and removes one that is closed.
  void enter(OpenFile& file) noexcept;
  void leave(OpenFile& file) noexcept;
  const OpenFile* open_files() const noexcept { return open_files_; }
  // Local: marks this call and the files concerned, which then communicate no more.
  void lose_step(const Mismatch& found) const noexcept;

  // At most one holder at a time: a new one must wait for the previous one first.
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

  // Seconds for each byte between hosts, once measured (comm/link.hpp); 0: unknown.
  bool link_measured() const noexcept { return link_measured_; }
  double link() const noexcept { return link_; }
  void set_link(double seconds_per_byte) noexcept { link_ = seconds_per_byte, link_measured_ = true; }

  // Data that higher modules keep for the lifetime of the communicator.
  enum class Remembered {
    arena,
    codecs
  };
  std::shared_ptr<void>& attachment(Remembered what) noexcept { return attachments_[static_cast<size_t>(what)]; }

  // The parity of the next sparse exchange on this communicator; the same on every rank.
  int next_parity() noexcept { return parity_ ^= 1; }

  ~Comm() = default;

 private:
  friend struct CommRegistry;
  friend class CallScope;
  Comm() = default;
  static Status make(MPI_Comm user, std::unique_ptr<std::shared_ptr<Comm>>& kept);  // collective
  Status take(MPI_Comm raw, MPI_Comm host, int hosts, std::vector<uint32_t>& marks);
  Status find_hosts(std::vector<uint32_t>& marks);  // collective
  Status find_roots(std::vector<uint32_t>& marks);
  void prepare_one_host();
  Status prepare_hosts(int root);

  MPI_Comm raw_ = MPI_COMM_NULL;
  MPI_Comm host_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  int host_rank_ = 0, host_size_ = 1, host_index_ = 0, machine_size_ = 1;
  int parity_ = 0;
  std::string host_name_;
  std::vector<int> host_roots_;
  std::vector<int> host_ranks_;  // [host_size] ascending
  HostTable host_table_;         // if there are several hosts
  SharedSegment shared_;
  mutable HostRounds rounds_;  // a reduction does not change the visible state
  HostRounds host_rounds_;     // used by the tree
  mutable HostTree tree_;
  mutable CallScope* scope_ = nullptr;
  OpenFile* open_files_ = nullptr;
  int64_t files_opened_ = 0;
  bool is_of_file_ = false;  // made by for_file() for one file
  int64_t generation_ = 0;
  SegmentHolder* holder_ = nullptr;
  std::shared_ptr<Comm> older_orphan_;  // see CommRegistry
  bool link_measured_ = false;
  double link_ = 0;
  std::array<std::shared_ptr<void>, 2> attachments_;  // one for each Remembered
};

// A failed MPI call as a status: "MPI_Allreduce: <text of MPI>".
Status mpi_status(int mpi_code, const char* call);

}  // namespace windrow
