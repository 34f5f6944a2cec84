// SPDX-License-Identifier: BSD-3-Clause
#include "storage/publish.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "../temporary_folder.hpp"

namespace windrow::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;

void write(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
}

std::string read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

mode_t mode_of(const std::string& path) {
  struct stat about {};
  return ::stat(path.c_str(), &about) == 0 ? about.st_mode & 07777 : 0;
}

TemporaryFile start(const std::string& path) {
  auto temporary = start_temporary_file(path);
  EXPECT_TRUE(temporary.ok()) << temporary.status().message();
  return std::move(temporary).value();
}

Status publish_one(const TemporaryFile& temporary, bool durable = false) {
  const Rename file{temporary.temporary_path, temporary.final_path};
  return publish({&file, 1}, durable);
}

}  // namespace

TEST(Publish, a_draft_takes_its_name_and_the_old_file_stays_until_then) {
  TemporaryFolder folder;
  const std::string path = folder.path("check point.h5");
  write(path, "old");
  for (const bool durable : {false, true}) {
    const std::string before = read(path);
    const TemporaryFile temporary = start(path);
    EXPECT_THAT(temporary.temporary_path.substr(folder.path().size()),
                MatchesRegex("/\\.check point\\.h5\\.windrow-[0-9a-z]{4}"));
    EXPECT_EQ(temporary.final_path, path);
    write(temporary.temporary_path, durable ? "newest" : "new");
    EXPECT_EQ(read(path), before);
    ASSERT_TRUE(publish_one(temporary, durable).ok());
    EXPECT_EQ(read(path), durable ? "newest" : "new");
    EXPECT_FALSE(std::filesystem::exists(temporary.temporary_path));
  }
}

TEST(Publish, two_drafts_of_one_name_do_not_meet) {
  TemporaryFolder folder;
  EXPECT_NE(start(folder.path("a")).temporary_path, start(folder.path("a")).temporary_path);
}

TEST(Publish, a_bare_name_lies_in_the_working_folder) {
  TemporaryFolder folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  const TemporaryFile temporary = start("bare");
  EXPECT_TRUE(publish_one(temporary, true).ok());
  EXPECT_THAT(leftovers("bare"), IsEmpty());
  std::filesystem::current_path(before);
  EXPECT_TRUE(std::filesystem::exists(folder.path("bare")));
}

TEST(Publish, the_mode_of_what_is_replaced_carries_over) {
  TemporaryFolder folder;
  const mode_t before = ::umask(022);
  EXPECT_EQ(mode_of(start(folder.path("fresh")).temporary_path), 0644U) << "the umask's, for a new file";
  write(folder.path("private"), "old");
  ASSERT_EQ(::chmod(folder.path("private").c_str(), 0600), 0);
  write(folder.path("shared"), "old");
  ASSERT_EQ(::chmod(folder.path("shared").c_str(), 0666), 0);  // more than the umask leaves
  for (const auto& [name, mode] : {std::pair{"private", 0600U}, std::pair{"shared", 0666U}}) {
    const TemporaryFile temporary = start(folder.path(name));
    EXPECT_EQ(mode_of(temporary.temporary_path), mode);
    ASSERT_TRUE(publish_one(temporary).ok());
    EXPECT_EQ(mode_of(folder.path(name)), mode);
  }
  ::umask(before);
}

TEST(Publish, a_symbolic_link_stays_and_its_target_is_replaced) {
  TemporaryFolder folder;
  std::filesystem::create_directory(folder.path("store"));
  write(folder.path("store/real"), "old");
  std::filesystem::create_symlink("store/real", folder.path("relative"));
  std::filesystem::create_symlink(folder.path("relative"), folder.path("link"));
  const TemporaryFile temporary = start(folder.path("link"));
  EXPECT_THAT(temporary.temporary_path, HasSubstr("/store/.real.windrow-")) << "beside what is replaced";
  write(temporary.temporary_path, "new");
  EXPECT_THAT(leftovers(folder.path("link")), ElementsAre(temporary.temporary_path));
  ASSERT_TRUE(publish_one(temporary).ok());
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("link")));
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("relative")));
  EXPECT_EQ(read(folder.path("store/real")), "new");

  std::filesystem::create_symlink("not there yet", folder.path("dangling"));
  ASSERT_TRUE(publish_one(start(folder.path("dangling"))).ok());
  EXPECT_TRUE(std::filesystem::exists(folder.path("not there yet")));
  std::filesystem::create_symlink("circle", folder.path("circle"));
  EXPECT_EQ(start_temporary_file(folder.path("circle")).status().code(), Code::io);
}

TEST(Publish, companions_come_first_and_keep_their_modes) {
  TemporaryFolder folder;
  write(folder.path("a.raw"), "old");
  write(folder.path("a.raw.json"), "old");
  ASSERT_EQ(::chmod(folder.path("a.raw.json").c_str(), 0640), 0);
  const TemporaryFile temporary = start(folder.path("a.raw"));
  write(temporary.temporary_path, "new");
  write(temporary.temporary_path + ".json", "new");
  const std::vector<Rename> files{{temporary.temporary_path + ".json", folder.path("a.raw.json")},
                                  {temporary.temporary_path, temporary.final_path}};
  ASSERT_TRUE(publish(files, true).ok());
  EXPECT_EQ(read(folder.path("a.raw.json")), "new");
  EXPECT_EQ(mode_of(folder.path("a.raw.json")), 0640U);
  const std::vector<Rename> missing{{folder.path("nothing.json"), folder.path("b.raw.json")},
                                    {folder.path("a.raw"), folder.path("b.raw")}};
  EXPECT_EQ(publish(missing, false).code(), Code::not_found);
  EXPECT_FALSE(std::filesystem::exists(folder.path("b.raw"))) << "without its companion it is not published";
}

TEST(Publish, says_what_stands_in_the_way) {
  TemporaryFolder folder;
  const auto missing = start_temporary_file(folder.path("no folder/a.h5"));
  EXPECT_EQ(missing.status().code(), Code::not_found);
  EXPECT_EQ(missing.status().message(), "create \"" + folder.path("no folder/a.h5") + "\": no such file or directory");
  EXPECT_EQ(start_temporary_file(folder.path()).status().code(), Code::bad_argument);
  EXPECT_EQ(start_temporary_file(folder.path("")).status().code(), Code::bad_argument);
  EXPECT_EQ(start_temporary_file("/dev/null").status().code(), Code::bad_argument);
  EXPECT_EQ(start_temporary_file("").status().code(), Code::bad_argument);
  const auto long_name = start_temporary_file(folder.path(std::string(256, 'x')));
  EXPECT_EQ(long_name.status().code(), Code::bad_argument);
  EXPECT_THAT(long_name.status().message(), HasSubstr("too long"));
  write(folder.path("file"), "x");
  EXPECT_EQ(start_temporary_file(folder.path("file/a.h5")).status().code(), Code::not_found);
}

TEST(Publish, a_name_that_fits_alone_has_a_shorter_temporary_one) {
  TemporaryFolder folder;
  for (const size_t length : {200U, 223U, 224U, 241U, 242U, 250U, 255U}) {
    const std::string path = folder.path(std::string(length, 'x'));
    const TemporaryFile temporary = start(path);
    const Rename sidecar{temporary.temporary_path + ".json", folder.path("shorter.json")};
    ASSERT_TRUE(start_sidecars(temporary, {&sidecar, 1}).ok()) << length;
    EXPECT_THAT(leftovers(path), ElementsAre(temporary.temporary_path, sidecar.from)) << length;
    ASSERT_TRUE(remove_files({&sidecar.from, 1}).ok());
    ASSERT_TRUE(publish_one(temporary).ok()) << length;
    EXPECT_TRUE(std::filesystem::exists(path));
  }
  std::string name;  // of characters that take three bytes each: none is cut in two
  for (int i = 0; i < 85; ++i)
    name += "\u20ac";
  const std::string temporary = start(folder.path(name)).temporary_path;
  const size_t stem = temporary.find(".windrow-") - (folder.path().size() + 2);
  EXPECT_EQ(stem % 3, 0U);
  EXPECT_GT(stem, 200U);
}

TEST(Publish, a_companion_has_its_mode_from_its_first_moment) {
  TemporaryFolder folder;
  const mode_t before = ::umask(022);
  write(folder.path("a.raw"), "old");
  ASSERT_EQ(::chmod(folder.path("a.raw").c_str(), 0600), 0);
  const auto mode_of_sidecar = [&](const std::string& name) {
    const TemporaryFile temporary = start(folder.path(name));
    const Rename sidecar{temporary.temporary_path + ".json", temporary.final_path + ".json"};
    const Status status = start_sidecars(temporary, {&sidecar, 1});
    EXPECT_TRUE(status.ok()) << status.message();
    return mode_of(sidecar.from);
  };
  EXPECT_EQ(mode_of_sidecar("fresh.raw"), 0644U);
  EXPECT_EQ(mode_of_sidecar("a.raw"), 0600U) << "of a private file, when there was no companion";
  write(folder.path("a.raw.json"), "old");
  ASSERT_EQ(::chmod(folder.path("a.raw.json").c_str(), 0640), 0);
  EXPECT_EQ(mode_of_sidecar("a.raw"), 0640U);
  std::filesystem::remove(folder.path("a.raw.json"));
  std::filesystem::create_directory(folder.path("a.raw.json"));
  const TemporaryFile temporary = start(folder.path("a.raw"));
  const Rename sidecar{temporary.temporary_path + ".json", temporary.final_path + ".json"};
  EXPECT_EQ(start_sidecars(temporary, {&sidecar, 1}).code(), Code::bad_argument);
  ::umask(before);
}

// If one of the files cannot be published, none is.
TEST(Publish, leaves_an_old_companion_where_the_file_cannot_have_its_name) {
  TemporaryFolder folder;
  const TemporaryFile temporary = start(folder.path("a.raw"));
  const Rename sidecar{temporary.temporary_path + ".json", temporary.final_path + ".json"};
  write(sidecar.from, "new");
  write(sidecar.to, "old");
  std::filesystem::create_directory(temporary.final_path);
  const std::array<Rename, 2> files{sidecar, Rename{temporary.temporary_path, temporary.final_path}};
  const Status status = publish(files, false);
  EXPECT_THAT(status.message(), HasSubstr("is a directory"));
  EXPECT_EQ(read(sidecar.to), "old");
  EXPECT_EQ(read(sidecar.from), "new");
}

// A file that follows is renamed after the set is published: its failure does not undo that, nor does an injected one.
TEST(Publish, says_that_the_set_has_its_name_when_a_following_file_fails) {
  TemporaryFolder folder;
  const TemporaryFile temporary = start(folder.path("a.h5"));
  const std::string follower = folder.path("a.h5.part");
  const std::array<Rename, 2> files{Rename{temporary.temporary_path, temporary.final_path},
                                    Rename{follower + ".new", follower, nullptr, true}};
  StoreOptions options;
  options.kind = "faulty";
  for (const int after : {0, 1}) {
    options.fault = "operation=publish,error=io,after=" + std::to_string(after);
    bool named = false;
    EXPECT_EQ(publish(files, false, options, &named).code(), Code::io);
    EXPECT_EQ(named, after == 1) << "the first rename publishes the set";
    EXPECT_EQ(std::filesystem::exists(temporary.final_path), named);
  }
}

TEST(Publish, tells_how_long_a_file_may_be) {
  TemporaryFolder folder;
  const std::string path = folder.path("a.h5");
  EXPECT_TRUE(check_file_size(path, int64_t{1} << 33).ok());
  write(folder.path("other"), "x");
  const bool can = ::truncate(folder.path("other").c_str(), int64_t{1} << 62) == 0;
  const Status status = check_file_size(path, int64_t{1} << 62);
  EXPECT_EQ(status.ok(), can) << status.message();
  std::filesystem::remove(folder.path("other"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path(".")));
  EXPECT_TRUE(check_file_size(folder.path("no folder/a.h5"), int64_t{1} << 62).ok()) << "it cannot be tried";
}

TEST(Publish, leftovers_are_found_and_removed) {
  TemporaryFolder folder;
  for (const char* name : {".a.h5.windrow-0z9a", ".a.h5.windrow-0z9a.json", ".a.h5.windrow-12345", ".a.h5.windrow-12",
                           ".a.h5.windrow-AB12", ".b.h5.windrow-0000", "a.h5"})
    write(folder.path(name), "x");
  const auto found = leftovers(folder.path("a.h5"));
  EXPECT_THAT(found, ElementsAre(folder.path(".a.h5.windrow-0z9a"), folder.path(".a.h5.windrow-0z9a.json")));
  EXPECT_TRUE(remove_files(found).ok());
  EXPECT_TRUE(remove_files(found).ok()) << "what is gone is fine";
  EXPECT_THAT(leftovers(folder.path("a.h5")), IsEmpty());
  EXPECT_THAT(leftovers(folder.path("no folder/a.h5")), IsEmpty());
}

}  // namespace windrow::test
