// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/relay.hpp"

#include <utility>

namespace windrow {

void ForwardSink::poll() {
  bool moved = false;
  status_.update(mpi_status(outbox_.test(moved), "MPI_Testsome"));
}

void ForwardSink::prepare(int64_t largest_message) {
  route_.traffic.resize(route_.ranks.size());
  for (size_t i = 0; i < route_.ranks.size(); ++i) outbox_.add(route_.traffic[i], route_.ranks[i], route_.element_bytes);
  outbox_.prepare(largest_message);
}

void ForwardSink::begin(std::byte* buffers) noexcept {
  outbox_.begin(buffers);
  consumed_ = 0;
  for (Traffic& traffic : route_.traffic) traffic.begin();
}

bool ForwardSink::ready() {
  if (taken_.packed != MessagePool::k_none) return true;
  poll();
  return outbox_.take(taken_);
}

void ForwardSink::consume(int64_t step, const Window& window, const std::byte* slot, PieceView) {
  const int64_t bytes = collect_from_slot(route_.team, window, slot, outbox_.packed(taken_));
  trace_.bytes_copied += bytes;
  status_.update(mpi_status(outbox_.send(route_.traffic[route_.grid.domain_of(step)], std::exchange(taken_, {}), bytes), "MPI_Isend"));
  ++consumed_;
}

bool ForwardSink::finished() {
  outbox_.give_back(taken_);
  poll();
  return outbox_.idle() || !status_.ok();
}

void ForwardFetcher::start(int64_t step, const Window& window, std::byte* slot, PieceView) {
  window_ = window;
  slot_ = slot;
  ++started_;
  const int index = pool_.take();
  bytes_ = bytes_in(route_.team.span(), window);
  rank_ = route_.ranks[route_.grid.domain_of(step)];
  const int64_t room = coder_.codes(rank_) ? coder_.room(bytes_) : bytes_;
  bool came_too_long = false;
  status_.update(mpi_status(post_receive(pool_.buffer(index), room, rank_, k_tag_data, comm_.get(), *pool_.request(index), came_too_long), "MPI_Irecv"));
  if (!came_too_long) return;
  coder_.check_length(rank_, k_too_long, bytes_);
  pool_.release(index);
  ++arrived_;
}

int64_t ForwardFetcher::done() {
  if (started_ == arrived_) return arrived_;
  std::span<const int> done;
  status_.update(mpi_status(pool_.test(done, false), "MPI_Testsome"));
  if (!status_.ok()) return arrived_ = started_;
  if (done.empty()) return arrived_;
  const std::byte* message = pool_.buffer(done[0]);
  if (coder_.codes(rank_))
    message = coder_.decode(rank_, message, pool_.received(done[0]), bytes_);
  else
    coder_.check_length(rank_, pool_.received(done[0]), bytes_);
  trace_.bytes_copied += spread_to_slot(route_.team, window_, message, slot_);
  pool_.release(done[0]);
  return ++arrived_;
}

}  // namespace windrow
