// SPDX-License-Identifier: BSD-3-Clause
#include "subfiling/split_policy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "subfiling/file_count.hpp"

namespace windrow::test {
namespace {

using testing::HasSubstr;

constexpr int64_t k_mib = int64_t{1} << 20;

VariableDefinition definition(std::vector<int64_t> shape, int64_t subfiles = 0) {
  VariableDefinition made;
  made.path = "/v";
  made.type = Type::float64;
  made.shape = std::move(shape);
  made.subfiles = subfiles;
  return made;
}

Settings settings(std::initializer_list<std::pair<const char*, const char*>> options) {
  Settings made;
  for (const auto& [key, value] : options)
    EXPECT_TRUE(made.set(key, value).ok()) << key;
  return made;
}

class SplitPolicyTest : public testing::Test {
 protected:
  SplitPolicy policy() const { return {options, catalog, set.get()}; }
  void make_set(int64_t count) {
    set = std::make_unique<Subfiles>("raw", "identity", "folder", SubfileNames{"folder", ".raw", count});
  }
  SubfileRequest request(const VariableDefinition& asked) const {
    const auto found = policy().request_for(std::span(&asked, 1));
    EXPECT_TRUE(found.ok()) << found.status().message();
    return found.ok() ? found.value() : SubfileRequest{};
  }
  Status refusal(const VariableDefinition& asked) const { return policy().request_for(std::span(&asked, 1)).status(); }
  int64_t parts(const VariableDefinition& asked, int64_t count) const {
    const auto found = policy().split_of(asked, count);
    EXPECT_TRUE(found.ok()) << found.status().message();
    return !found.ok() ? -1 : found.value() ? found.value()->parts() : 1;
  }

  SplitOptions options{.path = "a.raw", .is_new = true};
  Catalog catalog;
  std::unique_ptr<Subfiles> set;
};

TEST(AskedSubfiles, by_the_option_or_by_the_names_of_other_libraries) {
  EXPECT_EQ(asked_subfiles(settings({}), 8).value(), 0);
  EXPECT_EQ(asked_subfiles(settings({{"files", "one"}}), 8).value(), 1);
  EXPECT_EQ(asked_subfiles(settings({{"files", "subfiles(3)"}}), 8).value(), 3);
  EXPECT_EQ(asked_subfiles(settings({{"files", "per-rank"}}), 8).value(), 8);
  EXPECT_EQ(asked_subfiles(settings({{"strategy", "subfiling"}}), 8).value(), 8);
  EXPECT_EQ(asked_subfiles(settings({{"pnetcdf_subfiling", "enable"}, {"nc_num_subfiles", "4"}}), 8).value(), 4);
  EXPECT_EQ(asked_subfiles(settings({{"strategy", "subfiling"}, {"pnetcdf_subfiling", "disable"}}), 8).value(), 1);
}

TEST(AskedSubfiles, no_number_or_too_large_a_number_is_refused) {
  const Status no_number = asked_subfiles(settings({{"pnetcdf_subfiling", "enable"}}), 8).status();
  EXPECT_EQ(no_number.code(), Code::bad_argument);
  EXPECT_THAT(no_number.message(), HasSubstr("nc_num_subfiles does not give the number of files"));
  EXPECT_EQ(asked_subfiles(settings({{"files", "per-rank"}}), Subfiles::k_most + 1).status().code(),
            Code::bad_argument);
}

TEST(WantedSubfiles, auto_leaves_the_number_to_the_library) {
  EXPECT_EQ(wanted_subfiles(settings({}), 8).value(), 1);
  EXPECT_EQ(wanted_subfiles(settings({{"files", "auto"}}), 8).value(), 0);
  EXPECT_EQ(wanted_subfiles(settings({{"files", "subfiles(2)"}}), 8).value(), 2);
}

TEST_F(SplitPolicyTest, options_of_the_file_passed_to_its_variable_ask_for_nothing_more) {
  options.subfiles = 3;
  const Settings own = settings({{"files", "subfiles(3)"}}), other = settings({{"files", "subfiles(2)"}});
  EXPECT_EQ(policy().subfiles_of_variable(own, own, 4).value(), 0);
  EXPECT_EQ(policy().subfiles_of_variable(other, own, 4).value(), 2);
  EXPECT_EQ(policy().subfiles_of_variable(settings({{"subfile_bytes", "1MiB"}}), own, 4).status().code(),
            Code::bad_argument);
}

TEST_F(SplitPolicyTest, a_new_file_becomes_the_set_that_a_variable_asks_for) {
  EXPECT_EQ(request(definition({64, 64})).count, 0);
  const SubfileRequest found = request(definition({64, 64}, 4));
  EXPECT_EQ(found.count, 4);
  EXPECT_FALSE(found.of_all);
}

TEST_F(SplitPolicyTest, a_file_that_is_published_or_has_fewer_subfiles_cannot) {
  options.is_new = false;
  EXPECT_THAT(refusal(definition({64, 64}, 4)).message(), HasSubstr("\"a.raw\" is a single file"));
  make_set(2);
  EXPECT_THAT(refusal(definition({64, 64}, 4)).message(), HasSubstr("needs 4 subfiles, but \"a.raw\" has 2"));
  EXPECT_EQ(request(definition({64, 64}, 2)).count, 0);
}

TEST_F(SplitPolicyTest, a_refused_definition_makes_no_set) {
  VariableDefinition scalar = definition({}, 2);
  EXPECT_EQ(refusal(scalar).code(), Code::bad_argument);
  EXPECT_THAT(refusal(scalar).message(), HasSubstr("cannot be split over subfiles"));
}

TEST_F(SplitPolicyTest, no_file_exceeds_the_maximum_size) {
  options.most_file_bytes = 4 * k_mib;
  const SubfileRequest found = request(definition({16 * k_mib / 8}));
  EXPECT_TRUE(found.of_all);
  EXPECT_EQ(found.count, 5);  // four would be filled by the elements alone
  options.expected_bytes = 64 * k_mib;
  EXPECT_EQ(request(definition({16 * k_mib / 8})).count, 16);
  options.is_new = false;
  EXPECT_THAT(refusal(definition({16 * k_mib / 8})).message(), HasSubstr("would be larger than subfile_bytes"));
}

TEST_F(SplitPolicyTest, short_variables_have_fewer_parts_unless_asked) {
  make_set(8);
  EXPECT_EQ(parts(definition({4096}), 8), 8);
  EXPECT_EQ(parts(definition({16}), 8), 2);  // 64 bytes each
  EXPECT_EQ(parts(definition({4}), 8), 1);
  VariableDefinition asked = definition({16});
  asked.split_asked = true;
  EXPECT_EQ(parts(asked, 8), 8);
  EXPECT_EQ(parts(definition({16}, 1), 8), 1);
}

TEST_F(SplitPolicyTest, parts_are_long_if_the_library_has_chosen_the_number) {
  options.count_was_chosen = true;
  EXPECT_EQ(parts(definition({k_mib}), 8), 1);
  EXPECT_EQ(parts(definition({3 * k_least_part_bytes / 8}), 8), 3);
}

TEST_F(SplitPolicyTest, an_extendible_variable_is_split_along_its_other_dimensions) {
  make_set(4);
  options.subfiles = 4;
  VariableDefinition growing = definition({0, 64});
  growing.extendible = true;
  growing.chunking.shape = {1, 8};
  const auto splits = policy().split(std::span(&growing, 1), 5);
  ASSERT_TRUE(splits.ok()) << splits.status().message();
  ASSERT_TRUE(splits.value().contains(5));
  const SplitVariable& split = splits.value().at(5);
  EXPECT_TRUE(split.grows);
  EXPECT_EQ(split.records, 0);
  EXPECT_EQ(split.split.parts(), 4);
  EXPECT_EQ(split.split.box(1).start, (std::vector<int64_t>{0, 16}));
  EXPECT_EQ(split.chunk, (std::vector<int64_t>{1, 8}));
}

TEST_F(SplitPolicyTest, a_set_has_no_room_beyond_its_address_space) {
  make_set(1000);
  const VariableDefinition huge = definition({int64_t{1} << 50});
  EXPECT_EQ(policy().check_room(std::span(&huge, 1), {}, 0).code(), Code::bad_argument);
  const VariableDefinition small = definition({1 << 20});
  EXPECT_TRUE(policy().check_room(std::span(&small, 1), {}, 0).ok());
}

}  // namespace
}  // namespace windrow::test
