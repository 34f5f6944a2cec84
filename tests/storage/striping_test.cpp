// SPDX-License-Identifier: BSD-3-Clause
// The stripes of a new file: by request, by the defaults of the site, copied from the old file, and after errors.
#include "storage/striping.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "../layout/lustre_blob.hpp"
#include "../storage/fake_ceph.hpp"
#include "../storage/fake_system.hpp"
#include "../temporary_folder.hpp"
#include "layout/parse.hpp"

namespace windrow::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t k_mib = int64_t{1} << 20, k_gib = int64_t{1} << 30;

class StripeTemporaryFile : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(temporary_.temporary_path).flush();
    system_.type = k_lustre;
    gives(temporary_.temporary_path, 1 << 20, 1);
    system_.ioctls[k_lustre_setstripe] = [this](void* argument) {
      uint32_t bytes = 0;
      uint16_t count = 0;
      std::memcpy(&bytes, static_cast<char*>(argument) + 24, sizeof bytes);
      std::memcpy(&count, static_cast<char*>(argument) + 28, sizeof count);
      ++times_set_;
      gives(temporary_.temporary_path, bytes == 0 ? 1 << 20 : bytes, count);
      return 0;
    };
  }
  void gives(const std::string& path, uint32_t bytes, uint32_t count) {
    std::vector<uint32_t> targets(count);
    for (uint32_t i = 0; i < count; ++i)
      targets[i] = i;
    system_.attributes[path + " lustre.lov"] =
        LustreStripes{.stripe_bytes = bytes, .count = count, .targets = targets}.bytes();
  }
  StripingOptions options(const std::vector<std::pair<std::string, std::string>>& values) {
    Settings settings;
    for (const auto& [key, value] : values)
      EXPECT_TRUE(settings.set(key, value).ok());
    auto options = striping_options(settings);
    EXPECT_TRUE(options.ok()) << options.status().message();
    return std::move(options).value();
  }
  Result<Striping> stripe(const std::vector<std::pair<std::string, std::string>>& values, int64_t writers = 16) {
    return stripe_temporary_file(options(values), temporary_, {.count = writers, .buffer_bytes = 4 * k_mib},
                                 system_.calls());
  }
  static StripeNumbers numbers(const Result<Striping>& striping) {
    EXPECT_TRUE(striping.ok()) << striping.status().message();
    return striping.ok() ? numbers_of(striping.value().layout).value_or(StripeNumbers{}) : StripeNumbers{};
  }

  TemporaryFolder folder_;
  TemporaryFile temporary_{folder_.path(".check point.h5.windrow-ab12"), folder_.path("check point.h5")};
  FakeSystem system_;
  int times_set_ = 0;
};

}  // namespace

TEST_F(StripeTemporaryFile, stays_as_the_folder_has_it_where_nothing_is_known) {
  for (const std::vector<std::pair<std::string, std::string>>& values :
       {std::vector<std::pair<std::string, std::string>>{},
        {{"stripe", "site"}},
        {{"stripe", "site"}, {"expected_bytes", "100GiB"}}}) {
    const auto striping = stripe(values);
    EXPECT_EQ(numbers(striping), (StripeNumbers{.bytes = k_mib, .count = 1}));
    EXPECT_THAT(striping.value().why, IsEmpty());
  }
  EXPECT_EQ(times_set_, 0);
}

TEST_F(StripeTemporaryFile, gets_stripes_for_its_size_and_writers) {
  EXPECT_EQ(numbers(stripe({{"expected_bytes", "100GiB"}})), (StripeNumbers{.bytes = 4 * k_mib, .count = 16}));
  EXPECT_EQ(times_set_, 1);
}

TEST_F(StripeTemporaryFile, needs_none_when_it_is_small_or_has_one_writer) {
  EXPECT_EQ(numbers(stripe({{"expected_bytes", "1GiB"}})).count, 1);
  EXPECT_EQ(numbers(stripe({{"expected_bytes", "100GiB"}}, 1)).count, 1);
  EXPECT_EQ(times_set_, 0);
}

TEST_F(StripeTemporaryFile, never_fights_what_the_folder_was_given) {
  gives(folder_.path(), 1 << 20, 1);  // one stripe, which was set explicitly
  auto striping = stripe({{"expected_bytes", "100GiB"}});
  EXPECT_EQ(numbers(striping).count, 1);
  EXPECT_THAT(striping.value().why, HasSubstr("those of the folder"));
  system_.attributes.erase(folder_.path() + " lustre.lov");
  gives(temporary_.temporary_path, 1 << 20, 3);  // given from farther above
  EXPECT_EQ(numbers(stripe({{"expected_bytes", "100GiB"}})).count, 3);
  const auto one = LustreStripes{.count = 1, .targets = {0}}.bytes();
  system_.attributes[temporary_.temporary_path + " lustre.lov"] =
      composite({{0, 1 << 20, 0x10, one}, {1 << 20, UINT64_MAX, 0x10, one}});
  EXPECT_EQ(stripe({{"expected_bytes", "100GiB"}}).value().layout.components.size(), 2u);
  EXPECT_EQ(times_set_, 0);
  EXPECT_EQ(numbers(stripe({{"stripe", "count=7"}})).count, 7) << "but who names numbers gets them";
}

TEST_F(StripeTemporaryFile, is_striped_as_the_file_that_it_replaces) {
  std::ofstream(temporary_.final_path).flush();
  gives(temporary_.final_path, 2 << 20, 5);
  auto striping = stripe({{"expected_bytes", "100GiB"}});
  EXPECT_EQ(numbers(striping), (StripeNumbers{.bytes = 2 * k_mib, .count = 5}));
  EXPECT_THAT(striping.value().why, HasSubstr("replaced"));
  EXPECT_EQ(times_set_, 1);
  EXPECT_EQ(numbers(stripe({})).count, 5) << "which it has already";
  EXPECT_EQ(times_set_, 1);
  EXPECT_EQ(numbers(stripe({{"stripe", "size=64KiB,count=2"}})), (StripeNumbers{.bytes = 64 << 10, .count = 2}));
}

// One stripe too if the folder has no layout, for any expected size of the file; and several on one target.
TEST_F(StripeTemporaryFile, has_the_stripes_that_it_replaces_also_where_they_are_the_usual) {
  std::ofstream(temporary_.final_path).flush();
  gives(temporary_.final_path, 1 << 20, 1);
  EXPECT_EQ(numbers(stripe({{"expected_bytes", "100GiB"}})).count, 1);
  EXPECT_EQ(times_set_, 0);
  auto overstriped = LustreStripes{.count = 4, .targets = {3, 5, 3, 5}}.bytes();
  system_.attributes[temporary_.final_path + " lustre.lov"] = overstriped;
  EXPECT_THAT(stripe({}).value().why, HasSubstr("stripe count 4, several on a target"));
  EXPECT_EQ(times_set_, 1);
}

// The file that is replaced has one stripe, which is the default; the folder has since been given a layout.
TEST_F(StripeTemporaryFile, follows_a_folder_rather_than_a_file_of_one_stripe) {
  std::ofstream(temporary_.final_path).flush();
  gives(temporary_.final_path, 4 << 20, 1);
  gives(temporary_.temporary_path, 1 << 20, 3);
  auto striping = stripe({{"expected_bytes", "100GiB"}});
  EXPECT_EQ(numbers(striping), (StripeNumbers{.bytes = k_mib, .count = 3}));
  EXPECT_THAT(striping.value().why, HasSubstr("those of the folder"));
  EXPECT_EQ(times_set_, 0);
  gives(temporary_.final_path, 4 << 20, 2);  // this layout was set explicitly
  EXPECT_EQ(numbers(stripe({{"expected_bytes", "100GiB"}})), (StripeNumbers{.bytes = 4 * k_mib, .count = 2}));
}

TEST_F(StripeTemporaryFile, says_when_asked_numbers_are_refused) {
  system_.ioctls[k_lustre_setstripe] = [](void*) { return -EINVAL; };
  const auto refused = stripe({{"stripe", "count=7"}});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), Code::bad_argument);
  EXPECT_THAT(refused.status().message(), HasSubstr(temporary_.final_path));
  EXPECT_THAT(refused.status().message(), HasSubstr("stripe count 7"));
  const auto automatic = stripe({{"expected_bytes", "100GiB"}});
  ASSERT_TRUE(automatic.ok()) << "nobody asked for these";
  EXPECT_THAT(automatic.value().why, HasSubstr("not set"));
}

TEST_F(StripeTemporaryFile, says_when_there_are_no_stripes_to_set) {
  system_.type = k_ext4;
  const auto striping = stripe({{"stripe", "count=7"}});
  ASSERT_TRUE(striping.ok()) << "the same program runs on a laptop";
  EXPECT_EQ(striping.value().layout.kind, LayoutKind::blocks);
  EXPECT_THAT(striping.value().why, HasSubstr("cannot be set on local"));
  EXPECT_THAT(stripe({{"expected_bytes", "100GiB"}}).value().why, IsEmpty());
}

TEST_F(StripeTemporaryFile, is_a_mock_where_one_is_named) {
  system_.attributes.clear();
  EXPECT_EQ(numbers(stripe({{"layout", "mock:stripe=64KiB,count=3"}})), (StripeNumbers{.bytes = 64 << 10, .count = 3}));
  EXPECT_EQ(numbers(stripe({{"layout", "mock:stripe=64KiB"}, {"expected_bytes", "4GiB"}})),
            (StripeNumbers{.bytes = 4 * k_mib, .count = 4}));
  EXPECT_FALSE(stripe({{"layout", "none"}}).value().layout.known());
}

class OnCephFs : public StripeTemporaryFile {
 protected:
  void SetUp() override {
    std::ofstream(temporary_.temporary_path).flush();
    system_.type = k_cephfs;
    system_.attributes[temporary_.temporary_path + " ceph.file.layout"] =
        bytes_of("stripe_unit=1048576 stripe_count=1 object_size=4194304 pool=data");
    system_.ioctls[k_ceph_location] = [this](void* argument) { return kernel_(argument); };
  }
  FakeCephKernel kernel_;
};

TEST_F(OnCephFs, a_draft_says_which_osds_its_objects_will_have) {
  auto striping = stripe({{"ceph_osds", "auto"}});
  ASSERT_TRUE(striping.ok());
  EXPECT_EQ(layout_text(striping.value().layout),
            "cephfs: stripe size 1 MiB, stripe count 1, object size 4 MiB, its first 256 objects on 5 targets: 0, 1, "
            "2, 3, 4");
  EXPECT_THAT(striping.value().why, IsEmpty());
  EXPECT_EQ(
      stripe({{"expected_bytes", "40MiB"}, {"ceph_osds", "auto"}}, 1).value().layout.components.front().targets.size(),
      10u);
  EXPECT_EQ(windrow::targets_of(striping.value().layout), 1)
      << "every file lies on all of them: no reason for more files";
}

TEST_F(OnCephFs, a_file_is_asked_about_as_long_as_it_is) {
  std::filesystem::resize_file(temporary_.temporary_path, 9 * k_mib);
  const Striping striping = find_striping(options({{"ceph_osds", "auto"}}), temporary_.temporary_path, system_.calls());
  EXPECT_THAT(striping.layout.components.front().targets, testing::ElementsAre(0, 2, 4));
  EXPECT_THAT(find_striping(options({{"ceph_osds", "off"}}), temporary_.temporary_path, system_.calls())
                  .layout.components.front()
                  .targets,
              IsEmpty());
}

TEST_F(OnCephFs, osds_of_other_stripes_than_the_attributes_are_not_taken) {
  kernel_.stripe_count = 2;
  const auto striping = stripe({{"ceph_osds", "auto"}});
  ASSERT_TRUE(striping.ok());
  EXPECT_THAT(striping.value().layout.components.front().targets, IsEmpty());
  EXPECT_THAT(striping.value().why, HasSubstr("OSDs: its layout differs"));
}

TEST_F(OnCephFs, columns_are_left_where_nobody_tells) {
  system_.ioctls.clear();
  const auto striping = stripe({{"ceph_osds", "auto"}});
  ASSERT_TRUE(striping.ok());
  EXPECT_THAT(striping.value().layout.components.front().targets, IsEmpty());
  EXPECT_THAT(striping.value().why, HasSubstr("OSDs: this CephFS client does not report"));
  EXPECT_THAT(stripe({}).value().why, IsEmpty());
  EXPECT_THAT(stripe({{"ceph_osds", "libcephfs"}}).value().why, HasSubstr("libcephfs: there is none here"));
}

TEST_F(OnCephFs, a_file_that_is_written_anew_has_other_objects) {
  const StorageLayout layout = stripe({{"ceph_osds", "auto"}}).value().layout;
  const auto others = without_objects(layout);
  ASSERT_NE(others, nullptr);
  EXPECT_THAT(others->components.front().targets, IsEmpty());
  EXPECT_EQ(others->components.front().object_bytes, 4 * k_mib);
  EXPECT_EQ(without_objects(*others), nullptr);
  EXPECT_EQ(without_objects(parse_mock("stripe=1MiB,count=4").value()), nullptr);
}

// Objects as long as the replaced file's too.
TEST_F(OnCephFs, is_laid_out_as_the_file_that_it_replaces) {
  std::ofstream(temporary_.final_path).flush();
  system_.attributes[temporary_.final_path + " ceph.file.layout"] =
      bytes_of("stripe_unit=1048576 stripe_count=4 object_size=16777216 pool=data");
  const auto striping = stripe({});
  ASSERT_TRUE(striping.ok());
  EXPECT_THAT(striping.value().why,
              HasSubstr("stripe size 1 MiB, stripe count 4, objects of 16 MiB, like those of the replaced file"));
}

TEST(StripingOptions, name_what_cannot_be) {
  const auto expect = [](const std::string& key, const std::string& value, const std::string& part) {
    Settings settings;
    ASSERT_TRUE(settings.set(key, value).ok());
    if (part == "layout=none") {
      ASSERT_TRUE(settings.set("layout", "none").ok());
    }
    const auto options = striping_options(settings);
    ASSERT_FALSE(options.ok()) << value;
    EXPECT_EQ(options.status().code(), Code::bad_argument);
    EXPECT_THAT(options.status().message(), HasSubstr(part));
  };
  expect("layout", "lustre", "layout cannot be \"lustre\"");
  expect("layout", "mock:stripe=0", "stripe cannot be \"0\"");
  expect("layout", "mock:", "needs stripe");
  expect("stripe", "size=3", "multiple of 64 KiB");
  expect("stripe", "count=3", "layout=none");
}

}  // namespace windrow::test
