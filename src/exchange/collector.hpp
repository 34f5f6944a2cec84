// SPDX-License-Identifier: BSD-3-Clause
// Collector: the write role of an aggregator. It receives the pieces of each window of a grid from its sources, copies
// them into a slot and passes the full window to a sink: the storage, or the next rank. It has several slots, so one
// fills while another is written. Sources on the same host copy into the slots themselves if these are in shared
// memory.
//
//   slot of a collector                                 waits for
//   free (step < 0)
//     | next window in order: posts the receives,
//     | publishes the token if slots are shared
//   filling                                             a message or the count of each peer
//     | all messages received, count complete
//   full                                                earlier windows, and Sink::ready()
//     | Sink::consume(), in the order of the grid
//   handed                                              Sink::done()
//     | in the order of the grid
//   free
// Messages come from Sender or ForwardSink, counts from Copier.
//
// No deadlock: windows are opened in the order in which senders send. The senders of the lowest window that is not full
// are therefore never blocked by messages of a later window.
#pragma once

#include <vector>

#include "exchange/message.hpp"
#include "exchange/role.hpp"
#include "exchange/shared_slots.hpp"
#include "exchange/view.hpp"
#include "exchange/walker.hpp"

namespace windrow {

struct Peer {
  int rank = 0;
  View view;
  bool shared = false;              // copies into or out of shared slots itself; sends no messages
  std::vector<WindowBytes> counts;  // of a shared peer without a view: ascending steps
  int element_bytes = 1;
  Traffic traffic = {};  // to the peer, if it reads
};

// The bytes that all shared peers together copy in each window. Sorted by step, without zeros.
std::vector<WindowBytes> shared_counts(const Grid& grid, PieceView covered, std::span<const Peer> peers);
// Bytes of each window that must become full which come neither from peers nor from own items. Ranks of the host copy
// them.
std::vector<WindowBytes> missing_counts(const Grid& grid, PieceView covered, std::span<const Peer> peers,
                                        std::span<const Item> own);
int64_t bytes_at(std::span<const WindowBytes> counts, int64_t step) noexcept;

// What an aggregator serves.
struct ServedGrid {
  Grid grid;
  std::vector<Peer> peers;
  std::span<const Item> own;  // this rank's items if it is a source or requester itself; otherwise empty
  int tag = 0;                // of the messages with the peers
};

// The load of a collector or a distributor, computed in advance.
struct ServeForecast {
  int64_t windows = 0;
  int64_t messages = 0;        // to or from peers
  int64_t largest_window = 0;  // bytes of a buffer up to the last covered byte
  int64_t largest_remote = 0;  // bytes of one window that peers contribute
  int64_t largest_message = 0;
  int64_t most_messages = 0;  // in one window
};

class Collector final : public Role {
 public:
  Collector(const TransferContext& context, ServedGrid served);
  void set_sink(Sink* sink) noexcept { sink_ = sink; }
  // Before prepare(). `most`: number of slots without shared memory. `least`: minimum bytes of a slot.
  void set_slots(int64_t most, SharedSlots shared, int64_t least) noexcept {
    most_slots_ = most, shared_ = shared, least_slot_ = least;
  }
  void set_regions(Pieces regions, bool whole) noexcept { covered_ = std::move(regions), whole_ = whole; }
  Status prepare() override;
  int64_t buffer_bytes() const override { return buffer_bytes_; }
  void begin(std::span<const Item> items, std::byte* buffers) override;
  bool step() override;
  bool finished() const override;
  bool released() const override {
    return finished() || (sink_ != nullptr && sink_->is_asynchronous() && front_step_ >= grid_.steps());
  }
  const ServeForecast& expected() const noexcept { return forecast_; }
  PieceView covered() const noexcept { return covered_; }
  const Grid& grid() const noexcept { return grid_; }

 private:
  struct Awaited {
    size_t peer = 0;
    Message message;
    std::byte* place = nullptr;  // receive buffer
    // final place of the whole message, possibly the same; nullptr: it is spread over the window
    std::byte* final = nullptr;
  };
  struct Slot {
    std::byte* memory = nullptr;
    std::byte* staging = nullptr;
    int64_t step = -1;  // -1: free
    Window window;
    int pending = 0;                    // number of messages
    int64_t shared_bytes = 0;           // bytes that ranks of this host copy here
    std::vector<MPI_Request> requests;  // [messages]
    std::vector<Awaited> awaited;       // [messages]
    std::vector<int> done;
    std::vector<MPI_Status> statuses;  // [messages]
  };
  void open_windows();
  void decode(Slot& slot, const Awaited& awaited, int64_t count);
  void open(Slot& slot);
  bool await(Slot& slot, size_t message, int64_t room);
  bool receive(Slot& slot);
  bool pass_on();
  bool reclaim();
  bool is_full(const Slot& slot) const;
  Slot& slot_of(int64_t step) { return slots_[static_cast<size_t>(step) % slots_.size()]; }
  int64_t next(int64_t step) const;

  Coder& coder_;
  Grid grid_;
  std::vector<Peer> peers_;
  std::span<const Item> own_;
  int tag_;
  bool has_own_;
  Sink* sink_ = nullptr;
  Pieces covered_;
  ServeForecast forecast_;
  int64_t slot_bytes_ = 0, least_slot_ = 0;
  int64_t buffer_bytes_ = 0;
  int64_t most_slots_ = 1;
  SharedSlots shared_;
  bool whole_ = false;
  std::vector<WindowBytes> shared_bytes_;
  std::vector<Slot> slots_;  // the window of step s uses slot s % slots
  int64_t passed_on_ = 0;    // windows passed to the sink in this run
  int64_t reclaimed_ = 0;    // of those, windows whose slots are free again
  int64_t oldest_step_ = 0;  // the oldest window in the sink
  int64_t front_step_ = 0;   // the next window for the sink
  int64_t next_step_ = 0;    // the next window to open
};

// Walks a grid over everything that peers and own items hold.
ServeForecast forecast(const Grid& grid, std::span<const Peer> peers, std::span<const Item> own, PieceView covered);

// The first step from `step` on with covered bytes.
int64_t next_covered_step(const Grid& grid, PieceView covered, int64_t step);

// All that peers and own items hold, as maximal extents. If they hold as many bytes as `regions`, the result is
// `regions`: written bytes are disjoint, and for reads a few additional bytes are harmless. This saves a walk over all
// pieces.
Pieces covered_by(std::span<const Peer> peers, std::span<const Item> own, const Pieces& regions = {});

}  // namespace windrow
