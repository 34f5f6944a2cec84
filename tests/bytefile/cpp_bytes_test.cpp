// SPDX-License-Identifier: BSD-3-Clause
// Files of plain bytes through bytes.hpp.
#include <gmock/gmock.h>

#include <windrow/windrow.hpp>

#include "../capi/checked.hpp"

namespace {

using namespace windrow_test;
using testing::HasSubstr;
using testing::Property;
using testing::Throws;
using windrow::ByteFile;
using windrow::ByteList;
using windrow::ByteRun;
using windrow::Mode;

template <class Call>
int code_of(Call&& call, const std::string& words) {
  try {
    call();
  } catch (const windrow::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(words));
    return error.code();
  }
  return WINDROW_OK;
}

// A column of this rank in a table of int32_t with a column for each rank.
ByteList column(int64_t rows) {
  const int64_t width = 4 * size_of();
  return ByteList::runs(std::vector<ByteRun>{
      {.file_offset = 4 * rank_of(), .length = 4, .counts = {rows}, .file_strides = {width}, .memory_strides = {4}}});
}

class CppBytes : public testing::Test {
 protected:
  std::string path() const { return folder_.file("plain bytes"); }
  SharedFolder folder_;
};

TEST_F(CppBytes, WriteAndReadArrays) {
  auto file = ByteFile::open(MPI_COMM_WORLD, path(), Mode::update_or_create, {{"strategy", "two-phase"}});
  const ByteList mine = column(5);
  std::vector<int32_t> numbers(5);
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<int32_t>(100 * i) + rank_of();
  EXPECT_THAT(file.explain_write(mine), HasSubstr("domains"));
  file.write(mine, numbers);
  EXPECT_THAT(file.report("json"), HasSubstr("\"bytes\""));
  file.sync();
  // The whole table, its rows in reverse order in memory, then a tail that is not there.
  const int64_t width = 4 * size_of();
  std::vector<int64_t> offsets, lengths, places;
  for (int64_t row = 0; row < 6; ++row) {
    offsets.push_back(row * width);
    lengths.push_back(width);
    places.push_back((5 - row) * width);
  }
  std::vector<int32_t> table(6 * static_cast<size_t>(size_of()), -1);
  const ByteList all = ByteList::pieces(offsets, lengths, places);
  EXPECT_EQ(all.memory().begin, 0);
  EXPECT_EQ(all.memory().end, 6 * width);
  EXPECT_EQ(file.read(all, std::span(table)), 5 * width);
  for (int row = 0; row < 6; ++row)
    for (int rank = 0; rank < size_of(); ++rank)
      EXPECT_EQ(table[static_cast<size_t>((5 - row) * size_of() + rank)], row < 5 ? 100 * row + rank : -1);
  EXPECT_THAT(file.explain_read(all, "json"), HasSubstr("\"strategy\""));
  file.close();
  EXPECT_FALSE(file.is_open());
}

TEST_F(CppBytes, OfRanksThatMoveNothing) {
  auto file = ByteFile::open(MPI_COMM_WORLD, path(), Mode::update_or_create);
  const bool moves = rank_of() == size_of() - 1;
  const std::string text = "some text";
  const std::vector<int64_t> offset{0}, length{9};
  if (moves)
    file.write(ByteList::pieces(offset, length), text);
  else
    file.write();
  std::string found(9, '?');
  EXPECT_EQ(file.read(moves ? ByteList() : ByteList::pieces(offset, length), found), moves ? 0 : 9);
  EXPECT_EQ(found, moves ? "?????????" : text);
  // Places below the pointer that is passed.
  const std::vector<int64_t> below{-9};
  found.assign(9, '?');
  EXPECT_EQ(file.read(ByteList::pieces(offset, length, below), static_cast<void*>(found.data() + 9)), 9);
  EXPECT_EQ(found, text);
  file.read();
  file.close();
}

TEST_F(CppBytes, OutsideOfTheDataAreAnErrorOnAllRanks) {
  auto file = ByteFile::open(MPI_COMM_WORLD, path(), Mode::update_or_create);
  const int culprit = size_of() - 1;
  std::vector<int32_t> numbers(5, rank_of());
  const std::vector<int32_t> few(4);
  const ByteList mine = column(5);
  const auto write = [&] { file.write(mine, rank_of() == culprit ? few : numbers); };
  EXPECT_EQ(code_of(write, "write: the data has 16 bytes, and the list has bytes from 0 to 20"), WINDROW_BAD_ARGUMENT);
  EXPECT_THAT(write, Throws<windrow::Error>(Property(&windrow::Error::rank, culprit)));
  EXPECT_EQ(std::filesystem::file_size(path()), 0U);
  file.write(mine, numbers);
  const std::vector<int64_t> offset{0}, length{4}, below{-4};
  const ByteList before = ByteList::pieces(offset, length, below);
  const auto read = [&] { (void)file.read(rank_of() == culprit ? before : mine, numbers); };
  EXPECT_EQ(code_of(read, "from -4 to 0"), WINDROW_BAD_ARGUMENT);
  EXPECT_EQ(file.read(mine, numbers), 20);
  file.close();
}

TEST_F(CppBytes, OfMpiDatatypes) {
  auto file = ByteFile::open(MPI_COMM_WORLD, path(), Mode::update_or_create);
  MPI_Datatype pair = MPI_DATATYPE_NULL, element = MPI_DATATYPE_NULL;
  MPI_Type_vector(3, 1, 2, MPI_INT32_T, &pair);
  MPI_Type_create_resized(MPI_INT32_T, 0, 4 * size_of(), &element);
  // Every second number in memory is in the column of this rank, from its second row on.
  const windrow_byte_view view{4 * rank_of(), MPI_INT32_T, element};
  std::vector<int32_t> numbers{rank_of(), -1, rank_of() + 10, -1, rank_of() + 20};
  file.write(ByteList::types(pair, 1, view, 1), numbers);
  std::vector<int32_t> rows(3 * static_cast<size_t>(size_of()));
  const int64_t first_row = 4 * size_of();
  EXPECT_EQ(file.read(ByteList::types(MPI_INT32_T, static_cast<int64_t>(rows.size()), first_row), rows),
            static_cast<int64_t>(4 * rows.size()));
  for (size_t i = 0; i < rows.size(); ++i)
    EXPECT_EQ(rows[i], static_cast<int>(i) % size_of() + 10 * (static_cast<int>(i) / size_of()));
  EXPECT_EQ(code_of([&] { file.write(ByteList::types(pair, 1, view), std::span(numbers).first(4)); }, "16 bytes"),
            WINDROW_BAD_ARGUMENT);
  EXPECT_EQ(code_of([&] { ByteList::types(MPI_DATATYPE_NULL, 1); }, "MPI_DATATYPE_NULL"), WINDROW_BAD_ARGUMENT);
  file.close();
  MPI_Type_free(&pair);
  MPI_Type_free(&element);
}

TEST_F(CppBytes, WithBadArgumentsAreRefused) {
  const std::vector<int64_t> one{0}, two{0, 1}, negative{-1};
  EXPECT_EQ(code_of([&] { ByteList::pieces(two, one); }, "2 file offsets, 1 lengths"), WINDROW_BAD_ARGUMENT);
  EXPECT_EQ(code_of([&] { ByteList::pieces(one, one, two); }, "2 memory offsets"), WINDROW_BAD_ARGUMENT);
  EXPECT_EQ(code_of([&] { ByteList::pieces(negative, one); }, "entry 0"), WINDROW_BAD_ARGUMENT);
  const std::vector<ByteRun> run{{.length = 4, .counts = {2}, .file_strides = {4}, .memory_strides = {}}};
  EXPECT_EQ(code_of([&] { ByteList::runs(run); }, "0 memory strides"), WINDROW_BAD_ARGUMENT);
  EXPECT_EQ(code_of([&] { ByteFile::open(MPI_COMM_WORLD, path()); }, path()), WINDROW_NOT_FOUND);
  EXPECT_EQ(ByteList().memory().end, 0);
}

}  // namespace
