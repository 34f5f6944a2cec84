// SPDX-License-Identifier: BSD-3-Clause
// MPI_Pack and MPI_Unpack as oracles: what our lists copy must be what they copy.
#pragma once

#include <mpi.h>

#include <cstring>
#include <string>
#include <vector>

#include "datatype/combine.hpp"
#include "datatype/decode.hpp"

namespace windrow::test {

using Buffer = std::vector<unsigned char>;

inline Buffer numbered(int64_t size, unsigned start) {
  Buffer bytes(static_cast<size_t>(size));
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<unsigned char>((i * 2654435761u + start) >> 7);
  return bytes;
}

// The address from which a place `begin` is the first byte of the buffer.
inline void* address(Buffer& buffer, int64_t begin) {
  return reinterpret_cast<void*>(reinterpret_cast<intptr_t>(buffer.data()) - begin);
}

// Copy by copy: Open MPI 4 packs several copies of a structure that has a part without data as if they had no gaps.
inline Buffer packed(Buffer& buffer, int64_t begin, int64_t count, MPI_Datatype type) {
  int size = 0;
  MPI_Aint lower = 0, extent = 0;
  MPI_Pack_size(1, type, MPI_COMM_SELF, &size);
  MPI_Type_get_extent(type, &lower, &extent);
  Buffer bytes(static_cast<size_t>(count * size) + 1);
  int position = 0;
  for (int64_t i = 0; i < count; ++i)
    if (MPI_Pack(address(buffer, begin - i * extent), 1, type, bytes.data(), static_cast<int>(bytes.size()), &position,
                 MPI_COMM_SELF) != MPI_SUCCESS)
      return {};
  bytes.resize(static_cast<size_t>(position));
  return bytes;
}

inline void unpack(const Buffer& bytes, Buffer& buffer, int64_t begin, int64_t count, MPI_Datatype type) {
  MPI_Aint lower = 0, extent = 0;
  MPI_Type_get_extent(type, &lower, &extent);
  int position = 0;
  for (int64_t i = 0; i < count; ++i)
    MPI_Unpack(bytes.data(), static_cast<int>(bytes.size()), &position, address(buffer, begin - i * extent), 1, type,
               MPI_COMM_SELF);
}

inline std::string first_difference(const Buffer& given, const Buffer& expected) {
  if (given.size() != expected.size())
    return std::to_string(given.size()) + " bytes instead of " + std::to_string(expected.size());
  for (size_t i = 0; i < given.size(); ++i)
    if (given[i] != expected[i])
      return "byte " + std::to_string(i) + " of " + std::to_string(given.size()) + " differs";
  return "";
}

// What differs between MPI_Pack and our list; "" if nothing does.
inline std::string pack_difference(MPI_Datatype type, int64_t count) {
  const auto map = type_map_of(type);
  if (!map.ok())
    return map.status().message();
  const auto all = repeated(map.value().data, count, map.value().extent);
  const auto list = combine({0, 1, {contiguous_bytes(1), 0, 1}}, 0, map.value(), count);
  if (!all.ok() || !list.ok())
    return all.ok() ? list.status().message() : all.status().message();
  const int64_t begin = all.value().begin();
  Buffer buffer = numbered(all.value().end() - begin, 1), given(static_cast<size_t>(all.value().size()));
  for_each_piece(list.value().pieces, [&](const Piece& piece) {
    std::memcpy(given.data() + piece.file, buffer.data() + (list.value().memory_base - begin) + piece.memory,
                static_cast<size_t>(piece.length));
  });
  return first_difference(given, packed(buffer, begin, count, type));
}

struct MpiView {
  int64_t displacement;
  int64_t etype_size;
  MPI_Datatype filetype;
};

// The same for a write through a view: MPI unpacks what it has packed, into as many filetypes as it takes.
inline std::string view_difference(const MpiView& view, int64_t offset, MPI_Datatype memory, int64_t count) {
  const auto inside = type_map_of(memory), filetype = type_map_of(view.filetype);
  if (!inside.ok() || !filetype.ok())
    return inside.ok() ? filetype.status().message() : inside.status().message();
  const auto list = combine({view.displacement, view.etype_size, filetype.value()}, offset, inside.value(), count);
  const auto all = repeated(inside.value().data, count, inside.value().extent);
  if (!list.ok() || !all.ok())
    return list.ok() ? all.status().message() : list.status().message();
  const int64_t bytes = all.value().size(), begin = all.value().begin(), first = offset * view.etype_size;
  if (bytes == 0)
    return list.value().pieces.empty() ? "" : "pieces without data";
  const int64_t tiles = (first + bytes - 1) / filetype.value().size() + 1;
  const auto touched = repeated(filetype.value().data, tiles, filetype.value().extent);
  Buffer buffer = numbered(all.value().end() - begin, 1),
         file = numbered(view.displacement + touched.value().end(), 99), given = file;
  const Buffer data = packed(buffer, begin, count, memory);
  Buffer stream = packed(file, -view.displacement, tiles, view.filetype);
  if (static_cast<int64_t>(stream.size()) < first + bytes || static_cast<int64_t>(data.size()) != bytes)
    return "MPI_Pack gives " + std::to_string(data.size()) + " and " + std::to_string(stream.size()) + " bytes";
  std::copy(data.begin(), data.end(), stream.begin() + first);
  unpack(stream, file, -view.displacement, tiles, view.filetype);
  for_each_piece(list.value().pieces, [&](const Piece& piece) {
    std::memcpy(given.data() + piece.file, buffer.data() + (list.value().memory_base - begin) + piece.memory,
                static_cast<size_t>(piece.length));
  });
  return first_difference(given, file);
}

}  // namespace windrow::test
