// SPDX-License-Identifier: BSD-3-Clause
// Layouts are queried and set through a table of system calls. The answers of each file system are simulated, including
// all errors.
#include "storage/layout_probe.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <random>

#include "../layout/lustre_blob.hpp"
#include "../temporary_folder.hpp"
#include "fake_system.hpp"
#include "layout/parse.hpp"

namespace windrow::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t k_mib = int64_t{1} << 20;

class LayoutProbe : public testing::Test {
 protected:
  void SetUp() override { std::ofstream(path_).flush(); }
  ProbedLayout probe() { return probe_layout(path_, FileSystem::unknown, system_.calls()); }
  mode_t mode() const {
    struct stat about {};
    return ::stat(path_.c_str(), &about) == 0 ? about.st_mode & 07777 : 0;
  }
  ino_t inode() const {
    struct stat about {};
    return ::stat(path_.c_str(), &about) == 0 ? about.st_ino : 0;
  }
  size_t files() const {
    return static_cast<size_t>(
        std::distance(std::filesystem::directory_iterator(folder_.path()), std::filesystem::directory_iterator()));
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.path("a file.h5");
  FakeSystem system_;
};

}  // namespace

TEST_F(LayoutProbe, takes_the_blocks_of_a_local_disk) {
  const ProbedLayout probed = probe();
  EXPECT_EQ(layout_text(probed.layout), "blocks of 4 KiB");
  EXPECT_EQ(probed.file_system, FileSystem::local);
  EXPECT_THAT(probed.reason, IsEmpty());
  for (const int64_t senseless : {int64_t{0}, int64_t{-1}, INT64_MAX}) {
    system_.block = senseless;
    EXPECT_EQ(layout_text(probe().layout), "blocks of 4 KiB");
  }
}

TEST_F(LayoutProbe, works_with_the_system_itself) {
  const ProbedLayout probed = probe_layout(path_);
  EXPECT_TRUE(check_layout(probed.layout).ok());
  const ProbedLayout nowhere = probe_layout(folder_.path("no such file"));
  EXPECT_EQ(layout_text(nowhere.layout), "blocks of 4 KiB");
}

TEST_F(LayoutProbe, reads_lustres_attribute) {
  system_.type = k_lustre;
  system_.attributes[path_ + " lustre.lov"] = LustreStripes{.count = 2, .targets = {4, 9}}.bytes();
  const ProbedLayout probed = probe();
  EXPECT_EQ(probed.file_system, FileSystem::lustre);
  EXPECT_THAT(probed.layout.components.front().targets, ElementsAre(4, 9));
  EXPECT_THAT(system_.flags, IsEmpty()) << "nothing is opened";
}

TEST_F(LayoutProbe, asks_the_folder_of_a_file_without_objects) {
  system_.type = k_lustre;
  system_.attributes[folder_.path() + " lustre.lov"] =
      LustreStripes{.stripe_bytes = 2 << 20, .count = 3, .targets = {}}.bytes();
  EXPECT_EQ(probe().layout.components.front().stripe_bytes, 2 * k_mib);
  EXPECT_TRUE(folder_has_layout(folder_.path(), FileSystem::lustre, system_.calls()));
  EXPECT_FALSE(folder_has_layout("/another", FileSystem::lustre, system_.calls()));
  EXPECT_FALSE(folder_has_layout(folder_.path(), FileSystem::local, system_.calls()));
}

TEST_F(LayoutProbe, asks_lustre_by_its_call_where_there_are_no_attributes) {
  system_.type = k_lustre;
  system_.missing = EOPNOTSUPP;
  system_.ioctls[k_lustre_getstripe] = [](void* argument) {
    // Like lov_getstripe() of Lustre's client: EINVAL for anything that does not begin like a layout, and at most as
    // many stripes as fit.
    uint32_t magic = 0;
    uint16_t room = 0;
    std::memcpy(&magic, argument, sizeof magic);
    std::memcpy(&room, static_cast<const std::byte*>(argument) + 28, sizeof room);
    if (magic != 0x0BD10BD0 && magic != 0x0BD30BD0)
      return -EINVAL;
    if (room < 3)
      return -EOVERFLOW;
    const auto blob = LustreStripes{.count = 3, .targets = {7, 8, 9}, .with_pool = true}.bytes();
    std::memcpy(argument, blob.data(), blob.size());
    return 0;
  };
  EXPECT_THAT(probe().layout.components.front().targets, ElementsAre(7, 8, 9));
  system_.ioctls[k_lustre_getstripe] = [](void*) { return -ENOTTY; };
  const std::string reason = probe().reason;
  EXPECT_THAT(reason, HasSubstr("lustre.lov"));
  EXPECT_THAT(reason, HasSubstr("stripes of")) << "what became of both";
}

TEST_F(LayoutProbe, says_why_it_takes_blocks_instead) {
  system_.type = k_lustre;
  ProbedLayout probed = probe();
  EXPECT_EQ(layout_text(probed.layout), "blocks of 4 KiB");
  EXPECT_THAT(probed.reason, HasSubstr("lustre.lov"));
  EXPECT_THAT(probed.reason, HasSubstr(path_));
  system_.attributes[path_ + " lustre.lov"] = bytes_of("not a layout");
  probed = probe();
  EXPECT_EQ(layout_text(probed.layout), "blocks of 4 KiB");
  EXPECT_THAT(probed.reason, HasSubstr("truncated"));
  system_.type = k_beegfs;
  EXPECT_THAT(probe().reason, HasSubstr("stripes of"));
  system_.type = k_cephfs;
  EXPECT_THAT(probe().reason, HasSubstr("ceph.file.layout"));
  system_.type = 0x12345678;
  EXPECT_THAT(probe().reason, HasSubstr("not known to report stripes"));
}

TEST_F(LayoutProbe, survives_hostile_attributes_of_any_size) {
  std::mt19937 random(20240503);
  for (const uint32_t type : {k_lustre, k_cephfs, k_fuse}) {
    system_.type = type;
    for (int turn = 0; turn < 2000; ++turn) {
      std::vector<std::byte> blob = LustreStripes{.count = 4, .targets = {1, 2, 3, 4}}.bytes();
      for (int i = 0; i < 3; ++i)
        blob[random() % blob.size()] = static_cast<std::byte>(random());
      blob.resize(random() % 3 == 0 ? random() % 70'000 : blob.size());
      system_.attributes[path_ + " lustre.lov"] = system_.attributes[path_ + " ceph.file.layout"] = blob;
      const ProbedLayout probed = probe();
      ASSERT_TRUE(check_layout(probed.layout).ok());
      ASSERT_EQ(probed.layout.kind == LayoutKind::blocks, !probed.reason.empty());
    }
  }
}

TEST_F(LayoutProbe, reads_the_attributes_of_cephfs_behind_fuse_too) {
  for (const uint32_t type : {k_cephfs, k_fuse}) {
    system_.type = type;
    system_.attributes[path_ + " ceph.file.layout"] =
        bytes_of("stripe_unit=1048576 stripe_count=3 object_size=4194304 pool=data");
    const ProbedLayout probed = probe();
    EXPECT_EQ(probed.file_system, FileSystem::cephfs);
    EXPECT_EQ(probed.layout.components.front().stripe_count, 3);
  }
}

TEST_F(LayoutProbe, asks_beegfs_by_its_calls) {
  system_.type = k_beegfs;
  system_.ioctls[_IOC(_IOC_READ, 'f', 25, 12)] = [](void* argument) {
    const std::array<uint32_t, 3> answer{1, 524288, 3};
    std::memcpy(argument, answer.data(), 10);
    return 0;
  };
  EXPECT_THAT(probe().layout.components.front().targets, IsEmpty()) << "it does not tell of targets";
  // The older call knows targets, the newer one groups of mirrors too.
  system_.ioctls[_IOC(_IOC_READ, 'f', 26, 262)] = [](void* argument) {
    uint16_t index = 0;
    std::memcpy(&index, argument, 2);
    const auto target = static_cast<uint16_t>(100 + index);
    std::memcpy(static_cast<char*>(argument) + 2, &target, 2);
    return 0;
  };
  EXPECT_THAT(probe().layout.components.front().targets, ElementsAre(100, 101, 102));
  system_.ioctls[_IOC(_IOC_READ, 'f', 26, 536)] = [](void* argument) {
    uint32_t index = 0;
    std::memcpy(&index, argument, 4);
    const uint32_t target = 200 + index;
    std::memcpy(static_cast<char*>(argument) + 4, &target, 4);
    return index == 2 ? -ENOENT : 0;
  };
  EXPECT_THAT(probe().layout.components.front().targets, ElementsAre(200, 201, 102))
      << "one that the newer call does not find";
}

TEST_F(LayoutProbe, sets_stripes_on_lustre_by_a_file_without_objects) {
  system_.type = k_lustre;
  ASSERT_EQ(::chmod(path_.c_str(), 0640), 0);
  const ino_t before = inode();
  StorageLayout asked;
  system_.ioctls[k_lustre_setstripe] = [&](void* argument) {
    asked = parse_lustre(std::span(static_cast<const std::byte*>(argument), 32)).value();
    return 0;
  };
  const Status status = set_stripes(path_, {.bytes = 4 * k_mib, .count = 8, .first = 3}, probe(), system_.calls());
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(asked.components.front().stripe_bytes, 4 * k_mib);
  EXPECT_EQ(asked.components.front().stripe_count, 8);
  constexpr int k_delay_create = 0100000000 | O_NOCTTY | O_ASYNC;
  EXPECT_EQ(system_.flags.back() & (k_delay_create | O_CREAT | O_EXCL), k_delay_create | O_CREAT | O_EXCL);
  EXPECT_NE(inode(), before) << "another file has the name";
  EXPECT_EQ(mode(), 0640u);
  EXPECT_EQ(files(), 1u);
}

TEST_F(LayoutProbe, sets_stripes_by_the_attribute_behind_fuse) {
  system_.type = k_fuse;
  system_.attributes[path_ + " lustre.lov"] = LustreStripes{.count = 1, .targets = {4}}.bytes();
  ASSERT_TRUE(set_stripes(path_, {.count = 2}, probe(), system_.calls()).ok());
  ASSERT_EQ(system_.set.size(), 1u);
  EXPECT_THAT(system_.set.front(), testing::StartsWith("lustre.lov="));
}

TEST_F(LayoutProbe, leaves_the_file_as_it_was_when_lustre_refuses) {
  system_.type = k_lustre;
  system_.ioctls[k_lustre_setstripe] = [](void*) { return -EINVAL; };
  const ino_t before = inode();
  const Status status = set_stripes(path_, {.bytes = 4 * k_mib}, probe(), system_.calls());
  EXPECT_EQ(status.code(), Code::bad_argument);
  EXPECT_THAT(status.message(), HasSubstr(path_));
  EXPECT_THAT(status.message(), HasSubstr("nvalid argument"));
  EXPECT_EQ(inode(), before);
  EXPECT_EQ(files(), 1u);
}

TEST_F(LayoutProbe, sets_stripes_on_cephfs) {
  system_.type = k_cephfs;
  system_.attributes[path_ + " ceph.file.layout"] =
      bytes_of("stripe_unit=4194304 stripe_count=1 object_size=4194304 pool=data");
  ASSERT_TRUE(set_stripes(path_, {.bytes = k_mib, .count = 4}, probe(), system_.calls()).ok());
  EXPECT_THAT(system_.set, ElementsAre("ceph.file.layout=stripe_unit=1048576 stripe_count=4 object_size=4194304"));
  EXPECT_EQ(set_stripes(path_, {.first = 2}, probe(), system_.calls()).code(), Code::unsupported);
}

TEST_F(LayoutProbe, sets_no_stripes_elsewhere) {
  for (const uint32_t type : {k_ext4, k_beegfs, 0x12345678u}) {
    system_.type = type;
    EXPECT_EQ(set_stripes(path_, {.count = 2}, probe(), system_.calls()).code(), Code::unsupported);
  }
  EXPECT_THAT(system_.set, IsEmpty());
  EXPECT_EQ(files(), 1u);
}

}  // namespace windrow::test
