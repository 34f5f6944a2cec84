// SPDX-License-Identifier: BSD-3-Clause
// Headers from outside: cut short and changed everywhere, they are read or refused, by all ranks alike; nothing is read
// beside them.
#include <gmock/gmock.h>

#include <cstring>
#include <random>

#include "../stride.hpp"
#include "format/netcdf/header.hpp"
#include "netcdf.hpp"

namespace {

using namespace windrow_test;
using testing::HasSubstr;
using windrow::Decomposition;
using windrow::File;
using windrow::Options;

size_t step() {
  return static_cast<size_t>(stride());
}

class Hostile : public testing::Test {
 protected:
  std::string path() const { return folder_.file("file.nc"); }
  // A small file of each version, on all ranks.
  std::string sound(int version) const {
    File file = File::create(MPI_COMM_WORLD, path(), {{"netcdf_version", std::to_string(version)}});
    (void)file.define_variable("fixed", WINDROW_INT16, {3, 2});
    const int grows =
        file.define_variable("grows", WINDROW_FLOAT32, {2, 3}, Options{{"extendible", "true"}, {"fill_value", "2"}});
    file.name_dimensions(grows, {"time", "x"});
    file.put_attribute("/", "title", "t");
    file.put_attribute("grows", "range", std::vector<double>{1, 2});
    file.close();
    std::string bytes;
    if (rank_of() == 0)
      bytes = bytes_of_file(path());
    int length = static_cast<int>(bytes.size());
    MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
    bytes.resize(static_cast<size_t>(length));
    MPI_Bcast(bytes.data(), length, MPI_CHAR, 0, MPI_COMM_WORLD);
    return bytes;
  }
  void write(const std::string& bytes) const {
    on_root([&] {
      std::ofstream(path(), std::ios::binary | std::ios::trunc)
          .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    });
  }
  // Opened and, where that is possible, read through. The code, which all ranks have.
  int try_to_read(const std::string& bytes) const {
    write(bytes);
    windrow_file* file = nullptr;
    const int code = windrow_open(MPI_COMM_WORLD, path().c_str(), WINDROW_READ, nullptr, &file);
    expect_same_everywhere(code);
    if (code != WINDROW_OK)
      return code;
    const Decomposition all = Decomposition::same(MPI_COMM_WORLD, {});
    for (int i = 0; i < windrow_variable_count(file); ++i) {
      windrow_variable_info info{};
      info.size = sizeof info;
      EXPECT_WINDROW_OK(windrow_inquire_variable(file, i, &info));
      int64_t elements = info.element_bytes;
      constexpr int64_t k_most = 100'000;
      for (int d = 0; d < info.ndims && elements <= k_most; ++d)
        elements *= info.shape[d];
      if (elements > k_most)
        continue;
      std::vector<char> data(static_cast<size_t>(std::max<int64_t>(elements, 1)));
      const int read = windrow_read(file, i, all.get(), data.data());
      expect_same_everywhere(read);
      EXPECT_TRUE(read == WINDROW_OK || read == WINDROW_BAD_FILE) << windrow_error_message();
    }
    EXPECT_WINDROW_OK(windrow_close(file));
    return code;
  }
  static int64_t header_bytes(const std::string& bytes) {
    const auto header =
        windrow::decode_header(std::as_bytes(std::span(bytes)), static_cast<int64_t>(bytes.size()), "it");
    EXPECT_TRUE(header.ok()) << header.status().message();
    return header.ok() ? header.value().bytes : 0;
  }
  SharedFolder folder_;
};

TEST_F(Hostile, headers_that_end_early_are_bad_files) {
  for (const int version : {1, 2, 5}) {
    const std::string bytes = sound(version);
    const auto header = static_cast<size_t>(header_bytes(bytes));
    for (size_t length = 0; length < header; length += length < 16 ? 1 : 7) {
      EXPECT_EQ(try_to_read(bytes.substr(0, length)), WINDROW_BAD_FILE) << length;
      EXPECT_THAT(windrow_error_message(), HasSubstr("file.nc"));
    }
    EXPECT_EQ(try_to_read(bytes.substr(0, header)), WINDROW_OK)
        << "the data that are missing are missed when they are read";
  }
}

TEST_F(Hostile, every_byte_that_is_changed_is_refused_or_read) {
  for (const int version : {1, 2, 5}) {
    std::string bytes = sound(version);
    const auto header = static_cast<size_t>(header_bytes(bytes));
    for (size_t at = static_cast<size_t>(version) % step(); at < header; at += step())
      for (const int flip : {1, 0x80, 0xff}) {
        std::string changed = bytes;
        changed[at] = static_cast<char>(changed[at] ^ flip);
        const int code = try_to_read(changed);
        EXPECT_TRUE(code == WINDROW_OK || code == WINDROW_BAD_FILE || code == WINDROW_UNSUPPORTED)
            << at << ": " << windrow_error_message();
      }
  }
}

TEST_F(Hostile, several_bytes_at_once_too) {
  std::mt19937 random(5);
  for (const int version : {1, 2, 5}) {
    const std::string bytes = sound(version);
    const auto header = static_cast<size_t>(header_bytes(bytes));
    for (int round = 0; round < 300; round += stride()) {
      std::string changed = bytes;
      for (int i = 0; i < 4; ++i)
        changed[random() % header] = static_cast<char>(round % 3 == 0 ? 0xff : round % 3 == 1 ? 0 : random());
      (void)try_to_read(changed);
    }
  }
}

// The parser alone sees any bytes, of a file that is said to be large.
TEST_F(Hostile, inspection_reads_nothing_beside_the_bytes) {
  std::mt19937 random(6);
  for (const int version : {1, 2, 5}) {
    const std::string bytes = sound(version);
    for (int round = 0; round < 20'000; ++round) {
      std::vector<std::byte> changed(static_cast<size_t>(header_bytes(bytes)));
      std::memcpy(changed.data(), bytes.data(), changed.size());
      for (int i = 0; i < 3; ++i)
        changed[4 + random() % (changed.size() - 4)] = static_cast<std::byte>(random());
      changed.resize(1 + random() % changed.size());
      changed.shrink_to_fit();
      const auto header =
          windrow::decode_header(changed, round % 2 == 0 ? INT64_MAX / 4 : static_cast<int64_t>(changed.size()), "it");
      EXPECT_TRUE(!header.ok() || header.value().bytes <= static_cast<int64_t>(changed.size()));
    }
  }
}

TEST_F(Hostile, what_is_wrong_is_said) {
  const std::string bytes = sound(1);
  const auto expect = [&](size_t at, const std::string& with, const std::string& says) {
    std::string changed = bytes;
    changed.replace(at, with.size(), with);
    EXPECT_EQ(try_to_read(changed), says.find("streaming") != says.npos ? WINDROW_UNSUPPORTED : WINDROW_BAD_FILE);
    EXPECT_THAT(windrow_error_message(), HasSubstr(says));
  };
  expect(3, "\x07", "neither an HDF5 file, nor netCDF classic");
  expect(4, "\xff\xff\xff\xff", "streaming");
  expect(8, std::string("\0\0\0\x0c", 4), "tag 12 in place of 10");
  expect(12, "\x7f\xff\xff\xff", "exceeds the file");
  expect(16, "\x7f\xff\xff\xff", "a name of 2147483647 bytes");
}

// Offsets from 2^60 on are reserved for subfiles, if there are any.
TEST_F(Hostile, variables_that_lie_behind_what_a_file_can_have_are_refused) {
  const std::string bytes = sound(5);
  const size_t first = bytes.find(std::string("\0\0\0\0\0\0\x10\0", 8), 100);  // 4096, where the first variable begins
  ASSERT_NE(first, std::string::npos);
  for (const char* begin : {"\x10\0\0\0\0\0\0\0", "\x0f\xff\xff\xff\xff\xff\xff\xfc", "\x10\0\0\0\0\0\0\4"}) {
    std::string changed = bytes;
    changed.replace(first, 8, std::string(begin, 8));
    EXPECT_EQ(try_to_read(changed), WINDROW_BAD_FILE);
    EXPECT_THAT(windrow_error_message(), HasSubstr("beyond the maximum size of a file"));
  }
}

// An error for any mode of opening, and the file is unchanged.
TEST_F(Hostile, files_that_are_cut_short_are_not_read_as_zeros) {
  std::string bytes = sound(2);
  bytes.resize(4096 + 5);
  write(bytes);
  for (int round = 0; round < 2; ++round) {
    windrow_file* update = nullptr;
    EXPECT_EQ(windrow_open(MPI_COMM_WORLD, path().c_str(), WINDROW_UPDATE, nullptr, &update), WINDROW_BAD_FILE)
        << "it has no record";
    EXPECT_THAT(windrow_error_message(), HasSubstr("ends at byte 4101"));
    File file = File::open(MPI_COMM_WORLD, path(), windrow::Mode::read);
    std::vector<int16_t> values(6);
    file.get(file.find_variable("fixed"), Decomposition::same(MPI_COMM_WORLD, {3, 2}), values);
    EXPECT_THROW(file.flush(), windrow::Error);
    EXPECT_THAT(windrow_error_message(), HasSubstr("the file ends at byte 4101"));
    try {
      file.close();
    } catch (const windrow::Error&) {}
    MPI_Barrier(MPI_COMM_WORLD);
    on_root([&] { EXPECT_EQ(bytes_of_file(path()).size(), bytes.size()); });
  }
}

}  // namespace
