// SPDX-License-Identifier: BSD-3-Clause
#include "subfiling/set_messages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace windrow::test {
namespace {

// A message is refused with `text` if it is cut off anywhere, or has one byte too many.
template <class Decode>
void expect_refused(std::vector<std::byte> bytes, const std::string& text, Decode&& decode) {
  for (size_t length = 0; length < bytes.size(); ++length) {
    const Status status = decode(std::span<const std::byte>(bytes).first(length)).status();
    ASSERT_EQ(status.code(), Code::internal) << length;
    EXPECT_EQ(status.message(), text);
  }
  bytes.push_back(std::byte{0});
  EXPECT_EQ(decode(std::span<const std::byte>(bytes)).status().message(), text);
}

const SetNames k_names{.format = "hdf5", .identity = "0a-1b", .folder = "a.h5.subfiles-0a", .ending = ".h5"};

TEST(SetNames, are_decoded_as_they_were) {
  for (const SetNames& names : {SetNames{}, k_names}) {
    const auto back = SetNames::decode(names.encode());
    ASSERT_TRUE(back.ok()) << back.status().message();
    EXPECT_EQ(back.value(), names);
  }
}

TEST(SetNames, cut_off_or_too_long_are_refused) {
  expect_refused(k_names.encode(), "internal error: malformed subfile set broadcast", SetNames::decode);
}

const SubfileFindings k_findings{
    {{.fault = 0, .file_number = 300, .is_interrupted = true, .text = "", .places = {{4096, 0}, {-1, 0}}},
     {.fault = -255, .file_number = 0, .text = "is 3 and not 4", .places = {}},
     {.fault = INT64_MIN, .file_number = UINT64_MAX, .text = "", .places = {}}}};

TEST(SubfileFindings, are_decoded_as_they_were) {
  const auto back = SubfileFindings::decode(k_findings.encode(), k_findings.subfiles.size());
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(back.value(), k_findings);
  EXPECT_TRUE(SubfileFindings::decode({}, 0).ok());
}

TEST(SubfileFindings, of_several_owners_are_one_message) {
  SubfileFindings first = k_findings, rest = k_findings;
  first.subfiles.resize(1);
  rest.subfiles.erase(rest.subfiles.begin());
  std::vector<std::byte> message = first.encode();
  const std::vector<std::byte> behind = rest.encode();
  message.insert(message.end(), behind.begin(), behind.end());
  EXPECT_EQ(message, k_findings.encode());
}

TEST(SubfileFindings, cut_off_or_too_long_are_refused) {
  expect_refused(k_findings.encode(), "internal error: malformed subfile message",
                 [](std::span<const std::byte> bytes) { return SubfileFindings::decode(bytes, 3); });
}

SubfileLayouts layouts() {
  StorageLayout striped;
  striped.kind = LayoutKind::lustre;
  striped.components = {
      {.bytes = {0, k_no_end}, .stripe_bytes = 1 << 20, .stripe_count = 2, .targets = {3, k_no_target}}};
  return {{striped, StorageLayout{}, striped}};
}

TEST(SubfileLayouts, are_decoded_as_they_were) {
  const auto back = SubfileLayouts::decode(layouts().encode(), 3);
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(back.value(), layouts());
}

TEST(SubfileLayouts, cut_off_or_too_long_are_refused) {
  expect_refused(layouts().encode(), "internal error: malformed message about the targets of a file",
                 [](std::span<const std::byte> bytes) { return SubfileLayouts::decode(bytes, 3); });
}

PartChunkLists chunks() {
  PartChunkLists lists;
  lists.parts.emplace_back(std::vector<ChunkPlace>{{4096, 80, 0}, {-1, 0, 0}, {70000, 12, 5}});
  lists.parts.emplace_back(Status(Code::bad_file, "the index is damaged"));
  lists.parts.emplace_back(std::vector<ChunkPlace>{});
  return lists;
}

constexpr std::array<int64_t, 3> k_counts{3, 2, 0};

TEST(PartChunkLists, are_decoded_as_they_were) {
  const auto back = PartChunkLists::decode(chunks().encode(), k_counts);
  ASSERT_TRUE(back.ok()) << back.status().message();
  const auto& parts = back.value().parts;
  ASSERT_EQ(parts.size(), 3U);
  ASSERT_EQ(parts[0].value().size(), 3U);
  EXPECT_EQ(parts[0].value()[0].offset, 4096);
  EXPECT_EQ(parts[0].value()[1].offset, -1);
  EXPECT_EQ(parts[0].value()[2].bytes, 12);
  EXPECT_EQ(parts[0].value()[2].skipped, 5U);
  EXPECT_EQ(parts[1].status().code(), Code::bad_file);
  EXPECT_EQ(parts[1].status().message(), "the index is damaged");
  EXPECT_TRUE(parts[2].value().empty());
}

TEST(PartChunkLists, cut_off_or_too_long_are_refused) {
  expect_refused(chunks().encode(), "internal error: malformed message about chunks of parts",
                 [](std::span<const std::byte> bytes) { return PartChunkLists::decode(bytes, k_counts); });
}

}  // namespace
}  // namespace windrow::test
