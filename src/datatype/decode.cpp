// SPDX-License-Identifier: BSD-3-Clause
#include "datatype/decode.hpp"

#include <cstddef>
#include <optional>
#include <string>

#include "base/checked.hpp"
#include "datatype/constructors.hpp"
#include "datatype/contents.hpp"

namespace windrow {
namespace {

using Integers = std::vector<int64_t>;

Status bad(std::string what) {
  return {Code::bad_argument, std::move(what)};
}

// What MPI tells about a type.
struct Measures {
  MPI_Count size = 0, lower_bound = 0, extent = 0, begin = 0, span = 0;

  bool read(MPI_Datatype type) noexcept {
    return MPI_Type_size_x(type, &size) == MPI_SUCCESS &&
           MPI_Type_get_extent_x(type, &lower_bound, &extent) == MPI_SUCCESS &&
           MPI_Type_get_true_extent_x(type, &begin, &span) == MPI_SUCCESS && size != MPI_UNDEFINED;
  }
};

// `count` values from `first` on, times `factor`.
std::optional<Integers> part(const Integers& values, size_t first, int64_t count, int64_t factor = 1) {
  Integers part;
  part.reserve(static_cast<size_t>(count));
  for (size_t i = first; i < first + static_cast<size_t>(count); ++i) {
    const auto value = checked_multiply(values[i], factor);
    if (!value)
      return std::nullopt;
    part.push_back(*value);
  }
  return part;
}

template <class Value>
struct ValueAndIndex {
  Value value;
  int index;
};

// The predefined pairs with an int. Some have a hole between value and index, all may have one at the end.
template <class Value>
Result<TypeData> pair_type() {
  return sequence_of(
      {contiguous_bytes(sizeof(Value)), {offsetof(ValueAndIndex<Value>, index), contiguous_bytes(sizeof(int)).node}});
}

Result<TypeData> predefined(MPI_Datatype type, const Measures& measures) {
  if (type == MPI_SHORT_INT)
    return pair_type<short>();
  if (type == MPI_LONG_INT)
    return pair_type<long>();
  if (type == MPI_FLOAT_INT)
    return pair_type<float>();
  if (type == MPI_DOUBLE_INT)
    return pair_type<double>();
  if (type == MPI_LONG_DOUBLE_INT)
    return pair_type<long double>();
  if (measures.size != measures.span)
    return bad("a predefined datatype has holes at unknown places");
  return contiguous_bytes(measures.size);
}

// A constructor, its arguments, and the types that it was applied to.
class Constructor {
 public:
  Constructor(const TypeContents& contents, const std::vector<TypeMap>& types)
      : integers_(contents.integers), addresses_(contents.addresses), types_(types), combiner_(contents.combiner) {}

  Result<TypeData> data() const {
    switch (combiner_) {
      case MPI_COMBINER_DUP:
      case MPI_COMBINER_RESIZED:
        return type().data;
      case MPI_COMBINER_CONTIGUOUS:
        return repeated(type().data, integers_[0], type().extent);
      case MPI_COMBINER_VECTOR:
        return vector(checked_multiply(integers_[2], type().extent));
      case MPI_COMBINER_HVECTOR:
        return vector(addresses_[0]);
      case MPI_COMBINER_INDEXED:
        return indexed(part(integers_, 1, integers_[0]),
                       part(integers_, 1 + static_cast<size_t>(integers_[0]), integers_[0], type().extent));
      case MPI_COMBINER_HINDEXED:
        return indexed(part(integers_, 1, integers_[0]), addresses_);
      case MPI_COMBINER_INDEXED_BLOCK:
        return indexed(equal_counts(), part(integers_, 2, integers_[0], type().extent));
      case MPI_COMBINER_HINDEXED_BLOCK:
        return indexed(equal_counts(), addresses_);
      case MPI_COMBINER_STRUCT:
        return struct_type(types_, *part(integers_, 1, integers_[0]), addresses_);
      case MPI_COMBINER_SUBARRAY:
        return subarray();
      case MPI_COMBINER_DARRAY:
        return distributed_array();
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
      case MPI_COMBINER_VALUE_INDEX:
        return struct_type(types_, {1, 1}, {0, round_up(types_[0].size(), types_[1].size())});
#endif
      default:
        return bad("the datatype has the unknown combiner " + std::to_string(combiner_));
    }
  }

 private:
  const TypeMap& type() const noexcept {
    return types_.front();
  }
  Integers equal_counts() const {
    return Integers(static_cast<size_t>(integers_[0]), integers_[1]);
  }

  Result<TypeData> vector(std::optional<int64_t> stride) const {
    return stride ? vector_type(type(), integers_[0], integers_[1], *stride) : too_large();
  }
  Result<TypeData> indexed(const std::optional<Integers>& counts, const std::optional<Integers>& displacements) const {
    return displacements ? indexed_type(type(), *counts, *displacements) : too_large();
  }

  Result<TypeData> array(std::vector<ArrayDimension> dimensions, int64_t order) const {
    if (order == MPI_ORDER_FORTRAN)
      dimensions = {dimensions.rbegin(), dimensions.rend()};
    return array_type(type(), dimensions);
  }

  Result<TypeData> subarray() const {
    const auto count = static_cast<size_t>(integers_[0]);
    std::vector<ArrayDimension> dimensions;
    for (size_t i = 1; i <= count; ++i) {
      const int64_t size = integers_[i], local = integers_[count + i], first = integers_[2 * count + i];
      dimensions.push_back({size, first, local, size, first + local});
    }
    return array(std::move(dimensions), integers_[1 + 3 * count]);
  }

  Result<TypeData> distributed_array() const {
    const int64_t count = integers_[2];
    const auto argument = [&](int number) { return *part(integers_, static_cast<size_t>(3 + number * count), count); };
    DistributedArray array_of_ranks{integers_[0], integers_[1], argument(0), {}, argument(2), argument(3)};
    for (const int64_t distribution : argument(1))
      array_of_ranks.distributions.push_back(distribution == MPI_DISTRIBUTE_NONE    ? Distribution::none
                                             : distribution == MPI_DISTRIBUTE_BLOCK ? Distribution::block
                                                                                    : Distribution::cyclic);
    for (int64_t& block : array_of_ranks.blocks)
      block = block == MPI_DISTRIBUTE_DFLT_DARG ? 0 : block;
    return array(dimensions_of(array_of_ranks), integers_[static_cast<size_t>(3 + 4 * count)]);
  }

  static Status too_large() {
    return bad("the displacements of a datatype do not fit into 64 bits");
  }

  const Integers& integers_;
  const Integers& addresses_;
  const std::vector<TypeMap>& types_;
  int combiner_;
};

Result<TypeMap> decoded(MPI_Datatype type);

Result<TypeData> derived(const TypeContents& contents) {
  std::vector<TypeMap> types;
  const std::vector<MPI_Datatype>& handles = contents.types.raw();
  types.reserve(handles.size());
  for (size_t i = 0; i < handles.size(); ++i) {
    if (i > 0 && handles[i] == handles[i - 1]) {
      types.push_back(types.back());
      continue;
    }
    auto map = decoded(handles[i]);
    if (!map.ok())
      return map.status();
    types.push_back(std::move(map).value());
  }
  return Constructor(contents, types).data();
}

Result<TypeMap> decoded(MPI_Datatype type) {
  Measures measures;
  if (!measures.read(type))
    return bad("the size or the extent of a datatype does not fit into 64 bits");
  auto contents = contents_of(type);
  if (!contents.ok())
    return contents.status();
  // The types of Fortran's kinds have no types in their contents, as the named ones.
  const bool is_leaf = contents.value().types.raw().empty() && contents.value().integers.empty();
  auto data = is_leaf ? predefined(type, measures) : derived(contents.value());
  if (!data.ok())
    return data.status();
  const TypeData& made = data.value();
  // MPICH counts parts without data for the true extent too.
  const bool is_within =
      made.size() == 0 || (made.begin() >= measures.begin && made.end() - measures.begin <= measures.span);
  if (made.size() != measures.size || !is_within)
    return Status(Code::mpi, "the size or the true extent of a datatype is not that of its constructor");
  return TypeMap{std::move(data).value(), measures.lower_bound, measures.extent};
}

}  // namespace

Result<TypeMap> type_map_of(MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL)
    return bad("the datatype is MPI_DATATYPE_NULL");
  return guard([&] { return decoded(type); });
}

}  // namespace windrow
