// SPDX-License-Identifier: BSD-3-Clause
// Lines of /proc/self/mountinfo as Linux writes them and invalid ones, and the paths in a CephFS that they lead to.
#include "storage/mounts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace windrow::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

CephPlace place(const std::string& text, std::string_view path) {
  const auto mounts = parse_mounts(text);
  auto found = place_in_cephfs(mounts, path);
  EXPECT_TRUE(found.ok()) << found.status().message();
  return found.ok() ? std::move(found).value() : CephPlace{};
}

}  // namespace

TEST(Mounts, are_read_with_any_number_of_optional_fields) {
  const auto mounts = parse_mounts(
      "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
      "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 shared:7 - ext3 /dev/root rw,errors=continue\n"
      "40 35 0:50 / /a\\040b\\011c\\134d rw - fuse.ceph-fuse ceph-fuse\n");
  ASSERT_THAT(mounts, SizeIs(3));
  EXPECT_EQ(mounts[0], (Mount{.root = "/", .point = "/proc", .type = "proc", .source = "proc", .options = "rw"}));
  EXPECT_EQ(
      mounts[1],
      (Mount{
          .root = "/mnt1", .point = "/mnt2", .type = "ext3", .source = "/dev/root", .options = "rw,errors=continue"}));
  EXPECT_EQ(mounts[2].point, "/a b\tc\\d");
  EXPECT_THAT(mounts[2].options, IsEmpty());
}

TEST(Mounts, leave_out_what_is_no_line) {
  for (const char* text :
       {"", "\n\n", "no line", "1 2 3:4 / /mnt rw", "1 2 3:4 / /mnt rw -", "1 2 3:4 / /mnt rw - ceph",
        "1 2 3:4 / mnt rw - ceph source rw", "1 2 3:4 / /mnt - ceph source rw"})
    EXPECT_THAT(parse_mounts(text), IsEmpty()) << text;
  EXPECT_EQ(parse_mounts("1 2 3:4 / /a\\04 rw - t s").front().point, "/a\\04");
  EXPECT_EQ(parse_mounts("1 2 3:4 / /a\\400\\089\\ rw - t s").front().point, "/a\\400\\089\\");
}

TEST(Mounts, survive_any_text) {
  std::mt19937 random(20240601);
  const std::string sound = "36 35 0:50 /sub /mnt/a\\040b rw shared:1 - ceph user@id.fs=/root rw,name=admin\n";
  for (int turn = 0; turn < 20'000; ++turn) {
    std::string text = sound + sound;
    for (int changes = 0; changes < 4; ++changes)
      text[random() % text.size()] = random() % 2 == 0 ? static_cast<char>(random()) : " \\/-\n0@=:."[random() % 10];
    const auto mounts = parse_mounts(text);
    ASSERT_LE(mounts.size(), 6U);
    (void)place_in_cephfs(mounts, "/mnt/a b/file");
  }
}

TEST(Mounts, contain_a_path_in_the_innermost_and_last) {
  const auto mounts = parse_mounts(
      "1 0 1:1 / / rw - ext4 a rw\n2 1 1:2 / /mnt rw - ceph b rw\n3 2 1:3 / /mnt/in rw - ceph c rw\n4 3 1:4 / /mnt/in "
      "rw - ceph d rw\n");
  const auto source = [&](std::string_view path) { return mount_of(mounts, path)->source; };
  EXPECT_EQ(source("/home/file"), "a");
  EXPECT_EQ(source("/mnt"), "b");
  EXPECT_EQ(source("/mnt/file"), "b");
  EXPECT_EQ(source("/mnt/inner"), "b") << "only begins with the same letters";
  EXPECT_EQ(source("/mntfile"), "a");
  EXPECT_EQ(source("/mnt/in/file"), "d") << "mounted over c";
  EXPECT_EQ(mount_of(std::span(mounts).subspan(1), "/home/file"), nullptr);
}

TEST(PlaceInCephFs, follows_the_kernels_sources) {
  EXPECT_EQ(
      place("1 0 0:5 / /mnt rw - ceph 10.0.0.1:6789,10.0.0.2:6789:/ rw,name=me,secret=<hidden>,acl\n", "/mnt/run/a.h5"),
      (CephPlace{.user = "me", .file_system = "", .root = "/", .path = "/run/a.h5"}));
  EXPECT_EQ(
      place("1 0 0:5 / /mnt rw - ceph [2001:db8::1]:6789:/volumes/x/ rw,name=me,mds_namespace=second\n", "/mnt/a.h5"),
      (CephPlace{.user = "me", .file_system = "second", .root = "/volumes/x", .path = "/a.h5"}));
  EXPECT_EQ(place("1 0 0:5 / /mnt rw - ceph :/a@b=/c rw,fs=third\n", "/mnt/a.h5"),
            (CephPlace{.user = "", .file_system = "third", .root = "/a@b=/c", .path = "/a.h5"}));
  EXPECT_EQ(
      place("1 0 0:5 / /mnt rw - ceph me@07fe3187-00d9-42a3-814b-72a4d5e7d5be.my.fs=/volumes/a\\040b rw,name=me\n",
            "/mnt/a.h5"),
      (CephPlace{.user = "me", .file_system = "my.fs", .root = "/volumes/a b", .path = "/a.h5"}));
  EXPECT_EQ(place("1 0 0:5 / /mnt rw - ceph me@.fs=/ rw\n", "/mnt"),
            (CephPlace{.user = "me", .file_system = "fs", .root = "/", .path = "/"}));
}

TEST(PlaceInCephFs, goes_through_bind_mounts_and_nested_ones) {
  const std::string text =
      "1 0 0:5 / / rw - ext4 a rw\n2 1 0:6 / /mnt rw - ceph :/ rw,name=me\n3 2 0:6 /deep/folder /mnt/bound rw - ceph "
      ":/ rw,name=me\n";
  EXPECT_EQ(place(text, "/mnt/bound/a b.h5").path, "/deep/folder/a b.h5");
  EXPECT_EQ(place(text, "/mnt/a.h5").path, "/a.h5");
}

TEST(PlaceInCephFs, knows_nothing_of_ceph_fuse_but_the_path) {
  EXPECT_EQ(
      place("1 0 0:5 / /c\\040d rw,nosuid shared:3 - fuse.ceph-fuse ceph-fuse rw,user_id=0,group_id=0,allow_other\n",
            "/c d/run/a.h5"),
      (CephPlace{.user = "", .file_system = "", .root = "/", .path = "/run/a.h5"}));
}

TEST(PlaceInCephFs, is_nowhere_else) {
  const auto mounts = parse_mounts("1 0 0:5 / / rw - ext4 a rw\n");
  const auto other = place_in_cephfs(mounts, "/home/a.h5");
  EXPECT_EQ(other.status().code(), Code::unsupported);
  EXPECT_THAT(other.status().message(), HasSubstr("ext4"));
  EXPECT_EQ(place_in_cephfs({}, "/home/a.h5").status().code(), Code::unsupported);
}

}  // namespace windrow::test
