// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/relay.hpp"

namespace windrow {

void ForwardSink::poll() {
  std::span<const int> done;
  status_.update(mpi_status(pool_.test(done, true), "MPI_Testsome"));
}

bool ForwardSink::ready() {
  if (taken_ != MessagePool::k_none) return true;
  poll();
  taken_ = pool_.take();
  return taken_ != MessagePool::k_none;
}

void ForwardSink::consume(int64_t step, Extent window, const std::byte* slot, PieceView) {
  const int64_t bytes = collect_from_slot(route_.team, window, slot, pool_.buffer(taken_));
  const int rank = route_.ranks[route_.grid.domain_of(step)];
  status_.update(mpi_status(MPI_Isend(pool_.buffer(taken_), static_cast<int>(bytes), MPI_BYTE, rank, k_tag_data, comm_.get(),
                                      pool_.request(taken_)),
                            "MPI_Isend"));
  if (rank != comm_.rank()) {
    ++trace_.messages;
    trace_.message_bytes += bytes;
  }
  trace_.bytes_copied += bytes;
  taken_ = MessagePool::k_none;
  ++consumed_;
}

bool ForwardSink::finished() {
  if (taken_ != MessagePool::k_none) {
    pool_.release(taken_);
    taken_ = MessagePool::k_none;
  }
  poll();
  return pool_.idle() || !status_.ok();
}

void ForwardFetcher::start(int64_t step, Extent window, std::byte* slot, PieceView) {
  window_ = window;
  slot_ = slot;
  ++started_;
  const int index = pool_.take();
  const int64_t bytes = bytes_in(route_.team.span(), window);
  status_.update(mpi_status(MPI_Irecv(pool_.buffer(index), static_cast<int>(bytes), MPI_BYTE, route_.ranks[route_.grid.domain_of(step)],
                                      k_tag_data, comm_.get(), pool_.request(index)),
                            "MPI_Irecv"));
}

int64_t ForwardFetcher::done() {
  if (started_ == arrived_) return arrived_;
  std::span<const int> done;
  status_.update(mpi_status(pool_.test(done, false), "MPI_Testsome"));
  if (!status_.ok()) return arrived_ = started_;
  if (done.empty()) return arrived_;
  trace_.bytes_copied += spread_to_slot(route_.team, window_, pool_.buffer(done[0]), slot_);
  pool_.release(done[0]);
  return ++arrived_;
}

}  // namespace windrow
