// SPDX-License-Identifier: BSD-3-Clause
// Broadcaster: one rank reads what all ranks want, and each window is sent to all of them. The items are the same on
// every rank, so all ranks know the windows without descriptions. If messages between hosts are never frames, one MPI
// broadcast delivers a window. Otherwise the reader encodes it once and sends it along a binomial tree of the hosts'
// lowest ranks. Each of them passes it on unchanged, decodes it and broadcasts it on its host, without frames even if
// messages carry checksums.
//
//   root                               lowest rank of another host     other rank
//   asked: waits for the fetcher       asked: waits for the parent     asked
//   sent: sends to its child hosts     sent: sends to its child hosts  sent
//     | MPI_Ibcast on the host           | MPI_Ibcast on the host        | MPI_Ibcast on the host
//     | waits for the broadcast and its own sends; then copies from the slot
//   taken: the slot is free            taken                           taken
#pragma once

#include <vector>

#include "exchange/role.hpp"
#include "exchange/walker.hpp"

namespace windrow {

class Broadcaster final : public Role {
 public:
  // `root`: the lowest rank of its host.
  Broadcaster(const TransferContext& context, std::span<const Item> items, int root, int64_t window_bytes);
  void set_fetcher(Fetcher* fetcher) noexcept { fetcher_ = fetcher; }
  Status prepare() override;
  int64_t buffer_bytes() const override { return k_windows * (slot_bytes_ + frame_bytes_); }
  void begin(std::span<const Item> items, std::byte* buffers) override;
  bool step() override;
  bool finished() const override { return broken_ || taken_step_ >= grid_.steps(); }
  void visit_traffic(const std::function<void(const Traffic&)>& visit) const override;
  const Grid& grid() const noexcept { return grid_; }
  PieceView covered() const noexcept { return covered_; }
  bool is_root() const noexcept { return comm_.rank() == root_; }
  int64_t expected_messages() const noexcept { return windows_ * static_cast<int64_t>(children_.size()); }

 private:
  static constexpr int64_t k_windows = 2;  // one is in flight while the next is read
  static constexpr int k_no_rank = -1;
  struct Slot {
    std::byte* memory = nullptr;  // for the window
    std::byte* frame = nullptr;   // the message to other hosts, if it differs from the window's bytes
    int64_t step = -1;            // -1: free
    std::byte* bytes = nullptr;   // in `memory`: the bytes for all ranks
    int64_t size = 0;
    bool arrived = false;  // from the parent
    int64_t received = 0;  // its bytes, or k_too_long
    int64_t sent = 0;      // bytes of each message to another host
    int pending = 0;       // requests that must complete before the memory is reused
  };
  // The requests of a slot, in order: the receive, the broadcast, and the sends to other hosts.
  enum Place : size_t {
    incoming = 0,
    relayed = 1,
    first_child = 2
  };
  size_t requests_each() const noexcept { return first_child + children_.size(); }
  size_t index_of(int64_t number) const noexcept { return static_cast<size_t>(number % k_windows); }
  Slot& slot_of(int64_t number) { return slots_[index_of(number)]; }
  size_t request_of(int64_t number, size_t place) const noexcept { return index_of(number) * requests_each() + place; }
  int64_t next(int64_t step) const;
  Extent used(int64_t step) const;  // of its window: from the first to the last covered byte
  void join_tree();
  bool test();
  bool ask();
  bool awaits() const noexcept { return tree_ && from_ != k_no_rank; }
  bool has_come(const Slot& slot) const;
  std::span<const std::byte> outgoing(Slot& slot);
  bool pass_on(Slot& slot);
  bool send();
  bool take();

  Coder& coder_;
  std::span<const Item> items_;
  int root_;
  bool by_host_;  // messages between hosts may be frames
  // in this run, windows are sent along the tree; otherwise by one MPI broadcast, as if there were no frames
  bool tree_ = false;
  int from_ = k_no_rank;           // the parent in the tree
  std::vector<Traffic> children_;  // to child hosts, largest subtree first
  Grid grid_;
  Pieces covered_;
  Fetcher* fetcher_ = nullptr;
  int64_t slot_bytes_ = 0, frame_bytes_ = 0, windows_ = 0;
  std::vector<Slot> slots_;
  std::vector<MPI_Request> requests_;
  std::vector<MPI_Status> statuses_;
  std::vector<int> done_;
  std::vector<double> began_;  // start of a message that is timed; otherwise 0
  // Windows of a run that were asked for, sent and taken; and the steps of the next to be asked for and taken.
  int64_t asked_ = 0, sent_ = 0, taken_ = 0;
  int64_t asked_step_ = 0, taken_step_ = 0;
};

}  // namespace windrow
