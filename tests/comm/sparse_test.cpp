// SPDX-License-Identifier: BSD-3-Clause
#include "comm/sparse.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <random>

#include "../damage.hpp"
#include "comm/agree.hpp"
#include "comm/host_messages.hpp"

namespace windrow {
namespace {

std::shared_ptr<Comm> world() {
  return Comm::of(MPI_COMM_WORLD).value();
}

// The senders and receivers of a round are the same on every rank, because all use the same seed.
std::vector<std::vector<bool>> random_graph(int size, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::vector<bool>> graph(static_cast<size_t>(size), std::vector<bool>(static_cast<size_t>(size)));
  for (auto& row : graph)
    for (size_t i = 0; i < row.size(); ++i)
      row[i] = random() % 3 == 0;
  return graph;
}

TEST(ExchangeLetters, delivers_each_once_in_many_rounds) {
  const auto comm = world();
  const int me = comm->rank(), size = comm->size();
  const auto message_of = [](int from, int to, unsigned round) {
    // Some are short and travel with their notice, some are not; in some rounds all are short.
    const size_t length = (static_cast<size_t>(from * 7 + to * 3) * round * (round % 3)) % 9000;
    return std::vector<std::byte>(length, static_cast<std::byte>(from * 16 + to + static_cast<int>(round)));
  };
  for (unsigned round = 0; round < 50; ++round) {
    const auto graph = random_graph(size, round);
    std::vector<SparseMessage> out, in, expected;
    for (int peer = 0; peer < size; ++peer) {
      if (graph[static_cast<size_t>(me)][static_cast<size_t>(peer)])
        out.push_back({peer, message_of(me, peer, round)});
      if (graph[static_cast<size_t>(peer)][static_cast<size_t>(me)])
        expected.push_back({peer, message_of(peer, me, round)});
    }
    for (const auto exchange : {sparse_exchange, sparse_exchange_by_messages, sparse_exchange_by_host}) {
      MessageCounters counters;
      ASSERT_TRUE(exchange(*comm, Status{}, out, in, counters).ok());
      ASSERT_EQ(in.size(), expected.size());
      for (size_t i = 0; i < in.size(); ++i) {
        EXPECT_EQ(in[i].peer, expected[i].peer);
        EXPECT_EQ(in[i].bytes, expected[i].bytes);
      }
    }
  }
}

// Of the last exchange by messages. It is left as it is: ranks that still poll in that exchange must not see the
// notices of the next.
int parity_of(Comm& comm) {
  comm.next_parity();
  return comm.next_parity();
}

// Messages of one rank that just fit into its memory limit, and messages that do not.
TEST(ExchangeLetters, delivers_what_one_rank_alone_has_no_room_for) {
  const auto comm = world();
  const int size = comm->size();
  const auto most = static_cast<size_t>(most_message_bytes(size) / size);
  for (const size_t length : {most, most + 1, most})
    for (int writer = 0; writer < size; ++writer)
      for (int round = 0; round < 3; ++round) {
        std::vector<SparseMessage> out, in;
        for (int peer = 0; peer < size; ++peer)
          out.push_back({peer, std::vector<std::byte>(comm->rank() == writer ? length : 3U,
                                                      static_cast<std::byte>(comm->rank() + round))});
        MessageCounters counters;
        const int before = parity_of(*comm);
        ASSERT_TRUE(sparse_exchange(*comm, Status{}, out, in, counters).ok());
        EXPECT_EQ(parity_of(*comm) == before, comm->rounds().has_room() && length <= most) << length;
        ASSERT_EQ(in.size(), static_cast<size_t>(size));
        EXPECT_EQ(counters.messages, size - 1);
        for (const SparseMessage& message : in)
          EXPECT_EQ(message.bytes, std::vector<std::byte>(message.peer == writer ? length : 3U,
                                                          static_cast<std::byte>(message.peer + round)));
      }
}

// After the ranks were in different calls, which is an error on all, no rank reads messages of before.
TEST(ExchangeLetters, are_none_of_before_after_a_mistake) {
  const auto comm = world();
  if (!comm->rounds().has_room())
    GTEST_SKIP() << "a sparse exchange uses messages";
  MessageCounters counters;
  std::vector<SparseMessage> in;
  std::mt19937 random(3 + static_cast<unsigned>(comm->rank()));
  for (int round = 0; round < 30; ++round) {
    const auto byte = static_cast<std::byte>(round);
    ASSERT_TRUE(sparse_exchange(*comm, Status{},
                                std::vector<SparseMessage>{{(comm->rank() + 1) % comm->size(), {byte}}}, in, counters)
                    .ok());
    ASSERT_EQ(in.size(), 1U);
    ASSERT_EQ(in.front().bytes, std::vector<std::byte>{byte});
    usleep(static_cast<useconds_t>(random() % 300));
    if (round % 3 != 0)
      continue;
    const Status status = comm->rank() == round % comm->size() ? agree(*comm, Status{})
                                                               : sparse_exchange(*comm, Status{}, {}, in, counters);
    ASSERT_EQ(status.code(), Code::mpi);
  }
}

TEST(ExchangeLetters, by_host_fails_on_all_ranks_when_one_has_failed) {
  const auto comm = world();
  for (int victim = 0; victim < comm->size(); ++victim) {
    const std::vector<SparseMessage> out{{0, std::vector<std::byte>(10)}};
    std::vector<SparseMessage> in;
    MessageCounters counters;
    Status local = comm->rank() == victim ? Status{Code::out_of_memory, "none left"} : Status{};
    EXPECT_EQ(sparse_exchange_by_host(*comm, std::move(local), out, in, counters).code(), Code::out_of_memory);
    EXPECT_TRUE(in.empty());
  }
}

TEST(ExchangeLetters, delivers_empty_and_long_letters) {
  const auto comm = world();
  const int me = comm->rank(), size = comm->size();
  std::vector<SparseMessage> out, in;
  for (int peer = 0; peer < size; ++peer) {
    const size_t length = peer % 2 == 0 ? 0 : 300'000U + static_cast<size_t>(me);
    out.push_back({peer, std::vector<std::byte>(length, static_cast<std::byte>(me))});
  }
  for (const auto exchange : {sparse_exchange, sparse_exchange_by_messages}) {
    MessageCounters counters;
    ASSERT_TRUE(exchange(*comm, Status{}, out, in, counters).ok());
    ASSERT_EQ(static_cast<int>(in.size()), size);
    for (const SparseMessage& message : in) {
      const size_t length = me % 2 == 0 ? 0 : 300'000U + static_cast<size_t>(message.peer);
      EXPECT_EQ(message.bytes, std::vector<std::byte>(length, static_cast<std::byte>(message.peer)));
    }
    EXPECT_EQ(counters.messages, size - 1);
  }
}

TEST(ExchangeLetters, a_rank_that_failed_fails_all) {
  const auto comm = world();
  for (int victim = 0; victim < comm->size(); ++victim)
    for (const auto exchange : {sparse_exchange, sparse_exchange_by_messages}) {
      std::vector<SparseMessage> out{{0, std::vector<std::byte>(10)}}, in;
      MessageCounters counters;
      const Status verdict =
          exchange(*comm, comm->rank() == victim ? Status{Code::out_of_memory, "none"} : Status{}, out, in, counters);
      EXPECT_EQ(verdict.code(), Code::out_of_memory);
      EXPECT_TRUE(in.empty());
    }
}

// A length that is not that of the bytes that came with it: all ranks refuse, and the next exchange works.
TEST(ExchangeLetters, a_malformed_notice_fails_all) {
  const auto comm = world();
  const auto with_length = [](int64_t size, size_t bytes) {
    std::vector<std::byte> notice(bytes);
    if (bytes > 0)
      std::memcpy(notice.data(), &size, std::min(bytes, sizeof size));
    return notice;
  };
  for (const auto& notice : {with_length(24, 1000), with_length(1000, 24), with_length(-1, 8), with_length(0, 4),
                             with_length(0, 0), with_length(5000, 100), with_length(INT64_MAX, 9)}) {
    const int tag = k_tag_notice + comm->next_parity();
    comm->next_parity();  // the exchange comes to the same
    MPI_Request request = MPI_REQUEST_NULL;
    if (comm->rank() == comm->size() - 1)
      MPI_Issend(notice.data(), static_cast<int>(notice.size()), MPI_BYTE, 0, tag, comm->get(), &request);
    // It arrives before any rank enters the consensus.
    for (int there = comm->rank() == 0 ? 0 : 1; there == 0;)
      MPI_Iprobe(comm->size() - 1, tag, comm->get(), &there, MPI_STATUS_IGNORE);
    std::vector<SparseMessage> in;
    MessageCounters counters;
    const Status status = sparse_exchange_by_messages(*comm, Status{}, {}, in, counters);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_EQ(status.code(), Code::internal) << notice.size();
    EXPECT_NE(status.message().find("notice"), std::string::npos) << status.message();
    ASSERT_TRUE(sparse_exchange_by_messages(*comm, Status{}, {}, in, counters).ok());
    ASSERT_TRUE(sparse_exchange_by_messages(*comm, Status{}, {}, in, counters).ok());
  }
}

// Descriptions and their notices that are not as long as they say: an error, on those ranks at least that they came to,
// and nothing of it is left for the next exchange.
TEST(ExchangeLetters, takes_what_is_damaged_and_says_so) {
  using windrow_test::Damage;
  const auto comm = world();
  MPI_Comm_set_errhandler(
      MPI_COMM_WORLD,
      MPI_ERRORS_RETURN);  // if a message is too long, MPICH calls this error handler, for any communicator
  std::vector<SparseMessage> in;
  MessageCounters counters;
  for (const std::vector<int>& tags :
       {std::vector<int>{k_tag_notice, k_tag_notice + 1}, std::vector<int>{k_tag_description}})
    for (const Damage kind : {Damage::shorter, Damage::longer, Damage::much_longer})
      for (const bool all : {false, true})
        for (const auto exchange : {sparse_exchange_by_messages, sparse_exchange_by_host}) {
          const auto messages = [&] {
            std::vector<SparseMessage> out;
            for (int peer = 0; peer < comm->size(); ++peer)
              out.push_back({peer, std::vector<std::byte>(peer % 2 == 0 ? 50000 : 30, std::byte{3})});
            return out;
          }();
          windrow_test::damaged_tags = tags;
          windrow_test::damaged_messages = 0;
          if (all || comm->rank() == comm->size() - 1)
            windrow_test::damage = kind;
          Status status = exchange(*comm, Status{}, messages, in, counters);
          windrow_test::damage = Damage::none;
          int damaged = 0;
          MPI_Allreduce(&windrow_test::damaged_messages, &damaged, 1, MPI_INT, MPI_SUM, comm->get());
          status = agree(*comm, std::move(status));
          EXPECT_EQ(status.code(), damaged > 0 ? Code::internal : Code::ok) << status.message();
          if (exchange == sparse_exchange_by_messages && comm->size() > 2) {
            EXPECT_GT(damaged, 0);
          }
          ASSERT_TRUE(agree(*comm, exchange(*comm, Status{}, messages, in, counters)).ok());
          ASSERT_EQ(in.size(), static_cast<size_t>(comm->size()));
          for (const SparseMessage& message : in)
            EXPECT_EQ(message.bytes.size(), comm->rank() % 2 == 0 ? 50000U : 30U);
        }
}

}  // namespace
}  // namespace windrow
