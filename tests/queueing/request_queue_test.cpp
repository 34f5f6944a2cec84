// SPDX-License-Identifier: BSD-3-Clause
#include "queueing/request_queue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace windrow {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

QueuedRequest request(bool put, int variable, int64_t record = -1) {
  QueuedRequest made;
  made.put = put;
  made.variable = variable;
  made.record = record;
  return made;
}

// Variable and record of each.
std::vector<std::pair<int, int64_t>> found(RequestList& list, bool put, int64_t ordinal, int variable) {
  std::vector<std::pair<int, int64_t>> all;
  for (const QueuedRequest* each : list.entries_of(put, ordinal, variable))
    all.emplace_back(each->variable, each->record);
  return all;
}

TEST(RequestList, puts_of_a_variable_are_in_batches_by_their_number) {
  RequestList list;
  list.add(request(true, 7, 0));
  list.add(request(true, 3, 1));
  list.add(request(true, 7, 2));
  list.add(request(true, 7, 3));
  EXPECT_EQ(list.put_batches(), 3);
  EXPECT_EQ(list.put_counts().at(7), 3);
  EXPECT_THAT(found(list, true, 0, -1), ElementsAre(std::pair(3, 1), std::pair(7, 0)));
  EXPECT_THAT(found(list, true, 1, -1), ElementsAre(std::pair(7, 2)));
  EXPECT_THAT(found(list, true, 2, 7), ElementsAre(std::pair(7, 3)));
  EXPECT_THAT(found(list, true, 0, 4), IsEmpty());
}

TEST(RequestList, gets_are_one_batch_in_the_order_of_variables_and_calls) {
  RequestList list;
  for (const int64_t record : {5, 4, 6})
    list.add(request(false, 2, record));
  list.add(request(false, 1, 9));
  list.add(request(true, 2, 8));
  EXPECT_EQ(list.put_batches(), 1);
  EXPECT_THAT(found(list, false, 0, -1),
              ElementsAre(std::pair(1, 9), std::pair(2, 5), std::pair(2, 4), std::pair(2, 6)));
  EXPECT_THAT(found(list, false, 0, 2), ElementsAre(std::pair(2, 5), std::pair(2, 4), std::pair(2, 6)));
}

TEST(RequestList, is_sorted_again_after_a_change) {
  RequestList list;
  list.add(request(true, 5));
  EXPECT_THAT(found(list, true, 0, -1), ElementsAre(std::pair(5, -1)));
  list.add(request(true, 1));
  EXPECT_THAT(found(list, true, 0, -1), ElementsAre(std::pair(1, -1), std::pair(5, -1)));
  RequestList taken = std::move(list);
  EXPECT_THAT(found(taken, true, 0, -1), ElementsAre(std::pair(1, -1), std::pair(5, -1)));
  taken.clear();
  EXPECT_TRUE(taken.empty());
  EXPECT_EQ(taken.put_batches(), 0);
  EXPECT_THAT(found(taken, true, 0, -1), IsEmpty());
}

struct Queue {
  std::string path = "run.h5";
  Catalog catalog;
  Settings settings;
  Strategy strategy;
  PlanLimits limits;
  RequestQueue queue{{.path = path, .catalog = catalog, .settings = settings, .strategy = strategy, .limits = limits}};

  Queue() {
    for (const char* name : {"/a", "/b"}) {
      catalog.variables.emplace_back();
      catalog.variables.back().path = name;
      catalog.variables.back().type = Type::float64;
      catalog.variables.back().shape = {4};
    }
  }
};

TEST(RequestQueue, refuses_what_it_cannot_move) {
  Queue file;
  file.catalog.variables[1].unsupported = "a time";
  double value = 0;
  auto* data = reinterpret_cast<std::byte*>(&value);
  const Status unknown = file.queue.add({.put = true, .variable = 2, .decomposition = nullptr, .data = data});
  EXPECT_EQ(unknown.code(), Code::bad_argument);
  EXPECT_THAT(unknown.message(), HasSubstr("put: \"run.h5\" has no variable number 2"));
  const Status unsupported = file.queue.add({.put = false, .variable = 1, .decomposition = nullptr, .data = data});
  EXPECT_EQ(unsupported.code(), Code::unsupported);
  EXPECT_THAT(unsupported.message(), HasSubstr("get of \"/b\": its elements cannot be read or written: a time"));
  const Status missing = file.queue.add({.put = true, .variable = 0, .decomposition = nullptr, .data = data});
  EXPECT_THAT(missing.message(), HasSubstr("put of \"/a\": the decomposition is NULL"));
  EXPECT_TRUE(file.queue.empty());
}

TEST(RequestQueue, keeps_the_first_error_until_it_is_taken) {
  Queue file;
  EXPECT_TRUE(file.queue.refused().ok());
  (void)file.queue.add({.put = true, .variable = -1, .decomposition = nullptr});
  file.queue.refuse({Code::bad_argument, "later"});
  EXPECT_THAT(file.queue.refused().message(), HasSubstr("has no variable number"));
  EXPECT_THAT(file.queue.take_refused().message(), HasSubstr("has no variable number"));
  EXPECT_TRUE(file.queue.refused().ok());
  file.queue.refuse({Code::bad_argument, "asked"});
  file.queue.clear();
  EXPECT_TRUE(file.queue.refused().ok());
}

TEST(RequestQueue, values_out_of_range_are_an_error_only_if_the_option_says_so) {
  Settings settings;
  Staged staged;
  staged.stored = Type::int8;
  staged.type = Type::int32;
  EXPECT_TRUE(check_out_of_range(settings, 3, staged, true, "/a").ok());
  ASSERT_TRUE(settings.set("conversion", "error").ok());
  EXPECT_TRUE(check_out_of_range(settings, 0, staged, true, "/a").ok());
  EXPECT_THAT(check_out_of_range(settings, 1, staged, true, "/a").message(),
              HasSubstr("put of \"/a\": 1 value of type int32 does not fit into int8"));
  EXPECT_THAT(check_out_of_range(settings, 2, staged, false, "/a").message(),
              HasSubstr("get of \"/a\": 2 values of type int8 do not fit into int32"));
}

}  // namespace
}  // namespace windrow
