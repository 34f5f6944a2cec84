// SPDX-License-Identifier: BSD-3-Clause
// Deflate over whichever libraries are built in: what one makes every other reads, at each level, and nothing is
// touched beyond the ends.
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "filter/filter.hpp"
#include "guarded.hpp"

#ifdef WINDROW_HAS_LIBDEFLATE
#include <libdeflate.h>
#endif
#ifdef WINDROW_HAS_ISAL
#include <isa-l/igzip_lib.h>
#endif

namespace windrow {
namespace {

using ByteList = std::vector<std::byte>;

constexpr size_t k_most = 300'007;  // several blocks of any library

// By number: zeros, text, a wave of doubles shuffled, one of floats, a walk of integers, noise, noise between
// repetitions.
constexpr int k_contents = 7;
ByteList content(int which, size_t size) {
  std::mt19937 random(static_cast<uint32_t>(which));
  ByteList bytes(size);
  const auto fill_with = [&](auto value) {
    for (size_t i = 0; i < size; i += sizeof value) {
      const auto next = decltype(value)(value + decltype(value)(std::sin(static_cast<double>(i) / 3000) * 1000));
      std::memcpy(bytes.data() + i, &next, std::min(sizeof next, size - i));
    }
  };
  switch (which) {
    case 0:
      break;
    case 1:
      for (size_t i = 0; i < size; ++i)
        bytes[i] = static_cast<std::byte>("of ranks and rows, "[i * i / 7 % 19]);
      break;
    case 2: {
      fill_with(290.0);
      const ByteList plain = bytes;
      for (size_t i = 0; i < size / 8; ++i)
        for (size_t k = 0; k < 8; ++k)
          bytes[k * (size / 8) + i] = plain[8 * i + k];
      break;
    }
    case 3:
      fill_with(3.5F);
      break;
    case 4:
      fill_with(int32_t{100'000});
      break;
    case 5:
      for (std::byte& byte : bytes)
        byte = static_cast<std::byte>(random());
      break;
    default:
      for (size_t i = 0; i < size; ++i)
        bytes[i] = i / 70'000 % 2 == 0 ? static_cast<std::byte>(random()) : bytes[i / 2];
  }
  return bytes;
}

const std::vector<size_t> k_sizes{0,  1,   2,    3,    7,    15,     16,     17,     63,     64,
                                  65, 255, 4095, 4096, 4097, 65'534, 65'535, 65'536, 65'537, k_most};

std::vector<Filter> deflate(int level) {
  return {{1, {static_cast<uint32_t>(level)}, "deflate"}};
}

ByteList encoded(const std::vector<Filter>& filters, std::span<const std::byte> bytes, FilterBuffers& buffers) {
  ByteBuffer out;
  const Status status = encode(filters, bytes, buffers, out);
  EXPECT_TRUE(status.ok()) << status.message();
  return {out.bytes().begin(), out.bytes().end()};
}

ByteList by_zlib(std::span<const std::byte> bytes, int level) {
  uLongf size = compressBound(bytes.size());
  ByteList out(size);
  EXPECT_EQ(compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                      bytes.size(), level),
            Z_OK);
  out.resize(size);
  return out;
}

bool zlib_reads(const ByteList& stored, const ByteList& bytes) {
  ByteList out(bytes.size() + 1);
  uLongf size = out.size();
  return uncompress(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(stored.data()),
                    stored.size()) == Z_OK &&
         size == bytes.size() && std::equal(bytes.begin(), bytes.end(), out.begin());
}

#ifdef WINDROW_HAS_LIBDEFLATE

ByteList by_libdeflate(std::span<const std::byte> bytes, int level) {
  libdeflate_compressor* compressor = libdeflate_alloc_compressor(level);
  ByteList out(libdeflate_zlib_compress_bound(compressor, bytes.size()));
  out.resize(libdeflate_zlib_compress(compressor, bytes.data(), bytes.size(), out.data(), out.size()));
  libdeflate_free_compressor(compressor);
  return out;
}

bool libdeflate_reads(const ByteList& stored, const ByteList& bytes) {
  ByteList out(bytes.size() + 1);
  size_t size = 0;
  libdeflate_decompressor* decompressor = libdeflate_alloc_decompressor();
  const auto result =
      libdeflate_zlib_decompress(decompressor, stored.data(), stored.size(), out.data(), out.size(), &size);
  libdeflate_free_decompressor(decompressor);
  return result == LIBDEFLATE_SUCCESS && size == bytes.size() && std::equal(bytes.begin(), bytes.end(), out.begin());
}

#endif
#ifdef WINDROW_HAS_ISAL

ByteList by_isal(std::span<const std::byte> bytes, int level) {
  ByteList memory(ISAL_DEF_LVL3_LARGE), out(bytes.size() + bytes.size() / 4 + 1024);
  const auto stream = std::make_unique<isal_zstream>();
  isal_deflate_init(stream.get());
  stream->level = static_cast<uint32_t>(level);
  stream->level_buf = reinterpret_cast<uint8_t*>(memory.data());
  stream->level_buf_size = static_cast<uint32_t>(memory.size());
  stream->gzip_flag = IGZIP_ZLIB;
  stream->end_of_stream = 1;
  stream->next_in = reinterpret_cast<uint8_t*>(const_cast<std::byte*>(bytes.data()));
  stream->avail_in = static_cast<uint32_t>(bytes.size());
  stream->next_out = reinterpret_cast<uint8_t*>(out.data());
  stream->avail_out = static_cast<uint32_t>(out.size());
  EXPECT_EQ(isal_deflate(stream.get()), COMP_OK);
  out.resize(stream->total_out);
  return out;
}

bool isal_reads(const ByteList& stored, const ByteList& bytes) {
  ByteList out(bytes.size() + 1);
  const auto state = std::make_unique<inflate_state>();
  isal_inflate_init(state.get());
  state->crc_flag = ISAL_ZLIB;
  state->next_in = reinterpret_cast<uint8_t*>(const_cast<std::byte*>(stored.data()));
  state->avail_in = static_cast<uint32_t>(stored.size());
  state->next_out = reinterpret_cast<uint8_t*>(out.data());
  state->avail_out = static_cast<uint32_t>(out.size());
  return isal_inflate(state.get()) == ISAL_DECOMP_OK && state->block_state == ISAL_BLOCK_FINISH &&
         state->total_out == bytes.size() && std::equal(bytes.begin(), bytes.end(), out.begin());
}

#endif

TEST(Deflate, is_read_by_every_library) {
  FilterBuffers buffers;
  for (const size_t size : k_sizes)
    for (int which = 0; which < k_contents; ++which) {
      const ByteList bytes = content(which, size);
      for (const int level : {0, 1, 2, 3, 6, 9}) {
        SCOPED_TRACE(testing::Message() << size << " bytes of content " << which << ", level " << level);
        const ByteList stored = encoded(deflate(level), bytes, buffers);
        ASSERT_GE(stored.size(), 8U);
        // A few bytes more in each stored block, at the worst.
        EXPECT_LE(stored.size(), size + size / 1000 + 64);
        const auto head = static_cast<unsigned>(stored[0]) << 8 | static_cast<unsigned>(stored[1]);
        EXPECT_EQ(head >> 8, 0x78U);  // deflate, with a window of 32 KiB
        EXPECT_EQ(head % 31, 0U);
        EXPECT_EQ(head & 0x20, 0U);  // no dictionary
        EXPECT_TRUE(zlib_reads(stored, bytes));
#ifdef WINDROW_HAS_LIBDEFLATE
        EXPECT_TRUE(libdeflate_reads(stored, bytes));
#endif
#ifdef WINDROW_HAS_ISAL
        EXPECT_TRUE(isal_reads(stored, bytes));
#endif
      }
    }
}

TEST(Deflate, reads_what_every_library_makes) {
  FilterBuffers buffers;
  for (const size_t size : k_sizes)
    for (int which = 0; which < k_contents; ++which) {
      const ByteList bytes = content(which, size);
      const auto reads = [&](const ByteList& stored, const char* whose, int level) {
        SCOPED_TRACE(testing::Message() << size << " bytes of content " << which << " by " << whose << ", level "
                                        << level);
        ByteList back(size);
        const Status status = decode(deflate(1), 0, stored, back, buffers);
        EXPECT_TRUE(status.ok()) << status.message();
        EXPECT_TRUE(back == bytes);
      };
      for (const int level : {0, 1, 6, 9})
        reads(by_zlib(bytes, level), "zlib", level);
#ifdef WINDROW_HAS_LIBDEFLATE
      for (const int level : {1, 6, 12})
        reads(by_libdeflate(bytes, level), "libdeflate", level);
#endif
#ifdef WINDROW_HAS_ISAL
      for (const int level : {0, 1, 2, 3})
        reads(by_isal(bytes, level), "ISA-L", level);
#endif
    }
}

// The library that a level is for is known by its bytes.
TEST(Deflate, is_made_by_the_library_that_its_level_is_for) {
  FilterBuffers buffers;
  const ByteList bytes = content(2, k_most);
#ifdef WINDROW_HAS_LIBDEFLATE
  const auto otherwise = by_libdeflate;
#else
  const auto otherwise = by_zlib;
#endif
  for (int level = 0; level <= 9; ++level) {
    const ByteList stored = encoded(deflate(level), bytes, buffers);
    bool fast = false;
#ifdef WINDROW_HAS_ISAL
    fast = level == 1 || level == 2;
#endif
    EXPECT_EQ(stored == otherwise(bytes, level), !fast) << "level " << level;
    EXPECT_LT(stored.size(), level == 0 ? bytes.size() + 1000 : bytes.size() * 8 / 10) << "level " << level;
  }
}

// What is encoded may be the last that is mapped, and so may the memory that is decoded into.
TEST(Deflate, touches_nothing_beyond_the_ends) {
  FilterBuffers buffers;
  const Guarded in(70'000), out(70'000), stored_memory(80'000);
  std::mt19937 random(7);
  for (int round = 0; round < 1500; ++round) {
    const size_t size = round < 600 ? static_cast<size_t>(round) : random() % 70'000;
    const ByteList bytes = content(round % k_contents, size);
    const std::span<std::byte> source = in.last(size), target = out.last(size);
    std::copy(bytes.begin(), bytes.end(), source.begin());
    const ByteList made = encoded(deflate(1 + round % 3), source, buffers);
    const std::span<std::byte> stored = stored_memory.last(made.size());
    std::copy(made.begin(), made.end(), stored.begin());
    std::fill(target.begin(), target.end(), std::byte{0xee});
    const Status status = decode(deflate(1), 0, stored, target, buffers);
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_TRUE(std::equal(bytes.begin(), bytes.end(), target.begin()));
  }
}

// Truncated anywhere, changed anywhere, or longer than the buffer: an error, because there is a checksum at the end,
// and no byte is accessed beyond the ends.
TEST(Deflate, takes_no_byte_outside_of_damaged_chunks) {
  FilterBuffers buffers;
  const Guarded out(4096), stored_memory(8192);
  std::mt19937 random(5);
  for (int which = 0; which < k_contents; ++which) {
    const ByteList bytes = content(which, 700);
    for (const int level : {1, 6}) {
      const ByteList made = encoded(deflate(level), bytes, buffers);
      const auto decode_last = [&](const ByteList& damaged, size_t size) {
        const std::span<std::byte> stored = stored_memory.last(damaged.size());
        std::copy(damaged.begin(), damaged.end(), stored.begin());
        return decode(deflate(1), 0, stored, out.last(size), buffers);
      };
      for (size_t length = 0; length < made.size(); ++length)
        EXPECT_EQ(decode_last({made.begin(), made.begin() + static_cast<std::ptrdiff_t>(length)}, bytes.size()).code(),
                  Code::bad_file)
            << length;
      for (const size_t size : {size_t{0}, size_t{1}, bytes.size() - 1, bytes.size() + 1, size_t{4096}})
        EXPECT_EQ(decode_last(made, size).code(), Code::bad_file) << size;
      for (size_t at = 0; at < made.size(); ++at)
        for (const std::byte flip : {std::byte{1}, std::byte{0x80}, std::byte{0xff}}) {
          ByteList damaged = made;
          damaged[at] ^= flip;
          // The bits that fill the last byte before the checksum, and what the header says of the level, mean nothing.
          const bool taken = decode_last(damaged, bytes.size()).ok();
          EXPECT_TRUE(!taken || std::equal(bytes.begin(), bytes.end(), out.last(bytes.size()).begin())) << at;
        }
      for (int round = 0; round < 2000; ++round) {
        ByteList damaged = made;
        for (uint32_t i = 0; i < 1 + random() % 8; ++i)
          damaged[2 + random() % (made.size() - 2)] = static_cast<std::byte>(random());
        damaged.insert(damaged.end(), random() % 3, std::byte{});
        (void)decode_last(damaged, random() % 4096);
      }
    }
  }
}

TEST(Deflate, is_put_behind_what_is_there) {
  FilterBuffers buffers;
  ByteBuffer out;
  std::vector<size_t> ends;
  std::vector<ByteList> all;
  for (int which = 0; which < k_contents; ++which) {
    all.push_back(content(which, 10'000 + 1000 * static_cast<size_t>(which)));
    const std::vector<Filter> filters{{2, {8}, "shuffle"}, {1, {which % 2 == 0 ? 1U : 4U}, "deflate"}};
    ASSERT_TRUE(encode(filters, all.back(), buffers, out).ok());
    ends.push_back(out.size());
  }
  for (size_t i = 0; i < all.size(); ++i) {
    const size_t begin = i == 0 ? 0 : ends[i - 1];
    ByteList back(all[i].size());
    const Status status = decode(std::vector<Filter>{{2, {8}, "shuffle"}, {1, {1}, "deflate"}}, 0,
                                 out.bytes().subspan(begin, ends[i] - begin), back, buffers);
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_TRUE(back == all[i]) << i;
  }
}

}  // namespace
}  // namespace windrow
