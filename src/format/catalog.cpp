// SPDX-License-Identifier: BSD-3-Clause
#include "format/catalog.hpp"

#include <cstring>
#include <type_traits>

namespace windrow {
namespace {

// One description of each struct serves both directions; `Pass` is Writer or Reader.

class Writer {
 public:
  template <class Number>
  requires std::is_arithmetic_v<Number>
  void number(const Number& value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof value);
  }
  template <class Enum>
  void choice(const Enum& value, Enum) {
    number(static_cast<int32_t>(value));
  }
  template <class Sequence>  // of bytes or characters
  void blob(const Sequence& value) {
    number(static_cast<int64_t>(value.size()));
    const auto* bytes = reinterpret_cast<const std::byte*>(value.data());
    bytes_.insert(bytes_.end(), bytes, bytes + value.size());
  }
  template <class Item, class Each>
  void list(const std::vector<Item>& items, Each each) {
    number(static_cast<int64_t>(items.size()));
    for (const Item& item : items)
      each(*this, item);
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

// After the first error everything reads as zero or empty, and good() is false.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}

  template <class Number>
  requires std::is_arithmetic_v<Number>
  void number(Number& value) {
    value = Number{};
    if (!enough(sizeof value))
      return;
    if constexpr (std::is_same_v<Number, bool>)  // any other byte in a bool would be undefined behaviour
      value = bytes_[0] != std::byte{0};
    else
      std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_ = bytes_.subspan(sizeof value);
  }
  template <class Enum>
  void choice(Enum& value, Enum last) {
    int32_t read = 0;
    number(read);
    if (read < 0 || read > static_cast<int32_t>(last))
      good_ = false;
    value = good_ ? static_cast<Enum>(read) : Enum{};
  }
  template <class Sequence>
  void blob(Sequence& value) {
    const size_t size = count();
    using Element = typename Sequence::value_type;
    const auto* begin = reinterpret_cast<const Element*>(bytes_.data());
    value.assign(begin, begin + size);
    bytes_ = bytes_.subspan(size);
  }
  template <class Item, class Each>
  void list(std::vector<Item>& items, Each each) {
    const size_t size = count();
    items.clear();
    for (size_t i = 0; i < size && good_; ++i)
      each(*this, items.emplace_back());
  }
  bool good() const noexcept { return good_; }
  bool at_end() const noexcept { return bytes_.empty(); }

 private:
  bool enough(size_t size) noexcept {
    good_ = good_ && size <= bytes_.size();
    return good_;
  }
  // Every item takes at least one byte, so a count beyond the rest is an error, found before memory is allocated.
  size_t count() {
    int64_t value = 0;
    number(value);
    if (value < 0 || !enough(static_cast<size_t>(value))) {
      good_ = false;
      return 0;
    }
    return static_cast<size_t>(value);
  }

  std::span<const std::byte> bytes_;
  bool good_ = true;
};

constexpr auto k_number = [](auto& pass, auto& value) { pass.number(value); };
constexpr auto k_text = [](auto& pass, auto& value) { pass.blob(value); };

constexpr auto k_details = [](auto& pass, auto& details) {
  pass.number(details.bytes);
  pass.number(details.text_ascii);
  pass.choice(details.text_padding, TextPadding::space_padded);
  pass.blob(details.tag);
  pass.blob(details.enumeration);
};

constexpr auto k_attribute = [](auto& pass, auto& attribute) {
  pass.blob(attribute.name);
  pass.choice(attribute.type, k_last_type);
  pass.list(attribute.shape, k_number);
  pass.blob(attribute.data);
  pass.list(attribute.texts, k_text);
  pass.blob(attribute.unsupported);
  pass.number(attribute.big_endian);
  pass.number(attribute.text_variable_length);
  pass.number(attribute.text_ascii);
  pass.number(attribute.text_size);
  pass.choice(attribute.text_padding, TextPadding::space_padded);
  pass.number(attribute.opaque_bytes);
  pass.blob(attribute.tag);
  pass.blob(attribute.enumeration);
  pass.number(attribute.null_space);
};

constexpr auto k_group = [](auto& pass, auto& group) {
  pass.blob(group.path);
  pass.list(group.attributes, k_attribute);
};

constexpr auto k_filter = [](auto& pass, auto& filter) {
  pass.number(filter.id);
  pass.list(filter.values, k_number);
  pass.blob(filter.name);
};

constexpr auto k_variable = [](auto& pass, auto& variable) {
  pass.blob(variable.path);
  pass.choice(variable.type, k_last_type);
  pass.list(variable.shape, k_number);
  pass.number(variable.placement.offset);
  pass.number(variable.placement.bytes);
  pass.number(variable.placement.big_endian);
  pass.number(variable.placement.stride);
  pass.list(variable.chunking.shape, k_number);
  pass.list(variable.chunking.filters, k_filter);
  pass.number(variable.chunking.edges_unfiltered);
  pass.number(variable.extendible);
  pass.list(variable.attributes, k_attribute);
  pass.blob(variable.unsupported);
  pass.blob(variable.fill);
  pass.number(variable.is_inline);
  pass.blob(variable.content);
  k_details(pass, variable.details);
  pass.number(variable.null_space);
  pass.list(variable.dimensions, k_text);
};

constexpr auto k_link = [](auto& pass, auto& link) {
  pass.blob(link.path);
  pass.blob(link.target);
  pass.number(link.is_hard);
};

constexpr auto k_dimension = [](auto& pass, auto& dimension) {
  pass.blob(dimension.path);
  pass.number(dimension.length);
};

constexpr auto k_catalog = [](auto& pass, auto& catalog) {
  pass.list(catalog.groups, k_group);
  pass.list(catalog.variables, k_variable);
  pass.list(catalog.unsupported, k_text);
  pass.list(catalog.links, k_link);
  pass.list(catalog.dimensions, k_dimension);
};

}  // namespace

std::vector<std::byte> serialize(const Catalog& catalog) {
  Writer writer;
  k_catalog(writer, catalog);
  return writer.take();
}

Result<Catalog> deserialize(std::span<const std::byte> bytes) {
  Catalog catalog;
  Status status = guard([&] {
    Reader reader(bytes);
    k_catalog(reader, catalog);
    if (reader.good() && reader.at_end())
      return Status();
    return Status(Code::internal, "internal error: malformed catalogue from rank 0");
  });
  if (!status.ok())
    return status;
  return catalog;
}

}  // namespace windrow
