// SPDX-License-Identifier: BSD-3-Clause
#include "lov.hpp"

#include <algorithm>
#include <utility>

namespace striped_store {
namespace {

constexpr uint32_t k_magic_v1 = 0x0BD10BD0;
constexpr uint32_t k_magic_v3 = 0x0BD30BD0;
constexpr uint32_t k_magic_composite = 0x0BD60BD0;
constexpr uint32_t k_raid0 = 1;
constexpr uint32_t k_instantiated = 0x10;      // LCME_FL_INIT
constexpr uint16_t k_any_or_all = 0xffff;      // LOV_ALL_STRIPES, and an offset left to the file system
constexpr uint64_t k_lustre_end = UINT64_MAX;  // LUSTRE_EOF
constexpr size_t k_size_v1 = 32;
constexpr size_t k_size_v3 = 48;  // and a pool's name, 16 bytes
constexpr size_t k_pool_size = 16;
constexpr size_t k_size_composite = 32;
constexpr size_t k_size_entry = 48;

// Little endian, packed.
class Writer {
 public:
  template <class Number>
  void put(Number number) {
    for (size_t byte = 0; byte < sizeof(number); ++byte)
      bytes_.push_back(static_cast<char>(number >> (8 * byte) & 0xff));
  }
  void put_text(std::string_view text, size_t size) {
    bytes_.append(text.substr(0, size - 1));
    bytes_.resize(bytes_.size() + size - std::min(text.size(), size - 1), '\0');
  }
  void append(std::string_view bytes) { bytes_.append(bytes); }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// 0 beyond the end: the callers check the size first.
template <class Number>
Number number_at(std::string_view bytes, size_t offset) {
  uint64_t number = 0;
  for (size_t byte = 0; byte < sizeof(Number) && offset + byte < bytes.size(); ++byte)
    number |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[offset + byte])) << (8 * byte);
  return static_cast<Number>(number);
}

std::string plain(const Component& component, const std::string& pool, uint64_t file, uint64_t first_object) {
  Writer out;
  out.put(pool.empty() ? k_magic_v1 : k_magic_v3);
  out.put(k_raid0);
  out.put(file);  // lmm_oi: id, then sequence
  out.put(uint64_t{0});
  out.put(static_cast<uint32_t>(component.stripe));
  out.put(component.count == k_all_targets ? k_any_or_all : static_cast<uint16_t>(component.count));
  // Of a file this field is its layout's generation.
  const bool is_placed = !component.targets.empty();
  out.put(is_placed                         ? uint16_t{0}
          : component.first == k_any_target ? k_any_or_all
                                            : static_cast<uint16_t>(component.first));
  if (!pool.empty())
    out.put_text(pool, k_pool_size);
  for (size_t object = 0; object < component.targets.size(); ++object) {
    out.put(file);
    out.put(first_object + object);  // the sequence: distinguishes this object from the others of the file
    out.put(uint32_t{0});
    out.put(static_cast<uint32_t>(component.targets[object]));
  }
  return out.take();
}

// The first object's target, where there are objects: what one file's value hands over to another.
std::optional<Component> component_of(std::string_view lov, const Component& usual, std::string& pool) {
  const auto magic = number_at<uint32_t>(lov, 0);
  const size_t size = magic == k_magic_v1 ? k_size_v1 : k_size_v3;
  if ((magic != k_magic_v1 && magic != k_magic_v3) || lov.size() < size)
    return std::nullopt;
  const auto pattern = number_at<uint32_t>(lov, 4);
  if (pattern != k_raid0 && pattern != 0)
    return std::nullopt;
  Component component = usual;
  component.targets.clear();
  if (const auto stripe = number_at<uint32_t>(lov, 24); stripe != 0)
    component.stripe = stripe;
  if (const auto count = number_at<uint16_t>(lov, 28); count != 0)
    component.count = count == k_any_or_all ? k_all_targets : count;
  const auto first = number_at<uint16_t>(lov, 30);
  component.first = first == k_any_or_all ? k_any_target : first;
  if (lov.size() >= size + 24)
    component.first = static_cast<int>(number_at<uint32_t>(lov, size + 20));
  if (magic == k_magic_v3) {
    const std::string_view name = lov.substr(k_size_v1, k_pool_size);
    pool = name.substr(0, name.find('\0'));
  }
  return component;
}

std::optional<Layout> composite(std::string_view lov, const Component& usual) {
  const auto entries = number_at<uint16_t>(lov, 14);
  if (lov.size() < k_size_composite + entries * k_size_entry)
    return std::nullopt;
  Layout layout;
  for (size_t number = 0; number < entries; ++number) {
    const std::string_view entry = lov.substr(k_size_composite + number * k_size_entry, k_size_entry);
    const auto begin = number_at<uint64_t>(entry, 8);
    const auto end = number_at<uint64_t>(entry, 16);
    const auto offset = number_at<uint32_t>(entry, 24);
    const auto size = number_at<uint32_t>(entry, 28);
    if (offset > lov.size() || size > lov.size() - offset || begin > static_cast<uint64_t>(k_end_of_file))
      return std::nullopt;
    std::optional<Component> component = component_of(lov.substr(offset, size), usual, layout.pool);
    if (!component)
      return std::nullopt;
    component->begin = static_cast<int64_t>(begin);
    component->end = end >= static_cast<uint64_t>(k_end_of_file) ? k_end_of_file : static_cast<int64_t>(end);
    layout.components.push_back(std::move(*component));
  }
  return layout;
}

}  // namespace

std::string lov_of(const Layout& layout, uint64_t file) {
  if (layout.components.size() == 1)
    return plain(layout.components.front(), layout.pool, file, 0);
  Writer entries, parts;
  size_t offset = k_size_composite + layout.components.size() * k_size_entry;
  uint32_t id = 0;
  uint64_t objects = 0;
  for (const Component& component : layout.components) {
    const std::string part = plain(component, layout.pool, file, objects);
    objects += component.targets.size();
    entries.put(++id);
    entries.put(component.targets.empty() ? uint32_t{0} : k_instantiated);
    entries.put(static_cast<uint64_t>(component.begin));
    entries.put(component.end == k_end_of_file ? k_lustre_end : static_cast<uint64_t>(component.end));
    entries.put(static_cast<uint32_t>(offset));
    entries.put(static_cast<uint32_t>(part.size()));
    entries.append(std::string(16, '\0'));  // generation, time, padding
    parts.append(part);
    offset += part.size();
  }
  Writer out;
  out.put(k_magic_composite);
  out.put(static_cast<uint32_t>(offset));
  out.put(uint32_t{0});  // generation
  out.put(uint16_t{0});  // flags
  out.put(static_cast<uint16_t>(layout.components.size()));
  out.append(std::string(16, '\0'));  // one mirror (stored as 0), padding
  out.append(entries.take());
  out.append(parts.take());
  return out.take();
}

std::optional<Layout> layout_of_lov(std::string_view lov, const Component& usual) {
  if (number_at<uint32_t>(lov, 0) == k_magic_composite)
    return composite(lov, usual);
  Layout layout;
  std::optional<Component> component = component_of(lov, usual, layout.pool);
  if (!component)
    return std::nullopt;
  component->begin = 0;
  component->end = k_end_of_file;
  layout.components.push_back(std::move(*component));
  return layout;
}

}  // namespace striped_store
