// SPDX-License-Identifier: BSD-3-Clause
#include "plan/strategy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "codec/codec.hpp"

namespace windrow {
namespace {

using testing::HasSubstr;

TEST(ParseStrategy, knows_the_papers_points) {
  const Strategy scorpio = parse_strategy({.preset = "scorpio"}).value();
  EXPECT_EQ(scorpio.gather, Gather::team);
  EXPECT_EQ(scorpio.team_write, 16);
  EXPECT_EQ(scorpio.team_read, 1024);
  EXPECT_EQ(scorpio.domains, Domains::automatic);
  const Strategy two_phase = parse_strategy({.preset = "two-phase"}).value();
  EXPECT_EQ(two_phase.owner, Owner::first);
  EXPECT_EQ(two_phase.domains, Domains::even);
  const Strategy list = parse_strategy({.preset = "list"}).value();
  EXPECT_EQ(list.owner, Owner::partitioner);
  EXPECT_EQ(list.access, Access::list);
}

TEST(ParseStrategy, the_presets_of_irregular_meshes) {
  const Strategy idg = parse_strategy({.preset = "idg"}).value();
  EXPECT_EQ(idg.owner, Owner::idg);
  EXPECT_EQ(idg.access, Access::list);
  const Strategy tree = parse_strategy({.preset = "bips3d-tree"}).value();
  EXPECT_EQ(tree.owner, Owner::idg);
  EXPECT_EQ(tree.domains, Domains::automatic);
}

TEST(ParseStrategy, an_axis_wins_over_the_preset_and_auto_leaves_it) {
  const Strategy strategy = parse_strategy({.preset = "two-phase", .owner = "auto", .domains = "aligned"}).value();
  EXPECT_EQ(strategy.domains, Domains::aligned);
  EXPECT_EQ(strategy.owner, Owner::first);
}

TEST(ParseStrategy, reads_codecs_with_shuffle_and_level) {
  for (const Compressor* compressor : known_compressors()) {
    const std::string name(compressor->name());
    EXPECT_EQ(name_of(find_codec(name).value()), name);
    const auto plain = parse_strategy({.codec = name});
    if (!compressor->is_built_in()) {
      EXPECT_EQ(plain.status().code(), Code::unsupported);
      EXPECT_THAT(plain.status().message(), HasSubstr("codec=" + name + " is not built in"));
      continue;
    }
    EXPECT_EQ(plain.value().codec, find_codec(name));
    EXPECT_FALSE(plain.value().codec_shuffle);
    const std::string shuffled = name + "+shuffle";
    if (!compressor->shuffles())
      continue;
    EXPECT_TRUE(parse_strategy({.codec = shuffled}).value().codec_shuffle);
    EXPECT_EQ(codec_text(parse_strategy({.codec = shuffled}).value()), shuffled);
  }
  if (find_compressor("zstd") != nullptr) {
    const Strategy level = parse_strategy({.codec = "zstd+shuffle(3)"}).value();
    EXPECT_EQ(level.codec_level, 3);
    EXPECT_EQ(codec_text(level), "zstd+shuffle(3)");
    EXPECT_THAT(parse_strategy({.codec = "zstd(99)"}).status().message(), HasSubstr("1 to"));
    for (const char* wrong : {"zstd(", "zstd(x)", "zstd(0)"})
      EXPECT_EQ(parse_strategy({.codec = wrong}).status().code(), Code::bad_argument) << wrong;
  }
  EXPECT_THAT(parse_strategy({.codec = "zip"}).status().message(),
              HasSubstr("it is one of auto, off, lzo, lz4, zstd, delta"));
  for (const char* none : {"auto", "off", "zip", ""})
    EXPECT_EQ(find_codec(none), std::nullopt) << none;
  for (const char* name : {"auto", "off"})
    EXPECT_EQ(name_of(parse_strategy({.codec = name}).value().codec), name);
  for (const char* wrong : {"zip", "auto+shuffle", "off(2)", "lz4+shuffel", "off+shuffle", "delta+shuffle", "delta(2)"})
    EXPECT_EQ(parse_strategy({.codec = wrong}).status().code(), Code::bad_argument) << wrong;
}

TEST(ParseStrategy, the_paper_of_compressed_exchange_prefers_its_codec) {
  const Strategy strategy = parse_strategy({.preset = "tpc"}).value();
  EXPECT_EQ(strategy.codec, Codec::automatic);
  EXPECT_EQ(strategy.codec_preferred, find_compressor("lzo") != nullptr ? find_codec("lzo") : Codec::automatic);
  EXPECT_EQ(strategy.domains, Domains::even);
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
  for (const char* wrong :
       {"team", "team()", "team(0)", "team(-1)", "team(2,)", "team(2,x)", "team(2", "team(99999999999999999999)"})
    EXPECT_EQ(parse_strategy({.gather = wrong}).status().code(), Code::bad_argument) << wrong;
}

TEST(StrategyFeatures, name_each_choice_once) {
  auto features = strategy_features();
  std::sort(features.begin(), features.end(), [](const Feature& a, const Feature& b) { return a.name < b.name; });
  for (size_t i = 1; i < features.size(); ++i)
    EXPECT_NE(features[i].name, features[i - 1].name);
  EXPECT_TRUE(std::any_of(features.begin(), features.end(),
                          [](const Feature& f) { return f.name == "domains=aligned" && f.built; }));
}

}  // namespace
}  // namespace windrow
