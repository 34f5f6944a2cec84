// SPDX-License-Identifier: BSD-3-Clause
// Collector: receives the pieces of each window of a grid from its sources, puts them at their places in a slot and
// hands the full window to a sink: the storage, or the next rank. Several slots: one fills while another is handed on.
// Sources on the same host copy into the slots themselves where these lie in shared memory.
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
  bool shared = false;              // copies into or out of shared slots itself; no messages
  std::vector<WindowBytes> counts;  // of a shared peer whose view nobody needs: ascending steps
  int element_bytes = 1;
  Traffic traffic = {};  // to it, when it reads
};

// Of all shared peers together: how many bytes they will copy in the window of a step. Sorted by step, zeros left out.
std::vector<WindowBytes> shared_counts(const Grid& grid, PieceView covered, std::span<const Peer> peers);
// Of windows that will be full: what neither peers nor own items bring, and ranks of the host will copy.
std::vector<WindowBytes> missing_counts(const Grid& grid, PieceView covered, std::span<const Peer> peers,
                                        std::span<const Item> own);
int64_t bytes_at(std::span<const WindowBytes> counts, int64_t step) noexcept;

// What a collector or a distributor will serve, known beforehand.
struct ServeForecast {
  int64_t windows = 0;
  int64_t messages = 0;        // to or from peers
  int64_t largest_window = 0;  // bytes of a buffer up to the last that is covered
  int64_t largest_remote = 0;  // bytes of one window that come from peers
  int64_t largest_message = 0;
  int64_t most_messages = 0;  // of one window
};

class Collector final : public Role {
 public:
  // `own`: this rank's items when it is a source itself; empty otherwise. `covered`: of the whole grid.
  Collector(const Comm& comm, Trace& trace, Coder& coder, Grid grid, std::vector<Peer> peers, std::span<const Item> own,
            int tag);
  void set_sink(Sink* sink) noexcept { sink_ = sink; }
  // Before prepare(). `most`: where no memory is shared. `regions`: bytes of the file that the variables concerned
  // occupy. `least`: bytes that a slot has to hold, whatever of its window is covered.
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
    return finished() || (sink_ != nullptr && sink_->lasts() && front_step_ >= grid_.steps());
  }
  const ServeForecast& expected() const noexcept { return forecast_; }
  PieceView covered() const noexcept { return covered_; }
  const Grid& grid() const noexcept { return grid_; }

 private:
  struct Awaited {
    size_t peer = 0;
    Message message;
    std::byte* place = nullptr;  // where it is received
    std::byte* final = nullptr;  // where the whole of it will lie, which may be the same; nullptr: it is spread
  };
  struct Slot {
    std::byte* memory = nullptr;
    std::byte* staging = nullptr;
    int64_t step = -1;  // -1: free
    Window window;
    int pending = 0;                    // messages
    int64_t shared_bytes = 0;           // that ranks of this host will copy here
    std::vector<MPI_Request> requests;  // [messages]
    std::vector<Awaited> awaited;       // [messages]
    std::vector<int> done;
    std::vector<MPI_Status> statuses;  // [messages]
  };
  void look_ahead();
  void undo(Slot& slot, const Awaited& awaited, int64_t count);
  void open(Slot& slot);
  bool await(Slot& slot, size_t message, int64_t room);
  bool receive(Slot& slot);
  bool hand_on();
  bool take_back();
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
  std::vector<Slot> slots_;  // window of step s lies in slot s % slots
  int64_t handed_ = 0;       // windows given to the sink in this run
  int64_t taken_back_ = 0;   // of those, whose slots are free again
  int64_t back_step_ = 0;    // the oldest window that the sink still has
  int64_t front_step_ = 0;   // the window that is handed on next
  int64_t next_step_ = 0;    // the next window to open
};

// Walks a grid over everything that peers and own items hold.
ServeForecast forecast(const Grid& grid, std::span<const Peer> peers, std::span<const Item> own, PieceView covered);

// The first step from `step` on in which something is covered.
int64_t next_covered_step(const Grid& grid, PieceView covered, int64_t step);

// All that peers and own items hold, as maximal extents. When they hold as many bytes as `regions` have, it is the
// regions: what is written is disjoint, and of what is read a few bytes too many do no harm. That saves to look at each
// piece.
Pieces covered_by(std::span<const Peer> peers, std::span<const Item> own, const Pieces& regions = {});

}  // namespace windrow
