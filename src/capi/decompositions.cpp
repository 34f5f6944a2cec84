// SPDX-License-Identifier: BSD-3-Clause
#include "capi/decompositions.hpp"

#include <fmt/format.h>

#include <array>

#include "comm/agree.hpp"

namespace windrow {
namespace {

Status check_dimensions(int ndims, const int64_t* shape) {
  if (ndims < 1 || ndims > WINDROW_MAX_DIMENSIONS)
    return {Code::bad_argument, fmt::format("ndims is {}; it must be from 1 to {}", ndims, WINDROW_MAX_DIMENSIONS)};
  return shape == nullptr ? null_argument("the shape") : Status{};
}

std::span<const int64_t> list_of(const int64_t* values, int64_t blocks, int ndims) {
  return values == nullptr ? std::span<const int64_t>() : std::span(values, static_cast<size_t>(blocks) * static_cast<size_t>(ndims));
}

int finish_decomposition(MPI_Comm comm, Result<Decomposition> local, windrow_decomposition** decomposition) {
  std::unique_ptr<windrow_decomposition> handle;
  return enter([&]() -> Status {
    if (local.ok() && decomposition == nullptr) local = null_argument("decomposition");
    if (decomposition != nullptr) *decomposition = nullptr;
    auto ranks = Comm::of(comm);
    if (!ranks.ok()) return ranks.status();
    Result<Decomposition> checked = std::move(local);
    Status room = guard([&] { handle = std::make_unique<windrow_decomposition>(); return Status{}; });
    if (!room.ok()) checked = room;
    auto shared = SharedDecomposition::make(ranks.value(), std::move(checked), SharedDecomposition::Use::any);
    if (!shared.ok()) return shared.status();
    handle->shared = std::move(shared).value();
    *decomposition = handle.release();
    return {};
  });
}

// Runs a factory; what it throws becomes this rank's error.
template <class Make>
Result<Decomposition> made_by(Make&& make) {
  Result<Decomposition> result{Status{}};
  Status status = guard([&] {
    result = make();
    return Status{};
  });
  return status.ok() ? std::move(result) : Result<Decomposition>(status);
}

}  // namespace

Result<Decomposition> block_of(int ndims, const int64_t* shape, const int64_t* start, const int64_t* count, const int64_t* memory_shape,
                               const int64_t* memory_start) {
  return made_by([&]() -> Result<Decomposition> {
    if (Status status = check_dimensions(ndims, shape); !status.ok()) return status;
    if (start == nullptr || count == nullptr) return null_argument(start == nullptr ? "start" : "count");
    if (memory_start != nullptr && memory_shape == nullptr) return Status{Code::bad_argument, "memory_start needs memory_shape"};
    return make_block(list_of(shape, 1, ndims), {.starts = list_of(start, 1, ndims), .counts = list_of(count, 1, ndims),
                                                 .memory_shapes = list_of(memory_shape, 1, ndims), .memory_starts = list_of(memory_start, 1, ndims)});
  });
}

namespace {

Result<Decomposition> blocks_of(int ndims, const int64_t* shape, int64_t blocks, const BlockLists& lists) {
  return made_by([&]() -> Result<Decomposition> { return make_blocks(list_of(shape, 1, ndims), blocks, lists); });
}

// Collective. Where this rank's rows begin: a sum over the ranks before it; all must add up to the whole.
Result<Decomposition> rows_of(const Comm& comm, int64_t rows, int64_t count) {
  Status local;
  if (rows < 0) local = {Code::bad_argument, fmt::format("rows is {}; it must not be negative", rows)};
  if (count < WINDROW_EVEN) local.update({Code::bad_argument, fmt::format("this rank's rows are {}; they must not be negative", count)});
  std::array<int64_t, 3> same{rows, -rows, count == WINDROW_EVEN ? 1 : 0};
  std::array<int64_t, 2> sums{count == WINDROW_EVEN ? 0 : count, count == WINDROW_EVEN ? 1 : 0};
  if (count > rows && local.ok()) local = {Code::bad_argument, fmt::format("this rank's rows are {}, more than all {}", count, rows)};
  if (Status verdict = agree(comm, std::move(local), Pulse{.maximum = same, .sum = sums, .bits = {}}); !verdict.ok()) return verdict;
  if (same[0] != -same[1]) return Status{Code::bad_argument, "rows differ between the ranks; all ranks must give the same"};
  if (sums[1] == comm.size()) {
    const Extent part = even_part(rows, comm.size(), comm.rank());
    return made_by([&] { return make_rows(rows, part.begin, part.size()); });
  }
  if (sums[1] != 0) return Status{Code::bad_argument, "WINDROW_EVEN must be given on every rank or on none"};
  if (sums[0] != rows) return Status{Code::bad_argument, fmt::format("the ranks' rows add up to {}, not to {}", sums[0], rows)};
  int64_t first = 0;
  if (int rc = MPI_Exscan(&count, &first, 1, MPI_INT64_T, MPI_SUM, comm.get()); rc != MPI_SUCCESS) return mpi_status(rc, "MPI_Exscan");
  if (comm.rank() == 0) first = 0;
  return made_by([&] { return make_rows(rows, first, count); });
}

}  // namespace
}  // namespace windrow

using windrow::Code;
using windrow::Decomposition;
using windrow::Result;
using windrow::Status;

extern "C" {

int windrow_block(MPI_Comm comm, int ndims, const int64_t* shape, const int64_t* start, const int64_t* count, const int64_t* memory_shape,
                  const int64_t* memory_start, windrow_decomposition** decomposition) {
  return windrow::finish_decomposition(comm, windrow::block_of(ndims, shape, start, count, memory_shape, memory_start), decomposition);
}

int windrow_blocks(MPI_Comm comm, int ndims, const int64_t* shape, int64_t blocks, const int64_t* starts, const int64_t* counts,
                   const int64_t* memory_shapes, const int64_t* memory_starts, windrow_decomposition** decomposition) {
  Result<Decomposition> local = windrow::check_dimensions(ndims, shape);
  if (!local.status().ok()) {
  } else if (blocks < 0) {
    local = Status{Code::bad_argument, "blocks is " + std::to_string(blocks) + "; it must not be negative"};
  } else if (blocks > 0 && (starts == nullptr || counts == nullptr)) {
    local = windrow::null_argument(starts == nullptr ? "starts" : "counts");
  } else if (memory_starts != nullptr && memory_shapes == nullptr) {
    local = Status{Code::bad_argument, "memory_starts needs memory_shapes"};
  } else {
    using windrow::list_of;
    local = windrow::blocks_of(ndims, shape, blocks,
                               {.starts = list_of(starts, blocks, ndims), .counts = list_of(counts, blocks, ndims),
                                .memory_shapes = list_of(memory_shapes, blocks, ndims), .memory_starts = list_of(memory_starts, blocks, ndims)});
  }
  return windrow::finish_decomposition(comm, std::move(local), decomposition);
}

int windrow_rows(MPI_Comm comm, int64_t rows, int64_t count, windrow_decomposition** decomposition) {
  auto ranks = windrow::Comm::of(comm);
  if (!ranks.ok()) return windrow::finish(ranks.status());
  return windrow::finish_decomposition(comm, windrow::rows_of(*ranks.value(), rows, count), decomposition);
}

int windrow_decomposition_rows(const windrow_decomposition* decomposition, int64_t* first, int64_t* count) {
  return windrow::enter([&]() -> Status {
    if (decomposition == nullptr || first == nullptr || count == nullptr) return windrow::null_argument("an argument");
    const Decomposition& local = decomposition->shared->local();
    if (local.kind != windrow::DecompositionKind::rows) return {Code::bad_argument, "the decomposition was not made by windrow_rows()"};
    *first = local.blocks > 0 ? local.starts.front() : 0;
    *count = local.blocks > 0 ? local.counts.front() : 0;
    return {};
  });
}

int windrow_points(MPI_Comm comm, int64_t points, int64_t count, const int64_t* list, const unsigned char* owned,
                   windrow_decomposition** decomposition) {
  auto local = windrow::made_by([&]() -> Result<Decomposition> {
    if (count < 0) return Status{Code::bad_argument, "the number of this rank's points is " + std::to_string(count)};
    if (count > 0 && list == nullptr) return windrow::null_argument("the list of points");
    const auto size = static_cast<size_t>(count);
    return windrow::make_points(points, std::span(list, size), owned == nullptr ? std::span<const unsigned char>() : std::span(owned, size));
  });
  return windrow::finish_decomposition(comm, std::move(local), decomposition);
}

int windrow_same(MPI_Comm comm, int ndims, const int64_t* shape, const int64_t* start, const int64_t* count,
                 windrow_decomposition** decomposition) {
  auto local = windrow::made_by([&]() -> Result<Decomposition> {
    if (ndims == 0) return windrow::make_same({}, {}, {});
    if (Status status = windrow::check_dimensions(ndims, shape); !status.ok()) return status;
    if ((start == nullptr) != (count == nullptr)) return windrow::null_argument(start == nullptr ? "start" : "count");
    const std::vector<int64_t> zeros(static_cast<size_t>(ndims), 0);
    return windrow::make_same(windrow::list_of(shape, 1, ndims), start == nullptr ? std::span<const int64_t>(zeros) : windrow::list_of(start, 1, ndims),
                              count == nullptr ? windrow::list_of(shape, 1, ndims) : windrow::list_of(count, 1, ndims));
  });
  return windrow::finish_decomposition(comm, std::move(local), decomposition);
}

void windrow_decomposition_free(windrow_decomposition* decomposition) { delete decomposition; }

}  // extern "C"
