// SPDX-License-Identifier: BSD-3-Clause
#include "comm/agree.hpp"
#include "comm/host_messages.hpp"
#include "comm/sparse.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <new>
#include <numeric>
#include <thread>
#include <vector>

namespace {

bool counts = false;
int sends = 0, reductions = 0;

}  // namespace

// In MPI's place, so that what an agreement costs a rank can be counted.
extern "C" {

int MPI_Isend(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  sends += counts ? 1 : 0;
  return PMPI_Isend(from, count, type, to, tag, comm, request);
}
int MPI_Iallreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* request) {
  reductions += counts ? 1 : 0;
  return PMPI_Iallreduce(from, to, count, type, op, comm, request);
}

}  // extern "C"

namespace windrow {
namespace {

std::shared_ptr<Comm> world() {
  return Comm::of(MPI_COMM_WORLD).value();
}

TEST(Agree, is_ok_when_all_are) {
  EXPECT_TRUE(agree(*world(), Status{}).ok());
}

TEST(Agree, names_the_failing_rank_on_every_rank) {
  const auto comm = world();
  for (int victim = 0; victim < comm->size(); ++victim) {
    const Status mine = comm->rank() == victim ? Status{Code::no_space, "write of 3 bytes: no space left"} : Status{};
    const Status verdict = agree(*comm, mine);
    EXPECT_EQ(verdict.code(), Code::no_space);
    if (comm->size() > 1) {
      EXPECT_EQ(verdict.rank(), victim);
      EXPECT_NE(verdict.message().find("write of 3 bytes: no space left (rank " + std::to_string(victim) + ", host"),
                std::string::npos)
          << verdict.message();
    }
  }
}

TEST(Agree, takes_the_worst_code_and_then_the_lowest_rank) {
  const auto comm = world();
  const Status mine =
      comm->rank() == 0 ? Status{Code::not_found, "mild"} : Status{Code::io, "rank " + std::to_string(comm->rank())};
  const Status verdict = agree(*comm, mine);
  EXPECT_EQ(verdict.code(), comm->size() == 1 ? Code::not_found : Code::io);
  if (comm->size() > 1) {
    EXPECT_EQ(verdict.rank(), 1);
  }
}

TEST(Agree, names_no_rank_when_all_fail_alike) {
  const auto comm = world();
  const Status verdict = agree(*comm, Status{Code::bad_argument, "wrong everywhere"});
  EXPECT_EQ(verdict.code(), Code::bad_argument);
  if (comm->size() > 1) {
    EXPECT_EQ(verdict.rank(), -1);
    EXPECT_EQ(verdict.message(), "wrong everywhere");
  }
}

TEST(Agree, combines_numbers_of_any_length) {
  const auto comm = world();
  const int64_t rank = comm->rank(), size = comm->size();
  for (size_t length : {size_t{0}, size_t{1}, size_t{7}, size_t{5000}}) {
    std::vector<int64_t> maximum(length, rank), sum(length, rank + 1), bits(length, int64_t{1} << (rank % 60));
    ASSERT_TRUE(agree(*comm, Status{}, {.maximum = maximum, .sum = sum, .bits = bits}).ok());
    for (size_t i = 0; i < length; ++i) {
      EXPECT_EQ(maximum[i], size - 1);
      EXPECT_EQ(sum[i], size * (size + 1) / 2);
      EXPECT_EQ(bits[i], (int64_t{1} << size) - 1);
    }
  }
}

// Of few numbers, which go through shared memory where there is some, and of many, which do not.
TEST(AgreeAndWork, gives_what_rank_0_makes_of_the_numbers_to_all) {
  const auto comm = world();
  for (const size_t length : {size_t{1}, size_t{5000}}) {
    int calls = 0;
    std::vector<int64_t> maximum(length, comm->rank()), sum(length, 1), bits(length, int64_t{1} << comm->rank());
    bool at_work = true;
    const Status verdict = agree_and_work(
        *comm, Status{}, {.maximum = maximum, .sum = sum, .bits = bits},
        [&](const Reduction& agreed) {
          ++calls;
          EXPECT_EQ(agreed.maximum.back(), comm->size() - 1);
          EXPECT_EQ(agreed.sum.back(), comm->size());
          EXPECT_EQ(agreed.bits.back(), (int64_t{1} << comm->size()) - 1);
          agreed.maximum.back() = 77;
          agreed.sum.back() = 78;
          agreed.bits.back() = 79;
          return Status{};
        },
        &at_work);
    EXPECT_TRUE(verdict.ok()) << verdict.message();
    EXPECT_FALSE(at_work);
    EXPECT_EQ(calls, comm->rank() == 0 ? 1 : 0);
    EXPECT_EQ(maximum.back(), 77);
    EXPECT_EQ(sum.back(), 78);
    EXPECT_EQ(bits.back(), 79);
  }
}

TEST(AgreeAndWork, tells_all_what_fails_of_the_work) {
  const auto comm = world();
  for (const bool throws : {false, true}) {
    bool at_work = false;
    const Status verdict = agree_and_work(
        *comm, Status{}, {},
        [&](const Reduction&) -> Status {
          if (throws)
            throw std::bad_alloc();
          return {Code::no_space, "no room for it"};
        },
        &at_work);
    EXPECT_EQ(verdict.code(), throws ? Code::out_of_memory : Code::no_space);
    EXPECT_TRUE(at_work);
    if (!throws) {
      EXPECT_NE(verdict.message().find("no room for it"), std::string::npos) << verdict.message();
    }
    EXPECT_EQ(verdict.rank(), 0);
  }
}

TEST(AgreeAndWork, does_nothing_where_a_rank_has_failed) {
  const auto comm = world();
  for (int victim = 0; victim < comm->size(); ++victim) {
    bool called = false, at_work = true;
    const Status mine = comm->rank() == victim ? Status{Code::io, "broken"} : Status{};
    const Status verdict = agree_and_work(
        *comm, mine, {}, [&](const Reduction&) { return called = true, Status{}; }, &at_work);
    EXPECT_EQ(verdict.code(), Code::io);
    EXPECT_FALSE(at_work);
    EXPECT_FALSE(called);
  }
}

// For any order of arrival and any call of rank 0, no rank waits forever.
TEST(AgreeAndWork, is_told_from_an_agreement) {
  const auto comm = world();
  if (comm->size() == 1)
    GTEST_SKIP() << "no other rank";
  for (int other = 0; other < comm->size(); ++other)
    for (const bool works : {false, true})
      for (int slow = 0; slow < comm->size(); ++slow) {
        ASSERT_TRUE(agree(*comm, Status{}).ok());
        if (comm->rank() == slow)
          std::this_thread::sleep_for(std::chrono::milliseconds(2));
        bool called = false;
        const bool does = (comm->rank() == other) == works;
        const Status verdict =
            does ? agree_and_work(*comm, Status{}, {}, [&](const Reduction&) { return called = true, Status{}; })
                 : agree(*comm, Status{});
        EXPECT_EQ(verdict.code(), Code::mpi);
        EXPECT_FALSE(called);
      }
}

// The same of ranks that came with numbers of other kinds, or more of them.
TEST(Agree, of_other_numbers_is_told) {
  const auto comm = world();
  if (comm->size() == 1 || !(comm->rounds().is_ready() || comm->tree().is_ready()))
    GTEST_SKIP() << "by messages of MPI, which does not look at it";
  for (int other = 0; other < comm->size(); ++other)
    for (const size_t length : {size_t{0}, size_t{1}, size_t{2}, size_t{900}, size_t{5000}})
      for (int slow = 0; slow < comm->size(); ++slow) {
        ASSERT_TRUE(agree(*comm, Status{}).ok());
        if (comm->rank() == slow)
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        std::vector<int64_t> one(1, 7), others(length, 3);
        const Status verdict = comm->rank() == other
                                   ? agree(*comm, Status{}, {.maximum = others, .sum = {}, .bits = {}})
                                   : agree(*comm, Status{}, {.maximum = {}, .sum = one, .bits = {}});
        ASSERT_EQ(verdict.code(), Code::mpi) << length << ' ' << verdict.message();
      }
  // A long one against two maxima, as arguments that must be the same are.
  std::vector<int64_t> two(2, 5), long_one(5000, 3);
  EXPECT_EQ(agree(*comm, Status{}, {.maximum = comm->rank() == 1 ? long_one : two, .sum = {}, .bits = {}}).code(),
            Code::mpi);
  EXPECT_TRUE(agree(*comm, Status{}).ok());
}

// Of several hosts only the lowest rank of each sends: to the host above it in the tree, and to those below.
TEST(Agree, costs_messages_between_hosts_alone) {
  const auto comm = world();
  if (comm->size() > 1 && !(comm->rounds().is_ready() || comm->tree().is_ready()))
    GTEST_SKIP() << "no memory to share";
  std::vector<int64_t> maximum(3, comm->rank()), sum(200, 1), bits(1, 0);
  counts = true;
  sends = reductions = 0;
  constexpr int k_times = 10;
  for (int i = 0; i < k_times; ++i) {
    EXPECT_TRUE(agree(*comm, Status{}, {.maximum = maximum, .sum = {}, .bits = bits}).ok());
    EXPECT_TRUE(agree_and_work(*comm, Status{}, {.maximum = {}, .sum = sum, .bits = {}}, [](const Reduction&) {
                  return Status{};
                }).ok());
  }
  counts = false;
  std::array<int, 2> all{sends, reductions};
  MPI_Allreduce(MPI_IN_PLACE, all.data(), 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  const auto hosts = static_cast<int>(comm->host_roots().size());
  EXPECT_EQ(all[0], 2 * k_times * 2 * (hosts - 1));
  EXPECT_EQ(all[1], 0);
  if (comm->host_root() != comm->rank()) {
    EXPECT_EQ(sends, 0);
  }
}

// Sums over every n-th rank, while the others wait in the following agreement.
TEST(SomeRanks, sum_what_they_have_while_the_others_go_on) {
  const auto comm = world();
  for (int spacing = 1; spacing <= comm->size() + 1; ++spacing)
    for (int count = 1; (count - 1) * spacing < comm->size(); ++count)
      for (const size_t length : {size_t{1}, HostRounds::k_most, HostRounds::k_most + 1}) {
        SomeRanks some(*comm, spacing, count, length);
        ASSERT_TRUE(agree(*comm, Status{}).ok());
        const bool all = !comm->rounds().is_ready() || length > HostRounds::k_most;  // then everybody takes part
        const bool mine = comm->rank() % spacing == 0 && comm->rank() / spacing < count;
        ASSERT_EQ(some.contain_me(), all || mine);
        for (int64_t round = 0; some.contain_me() && round < 20; ++round) {
          std::vector<int64_t> numbers(length, mine ? comm->rank() + round : 0);
          ASSERT_TRUE(some.sum(numbers).ok());
          const int64_t expected = count * round + int64_t{spacing} * count * (count - 1) / 2;
          ASSERT_EQ(numbers, std::vector<int64_t>(length, expected));
        }
        std::vector<int64_t> ranks(1, 1);
        ASSERT_TRUE(agree(*comm, Status{}, {.maximum = {}, .sum = ranks, .bits = {}}).ok());
        ASSERT_EQ(ranks.front(), comm->size());
      }
}

TEST(Agree, cuts_a_long_message_between_characters) {
  const auto comm = world();
  std::string text;
  for (int i = 0; i < 3000; ++i)
    text += "\xc3\xa4";  // a umlaut
  const Status verdict = agree(*comm, comm->rank() == 0 ? Status{Code::io, text} : Status{});
  const std::string& shown = verdict.message();
  const size_t umlauts = shown.find_first_not_of("\xc3\xa4");
  EXPECT_EQ((umlauts == std::string::npos ? shown.size() : umlauts) % 2, 0U);
}

TEST(ShareFromRoot, gives_rank_0s_bytes_to_all) {
  const auto comm = world();
  std::vector<std::byte> bytes;
  if (comm->rank() == 0)
    bytes.assign(100'000, std::byte{7});
  ASSERT_TRUE(share_from_root(*comm, Status{}, bytes).ok());
  EXPECT_EQ(bytes, std::vector<std::byte>(100'000, std::byte{7}));
}

// Words of every length that has another path, one after the other, with messages in between: none is confused with the
// previous one.
TEST(ShareFromRoot, gives_each_of_many_to_all) {
  const auto comm = world();
  const auto most = static_cast<size_t>(most_message_bytes(comm->size()));
  int round = 0;
  for (const size_t size : {size_t{0}, size_t{1}, size_t{255}, k_shared_at_once, k_shared_at_once + 1, most, most + 1,
                            size_t{3}, size_t{3}, most, size_t{0}, size_t{7}}) {
    const auto value = static_cast<std::byte>(++round);
    std::vector<std::byte> bytes;
    if (comm->rank() == 0)
      bytes.assign(size, value);
    std::array<int64_t, 3> numbers{comm->rank(), -comm->rank(), round};
    ASSERT_TRUE(share_from_root(*comm, Status{}, bytes, numbers).ok());
    EXPECT_EQ(bytes, std::vector<std::byte>(size, value)) << size;
    EXPECT_EQ(numbers, (std::array<int64_t, 3>{comm->size() - 1, 0, round}));
    std::vector<SparseMessage> out, in;
    if (comm->rank() > 0)
      out.push_back({.peer = 0, .bytes = std::vector<std::byte>(5, value)});
    MessageCounters counters;
    ASSERT_TRUE(sparse_exchange(*comm, Status{}, out, in, counters).ok());
    EXPECT_EQ(in.size(), comm->rank() == 0 ? static_cast<size_t>(comm->size() - 1) : 0);
    for (const SparseMessage& message : in)
      EXPECT_EQ(message.bytes, std::vector<std::byte>(5, value));
  }
}

TEST(ShareFromRoot, gives_rank_0s_error_to_all) {
  const auto comm = world();
  std::vector<std::byte> bytes;
  const Status verdict = share_from_root(*comm, comm->rank() == 0 ? Status{Code::bad_file, "no"} : Status{}, bytes);
  EXPECT_EQ(verdict.code(), Code::bad_file);
  EXPECT_TRUE(bytes.empty());
}

TEST(Comm, is_kept_with_the_users_communicator_and_outlives_it) {
  MPI_Comm mine = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &mine);
  auto first = Comm::of(mine).value();
  EXPECT_EQ(first.get(), Comm::of(mine).value().get());
  MPI_Comm_free(&mine);
  EXPECT_TRUE(agree(*first, Status{}).ok());
  MPI_Comm_dup(MPI_COMM_WORLD, &mine);
  { auto gone = Comm::of(mine).value(); }
  MPI_Comm_free(&mine);  // no object uses ours: it is freed here
}

TEST(Comm, refuses_what_is_no_intracommunicator) {
  EXPECT_EQ(Comm::of(MPI_COMM_NULL).status().code(), Code::bad_argument);
}

TEST(Comm, knows_the_hosts) {
  const auto comm = world();
  ASSERT_FALSE(comm->host_roots().empty());
  EXPECT_EQ(comm->host_roots().front(), 0);
  EXPECT_LE(comm->host_root(), comm->rank());
}

}  // namespace
}  // namespace windrow
