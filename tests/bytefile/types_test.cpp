// SPDX-License-Identifier: BSD-3-Clause
// Lists of MPI datatypes through the C interface: files and memory against MPI_Pack and MPI_Unpack, and errors.
#include <gmock/gmock.h>

#include <set>

#include "../capi/checked.hpp"
#include "../datatype/bytes.hpp"
#include "../datatype/packed.hpp"
#include "../datatype/random_types.hpp"
#include "../stride.hpp"

namespace {

using namespace windrow_test;
using testing::HasSubstr;
using windrow::test::Buffer;
using windrow::test::RandomTypes;

// What one rank writes in a round of the test, and reads afterwards. Every rank can make those of all ranks.
class Part {
 public:
  Part(uint64_t seed, int rank) : types_(1000 * seed + static_cast<uint64_t>(rank)) {
    windrow::test::Random& random = types_.random();
    memory_ = types_.make(static_cast<int>(random(0, 3)), false, MPI_DATATYPE_NULL);
    view_.etype = types_.named();
    view_.filetype = types_.make(static_cast<int>(random(0, 4)), true, view_.etype);
    view_.displacement = random(0, 200);
    offset_ = random(0, 30);
    count_ = random(0, 4);
    const auto map = windrow::type_map_of(memory_);
    EXPECT_TRUE(map.ok()) << map.status().message();
    const auto all = map.ok() ? windrow::test::places_of(map.value(), count_) : std::vector<int64_t>{};
    begin_ = all.empty() ? 0 : *std::min_element(all.begin(), all.end());
    end_ = all.empty() ? 0 : 1 + *std::max_element(all.begin(), all.end());
    bytes_ = static_cast<int64_t>(all.size());
    repeats_ = std::set<int64_t>(all.begin(), all.end()).size() < all.size();
    buffer_ = windrow::test::numbered(end_ - begin_, static_cast<unsigned>(7 * seed) + static_cast<unsigned>(rank));
  }

  windrow_byte_list* list() const {
    windrow_byte_list* list = nullptr;
    EXPECT_WINDROW_OK(windrow_byte_list_types(&view_, offset_, count_, memory_, &list));
    int64_t begin = 0, end = 0;
    EXPECT_WINDROW_OK(windrow_byte_list_memory(list, &begin, &end));
    EXPECT_EQ(begin, begin_);
    EXPECT_EQ(end, end_);
    return list;
  }
  Buffer& buffer() { return buffer_; }
  void* address() { return windrow::test::address(buffer_, begin_); }
  int64_t bytes() const { return bytes_; }
  bool repeats() const { return repeats_; }  // a byte of memory is there twice, so a read of it is not defined

  // What MPI writes to the file.
  void put_into(Buffer& file) {
    if (bytes_ == 0)
      return;
    const Buffer data = windrow::test::packed(buffer_, begin_, count_, memory_);
    Buffer seen = seen_of(file);
    std::copy(data.begin(), data.end(), seen.begin() + first());
    windrow::test::unpack(seen, file, -view_.displacement, tiles(), view_.filetype);
  }
  // What MPI reads into memory that had `other`.
  Buffer taken_from(Buffer& file, Buffer other) {
    if (bytes_ > 0) {
      const Buffer seen = seen_of(file);
      windrow::test::unpack({seen.begin() + first(), seen.begin() + first() + bytes_}, other, begin_, count_, memory_);
    }
    return other;
  }

 private:
  static int64_t size_of_type(MPI_Datatype type) {
    int size = 0;
    MPI_Type_size(type, &size);
    return size;
  }
  int64_t first() const { return offset_ * size_of_type(view_.etype); }
  int64_t tiles() const { return (first() + bytes_ - 1) / size_of_type(view_.filetype) + 1; }
  // The data that the view shows; the file becomes as long as its tiles.
  Buffer seen_of(Buffer& file) const {
    MPI_Aint lower = 0, extent = 0, begin = 0, span = 0;
    MPI_Type_get_extent(view_.filetype, &lower, &extent);
    MPI_Type_get_true_extent(view_.filetype, &begin, &span);
    const auto end = static_cast<size_t>(view_.displacement + (tiles() - 1) * extent + begin + span);
    file.resize(std::max(file.size(), end));
    return windrow::test::packed(file, -view_.displacement, tiles(), view_.filetype);
  }

  RandomTypes types_;
  MPI_Datatype memory_ = MPI_DATATYPE_NULL;
  windrow_byte_view view_{};
  int64_t offset_ = 0, count_ = 0, begin_ = 0, end_ = 0, bytes_ = 0;
  bool repeats_ = false;
  Buffer buffer_;
};

class ByteTypes : public testing::Test {
 protected:
  std::string path() const { return folder_.file("types"); }
  SharedFolder folder_;
};

// Ranks overlap: the highest one writes.
TEST_F(ByteTypes, that_are_random_move_what_mpi_moves) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int reads = 0;
  for (uint64_t seed = 1; seed <= 1000 && !HasFailure(); seed += static_cast<uint64_t>(windrow_test::stride())) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    // The file is long enough for all views, so that reads are not short.
    Buffer expected = windrow::test::numbered(1, 3);
    std::vector<std::unique_ptr<Part>> parts;
    for (int rank = 0; rank < size_of(); ++rank) {
      parts.push_back(std::make_unique<Part>(seed, rank));
      parts.back()->put_into(expected);
    }
    const size_t length = expected.size();
    expected = windrow::test::numbered(static_cast<int64_t>(length), 99);
    if (rank_of() == 0)
      std::ofstream(path(), std::ios::binary)
          .write(reinterpret_cast<const char*>(expected.data()), static_cast<std::streamsize>(length));
    for (const auto& part : parts)
      part->put_into(expected);
    Part& mine = *parts[static_cast<size_t>(rank_of())];
    windrow_byte_list* list = mine.list();
    windrow_bytes* file = nullptr;
    MPI_Barrier(MPI_COMM_WORLD);
    ASSERT_WINDROW_OK(windrow_bytes_open(MPI_COMM_WORLD, path().c_str(), WINDROW_UPDATE, nullptr, &file));
    EXPECT_WINDROW_OK(windrow_bytes_write(file, list, mine.address()));
    const std::string written = bytes_of_file(path());
    EXPECT_EQ(windrow::test::first_difference({written.begin(), written.end()}, expected), "");
    const Buffer other = windrow::test::numbered(static_cast<int64_t>(mine.buffer().size()), 50);
    mine.buffer() = other;
    int64_t bytes = -1;
    EXPECT_WINDROW_OK(windrow_bytes_read(file, list, mine.address(), &bytes));
    EXPECT_EQ(bytes, mine.bytes());
    if (!mine.repeats()) {
      ++reads;
      EXPECT_EQ(windrow::test::first_difference(mine.buffer(), mine.taken_from(expected, other)), "");
    }
    EXPECT_WINDROW_OK(windrow_bytes_close(file));
    windrow_byte_list_free(list);
    int failed = HasFailure() ? 1 : 0, any = 0;  // or some ranks would wait for others
    MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    ASSERT_EQ(any, 0);
  }
  EXPECT_GT(reads, 0);
}

TEST_F(ByteTypes, with_addresses_are_of_no_buffer) {
  std::vector<int32_t> numbers{1, 2, 3, 4};
  std::vector<MPI_Aint> places(2);
  MPI_Get_address(&numbers[3], &places[0]);
  MPI_Get_address(&numbers[1], &places[1]);
  MPI_Datatype absolute = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed_block(2, 1, places.data(), MPI_INT32_T, &absolute);
  windrow_byte_list* list = nullptr;
  ASSERT_WINDROW_OK(windrow_byte_list_types(nullptr, 8 * rank_of(), 1, absolute, &list));
  windrow_bytes* file = nullptr;
  ASSERT_WINDROW_OK(windrow_bytes_open(MPI_COMM_WORLD, path().c_str(), WINDROW_UPDATE_OR_CREATE, nullptr, &file));
  EXPECT_WINDROW_OK(windrow_bytes_write(file, list, nullptr));
  numbers = {0, 0, 0, 0};
  EXPECT_WINDROW_OK(windrow_bytes_read(file, list, MPI_BOTTOM, nullptr));
  EXPECT_EQ(numbers, (std::vector<int32_t>{0, 2, 0, 4}));
  EXPECT_WINDROW_OK(windrow_bytes_close(file));
  windrow_byte_list_free(list);
  MPI_Type_free(&absolute);
  std::string expected;
  for (int rank = 0; rank < size_of(); ++rank)
    expected += std::string("\4\0\0\0\2\0\0\0", 8);
  EXPECT_EQ(bytes_of_file(path()), expected);
}

// 2^52 elements. If they were expanded, this test would not end.
TEST(ByteListTypes, of_any_count_take_no_time) {
  MPI_Datatype column = MPI_DATATYPE_NULL, tile = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_INT, -100, 16, &column);
  MPI_Type_create_resized(MPI_SHORT, 0, 8, &tile);
  const windrow_byte_view view{100, MPI_SHORT, tile};
  windrow_byte_list* list = nullptr;
  ASSERT_WINDROW_OK(windrow_byte_list_types(&view, int64_t{1} << 51, int64_t{1} << 52, column, &list));
  int64_t begin = 0, end = 0;
  EXPECT_WINDROW_OK(windrow_byte_list_memory(list, &begin, &end));
  EXPECT_EQ(begin, 0);
  EXPECT_EQ(end, ((int64_t{1} << 52) - 1) * 16 + 4);
  windrow_byte_list_free(list);
  MPI_Type_free(&column);
  MPI_Type_free(&tile);
}

TEST(ByteListTypes, that_a_file_cannot_have_are_errors) {
  const auto type_of = [](auto make, auto... arguments) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    make(arguments..., &type);
    return type;
  };
  const int descending[] = {1, 0};
  MPI_Datatype negative = type_of(MPI_Type_create_hvector, 2, 1, MPI_Aint(-8), MPI_INT),
               backward = type_of(MPI_Type_create_indexed_block, 2, 1, descending, MPI_INT),
               reversed = type_of(MPI_Type_create_resized, MPI_INT, MPI_Aint(0), MPI_Aint(-8)),
               overlapping = type_of(MPI_Type_create_resized, MPI_INT, MPI_Aint(0), MPI_Aint(2)),
               empty = type_of(MPI_Type_contiguous, 0, MPI_INT);
  const auto message = [](const windrow_byte_view* view, int64_t offset, int64_t count, MPI_Datatype type) {
    windrow_byte_list* list = nullptr;
    EXPECT_EQ(windrow_byte_list_types(view, offset, count, type, &list), WINDROW_BAD_ARGUMENT);
    windrow_byte_list_free(list);
    return std::string(windrow_error_message());
  };
  const auto through = [&](MPI_Datatype etype, MPI_Datatype filetype, int64_t displacement = 0, int64_t offset = 0) {
    const windrow_byte_view view{displacement, etype, filetype};
    return message(&view, offset, 2, MPI_INT);
  };
  EXPECT_THAT(through(MPI_INT, negative), HasSubstr("negative"));
  EXPECT_THAT(through(MPI_INT, backward), HasSubstr("do not ascend"));
  EXPECT_THAT(through(MPI_INT, reversed), HasSubstr("do not ascend"));
  EXPECT_THAT(through(MPI_INT, reversed, 0, 7), HasSubstr("do not ascend"));
  EXPECT_THAT(through(MPI_INT, overlapping), HasSubstr("overlap"));
  EXPECT_THAT(through(MPI_INT, empty), HasSubstr("no data"));
  EXPECT_THAT(through(empty, MPI_INT), HasSubstr("no data"));
  EXPECT_THAT(through(MPI_INT, MPI_DATATYPE_NULL), HasSubstr("MPI_DATATYPE_NULL"));
  EXPECT_THAT(through(MPI_DATATYPE_NULL, MPI_INT), HasSubstr("MPI_DATATYPE_NULL"));
  EXPECT_THAT(through(MPI_INT, MPI_INT, -1), HasSubstr("negative"));
  EXPECT_THAT(through(MPI_INT, MPI_INT, 0, -1), HasSubstr("negative"));
  EXPECT_THAT(through(MPI_INT, MPI_INT, INT64_MAX - 6), HasSubstr("64 bits"));
  EXPECT_THAT(through(MPI_INT, MPI_INT, 0, INT64_MAX / 4), HasSubstr("64 bits"));
  EXPECT_THAT(message(nullptr, 0, INT64_MAX / 2, MPI_INT), HasSubstr("64 bits"));
  EXPECT_THAT(message(nullptr, 0, 1, MPI_DATATYPE_NULL), HasSubstr("MPI_DATATYPE_NULL"));
  EXPECT_THAT(message(nullptr, 0, -1, MPI_INT), HasSubstr("-1"));
  EXPECT_EQ(windrow_byte_list_types(nullptr, 0, 1, MPI_INT, nullptr), WINDROW_BAD_ARGUMENT);
  for (MPI_Datatype* type : {&negative, &backward, &reversed, &overlapping, &empty})
    MPI_Type_free(type);
}

}  // namespace
