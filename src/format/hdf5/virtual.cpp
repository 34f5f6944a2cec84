// SPDX-License-Identifier: BSD-3-Clause
#include "format/hdf5/virtual.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "format/hdf5/creation.hpp"

namespace windrow {
namespace {

std::vector<hsize_t> sizes_of(const std::vector<int64_t>& list) { return {list.begin(), list.end()}; }

// HDF5 makes numbers of blocks of what follows a per cent sign.
std::string literal(const std::string& name) {
  std::string text;
  for (const char each : name) text += each == '%' ? std::string("%%") : std::string(1, each);
  return text;
}

template <class Number>
std::vector<std::byte> stored(Number value, size_t copies, bool big_endian) {
  auto one = std::bit_cast<std::array<std::byte, sizeof(Number)>>(value);
  if (big_endian != (std::endian::native == std::endian::big)) std::reverse(one.begin(), one.end());
  std::vector<std::byte> all(one.size() * copies);
  for (size_t i = 0; i < all.size(); ++i) all[i] = one[i % one.size()];
  return all;
}

}  // namespace

std::vector<std::byte> loud_value(const VariableDefinition& definition) {
  const bool big = definition.big_endian;
  switch (definition.type) {
    case Type::float32:
    case Type::complex64: return stored(std::numeric_limits<float>::quiet_NaN(), definition.type == Type::float32 ? 1 : 2, big);
    case Type::float64:
    case Type::complex128: return stored(std::numeric_limits<double>::quiet_NaN(), definition.type == Type::float64 ? 1 : 2, big);
    case Type::int8: return stored(std::numeric_limits<int8_t>::min(), 1, big);
    case Type::int16: return stored(std::numeric_limits<int16_t>::min(), 1, big);
    case Type::int32: return stored(std::numeric_limits<int32_t>::min(), 1, big);
    case Type::int64: return stored(std::numeric_limits<int64_t>::min(), 1, big);
    case Type::text: return std::vector<std::byte>(static_cast<size_t>(definition.details.bytes), std::byte{'?'});
    default: return std::vector<std::byte>(static_cast<size_t>(element_bytes(definition.type, definition.details)), std::byte{0xff});
  }
}

Status create_virtual(hid_t file, const VariableDefinition& definition, std::span<const Part> parts) {
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  const Handle links = link_creation(definition.path);
  const Handle type = make_type(definition.type, definition.big_endian, definition.details);
  const Handle space = make_space(definition.shape, false);
  if (!type.valid() || !space.valid()) return hdf5_status(Code::bad_argument, "type of", definition.path);
  const std::vector<std::byte> loud = loud_value(definition);
  bool set = set_object_creation(creation.get()) >= 0 && H5Pset_fill_value(creation.get(), type.get(), loud.data()) >= 0;
  for (const Part& part : parts) {
    const auto start = sizes_of(part.box.start), count = sizes_of(part.box.count);
    const Handle source = make_space(part.box.count, false);
    set = set && source.valid() && H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) >= 0 &&
          H5Pset_virtual(creation.get(), space.get(), literal(part.file).c_str(), literal(definition.path).c_str(), source.get()) >= 0;
  }
  if (!set) return hdf5_status(Code::bad_argument, "parts of", definition.path);
  H5Sselect_all(space.get());
  const Handle dataset(H5Dcreate2(file, definition.path.c_str(), type.get(), space.get(), links.get(), creation.get(), H5P_DEFAULT), H5Dclose);
  return dataset.valid() ? Status() : hdf5_status(Code::io, "creation of", definition.path);
}

}  // namespace windrow
