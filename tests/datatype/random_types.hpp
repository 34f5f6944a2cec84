// SPDX-License-Identifier: BSD-3-Clause
// Random MPI datatypes of all constructors, with a text that says how to make them.
#pragma once

#include <mpi.h>

#include <map>
#include <string>
#include <vector>

#include "../extent/model.hpp"

namespace windrow::test {

// MPICH 4 tells the right extent of a block of types with a negative extent, and packs such blocks at another one.
#ifdef MPICH
inline constexpr int64_t k_least_extent = 0;
#else
inline constexpr int64_t k_least_extent = -40;
#endif

inline std::string text_of(const std::vector<int64_t>& values) {
  std::string text = "[";
  for (const int64_t value : values)
    text += (text.size() > 1 ? " " : "") + std::to_string(value);
  return text + "]";
}

class RandomTypes {
 public:
  explicit RandomTypes(uint64_t seed) : random_(seed) {}
  RandomTypes(const RandomTypes&) = delete;
  RandomTypes& operator=(const RandomTypes&) = delete;
  ~RandomTypes() {
    for (MPI_Datatype& type : made_)
      MPI_Type_free(&type);
  }
  Random& random() noexcept { return random_; }
  const std::string& text(MPI_Datatype type) { return texts_[type]; }
  int made() const noexcept { return static_cast<int>(made_.size()); }
  int refused() const noexcept { return refused_; }  // types that MPI did not make

  // `ascending`: a type that a file can have. `leaf`: of which it is made, or MPI_DATATYPE_NULL for any. It is
  // committed.
  MPI_Datatype make(int depth, bool ascending, MPI_Datatype leaf) {
    ascending_ = ascending;
    leaf_ = leaf;
    MPI_Datatype type = nested(depth);
    MPI_Type_commit(&type);
    return type;
  }

  MPI_Datatype named() {
    static const std::vector<std::pair<MPI_Datatype, const char*>> k_named{{MPI_BYTE, "BYTE"},
                                                                           {MPI_SHORT, "SHORT"},
                                                                           {MPI_INT, "INT"},
                                                                           {MPI_DOUBLE, "DOUBLE"},
                                                                           {MPI_SHORT_INT, "SHORT_INT"},
                                                                           {MPI_DOUBLE_INT, "DOUBLE_INT"},
                                                                           {MPI_LONG_INT, "LONG_INT"},
                                                                           {MPI_FLOAT_INT, "FLOAT_INT"},
                                                                           {MPI_LONG_DOUBLE_INT, "LONG_DOUBLE_INT"},
                                                                           {MPI_2INT, "2INT"},
                                                                           {MPI_C_FLOAT_COMPLEX, "COMPLEX"}};
    const auto& [type, name] = k_named[static_cast<size_t>(random_(0, static_cast<int64_t>(k_named.size()) - 1))];
    texts_[type] = name;
    return type;
  }

 private:
  struct Bounds {
    MPI_Aint lower = 0, extent = 0, begin = 0, span = 0;
    explicit Bounds(MPI_Datatype type) {
      MPI_Type_get_extent(type, &lower, &extent);
      MPI_Type_get_true_extent(type, &begin, &span);
    }
  };

  MPI_Datatype kind_of_fortran() {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    int code = MPI_SUCCESS;
    switch (random_(0, 2)) {
      case 0:
        code = MPI_Type_create_f90_real(6, MPI_UNDEFINED, &type);
        break;
      case 1:
        code = MPI_Type_create_f90_complex(15, MPI_UNDEFINED, &type);
        break;
      default:
        code = MPI_Type_create_f90_integer(4, &type);
    }
    if (code != MPI_SUCCESS)
      return named();
    texts_[type] = "F90";
    return type;
  }

  MPI_Datatype nested(int depth) {
    if (depth == 0) {
      if (leaf_ != MPI_DATATYPE_NULL)
        return leaf_;
      return random_(0, 9) == 0 ? kind_of_fortran() : named();
    }
    const MPI_Datatype part = nested(depth - 1);
    const MPI_Datatype type = derived(part, depth);
    if (type == MPI_DATATYPE_NULL)
      return part;
    int size = 0;
    MPI_Type_size(type, &size);
    const Bounds bounds(type);
    const bool too_large =
        size > 4000 || bounds.span > 40'000 || std::abs(bounds.begin) > 40'000 || std::abs(bounds.extent) > 20'000;
    // The bounds of resized types and of arrays go before those of the other members of a structure, so that its extent
    // may be shorter than its bytes.
    const bool is_in_order = size > 0 && bounds.begin >= 0 && bounds.extent >= bounds.span;
    return too_large || (ascending_ && !is_in_order) ? part : type;
  }

  // Open MPI refuses distributed arrays of types without data.
  MPI_Datatype keep(MPI_Datatype type, const std::string& text) {
    if (type == MPI_DATATYPE_NULL) {
      ++refused_;
      return type;
    }
    made_.push_back(type);
    texts_[type] = text;
    return type;
  }

  int few(int64_t low = 0, int64_t high = 4) { return static_cast<int>(random_(ascending_ ? 1 : low, high)); }
  bool use_large() { return random_(0, 3) == 0; }

  MPI_Datatype derived(MPI_Datatype part, int depth) {
    switch (random_(0, 9)) {
      case 0:
        return simple(part);
      case 1:
      case 2:
        return vector(part);
      case 3:
      case 4:
        return indexed(part);
      case 5:
        return structure(part, depth);
      case 6:
      case 7:
        return subarray(part);
      case 8:
        return distributed_array(part);
      default:
        return resized(part);
    }
  }

  MPI_Datatype simple(MPI_Datatype part) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    if (random_(0, 2) == 0) {
      MPI_Type_dup(part, &type);
      return keep(type, "dup(" + texts_[part] + ")");
    }
    const int count = few();
#if MPI_VERSION >= 4
    if (use_large())
      MPI_Type_contiguous_c(count, part, &type);
    else
#endif
      MPI_Type_contiguous(count, part, &type);
    return keep(type, "contiguous(" + std::to_string(count) + " " + texts_[part] + ")");
  }

  MPI_Datatype vector(MPI_Datatype part) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    const Bounds bounds(part);
    const int count = few(), block = few(0, 3);
    const bool in_bytes = random_(0, 1) == 0;
    const int64_t unit = in_bytes ? bounds.extent : 1;
    int64_t stride = ascending_ ? block * unit + random_(0, 3) : random_(-4, 4) * (in_bytes ? 5 : 1);
    // Open MPI 4 takes a stride of -1 byte for the extent of the type. This is an error of decode_test.cpp.
    if (stride * (in_bytes ? 1 : bounds.extent) == -1)
      stride = 2;
#if MPI_VERSION >= 4
    if (use_large() && in_bytes)
      MPI_Type_create_hvector_c(count, block, stride, part, &type);
    else if (use_large() && !in_bytes)
      MPI_Type_vector_c(count, block, stride, part, &type);
    else
#endif
        if (in_bytes)
      MPI_Type_create_hvector(count, block, stride, part, &type);
    else
      MPI_Type_vector(count, block, static_cast<int>(stride), part, &type);
    return keep(type, std::string(in_bytes ? "hvector" : "vector") + "(" + text_of({count, block, stride}) + " " +
                          texts_[part] + ")");
  }

  // Lists of blocks: counts, and displacements in units of bytes or extents.
  struct List {
    std::vector<int> counts, displacements;
    std::vector<MPI_Aint> bytes;
    std::vector<int64_t> large, large_counts;
  };
  List list(int64_t unit, bool equal) {
    List list;
    const int blocks = few(0, 5), count = few(0, 3);
    int64_t at = random_(0, 3);
    for (int i = 0; i < blocks; ++i) {
      list.counts.push_back(equal ? count : few(0, 3));
      const int64_t place = ascending_ ? at : random_(-12, 12);
      at += list.counts.back() * unit + random_(0, 2);
      list.displacements.push_back(static_cast<int>(place));
      list.bytes.push_back(static_cast<MPI_Aint>(place));
      list.large.push_back(place);
      list.large_counts.push_back(list.counts.back());
    }
    return list;
  }

  MPI_Datatype indexed(MPI_Datatype part) {
    const bool in_bytes = random_(0, 1) == 0, equal = random_(0, 1) == 0;
    const List made = list(in_bytes ? Bounds(part).extent : 1, equal);
    const int blocks = static_cast<int>(made.counts.size()), count = blocks == 0 ? 1 : made.counts[0];
    MPI_Datatype type = MPI_DATATYPE_NULL;
#if MPI_VERSION >= 4
    if (use_large()) {
      const std::vector<MPI_Count> counts(made.counts.begin(), made.counts.end()),
          places(made.bytes.begin(), made.bytes.end());
      if (in_bytes && equal)
        MPI_Type_create_hindexed_block_c(blocks, count, places.data(), part, &type);
      else if (in_bytes)
        MPI_Type_create_hindexed_c(blocks, counts.data(), places.data(), part, &type);
      else if (equal)
        MPI_Type_create_indexed_block_c(blocks, count, places.data(), part, &type);
      else
        MPI_Type_indexed_c(blocks, counts.data(), places.data(), part, &type);
    } else
#endif
        if (in_bytes && equal)
      MPI_Type_create_hindexed_block(blocks, count, made.bytes.data(), part, &type);
    else if (in_bytes)
      MPI_Type_create_hindexed(blocks, made.counts.data(), made.bytes.data(), part, &type);
    else if (equal)
      MPI_Type_create_indexed_block(blocks, count, made.displacements.data(), part, &type);
    else
      MPI_Type_indexed(blocks, made.counts.data(), made.displacements.data(), part, &type);
    return keep(type, std::string(in_bytes ? "h" : "") + "indexed" + (equal ? "_block" : "") + "(" +
                          text_of(made.large_counts) + text_of(made.large) + " " + texts_[part] + ")");
  }

  MPI_Datatype structure(MPI_Datatype part, int depth) {
    std::vector<int> counts;
    std::vector<MPI_Aint> places;
    std::vector<MPI_Datatype> types;
    std::string text = "struct(";
    int64_t at = 0;
    const int members = few(0, 4);
    for (int i = 0; i < members; ++i) {
      const MPI_Datatype member = random_(0, 1) == 0 ? part : nested(static_cast<int>(random_(0, depth - 1)));
      const Bounds bounds(member);
      counts.push_back(few(0, 2));
      types.push_back(member);
      const int64_t place = ascending_ ? at + random_(0, 3) - std::min<int64_t>(0, bounds.begin) : random_(-30, 30);
      places.push_back(static_cast<MPI_Aint>(place));
      at = place + bounds.begin + bounds.span + (counts.back() - 1) * bounds.extent;
      text +=
          (i > 0 ? ", " : "") + std::to_string(counts.back()) + " at " + std::to_string(place) + " " + texts_[member];
    }
    MPI_Datatype type = MPI_DATATYPE_NULL;
#if MPI_VERSION >= 4
    if (use_large()) {
      const std::vector<MPI_Count> large(counts.begin(), counts.end()), large_places(places.begin(), places.end());
      MPI_Type_create_struct_c(members, large.data(), large_places.data(), types.data(), &type);
    } else
#endif
      MPI_Type_create_struct(members, counts.data(), places.data(), types.data(), &type);
    return keep(type, text + ")");
  }

  MPI_Datatype subarray(MPI_Datatype part) {
    std::vector<int> sizes, counts, starts;
    for (int64_t i = random_(1, 3); i > 0; --i) {
      sizes.push_back(static_cast<int>(random_(1, 5)));
      counts.push_back(static_cast<int>(random_(1, sizes.back())));
      starts.push_back(static_cast<int>(random_(0, sizes.back() - counts.back())));
    }
    const int order = random_(0, 1) == 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN, dimensions = static_cast<int>(sizes.size());
    MPI_Datatype type = MPI_DATATYPE_NULL;
    const std::vector<int64_t> all(sizes.begin(), sizes.end()), local(counts.begin(), counts.end()),
        first(starts.begin(), starts.end());
#if MPI_VERSION >= 4
    if (use_large()) {
      const std::vector<MPI_Count> a(sizes.begin(), sizes.end()), l(counts.begin(), counts.end()),
          f(starts.begin(), starts.end());
      MPI_Type_create_subarray_c(dimensions, a.data(), l.data(), f.data(), order, part, &type);
    } else
#endif
      MPI_Type_create_subarray(dimensions, sizes.data(), counts.data(), starts.data(), order, part, &type);
    return keep(type, std::string("subarray(") + (order == MPI_ORDER_C ? "C" : "Fortran") + text_of(all) +
                          text_of(local) + text_of(first) + " " + texts_[part] + ")");
  }

  MPI_Datatype distributed_array(MPI_Datatype part) {
    std::vector<int> sizes, kinds, blocks, processes;
    int ranks = 1;
    std::string text;
    for (int64_t i = random_(1, 3); i > 0; --i) {
      const int size = static_cast<int>(random_(1, 7)), kind = static_cast<int>(random_(0, 2));
      const int count = kind == 0 ? 1 : static_cast<int>(random_(1, 3));
      const int least = kind == 1 ? (size + count - 1) / count : 1;
      sizes.push_back(size);
      processes.push_back(count);
      kinds.push_back(kind == 0 ? MPI_DISTRIBUTE_NONE : kind == 1 ? MPI_DISTRIBUTE_BLOCK : MPI_DISTRIBUTE_CYCLIC);
      blocks.push_back(kind == 0 || random_(0, 1) == 0 ? MPI_DISTRIBUTE_DFLT_DARG
                                                       : static_cast<int>(random_(least, least + 2)));
      ranks *= count;
      text += text_of({size, kind, blocks.back(), count});
    }
    const int rank = static_cast<int>(random_(0, ranks - 1)), dimensions = static_cast<int>(sizes.size());
    const int order = random_(0, 1) == 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    MPI_Datatype type = MPI_DATATYPE_NULL;
#if MPI_VERSION >= 4
    if (use_large()) {
      const std::vector<MPI_Count> large(sizes.begin(), sizes.end());
      MPI_Type_create_darray_c(ranks, rank, dimensions, large.data(), kinds.data(), blocks.data(), processes.data(),
                               order, part, &type);
    } else
#endif
      MPI_Type_create_darray(ranks, rank, dimensions, sizes.data(), kinds.data(), blocks.data(), processes.data(),
                             order, part, &type);
    return keep(type, std::string("darray(") + (order == MPI_ORDER_C ? "C " : "Fortran ") + std::to_string(rank) +
                          " of " + std::to_string(ranks) + text + " " + texts_[part] + ")");
  }

  MPI_Datatype resized(MPI_Datatype part) {
    const Bounds bounds(part);
    const int64_t lower = random_(-9, ascending_ ? bounds.begin : 9);
    const int64_t extent =
        ascending_ ? bounds.begin + bounds.span - lower + random_(0, 9) : random_(k_least_extent, 40);
    MPI_Datatype type = MPI_DATATYPE_NULL;
#if MPI_VERSION >= 4
    if (use_large())
      MPI_Type_create_resized_c(part, lower, extent, &type);
    else
#endif
      MPI_Type_create_resized(part, lower, extent, &type);
    return keep(type, "resized(" + text_of({lower, extent}) + " " + texts_[part] + ")");
  }

  Random random_;
  bool ascending_ = false;
  MPI_Datatype leaf_ = MPI_DATATYPE_NULL;
  int refused_ = 0;
  std::vector<MPI_Datatype> made_;
  std::map<MPI_Datatype, std::string> texts_;
};

}  // namespace windrow::test
