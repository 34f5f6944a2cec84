// SPDX-License-Identifier: BSD-3-Clause
#include "format/hdf5/virtual.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "format/check.hpp"
#include "format/hdf5/attributes.hpp"
#include "format/hdf5/creation.hpp"
#include "format/hdf5/heap.hpp"
#include "format/hdf5/types.hpp"

namespace windrow {
namespace {

constexpr const char* k_current_shape = "windrow_split_current_shape";

std::vector<hsize_t> sizes_of(const std::vector<int64_t>& list) {
  return {list.begin(), list.end()};
}

// HDF5 replaces format specifiers after a per cent sign by block numbers.
std::string literal(const std::string& name) {
  std::string text;
  for (const char each : name)
    text += each == '%' ? std::string("%%") : std::string(1, each);
  return text;
}

template <class Number>
std::vector<std::byte> stored(Number value, size_t copies, bool big_endian) {
  auto one = std::bit_cast<std::array<std::byte, sizeof(Number)>>(value);
  if (big_endian != (std::endian::native == std::endian::big))
    std::reverse(one.begin(), one.end());
  std::vector<std::byte> all(one.size() * copies);
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = one[i % one.size()];
  return all;
}

}  // namespace

std::vector<std::byte> missing_value(const VariableDefinition& definition) {
  const bool big = definition.big_endian;
  switch (definition.type) {
    case Type::float16:
      return stored(uint16_t{0x7e00}, 1, big);
    case Type::float32:
    case Type::complex64:
      return stored(std::numeric_limits<float>::quiet_NaN(), definition.type == Type::float32 ? 1 : 2, big);
    case Type::float64:
    case Type::complex128:
      return stored(std::numeric_limits<double>::quiet_NaN(), definition.type == Type::float64 ? 1 : 2, big);
    case Type::int8:
      return stored(std::numeric_limits<int8_t>::min(), 1, big);
    case Type::int16:
      return stored(std::numeric_limits<int16_t>::min(), 1, big);
    case Type::int32:
      return stored(std::numeric_limits<int32_t>::min(), 1, big);
    case Type::int64:
      return stored(std::numeric_limits<int64_t>::min(), 1, big);
    case Type::text:
      return std::vector<std::byte>(static_cast<size_t>(definition.details.bytes), std::byte{'?'});
    default:
      return std::vector<std::byte>(static_cast<size_t>(element_bytes(definition.type, definition.details)),
                                    std::byte{0xff});
  }
}

Status create_virtual(hid_t file, const std::string& place, const VariableDefinition& definition,
                      std::span<const Part> parts) {
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  const Handle links = link_creation(place);
  const Handle type = make_type(definition.type, definition.big_endian, definition.details);
  const Handle space = make_space(definition.shape, definition.extendible);
  if (!type.valid() || !space.valid())
    return hdf5_status(Code::bad_argument, "type of", definition.path);
  const std::vector<std::byte> missing = missing_value(definition);
  bool set =
      set_object_creation(creation.get()) >= 0 && H5Pset_fill_value(creation.get(), type.get(), missing.data()) >= 0;
  for (const Part& part : parts) {
    const auto start = sizes_of(part.box.start), block = sizes_of(part.box.count);
    const Handle source = make_space(part.box.count, definition.extendible);
    const std::vector<hsize_t> origin(block.size(), 0);
    std::vector<hsize_t> count(block.size(), 1);
    if (definition.extendible)
      count.front() = H5S_UNLIMITED;  // contiguous blocks
    // As a box even if it is everything, because a selection of everything is stored without its shape.
    set =
        set && source.valid() &&
        H5Sselect_hyperslab(source.get(), H5S_SELECT_SET, origin.data(), block.data(), count.data(), block.data()) >=
            0 &&
        H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), block.data(), count.data(), block.data()) >= 0 &&
        H5Pset_virtual(creation.get(), space.get(), literal(part.file).c_str(), literal(definition.path).c_str(),
                       source.get()) >= 0;
  }
  if (!set)
    return hdf5_status(Code::bad_argument, "parts of", definition.path);
  H5Sselect_all(space.get());
  const Handle dataset(
      H5Dcreate2(file, place.c_str(), type.get(), space.get(), links.get(), creation.get(), H5P_DEFAULT), H5Dclose);
  if (!dataset.valid())
    return hdf5_status(Code::io, "creation of", definition.path);
  return definition.extendible ? write_current_shape(dataset.get(), definition.path, definition.shape) : Status();
}

std::vector<int64_t> read_current_shape(hid_t dataset) {
  if (H5Aexists(dataset, k_current_shape) <= 0)
    return {};
  const Handle attribute(H5Aopen(dataset, k_current_shape, H5P_DEFAULT), H5Aclose);
  const Handle space(attribute.valid() ? H5Aget_space(attribute.get()) : H5I_INVALID_HID, H5Sclose);
  const Handle type(attribute.valid() ? H5Aget_type(attribute.get()) : H5I_INVALID_HID, H5Tclose);
  if (!space.valid() || !type.valid() || H5Tget_class(type.get()) != H5T_INTEGER)
    return {};
  const hssize_t dimensions = H5Sget_simple_extent_npoints(space.get());
  if (dimensions < 1 || dimensions > static_cast<hssize_t>(k_most_dimensions))
    return {};
  std::vector<int64_t> shape(static_cast<size_t>(dimensions));
  return H5Aread(attribute.get(), H5T_NATIVE_INT64, shape.data()) >= 0 ? shape : std::vector<int64_t>();
}

Status write_current_shape(hid_t dataset, const std::string& path, std::span<const int64_t> shape) {
  Attribute attribute;
  attribute.name = k_current_shape;
  attribute.type = Type::int64;
  attribute.shape = {static_cast<int64_t>(shape.size())};
  attribute.data.resize(shape.size_bytes());
  std::memcpy(attribute.data.data(), shape.data(), shape.size_bytes());
  attribute.big_endian = std::endian::native == std::endian::big;
  return write_attribute(dataset, path, attribute);
}

namespace {

// The inverse of literal().
std::string plain(const std::string& text) {
  std::string name;
  for (size_t i = 0; i < text.size(); ++i) {
    name += text[i];
    if (text[i] == '%' && i + 1 < text.size() && text[i + 1] == '%')
      ++i;
  }
  return name;
}

template <class Get>
std::string text_of(Get get, hid_t creation, size_t number) {
  const ssize_t length = get(creation, number, nullptr, 0);
  if (length <= 0)
    return {};
  std::string text(static_cast<size_t>(length) + 1, '\0');
  get(creation, number, text.data(), text.size());
  text.pop_back();
  return plain(text);
}

// Whether a selection is unlimited and contiguous along the first dimension. Then `box` is that of its first index.
bool read_endless(hid_t space, size_t dimensions, Box& box) {
  std::vector<hsize_t> start(dimensions), stride(dimensions), count(dimensions), block(dimensions);
  if (dimensions == 0 || H5Sget_simple_extent_ndims(space) != static_cast<int>(dimensions) ||
      H5Sget_select_type(space) != H5S_SEL_HYPERSLABS || H5Sis_regular_hyperslab(space) <= 0 ||
      H5Sget_regular_hyperslab(space, start.data(), stride.data(), count.data(), block.data()) < 0)
    return false;
  const bool of_ones = count[0] == H5S_UNLIMITED && stride[0] == block[0],
             of_one = block[0] == H5S_UNLIMITED && count[0] == 1;
  if (start[0] != 0 || (!of_ones && !of_one))
    return false;
  box = {{0}, {1}};
  for (size_t i = 1; i < dimensions; ++i) {
    if (count[i] != 1 && stride[i] != block[i])
      return false;
    box.start.push_back(static_cast<int64_t>(start[i]));
    box.count.push_back(static_cast<int64_t>(count[i] * block[i]));
  }
  return true;
}

// The box of a selection; none if it is not a box.
bool read_box(hid_t space, size_t dimensions, Box& box) {
  if (read_endless(space, dimensions, box))
    return true;
  std::vector<hsize_t> first(dimensions), last(dimensions);
  if (H5Sget_simple_extent_ndims(space) != static_cast<int>(dimensions) ||
      H5Sget_select_bounds(space, first.data(), last.data()) < 0)
    return false;
  hssize_t elements = 1;
  for (size_t i = 0; i < dimensions; ++i) {
    box.start.push_back(static_cast<int64_t>(first[i]));
    box.count.push_back(static_cast<int64_t>(last[i] - first[i] + 1));
    elements *= static_cast<hssize_t>(last[i] - first[i] + 1);
  }
  return H5Sget_select_npoints(space) == elements;
}

}  // namespace

Result<std::vector<Part>> read_virtual(hid_t file, const std::string& place, const std::string& path) {
  const auto bad = [&](const char* why) {
    return Status(Code::bad_file, fmt::format("\"{}\": its virtual dataset {}", path, why));
  };
  const Handle dataset(H5Dopen2(file, place.c_str(), H5P_DEFAULT), H5Dclose);
  if (!dataset.valid())
    return bad("is missing");
  const Handle type(H5Dget_type(dataset.get()), H5Tclose);
  if (!type.valid() || !describe_type(type.get()).unsupported.empty())
    return bad("has an unsupported type");
  const Result<Handle> checked = checked_creation(dataset.get(), type.get(), path);
  if (!checked.ok())
    return checked.status();
  const Handle& creation = checked.value();
  size_t mappings = 0;
  if (H5Pget_layout(creation.get()) != H5D_VIRTUAL || H5Pget_virtual_count(creation.get(), &mappings) < 0)
    return bad("is not a virtual dataset");
  // Not of the dataset itself: HDF5 would open the files to find an extendible shape.
  const Handle first(mappings > 0 ? H5Pget_virtual_vspace(creation.get(), 0) : H5I_INVALID_HID, H5Sclose);
  const auto dimensions = static_cast<size_t>(first.valid() ? std::max(0, H5Sget_simple_extent_ndims(first.get())) : 0);
  std::vector<Part> parts;
  for (size_t i = 0; i < mappings; ++i) {
    Part part{text_of(H5Pget_virtual_filename, creation.get(), i), {}};
    const Handle there(H5Pget_virtual_vspace(creation.get(), i), H5Sclose),
        from(H5Pget_virtual_srcspace(creation.get(), i), H5Sclose);
    if (!there.valid() || !read_box(there.get(), dimensions, part.box))
      return bad("maps selections other than boxes");
    Box whole{std::vector<int64_t>(dimensions, 0), part.box.count}, source;
    const bool all = from.valid() && (H5Sget_select_type(from.get()) == H5S_SEL_ALL ||
                                      (read_box(from.get(), dimensions, source) && source == whole));
    const std::string name = text_of(H5Pget_virtual_dsetname, creation.get(), i);
    if (!all || (name != path && "/" + name != path))
      return bad("maps something other than whole variables of the same name");
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace windrow
