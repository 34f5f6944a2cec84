// SPDX-License-Identifier: BSD-3-Clause
#include "format/catalog.hpp"

#include <gtest/gtest.h>

#include "../contract/example_attributes.hpp"

namespace windrow::test {
namespace {

Catalog example() {
  Catalog catalog;
  catalog.groups = {{"/", all_attributes()}, {"/a", {}}};
  Attribute strange;
  strange.name = "strange";
  strange.unsupported = "compound type";
  catalog.variables = {{"/a/v", Type::float64, {3, 4}, {2048, 96, true}, {strange}, ""},
                       {"/a/w", Type::none, {3}, {}, {}, "chunked"}};
  catalog.variables.back().details = {
      .bytes = 3, .text_ascii = true, .text_padding = TextPadding::space_padded, .tag = "tag", .enumeration = "A=1"};
  catalog.variables.back().null_space = true;
  catalog.variables.back().fill = {std::byte{1}, std::byte{2}, std::byte{3}};
  catalog.variables.back().is_inline = true;
  catalog.variables.back().content = {std::byte{4}};
  catalog.unsupported = {"/link: soft link"};
  catalog.links = {{"/soft", "/a/v"}, {"/hard", "/a/v", true}};
  return catalog;
}

}  // namespace

TEST(CatalogBytes, come_back_as_the_same_catalog) {
  for (const Catalog& catalog : {Catalog{}, example()}) {
    const auto back = deserialize(serialize(catalog));
    ASSERT_TRUE(back.ok()) << back.status().message();
    EXPECT_EQ(back.value(), catalog);
  }
}

TEST(CatalogBytes, cut_off_or_too_long_are_refused) {
  auto bytes = serialize(example());
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_EQ(deserialize(std::span(bytes).first(size)).status().code(), Code::internal) << size;
  bytes.push_back({});
  EXPECT_EQ(deserialize(bytes).status().code(), Code::internal);
}

// For any change of a byte nothing outside is read, and no memory is allocated for impossible counts (ASan checks it).
TEST(CatalogBytes, damaged_are_read_without_harm) {
  const auto bytes = serialize(example());
  for (size_t i = 0; i < bytes.size(); ++i)
    for (const std::byte flip : {std::byte{0x01}, std::byte{0x80}, std::byte{0xff}}) {
      auto damaged = bytes;
      damaged[i] ^= flip;
      const auto back = deserialize(damaged);
      EXPECT_TRUE(back.ok() || back.status().code() == Code::internal) << i;
    }
}

TEST(StoredVariable, has_records_in_chunks_or_between_others) {
  Variable variable{
      .path = "/v", .type = Type::float64, .shape = {5, 2}, .placement = {}, .attributes = {}, .unsupported = ""};
  EXPECT_EQ(variable.records(), 0);
  EXPECT_FALSE(variable.is_interleaved() || variable.is_chunked());
  variable.extendible = true;
  EXPECT_EQ(variable.records(), 5);
  EXPECT_TRUE(variable.is_interleaved());
  variable.chunking.shape = {1, 2};
  EXPECT_TRUE(variable.is_chunked());
  EXPECT_FALSE(variable.is_interleaved());
}

TEST(StoredVariable, lacks_its_place_until_it_has_elements) {
  Variable variable{
      .path = "/v", .type = Type::int8, .shape = {1}, .placement = {}, .attributes = {}, .unsupported = ""};
  EXPECT_FALSE(variable.lacks_place());
  variable.is_inline = true;
  EXPECT_TRUE(variable.lacks_place());
  variable.content = {std::byte{1}};
  EXPECT_FALSE(variable.lacks_place());
}

}  // namespace windrow::test
