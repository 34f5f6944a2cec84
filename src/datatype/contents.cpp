// SPDX-License-Identifier: BSD-3-Clause
#include "datatype/contents.hpp"

#include <algorithm>

namespace windrow {
namespace {

// MPI-1's constructors of Fortran. The headers hide their names, but both MPIs have their numbers.
#if (defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 6) || (defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 50000000)
constexpr bool k_has_integer_combiners = true;
#else
constexpr bool k_has_integer_combiners = false;
#endif

int without_integers(int combiner) noexcept {
  if constexpr (k_has_integer_combiners)
    for (const int addresses : {MPI_COMBINER_HVECTOR, MPI_COMBINER_HINDEXED, MPI_COMBINER_STRUCT})
      if (combiner == addresses - 1)
        return addresses;
  return combiner;
}

bool is_predefined(int combiner) noexcept {
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
  if (combiner == MPI_COMBINER_VALUE_INDEX)
    return true;
#endif
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX ||
         combiner == MPI_COMBINER_F90_INTEGER;
}

// The numbers of arguments, and the calls with MPI_Count for types that have large counts.
struct Envelope {
#if MPI_VERSION >= 4
  using Number = MPI_Count;
#else
  using Number = int;
#endif
  Number integers = 0, addresses = 0, large = 0, types = 0;
  int combiner = MPI_COMBINER_NAMED;

  int read(MPI_Datatype type) noexcept {
#if MPI_VERSION >= 4
    return MPI_Type_get_envelope_c(type, &integers, &addresses, &large, &types, &combiner);
#else
    return MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
#endif
  }
};

template <class From>
std::vector<int64_t> wide(const std::vector<From>& values) {
  return {values.begin(), values.end()};
}

}  // namespace

TypeHandles::~TypeHandles() {
  for (MPI_Datatype& type : types_) {
    Envelope envelope;
    if (type != MPI_DATATYPE_NULL && envelope.read(type) == MPI_SUCCESS && !is_predefined(envelope.combiner))
      MPI_Type_free(&type);
  }
}

void normalize(TypeContents& contents, const std::vector<int64_t>& large) {
  std::vector<int64_t>& integers = contents.integers;
  const int combiner = without_integers(contents.combiner);
  if (combiner == contents.combiner && large.empty())
    return;
  contents.combiner = combiner;
  if (combiner == MPI_COMBINER_SUBARRAY || combiner == MPI_COMBINER_DARRAY) {  // sizes come after the dimensions
    integers.insert(integers.begin() + (combiner == MPI_COMBINER_SUBARRAY ? 1 : 3), large.begin(), large.end());
    return;
  }
  if (!large.empty())
    integers = large;
  size_t counts = integers.size();
  if (combiner == MPI_COMBINER_RESIZED)
    counts = 0;
  if (combiner == MPI_COMBINER_HVECTOR || combiner == MPI_COMBINER_HINDEXED_BLOCK)
    counts = 2;
  if (combiner == MPI_COMBINER_HINDEXED || combiner == MPI_COMBINER_STRUCT)
    counts = 1 + static_cast<size_t>(integers.front());
  contents.addresses.assign(integers.begin() + static_cast<ptrdiff_t>(counts), integers.end());
  integers.resize(counts);
}

Result<TypeContents> contents_of(MPI_Datatype type) {
  Envelope envelope;
  if (envelope.read(type) != MPI_SUCCESS)
    return Status(Code::mpi, "MPI_Type_get_envelope failed");
  TypeContents contents;
  contents.combiner = envelope.combiner;
  if (is_predefined(envelope.combiner) && envelope.types == 0)
    return contents;
  std::vector<int> integers(static_cast<size_t>(envelope.integers));
  std::vector<MPI_Aint> addresses(static_cast<size_t>(envelope.addresses));
  TypeHandles types(static_cast<size_t>(envelope.types));
#if MPI_VERSION >= 4
  std::vector<MPI_Count> large(static_cast<size_t>(envelope.large));
  const int code = MPI_Type_get_contents_c(type, envelope.integers, envelope.addresses, envelope.large, envelope.types,
                                           integers.data(), addresses.data(), large.data(), types.raw().data());
#else
  const std::vector<int64_t> large;
  const int code = MPI_Type_get_contents(type, envelope.integers, envelope.addresses, envelope.types, integers.data(),
                                         addresses.data(), types.raw().data());
#endif
  if (code != MPI_SUCCESS)
    return Status(Code::mpi, "MPI_Type_get_contents failed");
  contents.types = std::move(types);
  contents.integers = wide(integers);
  contents.addresses = wide(addresses);
  normalize(contents, wide(large));
  return contents;
}

}  // namespace windrow
