// SPDX-License-Identifier: BSD-3-Clause
// Random views of one file for all ranks. Most are made so that the ranks see different bytes.
#pragma once

#include <string>
#include <vector>

#include "types.hpp"

namespace mpiio_test {

struct View {
  int64_t displacement = 0;
  Type etype, filetype;

  // The place in the file of byte `number` of the view.
  int64_t place(int64_t number) const {
    const int64_t size = filetype.size();
    return displacement + number / size * filetype.extent + filetype.places[static_cast<size_t>(number % size)];
  }
  bool is_empty() const { return filetype.is_empty(); }
};

struct Views {
  std::vector<View> of;  // [rank]
  std::string text;
};

class RandomViews {
 public:
  RandomViews(Random& random, int ranks, int64_t base) : random_(random), ranks_(ranks), base_(base) {}

  Views make() {
    const Type etype = unit();
    switch (random_(0, 8)) {
      case 0:
        return same("plain", etype, etype);
      case 1:
      case 2:
        return tiles(etype);
      case 3:
        return interleaved(etype);
      case 4:
        return array_blocks(etype);
      case 5:
        return array_distributed(etype);
      case 6:
        return same("one type", etype, RandomTypes(random_, true).make(random_.small(1, 3), etype));
      default:
        return apart(etype);
    }
  }

  static Views initial(int ranks) {
    const Type byte = named(MPI_BYTE, "BYTE");
    return {std::vector<View>(static_cast<size_t>(ranks), View{0, byte, byte}), "initial"};
  }

 private:
  // Also units with holes.
  Type unit() {
    const Type leaf = basic(random_);
    switch (random_(0, 9)) {
      case 0:
        return contiguous(random_.small(2, 5), leaf);
      case 1:
        return RandomTypes(random_, true).make(random_.small(1, 2), leaf);
      default:
        return leaf;
    }
  }

  int64_t displacement() { return base_ + (random_.one_in(3) ? 0 : random_(0, 300)); }

  Views same(const std::string& text, const Type& etype, const Type& filetype) {
    Views views{{}, text};
    views.of.assign(static_cast<size_t>(ranks_), View{displacement(), etype, filetype});
    return views;
  }

  // A tile of units, each of which belongs to a random rank or to nobody.
  Views tiles(const Type& etype) {
    const int units = random_.small(1, 60);
    std::vector<Blocks> blocks(static_cast<size_t>(ranks_));
    for (int at = 0; at < units;) {
      const int count = std::min(random_.small(1, 6), units - at), owner = random_.small(-1, ranks_ - 1);
      if (owner >= 0) {
        Blocks& mine = blocks[static_cast<size_t>(owner)];
        mine.counts.push_back(count);
        mine.displacements.push_back(at * etype.extent);
      }
      at += count;
    }
    Views views{{}, "tiles"};
    const int64_t first = displacement(), extent = units * etype.extent + random_(0, 5);
    for (const Blocks& each : blocks) {
      const Type filetype =
          each.counts.empty() ? contiguous(0, etype) : resized(listed(random_, etype, each), 0, extent);
      views.of.push_back({first, etype, filetype});
    }
    return views;
  }

  // Rank r has block r of each row.
  Views interleaved(const Type& etype) {
    const int block = random_.small(1, 8), rows = random_.small(1, 12);
    const int64_t row = (ranks_ * block + random_(0, 3)) * etype.extent, first = displacement();
    const Type rows_of_one = resized(vector(random_, rows, block, row, etype), 0, rows * row);
    Views views{{}, "interleaved"};
    for (int rank = 0; rank < ranks_; ++rank)
      views.of.push_back({first + rank * block * etype.extent, etype, rows_of_one});
    return views;
  }

  std::vector<int> grid() {
    const int dimensions = random_.small(1, 3);
    std::vector<int> processes(static_cast<size_t>(dimensions), 0);
    MPI_Dims_create(ranks_, dimensions, processes.data());
    for (size_t i = processes.size(); i-- > 1;)
      std::swap(processes[i], processes[static_cast<size_t>(random_(0, static_cast<int64_t>(i)))]);
    return processes;
  }

  Views array_blocks(const Type& etype) {
    const std::vector<int> processes = grid();
    Array array;
    array.order = random_.one_in(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    std::vector<int> block, rest;
    for (const int count : processes) {
      block.push_back(random_.small(1, 5));
      rest.push_back(random_.small(0, 2));
      array.sizes.push_back(count * block.back() + rest.back());
    }
    const int64_t first = displacement();
    Views views{{}, "blocks of an array"};
    for (int rank = 0; rank < ranks_; ++rank) {
      std::vector<int> counts, starts;
      for (size_t d = 0, left = static_cast<size_t>(rank); d < processes.size(); ++d) {
        const int place = static_cast<int>(left) % processes[d];
        left /= static_cast<size_t>(processes[d]);
        starts.push_back(place * block[d]);
        counts.push_back(block[d] + (place + 1 == processes[d] ? rest[d] : 0));
      }
      views.of.push_back({first, etype, subarray(array, counts, starts, etype)});
    }
    return views;
  }

  Views array_distributed(const Type& etype) {
    Distribution given;
    given.processes = grid();
    Array array;
    array.order = random_.one_in(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    for (const int count : given.processes) {
      // Each rank has an element: the MPIs refuse, or make wrong types, where one has none.
      const int least = 1 + random_.small(0, 2), size = count * least + random_.small(0, count - 1);
      const bool cyclic = random_.one_in(2);
      array.sizes.push_back(size);
      if (count == 1 && random_.one_in(2)) {
        given.kinds.push_back(MPI_DISTRIBUTE_NONE);
        given.blocks.push_back(MPI_DISTRIBUTE_DFLT_DARG);
      } else if (cyclic) {
        given.kinds.push_back(MPI_DISTRIBUTE_CYCLIC);
        given.blocks.push_back(random_.one_in(2) ? MPI_DISTRIBUTE_DFLT_DARG : random_.small(1, least));
      } else {
        array.sizes.back() = count * least;
        given.kinds.push_back(MPI_DISTRIBUTE_BLOCK);
        given.blocks.push_back(random_.one_in(2) ? MPI_DISTRIBUTE_DFLT_DARG : least);
      }
    }
    const int64_t first = displacement();
    Views views{{}, "distributed array"};
    for (int rank = 0; rank < ranks_; ++rank)
      views.of.push_back({first, etype, distributed_array(ranks_, rank, array, given, etype)});
    return views;
  }

  // Any types, one rank after the other, or over each other.
  Views apart(const Type& etype) {
    const int64_t distance = random_.one_in(3) ? 0 : random_(100, 3000);
    int64_t at = displacement();
    Views views{{}, "any types"};
    for (int rank = 0; rank < ranks_; ++rank, at += distance)
      views.of.push_back({at, etype, RandomTypes(random_, true).make(random_.small(0, 4), etype)});
    return views;
  }

  Random& random_;
  int ranks_;
  int64_t base_;
};

}  // namespace mpiio_test
