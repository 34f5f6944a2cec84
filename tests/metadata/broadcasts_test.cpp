// SPDX-License-Identifier: BSD-3-Clause
#include "metadata/broadcasts.hpp"

#include <gtest/gtest.h>

namespace windrow::test {
namespace {

StorageLayout striped() {
  StorageLayout layout;
  layout.kind = LayoutKind::lustre;
  layout.components = {
      {.bytes = {0, k_no_end}, .stripe_bytes = 1 << 20, .stripe_count = 2, .targets = {3, k_no_target}}};
  return layout;
}

OpenBroadcast opened() {
  OpenBroadcast message;
  message.data_path = "/data";
  message.elsewhere = "/proc/1/fd/3";
  message.file_number = 12345678;
  message.format = "hdf5";
  message.is_interrupted = true;
  message.traits = {.places_late = true, .big_endian = true, .joins_parts = true};
  message.set_identity = "identity";
  message.set_folder = "folder";
  message.subfile_ending = ".h5";
  message.files_reason = "asked";
  message.layout = striped();
  message.layout_reason = "why";
  message.trace = "/trace";
  message.trace_problem = "problem";
  message.machine_text = "{}";
  return message;
}

OpenBroadcast with_catalog() {
  OpenBroadcast message = opened();
  message.traits = {.grows_as_one = true, .names_dimensions = true};
  message.catalog.emplace();
  message.catalog->groups = {{"/", {}}};
  Variable& variable = message.catalog->variables.emplace_back();
  variable.path = "/v";
  variable.placement = {.offset = 8, .bytes = 12};
  return message;
}

// What is cut off or has a byte too many is refused with `text`.
template <class Message>
void expect_refused(std::vector<std::byte> bytes, const std::string& text) {
  for (size_t length = 0; length < bytes.size(); ++length) {
    const auto read = Message::decode(std::span(bytes).first(length));
    ASSERT_EQ(read.status().code(), Code::internal) << length;
    EXPECT_EQ(read.status().message(), text);
  }
  bytes.push_back(std::byte{0});
  EXPECT_EQ(Message::decode(bytes).status().message(), text);
}

TEST(OpenBroadcast, ComesBackAsItWas) {
  for (const OpenBroadcast& message : {OpenBroadcast{}, opened(), with_catalog()}) {
    const auto back = OpenBroadcast::decode(message.encode());
    ASSERT_TRUE(back.ok()) << back.status().message();
    EXPECT_EQ(back.value(), message);
  }
}

TEST(OpenBroadcast, CutOffOrTooLongIsRefused) {
  for (const OpenBroadcast& message : {opened(), with_catalog()})
    expect_refused<OpenBroadcast>(message.encode(), "internal error: malformed open broadcast");
}

LayoutBroadcast placed() {
  LayoutBroadcast message;
  message.placements = {
      {.offset = 512, .bytes = 80}, {.offset = -1, .bytes = 0}, {.offset = 7, .bytes = 1, .stride = 9}};
  return message;
}

TEST(LayoutBroadcast, ComesBackAsItWas) {
  LayoutBroadcast written_anew = placed();
  written_anew.path = "/anew";
  written_anew.file_number = 77;
  written_anew.layout = striped();
  for (const LayoutBroadcast& message : {placed(), written_anew}) {
    const auto back = LayoutBroadcast::decode(message.encode());
    ASSERT_TRUE(back.ok()) << back.status().message();
    EXPECT_EQ(back.value(), message);
  }
}

TEST(LayoutBroadcast, CutOffOrTooLongIsRefused) {
  expect_refused<LayoutBroadcast>(placed().encode(), "internal error: malformed layout broadcast");
}

}  // namespace
}  // namespace windrow::test
