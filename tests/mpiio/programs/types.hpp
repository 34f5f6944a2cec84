// SPDX-License-Identifier: BSD-3-Clause
// Random MPI datatypes, each with a naive model: the place of every byte of its data. Nothing here is from Windrow.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace mpiio_test {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  int64_t operator()(int64_t low, int64_t high) {  // inclusive
    return low + static_cast<int64_t>(engine_() % static_cast<uint64_t>(high - low + 1));
  }
  int small(int low, int high) { return static_cast<int>((*this)(low, high)); }
  bool one_in(int64_t count) { return (*this)(1, count) == 1; }

 private:
  std::mt19937_64 engine_;
};

// A datatype of this process. The handle is freed with the last copy of the model.
struct Type {
  std::shared_ptr<MPI_Datatype> handle;
  std::vector<int64_t> places;  // of each byte of data, in the order of the typemap
  int64_t lower = 0, extent = 0;
  int unit = 1;  // the size of each basic element; 0: they differ
  std::string text;

  MPI_Datatype get() const { return *handle; }
  int64_t size() const { return static_cast<int64_t>(places.size()); }
  bool is_empty() const { return places.empty(); }
  int64_t begin() const { return is_empty() ? 0 : *std::min_element(places.begin(), places.end()); }
  int64_t end() const { return is_empty() ? 0 : 1 + *std::max_element(places.begin(), places.end()); }
  // As a filetype must be. Copies do not interleave either.
  bool ascends() const {
    return std::is_sorted(places.begin(), places.end()) &&
           std::adjacent_find(places.begin(), places.end()) == places.end() &&
           (is_empty() || (places.front() >= 0 && end() - begin() <= extent));
  }
};

inline std::string text_of(const std::vector<int64_t>& values) {
  std::string text = "[";
  for (const int64_t value : values)
    text += (text.size() > 1 ? " " : "") + std::to_string(value);
  return text + "]";
}

// Lower bound and extent come from MPI. Places are computed here.
inline Type made(MPI_Datatype handle, std::vector<int64_t> places, int unit, std::string text) {
  MPI_Type_commit(&handle);
  MPI_Aint lower = 0, extent = 0;
  MPI_Type_get_extent(handle, &lower, &extent);
  const auto release = [](MPI_Datatype* type) {
    MPI_Type_free(type);
    delete type;
  };
  return {{new MPI_Datatype(handle), release}, std::move(places), lower, extent, unit, std::move(text)};
}

inline Type named(MPI_Datatype handle, const std::string& text) {
  int size = 0;
  MPI_Aint lower = 0, extent = 0;
  MPI_Type_size(handle, &size);
  MPI_Type_get_extent(handle, &lower, &extent);
  Type type{std::make_shared<MPI_Datatype>(handle), {}, lower, extent, size, text};
  for (int i = 0; i < size; ++i)
    type.places.push_back(i);
  return type;
}

inline Type basic(Random& random) {
  switch (random(0, 5)) {
    case 0:
      return named(MPI_SHORT, "SHORT");
    case 1:
    case 2:
      return named(MPI_INT, "INT");
    case 3:
      return named(MPI_DOUBLE, "DOUBLE");
    default:
      return named(MPI_BYTE, "BYTE");
  }
}

inline void put(std::vector<int64_t>& places, const Type& part, int64_t at) {
  for (const int64_t place : part.places)
    places.push_back(at + place);
}

// Blocks of `part` at displacements in bytes, by any of the constructors of lists.
struct Blocks {
  std::vector<int> counts;
  std::vector<int64_t> displacements;
};

inline Type listed(Random& random, const Type& part, const Blocks& blocks) {
  const int count = static_cast<int>(blocks.counts.size());
  const std::vector<MPI_Aint> bytes(blocks.displacements.begin(), blocks.displacements.end());
  std::vector<int> extents;
  std::vector<int64_t> places;
  bool whole = part.extent > 0, equal = count > 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    whole = whole && blocks.displacements[i] % part.extent == 0;
    equal = equal && blocks.counts[i] == blocks.counts[0];
    extents.push_back(whole ? static_cast<int>(blocks.displacements[i] / part.extent) : 0);
    for (int k = 0; k < blocks.counts[i]; ++k)
      put(places, part, blocks.displacements[i] + k * part.extent);
  }
  const int64_t kind = random(0, 4);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::string text;
  if (kind == 0) {
    const std::vector<MPI_Datatype> types(bytes.size(), part.get());
    MPI_Type_create_struct(count, blocks.counts.data(), bytes.data(), types.data(), &type);
    text = "struct";
  } else if (kind == 1 && whole && equal) {
    MPI_Type_create_indexed_block(count, blocks.counts[0], extents.data(), part.get(), &type);
    text = "indexed_block";
  } else if (kind == 2 && equal) {
    MPI_Type_create_hindexed_block(count, blocks.counts[0], bytes.data(), part.get(), &type);
    text = "hindexed_block";
  } else if (kind <= 3 && whole) {
    MPI_Type_indexed(count, blocks.counts.data(), extents.data(), part.get(), &type);
    text = "indexed";
  } else {
    MPI_Type_create_hindexed(count, blocks.counts.data(), bytes.data(), part.get(), &type);
    text = "hindexed";
  }
  text += "(" + text_of({blocks.counts.begin(), blocks.counts.end()}) + text_of(blocks.displacements) + " " +
          part.text + ")";
  return made(type, std::move(places), part.unit, text);
}

inline Type contiguous(int count, const Type& part) {
  std::vector<int64_t> places;
  for (int i = 0; i < count; ++i)
    put(places, part, i * part.extent);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(count, part.get(), &type);
  return made(type, std::move(places), part.unit, "contiguous(" + std::to_string(count) + " " + part.text + ")");
}

inline Type resized(const Type& part, int64_t lower, int64_t extent) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(part.get(), static_cast<MPI_Aint>(lower), static_cast<MPI_Aint>(extent), &type);
  return made(type, part.places, part.unit, "resized(" + text_of({lower, extent}) + " " + part.text + ")");
}

inline Type vector(Random& random, int count, int block, int64_t stride_bytes, const Type& part) {
  std::vector<int64_t> places;
  for (int i = 0; i < count; ++i)
    for (int k = 0; k < block; ++k)
      put(places, part, i * stride_bytes + k * part.extent);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const bool whole = part.extent > 0 && stride_bytes % part.extent == 0;
  if (whole && random.one_in(2))
    MPI_Type_vector(count, block, static_cast<int>(stride_bytes / part.extent), part.get(), &type);
  else
    MPI_Type_create_hvector(count, block, static_cast<MPI_Aint>(stride_bytes), part.get(), &type);
  return made(type, std::move(places), part.unit,
              "hvector(" + text_of({count, block, stride_bytes}) + " " + part.text + ")");
}

// The elements of an array that have, in each dimension, one of the indices, in the order of the array.
struct Array {
  std::vector<int> sizes;
  int order = MPI_ORDER_C;
};

inline std::vector<int64_t> elements_of(const Array& array, const std::vector<std::vector<int>>& indices) {
  std::vector<int64_t> elements{0};
  const auto dimensions = array.sizes.size();
  for (size_t i = 0; i < dimensions; ++i) {  // from the slowest to the fastest
    const size_t d = array.order == MPI_ORDER_C ? i : dimensions - 1 - i;
    std::vector<int64_t> next;
    for (const int64_t element : elements)
      for (const int index : indices[d])
        next.push_back(element * array.sizes[d] + index);
    elements = std::move(next);
  }
  return elements;
}

inline Type subarray(const Array& array, const std::vector<int>& counts, const std::vector<int>& starts,
                     const Type& part) {
  std::vector<std::vector<int>> indices(counts.size());
  for (size_t d = 0; d < counts.size(); ++d)
    for (int k = 0; k < counts[d]; ++k)
      indices[d].push_back(starts[d] + k);
  std::vector<int64_t> places;
  for (const int64_t element : elements_of(array, indices))
    put(places, part, element * part.extent);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(static_cast<int>(counts.size()), array.sizes.data(), counts.data(), starts.data(),
                           array.order, part.get(), &type);
  return made(type, std::move(places), part.unit,
              std::string("subarray(") + (array.order == MPI_ORDER_C ? "C" : "Fortran") +
                  text_of({array.sizes.begin(), array.sizes.end()}) + text_of({counts.begin(), counts.end()}) +
                  text_of({starts.begin(), starts.end()}) + " " + part.text + ")");
}

struct Distribution {
  std::vector<int> kinds, blocks, processes;
};

// Processes are numbered in the order of C, for arrays in the order of Fortran too.
inline Type distributed_array(int ranks, int rank, const Array& array, const Distribution& given, const Type& part) {
  const auto dimensions = array.sizes.size();
  std::vector<int> place(dimensions);
  for (size_t d = dimensions, rest = static_cast<size_t>(rank); d-- > 0;) {
    place[d] = static_cast<int>(rest) % given.processes[d];
    rest /= static_cast<size_t>(given.processes[d]);
  }
  std::vector<std::vector<int>> indices(dimensions);
  std::vector<int64_t> texts;
  for (size_t d = 0; d < dimensions; ++d) {
    const int size = array.sizes[d], processes = given.processes[d];
    int block = given.blocks[d];
    if (given.kinds[d] == MPI_DISTRIBUTE_NONE)
      block = size;
    else if (block == MPI_DISTRIBUTE_DFLT_DARG)
      block = given.kinds[d] == MPI_DISTRIBUTE_BLOCK ? (size + processes - 1) / processes : 1;
    for (int i = 0; i < size; ++i)
      if (i / block % processes == place[d])
        indices[d].push_back(i);
    texts.insert(texts.end(), {size, given.kinds[d], given.blocks[d], processes});
  }
  std::vector<int64_t> places;
  for (const int64_t element : elements_of(array, indices))
    put(places, part, element * part.extent);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_darray(ranks, rank, static_cast<int>(dimensions), array.sizes.data(), given.kinds.data(),
                         given.blocks.data(), given.processes.data(), array.order, part.get(), &type);
  return made(type, std::move(places), part.unit,
              std::string("darray(") + (array.order == MPI_ORDER_C ? "C " : "Fortran ") + std::to_string(rank) +
                  " of " + std::to_string(ranks) + " " + text_of(texts) + " " + part.text + ")");
}

// Any type without repeated bytes, that is not too large. `ascending`: one that a view can have.
// Avoided, as the MPIs have faults there: extents that are not positive (MPICH 4.0), members of structures without data
// and strides of -1 byte (Open MPI 4.1).
class RandomTypes {
 public:
  RandomTypes(Random& random, bool ascending) : random_(random), ascending_(ascending) {}

  Type make(int depth, const Type& leaf) {
    Type type = leaf;
    for (int i = 0; i < depth; ++i) {
      Type next = derived(type, leaf);
      if (is_good(next))
        type = std::move(next);
    }
    return type;
  }

 private:
  bool is_good(const Type& type) const {
#ifdef MPICH
    // Known: ROMIO of MPICH 4.0 moves other bytes where lower bounds are not 0 or memory does not ascend.
    if (type.lower != 0 || !std::is_sorted(type.places.begin(), type.places.end()))
      return false;
#endif
    std::vector<int64_t> sorted = type.places;
    std::sort(sorted.begin(), sorted.end());
    return !type.is_empty() && type.size() <= 1500 && type.extent > 0 && type.extent <= 6000 &&
           std::abs(type.lower) <= 6000 && type.end() - type.begin() <= 6000 && std::abs(type.begin()) <= 6000 &&
           std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end() && (!ascending_ || type.ascends());
  }

  Type derived(const Type& part, const Type& leaf) {
    switch (random_(0, 7)) {
      case 0:
        return contiguous(random_.small(1, 4), part);
      case 1:
      case 2: {
        const int block = random_.small(1, 3);
        const int64_t gap = random_.one_in(2) ? random_(0, 3) * part.extent : random_(0, 9);
        const int64_t stride = std::max<int64_t>(2, block * part.extent + gap);
        return vector(random_, random_.small(1, 5), block, !ascending_ && random_.one_in(4) ? -stride : stride, part);
      }
      case 3:
#ifdef MPICH
        // Known: ROMIO of MPICH 4.0 does not return with views that are lists of parts with holes.
        if (part.size() != part.extent)
          return contiguous(1, part);
#endif
        return blocks(part);
      case 4:
        return structure(part, leaf);
      case 5: {
        Array array;
        array.order = random_.one_in(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
        std::vector<int> counts, starts;
        for (int64_t i = random_(1, 3); i > 0; --i) {
          array.sizes.push_back(random_.small(1, 5));
          counts.push_back(random_.small(1, array.sizes.back()));
          starts.push_back(random_.small(0, array.sizes.back() - counts.back()));
        }
        return subarray(array, counts, starts, part);
      }
      default: {
        const int64_t lower = ascending_ ? random_(0, part.begin()) : random_(-9, 9);
        return resized(part, lower, std::max<int64_t>(1, part.end() - lower + random_(0, 12)));
      }
    }
  }

  Type blocks(const Type& part) {
    Blocks blocks;
    int64_t at = ascending_ ? random_(0, 3) * part.extent : -random_(0, 4) * part.extent;
    for (int64_t i = random_(1, 5); i > 0; --i) {
      blocks.counts.push_back(random_.small(1, 3));
      blocks.displacements.push_back(at);
      at += blocks.counts.back() * part.extent + (random_.one_in(2) ? random_(0, 3) * part.extent : random_(0, 7));
    }
    if (!ascending_)
      for (size_t i = blocks.counts.size(); i-- > 1;) {
        const auto other = static_cast<size_t>(random_(0, static_cast<int64_t>(i)));
        std::swap(blocks.counts[i], blocks.counts[other]);
        std::swap(blocks.displacements[i], blocks.displacements[other]);
      }
    return listed(random_, part, blocks);
  }

  Type structure(const Type& part, const Type& leaf) {
    std::vector<int> counts;
    std::vector<MPI_Aint> displacements;
    std::vector<MPI_Datatype> types;
    std::vector<int64_t> places;
    std::string text = "struct(";
    int64_t at = ascending_ ? 0 : -random_(0, 50);
    for (int64_t i = random_(1, 3); i > 0; --i) {
      const Type& member = random_.one_in(2) ? part : leaf;
      const int count = random_.small(1, 2);
      at += random_(0, 5) - std::min<int64_t>(0, member.begin());
      counts.push_back(count);
      displacements.push_back(static_cast<MPI_Aint>(at));
      types.push_back(member.get());
      for (int k = 0; k < count; ++k)
        put(places, member, at + k * member.extent);
      text += std::to_string(count) + " at " + std::to_string(at) + " " + member.text + ", ";
      at += (count - 1) * member.extent + member.end();
    }
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_struct(static_cast<int>(counts.size()), counts.data(), displacements.data(), types.data(), &type);
    return made(type, std::move(places), part.unit, text + ")");
  }

  Random& random_;
  bool ascending_;
};

}  // namespace mpiio_test
