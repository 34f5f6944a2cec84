// SPDX-License-Identifier: BSD-3-Clause
#include "datatypes.hpp"

#include <algorithm>

namespace bench {

MPI_Datatype element_datatype(ElementType type) {
  if (type == ElementType::float64)
    return MPI_DOUBLE;
  return type == ElementType::float32 ? MPI_FLOAT : MPI_INT;
}

Datatype subarray(const std::vector<int64_t>& shape, const std::vector<int64_t>& count,
                  const std::vector<int64_t>& start, MPI_Datatype element) {
  const std::vector<int> sizes(shape.begin(), shape.end()), counts(count.begin(), count.end()),
      starts(start.begin(), start.end());
  MPI_Datatype raw = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(static_cast<int>(sizes.size()), sizes.data(), counts.data(), starts.data(), MPI_ORDER_C,
                           element, &raw);
  return Datatype(raw);
}

Datatype indexed(const std::vector<MPI_Aint>& displacements, const std::vector<int>& lengths) {
  MPI_Datatype raw = MPI_DATATYPE_NULL;
  const int count = static_cast<int>(lengths.size());
  if (count > 0 && std::all_of(lengths.begin(), lengths.end(), [&](int length) { return length == lengths[0]; }))
    MPI_Type_create_hindexed_block(count, lengths[0], displacements.data(), MPI_BYTE, &raw);
  else
    MPI_Type_create_hindexed(count, lengths.data(), displacements.data(), MPI_BYTE, &raw);
  return Datatype(raw);
}

Datatype memory_subarray(const Case& data, const Variable& variable) {
  const Share& share = data.share_of(variable);
  return subarray(share.memory_shape, share.count, share.memory_start, element_datatype(variable.type));
}

Datatype file_subarray(const Case& data, const Variable& variable) {
  const Share& share = data.share_of(variable);
  return subarray(share.shape, share.count, share.start, element_datatype(variable.type));
}

}  // namespace bench
