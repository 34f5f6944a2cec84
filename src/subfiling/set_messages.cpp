// SPDX-License-Identifier: BSD-3-Clause
#include "subfiling/set_messages.hpp"

#include <array>
#include <utility>

#include "base/message.hpp"
#include "base/varint.hpp"

namespace windrow {
namespace {

// Visits the members of a message; the message is const when it is written.
template <class Names>
auto texts_of(Names& names) {
  return std::array{&names.format, &names.identity, &names.folder, &names.ending};
}

}  // namespace

std::vector<std::byte> SetNames::encode() const {
  std::vector<std::byte> message;
  for (const std::string* text : texts_of(*this))
    append_text(message, *text);
  return message;
}

Result<SetNames> SetNames::decode(std::span<const std::byte> bytes) {
  SetNames names;
  MessageReader reader(bytes);
  for (std::string* text : texts_of(names))
    *text = reader.text();
  if (!reader.is_whole())
    return Status(Code::internal, "internal error: malformed subfile set broadcast");
  return names;
}

std::vector<std::byte> SubfileFindings::encode() const {
  std::vector<std::byte> message;
  for (const SubfileFinding& each : subfiles) {
    append_signed(message, each.fault);
    append_varint(message, each.file_number);
    append_varint(message, each.is_interrupted ? 1 : 0);
    append_text(message, each.text);
    append_varint(message, each.places.size());
    for (const auto& [offset, stride] : each.places) {
      append_varint(message, static_cast<uint64_t>(offset) + 1);
      append_varint(message, static_cast<uint64_t>(stride));
    }
  }
  return message;
}

Result<SubfileFindings> SubfileFindings::decode(std::span<const std::byte> bytes, size_t subfiles) {
  SubfileFindings message;
  MessageReader reader(bytes);
  for (size_t i = 0; i < subfiles && reader.good(); ++i) {
    SubfileFinding& finding = message.subfiles.emplace_back();
    finding.fault = reader.signed_number();
    finding.file_number = reader.number();
    finding.is_interrupted = reader.number() != 0;
    finding.text = reader.text();
    const uint64_t places = reader.number();
    for (uint64_t place = 0; place < places && reader.good(); ++place) {
      const auto offset = static_cast<int64_t>(reader.number() - 1), stride = static_cast<int64_t>(reader.number());
      finding.places.push_back({offset, stride});
    }
  }
  if (!reader.is_whole())
    return Status(Code::internal, "internal error: malformed subfile message");
  return message;
}

std::vector<std::byte> SubfileLayouts::encode() const {
  std::vector<std::byte> message;
  for (const StorageLayout& each : subfiles)
    append_layout(message, each);
  return message;
}

Result<SubfileLayouts> SubfileLayouts::decode(std::span<const std::byte> bytes, size_t subfiles) {
  SubfileLayouts message;
  MessageReader reader(bytes);
  for (size_t i = 0; i < subfiles && reader.good(); ++i)
    message.subfiles.push_back(reader.field<StorageLayout>(read_layout));
  if (!reader.is_whole())
    return Status(Code::internal, "internal error: malformed message about the targets of a file");
  return message;
}

// Each part begins with 0, or with the reason why its chunks are unknown.
std::vector<std::byte> PartChunkLists::encode() const {
  std::vector<std::byte> message;
  for (const auto& part : parts) {
    append_text(message, part.ok() ? std::string() : part.status().message());
    if (!part.ok())
      continue;
    for (const auto& [offset, bytes, skipped] : part.value()) {
      append_varint(message, static_cast<uint64_t>(offset) + 1);
      append_varint(message, static_cast<uint64_t>(bytes));
      append_varint(message, skipped);
    }
  }
  return message;
}

Result<PartChunkLists> PartChunkLists::decode(std::span<const std::byte> bytes, std::span<const int64_t> counts) {
  PartChunkLists message;
  MessageReader reader(bytes);
  for (const int64_t count : counts) {
    if (std::string why = reader.text(); !why.empty()) {
      message.parts.emplace_back(Status(Code::bad_file, std::move(why)));
      continue;
    }
    std::vector<ChunkPlace> places;
    for (int64_t chunk = 0; chunk < count && reader.good(); ++chunk) {
      const auto offset = static_cast<int64_t>(reader.number() - 1), size = static_cast<int64_t>(reader.number());
      places.push_back({offset, size, static_cast<uint32_t>(reader.number())});
    }
    message.parts.emplace_back(std::move(places));
  }
  if (!reader.is_whole())
    return Status(Code::internal, "internal error: malformed message about chunks of parts");
  return message;
}

}  // namespace windrow
