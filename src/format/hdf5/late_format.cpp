// SPDX-License-Identifier: BSD-3-Clause
#include "format/hdf5/late_format.hpp"

namespace windrow {

template <class Work>
auto LateFormat::ask(Work&& work) -> decltype(work(std::declval<Format&>())) {
  Format* real = nullptr;
  Status status = guard([&] {
    auto made = by_hdf5();
    if (made.ok()) real = made.value();
    return made.status();
  });
  if (!status.ok()) return status;
  return work(*real);
}

Status LateFormat::define_group(const std::string& path) {
  return ask([&](Format& real) { return real.define_group(path); });
}
Result<Placement> LateFormat::define_variable(const VariableDefinition& definition) {
  return ask([&](Format& real) { return real.define_variable(definition); });
}
Status LateFormat::undefine(const std::string& path, int64_t records) {
  return ask([&](Format& real) { return real.undefine(path, records); });
}
Status LateFormat::define_split(const VariableDefinition& definition, std::span<const Part> parts) {
  return ask([&](Format& real) { return real.define_split(definition, parts); });
}
Result<std::vector<Part>> LateFormat::parts_of(const std::string& path) {
  return ask([&](Format& real) { return real.parts_of(path); });
}
Status LateFormat::put_attributes(const std::string& object, std::span<const Attribute> attributes) {
  return ask([&](Format& real) { return real.put_attributes(object, attributes); });
}
Status LateFormat::delete_attribute(const std::string& object, const std::string& name) {
  return ask([&](Format& real) { return real.delete_attribute(object, name); });
}
Status LateFormat::define_link(const SoftLink& link) {
  return ask([&](Format& real) { return real.define_link(link); });
}
Status LateFormat::define_dimension(const Dimension& dimension) {
  return ask([&](Format& real) { return real.define_dimension(dimension); });
}
Status LateFormat::name_dimensions(const std::string& variable, const std::vector<std::string>& dimensions) {
  return ask([&](Format& real) { return real.name_dimensions(variable, dimensions); });
}
Result<std::vector<std::string>> LateFormat::read_texts(const std::string& path) {
  return ask([&](Format& real) { return real.read_texts(path); });
}
Status LateFormat::write_texts(const std::string& path, const std::vector<std::string>& texts) {
  return ask([&](Format& real) { return real.write_texts(path, texts); });
}
Result<Catalog> LateFormat::catalog() {
  return ask([&](Format& real) { return real.catalog(); });
}
Status LateFormat::extend(const std::string& path, std::span<const int64_t> shape) {
  return ask([&](Format& real) { return real.extend(path, shape); });
}
Result<int64_t> LateFormat::give_place(const std::string& path) {
  return ask([&](Format& real) { return real.give_place(path); });
}
Status LateFormat::write_held(const std::string& path, std::span<const std::byte> content) {
  return ask([&](Format& real) { return real.write_held(path, content); });
}
Result<PlacedChunk> LateFormat::place_chunk(const std::string& path, std::span<const int64_t> first, int64_t bytes, bool keep_old) {
  return ask([&](Format& real) { return real.place_chunk(path, first, bytes, keep_old); });
}
Status LateFormat::restore_chunk(const std::string& path, std::span<const int64_t> first) {
  return ask([&](Format& real) { return real.restore_chunk(path, first); });
}
Status LateFormat::fill_chunk(const std::string& path, std::span<const int64_t> first, std::span<const std::byte> bytes) {
  return ask([&](Format& real) { return real.fill_chunk(path, first, bytes); });
}
void LateFormat::settle_chunks() noexcept {
  if (Format* const real = if_by_hdf5()) real->settle_chunks();
}
Result<ChunkPlace> LateFormat::find_chunk(const std::string& path, std::span<const int64_t> first) {
  return ask([&](Format& real) { return real.find_chunk(path, first); });
}
Status LateFormat::flush() {
  return ask([](Format& real) { return real.flush(); });
}

}  // namespace windrow
