// SPDX-License-Identifier: BSD-3-Clause
// Definitions as session makes them after all ranks have agreed.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "metadata/metadata.hpp"

namespace windrow::test {

inline VariableDefinition definition_of(std::string path, std::vector<int64_t> shape = {4}) {
  VariableDefinition definition;
  definition.path = std::move(path);
  definition.type = Type::int32;
  definition.shape = std::move(shape);
  return definition;
}

// The number of a variable; a test failure if it is refused.
inline int define(Metadata& metadata, VariableDefinition definition) {
  Additions added;
  EXPECT_TRUE(metadata.check_definition(definition, added).ok());
  metadata.reserve(added);
  metadata.enter_variable(std::move(definition), {.offset = 100, .bytes = 16});
  metadata.enter_index(added);
  return static_cast<int>(metadata.catalog().variables.size()) - 1;
}

inline void link(Metadata& metadata, const std::string& path, const std::string& target) {
  LinkAddition added;
  ASSERT_TRUE(metadata.check_link(path, target, added).ok());
  metadata.enter_link(added);
}

inline Status define_dimension(Metadata& metadata, const std::string& path, int64_t length) {
  DimensionAdditions added;
  Status status = metadata.check_dimension(path, length, added);
  if (status.ok())
    metadata.enter_dimensions(added);
  return status;
}

inline Status name_dimensions(Metadata& metadata, int variable, const std::vector<std::string>& names) {
  DimensionAdditions added;
  Status status = metadata.check_names(variable, names, added);
  if (status.ok())
    metadata.enter_dimensions(added);
  return status;
}

}  // namespace windrow::test
