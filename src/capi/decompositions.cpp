// SPDX-License-Identifier: BSD-3-Clause
#include "capi/decompositions.hpp"

#include <fmt/format.h>

#include <array>
#include <numeric>

#include "base/checked.hpp"
#include "base/units.hpp"
#include "comm/agree.hpp"
#include "extent/pieces.hpp"
#include "plan/strategy.hpp"
#include "planning/machine.hpp"

namespace windrow {
namespace {

Status check_dimensions(int ndims, const int64_t* shape) {
  if (ndims < 0 || ndims > WINDROW_MAX_DIMENSIONS)
    return {Code::bad_argument, fmt::format("ndims is {}; it must be from 0 to {}", ndims, WINDROW_MAX_DIMENSIONS)};
  return shape == nullptr && ndims > 0 ? null_argument("the shape") : Status{};
}

std::span<const int64_t> list_of(const int64_t* values, int64_t blocks, int ndims) {
  return values == nullptr ? std::span<const int64_t>()
                           : std::span(values, static_cast<size_t>(blocks) * static_cast<size_t>(ndims));
}

// Runs a factory, and converts exceptions to this rank's error.
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

Result<Decomposition> block_of(const BlockArguments& from) {
  return made_by([&]() -> Result<Decomposition> {
    if (Status status = check_dimensions(from.ndims, from.shape); !status.ok())
      return status;
    if (from.ndims > 0 && (from.start == nullptr || from.count == nullptr))
      return null_argument(from.start == nullptr ? "start" : "count");
    if (from.memory_start != nullptr && from.memory_shape == nullptr)
      return Status{Code::bad_argument, "memory_start needs memory_shape"};
    return make_block(list_of(from.shape, 1, from.ndims), {.starts = list_of(from.start, 1, from.ndims),
                                                           .counts = list_of(from.count, 1, from.ndims),
                                                           .memory_shapes = list_of(from.memory_shape, 1, from.ndims),
                                                           .memory_starts = list_of(from.memory_start, 1, from.ndims)});
  });
}

namespace {

// Collective. `make` is local and may throw; its error on this rank reaches the others.
template <class Make>
Status make_shared_by(const std::shared_ptr<Comm>& comm, windrow_decomposition** decomposition, Make&& make,
                      OwnersAsked asked = {}) {
  std::unique_ptr<windrow_decomposition> handle;
  auto local = made_by([&]() -> Result<Decomposition> {
    if (decomposition == nullptr)
      return null_argument("decomposition");
    handle = std::make_unique<windrow_decomposition>();
    return make();
  });
  auto shared = SharedDecomposition::make(*comm, std::move(local), SharedDecomposition::Use::any, asked);
  if (!shared.ok())
    return shared.status();
  handle->shared = std::move(shared).value();
  *decomposition = handle.release();
  return {};
}

template <class Make>
int finish_decomposition(MPI_Comm comm, windrow_decomposition** decomposition, Make&& make) {
  if (decomposition != nullptr)
    *decomposition = nullptr;
  return enter([&]() -> Status {
    auto ranks = Comm::of(comm);
    return ranks.ok() ? make_shared_by(ranks.value(), decomposition, std::forward<Make>(make)) : ranks.status();
  });
}

Status check_rows(int64_t rows, int64_t count) {
  if (rows < 0)
    return {Code::bad_argument, fmt::format("rows is {}; it must not be negative", rows)};
  if (count < WINDROW_EVEN)
    return {Code::bad_argument, fmt::format("this rank's rows are {}; they must not be negative", count)};
  if (count > rows)
    return {Code::bad_argument, fmt::format("this rank's rows are {}, more than all {}", count, rows)};
  return {};
}

// Collective, agreed. The rows of this rank: those before it are the sum over all lower ranks. All must add up to the
// total.
Result<Extent> place_rows(const Comm& comm, int64_t rows, int64_t count) {
  // summed in halves, because sums over many ranks may exceed 64 bits
  constexpr int64_t k_low = (int64_t{1} << 32) - 1;
  const bool even = count == WINDROW_EVEN;
  std::array<int64_t, 2> same{rows, -rows};
  std::array<int64_t, 3> sums{even ? 0 : count & k_low, even ? 0 : count >> 32, even ? 1 : 0};
  if (Status verdict = agree(comm, guard([&] { return check_rows(rows, count); }),
                             Reduction{.maximum = same, .sum = sums, .bits = {}});
      !verdict.ok())
    return verdict;
  if (same[0] != -same[1])
    return Status{Code::bad_argument, "rows differ between the ranks; all ranks must give the same"};
  if (sums[2] == comm.size())
    return even_part(rows, comm.size(), comm.rank());
  if (sums[2] != 0)
    return Status{Code::bad_argument, "WINDROW_EVEN must be given on every rank or on none"};
  const int64_t high = sums[1] + (sums[0] >> 32);
  if (high != rows >> 32 || (sums[0] & k_low) != (rows & k_low))
    return Status{Code::bad_argument,
                  high < INT32_MAX
                      ? fmt::format("the ranks' rows add up to {}, not to {}", (high << 32) + (sums[0] & k_low), rows)
                      : fmt::format("the ranks' rows add up to far more than {}", rows)};
  int64_t first = 0;
  if (int rc = MPI_Exscan(&count, &first, 1, MPI_INT64_T, MPI_SUM, comm.get()); rc != MPI_SUCCESS)
    return mpi_status(rc, "MPI_Exscan");
  if (comm.rank() == 0)
    first = 0;
  return Extent{first, first + count};
}

// Refuses options of files, which would have no effect here.
Status check_options_of_points(const Settings& settings) {
  for (const auto& [key, value] : settings.values())
    if (key != "imbalance" && key != "point_bytes" && key != "machine" &&
        !key.starts_with("text_"))  // Fortran adds these to all options
      return {Code::bad_argument, fmt::format("option \"{}\" is an option of files; decompositions by points take "
                                              "\"imbalance\", \"point_bytes\" and \"machine\"",
                                              key)};
  return {};
}

// Pieces that follow one another are one interval.
int64_t count_intervals(PieceView pieces) {
  int64_t intervals = 0, end = -1;
  for_each_piece(pieces, [&](const Piece& piece) {
    intervals += piece.file == end ? 0 : 1;
    end = piece.file + piece.length;
  });
  return intervals;
}

Status check_points(const windrow_decomposition& decomposition) {
  if (decomposition.shared->local().kind == DecompositionKind::points)
    return {};
  return {Code::bad_argument, "the decomposition was not made by windrow_points()"};
}

}  // namespace
}  // namespace windrow

using windrow::counted;
using windrow::Decomposition;

extern "C" {

int windrow_block(MPI_Comm comm, int ndims, const int64_t* shape, const int64_t* start, const int64_t* count,
                  const int64_t* memory_shape, const int64_t* memory_start, windrow_decomposition** decomposition) {
  return windrow::finish_decomposition(comm, decomposition, [&] {
    return windrow::block_of({ndims, shape, start, count, memory_shape, memory_start});
  });
}

int windrow_blocks(MPI_Comm comm, int ndims, const int64_t* shape, int64_t blocks, const int64_t* starts,
                   const int64_t* counts, const int64_t* memory_shapes, const int64_t* memory_starts,
                   windrow_decomposition** decomposition) {
  using windrow::list_of;
  return windrow::finish_decomposition(comm, decomposition, [&]() -> Result<Decomposition> {
    if (Status status = windrow::check_dimensions(ndims, shape); !status.ok())
      return status;
    if (blocks < 0)
      return Status{
          Code::bad_argument,
          "blocks is " + std::to_string(blocks) +
              "; it must not be negative (in C++ and Fortran: every list needs one entry per block and dimension)"};
    if (blocks > 0 && ndims > 0 && (starts == nullptr || counts == nullptr))
      return windrow::null_argument(starts == nullptr ? "starts" : "counts");
    if (memory_starts != nullptr && memory_shapes == nullptr)
      return Status{Code::bad_argument, "memory_starts needs memory_shapes"};
    return windrow::make_blocks(list_of(shape, 1, ndims), blocks,
                                {.starts = list_of(starts, blocks, ndims),
                                 .counts = list_of(counts, blocks, ndims),
                                 .memory_shapes = list_of(memory_shapes, blocks, ndims),
                                 .memory_starts = list_of(memory_starts, blocks, ndims)});
  });
}

int windrow_strided_blocks(MPI_Comm comm, int ndims, const int64_t* shape, int64_t blocks, const int64_t* starts,
                           const int64_t* counts, const int64_t* memory_offsets, const int64_t* memory_strides,
                           windrow_decomposition** decomposition) {
  using windrow::list_of;
  return windrow::finish_decomposition(comm, decomposition, [&]() -> Result<Decomposition> {
    if (Status status = windrow::check_dimensions(ndims, shape); !status.ok())
      return status;
    if (blocks < 0)
      return Status{Code::bad_argument, "blocks is " + std::to_string(blocks) + "; it must not be negative"};
    if (blocks > 0 && ndims > 0 && (starts == nullptr || counts == nullptr))
      return windrow::null_argument(starts == nullptr ? "starts" : "counts");
    if (blocks > 0 && memory_offsets == nullptr)
      return windrow::null_argument("memory_offsets");
    if (blocks > 0 && ndims > 0 && memory_strides == nullptr)
      return windrow::null_argument("memory_strides");
    return windrow::make_blocks(list_of(shape, 1, ndims), blocks,
                                {.starts = list_of(starts, blocks, ndims),
                                 .counts = list_of(counts, blocks, ndims),
                                 .memory_shapes = {},
                                 .memory_starts = {},
                                 .memory_offsets = list_of(memory_offsets, blocks, 1),
                                 .memory_strides = list_of(memory_strides, blocks, ndims)});
  });
}

int windrow_rows(MPI_Comm comm, int64_t rows, int64_t count, windrow_decomposition** decomposition) {
  if (decomposition != nullptr)
    *decomposition = nullptr;
  return windrow::enter([&]() -> Status {
    auto ranks = windrow::Comm::of(comm);
    if (!ranks.ok())
      return ranks.status();
    const windrow::CallScope call(*ranks.value(), windrow::Call::make_decomposition);
    const auto mine = windrow::place_rows(*ranks.value(), rows, count);
    if (!mine.ok())
      return mine.status();
    return windrow::make_shared_by(ranks.value(), decomposition,
                                   [&] { return windrow::make_rows(rows, mine.value().begin, mine.value().size()); });
  });
}

int windrow_decomposition_rows(const windrow_decomposition* decomposition, int64_t* first, int64_t* count) {
  return windrow::enter([&]() -> Status {
    if (decomposition == nullptr || first == nullptr || count == nullptr)
      return windrow::null_argument("an argument");
    const Decomposition& local = decomposition->shared->local();
    if (local.kind != windrow::DecompositionKind::rows)
      return {Code::bad_argument, "the decomposition was not made by windrow_rows()"};
    *first = local.blocks > 0 ? local.starts.front() : 0;
    *count = local.blocks > 0 ? local.counts.front() : 0;
    return {};
  });
}

int windrow_points(MPI_Comm comm, int64_t points, int64_t count, const int64_t* list, const unsigned char* owned,
                   windrow_decomposition** decomposition) {
  return windrow_points_with(comm, points, count, list, owned, nullptr, decomposition);
}

int windrow_points_with(MPI_Comm comm, int64_t points, int64_t count, const int64_t* list, const unsigned char* owned,
                        const windrow_options* options, windrow_decomposition** decomposition) {
  if (decomposition != nullptr)
    *decomposition = nullptr;
  return windrow::enter([&]() -> Status {
    auto ranks = windrow::Comm::of(comm);
    if (!ranks.ok())
      return ranks.status();
    windrow::Settings settings;
    Status local = windrow::guard([&] {
      auto resolved = windrow::resolve(options == nullptr ? windrow::Settings() : options->settings);
      if (resolved.ok())
        settings = std::move(resolved).value();
      return resolved.ok() && options != nullptr ? windrow::check_options_of_points(options->settings)
                                                 : resolved.status();
    });
    windrow::OwnersAsked asked{.imbalance = settings.integer("imbalance")};
    if (local.ok() && ranks.value()->rank() == 0)
      local = windrow::guard([&] {
        auto weight = windrow::interval_weight(settings);
        if (weight.ok())
          asked.interval_weight = weight.value();
        return weight.status();
      });
    const auto make = [&]() -> Result<Decomposition> {
      if (!local.ok())
        return local;
      if (count < 0)
        return Status{
            Code::bad_argument,
            fmt::format(
                "this rank gives {}; it must give as many owner flags (in C++ and Fortran: the lists differ in length)",
                counted(count, "point"))};
      if (count > 0 && list == nullptr)
        return windrow::null_argument("the list of points");
      const auto size = static_cast<size_t>(count);
      return windrow::make_points(points, std::span(list, size),
                                  owned == nullptr ? std::span<const unsigned char>() : std::span(owned, size));
    };
    return windrow::make_shared_by(ranks.value(), decomposition, make, asked);
  });
}

int windrow_decomposition_owned(const windrow_decomposition* decomposition, const char* owner, int64_t room,
                                int64_t* list, int64_t* count, int64_t* intervals) {
  return windrow::enter([&]() -> Status {
    if (decomposition == nullptr)
      return windrow::null_argument("the decomposition");
    if (owner == nullptr || count == nullptr || intervals == nullptr)
      return windrow::null_argument(owner == nullptr ? "owner" : "count or intervals");
    if (room > 0 && list == nullptr)
      return windrow::null_argument("list");
    if (Status status = windrow::check_points(*decomposition); !status.ok())
      return status;
    return windrow::guard([&]() -> Status {
      const auto asked = windrow::parse_strategy({.owner = owner});
      if (!asked.ok())
        return asked.status();
      auto written = decomposition->shared->written_by(asked.value().owner);
      if (!written.ok())
        return written.status();
      *count = windrow::total_bytes(written.value());
      *intervals = 0;
      if (room > 0 && room < *count)
        return {Code::bad_argument, fmt::format("a buffer for {} is too small for {}", counted(room, "point"), *count)};
      *intervals = windrow::count_intervals(written.value());
      if (room > 0)
        windrow::for_each_piece(written.value(), [&](const windrow::Piece& piece) {
          std::iota(list, list + piece.length, piece.file);
          list += piece.length;
        });
      return {};
    });
  });
}

int windrow_decomposition_holes(const windrow_decomposition* decomposition, int64_t* holes) {
  return windrow::enter([&]() -> Status {
    if (decomposition == nullptr || holes == nullptr)
      return windrow::null_argument(holes == nullptr ? "holes" : "the decomposition");
    if (Status status = windrow::check_points(*decomposition); !status.ok())
      return status;
    *holes = decomposition->shared->holes();
    return {};
  });
}

int windrow_decomposition_memory(const windrow_decomposition* decomposition, int ndims, const int64_t* shape,
                                 int64_t* elements) {
  return windrow::enter([&]() -> Status {
    if (decomposition == nullptr || elements == nullptr)
      return windrow::null_argument(elements == nullptr ? "elements" : "the decomposition");
    if (Status status = windrow::check_dimensions(ndims, shape); !status.ok())
      return status;
    const Decomposition& local = decomposition->shared->local();
    const auto trailing = windrow::load(local, windrow::list_of(shape, 1, ndims));
    if (!trailing.ok())
      return trailing.status();
    const int64_t held = decomposition->shared->holds_nothing() ? 0 : local.memory_elements;
    *elements = windrow::checked_multiply(held, trailing.value()).value_or(INT64_MAX);  // larger than any memory
    return {};
  });
}

int windrow_same(MPI_Comm comm, int ndims, const int64_t* shape, const int64_t* start, const int64_t* count,
                 windrow_decomposition** decomposition) {
  return windrow::finish_decomposition(comm, decomposition, [&]() -> Result<Decomposition> {
    if (ndims == 0)
      return windrow::make_same({}, {}, {});
    if (Status status = windrow::check_dimensions(ndims, shape); !status.ok())
      return status;
    if ((start == nullptr) != (count == nullptr))
      return windrow::null_argument(start == nullptr ? "start" : "count");
    const std::vector<int64_t> zeros(static_cast<size_t>(ndims), 0);
    return windrow::make_same(windrow::list_of(shape, 1, ndims),
                              start == nullptr ? std::span<const int64_t>(zeros) : windrow::list_of(start, 1, ndims),
                              count == nullptr ? windrow::list_of(shape, 1, ndims) : windrow::list_of(count, 1, ndims));
  });
}

void windrow_decomposition_free(windrow_decomposition* decomposition) {
  delete decomposition;
}

}  // extern "C"
