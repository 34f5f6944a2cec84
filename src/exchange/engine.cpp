// SPDX-License-Identifier: BSD-3-Clause
// The loop that calls the roles of this rank in turn.
#include "exchange/engine.hpp"

#include <new>
#include <utility>

#include "comm/backoff.hpp"
#include "comm/wait.hpp"

namespace windrow {
namespace {

// Redirects the counters of roles to the caller's trace for one call: a transfer may serve several files.
class TraceRedirect {
 public:
  TraceRedirect(Trace& of, Trace& to) noexcept : of_(of), to_(to) { to_ = of_; }
  ~TraceRedirect() { of_ = to_; }
  TraceRedirect(const TraceRedirect&) = delete;
  TraceRedirect& operator=(const TraceRedirect&) = delete;

 private:
  Trace& of_;
  Trace& to_;
};

}  // namespace

Status Arena::reserve(int64_t bytes, Trace& trace) {
  if (bytes <= bytes_)
    return {};
  if (!is_lost_)
    ::operator delete[](memory_, std::align_val_t{k_buffer_alignment});
  memory_ = nullptr;
  is_lost_ = false;
  bytes_ = 0;
  void* memory = ::operator new[](static_cast<size_t>(bytes), std::align_val_t{k_buffer_alignment}, std::nothrow);
  if (memory == nullptr)
    return {Code::out_of_memory, "out of memory: cannot allocate the buffers of an exchange"};
  memory_ = static_cast<std::byte*>(memory);
  bytes_ = bytes;
  ++trace.allocations;
  return {};
}

void Arena::take_from(Comm& comm) {
  const std::shared_ptr<void>& kept = comm.attachment(Comm::Remembered::arena);
  if (memory_ != nullptr || kept == nullptr)
    return;
  Arena& left = *static_cast<Arena*>(kept.get());
  std::swap(memory_, left.memory_);
  std::swap(bytes_, left.bytes_);
}

void Arena::leave_to(Comm& comm) {
  constexpr int64_t k_most_kept = int64_t{16} << 20;
  std::shared_ptr<void>& kept = comm.attachment(Comm::Remembered::arena);
  if (is_lost_ || bytes_ > k_most_kept)
    return;
  if (kept == nullptr)
    kept = std::make_shared<Arena>();
  Arena& left = *static_cast<Arena*>(kept.get());
  if (left.bytes_ >= bytes_)
    return;
  std::swap(memory_, left.memory_);
  std::swap(bytes_, left.bytes_);
}

Arena::~Arena() {
  if (!is_lost_)
    ::operator delete[](memory_, std::align_val_t{k_buffer_alignment});
}

int64_t Transfer::buffer_bytes() const noexcept {
  int64_t bytes = 0;
  for (const auto& role : roles_)
    bytes += role->buffer_bytes();
  if (forward_sink_)
    bytes += forward_sink_->buffer_bytes();
  if (forward_fetcher_)
    bytes += forward_fetcher_->buffer_bytes();
  return bytes;
}

template <class Done>
void Transfer::turn_until(Done&& done) {
  const bool by_messages = comm_.host_roots().size() > 1;
  for (Backoff backoff(by_messages ? ranks_per_core(comm_.machine_size()) : 1);;) {
    bool moved = false, all = true;
    const auto turn = [&](Role& role) {
      if (done(role))
        return;
      moved = role.step() || moved;
      all = done(role) && all;
    };
    for (auto& role : roles_)
      turn(*role);
    if (background_ != nullptr)
      turn(*background_);
    if (all)
      return;
    if (moved)
      backoff.reset();
    else
      backoff.wait();
  }
}

void Transfer::begin(std::span<const Item> items, Arena& arena, const Ends& ends, const CodecOrder& order,
                     Trace& trace) {
  const TraceRedirect redirect(trace, trace_);
  background_ = ends.background;
  comm_.wait_for_holder();  // the last windows of another file may still be in the host's shared memory
  coder_->begin(order);
  comm_.next_generation();  // on every rank in every run, so that generations stay equal
  arena_ = &arena;
  std::byte* buffers = arena.data();
  if (forward_sink_)
    forward_sink_->begin(std::exchange(buffers, buffers + forward_sink_->buffer_bytes()));
  if (forward_fetcher_)
    forward_fetcher_->begin(std::exchange(buffers, buffers + forward_fetcher_->buffer_bytes()));
  for (Collector* collector : storing_)
    collector->set_sink(&ends.sink);
  for (Distributor* distributor : fetching_)
    distributor->set_fetcher(&ends.fetcher);
  if (broadcasting_ != nullptr)
    broadcasting_->set_fetcher(&ends.fetcher);
  for (auto& role : roles_)
    role->begin(items, std::exchange(buffers, buffers + role->buffer_bytes()));
  turn_until([](const Role& role) { return role.released(); });
  coder_->end();
}

void Transfer::visit_traffic(const std::function<void(const Traffic&)>& visit) const {
  for (const auto& role : roles_)
    role->visit_traffic(visit);
  if (forward_sink_)
    for (const Traffic& traffic : route_->traffic)
      if (traffic.rank != comm_.rank())
        visit(traffic);
}

Status Transfer::end(Trace& trace) {
  const TraceRedirect redirect(trace, trace_);
  turn_until([](const Role& role) { return role.finished(); });
  Status status;
  const auto take = [&](const Status& each) {
    if (each.code() == Code::mpi)
      arena_->lose();  // an operation that it started may still be pending
    status.update(each);
  };
  for (auto& role : roles_)
    take(role->status());
  if (forward_sink_)
    take(forward_sink_->status());
  if (forward_fetcher_)
    take(forward_fetcher_->status());
  status.update(coder_->status());
  return status;
}

}  // namespace windrow
