// SPDX-License-Identifier: BSD-3-Clause
// Role: one part that a rank plays in a transfer (sender, collector, receiver, distributor). A rank may play several;
// the loop in engine.cpp gives each a turn until all have finished. Nothing in a role waits, and nothing allocates
// after prepare: from there on only the storage and MPI can fail, and neither makes a role leave early.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/checked.hpp"
#include "base/status.hpp"
#include "comm/arrivals.hpp"
#include "comm/comm.hpp"
#include "exchange/coder.hpp"
#include "exchange/item.hpp"
#include "trace/trace.hpp"

namespace windrow {

inline constexpr int64_t k_buffer_alignment = 4096;
inline int64_t aligned(int64_t bytes) noexcept {
  return round_up(bytes, k_buffer_alignment);
}

class Role {
 public:
  virtual ~Role() = default;
  virtual Status prepare() = 0;              // once: measures, and allocates all but the buffers. Local.
  virtual int64_t buffer_bytes() const = 0;  // what begin() needs; a multiple of k_buffer_alignment
  // Before each run: the items and the buffers may lie elsewhere in memory.
  virtual void begin(std::span<const Item> items, std::byte* buffers) = 0;
  virtual bool step() = 0;  // does what can be done without waiting; true: something moved
  virtual bool finished() const = 0;
  virtual bool released() const { return finished(); }  // no other rank needs this one any more, nor it them
  virtual void visit_traffic(const std::function<void(const Traffic&)>&) const {
  }  // what it has sent in this run, rank by rank

  const Status& status() const noexcept { return status_; }

 protected:
  explicit Role(const Comm& comm, Trace& trace) : comm_(comm), trace_(trace) {}
  // Records an MPI failure; the role then counts as finished, since agreement cannot be promised any more.
  bool mpi_ok(int code, const char* call) {
    if (code == MPI_SUCCESS)
      return true;
    status_.update(mpi_status(code, call));
    broken_ = true;
    return false;
  }

  const Comm& comm_;
  Trace& trace_;
  Status status_;
  bool broken_ = false;
};

// What becomes of a window that a collector has filled.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void expect(PieceView) {
  }  // what there will be in all windows of a run, before the first; the windows' slots fill meanwhile
  virtual void progress() {}             // called at every turn: others may wait for a word of this sink
  virtual bool ready() { return true; }  // whether consume() may be called now
  // `covered`: the extents of the whole domain that hold data; those that meet the window matter. It may go on behind:
  // the slot is the sink's until done() counts it.
  virtual void consume(int64_t step, const Window& window, const std::byte* slot, PieceView covered) = 0;
  virtual int64_t done() const = 0;  // of the windows consumed in this run, in their order
  virtual bool finished() { return true; }
  virtual bool lasts() const { return false; }  // goes on by itself with what it has been given
  virtual Status status() const { return {}; }
};

// Where a distributor's windows come from.
class Fetcher {
 public:
  virtual ~Fetcher() = default;
  virtual bool ready() { return true; }  // whether start() may be called now
  virtual void start(int64_t step, const Window& window, std::byte* slot, PieceView covered) = 0;
  virtual int64_t done() = 0;  // of the windows started in this run, in their order: how many are there
  virtual Status status() const { return {}; }
};

// The extents that meet the part of a window, clipped to it.
template <class Visit>
void for_each_covered(PieceView covered, Extent part, Visit&& visit) {
  for_each_piece(covered, part, [&](const Piece& piece) { visit(Extent{piece.file, piece.file + piece.length}); });
}

// A few message buffers and their requests.
class MessagePool {
 public:
  static constexpr int k_none = -1;
  // Where a message is packed, and where a frame of it would be; k_none: it stays what it is.
  struct Parcel {
    int packed = k_none, frame = k_none;
  };
  // `coded`: each needs two for a moment.
  void prepare(int buffers, int64_t bytes_each, bool coded = false);
  int64_t buffer_bytes() const noexcept { return static_cast<int64_t>(requests_.size()) * bytes_; }
  void begin(std::byte* buffers) noexcept { memory_ = buffers; }
  int take();                             // a free buffer, or k_none
  bool take(bool coded, Parcel& parcel);  // false: too few are free, and none is taken; what is not coded has only as
                                          // many as without coding
  // The packed message of `bytes` becomes what travels, which lies in the buffer that is the result; the other is free
  // again. `bytes`: of what travels.
  int seal(Coder& coder, Traffic& traffic, const Parcel& parcel, int64_t& bytes);
  std::byte* buffer(int index) { return memory_ + static_cast<int64_t>(index) * bytes_; }
  MPI_Request* request(int index) { return &requests_[static_cast<size_t>(index)]; }
  // Tests all requests; fills `done` with the buffers that have completed and frees them when `release`.
  int test(std::span<const int>& done, bool release);
  int64_t received(int index) const noexcept {
    return counts_[static_cast<size_t>(index)];
  }  // bytes, or k_too_long; of a buffer that has completed
  void release(int index) { busy_[static_cast<size_t>(index)] = false, --used_; }
  bool idle() const noexcept { return used_ == 0; }
  int used() const noexcept { return used_; }

 private:
  std::byte* memory_ = nullptr;
  std::vector<MPI_Request> requests_;
  std::vector<bool> busy_;
  std::vector<int> done_;
  std::vector<MPI_Status> statuses_;
  std::vector<int64_t> counts_;
  int64_t bytes_ = 0;
  int plain_ = 0, used_ = 0;
};

inline constexpr int k_message_buffers = 2;
inline constexpr int k_coding_buffers = 3;  // one travels, one is packed, one takes what that is made into
inline constexpr int k_eager_ranks = 64;

}  // namespace windrow
