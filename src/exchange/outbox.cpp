// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/outbox.hpp"

#include <utility>

namespace windrow {

static_assert(k_message_buffers <= k_coding_buffers);

void Outbox::add(Traffic& traffic, int rank, int element_bytes) {
  traffic.rank = rank;
  traffic.element_bytes = element_bytes;
  coder_.add(traffic);
  coded_ = coded_ || traffic.coded;
}

void Outbox::prepare(int64_t largest) {
  coder_.expect(largest);
  pool_.prepare(k_message_buffers, coder_.room(largest), coded_);
}

int Outbox::test(bool& moved) {
  std::span<const int> done;
  const int code = pool_.test(done, true);
  moved = !done.empty();
  for (const int index : done)
    if (const Sent sent = std::exchange(sent_[static_cast<size_t>(index)], {}); sent.traffic != nullptr)
      coder_.took(*sent.traffic, sent.bytes, seconds_now() - sent.begin);
  return code;
}

int Outbox::send(Traffic& traffic, Parcel parcel, int64_t bytes, bool waits) {
  const bool to_another = traffic.rank != comm_.rank();
  if (to_another)
    trace_.message_bytes_before_codec += bytes;
  if (!traffic.coded && parcel.frame != MessagePool::k_none)
    pool_.release(std::exchange(parcel.frame, MessagePool::k_none));
  const bool coded = parcel.frame != MessagePool::k_none;
  if (coded && pool_.used() > 2) {  // the test gives MPI a chance to progress, and shows which messages are in flight
    bool gone = false;
    if (const int code = test(gone); code != MPI_SUCCESS)
      return code;
    if (pool_.used() > 2)
      ++trace_.messages_overlapped;
  }
  const int index = pool_.encode_parcel(coder_, traffic, parcel, bytes);
  // Measures the time until a message is received, not until it is passed to the system.
  const bool measured = coded && traffic.link != nullptr && coder_.times(bytes);
  if (measured)
    sent_[static_cast<size_t>(index)] = {&traffic, bytes, seconds_now()};
  const auto call = waits || measured ? MPI_Issend : MPI_Isend;
  const int code = call(pool_.buffer(index), static_cast<int>(bytes), MPI_BYTE, traffic.rank, tag_, comm_.get(),
                        pool_.request(index));
  if (code == MPI_SUCCESS && to_another) {
    ++trace_.messages;
    trace_.message_bytes += bytes;
  }
  return code;
}

}  // namespace windrow
