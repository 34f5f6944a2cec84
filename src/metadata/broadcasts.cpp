// SPDX-License-Identifier: BSD-3-Clause
#include "metadata/broadcasts.hpp"

#include <array>

#include "base/message.hpp"
#include "base/varint.hpp"
#include "format/catalog.hpp"

namespace windrow {
namespace {

// Visits the members of either message; the message is const when it is written.
template <class Message>
auto texts_of(Message& message) {
  return std::array{&message.data_path,  &message.elsewhere,      &message.format,       &message.set_identity,
                    &message.set_folder, &message.subfile_ending, &message.files_reason, &message.layout_reason,
                    &message.trace,      &message.trace_problem,  &message.machine_text};
}

template <class Traits>
auto traits_of(Traits& traits) {
  return std::array{&traits.places_late, &traits.grows_as_one, &traits.big_endian, &traits.names_dimensions,
                    &traits.joins_parts};
}

}  // namespace

std::vector<std::byte> OpenBroadcast::encode() const {
  std::vector<std::byte> out;
  for (const std::string* text : texts_of(*this))
    append_text(out, *text);
  append_varint(out, file_number);
  append_varint(out, is_interrupted ? 1 : 0);
  for (const bool* trait : traits_of(traits))
    append_varint(out, *trait ? 1 : 0);
  append_layout(out, layout);
  append_varint(out, catalog ? 1 : 0);
  if (catalog) {
    const std::vector<std::byte> bytes = serialize(*catalog);
    out.insert(out.end(), bytes.begin(), bytes.end());
  }
  return out;
}

Result<OpenBroadcast> OpenBroadcast::decode(std::span<const std::byte> bytes) {
  const auto malformed = [] { return Status(Code::internal, "internal error: malformed open broadcast"); };
  OpenBroadcast message;
  MessageReader reader(bytes);
  for (std::string* text : texts_of(message))
    *text = reader.text();
  message.file_number = reader.number();
  message.is_interrupted = reader.number() != 0;
  for (bool* trait : traits_of(message.traits))
    *trait = reader.number() != 0;
  message.layout = reader.field<StorageLayout>(read_layout);
  const bool has_catalog = reader.number() != 0;
  if (!reader.good() || (!has_catalog && !reader.is_whole()))
    return malformed();
  if (has_catalog) {
    auto catalog = deserialize(bytes.last(reader.left()));
    if (catalog.status().code() == Code::internal)
      return malformed();
    if (!catalog.ok())
      return catalog.status();
    message.catalog = std::move(catalog).value();
  }
  return message;
}

std::vector<std::byte> LayoutBroadcast::encode() const {
  std::vector<std::byte> out;
  append_text(out, path);
  append_varint(out, file_number);
  append_layout(out, layout);
  append_varint(out, placements.size());
  for (const Placement& place : placements)
    for (const int64_t number : {place.offset, place.bytes, place.stride})
      append_varint(out, static_cast<uint64_t>(number + 1));  // -1 if there is none
  return out;
}

Result<LayoutBroadcast> LayoutBroadcast::decode(std::span<const std::byte> bytes) {
  LayoutBroadcast message;
  MessageReader reader(bytes);
  message.path = reader.text();
  message.file_number = reader.number();
  message.layout = reader.field<StorageLayout>(read_layout);
  const uint64_t count = reader.number();
  for (uint64_t i = 0; i < count && reader.good(); ++i) {
    Placement& place = message.placements.emplace_back();
    for (int64_t* number : {&place.offset, &place.bytes, &place.stride})
      *number = static_cast<int64_t>(reader.number()) - 1;
  }
  if (!reader.is_whole())
    return Status(Code::internal, "internal error: malformed layout broadcast");
  return message;
}

}  // namespace windrow
