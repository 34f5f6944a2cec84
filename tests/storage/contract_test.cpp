// SPDX-License-Identifier: BSD-3-Clause
// Every store of the table passes the contract; the table itself.
#include "../contract/store_contract.hpp"

namespace windrow::test {

INSTANTIATE_TEST_SUITE_P(posix, StoreContract, testing::Values("posix"));
INSTANTIATE_TEST_SUITE_P(memory, StoreContract, testing::Values("memory"));
INSTANTIATE_TEST_SUITE_P(faulty_without_a_fault, StoreContract, testing::Values("faulty"));

TEST(StoreTable, names_what_there_is) {
  EXPECT_THAT(store_kinds(), testing::ElementsAre("posix", "memory", "faulty"));
  StoreOptions options;
  options.kind = "tape";
  const auto store = open_store("x", StoreMode::create, options);
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.status().code(), Code::unsupported);
  EXPECT_THAT(store.status().message(), testing::HasSubstr("posix, memory, faulty"));
}

TEST(StoreTable, gives_a_fault_to_the_faulty_store_only) {
  StoreOptions options;
  options.fault = "operation=write,error=io";
  for (const char* kind : {"posix", "memory"}) {
    options.kind = kind;
    EXPECT_EQ(open_store("x", StoreMode::create, options).status().code(), Code::bad_argument) << kind;
  }
}

}  // namespace windrow::test
