// SPDX-License-Identifier: BSD-3-Clause
// Encoding and decoding allocate nothing, neither here nor in the compressors' libraries; making a workspace fails in
// order.
#include <gtest/gtest.h>
#include <stdlib.h>

#include "../fault/failing_new.hpp"
#include "codec/codec.hpp"
#include "contents.hpp"

// The compressors' libraries call malloc: this one counts. Sanitizers have their own.
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define WINDROW_COUNTS_MALLOC 1
namespace {
int64_t allocations = 0;
}
#pragma GCC visibility push(default)
extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* memory, size_t size);
void* malloc(size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* memory, size_t size) {
  ++allocations;
  return __libc_realloc(memory, size);
}
}
#pragma GCC visibility pop
#endif

namespace windrow {
namespace {

using windrow_test::failing_new;
using windrow_test::Message;

int64_t allocations_so_far() {
#ifdef WINDROW_COUNTS_MALLOC
  return allocations;
#else
  return failing_new.count;
#endif
}

#ifdef WINDROW_COUNTS_MALLOC
TEST(Memory, of_libraries_is_counted) {
  const int64_t before = allocations;
  std::free(realpath("/", nullptr));
  EXPECT_GT(allocations, before);
}
#endif

TEST(Memory, is_not_taken_by_messages) {
  constexpr size_t k_largest = 1 << 20;
  failing_new.arm(0, false);
  for (const int level : {1, 2, 5, 9, 19}) {
    const auto made = CodecWorkspace::make(k_largest, compressors(), level);
    ASSERT_TRUE(made.ok());
    CodecWorkspace& workspace = *made.value();
    const Message raw = windrow_test::smooth_floats(k_largest), words = windrow_test::text(k_largest),
                  numbers = windrow_test::steps(k_largest);
    Message frame(k_largest + k_frame_header), back(k_largest);
    const int64_t before = allocations_so_far();
    // Long ones first, then so many short ones that a library that trims its memory would do it.
    std::vector<size_t> sizes{
        k_largest,       100,    1000, 16 << 10, (16 << 10) + 1, 128 << 10, (128 << 10) + 1, 256 << 10,
        (256 << 10) + 1, 600'000};
    sizes.resize(level == 1 ? 400 : sizes.size(), 3000);
    const int64_t own = allocations_so_far() - before;
    for (const size_t size : sizes)
      for (const Compressor* compressor : compressors())
        for (const bool shuffle : {false, true}) {
          const CodecChoice choice{compressor, level, shuffle, 4};
          const auto to = std::span(frame).first(size + k_frame_header);
          const int64_t length = encode_frame(std::span(compressor->shuffles() ? words : numbers).first(size), choice,
                                              true, workspace, to);
          ASSERT_TRUE(length > 0 || size == 100)
              << compressor->name() << " at level " << level << " makes no frame of " << size;
          const auto length_of_checked =
              static_cast<size_t>(encode_checked_frame(std::span(raw).first(size), choice, workspace, to));
          ASSERT_TRUE(
              decode_frame(std::span(frame).first(length_of_checked), std::span(back).first(size), workspace).ok());
          sample_frame(std::span(raw).first(size), choice, workspace);
        }
    EXPECT_EQ(allocations_so_far() - before - own, 0) << "at level " << level;
  }
  EXPECT_GT(failing_new.count, 0) << "nothing is counted";
  failing_new.disarm();
}

// The n-th allocation fails, for every n, until there are no more.
TEST(Memory, that_is_missing_is_a_status) {
  int64_t failed = 0;
  for (bool made = false; !made;) {
    failing_new.arm(failed + 1, false);
    const auto workspace = CodecWorkspace::make(100'000, compressors(), 3);
    failing_new.disarm();
    made = workspace.ok();
    if (!made) {
      ++failed;
      ASSERT_EQ(workspace.status().code(), Code::out_of_memory);
    }
  }
  EXPECT_GE(failed, 3);
}

TEST(Memory, is_what_the_workspace_says) {
  const auto small = CodecWorkspace::make(1 << 10, compressors()), large = CodecWorkspace::make(1 << 20, compressors());
  EXPECT_GT(large.value()->bytes(), small.value()->bytes() + (1 << 20) - (1 << 14));
  EXPECT_LT(large.value()->bytes(), 8 << 20);
  const auto none = CodecWorkspace::make(1 << 20, {});
  EXPECT_LT(none.value()->bytes(), (1 << 20) + (1 << 15));
  EXPECT_EQ(none.value()->largest(), 1 << 20);
}

}  // namespace
}  // namespace windrow
