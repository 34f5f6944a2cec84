// SPDX-License-Identifier: BSD-3-Clause
// Several writers of one file at the same time, through files of different communicators: no byte is lost, whatever the
// accesses are. Locks of the program itself.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include "../capi/checked.hpp"

namespace {

using namespace windrow_test;
using testing::HasSubstr;

struct FreeList {
  void operator()(windrow_byte_list* list) const { windrow_byte_list_free(list); }
};
using ByteList = std::unique_ptr<windrow_byte_list, FreeList>;

ByteList list_of(const std::vector<int64_t>& offsets, const std::vector<int64_t>& lengths) {
  windrow_byte_list* list = nullptr;
  EXPECT_WINDROW_OK(
      windrow_byte_list_pieces(static_cast<int64_t>(offsets.size()), offsets.data(), nullptr, lengths.data(), &list));
  return ByteList(list);
}

// The even ranks and the odd ranks.
class Halves {
 public:
  Halves() { MPI_Comm_split(MPI_COMM_WORLD, is_second(), rank_of(), &comm_); }
  Halves(const Halves&) = delete;
  Halves& operator=(const Halves&) = delete;
  ~Halves() { MPI_Comm_free(&comm_); }
  static bool is_second() { return rank_of() % 2 == 1; }
  MPI_Comm comm() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

// The halves write every second piece of the file each, with a sieve and with the given options. Returns the number of
// rounds in which bytes of one of them were lost.
int rounds_with_losses(const std::string& path, const KeyValues& of_second) {
  constexpr int64_t k_pieces = 10'000, k_bytes = 8;
  constexpr int k_rounds = 4;
  const Halves halves;
  const bool second = Halves::is_second();
  std::vector<int64_t> offsets;
  for (int64_t i = rank_of(halves.comm()); i < k_pieces; i += size_of(halves.comm()))
    offsets.push_back((2 * i + (second ? 1 : 0)) * k_bytes);
  const ByteList list = list_of(offsets, std::vector<int64_t>(offsets.size(), k_bytes));
  std::string mine(k_bytes * offsets.size(), '?');
  const KeyValues sieving{{"access", "sieve"}, {"domains", "even"}, {"writers", "1"}};
  if (rank_of() == 0)
    std::ofstream(path, std::ios::binary).close();
  MPI_Barrier(MPI_COMM_WORLD);
  windrow_bytes* file = nullptr;
  EXPECT_WINDROW_OK(
      windrow_bytes_open(halves.comm(), path.c_str(), WINDROW_UPDATE, Options(second ? of_second : sieving), &file));
  int losses = 0;
  for (int round = 0; round < k_rounds; ++round) {
    mine.assign(mine.size(), static_cast<char>((second ? 'a' : 'A') + round));
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_WINDROW_OK(windrow_bytes_write(file, list.get(), mine.data()));
    MPI_Barrier(MPI_COMM_WORLD);
    std::string found(mine.size(), '?');
    EXPECT_WINDROW_OK(windrow_bytes_read(file, list.get(), found.data(), nullptr));
    int lost = found != mine ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &lost, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    losses += lost;
  }
  EXPECT_WINDROW_OK(windrow_bytes_close(file));
  return losses;
}

class Locks : public testing::Test {
 protected:
  std::string path() const { return folder_.file("plain bytes"); }
  SharedFolder folder_;
};

TEST_F(Locks, KeepBytesOfOthers) {
  if (size_of() < 2)
    GTEST_SKIP() << "one rank";
  for (const char* access : {"contiguous", "list", "sieve"})
    EXPECT_EQ(rounds_with_losses(path(), {{"access", access}, {"domains", "none"}}), 0) << access;
}

// A rank that holds a lock of the process is told so; it would wait for itself.
TEST_F(Locks, OfTheRankItselfAreAnError) {
  if (rank_of() != 0)
    return;
  for (const char* access : {"sieve", "contiguous", "list"}) {
    windrow_bytes* file = nullptr;
    ASSERT_WINDROW_OK(windrow_bytes_open(MPI_COMM_SELF, path().c_str(), WINDROW_UPDATE_OR_CREATE,
                                         Options{{"access", access}, {"domains", "none"}}, &file));
    const int own = ::open(path().c_str(), O_RDWR);
    ASSERT_GE(own, 0);
    struct flock all {};
    all.l_type = F_WRLCK;
    all.l_whence = SEEK_SET;
    ASSERT_EQ(::fcntl(own, F_SETLK, &all), 0);
    const ByteList list = list_of({0, 20}, {10, 10});
    EXPECT_EQ(windrow_bytes_write(file, list.get(), "aaaaaaaaaabbbbbbbbbb"), WINDROW_BAD_STATE) << access;
    EXPECT_THAT(windrow_error_message(), HasSubstr("this process holds a lock"));
    all.l_type = F_UNLCK;
    ASSERT_EQ(::fcntl(own, F_SETLK, &all), 0);
    EXPECT_WINDROW_OK(windrow_bytes_write(file, list.get(), "aaaaaaaaaabbbbbbbbbb"));
    ::close(own);
    EXPECT_WINDROW_OK(windrow_bytes_close(file));
  }
}

}  // namespace
