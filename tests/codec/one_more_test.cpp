// SPDX-License-Identifier: BSD-3-Clause
// A new compressor is one new file, compressors/bits.cpp. With it the library has one more compressor, which frames and
// options support. The tests of compressors and of strategies run with it in the same program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "codec/candidates.hpp"
#include "contents.hpp"
#include "plan/strategy.hpp"
#include "trace/trace.hpp"

namespace windrow {
namespace {

TEST(OneMore, compressor_is_in_the_table_by_its_file) {
  ASSERT_NE(find_compressor("bits"), nullptr);
  EXPECT_EQ(compressors().back(), find_compressor("bits")) << "the slowest";
  EXPECT_NE(find_arm("bits", true), k_arm_off);
  EXPECT_EQ(k_codec_kinds, 12) << "as they are; five compressors, with and without shuffle; equal elements";
}

TEST(OneMore, makes_frames_and_undoes_them) {
  const auto raw = windrow_test::text(1000);
  const auto workspace = std::move(CodecWorkspace::make(1000, compressors())).value();
  windrow_test::Message frame(raw.size()), back(raw.size());
  for (const bool shuffle : {false, true}) {
    const int64_t length = encode_frame(
        raw, {.compressor = find_compressor("bits"), .shuffle = shuffle, .element_bytes = 4}, true, *workspace, frame);
    ASSERT_EQ(length, k_frame_header + 1 + 7 * 1000 / 8) << "ASCII has 7 bits";
    EXPECT_EQ(kind_of_frame(frame).compressor, find_compressor("bits")->id());
    EXPECT_TRUE(decode_frame(std::span(frame).first(static_cast<size_t>(length)), back, *workspace).ok());
    EXPECT_EQ(back, raw);
  }
}

TEST(OneMore, is_a_choice_of_the_option) {
  EXPECT_EQ(codec_text(parse_strategy({.codec = "bits+shuffle"}).value()), "bits+shuffle");
  EXPECT_EQ(parse_strategy({.codec = "bits(2)"}).status().message(), "codec cannot be \"bits(2)\": bits has no levels");
  EXPECT_EQ(parse_strategy({.codec = "zip"}).status().message(),
            "codec cannot be \"zip\"; it is one of auto, off, lzo, lz4, zstd, delta, bits");
  const auto features = strategy_features();
  EXPECT_TRUE(std::any_of(features.begin(), features.end(),
                          [](const Feature& each) { return each.name == "codec=bits" && each.built; }));
}

}  // namespace
}  // namespace windrow
