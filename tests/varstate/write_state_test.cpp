// SPDX-License-Identifier: BSD-3-Clause
#include "varstate/write_state.hpp"

#include <gtest/gtest.h>

#include <array>
#include <initializer_list>

namespace windrow {
namespace {

using Fill = VariableState::Fill;
constexpr size_t k_variables = 130;  // more than two words of bits
using Bits = std::array<int64_t, 3>;

Bits bits_of(std::initializer_list<size_t> variables) {
  Bits bits{};
  for (const size_t each : variables)
    bits[each / 64] |= static_cast<int64_t>(uint64_t{1} << (each % 64));
  return bits;
}

WriteState state_of(size_t variables = k_variables) {
  WriteState state;
  state.grow(variables);
  return state;
}

bool picks_all(size_t) {
  return true;
}

TEST(WriteState, NewVariableWithoutFillValueReadsAsZerosUntilWritten) {
  WriteState state = state_of();
  state.add_contiguous(63, false);
  EXPECT_TRUE(state[63].never_written);
  EXPECT_FALSE(state[63].needs_fill());
  state.mark_written(bits_of({64}));
  EXPECT_TRUE(state[63].never_written);
  state.mark_written(bits_of({63}));
  EXPECT_FALSE(state[63].never_written);
}

TEST(WriteState, NewVariableWithFillValueNeedsIt) {
  WriteState state = state_of();
  EXPECT_FALSE(state.any_needs_fill());
  state.add_contiguous(129, true);
  EXPECT_TRUE(state.any_needs_fill());
  EXPECT_FALSE(state[129].never_written);
  EXPECT_TRUE(state.any_needs_fill(bits_of({1, 129})));
  EXPECT_FALSE(state.any_needs_fill(bits_of({1, 128})));
  state.mark_filled(bits_of({129}));
  EXPECT_FALSE(state.any_needs_fill());
}

TEST(WriteState, FillingThatFailsIsMissingAgain) {
  WriteState state = state_of();
  for (const size_t each : {size_t{5}, size_t{70}})
    state.add_contiguous(each, true);
  state.begin_filling(bits_of({5, 6}));
  EXPECT_EQ(state[5].fill, Fill::under_way);
  EXPECT_EQ(state[6].fill, Fill::complete);
  EXPECT_EQ(state[70].fill, Fill::missing);
  state.end_filling(false);
  EXPECT_EQ(state[5].fill, Fill::missing);
  state.begin_filling(bits_of({5}));
  state.end_filling(true);
  EXPECT_EQ(state[5].fill, Fill::complete);
  EXPECT_EQ(state[70].fill, Fill::missing);
}

TEST(WriteState, BatchChangesAllOfItsVariablesAndMovesThoseThatArePicked) {
  WriteState state = state_of();
  state.start_writing(bits_of({1, 100}), [](size_t variable) { return variable != 1; });
  EXPECT_TRUE(state[1].changed);
  EXPECT_FALSE(state[1].moving);
  EXPECT_FALSE(state[1].unsynced);
  EXPECT_TRUE(state[100].changed && state[100].moving && state[100].unsynced);
  EXPECT_FALSE(state[2].changed || state[2].moving);
  state.start_writing(bits_of({1}), picks_all);
  EXPECT_TRUE(state[1].moving);
  EXPECT_FALSE(state[100].moving);
  EXPECT_TRUE(state[100].unsynced);
  state.mark_synced();
  EXPECT_FALSE(state.any(&VariableState::unsynced));
  EXPECT_TRUE(state[1].changed && state[100].changed);
}

TEST(WriteState, VariableStaysUndefinedUntilWrittenAsAWhole) {
  WriteState state = state_of();
  state.start_writing(bits_of({7, 8}), picks_all);
  EXPECT_FALSE(state.any(&VariableState::undefined));
  state.mark_undefined(&VariableState::moving);
  state.start_writing(bits_of({8}), picks_all);
  EXPECT_TRUE(state[7].undefined && state[8].undefined);
  state.end_whole();
  EXPECT_TRUE(state[7].undefined);
  EXPECT_FALSE(state[8].undefined);
}

TEST(WriteState, FlagsTravelAsBits) {
  WriteState state = state_of();
  state.set_moving(
      [](size_t variable) { return variable == 0 || variable == 63 || variable == 64 || variable == 129; });
  Bits bits = bits_of({33});
  state.pack(&VariableState::moving, bits);
  EXPECT_EQ(bits, bits_of({0, 63, 64, 129}));
  WriteState other = state_of();
  other[2].moving = true;
  other.unpack(&VariableState::moving, bits);
  for (size_t i = 0; i < k_variables; ++i)
    EXPECT_EQ(other[i].moving, state[i].moving) << i;
}

TEST(WriteState, MemoryForDefinitionsThatFailedChangesNothing) {
  WriteState state = state_of(3);
  state[2].filled_records = 9;
  state.grow(200);
  state.grow(4);
  EXPECT_EQ(state[2].filled_records, 9);
  EXPECT_FALSE(state[199].needs_fill());
  const std::array<int64_t, 1> few{-1};  // of the variables that there are
  state.start_writing(few, picks_all);
  EXPECT_TRUE(state[63].moving);
  EXPECT_FALSE(state[64].moving || state[199].moving);
}

}  // namespace
}  // namespace windrow
