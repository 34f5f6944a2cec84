// SPDX-License-Identifier: BSD-3-Clause
// OSDs asked for by the kernel's call and by libcephfs, both answered by hand: well, oddly, late, and not at all.
#include "storage/ceph_osds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <random>

#include "../temporary_folder.hpp"
#include "fake_ceph.hpp"
#include "fake_system.hpp"

namespace windrow::test {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr int64_t k_mib = int64_t{1} << 20;

LayoutComponent stripes(int64_t stripe, int64_t count, int64_t object) {
  return {.stripe_bytes = stripe, .stripe_count = count, .object_bytes = object, .targets = {}};
}

class CephOsds : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(path_).flush();
    system_.mounts = "1 0 0:5 / / rw - fuse.ceph-fuse ceph-fuse rw\n";
    struct stat about {};
    ASSERT_EQ(::stat(path_.c_str(), &about), 0);
    fake_.file.inode = about.st_ino;
  }
  void has_kernel() {
    system_.ioctls[k_ceph_location] = [this](void* argument) { return kernel_(argument); };
  }
  Osds ask(const LayoutComponent& component, OsdQuestion question = {}) {
    return ask_osds(path_, component, question, system_.calls());
  }
  Osds ask_library(const LayoutComponent& component, int64_t bytes) {
    library_ = fake_.library();
    system_.ceph = &library_;
    Osds found = ask(component, {.by = OsdsBy::library, .bytes = bytes});
    EXPECT_EQ(fake_.clients, 0) << "all that was begun was ended";
    EXPECT_EQ(fake_.mounts, 0);
    EXPECT_EQ(fake_.files, 0);
    return found;
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.path("a file.h5");
  FakeSystem system_;
  FakeCephKernel kernel_;
  FakeCephLibrary fake_;
  CephLibrary library_;
};

}  // namespace

TEST(ObjectsToAsk, are_those_of_the_file_in_whole_rows) {
  EXPECT_EQ(objects_to_ask(stripes(4 * k_mib, 1, 4 * k_mib), 17 * k_mib), 5);
  EXPECT_EQ(objects_to_ask(stripes(4 * k_mib, 1, 4 * k_mib), 0), 256)
      << "a GiB of a file that nobody knows the length of";
  EXPECT_EQ(objects_to_ask(stripes(k_mib, 3, 4 * k_mib), 1), 3);
  EXPECT_EQ(objects_to_ask(stripes(k_mib, 3, 4 * k_mib), 12 * k_mib + 1), 6);
  EXPECT_EQ(objects_to_ask(stripes(4 * k_mib, 1, 4 * k_mib), INT64_MAX), 4096);
  EXPECT_EQ(objects_to_ask(stripes(64 << 10, 1, 4 * k_mib), INT64_MAX), 4096) << "their stripes follow each other";
  EXPECT_EQ(objects_to_ask(stripes(64 << 10, 4, 4 * k_mib), INT64_MAX), 256) << "of 64 stripes each";
  EXPECT_EQ(objects_to_ask(stripes(4 * k_mib, 5, 4 * k_mib), INT64_MAX), 4095);
  EXPECT_EQ(objects_to_ask(stripes(4 * k_mib, 5000, 4 * k_mib), INT64_MAX), 0);
  EXPECT_EQ(objects_to_ask(stripes(4 * k_mib, 1, 0), INT64_MAX), 0);
}

TEST_F(CephOsds, are_told_by_the_kernels_client) {
  has_kernel();
  const Osds found = ask(stripes(k_mib, 1, 4 * k_mib), {.bytes = 20 * k_mib});
  EXPECT_THAT(found.targets, ElementsAre(0, 2, 4, 1, 3));
  EXPECT_THAT(found.why, IsEmpty());
  EXPECT_EQ(kernel_.asked, 5);
  EXPECT_THAT(ask(stripes(k_mib, 1, 4 * k_mib), {.by = OsdsBy::library, .bytes = 4 * k_mib}).targets, ElementsAre(0))
      << "who knows at once is asked first";
}

TEST_F(CephOsds, of_rows_of_objects_are_in_the_order_of_their_numbers) {
  has_kernel();
  kernel_.stripe_count = 3;
  kernel_.osd = [](uint64_t object) { return static_cast<int64_t>(100 + object); };
  EXPECT_THAT(ask(stripes(k_mib, 3, 4 * k_mib), {.bytes = 13 * k_mib}).targets,
              ElementsAre(100, 101, 102, 103, 104, 105));
}

TEST_F(CephOsds, that_are_down_leave_their_objects_to_nobody) {
  has_kernel();
  kernel_.osd = [](uint64_t object) { return object == 1 ? -1 : 6; };
  EXPECT_THAT(ask(stripes(k_mib, 1, 4 * k_mib), {.bytes = 12 * k_mib}).targets, ElementsAre(6, k_no_target, 6));
  kernel_.osd = [](uint64_t) { return INT64_MIN; };
  const Osds none = ask(stripes(k_mib, 1, 4 * k_mib), {.bytes = 12 * k_mib});
  EXPECT_THAT(none.targets, IsEmpty());
  EXPECT_THAT(none.why, HasSubstr("no OSD has the objects"));
}

TEST_F(CephOsds, are_not_taken_from_answers_about_something_else) {
  has_kernel();
  const std::vector<std::function<void(CephLocation&)>> cases{
      [](CephLocation& each) { each.object_bytes = 0; }, [](CephLocation& each) { each.object_bytes *= 2; },
      [](CephLocation& each) { each.block_bytes = 0; },  [](CephLocation& each) { each.block_bytes = UINT64_MAX; },
      [](CephLocation& each) { ++each.object_number; },  [](CephLocation& each) { each.object_offset = 4096; },
      [](CephLocation& each) { each.block_offset = 1; }, [](CephLocation& each) { each.osd = int64_t{1} << 40; }};
  for (size_t i = 0; i < cases.size(); ++i) {
    kernel_.spoil = [&](CephLocation& each) {
      if (each.object_number == 2)
        cases[i](each);
    };
    const Osds found = ask(stripes(k_mib, 1, 4 * k_mib), {.bytes = 20 * k_mib});
    EXPECT_THAT(found.targets, IsEmpty()) << i;
    EXPECT_THAT(found.why, testing::AnyOf(HasSubstr("its layout differs"), HasSubstr("there is no OSD"))) << i;
  }
}

TEST_F(CephOsds, survive_any_answer) {
  has_kernel();
  std::mt19937 random(20240602);
  kernel_.spoil = [&](CephLocation& each) {
    auto* bytes = reinterpret_cast<unsigned char*>(&each);
    if (random() % 4 == 0)
      bytes[random() % sizeof each] = static_cast<unsigned char>(random());
  };
  for (int turn = 0; turn < 3000; ++turn) {
    StorageLayout layout{.kind = LayoutKind::cephfs, .components = {stripes(k_mib, 1, 4 * k_mib)}};
    const Osds found = ask(layout.components.front(), {.bytes = 20 * k_mib, .answer_s = 60});
    layout.components.front().targets = found.targets;
    ASSERT_TRUE(check_layout(layout).ok());
    ASSERT_EQ(found.targets.empty(), !found.why.empty());
  }
}

TEST_F(CephOsds, are_not_told_by_clients_without_the_call) {
  for (const int error : {ENOTTY, ENOSYS, EOPNOTSUPP, EINVAL}) {
    system_.ioctls[k_ceph_location] = [error](void*) { return -error; };
    const Osds found = ask(stripes(k_mib, 1, 4 * k_mib));
    EXPECT_THAT(found.targets, IsEmpty());
    EXPECT_THAT(found.why, HasSubstr("ceph_osds=libcephfs"));
  }
  system_.ioctls[k_ceph_location] = [](void*) { return -EIO; };
  EXPECT_THAT(ask(stripes(k_mib, 1, 4 * k_mib)).why, HasSubstr("nput/output error"));
  EXPECT_THAT(ask_osds(folder_.path("nothing"), stripes(k_mib, 1, 4 * k_mib), {}, system_.calls()).why,
              HasSubstr("open of"));
}

TEST_F(CephOsds, are_not_waited_for) {
  has_kernel();
  const Osds none = ask(stripes(k_mib, 1, 4 * k_mib), {.bytes = 20 * k_mib, .answer_s = 0});
  EXPECT_THAT(none.targets, IsEmpty());
  EXPECT_THAT(none.why, HasSubstr("0 of 5 objects"));
  EXPECT_EQ(kernel_.asked, 0);
}

TEST_F(CephOsds, are_asked_of_nobody_where_that_is_said) {
  has_kernel();
  const Osds none = ask(stripes(k_mib, 1, 4 * k_mib), {.by = OsdsBy::nobody});
  EXPECT_THAT(none.targets, IsEmpty());
  EXPECT_THAT(none.why, IsEmpty());
  EXPECT_EQ(kernel_.asked, 0);
}

TEST_F(CephOsds, are_told_by_libcephfs) {
  const Osds found = ask_library(stripes(k_mib, 1, 4 * k_mib), 20 * k_mib);
  EXPECT_THAT(found.targets, ElementsAre(0, 1, 2, 0, 1)) << "the first of the copies' OSDs: " << found.why;
  EXPECT_THAT(found.why, IsEmpty());
  EXPECT_EQ(fake_.calls.front(), "create");
  EXPECT_THAT(fake_.calls, Contains("set client_mount_timeout 5"));
  EXPECT_THAT(fake_.calls, Contains("set log_to_stderr false"));
  EXPECT_THAT(fake_.calls, Contains("mount /"));
  EXPECT_THAT(fake_.calls, Contains("open " + path_));
  EXPECT_EQ(fake_.calls.back(), "release");
}

TEST_F(CephOsds, come_from_the_mount_that_the_kernel_names) {
  std::string point;  // as Linux writes it
  for (const char letter : folder_.path())
    point += letter == ' ' ? "\\040" : std::string(1, letter);
  system_.mounts = "1 0 0:5 / / rw - ext4 a rw\n2 1 0:6 /deep " + point + " rw - ceph me@id.other=/volumes rw\n";
  EXPECT_THAT(ask_library(stripes(k_mib, 1, 4 * k_mib), 8 * k_mib).targets, ElementsAre(0, 1));
  for (const char* call : {"create me", "set client_fs other", "mount /volumes", "open /deep/a file.h5"})
    EXPECT_THAT(fake_.calls, Contains(call));
  fake_.errors["set client_fs"] = -ENOENT;
  fake_.calls.clear();
  EXPECT_THAT(ask_library(stripes(k_mib, 1, 4 * k_mib), 8 * k_mib).targets, SizeIs(2)) << "an older Ceph";
  EXPECT_THAT(fake_.calls, Contains("set client_mds_namespace other"));
}

TEST_F(CephOsds, are_not_known_where_any_call_of_libcephfs_fails) {
  for (const char* call :
       {"create", "settings", "set client_mount_timeout", "set log_file", "mount", "open", "about", "osds"}) {
    fake_.errors = {{call, -EACCES}};
    const Osds found = ask_library(stripes(k_mib, 1, 4 * k_mib), 8 * k_mib);
    EXPECT_THAT(found.targets, IsEmpty()) << call;
    EXPECT_THAT(found.why, HasSubstr("libcephfs: cannot")) << call;
    EXPECT_THAT(found.why, HasSubstr("ermission denied")) << call;
  }
  fake_.errors = {{"mount", -1002}};
  EXPECT_THAT(ask_library(stripes(k_mib, 1, 4 * k_mib), 8 * k_mib).why, HasSubstr("error -1002"));
}

TEST_F(CephOsds, of_another_file_are_not_taken) {
  ++fake_.file.inode;
  EXPECT_THAT(ask_library(stripes(k_mib, 1, 4 * k_mib), 8 * k_mib).why, HasSubstr("another file"));
  --fake_.file.inode;
  for (int64_t CephFile::*number : {&CephFile::stripe_bytes, &CephFile::stripe_count, &CephFile::object_bytes})
    for (const int64_t odd : {int64_t{0}, int64_t{-1}, INT64_MAX}) {
      const CephFile sound = fake_.file;
      fake_.file.*number = odd;
      EXPECT_THAT(ask_library(stripes(k_mib, 1, 4 * k_mib), 8 * k_mib).why, HasSubstr("its layout differs"));
      fake_.file = sound;
    }
}

TEST_F(CephOsds, of_libcephfs_may_be_none) {
  constexpr int k_none = 0x7fffffff;  // CRUSH_ITEM_NONE
  const auto targets = [&] { return ask_library(stripes(k_mib, 1, 4 * k_mib), 8 * k_mib); };
  fake_.osds = [](int64_t offset) { return offset == 0 ? std::vector<int>{} : std::vector<int>{-1, k_none}; };
  EXPECT_THAT(targets().why, HasSubstr("no OSD has the objects"));
  fake_.osds = [](int64_t offset) { return offset == 0 ? std::vector<int>{} : std::vector<int>{4}; };
  EXPECT_THAT(targets().targets, ElementsAre(k_no_target, 4)) << "Ceph calls the question itself invalid";
  fake_.osds = [](int64_t offset) { return offset == 0 ? std::vector<int>{k_none, 2, 3} : std::vector<int>{4}; };
  EXPECT_THAT(targets().targets, ElementsAre(2, 4)) << "a set of an erasure-coded pool has holes";
}

TEST_F(CephOsds, are_not_known_without_libcephfs_or_a_mount) {
  const Osds without = ask(stripes(k_mib, 1, 4 * k_mib), {.by = OsdsBy::library});
  EXPECT_THAT(without.why, HasSubstr("libcephfs: there is none here"));
  system_.mounts = "1 0 0:5 / / rw - ext4 a rw\n";
  EXPECT_THAT(ask_library(stripes(k_mib, 1, 4 * k_mib), 8 * k_mib).why, HasSubstr("no mount of CephFS"));
  EXPECT_THAT(fake_.calls, IsEmpty());
}

// Built in or not, installed or not: a table that is whole, or a reason.
TEST(CephLibrary, is_loaded_or_says_why_not) {
  const auto loaded = load_ceph_library();
  if (!loaded.ok()) {
    EXPECT_EQ(loaded.status().code(), Code::unsupported);
    EXPECT_THAT(loaded.status().message(), HasSubstr("libcephfs"));
    return;
  }
  EXPECT_TRUE(loaded.value()->create && loaded.value()->get_file_extent_osds && loaded.value()->release);
  EXPECT_EQ(load_ceph_library().value(), loaded.value());
}

}  // namespace windrow::test
