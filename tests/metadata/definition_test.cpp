// SPDX-License-Identifier: BSD-3-Clause
#include "metadata/definition.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "define.hpp"

namespace windrow::test {
namespace {

// Changes that ranks must not differ in.
const std::vector<std::function<void(VariableDefinition&)>>& changes() {
  static const std::vector<std::function<void(VariableDefinition&)>> all{
      [](VariableDefinition& d) { d.path = "/w"; },
      [](VariableDefinition& d) { d.type = Type::float64; },
      [](VariableDefinition& d) {
        d.shape = {3, 4, 1};
      },
      [](VariableDefinition& d) {
        d.shape = {4, 3};
      },
      [](VariableDefinition& d) { d.big_endian = true; },
      [](VariableDefinition& d) {
        d.chunking.shape = {3, 4};
      },
      [](VariableDefinition& d) { d.extendible = true; },
      [](VariableDefinition& d) { d.null_space = true; },
      [](VariableDefinition& d) { d.details.bytes = 3; },
      [](VariableDefinition& d) { d.details.text_ascii = true; },
      [](VariableDefinition& d) { d.details.text_padding = TextPadding::space_padded; },
      [](VariableDefinition& d) { d.details.tag = "a"; },
      [](VariableDefinition& d) { d.details.enumeration = "a"; },
      [](VariableDefinition& d) { d.fill = {std::byte{1}}; },
      [](VariableDefinition& d) { d.split.axes = "a"; },
      [](VariableDefinition& d) { d.split.parts = "a"; },
      [](VariableDefinition& d) { d.split_asked = true; },
      [](VariableDefinition& d) { d.subfiles = 2; },
  };
  return all;
}

TEST(Definition, ThatDiffersHasAnotherText) {
  const auto text_of = [](const VariableDefinition& definition) {
    std::string text;
    append_definition(text, definition);
    return text;
  };
  std::set<std::string> texts{text_of(definition_of("/v", {3, 4}))};
  for (size_t i = 0; i < changes().size(); ++i) {
    VariableDefinition definition = definition_of("/v", {3, 4});
    changes()[i](definition);
    EXPECT_TRUE(texts.insert(text_of(definition)).second) << "change " << i;
  }
}

TEST(Definition, IsDescribedByWhatIsUnusual) {
  VariableDefinition definition = definition_of("/v", {3, 4});
  EXPECT_EQ(description_of(definition), "\"/v\" of int32, shape 3 x 4");
  definition.chunking.shape = {1, 4};
  definition.extendible = true;
  definition.big_endian = true;
  definition.fill = {std::byte{1}};
  EXPECT_EQ(description_of(definition),
            "\"/v\" of int32, shape 3 x 4, chunks 1 x 4, extendible, big-endian, with a fill value");
  EXPECT_EQ(description_of(definition_of("/v", {})), "\"/v\" of int32, a scalar");
}

}  // namespace
}  // namespace windrow::test
