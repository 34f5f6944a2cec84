// SPDX-License-Identifier: BSD-3-Clause
// Each constructor of MPI, read back: against places by hand and against MPI_Pack.
#include "datatype/decode.hpp"

#include <gtest/gtest.h>

#include <array>

#include "bytes.hpp"
#include "datatype/contents.hpp"
#include "packed.hpp"

namespace windrow {
namespace {

using test::places_of;
using Places = std::vector<int64_t>;

// A derived type, committed.
class Type {
 public:
  template <class Make, class... Arguments>
  explicit Type(Make make, Arguments... arguments) {
    EXPECT_EQ(make(arguments..., &type_), MPI_SUCCESS);
    MPI_Type_commit(&type_);
  }
  Type(const Type&) = delete;
  Type& operator=(const Type&) = delete;
  ~Type() { MPI_Type_free(&type_); }
  operator MPI_Datatype() const noexcept { return type_; }  // NOLINT: implicit on purpose

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

class Decode : public testing::Test {
 protected:
  void SetUp() override {
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  }
};

TypeMap map_of(MPI_Datatype type) {
  const auto map = type_map_of(type);
  EXPECT_TRUE(map.ok()) << map.status().message();
  return map.ok() ? map.value() : TypeMap{};
}

// The places of the data, in the order of the typemap, each `length` bytes.
void expect_places(MPI_Datatype type, const Places& places, int64_t length = 1) {
  Places bytes;
  for (const int64_t place : places)
    for (int64_t i = 0; i < length; ++i)
      bytes.push_back(place + i);
  EXPECT_EQ(places_of(map_of(type).data), bytes);
  EXPECT_EQ(test::pack_difference(type, 1), "");
  EXPECT_EQ(test::pack_difference(type, 3), "");
}

void expect_bounds(MPI_Datatype type, int64_t lower_bound, int64_t extent) {
  EXPECT_EQ(map_of(type).lower_bound, lower_bound);
  EXPECT_EQ(map_of(type).extent, extent);
}

TEST_F(Decode, named_types) {
  expect_places(MPI_BYTE, {0});
  expect_places(MPI_DOUBLE, {0}, 8);
  expect_bounds(MPI_DOUBLE, 0, 8);
  expect_places(MPI_C_DOUBLE_COMPLEX, {0}, 16);
  expect_places(MPI_2INT, {0}, 8);
}

TEST_F(Decode, pairs_have_holes) {
  expect_places(MPI_SHORT_INT, {0, 1, 4, 5, 6, 7});
  expect_bounds(MPI_SHORT_INT, 0, 8);
  expect_places(MPI_DOUBLE_INT, {0, 4, 8}, 4);
  expect_bounds(MPI_DOUBLE_INT, 0, 16);
  expect_places(MPI_LONG_INT, {0, 4, 8}, 4);
  expect_places(MPI_FLOAT_INT, {0, 4}, 4);
  expect_places(MPI_LONG_DOUBLE_INT, {0, 4, 8, 12, 16}, 4);
  expect_bounds(MPI_LONG_DOUBLE_INT, 0, 32);
}

TEST_F(Decode, duplicate_and_contiguous) {
  const Type doubles(MPI_Type_contiguous, 3, MPI_SHORT_INT), copy(MPI_Type_dup, MPI_Datatype(doubles));
  expect_places(copy, {0, 4, 6, 8, 12, 14, 16, 20, 22}, 2);
}

TEST_F(Decode, vectors) {
  const Type vector(MPI_Type_vector, 2, 2, 3, MPI_INT),
      backward(MPI_Type_create_hvector, 3, 1, MPI_Aint(-6), MPI_SHORT);
  expect_places(vector, {0, 4, 12, 16}, 4);
  expect_bounds(vector, 0, 20);
  expect_places(backward, {0, -6, -12}, 2);
  expect_bounds(backward, -12, 14);
}

TEST_F(Decode, indexed_types) {
  const std::array<int, 3> counts{2, 0, 1}, displacements{4, 9, -1};
  const std::array<MPI_Aint, 3> bytes{5, 100, -3};
  expect_places(Type(MPI_Type_indexed, 3, counts.data(), displacements.data(), MPI_INT), {16, 20, -4}, 4);
  expect_places(Type(MPI_Type_create_hindexed, 3, counts.data(), bytes.data(), MPI_SHORT), {5, 7, -3}, 2);
  expect_places(Type(MPI_Type_create_indexed_block, 3, 2, displacements.data(), MPI_INT), {16, 20, 36, 40, -4, 0}, 4);
  expect_places(Type(MPI_Type_create_hindexed_block, 3, 1, bytes.data(), MPI_SHORT), {5, 100, -3}, 2);
}

TEST_F(Decode, structures) {
  const std::array<int, 3> counts{1, 2, 1};
  const std::array<MPI_Aint, 3> displacements{2, 8, -7};
  const std::array<MPI_Datatype, 3> types{MPI_CHAR, MPI_SHORT_INT, MPI_BYTE};
  const Type structure(MPI_Type_create_struct, 3, counts.data(), displacements.data(), types.data());
  expect_places(structure, {2, 8, 9, 12, 13, 14, 15, 16, 17, 20, 21, 22, 23, -7});
}

TEST_F(Decode, subarrays_in_both_orders) {
  const std::array<int, 2> sizes{3, 4}, counts{2, 2}, starts{1, 2};
  const Type c(MPI_Type_create_subarray, 2, sizes.data(), counts.data(), starts.data(), MPI_ORDER_C, MPI_SHORT);
  const Type fortran(MPI_Type_create_subarray, 2, sizes.data(), counts.data(), starts.data(), MPI_ORDER_FORTRAN,
                     MPI_SHORT);
  expect_places(c, {12, 14, 20, 22}, 2);
  expect_bounds(c, 0, 24);
  expect_places(fortran, {14, 16, 20, 22}, 2);
}

TEST_F(Decode, distributed_arrays_in_both_orders) {
  const std::array<int, 2> sizes{4, 5}, kinds{MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC},
      blocks{MPI_DISTRIBUTE_DFLT_DARG, 2}, processes{2, 2};
  const auto make = [&](int rank, int order, MPI_Datatype* type) {
    return MPI_Type_create_darray(4, rank, 2, sizes.data(), kinds.data(), blocks.data(), processes.data(), order,
                                  MPI_SHORT, type);
  };
  expect_places(Type(make, 2, MPI_ORDER_C), {20, 22, 28, 30, 32, 38}, 2);
  expect_places(Type(make, 1, MPI_ORDER_C), {4, 6, 14, 16}, 2);
  expect_places(Type(make, 1, MPI_ORDER_FORTRAN), {16, 18, 24, 26}, 2);
  expect_bounds(Type(make, 1, MPI_ORDER_C), 0, 40);
}

TEST_F(Decode, resized_types) {
  const Type resized(MPI_Type_create_resized, MPI_INT, MPI_Aint(-3), MPI_Aint(7)),
      backward(MPI_Type_create_resized, MPI_INT, MPI_Aint(2), MPI_Aint(-8));
  expect_bounds(resized, -3, 7);
  expect_bounds(backward, 2, -8);
  expect_places(Type(MPI_Type_contiguous, 2, MPI_Datatype(resized)), {0, 7}, 4);
  expect_places(Type(MPI_Type_contiguous, 2, MPI_Datatype(backward)), {0, -8}, 4);
}

TEST_F(Decode, kinds_of_fortran) {
  MPI_Datatype real = MPI_DATATYPE_NULL, whole = MPI_DATATYPE_NULL, complex = MPI_DATATYPE_NULL;
  if (MPI_Type_create_f90_real(15, MPI_UNDEFINED, &real) != MPI_SUCCESS)
    GTEST_SKIP() << "an MPI without Fortran";
  MPI_Type_create_f90_integer(9, &whole);
  MPI_Type_create_f90_complex(6, 30, &complex);
  expect_places(real, {0}, 8);
  expect_places(whole, {0}, 4);
  expect_places(complex, {0}, 8);
  for (int i = 0; i < 3; ++i)
    expect_places(Type(MPI_Type_vector, 2, 1, 2, real), {0, 16}, 8);
}

#if MPI_VERSION >= 4
TEST_F(Decode, constructors_with_large_counts) {
  const std::array<MPI_Count, 3> counts{2, 0, 1}, displacements{4, 9, -1}, bytes{5, 100, -3};
  const std::array<MPI_Datatype, 3> types{MPI_SHORT, MPI_SHORT, MPI_BYTE};
  const MPI_Count one = 1, two = 2, three = 3;
  expect_places(Type(MPI_Type_contiguous_c, three, MPI_SHORT), {0, 2, 4}, 2);
  expect_places(Type(MPI_Type_vector_c, two, two, three, MPI_INT), {0, 4, 12, 16}, 4);
  expect_places(Type(MPI_Type_create_hvector_c, three, one, MPI_Count(-6), MPI_SHORT), {0, -6, -12}, 2);
  expect_places(Type(MPI_Type_indexed_c, three, counts.data(), displacements.data(), MPI_INT), {16, 20, -4}, 4);
  expect_places(Type(MPI_Type_create_hindexed_c, three, counts.data(), bytes.data(), MPI_SHORT), {5, 7, -3}, 2);
  expect_places(Type(MPI_Type_create_indexed_block_c, three, one, displacements.data(), MPI_INT), {16, 36, -4}, 4);
  expect_places(Type(MPI_Type_create_hindexed_block_c, three, one, bytes.data(), MPI_SHORT), {5, 100, -3}, 2);
  expect_places(Type(MPI_Type_create_struct_c, three, counts.data(), bytes.data(), types.data()), {5, 6, 7, 8, -3});
  expect_bounds(Type(MPI_Type_create_resized_c, MPI_INT, MPI_Count(-3), MPI_Count(7)), -3, 7);
  const std::array<MPI_Count, 2> sizes{3, 4}, local{2, 2}, starts{1, 2}, all{4, 5};
  expect_places(Type(MPI_Type_create_subarray_c, 2, sizes.data(), local.data(), starts.data(), MPI_ORDER_C, MPI_SHORT),
                {12, 14, 20, 22}, 2);
  const std::array<int, 2> kinds{MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, blocks{MPI_DISTRIBUTE_DFLT_DARG, 2},
      processes{2, 2};
  expect_places(Type(MPI_Type_create_darray_c, 4, 2, 2, all.data(), kinds.data(), blocks.data(), processes.data(),
                     MPI_ORDER_C, MPI_SHORT),
                {20, 22, 28, 30, 32, 38}, 2);
  const Type huge(MPI_Type_vector_c, MPI_Count{1} << 33, one, two, MPI_DOUBLE);
  EXPECT_EQ(map_of(huge).size(), int64_t{8} << 33);
}
#endif

TEST_F(Decode, displacements_as_integers_become_addresses) {
  TypeContents contents;
  contents.combiner = MPI_COMBINER_STRUCT;
  normalize(contents, {2, 10, 20, -7, 9});
  EXPECT_EQ(contents.integers, (Places{2, 10, 20}));
  EXPECT_EQ(contents.addresses, (Places{-7, 9}));
  if (MPI_COMBINER_HVECTOR - MPI_COMBINER_VECTOR == 1)
    GTEST_SKIP() << "an MPI without constructors of MPI-1";
  contents.combiner = MPI_COMBINER_HVECTOR - 1;
  contents.integers = {2, 3, -8};
  normalize(contents, {});
  EXPECT_EQ(contents.combiner, MPI_COMBINER_HVECTOR);
  EXPECT_EQ(contents.integers, (Places{2, 3}));
  EXPECT_EQ(contents.addresses, (Places{-8}));
}

TEST_F(Decode, absolute_addresses) {
  std::array<int, 8> memory{};
  std::array<MPI_Aint, 2> places{};
  MPI_Get_address(&memory[5], &places[0]);
  MPI_Get_address(&memory[1], &places[1]);
  const Type absolute(MPI_Type_create_hindexed_block, 2, 1, places.data(), MPI_INT);
  const auto list = combine({0, 4, map_of(MPI_INT)}, 2, map_of(absolute), 1);
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list.value().memory_base, places[1]);
  EXPECT_EQ(test::pairs_of(list.value()).front(), (test::Pair{8, places[0]}));
}

TEST_F(Decode, empty_types) {
  const std::array<int, 2> zeros{0, 0};
  for (const Type& empty :
       {Type(MPI_Type_contiguous, 0, MPI_DOUBLE), Type(MPI_Type_indexed, 2, zeros.data(), zeros.data(), MPI_INT),
        Type(MPI_Type_create_struct, 0, zeros.data(), static_cast<const MPI_Aint*>(nullptr),
             static_cast<const MPI_Datatype*>(nullptr))})
    expect_places(empty, {});
}

// A regular type keeps a node for each loop, whatever the number of its pieces.
TEST_F(Decode, regular_types_stay_loops) {
  const std::array<int, 3> sizes{900, 800, 700}, counts{500, 400, 300}, starts{1, 2, 3};
  const Type block(MPI_Type_create_subarray, 3, sizes.data(), counts.data(), starts.data(), MPI_ORDER_C, MPI_DOUBLE);
  const Type blocks(MPI_Type_vector, 1000, 1, 3, MPI_Datatype(block));
  const TypeMap map = map_of(blocks);
  int nodes = 0;
  for (const TypeNode* node = map.data.node.get(); node != nullptr; ++nodes) {
    EXPECT_TRUE(node->offsets.empty());
    node = node->parts.empty() ? nullptr : node->parts.front().get();
  }
  EXPECT_EQ(nodes, 4);
}

TEST_F(Decode, handles_of_contents_are_freed) {
  // An MPI that counts its types would run out of them, or a leak checker would find them.
  const Type inner(MPI_Type_vector, 2, 1, 2, MPI_INT), outer(MPI_Type_contiguous, 2, MPI_Datatype(inner));
  for (int i = 0; i < 2000; ++i)
    ASSERT_EQ(map_of(outer).size(), 16);
}

TEST_F(Decode, types_need_not_be_committed) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 1, 2, MPI_INT, &type);
  EXPECT_EQ(places_of(map_of(type).data), (Places{0, 1, 2, 3, 8, 9, 10, 11}));
  MPI_Type_free(&type);
}

// Open MPI 4 takes a stride of -1 byte for the extent of the type.
TEST_F(Decode, an_mpi_that_contradicts_its_constructors_is_an_error) {
  const Type type(MPI_Type_create_hvector, 4, 1, MPI_Aint(-1), MPI_BYTE);
  MPI_Aint begin = 0, span = 0;
  MPI_Type_get_true_extent(type, &begin, &span);
  if (begin == -3)
    return expect_places(type, {0, -1, -2, -3});
  const auto map = type_map_of(type);
  EXPECT_EQ(map.status().code(), Code::mpi);
}

TEST_F(Decode, no_type_is_an_error) {
  const auto map = type_map_of(MPI_DATATYPE_NULL);
  EXPECT_EQ(map.status().code(), Code::bad_argument);
  EXPECT_EQ(map.status().message(), "the datatype is MPI_DATATYPE_NULL");
}

}  // namespace
}  // namespace windrow
