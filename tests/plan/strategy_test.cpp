// SPDX-License-Identifier: BSD-3-Clause
#include "plan/strategy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace windrow {
namespace {

using testing::HasSubstr;

TEST(ParseStrategy, knows_the_papers_points) {
  const Strategy scorpio = parse_strategy({.preset = "scorpio"}).value();
  EXPECT_EQ(scorpio.gather, Gather::team);
  EXPECT_EQ(scorpio.team_write, 16);
  EXPECT_EQ(scorpio.team_read, 1024);
  EXPECT_EQ(scorpio.domains, Domains::none);
  const Strategy two_phase = parse_strategy({.preset = "two-phase"}).value();
  EXPECT_EQ(two_phase.owner, Owner::first);
  EXPECT_EQ(two_phase.domains, Domains::even);
  const Strategy list = parse_strategy({.preset = "list"}).value();
  EXPECT_EQ(list.owner, Owner::partitioner);
  EXPECT_EQ(list.access, Access::list);
}

TEST(ParseStrategy, an_axis_wins_over_the_preset_and_auto_leaves_it) {
  const Strategy strategy = parse_strategy({.preset = "two-phase", .owner = "auto", .domains = "aligned"}).value();
  EXPECT_EQ(strategy.domains, Domains::aligned);
  EXPECT_EQ(strategy.owner, Owner::first);
}

TEST(ParseStrategy, says_what_is_not_built_yet) {
  for (const char* preset : {"tpc", "idg", "subfiling", "ylib", "bips3d-tree"}) {
    const auto parsed = parse_strategy({.preset = preset});
    EXPECT_EQ(parsed.status().code(), Code::unsupported) << preset;
    EXPECT_THAT(parsed.status().message(), HasSubstr("not built yet"));
  }
  EXPECT_EQ(parse_strategy({.codec = "zstd"}).status().code(), Code::unsupported);
}

TEST(ParseStrategy, lists_the_choices_when_there_is_no_such) {
  const auto preset = parse_strategy({.preset = "fast"});
  EXPECT_EQ(preset.status().code(), Code::bad_argument);
  EXPECT_THAT(preset.status().message(), HasSubstr("two-phase"));
  EXPECT_THAT(parse_strategy({.domains = "odd"}).status().message(), HasSubstr("even"));
}

TEST(ParseStrategy, reads_team_sizes) {
  const Strategy both = parse_strategy({.gather = "team(3,7)"}).value();
  EXPECT_EQ(both.team_write, 3);
  EXPECT_EQ(both.team_read, 7);
  for (const char* wrong : {"team", "team()", "team(0)", "team(-1)", "team(2,)", "team(2,x)", "team(2", "team(99999999999999999999)"})
    EXPECT_EQ(parse_strategy({.gather = wrong}).status().code(), Code::bad_argument) << wrong;
}

TEST(StrategyFeatures, name_each_choice_once) {
  auto features = strategy_features();
  std::sort(features.begin(), features.end(), [](const Feature& a, const Feature& b) { return a.name < b.name; });
  for (size_t i = 1; i < features.size(); ++i) EXPECT_NE(features[i].name, features[i - 1].name);
  EXPECT_TRUE(std::any_of(features.begin(), features.end(), [](const Feature& f) { return f.name == "domains=aligned" && f.built; }));
}

}  // namespace
}  // namespace windrow
