// SPDX-License-Identifier: BSD-3-Clause
// A parts file: which points of an array each of P parts (one a rank) holds. Written by windrow-mesh, read by examples
// and benchmarks. Little-endian, all counts int64:
//
//     char[8]     "WRPARTS1"
//     points N, parts P, dimensions D, components C     C: coordinates a point has, 0 when there are none
//     shape[D]                                          its product is N
//     offset[P + 1]                                     of each part from the file's start; the last is the file's size
//     then each part:
//       count                                           points that the part holds
//       number[count]                                   of each point, in [0, N), in the order of the part's memory
//       float64 coordinates[count][C]
//       uint8 owned[count]                              1: the part owns the point, 0: a replica; one owner a point
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace windrow::mesh {

struct Part {
  std::vector<int64_t> numbers;
  std::vector<double> coordinates;  // [count][components]
  std::vector<unsigned char> owned;
};

struct PartsHeader {
  int64_t points = 0;
  int64_t parts = 0;
  int64_t components = 0;
  std::vector<int64_t> shape;
  std::vector<int64_t> offsets;
};

namespace detail {

static_assert(std::endian::native == std::endian::little, "parts files are read and written in native order");
inline constexpr char k_parts_magic[] = "WRPARTS1";
inline constexpr int64_t k_parts_limit = int64_t{1} << 40;  // of any count: what is larger is a damaged file

template <class T>
void read_values(std::ifstream& file, T* values, int64_t count, const std::string& path) {
  file.read(reinterpret_cast<char*>(values), static_cast<std::streamsize>(count * static_cast<int64_t>(sizeof(T))));
  if (!file)
    throw std::runtime_error("\"" + path + "\" ends too early for a parts file");
}

template <class T>
void write_values(std::ofstream& file, const T* values, size_t count) {
  file.write(reinterpret_cast<const char*>(values), static_cast<std::streamsize>(count * sizeof(T)));
}

inline PartsHeader read_header(std::ifstream& file, const std::string& path) {
  char magic[8] = {};
  int64_t counts[4] = {};
  if (!file)
    throw std::runtime_error("cannot open \"" + path + "\"");
  read_values(file, magic, 8, path);
  if (std::memcmp(magic, k_parts_magic, 8) != 0)
    throw std::runtime_error("\"" + path + "\" is not a parts file");
  read_values(file, counts, 4, path);
  const auto [points, parts, dimensions, components] = counts;
  const bool sane = points >= 0 && points < k_parts_limit && parts > 0 && parts < (int64_t{1} << 24) &&
                    dimensions > 0 && dimensions <= 32 && components >= 0 && components <= 16;
  if (!sane)
    throw std::runtime_error("\"" + path + "\" is a damaged parts file");
  PartsHeader header{points, parts, components, std::vector<int64_t>(static_cast<size_t>(dimensions)),
                     std::vector<int64_t>(static_cast<size_t>(parts + 1))};
  read_values(file, header.shape.data(), dimensions, path);
  read_values(file, header.offsets.data(), parts + 1, path);
  return header;
}

}  // namespace detail

// Throws std::runtime_error, as all here.
inline PartsHeader read_parts_header(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return detail::read_header(file, path);
}

inline Part read_part(const std::string& path, int64_t part) {
  std::ifstream file(path, std::ios::binary);
  const PartsHeader header = detail::read_header(file, path);
  if (part < 0 || part >= header.parts)
    throw std::runtime_error("\"" + path + "\" has no part " + std::to_string(part));
  file.seekg(header.offsets[static_cast<size_t>(part)]);
  int64_t count = 0;
  detail::read_values(file, &count, 1, path);
  const int64_t bytes = header.offsets[static_cast<size_t>(part) + 1] - header.offsets[static_cast<size_t>(part)];
  if (count < 0 || count > header.points || bytes != 8 + count * (9 + 8 * header.components))
    throw std::runtime_error("\"" + path + "\" is a damaged parts file");
  const auto size = static_cast<size_t>(count);
  Part result{std::vector<int64_t>(size), std::vector<double>(size * static_cast<size_t>(header.components)),
              std::vector<unsigned char>(size)};
  detail::read_values(file, result.numbers.data(), count, path);
  detail::read_values(file, result.coordinates.data(), count * header.components, path);
  detail::read_values(file, result.owned.data(), count, path);
  for (int64_t number : result.numbers)
    if (number < 0 || number >= header.points)
      throw std::runtime_error("\"" + path + "\" is a damaged parts file");
  return result;
}

inline void write_parts(const std::string& path, const std::vector<int64_t>& shape, int64_t components,
                        const std::vector<Part>& parts) {
  int64_t points = 1;
  for (int64_t extent : shape)
    points *= extent;
  const int64_t counts[4] = {points, static_cast<int64_t>(parts.size()), static_cast<int64_t>(shape.size()),
                             components};
  std::vector<int64_t> offsets{static_cast<int64_t>(8 * (5 + shape.size() + parts.size() + 1))};
  for (const Part& part : parts)
    offsets.push_back(offsets.back() + 8 + static_cast<int64_t>(part.numbers.size()) * (9 + 8 * components));
  std::ofstream file(path, std::ios::binary);
  detail::write_values(file, detail::k_parts_magic, 8);
  detail::write_values(file, counts, 4);
  detail::write_values(file, shape.data(), shape.size());
  detail::write_values(file, offsets.data(), offsets.size());
  for (const Part& part : parts) {
    const auto count = static_cast<int64_t>(part.numbers.size());
    detail::write_values(file, &count, 1);
    detail::write_values(file, part.numbers.data(), part.numbers.size());
    detail::write_values(file, part.coordinates.data(), part.coordinates.size());
    detail::write_values(file, part.owned.data(), part.owned.size());
  }
  if (!file.flush())
    throw std::runtime_error("cannot write \"" + path + "\"");
}

}  // namespace windrow::mesh
