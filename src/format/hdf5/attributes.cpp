// SPDX-License-Identifier: BSD-3-Clause
#include "format/hdf5/attributes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/checked.hpp"
#include "base/units.hpp"
#include "format/hdf5/types.hpp"
#include "format/hdf5/version.hpp"

namespace windrow {
namespace {

std::string place_of(const std::string& path, const std::string& name) {
  return fmt::format("attribute \"{}\" of \"{}\"", name, path);
}

H5T_str_t stored_padding(TextPadding padding) noexcept {
  return padding == TextPadding::null_terminated ? H5T_STR_NULLTERM
         : padding == TextPadding::null_padded   ? H5T_STR_NULLPAD
                                                 : H5T_STR_SPACEPAD;
}

TextPadding padding_of(hid_t type) noexcept {
  const H5T_str_t padding = H5Tget_strpad(type);
  return padding == H5T_STR_NULLPAD ? TextPadding::null_padded
         : padding == H5T_STR_SPACEPAD ? TextPadding::space_padded
                                       : TextPadding::null_terminated;
}

Handle text_type(const Attribute& attribute, size_t size) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  if (H5Tset_size(type.get(), size) < 0 || H5Tset_strpad(type.get(), stored_padding(attribute.text_padding)) < 0 ||
      H5Tset_cset(type.get(), attribute.text_ascii ? H5T_CSET_ASCII : H5T_CSET_UTF8) < 0)
    return {};
  return type;
}

// The text without what its padding added.
std::string trimmed(std::string_view stored, TextPadding padding) {
  if (padding == TextPadding::null_terminated) return std::string(stored.substr(0, stored.find('\0')));
  const size_t last = stored.find_last_not_of(padding == TextPadding::null_padded ? '\0' : ' ');
  return std::string(stored.substr(0, last == std::string_view::npos ? 0 : last + 1));
}

Status read_variable_texts(hid_t handle, hid_t space, Attribute& attribute, size_t elements) {
  const Handle type = text_type(attribute, H5T_VARIABLE);
  std::vector<char*> pointers(elements);
  if (!type.valid() || H5Aread(handle, type.get(), pointers.data()) < 0)
    return hdf5_status(Code::bad_file, "read of attribute", attribute.name);
  // The texts are HDF5's until they are given back, also when memory runs out while they are copied.
  Status status = guard([&] {
    for (const char* pointer : pointers) attribute.texts.emplace_back(pointer ? pointer : "");
    return Status();
  });
  reclaim_texts(type.get(), space, pointers.data());
  return status;
}

Status read_fixed_texts(hid_t handle, hid_t type, Attribute& attribute, size_t elements) {
  const auto size = static_cast<size_t>(attribute.text_size);
  std::string bytes(elements * size, '\0');
  if (H5Aread(handle, type, bytes.data()) < 0) return hdf5_status(Code::bad_file, "read of attribute", attribute.name);
  for (size_t i = 0; i < elements; ++i)
    attribute.texts.push_back(trimmed(std::string_view(bytes).substr(i * size, size), attribute.text_padding));
  return {};
}

Status read_texts(hid_t handle, hid_t type, hid_t space, Attribute& attribute, size_t elements) {
  attribute.type = Type::text;
  attribute.text_variable_length = H5Tis_variable_str(type) > 0;
  attribute.text_ascii = H5Tget_cset(type) == H5T_CSET_ASCII;
  attribute.text_padding = padding_of(type);
  if (!attribute.text_variable_length) attribute.text_size = static_cast<int64_t>(H5Tget_size(type));
  if (elements == 0) return {};
  return attribute.text_variable_length ? read_variable_texts(handle, space, attribute, elements)
                                        : read_fixed_texts(handle, type, attribute, elements);
}

Status read_numbers(hid_t handle, Attribute& attribute, size_t elements) {
  attribute.data.resize(elements * static_cast<size_t>(type_size(attribute.type)));
  if (elements == 0 || H5Aread(handle, native_type(attribute.type), attribute.data.data()) >= 0) return {};
  return hdf5_status(Code::bad_file, "read of attribute", attribute.name);
}

Status read_attribute(hid_t object, const std::string& path, int64_t file_bytes, Attribute& attribute) {
  const Handle handle(H5Aopen(object, attribute.name.c_str(), H5P_DEFAULT), H5Aclose);
  const Handle type(handle.valid() ? H5Aget_type(handle.get()) : H5I_INVALID_HID, H5Tclose);
  const Handle space(type.valid() ? H5Aget_space(handle.get()) : H5I_INVALID_HID, H5Sclose);
  const std::string place = place_of(path, attribute.name);
  if (!space.valid()) return hdf5_status(Code::bad_file, "attribute of", path);
  Result<SpaceDescription> described = describe_space(space.get(), place);
  if (!described.ok()) return described.status();
  attribute.shape = std::move(described.value().shape);
  const int64_t elements = described.value().elements;
  const auto stored = checked_multiply(elements, static_cast<int64_t>(H5Tget_size(type.get())));
  if (!stored || *stored > file_bytes)  // before memory is taken for it
    return {Code::bad_file, fmt::format("{}: it is larger than the file", place)};
  if (described.value().is_null) {
    attribute.unsupported = "null dataspace";
    return {};
  }
  const auto count = static_cast<size_t>(elements);
  if (H5Tget_class(type.get()) == H5T_STRING) return read_texts(handle.get(), type.get(), space.get(), attribute, count);
  TypeDescription description = describe_type(type.get());
  attribute.type = description.type;
  attribute.big_endian = description.big_endian;
  attribute.unsupported = std::move(description.unsupported);
  return attribute.type == Type::none ? Status() : read_numbers(handle.get(), attribute, count);
}

// One buffer of all texts, each filled up to `size`.
std::string padded(const Attribute& attribute, size_t size) {
  std::string bytes;
  for (const std::string& text : attribute.texts) {
    bytes += text;
    bytes.append(size - text.size(), attribute.text_padding == TextPadding::space_padded ? ' ' : '\0');
  }
  return bytes;
}

size_t fixed_size(const Attribute& attribute) {
  if (attribute.text_size > 0) return static_cast<size_t>(attribute.text_size);
  size_t longest = 0;
  for (const std::string& text : attribute.texts) longest = std::max(longest, text.size());
  return std::max<size_t>(longest + (attribute.text_padding == TextPadding::null_terminated ? 1 : 0), 1);
}

Status create_attribute(hid_t object, const Attribute& attribute, hid_t type, hid_t memory_type, const void* data) {
  const Handle space = make_space(attribute.shape);
  const Handle creation(H5Pcreate(H5P_ATTRIBUTE_CREATE), H5Pclose);
  H5Pset_char_encoding(creation.get(), name_character_set(attribute.name));
  const Handle handle(H5Acreate2(object, attribute.name.c_str(), type, space.get(), creation.get(), H5P_DEFAULT), H5Aclose);
  if (!handle.valid()) return hdf5_status(Code::io, "attribute", attribute.name);
  const bool empty = attribute.type == Type::text ? attribute.texts.empty() : attribute.data.empty();
  if (empty || H5Awrite(handle.get(), memory_type, data) >= 0) return {};
  return hdf5_status(Code::io, "attribute", attribute.name);
}

Status create_texts(hid_t object, const std::string& path, const Attribute& attribute) {
  const size_t size = attribute.text_variable_length ? H5T_VARIABLE : fixed_size(attribute);
  const Handle type = text_type(attribute, size);
  if (!type.valid()) return hdf5_status(Code::bad_argument, "attribute", attribute.name);
  if (!attribute.text_variable_length) {
    const std::string bytes = padded(attribute, size);
    return create_attribute(object, attribute, type.get(), type.get(), bytes.data());
  }
  std::vector<const char*> pointers;
  for (const std::string& text : attribute.texts) {
    if (text.find('\0') != std::string::npos)
      return {Code::bad_argument,
              fmt::format("{}: a text of variable length ends at its first NUL", place_of(path, attribute.name))};
    pointers.push_back(text.c_str());
  }
  return create_attribute(object, attribute, type.get(), type.get(), pointers.data());
}

Status create(hid_t object, const std::string& path, const Attribute& attribute) {
  if (attribute.type == Type::text) return create_texts(object, path, attribute);
  return create_attribute(object, attribute, stored_type(attribute.type, attribute.big_endian), native_type(attribute.type),
                          attribute.data.data());
}

}  // namespace

Result<std::vector<Attribute>> read_attributes(hid_t object, const std::string& path, int64_t file_bytes) {
  Collected<Attribute> attributes;
  const auto take_name = [](hid_t, const char* name, const H5A_info_t*, void* data) noexcept -> herr_t {
    return static_cast<Collected<Attribute>*>(data)->add([&] {
      Attribute attribute;
      attribute.name = name;
      return attribute;
    });
  };
  if (H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, nullptr, take_name, &attributes) < 0)
    return attributes.status.ok() ? hdf5_status(Code::bad_file, "attributes of", path) : attributes.status;
  for (Attribute& attribute : attributes.list) {
    Status status = read_attribute(object, path, file_bytes, attribute);
    if (!status.ok()) return status;
  }
  return std::move(attributes.list);
}

Status write_attribute(hid_t object, const std::string& path, const Attribute& attribute) {
  // HDF5's limit for the object headers that we write (libver earliest): one message holds 64 KiB, name and type included.
  constexpr size_t k_most_bytes = 64 * 1024 - 512;
  const size_t stored = attribute.type != Type::text         ? attribute.data.size()
                        : attribute.text_variable_length ? attribute.texts.size() * 16
                                                         : attribute.texts.size() * fixed_size(attribute);
  if (stored + attribute.name.size() > k_most_bytes)
    return {Code::unsupported, fmt::format("{}: it takes {}; an HDF5 attribute that all versions of HDF5 read holds 64 KiB",
                                           place_of(path, attribute.name), format_bytes(static_cast<int64_t>(stored)))};
  const char* name = attribute.name.c_str();
  if (H5Aexists(object, name) <= 0) return create(object, path, attribute);
  const std::string aside = attribute.name + ".replaced-by-windrow";
  if (H5Arename(object, name, aside.c_str()) < 0) return hdf5_status(Code::io, "attribute", attribute.name);
  Status status = guard([&] { return create(object, path, attribute); });
  if (status.ok())
    H5Adelete(object, aside.c_str());
  else {
    H5Adelete(object, name);
    H5Arename(object, aside.c_str(), name);
  }
  return status;
}

}  // namespace windrow
