// SPDX-License-Identifier: BSD-3-Clause
#include "format/hdf5/attributes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/checked.hpp"
#include "base/units.hpp"
#include "base/utf8.hpp"
#include "format/hdf5/heap.hpp"
#include "format/hdf5/texts.hpp"
#include "format/hdf5/types.hpp"
#include "format/hdf5/version.hpp"

namespace windrow {
namespace {

std::string place_of(const std::string& path, const std::string& name) {
  return fmt::format("attribute \"{}\" of \"{}\"", name, path);
}

// Removes the padding of a text.
std::string trimmed(std::string_view stored, TextPadding padding) {
  if (padding == TextPadding::null_terminated)
    return std::string(stored.substr(0, stored.find('\0')));
  const size_t last = stored.find_last_not_of(padding == TextPadding::null_padded ? '\0' : ' ');
  return std::string(stored.substr(0, last == std::string_view::npos ? 0 : last + 1));
}

Status read_fixed_texts(hid_t handle, hid_t type, Attribute& attribute, size_t elements) {
  const auto size = static_cast<size_t>(attribute.text_size);
  std::string bytes(elements * size, '\0');
  if (H5Aread(handle, type, bytes.data()) < 0)
    return hdf5_status(Code::bad_file, "read of attribute", attribute.name);
  for (size_t i = 0; i < elements; ++i)
    attribute.texts.push_back(trimmed(std::string_view(bytes).substr(i * size, size), attribute.text_padding));
  return {};
}

ReadAll reader_of(hid_t attribute) {
  return [attribute](hid_t type, void* elements) { return H5Aread(attribute, type, elements); };
}

Status read_texts(hid_t handle, hid_t type, hid_t space, const std::string& path, Attribute& attribute,
                  size_t elements) {
  attribute.type = Type::text;
  attribute.text_variable_length = H5Tis_variable_str(type) > 0;
  attribute.text_ascii = H5Tget_cset(type) == H5T_CSET_ASCII;
  attribute.text_padding = padding_of(type);
  if (!attribute.text_variable_length)
    attribute.text_size = static_cast<int64_t>(H5Tget_size(type));
  if (elements == 0)
    return {};
  if (!attribute.text_variable_length)
    return read_fixed_texts(handle, type, attribute, elements);
  if (Status status = check_heap_places(handle, type, elements, 1, place_of(path, attribute.name), reader_of(handle));
      !status.ok())
    return status;
  Result<std::vector<std::string>> texts =
      read_variable_texts(space, elements, attribute.text_ascii, attribute.name, reader_of(handle));
  if (texts.ok())
    attribute.texts = std::move(texts).value();
  return texts.status();
}

bool native_is_big() noexcept {
  return H5Tget_order(H5T_NATIVE_INT) == H5T_ORDER_BE;
}

// Swaps the byte order of elements in place. HDF5's own conversion would lose enumeration values without a name.
void swap_order(std::vector<std::byte>& data, Type type) {
  const auto size = static_cast<std::ptrdiff_t>(component_size(type));
  for (auto at = data.begin(); size > 1 && at != data.end(); at += size)
    std::reverse(at, at + size);
}

Status read_elements(hid_t handle, hid_t type, Attribute& attribute, size_t elements) {
  attribute.data.resize(elements * H5Tget_size(type));
  if (elements == 0)
    return {};
  if (H5Aread(handle, type, attribute.data.data()) < 0)
    return hdf5_status(Code::bad_file, "read of attribute", attribute.name);
  if (attribute.big_endian != native_is_big())
    swap_order(attribute.data, attribute.type);
  return {};
}

Status read_attribute(hid_t object, const std::string& path, int64_t file_bytes, Attribute& attribute) {
  const Handle handle(H5Aopen(object, attribute.name.c_str(), H5P_DEFAULT), H5Aclose);
  const Handle type(handle.valid() ? H5Aget_type(handle.get()) : H5I_INVALID_HID, H5Tclose);
  const Handle space(type.valid() ? H5Aget_space(handle.get()) : H5I_INVALID_HID, H5Sclose);
  const std::string place = place_of(path, attribute.name);
  if (!space.valid())
    return hdf5_status(Code::bad_file, "attribute of", path);
  Result<SpaceDescription> described = describe_space(space.get(), place);
  if (!described.ok())
    return described.status();
  attribute.shape = std::move(described.value().shape);
  const int64_t elements = described.value().elements;
  const auto stored = checked_multiply(elements, static_cast<int64_t>(H5Tget_size(type.get())));
  if (!stored || *stored > file_bytes)  // checked before memory is allocated
    return {Code::bad_file, fmt::format("{}: it is larger than the file", place)};
  attribute.null_space = described.value().is_null;
  const auto count = static_cast<size_t>(elements);
  if (H5Tget_class(type.get()) == H5T_STRING)
    return read_texts(handle.get(), type.get(), space.get(), path, attribute, count);
  TypeDescription description = describe_type(type.get());
  attribute.type = description.type;
  attribute.big_endian = description.big_endian;
  attribute.unsupported = std::move(description.unsupported);
  attribute.opaque_bytes = description.details.bytes;
  attribute.tag = std::move(description.details.tag);
  attribute.enumeration = std::move(description.details.enumeration);
  return attribute.type == Type::none ? Status() : read_elements(handle.get(), type.get(), attribute, count);
}

// One buffer with all texts, each padded to `size`.
std::string padded(const Attribute& attribute, size_t size) {
  std::string bytes;
  for (const std::string& text : attribute.texts) {
    bytes += text;
    bytes.append(size - text.size(), attribute.text_padding == TextPadding::space_padded ? ' ' : '\0');
  }
  return bytes;
}

size_t fixed_size(const Attribute& attribute) {
  if (attribute.text_size > 0)
    return static_cast<size_t>(attribute.text_size);
  size_t longest = 0;
  for (const std::string& text : attribute.texts)
    longest = std::max(longest, text.size());
  return std::max<size_t>(longest + (attribute.text_padding == TextPadding::null_terminated ? 1 : 0), 1);
}

Status create_attribute(hid_t object, const Attribute& attribute, hid_t type, const void* data) {
  const Handle space = attribute.null_space ? make_null_space() : make_space(attribute.shape);
  Handle creation;  // the default is ASCII
  if (const H5T_cset_t characters = name_character_set(attribute.name); characters != H5T_CSET_ASCII) {
    creation = Handle(H5Pcreate(H5P_ATTRIBUTE_CREATE), H5Pclose);
    H5Pset_char_encoding(creation.get(), characters);
  }
  const hid_t list = creation.valid() ? creation.get() : H5P_DEFAULT;
  const Handle handle(H5Acreate2(object, attribute.name.c_str(), type, space.get(), list, H5P_DEFAULT), H5Aclose);
  if (!handle.valid())
    return hdf5_status(Code::io, "attribute", attribute.name);
  if ((attribute.texts.empty() && attribute.data.empty()) || H5Awrite(handle.get(), type, data) >= 0)
    return {};
  return hdf5_status(Code::io, "attribute", attribute.name);
}

Status create_texts(hid_t object, const std::string& path, const Attribute& attribute) {
  const size_t size = attribute.text_variable_length ? H5T_VARIABLE : fixed_size(attribute);
  const Handle type = make_text_type(size, attribute.text_padding, attribute.text_ascii);
  if (!type.valid())
    return hdf5_status(Code::bad_argument, "attribute", attribute.name);
  if (!attribute.text_variable_length) {
    const std::string bytes = padded(attribute, size);
    return create_attribute(object, attribute, type.get(), bytes.data());
  }
  std::vector<const char*> pointers;
  for (const std::string& text : attribute.texts) {
    if (text.find('\0') != std::string::npos)
      return {Code::bad_argument,
              fmt::format("{}: a text of variable length ends at its first NUL", place_of(path, attribute.name))};
    pointers.push_back(text.c_str());
  }
  return create_attribute(object, attribute, type.get(), pointers.data());
}

Status create_references(hid_t object, const std::string& path, const Attribute& attribute) {
  const Result<std::vector<hobj_ref_t>> references =
      make_references(object, place_of(path, attribute.name), attribute.texts);
  if (!references.ok())
    return references.status();
  return create_attribute(object, attribute, H5T_STD_REF_OBJ, references.value().data());
}

std::vector<std::byte> as_stored(const Attribute& attribute) {
  std::vector<std::byte> data = attribute.data;
  if (attribute.big_endian != native_is_big())
    swap_order(data, attribute.type);
  return data;
}

Status create(hid_t object, const std::string& path, const Attribute& attribute) {
  if (attribute.type == Type::text)
    return create_texts(object, path, attribute);
  if (attribute.type == Type::reference)
    return create_references(object, path, attribute);
  const Handle type =
      make_type(attribute.type, attribute.big_endian,
                {.bytes = attribute.opaque_bytes, .tag = attribute.tag, .enumeration = attribute.enumeration});
  if (!type.valid())
    return hdf5_status(Code::bad_argument, "type of attribute", attribute.name);
  const std::vector<std::byte> data = as_stored(attribute);
  return create_attribute(object, attribute, type.get(), data.data());
}

// Overwrites the value in place if type and shape are the same. False: they differ.
bool overwrite(hid_t object, const Attribute& attribute) {
  const hid_t wanted = stored_number(attribute.type, attribute.big_endian);
  if (wanted == H5I_INVALID_HID || attribute.null_space || attribute.data.empty() || !attribute.enumeration.empty())
    return false;
  const Handle handle(H5Aopen(object, attribute.name.c_str(), H5P_DEFAULT), H5Aclose);
  const Handle type(handle.valid() ? H5Aget_type(handle.get()) : H5I_INVALID_HID, H5Tclose);
  const Handle space(type.valid() ? H5Aget_space(handle.get()) : H5I_INVALID_HID, H5Sclose);
  if (!space.valid() || H5Tequal(type.get(), wanted) <= 0 ||
      H5Sextent_equal(space.get(), make_space(attribute.shape).get()) <= 0)
    return false;
  const std::vector<std::byte> data = as_stored(attribute);
  return H5Awrite(handle.get(), wanted, data.data()) >= 0;
}

}  // namespace

Result<std::vector<Attribute>> read_attributes(hid_t object, H5_index_t index, const std::string& path,
                                               int64_t file_bytes) {
  Collected<Attribute> attributes;
  const auto take_name = [](hid_t, const char* name, const H5A_info_t*, void* data) noexcept -> herr_t {
    return static_cast<Collected<Attribute>*>(data)->add([&] {
      Attribute attribute;
      attribute.name = name;
      return attribute;
    });
  };
  if (H5Aiterate2(object, index, H5_ITER_INC, nullptr, take_name, &attributes) < 0)
    return attributes.status.ok() ? hdf5_status(Code::bad_file, "attributes of", path) : attributes.status;
  for (Attribute& attribute : attributes.list) {
    Status status = read_attribute(object, path, file_bytes, attribute);
    if (!status.ok())
      return status;
  }
  return std::move(attributes.list);
}

namespace {

// Objects made by HDF5 before 1.8, or for it, have one header message of at most 64 KiB per attribute, name and type
// included. Objects made here have no such limit.
Status explain_refusal(const std::string& path, const Attribute& attribute, Status refused) {
  constexpr size_t k_most_bytes = 64 * 1024 - 512;
  const size_t stored = attribute.type != Type::text     ? attribute.data.size()
                        : attribute.text_variable_length ? attribute.texts.size() * 16
                                                         : attribute.texts.size() * fixed_size(attribute);
  if (stored + attribute.name.size() <= k_most_bytes || refused.code() != Code::io)
    return refused;
  return {Code::unsupported, fmt::format("{}: it takes {}; this object can only have attributes of up to 64 KiB",
                                         place_of(path, attribute.name), format_bytes(static_cast<int64_t>(stored)))};
}

}  // namespace

Status write_attribute(hid_t object, const std::string& path, const Attribute& attribute) {
  // The length with its NUL has 16 bits. HDF5 1.10 fails with a longer name, and leaves an object that cannot be
  // opened.
  constexpr size_t k_longest_name = 65534;
  if (attribute.name.size() > k_longest_name)
    return {Code::bad_argument,
            fmt::format("an attribute of \"{}\": its name \"{}...\" has {} bytes; the maximum in HDF5 is {}", path,
                        readable(attribute.name.substr(0, 40)), attribute.name.size(), k_longest_name)};
  const char* name = attribute.name.c_str();
  if (H5Aexists(object, name) <= 0) {
    Status status = create(object, path, attribute);
    return status.ok() ? status : explain_refusal(path, attribute, std::move(status));
  }
  if (overwrite(object, attribute))
    return {};
  std::string renamed = ".replaced-by-windrow";  // not derived from the name, which may already have the maximum length
  while (H5Aexists(object, renamed.c_str()) > 0)
    renamed += '\'';
  if (H5Arename(object, name, renamed.c_str()) < 0)
    return hdf5_status(Code::io, "attribute", attribute.name);
  Status status = guard([&] { return create(object, path, attribute); });
  if (status.ok())
    H5Adelete(object, renamed.c_str());
  else {
    H5Adelete(object, name);
    H5Arename(object, renamed.c_str(), name);
  }
  return status.ok() ? status : explain_refusal(path, attribute, std::move(status));
}

}  // namespace windrow
