// SPDX-License-Identifier: BSD-3-Clause
// Files of plain bytes through the C interface: in place, short reads, plans, errors.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>

#include "../capi/checked.hpp"

namespace {

using namespace windrow_test;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

struct FreeList {
  void operator()(windrow_byte_list* list) const { windrow_byte_list_free(list); }
};
using ByteList = std::unique_ptr<windrow_byte_list, FreeList>;

ByteList list_of(std::vector<int64_t> offsets, std::vector<int64_t> lengths) {
  windrow_byte_list* list = nullptr;
  EXPECT_WINDROW_OK(
      windrow_byte_list_pieces(static_cast<int64_t>(offsets.size()), offsets.data(), nullptr, lengths.data(), &list));
  return ByteList(list);
}

class Bytes : public testing::Test {
 protected:
  std::string path() const { return folder_.file("plain bytes"); }
  windrow_bytes* open(int mode, const KeyValues& values = {}) const {
    windrow_bytes* file = nullptr;
    EXPECT_WINDROW_OK(windrow_bytes_open(MPI_COMM_WORLD, path().c_str(), mode, Options(values), &file));
    return file;
  }
  void make(const std::string& content) const {
    if (rank_of() == 0)
      std::ofstream(path(), std::ios::binary) << content;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  std::string content() const {
    MPI_Barrier(MPI_COMM_WORLD);
    return bytes_of_file(path());
  }
  static nlohmann::json report_of(windrow_bytes* file) {
    const char* text = nullptr;
    EXPECT_WINDROW_OK(windrow_bytes_report(file, "json", &text));
    return nlohmann::json::parse(text);
  }
  // Each rank writes a byte, every second byte of the file.
  ByteList every_second() const { return list_of({2 * rank_of()}, {1}); }

  SharedFolder folder_;
};

TEST_F(Bytes, ChangeAFileInPlace) {
  std::string expected(100, '.');
  make(expected);
  struct stat before {
  }, after{};
  ASSERT_EQ(::stat(path().c_str(), &before), 0);
  windrow_bytes* file = open(WINDROW_UPDATE);
  const char mark = static_cast<char>('a' + rank_of());
  EXPECT_WINDROW_OK(windrow_bytes_write(file, every_second().get(), &mark));
  EXPECT_WINDROW_OK(windrow_bytes_close(file));
  for (int rank = 0; rank < size_of(); ++rank)
    expected[static_cast<size_t>(2 * rank)] = static_cast<char>('a' + rank);
  EXPECT_EQ(content(), expected);
  ASSERT_EQ(::stat(path().c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"plain bytes"});
}

TEST_F(Bytes, EndAtTheLastByteThatIsWritten) {
  for (const char* access : {"auto", "contiguous", "list", "sieve"}) {
    windrow_bytes* file = open(WINDROW_UPDATE_OR_CREATE, {{"access", access}});
    const char mark = static_cast<char>('a' + rank_of());
    EXPECT_WINDROW_OK(windrow_bytes_write(file, every_second().get(), &mark));
    EXPECT_WINDROW_OK(windrow_bytes_close(file));
    std::string expected;
    for (int rank = 0; rank < size_of(); ++rank)
      expected += (rank > 0 ? std::string(1, '\0') : "") + static_cast<char>('a' + rank);
    EXPECT_EQ(content(), expected) << access;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_of() == 0)
      std::filesystem::remove(path());
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST_F(Bytes, OfTheHighestRankAreWritten) {
  windrow_bytes* file = open(WINDROW_UPDATE_OR_CREATE);
  // All ranks write bytes 0 to 9; rank r writes byte 10 + r too.
  const std::string mine(11, static_cast<char>('a' + rank_of()));
  EXPECT_WINDROW_OK(windrow_bytes_write(file, list_of({0, 10 + rank_of()}, {10, 1}).get(), mine.data()));
  // Again, by the cached plan.
  EXPECT_WINDROW_OK(windrow_bytes_write(file, list_of({0, 10 + rank_of()}, {10, 1}).get(), mine.data()));
  EXPECT_WINDROW_OK(windrow_bytes_close(file));
  std::string expected(10, static_cast<char>('a' + size_of() - 1));
  for (int rank = 0; rank < size_of(); ++rank)
    expected += static_cast<char>('a' + rank);
  EXPECT_EQ(content(), expected);
}

// Many short pieces, in irregular turns of the ranks: aligned ones, and from an odd byte on. Then some that two ranks
// have, and pieces of many lengths.
TEST_F(Bytes, OfManyShortPiecesAreWrittenByTheHighestRank) {
  struct Dealt {
    int64_t begin, unit;
    size_t shared, longest;  // every n-th piece is also of the rank after; 0: none. In units
  };
  for (const Dealt& dealt : {Dealt{0, 4, 0, 1}, Dealt{1, 4, 0, 1}, Dealt{8, 8, 97, 1}, Dealt{3, 1, 5, 90},
                             Dealt{128, 64, 7, 3}, Dealt{5, 1, 1, 1}}) {
    SCOPED_TRACE(testing::Message() << dealt.begin << " " << dealt.unit << " " << dealt.shared);
    const int ranks = size_of();
    std::string expected(static_cast<size_t>(dealt.begin), '\0'), mine;
    std::vector<int64_t> offsets, lengths;
    uint32_t random = 1;
    for (size_t piece = 0; piece < 5000; ++piece) {
      random = random * 1664525 + 1013904223;
      const int owner = static_cast<int>(random >> 16) % ranks;
      const int64_t length = dealt.unit * static_cast<int64_t>(1 + (random >> 8) % dealt.longest);
      const int other = dealt.shared > 0 && piece % dealt.shared == 0 ? (owner + 1) % ranks : owner;
      if (rank_of() == owner || rank_of() == other) {
        offsets.push_back(static_cast<int64_t>(expected.size()));
        lengths.push_back(length);
        mine.append(static_cast<size_t>(length), static_cast<char>('a' + rank_of()));
      }
      expected.append(static_cast<size_t>(length), static_cast<char>('a' + std::max(owner, other)));
      if (piece % 31 == 0)  // of no rank
        expected.append(static_cast<size_t>(dealt.unit), '\0');
    }
    windrow_bytes* file = open(WINDROW_UPDATE_OR_CREATE);
    for (int time = 0; time < 2; ++time)
      EXPECT_WINDROW_OK(windrow_bytes_write(file, list_of(offsets, lengths).get(), mine.data()));
    const auto holes = std::count(expected.begin(), expected.end(), '\0');
    EXPECT_EQ(report_of(file)["bytes"], expected.size() - static_cast<size_t>(holes));  // each byte once
    EXPECT_WINDROW_OK(windrow_bytes_close(file));
    EXPECT_TRUE(content() == expected);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_of() == 0)
      std::filesystem::remove(path());
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST_F(Bytes, BeyondTheEndAreNotRead) {
  make("0123456789");
  windrow_bytes* file = open(WINDROW_READ);
  std::string mine(12, '?');
  int64_t bytes = -1;
  EXPECT_WINDROW_OK(windrow_bytes_read(file, list_of({2, 8, 100}, {4, 4, 4}).get(), mine.data(), &bytes));
  EXPECT_EQ(mine, "234589??????");
  EXPECT_EQ(bytes, 6);
  // The file grows and shrinks by other means.
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_of() == 0) {
    EXPECT_EQ(::truncate(path().c_str(), 3), 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  mine.assign(12, '?');
  EXPECT_WINDROW_OK(windrow_bytes_read(file, list_of({2, 8, 100}, {4, 4, 4}).get(), mine.data(), &bytes));
  EXPECT_EQ(mine, "2???????????");
  EXPECT_EQ(bytes, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  make("0123456789ab");
  EXPECT_WINDROW_OK(windrow_bytes_read(file, list_of({2, 8, 100}, {4, 4, 4}).get(), mine.data(), &bytes));
  EXPECT_EQ(mine, "234589ab????");
  EXPECT_WINDROW_OK(windrow_bytes_read(file, nullptr, nullptr, &bytes));
  EXPECT_EQ(bytes, 0);
  EXPECT_WINDROW_OK(windrow_bytes_close(file));
}

TEST_F(Bytes, OfARepeatedListUseItsPlan) {
  windrow_bytes* file = open(WINDROW_UPDATE_OR_CREATE);
  const auto count = [&] { return report_of(file)["plans"].size(); };
  for (int step = 0; step < 3; ++step) {
    const std::string mine(7, static_cast<char>('a' + step));
    EXPECT_WINDROW_OK(windrow_bytes_write(file, list_of({7 * rank_of()}, {7}).get(), mine.data()));
    ASSERT_EQ(count(), 1U);
    EXPECT_EQ(report_of(file)["plans"][0]["cached"], step > 0);
  }
  EXPECT_WINDROW_OK(windrow_bytes_close(file));
  EXPECT_EQ(content(), std::string(static_cast<size_t>(7 * size_of()), 'c'));
}

// Columns of an array of the ranks: each rank sees every size-th number, and writes it out of an array of its own.
TEST_F(Bytes, OfMpiDatatypesAreThoseOfMpi) {
  constexpr int k_rows = 5;
  MPI_Datatype column = MPI_DATATYPE_NULL, memory = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_INT32_T, 0, 4 * size_of(), &column);
  MPI_Type_vector(k_rows, 1, 3, MPI_INT32_T, &memory);
  const windrow_byte_view view{100 + 4 * rank_of(), MPI_INT32_T, column};
  windrow_byte_list* list = nullptr;
  ASSERT_WINDROW_OK(windrow_byte_list_types(&view, 1, 1, memory, &list));
  std::vector<int32_t> numbers(3 * k_rows, -1);
  for (int row = 0; row < k_rows; ++row)
    numbers[static_cast<size_t>(3 * row)] = 1000 * rank_of() + row;
  windrow_bytes* file = open(WINDROW_UPDATE_OR_CREATE);
  EXPECT_WINDROW_OK(windrow_bytes_write(file, list, numbers.data()));
  std::vector<int32_t> found(3 * k_rows, -1);
  int64_t bytes = 0;
  EXPECT_WINDROW_OK(windrow_bytes_read(file, list, found.data(), &bytes));
  EXPECT_EQ(bytes, 4 * k_rows);
  EXPECT_EQ(found, numbers);
  EXPECT_WINDROW_OK(windrow_bytes_close(file));
  windrow_byte_list_free(list);
  MPI_Type_free(&memory);
  // MPI's own view of the file has the same numbers.
  MPI_File other = MPI_FILE_NULL;
  ASSERT_EQ(MPI_File_open(MPI_COMM_WORLD, path().c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &other), MPI_SUCCESS);
  MPI_Type_commit(&column);
  MPI_File_set_view(other, 100 + 4 * rank_of(), MPI_INT32_T, column, "native", MPI_INFO_NULL);
  std::vector<int32_t> by_mpi(k_rows, -1);
  MPI_File_read_at_all(other, 1, by_mpi.data(), k_rows, MPI_INT32_T, MPI_STATUS_IGNORE);
  for (int row = 0; row < k_rows; ++row)
    EXPECT_EQ(by_mpi[static_cast<size_t>(row)], 1000 * rank_of() + row);
  MPI_File_close(&other);
  MPI_Type_free(&column);
}

TEST_F(Bytes, AreExplained) {
  windrow_bytes* file = open(WINDROW_UPDATE_OR_CREATE, {{"strategy", "two-phase"}});
  const char *text = nullptr, *other = nullptr;
  EXPECT_WINDROW_OK(windrow_bytes_explain(file, 1, list_of({7 * rank_of()}, {7}).get(), "text", &text));
  EXPECT_THAT(text, HasSubstr("domains"));
  EXPECT_EQ(content(), "");
  EXPECT_EQ(windrow_bytes_explain(file, 1, nullptr, "xml", &other), WINDROW_BAD_ARGUMENT);
  EXPECT_WINDROW_OK(windrow_bytes_close(file));
}

TEST_F(Bytes, OfAFolderAreRefused) {
  windrow_bytes* file = nullptr;
  for (const int mode : {WINDROW_READ, WINDROW_UPDATE, WINDROW_UPDATE_OR_CREATE}) {
    const int code = windrow_bytes_open(MPI_COMM_WORLD, folder_.path().c_str(), mode, nullptr, &file);
    EXPECT_NE(code, WINDROW_OK);
    EXPECT_THAT(windrow_error_message(), HasSubstr(folder_.path()));
    expect_same_everywhere(code);
  }
  EXPECT_EQ(windrow_bytes_open(MPI_COMM_WORLD, path().c_str(), WINDROW_UPDATE, nullptr, &file), WINDROW_NOT_FOUND);
  EXPECT_EQ(windrow_bytes_open(MPI_COMM_WORLD, path().c_str(), 7, nullptr, &file), WINDROW_BAD_ARGUMENT);
  EXPECT_EQ(windrow_bytes_open(MPI_COMM_WORLD, rank_of() == 0 ? nullptr : path().c_str(), 0, nullptr, &file),
            WINDROW_BAD_ARGUMENT);
  if (size_of() > 1) {
    EXPECT_EQ(windrow_bytes_open(MPI_COMM_WORLD, path().c_str(), rank_of() == 0 ? 1 : 2, nullptr, &file),
              WINDROW_BAD_ARGUMENT);
    EXPECT_THAT(windrow_error_message(), HasSubstr("differ"));
  }
  EXPECT_EQ(file, nullptr);
}

TEST_F(Bytes, OfAFileForReadingAreNotWritten) {
  make("0123456789");
  windrow_bytes* file = open(WINDROW_READ);
  const char mark = 'x';
  const int code = windrow_bytes_write(file, every_second().get(), &mark);
  EXPECT_EQ(code, WINDROW_BAD_STATE);
  expect_same_everywhere(code);
  EXPECT_WINDROW_OK(windrow_bytes_close(file));
  EXPECT_EQ(content(), "0123456789");
}

TEST_F(Bytes, OfAReplacedFileAreAnError) {
  make("0123456789");
  windrow_bytes* file = open(WINDROW_UPDATE);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_of() == 0)
    std::filesystem::rename(path(), path() + " old");
  make("another file");
  char mark = 'x';
  int64_t bytes = 0;
  const int code = windrow_bytes_read(file, every_second().get(), &mark, &bytes);
  EXPECT_EQ(code, WINDROW_IO);
  EXPECT_THAT(windrow_error_message(), HasSubstr("replaced by another program"));
  expect_same_everywhere(code);
  EXPECT_EQ(windrow_bytes_close(file), WINDROW_IO);
  EXPECT_EQ(content(), "another file");
}

TEST_F(Bytes, OfAReplacedFileAreNotWritten) {
  make("0123456789");
  windrow_bytes* file = open(WINDROW_UPDATE);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_of() == 0)
    std::filesystem::remove(path());
  MPI_Barrier(MPI_COMM_WORLD);
  const char mark = 'x';
  const int code = windrow_bytes_write(file, every_second().get(), &mark);
  EXPECT_EQ(code, WINDROW_IO);
  expect_same_everywhere(code);
  EXPECT_EQ(windrow_bytes_close(file), WINDROW_IO);
  EXPECT_EQ(folder_.names(), std::vector<std::string>{});
}

TEST_F(Bytes, BeyondTheLongestFileAreRefused) {
  constexpr int64_t k_far = int64_t{1} << 60;
  make("");
  windrow_bytes* file = open(WINDROW_UPDATE);
  windrow_byte_list* list = nullptr;
  const int64_t offset = k_far - 5, length = 10;
  EXPECT_EQ(windrow_byte_list_pieces(1, &offset, nullptr, &length, &list), WINDROW_BAD_ARGUMENT);
  EXPECT_THAT(windrow_error_message(), HasSubstr("entry 0 of the list: it ends at offset 1152921504606846981"));
  const ByteList refused(list);
  const std::string text(10, 'x');
  EXPECT_EQ(windrow_bytes_write(file, refused.get(), text.data()), WINDROW_BAD_ARGUMENT);
  EXPECT_WINDROW_OK(windrow_bytes_close(file));
  EXPECT_EQ(content(), "");
}

TEST_F(Bytes, OfANullPointerAreRefused) {
  make("0123456789");
  for (const char* strategy : {"auto", "list", "two-phase"}) {
    windrow_bytes* file = open(WINDROW_UPDATE, {{"strategy", strategy}});
    // One rank has no memory.
    char mark = '!';
    const int code = windrow_bytes_write(file, every_second().get(), rank_of() == 0 ? nullptr : &mark);
    EXPECT_EQ(code, WINDROW_BAD_ARGUMENT);
    EXPECT_THAT(windrow_error_message(), HasSubstr("the buffer is a null pointer"));
    expect_same_everywhere(code);
    EXPECT_WINDROW_OK(windrow_bytes_close(file));
  }
  EXPECT_EQ(content(), "0123456789");
}

TEST_F(Bytes, OfAFailedOpeningLeaveNoFile) {
  if (size_of() == 1)
    GTEST_SKIP() << "one rank";
  windrow_bytes* file = nullptr;
  const std::string name = rank_of() == 1 ? "" : path();
  EXPECT_EQ(windrow_bytes_open(MPI_COMM_WORLD, name.c_str(), WINDROW_UPDATE_OR_CREATE, nullptr, &file),
            WINDROW_BAD_ARGUMENT);
  EXPECT_EQ(file, nullptr);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(folder_.names(), std::vector<std::string>{});
}

TEST_F(Bytes, AreInOneFile) {
  make("");
  for (const char* files : {"subfiles(2)", "per-rank"}) {
    windrow_bytes* file = nullptr;
    EXPECT_EQ(windrow_bytes_open(MPI_COMM_WORLD, path().c_str(), WINDROW_UPDATE, Options({{"files", files}}), &file),
              WINDROW_BAD_ARGUMENT);
    EXPECT_THAT(windrow_error_message(), HasSubstr("a file of plain bytes is one file"));
  }
}

TEST_F(Bytes, OfADiskThatFailsAreAnErrorOnAllRanks) {
  windrow_bytes* file =
      open(WINDROW_UPDATE_OR_CREATE, {{"store", "faulty"}, {"fault", "operation=write,error=no_space"}});
  const std::string mine(100, 'x');
  const int code = windrow_bytes_write(file, list_of({100 * rank_of()}, {100}).get(), mine.data());
  EXPECT_EQ(code, WINDROW_NO_SPACE);
  expect_same_everywhere(code);
  EXPECT_WINDROW_OK(windrow_bytes_close(file));
}

TEST_F(Bytes, CallsThatDifferBetweenRanksAreAnError) {
  if (size_of() == 1)
    GTEST_SKIP() << "one rank";
  windrow_bytes* file = open(WINDROW_UPDATE_OR_CREATE);
  char mark = 'x';
  const int code = rank_of() == 0 ? windrow_bytes_write(file, every_second().get(), &mark)
                                  : windrow_bytes_read(file, every_second().get(), &mark, nullptr);
  EXPECT_EQ(code, WINDROW_MPI);
  EXPECT_THAT(windrow_error_message(), HasSubstr("bytes_write of"));
  EXPECT_EQ(windrow_bytes_sync(file), WINDROW_MPI);
  EXPECT_EQ(windrow_bytes_close(file), WINDROW_MPI);
}

TEST_F(Bytes, ThatABindingRefusesAreAnErrorOnAllRanks) {
  windrow_bytes* file = open(WINDROW_UPDATE_OR_CREATE);
  const std::string mine(7, 'x');
  const ByteList list = list_of({7 * rank_of()}, {7});
  const auto refuse = [&] {
    if (rank_of() == size_of() - 1) {
      EXPECT_EQ(windrow_bytes_refuse(file, "a short array"), WINDROW_BAD_ARGUMENT);
    }
  };
  const auto check = [&](int code) {
    EXPECT_EQ(code, WINDROW_BAD_ARGUMENT);
    EXPECT_THAT(windrow_error_message(), HasSubstr("a short array"));
    EXPECT_EQ(windrow_error_rank(), size_of() - 1);
  };
  refuse();
  check(windrow_bytes_write(file, list.get(), mine.data()));
  EXPECT_EQ(content(), "");
  refuse();
  check(windrow_bytes_read(file, nullptr, nullptr, nullptr));
  const char* text = nullptr;
  refuse();
  check(windrow_bytes_explain(file, 1, list.get(), "text", &text));
  EXPECT_WINDROW_OK(windrow_bytes_write(file, list.get(), mine.data()));
  EXPECT_EQ(windrow_bytes_refuse(nullptr, "a short array"), WINDROW_BAD_ARGUMENT);
  EXPECT_STREQ(windrow_error_message(), "a short array");
  EXPECT_WINDROW_OK(windrow_bytes_close(file));
}

// A rank with a bad list that does not look at the code: no rank waits, nothing moves, and all get the error.
TEST_F(Bytes, OfAListThatCouldNotBeMadeAreRefusedOnAllRanks) {
  windrow_bytes* file = open(WINDROW_UPDATE_OR_CREATE);
  const int culprit = size_of() - 1;
  const bool is_bad = rank_of() == culprit;
  struct Wrong {
    int64_t count, offset, length;
    const char* words;
  };
  for (const Wrong& wrong : {Wrong{1, -1, 7, "it begins at offset -1"}, Wrong{1, 0, -7, "its length is -7"},
                             Wrong{1, INT64_MAX - 3, 7, "does not fit into 64 bits"}, Wrong{-2, 0, 7, "-2 entries"}}) {
    const int64_t offset = is_bad ? wrong.offset : 7 * rank_of(), length = is_bad ? wrong.length : 7;
    windrow_byte_list* raw = nullptr;
    EXPECT_EQ(windrow_byte_list_pieces(is_bad ? wrong.count : 1, &offset, nullptr, &length, &raw),
              is_bad ? WINDROW_BAD_ARGUMENT : WINDROW_OK);
    const ByteList list(raw);
    std::string mine(7, 'x');
    int64_t bytes = -1, begin = -1, end = -1;
    const char* text = nullptr;
    const auto check = [&](int code) {
      EXPECT_EQ(code, WINDROW_BAD_ARGUMENT);
      EXPECT_THAT(windrow_error_message(), HasSubstr(wrong.words));
      EXPECT_EQ(windrow_error_rank(), culprit);
    };
    check(windrow_bytes_write(file, list.get(), mine.data()));
    check(windrow_bytes_read(file, list.get(), mine.data(), &bytes));
    EXPECT_EQ(bytes, 0);
    check(windrow_bytes_explain(file, 1, list.get(), "text", &text));
    EXPECT_WINDROW_OK(windrow_byte_list_memory(list.get(), &begin, &end));
    EXPECT_EQ(end - begin, is_bad ? 0 : 7);
  }
  EXPECT_EQ(content(), "");
  EXPECT_WINDROW_OK(windrow_bytes_close(file));
}

TEST(ByteLists, HaveARangeOfMemory) {
  const int64_t offsets[] = {0, 4, 50}, places[] = {-8, 100, 7}, lengths[] = {10, 10, 0};
  windrow_byte_list* list = nullptr;
  int64_t begin = 1, end = 1;
  EXPECT_WINDROW_OK(windrow_byte_list_memory(nullptr, &begin, &end));
  EXPECT_EQ(begin, 0);
  EXPECT_EQ(end, 0);
  EXPECT_WINDROW_OK(windrow_byte_list_pieces(3, offsets, places, lengths, &list));
  EXPECT_WINDROW_OK(windrow_byte_list_memory(list, &begin, &end));
  EXPECT_EQ(begin, -8);
  EXPECT_EQ(end, 110);
  EXPECT_EQ(windrow_byte_list_memory(list, &begin, nullptr), WINDROW_BAD_ARGUMENT);
  windrow_byte_list_free(list);
  // The piece with the highest end in memory is not written: a later one has its bytes.
  const int64_t same[] = {0, 0}, high[] = {100, 0}, ten[] = {10, 10};
  EXPECT_WINDROW_OK(windrow_byte_list_pieces(2, same, high, ten, &list));
  EXPECT_WINDROW_OK(windrow_byte_list_memory(list, &begin, &end));
  EXPECT_EQ(begin, 0);
  EXPECT_EQ(end, 110);
  windrow_byte_list_free(list);
  // Backward in memory.
  const int64_t count = 5, file_stride = 4, memory_stride = -4;
  const windrow_byte_run run{0, 16, 4, 1, &count, &file_stride, &memory_stride};
  EXPECT_WINDROW_OK(windrow_byte_list_runs(1, &run, &list));
  EXPECT_WINDROW_OK(windrow_byte_list_memory(list, &begin, &end));
  EXPECT_EQ(begin, 0);
  EXPECT_EQ(end, 20);
  windrow_byte_list_free(list);
}

TEST_F(Bytes, SumNumbersOfAllRanks) {
  windrow_bytes* file = open(WINDROW_UPDATE_OR_CREATE);
  const int64_t ranks = size_of(), rank = rank_of();
  std::array<int64_t, 3> numbers{rank, -1, INT64_C(1) << 40};
  EXPECT_WINDROW_OK(windrow_bytes_sum(file, 3, numbers.data()));
  EXPECT_THAT(numbers, ElementsAre(ranks * (ranks - 1) / 2, -ranks, ranks << 40));
  EXPECT_WINDROW_OK(windrow_bytes_sum(file, 0, nullptr));
  EXPECT_WINDROW_OK(windrow_bytes_close(file));
}

TEST_F(Bytes, SumNoNumbersOfAWrongCall) {
  windrow_bytes* file = open(WINDROW_UPDATE_OR_CREATE);
  const bool is_last = rank_of() == size_of() - 1;
  std::array<int64_t, 64> numbers{};
  numbers.fill(7);
  const auto expect_refused = [&](int64_t count, int64_t* mine, const std::string& message) {
    const int code = windrow_bytes_sum(file, count, mine);
    EXPECT_EQ(code, WINDROW_BAD_ARGUMENT);
    EXPECT_THAT(windrow_error_message(), HasSubstr(message));
    EXPECT_THAT(numbers, Each(7));
  };
  expect_refused(is_last ? 65 : 1, numbers.data(), "a sum of 65 numbers: 0 to 64 are allowed");
  expect_refused(is_last ? -1 : 1, numbers.data(), "a sum of -1 numbers");
  expect_refused(2, is_last ? nullptr : numbers.data(), "the numbers");
  if (size_of() > 1)
    expect_refused(is_last ? 3 : 64, numbers.data(), "a sum of 3 numbers on one rank, and of 64 on another");
  EXPECT_WINDROW_OK(windrow_bytes_close(file));
}

TEST_F(Bytes, AreSynced) {
  windrow_bytes* file = open(WINDROW_UPDATE_OR_CREATE);
  const char mark = 'x';
  EXPECT_WINDROW_OK(windrow_bytes_write(file, every_second().get(), &mark));
  EXPECT_WINDROW_OK(windrow_bytes_sync(file));
  EXPECT_WINDROW_OK(windrow_bytes_close(file));
  EXPECT_WINDROW_OK(windrow_bytes_close(nullptr));
}

}  // namespace
