// SPDX-License-Identifier: BSD-3-Clause
/**
 * @file decomposition.hpp
 * Decompositions and meshes of the C++ interface: include windrow.hpp.
 */
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <windrow/elements.hpp>

namespace windrow {
#if WINDROW_THROWS
inline namespace api {
#else
inline namespace status_api {
#endif

/** Which elements of a shape each rank holds.  Creating one is collective; freeing one is local. */
class Decomposition {
 public:
  /** One block per rank; `memory_shape` and `memory_start` place it in a box with ghost cells. */
  static Decomposition block(MPI_Comm comm, Sizes shape, Sizes start, Sizes count, Sizes memory_shape = {},
                             Sizes memory_start = {}) {
    const int ndims = shape.count();
    const bool fit = start.fits(ndims) && count.fits(ndims) && memory_shape.fits(ndims) && memory_start.fits(ndims);
    // Inconsistent lists are refused by the call, so that every rank gets the error.
    return make([&](windrow_decomposition** out) {
      return windrow_block(comm, fit ? ndims : -1, shape.data(), start.data(), count.data(), memory_shape.data(),
                           memory_start.data(), out);
    });
  }

  /** Several blocks per rank: [blocks][dimensions] each, consecutive in memory. */
  static Decomposition blocks(MPI_Comm comm, Sizes shape, std::span<const int64_t> starts,
                              std::span<const int64_t> counts) {
    const auto dimensions = static_cast<size_t>(shape.count());
    const bool whole =
        starts.size() == counts.size() && (dimensions == 0 ? counts.empty() : counts.size() % dimensions == 0);
    // Inconsistent lists are refused by the call, so that every rank gets the error.
    const int64_t number = !whole ? -1 : dimensions == 0 ? 0 : static_cast<int64_t>(counts.size() / dimensions);
    return make([&](windrow_decomposition** out) {
      return windrow_blocks(comm, shape.count(), shape.data(), number, starts.data(), counts.data(), nullptr, nullptr,
                            out);
    });
  }

  /** The same where elements lie at any distances in memory: `memory_offsets` of each block's first element,
   * `memory_strides` [blocks][dimensions]. */
  static Decomposition blocks(MPI_Comm comm, Sizes shape, std::span<const int64_t> starts,
                              std::span<const int64_t> counts, std::span<const int64_t> memory_offsets,
                              std::span<const int64_t> memory_strides) {
    const auto dimensions = static_cast<size_t>(shape.count());
    const size_t number = memory_offsets.size();
    const bool whole = starts.size() == number * dimensions && counts.size() == starts.size() &&
                       memory_strides.size() == starts.size();
    // Inconsistent lists are refused by the call, so that every rank gets the error.
    return make([&](windrow_decomposition** out) {
      return windrow_strided_blocks(comm, shape.count(), shape.data(), whole ? static_cast<int64_t>(number) : -1,
                                    starts.data(), counts.data(), memory_offsets.data(), memory_strides.data(), out);
    });
  }

  /** A contiguous range of rows per rank, in rank order. */
  static Decomposition rows(MPI_Comm comm, int64_t rows, int64_t count = WINDROW_EVEN) {
    return make([&](windrow_decomposition** out) { return windrow_rows(comm, rows, count, out); });
  }

  /** Points by number, for meshes; `owned` empty: unknown. */
  static Decomposition points(MPI_Comm comm, int64_t points, std::span<const int64_t> list,
                              std::span<const unsigned char> owned = {}) {
    return points_with(comm, points, list, owned, nullptr);
  }
  /** The same with the options "imbalance", "point_bytes" and "machine". */
  static Decomposition points(MPI_Comm comm, int64_t points, std::span<const int64_t> list,
                              std::span<const unsigned char> owned, const Options& options) {
    return points_with(comm, points, list, owned, options.get());
  }

  /** Every rank holds the same part (replicated); without `start` and `count`: everything. */
  static Decomposition same(MPI_Comm comm, Sizes shape, Sizes start = {}, Sizes count = {}) {
    const int ndims = shape.count();
    return make([&](windrow_decomposition** out) {
      const bool fit = start.fits(ndims) && count.fits(ndims);
      return windrow_same(comm, fit ? ndims : -1, shape.data(), start.data(), count.data(), out);
    });
  }

  Decomposition(Decomposition&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
  Decomposition& operator=(Decomposition&& other) noexcept { return std::swap(raw_, other.raw_), *this; }
  ~Decomposition() { windrow_decomposition_free(raw_); }

  struct Owned {
    std::vector<int64_t> points;  // ascending
    int64_t intervals = 0;        // of consecutive numbers
  };
  /** The points that this rank writes with the value `owner` of the option "owner".  Local. */
  Owned owned(const std::string& owner) const {
    Owned written;
    int64_t count = 0;
    check(windrow_decomposition_owned(raw_, owner.c_str(), 0, nullptr, &count, &written.intervals));
    written.points.resize(static_cast<size_t>(count));
    check(windrow_decomposition_owned(raw_, owner.c_str(), count, written.points.data(), &count, &written.intervals));
    return written;
  }

  /** Number of points that no rank holds.  Local. */
  int64_t holes() const {
    int64_t number = 0;
    check(windrow_decomposition_holes(raw_, &number));
    return number;
  }

  struct Rows {
    int64_t first = 0;
    int64_t count = 0;
  };
  /** This rank's rows in a decomposition of rows().  Local. */
  Rows my_rows() const {
    Rows mine;
    check(windrow_decomposition_rows(raw_, &mine.first, &mine.count));
    return mine;
  }
  /** Number of elements of the memory that this rank puts from or gets into; see windrow_decomposition_memory().
   * Local. */
  int64_t memory(Sizes shape) const {
    int64_t elements = 0;
    check(windrow_decomposition_memory(raw_, shape.count(), shape.data(), &elements));
    return elements;
  }
  const windrow_decomposition* get() const noexcept { return raw_; }

 private:
  Decomposition() = default;
  template <class Make>
  static Decomposition make(Make&& call) {
    Decomposition made;
    check(call(&made.raw_));
    return made;
  }
  static Decomposition points_with(MPI_Comm comm, int64_t points, std::span<const int64_t> list,
                                   std::span<const unsigned char> owned, const windrow_options* options) {
    const bool fit = owned.empty() || owned.size() == list.size();  // otherwise refused by the call, as above
    return make([&](windrow_decomposition** out) {
      return windrow_points_with(comm, points, fit ? static_cast<int64_t>(list.size()) : -1, list.data(),
                                 owned.empty() ? nullptr : owned.data(), options, out);
    });
  }
  windrow_decomposition* raw_ = nullptr;
};

/** Concatenated lists of numbers: list i is numbers[offsets[i]] up to numbers[offsets[i + 1]]. */
template <class Number>
struct Lists {
  std::vector<int64_t> offsets;
  std::vector<Number> numbers;
  std::span<const Number> operator[](size_t i) const {
    return std::span(numbers).subspan(static_cast<size_t>(offsets[i]),
                                      static_cast<size_t>(offsets[i + 1] - offsets[i]));
  }
};

/** Neighbours of the nodes of a mesh, from its cells, an enum windrow_cell.  Local; see windrow_mesh_neighbours(). */
inline Lists<int64_t> mesh_neighbours(int64_t nodes, int cell, std::span<const int64_t> connectivity,
                                      bool across_cells = false) {
  Lists<int64_t> lists;
  lists.offsets.resize(static_cast<size_t>(nodes < 0 ? 0 : nodes) + 1);
  const auto ask = [&](int64_t room) {
    check(windrow_mesh_neighbours(nodes, cell, static_cast<int64_t>(connectivity.size()), connectivity.data(),
                                  across_cells, room, lists.offsets.data(), lists.numbers.data()));
  };
  ask(0);
  lists.numbers.resize(static_cast<size_t>(lists.offsets.back()));
  if (!lists.numbers.empty())
    ask(lists.offsets.back());
  return lists;
}

/** The parts of a partitioned mesh that hold each node, its own first.  Local; see windrow_classify_nodes(). */
inline Lists<int> classify_nodes(const Lists<int64_t>& neighbours, std::span<const int> partition) {
  Lists<int> lists;
  lists.offsets.resize(partition.size() + 1);
  const bool fit = neighbours.offsets.size() == partition.size() + 1;  // otherwise refused by the call
  const auto ask = [&](int64_t room) {
    check(windrow_classify_nodes(fit ? static_cast<int64_t>(partition.size()) : -1, neighbours.offsets.data(),
                                 neighbours.numbers.data(), partition.data(), room, lists.offsets.data(),
                                 lists.numbers.data()));
  };
  ask(0);
  lists.numbers.resize(static_cast<size_t>(lists.offsets.back()));
  if (!lists.numbers.empty())
    ask(lists.offsets.back());
  return lists;
}

}  // namespace api or status_api
}  // namespace windrow
