// SPDX-License-Identifier: BSD-3-Clause
// Role: one part of a rank in a transfer (Sender, Collector, Receiver, Distributor, Copier, Broadcaster). A rank may
// have several roles; the loop in engine.cpp calls each in turn until all have finished. A role never blocks, and
// allocates nothing after prepare(). After that only the storage and MPI can fail, and neither makes a role leave
// early.
//
//   write:  Sender --messages--> Collector --windows--> Sink (storage, or ForwardSink to the next Collector)
//           Copier --shared slots-->
//   read:   Fetcher (storage, or ForwardFetcher) --windows--> Distributor --messages--> Receiver
//                                                                         --shared slots--> Copier
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

// What the roles of a transfer share.
struct TransferContext {
  const Comm& comm;
  Trace& trace;
  Coder& coder;
};

class Role {
 public:
  virtual ~Role() = default;
  virtual Status prepare() = 0;  // once: computes sizes, and allocates everything except the buffers. Local.
  virtual int64_t buffer_bytes() const = 0;  // for begin(); a multiple of k_buffer_alignment
  // Before each run: the items and the buffers may have moved.
  virtual void begin(std::span<const Item> items, std::byte* buffers) = 0;
  virtual bool step() = 0;  // does what is possible without blocking; true: there was progress
  virtual bool finished() const = 0;
  // neither this rank nor another needs the other's messages any more
  virtual bool released() const { return finished(); }
  // The traffic of this run to each receiver.
  virtual void visit_traffic(const std::function<void(const Traffic&)>&) const {}

  const Status& status() const noexcept { return status_; }

 protected:
  explicit Role(const Comm& comm, Trace& trace) : comm_(comm), trace_(trace) {}
  // Records an MPI failure. The role then counts as finished, since an agreement is no longer possible.
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

// Consumes the windows that a collector has filled.
class Sink {
 public:
  virtual ~Sink() = default;
  // The data of all windows of a run, before the first; meanwhile the slots of windows fill.
  virtual void expect(PieceView) {}
  virtual void progress() {}             // called in every turn: other ranks may wait for this sink
  virtual bool ready() { return true; }  // whether consume() may be called now
  // `covered`: the extents of the whole domain with data; those outside the window are ignored. May return before the
  // window is written: the slot belongs to the sink until done() counts it.
  virtual void consume(int64_t step, const Window& window, const std::byte* slot, PieceView covered) = 0;
  virtual int64_t done() const = 0;  // windows finished in this run, in the order of consume()
  virtual bool finished() { return true; }
  virtual bool is_asynchronous() const { return false; }  // continues without calls from the engine, in a thread
  virtual Status status() const { return {}; }
};

// Supplies the windows of a distributor.
class Fetcher {
 public:
  virtual ~Fetcher() = default;
  virtual bool ready() { return true; }  // whether start() may be called now
  virtual void start(int64_t step, const Window& window, std::byte* slot, PieceView covered) = 0;
  virtual int64_t done() = 0;  // windows fetched in this run, in the order of start()
  virtual Status status() const { return {}; }
};

// The extents that overlap the part of a window, clipped to it.
template <class Visit>
void for_each_covered(PieceView covered, Extent part, Visit&& visit) {
  for_each_piece(covered, part, [&](const Piece& piece) { visit(Extent{piece.file, piece.file + piece.length}); });
}

// A few message buffers and their requests.
class MessagePool {
 public:
  static constexpr int k_none = -1;
  // The buffer of a packed message and that of its frame; k_none: no frame.
  struct Parcel {
    int packed = k_none, frame = k_none;
  };
  // `coded`: a message needs two buffers while it is encoded.
  void prepare(int buffers, int64_t bytes_each, bool coded = false);
  int64_t buffer_bytes() const noexcept { return static_cast<int64_t>(requests_.size()) * bytes_; }
  void begin(std::byte* buffers) noexcept { memory_ = buffers; }
  int take();  // a free buffer, or k_none
  // false: too few are free, and none is taken. Without `coded`, the limit is that of a pool without coding
  bool take(bool coded, Parcel& parcel);
  // Encodes the packed message of `bytes`. Returns the buffer with the message to send and frees the other. `bytes`: of
  // that message.
  int encode_parcel(Coder& coder, Traffic& traffic, const Parcel& parcel, int64_t& bytes);
  std::byte* buffer(int index) { return memory_ + static_cast<int64_t>(index) * bytes_; }
  MPI_Request* request(int index) { return &requests_[static_cast<size_t>(index)]; }
  // Tests all requests; fills `done` with the completed buffers and frees them if `release`.
  int test(std::span<const int>& done, bool release);
  // Bytes, or k_too_long; of a completed buffer.
  int64_t received(int index) const noexcept { return counts_[static_cast<size_t>(index)]; }
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
inline constexpr int k_coding_buffers = 3;  // one in flight, one packed, one for the frame
inline constexpr int k_eager_ranks = 64;

}  // namespace windrow
