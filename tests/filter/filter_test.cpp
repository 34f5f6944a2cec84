// SPDX-License-Identifier: BSD-3-Clause
#include "filter/filter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace windrow {
namespace {

using testing::HasSubstr;

std::vector<std::byte> smooth(size_t elements) {
  std::vector<double> values(elements);
  for (size_t i = 0; i < elements; ++i)
    values[i] = 1000.0 + 0.25 * static_cast<double>(i % 777);
  const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
  return {bytes, bytes + elements * sizeof(double)};
}

std::vector<std::byte> noise(size_t size) {
  std::mt19937 random(3);
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes)
    byte = static_cast<std::byte>(random());
  return bytes;
}

std::vector<Filter> parsed(const std::string& text, size_t bytes) {
  auto filters = parse_filters(text, 8, static_cast<int64_t>(bytes));
  EXPECT_TRUE(filters.ok()) << filters.status().message();
  return filters.ok() ? std::move(filters).value() : std::vector<Filter>();
}

std::vector<std::byte> encoded(std::span<const Filter> filters, std::span<const std::byte> bytes,
                               FilterBuffers& buffers) {
  ByteBuffer out;
  const Status status = encode(filters, bytes, buffers, out);
  EXPECT_TRUE(status.ok()) << status.message();
  return {out.bytes().begin(), out.bytes().end()};
}

bool is_built_in(const std::string& text) {
  const auto names = filter_names();
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    if (std::find(names.begin(), names.end(), part.substr(0, part.find(':'))) == names.end())
      return false;
    begin = end + 1;
  }
  return true;
}

const std::vector<std::string> k_pipelines{"shuffle",
                                           "fletcher32",
                                           "deflate:1",
                                           "deflate:9",
                                           "shuffle,deflate:4,fletcher32",
                                           "lz4",
                                           "shuffle,lz4",
                                           "zstd:1",
                                           "zstd:22",
                                           "blosc",
                                           "blosc:zstd:9",
                                           "blosc:blosclz:0",
                                           "fletcher32,deflate",
                                           "deflate:1,zstd:1"};

TEST(Filters, give_back_what_they_took) {
  FilterBuffers buffers;
  for (const std::string& text : k_pipelines) {
    if (!is_built_in(text))
      continue;
    SCOPED_TRACE(text);
    for (const auto& bytes : {smooth(5000), smooth(1), noise(100'003), std::vector<std::byte>(64), noise(7)}) {
      const std::vector<Filter> filters = parsed(text, bytes.size());
      const std::vector<std::byte> stored = encoded(filters, bytes, buffers);
      std::vector<std::byte> back(bytes.size());
      const Status status = decode(filters, 0, stored, back, buffers);
      EXPECT_TRUE(status.ok()) << status.message();
      EXPECT_TRUE(back == bytes);
    }
  }
}

TEST(Filters, make_smaller_what_is_smooth) {
  FilterBuffers buffers;
  const auto bytes = smooth(100'000);
  for (const char* text : {"shuffle,deflate:1", "shuffle,zstd:3", "shuffle,lz4", "blosc"}) {
    if (!is_built_in(text))
      continue;
    EXPECT_LT(encoded(parsed(text, bytes.size()), bytes, buffers).size(), bytes.size() / 4) << text;
  }
}

// For any bytes of a file: an error, or other bytes if there is no checksum, but no access outside.
TEST(Filters, survive_damage) {
  FilterBuffers buffers;
  std::mt19937 random(11);
  const auto bytes = smooth(300);
  for (const std::string& text : k_pipelines) {
    if (!is_built_in(text))
      continue;
    const std::vector<Filter> filters = parsed(text, bytes.size());
    const std::vector<std::byte> stored = encoded(filters, bytes, buffers);
    for (int round = 0; round < 200; ++round) {
      std::vector<std::byte> damaged = stored;
      if (round % 3 == 0)
        damaged.resize(random() % (stored.size() + 1));
      for (uint32_t i = 0; i < 1 + random() % 4 && !damaged.empty(); ++i)
        damaged[random() % damaged.size()] = static_cast<std::byte>(random());
      std::vector<std::byte> back(bytes.size());
      const Status status = decode(filters, 0, damaged, back, buffers);
      EXPECT_TRUE(status.ok() || status.code() == Code::bad_file) << text << ": " << status.message();
    }
  }
  const std::vector<Filter> checked = parsed("fletcher32", bytes.size());
  std::vector<std::byte> stored = encoded(checked, bytes, buffers), back(bytes.size());
  stored[17] ^= std::byte{1};
  EXPECT_THAT(decode(checked, 0, stored, back, buffers).message(), HasSubstr("checksum"));
}

TEST(Filters, leave_out_what_a_chunk_has_skipped) {
  if (!is_built_in("deflate"))
    GTEST_SKIP();
  FilterBuffers buffers;
  const auto bytes = smooth(100);
  const std::vector<Filter> filters = parsed("shuffle,deflate", bytes.size());
  std::vector<std::byte> back(bytes.size());
  const std::vector<Filter> first(filters.begin(), filters.begin() + 1);
  const std::vector<std::byte> stored = encoded(first, bytes, buffers);
  EXPECT_TRUE(decode(filters, 0b10, stored, back, buffers).ok());
  EXPECT_TRUE(back == bytes);
  EXPECT_TRUE(decode(filters, 0b11, bytes, back, buffers).ok());
  EXPECT_TRUE(back == bytes);
}

TEST(Filters, are_told_as_they_are_asked_for) {
  for (const char* text : {"shuffle,deflate:4,fletcher32", "zstd:3", "lz4", "blosc:lz4:5", "shuffle"}) {
    if (!is_built_in(text))
      continue;
    EXPECT_EQ(text_of(parsed(text, 4096)), text);
  }
  EXPECT_EQ(text_of({}), "");
  EXPECT_TRUE(parsed("none", 1).empty());
  EXPECT_EQ(missing_filter(std::vector<Filter>{{307, {}, "bzip2"}}), "filter 307 (bzip2)");
  EXPECT_EQ(missing_filter(parsed("shuffle,fletcher32", 8)), "");
}

TEST(Filters, that_are_not_are_refused) {
  for (const char* text : {"gzip", "deflate:10", "deflate:x", "zstd:-131073", "zstd:23", "zstd:-", "lz4:1", "shuffle:2",
                           "blosc:lzma", "blosc:lz4:10", ",", "shuffle,"}) {
    const auto filters = parse_filters(text, 8, 4096);
    EXPECT_FALSE(filters.ok()) << text;
  }
  EXPECT_EQ(parse_filters("shuffle", 8, int64_t{1} << 32).status().code(), Code::bad_argument);
}

}  // namespace
}  // namespace windrow
