// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/relay.hpp"

namespace windrow {

void ForwardSink::prepare(int64_t largest_message) {
  route_.traffic.resize(route_.ranks.size());
  for (size_t i = 0; i < route_.ranks.size(); ++i)
    outbox_.add(route_.traffic[i], route_.ranks[i], route_.element_bytes);
  outbox_.prepare(largest_message);
}

void ForwardSink::begin(std::byte* buffers) noexcept {
  outbox_.begin(buffers);
  consumed_ = 0;
  message_ = {};
  for (Traffic& traffic : route_.traffic)
    traffic.begin();
}

void ForwardSink::progress() {
  bool moved = false;
  status_.update(mpi_status(outbox_.test(moved), "MPI_Testsome"));
  Outbox::Parcel parcel;
  while (message_.bytes > 0 && status_.ok() && outbox_.take(parcel)) {
    const int64_t bytes = collect_from_slot(route_.team, message_.part, slot_, outbox_.packed(parcel));
    trace_.bytes_copied += bytes;
    status_.update(mpi_status(outbox_.send(route_.traffic[route_.grid.domain_of(step_)], parcel, bytes), "MPI_Isend"));
    message_ = message_after(route_.team.span(), window_, message_);
    if (message_.bytes == 0)
      ++consumed_;
  }
  if (!status_.ok() && message_.bytes > 0)
    message_ = {}, ++consumed_;
}

void ForwardSink::consume(int64_t step, const Window& window, const std::byte* slot, PieceView) {
  step_ = step;
  window_ = window;
  slot_ = slot;
  message_ = first_message(route_.team.span(), window);
  if (message_.bytes == 0)
    ++consumed_;
  progress();
}

bool ForwardSink::finished() {
  progress();
  return (message_.bytes == 0 && outbox_.idle()) || !status_.ok();
}

// Posts the receives of the window's messages while buffers are free.
void ForwardFetcher::await() {
  while (message_.bytes > 0 && status_.ok()) {
    const int index = pool_.take();
    if (index == MessagePool::k_none)
      return;
    const int64_t room = coder_.codes(rank_) ? coder_.room(message_.bytes) : message_.bytes;
    bool too_long = false;
    status_.update(mpi_status(
        post_receive(pool_.buffer(index), room, rank_, k_tag_data, comm_.get(), *pool_.request(index), too_long),
        "MPI_Irecv"));
    if (too_long) {
      coder_.check_length(rank_, k_too_long, message_.bytes);
      pool_.release(index);
    }
    awaited_[static_cast<size_t>(index)] = message_;
    message_ = message_after(route_.team.span(), window_, message_);
  }
}

void ForwardFetcher::start(int64_t step, const Window& window, std::byte* slot, PieceView) {
  window_ = window;
  slot_ = slot;
  ++started_;
  rank_ = route_.ranks[route_.grid.domain_of(step)];
  message_ = first_message(route_.team.span(), window);
  await();
}

int64_t ForwardFetcher::done() {
  if (started_ == arrived_)
    return arrived_;
  std::span<const int> done;
  status_.update(mpi_status(pool_.test(done, false), "MPI_Testsome"));
  if (!status_.ok())
    return arrived_ = started_;
  for (const int index : done) {
    const Message& awaited = awaited_[static_cast<size_t>(index)];
    const std::byte* message = pool_.buffer(index);
    if (coder_.codes(rank_))
      message = coder_.decode(rank_, message, pool_.received(index), awaited.bytes);
    else
      coder_.check_length(rank_, pool_.received(index), awaited.bytes);
    trace_.bytes_copied += spread_to_slot(route_.team, awaited.part, message, slot_);
    pool_.release(index);
  }
  await();
  if (message_.bytes == 0 && pool_.idle())
    arrived_ = started_;
  return arrived_;
}

}  // namespace windrow
