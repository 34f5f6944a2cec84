// SPDX-License-Identifier: BSD-3-Clause
#include "batching/get_completion.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "extent/byte_runs.hpp"

namespace windrow {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A get of 32-bit integers into memory of 8-bit ones, whose bytes were read.
struct NarrowGet {
  std::array<int8_t, 3> memory{};
  QueuedRequest request;
  Catalog catalog;
  Settings settings;
  Trace trace;
  GetCompletion completion;

  explicit NarrowGet(const std::array<int32_t, 3>& stored) {
    catalog.variables.emplace_back().path = "/a";
    request.put = false;
    request.staged = std::make_unique<Staged>(Staged{.stored = Type::int32,
                                                     .type = Type::int8,
                                                     .stored_bytes = 4,
                                                     .memory_bytes = 1,
                                                     .memory = reinterpret_cast<std::byte*>(memory.data()),
                                                     .bytes = std::make_unique<std::byte[]>(sizeof stored)});
    std::memcpy(request.staged->bytes.get(), stored.data(), sizeof stored);
    PiecesBuilder elements;
    elements.add(Nest(Run{.file = 0, .memory = 0, .length = 3}));
    auto runs = std::make_shared<ByteRuns>();
    runs->elements = elements.take();
    runs->see(PieceView(runs->elements, 4));
    completion.add_conversion(request, runs);
  }
};

TEST(GetCompletion, converts_what_was_read) {
  NarrowGet get({1, -2, 127});
  EXPECT_TRUE(get.completion.complete(get.settings, get.catalog, get.trace).ok());
  EXPECT_THAT(get.memory, ElementsAre(1, -2, 127));
  EXPECT_EQ(get.trace.values_clamped, 0);
  EXPECT_EQ(get.trace.bytes_copied, 12);
}

TEST(GetCompletion, counts_values_that_do_not_fit) {
  NarrowGet get({1, -200, 300});
  EXPECT_TRUE(get.completion.complete(get.settings, get.catalog, get.trace).ok());
  EXPECT_THAT(get.memory, ElementsAre(1, -128, 127));
  EXPECT_EQ(get.trace.values_clamped, 2);
}

TEST(GetCompletion, refuses_values_that_do_not_fit_if_the_option_says_so) {
  NarrowGet get({1, -200, 300});
  ASSERT_TRUE(get.settings.set("conversion", "error").ok());
  const Status status = get.completion.complete(get.settings, get.catalog, get.trace);
  EXPECT_EQ(status.code(), Code::bad_argument);
  EXPECT_THAT(status.message(), HasSubstr("get of \"/a\": 2 values of type int32 do not fit into int8"));
}

TEST(GetCompletion, has_nothing_to_do_for_gets_of_the_same_type) {
  Catalog catalog;
  Settings settings;
  Trace trace;
  QueuedRequest request;
  request.put = false;
  GetCompletion completion;
  completion.add_conversion(request, std::make_shared<ByteRuns>());
  EXPECT_TRUE(completion.complete(settings, catalog, trace).ok());
  EXPECT_EQ(trace.bytes_copied, 0);
}

}  // namespace
}  // namespace windrow
