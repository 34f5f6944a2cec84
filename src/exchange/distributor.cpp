// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/distributor.hpp"

namespace windrow {

Distributor::Distributor(const Comm& comm, Trace& trace, Grid grid, std::vector<Peer> peers, std::span<const Item> own, int tag)
    : Role(comm, trace), grid_(std::move(grid)), peers_(std::move(peers)), own_(own), tag_(tag), has_own_(!own.empty()) {}

Status Distributor::prepare() {
  covered_ = covered_by(peers_, own_);
  forecast_ = forecast(grid_, peers_, own_, covered_);
  slot_bytes_ = aligned(forecast_.largest_window);
  pool_.prepare(k_message_buffers, forecast_.largest_message);
  return {};
}

void Distributor::begin(std::span<const Item> items, std::byte* buffers) {
  slot_ = buffers;
  pool_.begin(buffers + slot_bytes_);
  if (has_own_) own_ = items;
  step_ = next_covered_step(grid_, covered_, 0);
  open();
}

void Distributor::open() {
  if (step_ >= grid_.steps()) {
    state_ = State::done;
    return;
  }
  window_ = grid_.window(step_);
  next_peer_ = 0;
  ++trace_.rounds;
  fetcher_->start(step_, window_, slot_, covered_);
  state_ = State::fetching;
}

bool Distributor::step() {
  std::span<const int> done;
  if (!mpi_ok(pool_.test(done, true), "MPI_Testsome")) return true;
  bool moved = !done.empty();
  if (state_ == State::fetching && fetcher_->poll()) {
    if (has_own_) trace_.bytes_copied += take_from_slot(own_, window_, slot_);
    state_ = State::serving;
    moved = true;
  }
  if (state_ == State::serving) moved = serve() || moved;
  return moved;
}

bool Distributor::serve() {
  bool moved = false;
  for (; next_peer_ < peers_.size(); ++next_peer_) {
    const Peer& peer = peers_[next_peer_];
    if (bytes_in(peer.view.span(), window_) == 0) continue;
    const int index = pool_.take();
    if (index == MessagePool::k_none) return moved;
    const int64_t bytes = collect_from_slot(peer.view, window_, slot_, pool_.buffer(index));
    if (!mpi_ok(MPI_Isend(pool_.buffer(index), static_cast<int>(bytes), MPI_BYTE, peer.rank, tag_, comm_.get(), pool_.request(index)),
                "MPI_Isend"))
      return true;
    if (peer.rank != comm_.rank()) {
      ++trace_.messages;
      trace_.message_bytes += bytes;
    }
    trace_.bytes_copied += bytes;
    moved = true;
  }
  step_ = next_covered_step(grid_, covered_, step_ + 1);
  open();
  return true;
}

}  // namespace windrow
