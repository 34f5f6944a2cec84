// SPDX-License-Identifier: BSD-3-Clause
#include "format/hdf5/sizes.hpp"

namespace windrow {

int64_t memory_of(const std::string& text) noexcept { return static_cast<int64_t>(sizeof text + text.size()); }

int64_t memory_of(const std::vector<std::string>& texts) noexcept {
  int64_t bytes = 0;
  for (const std::string& text : texts) bytes += memory_of(text);
  return bytes;
}

int64_t memory_of(const Attribute& attribute) noexcept {
  return static_cast<int64_t>(sizeof attribute + attribute.name.size() + attribute.data.size() + attribute.enumeration.size() + attribute.tag.size()) + memory_of(attribute.texts);
}

int64_t memory_of(const std::vector<Attribute>& attributes) noexcept {
  int64_t bytes = 0;
  for (const Attribute& attribute : attributes) bytes += memory_of(attribute);
  return bytes;
}

int64_t memory_of(const Chunking& chunking) noexcept {
  int64_t bytes = 0;
  for (const Filter& filter : chunking.filters) bytes += static_cast<int64_t>(sizeof filter + filter.name.size() + filter.values.size() * sizeof(unsigned));
  return bytes;
}

int64_t memory_of(const VariableDefinition& definition) noexcept {
  return static_cast<int64_t>(sizeof definition + definition.fill.size() + definition.details.enumeration.size() + definition.details.tag.size()) + memory_of(definition.path) +
         memory_of(definition.chunking);
}

int64_t memory_of(const Catalog& catalog) noexcept {
  int64_t bytes = memory_of(catalog.unsupported);
  for (const Group& each : catalog.groups) bytes += memory_of(each.path) + memory_of(each.attributes);
  for (const Variable& each : catalog.variables)
    bytes += static_cast<int64_t>(sizeof each + each.fill.size() + each.content.size() + each.details.enumeration.size() + each.details.tag.size()) + memory_of(each.path) +
             memory_of(each.attributes) + memory_of(each.chunking) + memory_of(each.dimensions);
  for (const SoftLink& each : catalog.links) bytes += memory_of(each.path) + memory_of(each.target);
  for (const Dimension& each : catalog.dimensions) bytes += memory_of(each.path);
  return bytes;
}

}  // namespace windrow
