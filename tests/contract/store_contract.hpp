// SPDX-License-Identifier: BSD-3-Clause
// Tests that every kind of store passes. The test of a kind includes this and instantiates it with its name.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "../temporary_folder.hpp"
#include "storage/store.hpp"

namespace windrow::test {

inline std::vector<std::byte> pattern(size_t size, unsigned seed = 1) {
  std::vector<std::byte> bytes(size);
  for (size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<std::byte>((i * 131 + i / 251 + seed) & 0xff);
  return bytes;
}

class StoreContract : public testing::TestWithParam<const char*> {
 protected:
  Result<std::unique_ptr<Store>> open(const std::string& name, StoreMode mode) {
    StoreOptions options;
    options.kind = GetParam();
    return open_store(folder_.path(name), mode, options);
  }
  std::unique_ptr<Store> create(const std::string& name) {
    auto store = open(name, StoreMode::create);
    EXPECT_TRUE(store.ok()) << store.status().message();
    return std::move(store).value();
  }
  TemporaryFolder folder_;
};

TEST_P(StoreContract, reads_back_what_was_written) {
  auto store = create("plain");
  const auto bytes = pattern(100'000);
  ASSERT_TRUE(store->write_at(17, bytes).ok());
  std::vector<std::byte> back(bytes.size());
  ASSERT_TRUE(store->read_at(17, back).ok());
  EXPECT_EQ(back, bytes);
  EXPECT_EQ(store->size().value(), 100'017);
  std::vector<std::byte> head(17, std::byte{9});
  ASSERT_TRUE(store->read_at(0, head).ok());
  EXPECT_EQ(head, std::vector<std::byte>(17)) << "bytes never written read as zeros";
  EXPECT_TRUE(store->sync().ok());
  EXPECT_TRUE(store->close().ok());
}

TEST_P(StoreContract, writes_and_reads_slices_of_any_number_and_size) {
  auto store = create("slices");
  for (const size_t count : {size_t{1}, size_t{7}, size_t{1024}, size_t{1025}, size_t{5000}}) {
    std::vector<std::vector<std::byte>> parts;
    std::vector<ConstSlice> slices;
    std::vector<std::byte> together;
    for (size_t i = 0; i < count; ++i)
      parts.push_back(pattern(i % 5 * 3, static_cast<unsigned>(i)));  // including empty ones
    for (const auto& part : parts) {
      slices.push_back({part.data(), static_cast<int64_t>(part.size())});
      together.insert(together.end(), part.begin(), part.end());
    }
    ASSERT_TRUE(store->write_slices_at(1000, slices).ok());
    std::vector<std::byte> back(together.size());
    ASSERT_TRUE(store->read_at(1000, back).ok());
    EXPECT_EQ(back, together);
    std::vector<std::vector<std::byte>> back_parts;
    std::vector<Slice> back_slices;
    for (const auto& part : parts)
      back_parts.emplace_back(part.size());
    for (auto& part : back_parts)
      back_slices.push_back({part.data(), static_cast<int64_t>(part.size())});
    ASSERT_TRUE(store->read_slices_at(1000, back_slices).ok());
    EXPECT_EQ(back_parts, parts);
  }
}

TEST_P(StoreContract, counts_requests_and_bytes_exactly) {
  auto store = create("counted");
  const auto bytes = pattern(10);
  const std::vector<ConstSlice> slices{{bytes.data(), 4}, {bytes.data(), 0}, {bytes.data(), 6}};
  ASSERT_TRUE(store->write_at(0, bytes).ok());
  ASSERT_TRUE(store->write_slices_at(10, slices).ok());
  ASSERT_TRUE(store->write_at(0, {}).ok());
  ASSERT_TRUE(store->write_slices_at(0, {}).ok());
  std::vector<std::byte> back(20);
  ASSERT_TRUE(store->read_at(0, back).ok());
  ASSERT_TRUE(store->read_at(0, {}).ok());
  EXPECT_EQ(store->counters().write_requests, 2);
  EXPECT_EQ(store->counters().bytes_written, 20);
  EXPECT_EQ(store->counters().read_requests, 1);
  EXPECT_EQ(store->counters().bytes_read, 20);
}

TEST_P(StoreContract, reaches_beyond_four_gib) {
  auto store = create("sparse");
  const auto bytes = pattern(100);
  for (const int64_t offset : {(int64_t{1} << 31) - 50, (int64_t{1} << 32) - 50, (int64_t{5} << 30) + 1}) {
    ASSERT_TRUE(store->write_at(offset, bytes).ok());
    std::vector<std::byte> back(bytes.size());
    ASSERT_TRUE(store->read_at(offset, back).ok());
    EXPECT_EQ(back, bytes);
    EXPECT_EQ(store->size().value(), offset + 100);
  }
  std::vector<std::byte> hole(64, std::byte{9});
  ASSERT_TRUE(store->read_at(int64_t{3} << 30, hole).ok());
  EXPECT_EQ(hole, std::vector<std::byte>(64));
}

TEST_P(StoreContract, reading_past_the_end_is_a_bad_file) {
  auto store = create("short");
  ASSERT_TRUE(store->write_at(0, pattern(10)).ok());
  std::vector<std::byte> back(11);
  const Status status = store->read_at(0, back);
  EXPECT_EQ(status.code(), Code::bad_file);
  EXPECT_THAT(status.message(), testing::HasSubstr("read of 11 bytes at offset 0 of \"" + folder_.path("short")));
  EXPECT_THAT(status.message(), testing::HasSubstr("ends at byte 10"));
  EXPECT_EQ(store->read_at(100, back).code(), Code::bad_file);
}

TEST_P(StoreContract, resizes_both_ways) {
  auto store = create("resized");
  ASSERT_TRUE(store->write_at(0, pattern(200'000)).ok());
  ASSERT_TRUE(store->resize(70'000).ok());
  EXPECT_EQ(store->size().value(), 70'000);
  ASSERT_TRUE(store->resize(140'000).ok());
  EXPECT_EQ(store->size().value(), 140'000);
  std::vector<std::byte> back(140'000);
  ASSERT_TRUE(store->read_at(0, back).ok());
  auto expected = pattern(200'000);
  expected.resize(70'000);
  expected.resize(140'000);
  EXPECT_EQ(back, expected) << "what was cut off does not come back";
}

TEST_P(StoreContract, opens_again_and_empties_on_create) {
  auto store = create("again");
  ASSERT_TRUE(store->write_at(0, pattern(10)).ok());
  ASSERT_TRUE(store->close().ok());
  auto update = open("again", StoreMode::update);
  ASSERT_TRUE(update.ok()) << update.status().message();
  ASSERT_TRUE(update.value()->write_at(10, pattern(10, 7)).ok());
  auto reader = open("again", StoreMode::read);
  ASSERT_TRUE(reader.ok());
  std::vector<std::byte> back(10);
  ASSERT_TRUE(reader.value()->read_at(10, back).ok()) << "another handle sees it without a close";
  EXPECT_EQ(back, pattern(10, 7));
  EXPECT_EQ(create("again")->size().value(), 0);
}

TEST_P(StoreContract, a_file_that_does_not_exist_is_not_found) {
  for (const StoreMode mode : {StoreMode::read, StoreMode::update}) {
    const auto store = open("nothing here", mode);
    ASSERT_FALSE(store.ok());
    EXPECT_EQ(store.status().code(), Code::not_found);
    EXPECT_THAT(store.status().message(), testing::HasSubstr("nothing here"));
  }
}

TEST_P(StoreContract, takes_names_with_spaces_and_other_letters) {
  for (const char* name : {"two words.h5", "Größe \"7\".raw", "-rf", "a\\b", "new\nline"}) {
    auto store = create(name);
    ASSERT_TRUE(store->write_at(0, pattern(3)).ok());
    ASSERT_TRUE(store->close().ok());
    EXPECT_TRUE(open(name, StoreMode::read).ok()) << name;
  }
  StoreOptions options;
  options.kind = GetParam();
  EXPECT_EQ(open_store("", StoreMode::create, options).status().code(), Code::bad_argument);
  EXPECT_EQ(open_store(std::string("a\0b", 3), StoreMode::create, options).status().code(), Code::bad_argument);
}

TEST_P(StoreContract, refuses_what_cannot_be_right) {
  auto store = create("refused");
  const auto bytes = pattern(10);
  std::vector<std::byte> back(10);
  EXPECT_EQ(store->write_at(-1, bytes).code(), Code::bad_argument);
  EXPECT_EQ(store->read_at(-1, back).code(), Code::bad_argument);
  EXPECT_EQ(store->write_at(INT64_MAX - 5, bytes).code(), Code::bad_argument);
  EXPECT_EQ(store->read_at(INT64_MAX - 5, back).code(), Code::bad_argument);
  const ConstSlice negative{bytes.data(), -1};
  EXPECT_EQ(store->write_slices_at(0, {&negative, 1}).code(), Code::bad_argument);
  EXPECT_EQ(store->resize(-1).code(), Code::bad_argument);
  EXPECT_EQ(store->lock(-1, 1).code(), Code::bad_argument);
  EXPECT_EQ(store->size().value(), 0);
  EXPECT_EQ(store->counters().write_requests + store->counters().read_requests, 0);
}

TEST_P(StoreContract, a_reader_does_not_write) {
  ASSERT_TRUE(create("read only")->write_at(0, pattern(10)).ok());
  auto store = open("read only", StoreMode::read);
  ASSERT_TRUE(store.ok());
  EXPECT_EQ(store.value()->write_at(0, pattern(1)).code(), Code::bad_state);
  EXPECT_EQ(store.value()->resize(3).code(), Code::bad_state);
  EXPECT_EQ(store.value()->size().value(), 10);
}

TEST_P(StoreContract, nothing_follows_a_close) {
  auto store = create("closed");
  ASSERT_TRUE(store->close().ok());
  std::vector<std::byte> one(1);
  EXPECT_EQ(store->close().code(), Code::bad_state);
  EXPECT_EQ(store->write_at(0, one).code(), Code::bad_state);
  EXPECT_EQ(store->read_at(0, one).code(), Code::bad_state);
  EXPECT_EQ(store->size().status().code(), Code::bad_state);
  EXPECT_EQ(store->resize(1).code(), Code::bad_state);
  EXPECT_EQ(store->sync().code(), Code::bad_state);
  EXPECT_EQ(store->lock(0, 1).code(), Code::bad_state);
}

TEST_P(StoreContract, a_lock_keeps_others_out_until_it_is_given_back) {
  auto mine = create("locked");
  auto other = open("locked", StoreMode::update);
  ASSERT_TRUE(other.ok());
  ASSERT_TRUE(mine->lock(100, 50).ok());
  ASSERT_TRUE(other.value()->lock(150, 10).ok()) << "the bytes behind are free";
  ASSERT_TRUE(other.value()->lock(0, 0).ok()) << "no bytes, nothing to wait for";
  std::atomic<bool> mine_is_done = false;
  std::atomic<bool> was_kept_out = false;
  std::thread waiter([&] {
    const Status status = other.value()->lock(149, 1);
    was_kept_out = status.ok() && mine_is_done;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  mine_is_done = true;
  ASSERT_TRUE(mine->unlock(100, 50).ok());
  waiter.join();
  EXPECT_TRUE(was_kept_out);
  ASSERT_TRUE(other.value()->close().ok());
  EXPECT_TRUE(mine->lock(0, 1000).ok()) << "close gives locks back";
}

TEST_P(StoreContract, many_share_a_lock_but_not_with_one_who_has_it_alone) {
  auto mine = create("shared");
  auto other = open("shared", StoreMode::update), third = open("shared", StoreMode::update);
  ASSERT_TRUE(other.ok() && third.ok());
  ASSERT_TRUE(mine->lock_shared(0, 100).ok());
  ASSERT_TRUE(other.value()->lock_shared(50, 100).ok());
  std::atomic<int> given_back = 0;
  std::atomic<int> given_back_before = 0;
  std::thread waiter([&] {
    const Status status = third.value()->lock(60, 10);
    given_back_before = status.ok() ? given_back.load() : -1;
    EXPECT_TRUE(third.value()->unlock(60, 10).ok());
  });
  for (Store* store : {mine.get(), other.value().get()}) {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    ++given_back;
    ASSERT_TRUE((store == mine.get() ? store->unlock(0, 100) : store->unlock(50, 100)).ok());
  }
  waiter.join();
  EXPECT_EQ(given_back_before, 2);
  ASSERT_TRUE(third.value()->lock(0, 10).ok());
  std::atomic<bool> was_kept_out = false, third_is_done = false;
  std::thread sharer([&] { was_kept_out = mine->lock_shared(5, 1).ok() && third_is_done; });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  third_is_done = true;
  ASSERT_TRUE(third.value()->unlock(0, 10).ok());
  sharer.join();
  EXPECT_TRUE(was_kept_out);
}

}  // namespace windrow::test
