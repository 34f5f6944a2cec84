// SPDX-License-Identifier: BSD-3-Clause
#include "publication/publication.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "../temporary_folder.hpp"

namespace windrow::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

void write(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
}

std::string read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::set<std::string> names_in(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.insert(entry.path().filename().string());
  return names;
}

// Writes its name into the steps, and fails in one of them.
class FakeSidecar final : public Sidecar {
 public:
  FakeSidecar(std::vector<std::string>& steps, std::string name, std::string failing)
      : steps_(steps), name_(std::move(name)), failing_(std::move(failing)) {}
  FakeSidecar& renames(std::string from, std::string to, bool follows) {
    rename_ = {std::move(from), std::move(to), nullptr, follows};
    return *this;
  }

  Status prepare(const PublishedFile& file, std::vector<Rename>& renames) override {
    turn_ = file.turn;
    if (!rename_.from.empty()) {
      write(rename_.from, "new " + name_);
      renames.push_back(rename_);
    }
    return step("prepare");
  }
  Status withdraw() override { return step("withdraw"); }
  void take_names(bool all) noexcept override { (void)step(all ? "take_names" : "take_some_names"); }
  void abandon() noexcept override {
    if (!rename_.from.empty())
      std::filesystem::remove(rename_.from);
  }
  const FolderLock* turn() const { return turn_; }

 private:
  Status step(const std::string& step) {
    steps_.push_back(name_ + " " + step);
    return step == failing_ ? Status(Code::io, "it fails") : Status();
  }

  std::vector<std::string>& steps_;
  std::string name_, failing_;
  Rename rename_;
  const FolderLock* turn_ = nullptr;
};

// A new file with two sidecars; an old one has its name, and one of theirs.
struct NewFile {
  explicit NewFile(const std::string& failing = "") {
    write(folder.path("a"), "old");
    write(folder.path("a.one"), "old one");
    EXPECT_TRUE(publication.start(folder.path("a")).ok());
    write(publication.temporary().temporary_path, "new");
    const auto temporary = [&](const char* ending) { return publication.temporary().temporary_path + ending; };
    one = &publication.add<FakeSidecar>(steps, "one", failing).renames(temporary(".one"), folder.path("a.one"), false);
    two = &publication.add<FakeSidecar>(steps, "two", "").renames(temporary(".two"), folder.path("a.two"), true);
  }
  Status publish(const std::string& fault = "") {
    StoreOptions options;
    if (!fault.empty()) {
      options.kind = "faulty";
      options.fault = fault;
    }
    FolderLock turn;
    return publication.publish({.catalog = catalog, .format = nullptr, .durable = false, .store = options}, turn);
  }

  TemporaryFolder folder;
  Catalog catalog;
  std::vector<std::string> steps;
  Publication publication{true};
  FakeSidecar *one = nullptr, *two = nullptr;
};

}  // namespace

TEST(Publication, each_step_is_taken_by_all_sidecars_before_the_next) {
  NewFile file;
  ASSERT_TRUE(file.publication.is_temporary());
  EXPECT_EQ(read(file.folder.path("a")), "old");
  ASSERT_TRUE(file.publish().ok());
  EXPECT_THAT(file.steps, ElementsAre("one prepare", "two prepare", "one withdraw", "two withdraw", "one take_names",
                                      "two take_names"));
  EXPECT_FALSE(file.publication.is_temporary());
  EXPECT_EQ(file.one->turn(), nullptr) << "no sidecar takes turns";
  file.publication.abandon();
  EXPECT_THAT(names_in(file.folder.path()), ElementsAre("a", "a.one", "a.two"));
  EXPECT_EQ(read(file.folder.path("a")), "new");
  EXPECT_EQ(read(file.folder.path("a.one")), "new one");
}

TEST(Publication, a_step_that_fails_before_the_renames_leaves_the_old_files) {
  for (const char* failing : {"prepare", "withdraw"}) {
    NewFile file(failing);
    EXPECT_EQ(file.publish().code(), Code::io) << failing;
    EXPECT_TRUE(file.publication.is_temporary()) << failing;
    EXPECT_EQ(read(file.folder.path("a")), "old") << failing;
    EXPECT_EQ(read(file.folder.path("a.one")), "old one") << failing;
    file.publication.abandon();
    file.publication.abandon();
    EXPECT_THAT(names_in(file.folder.path()), ElementsAre("a", "a.one")) << failing;
  }
}

TEST(Publication, a_rename_that_fails_leaves_the_old_file) {
  for (const int renamed : {0, 1}) {
    NewFile file;
    EXPECT_EQ(file.publish("operation=publish,error=io,after=" + std::to_string(renamed)).code(), Code::io) << renamed;
    EXPECT_TRUE(file.publication.is_temporary()) << renamed;
    EXPECT_EQ(read(file.folder.path("a.one")), renamed > 0 ? "new one" : "old one");
    EXPECT_EQ(read(file.folder.path("a")), "old") << renamed;
    EXPECT_EQ(file.steps.back(), "two withdraw") << "names are taken once the file has its own";
    file.publication.abandon();
    EXPECT_THAT(names_in(file.folder.path()), ElementsAre("a", "a.one")) << renamed;
  }
}

TEST(Publication, a_rename_that_follows_may_fail_when_the_file_has_its_name) {
  NewFile file;
  file.two->renames(file.folder.path(".two"), file.folder.path("missing/a.two"), true);
  EXPECT_FALSE(file.publish().ok());
  EXPECT_FALSE(file.publication.is_temporary());
  EXPECT_EQ(read(file.folder.path("a")), "new");
  EXPECT_EQ(file.steps.back(), "two take_some_names");
}

TEST(Publication, a_temporary_that_another_has_replaced_is_neither_published_nor_removed) {
  NewFile file;
  const std::string temporary = file.publication.temporary().temporary_path;
  ASSERT_TRUE(file.publication.check_replaceable(file.folder.path("a")).ok());
  write(file.folder.path("other"), "other");
  std::filesystem::rename(file.folder.path("other"), temporary);
  EXPECT_EQ(file.publication.check_replaceable(file.folder.path("a")).code(), Code::io);
  EXPECT_EQ(file.publish().code(), Code::io);
  EXPECT_EQ(read(file.folder.path("a")), "old");
  file.publication.abandon();
  EXPECT_EQ(read(temporary), "other");
}

TEST(Publication, a_file_that_is_there_is_held_and_changed_by_one) {
  TemporaryFolder folder;
  const std::string path = folder.path("a");
  write(path, "old");
  Publication first(false), second(false), reader(false);
  ASSERT_TRUE(first.hold(path, true).ok());
  EXPECT_FALSE(first.is_temporary());
  EXPECT_EQ(second.hold(path, true).code(), Code::bad_state);
  EXPECT_TRUE(reader.hold(path, false).ok());
  EXPECT_TRUE(first.hold(path, true).ok()) << "it may take its own anew";
  EXPECT_TRUE(first.check_name(path).ok());
  write(folder.path("b"), "new");
  std::filesystem::rename(folder.path("b"), path);
  EXPECT_FALSE(first.holds(path));
  EXPECT_THAT(first.check_name(path).message(), HasSubstr("replaced by another program"));
  first.take_over(HeldFile::at(path).value(), path);
  EXPECT_TRUE(first.check_name(path).ok());
  EXPECT_EQ(second.hold(path, true).code(), Code::bad_state) << "the new file";
  first.let_go();
  EXPECT_TRUE(second.hold(path, true).ok());
}

TEST(Publication, a_published_file_is_changed_by_its_creator_alone) {
  for (const bool format_locks : {false, true}) {
    NewFile file;
    const std::string path = file.folder.path("a");
    if (format_locks)
      file.publication.rely_on_locks_of_format();
    Publication second(false);
    EXPECT_TRUE(second.hold(path, true).ok()) << "the old file";
    second.let_go();
    ASSERT_TRUE(file.publish().ok());
    EXPECT_EQ(second.hold(path, true).code(), Code::bad_state);
    EXPECT_EQ(HeldFile::to_change(path).status().code(), Code::bad_state) << "another program";
    EXPECT_TRUE(Publication(false).hold(path, false).ok()) << "a reader";
    file.publication.let_go();
    EXPECT_TRUE(second.hold(path, true).ok());
  }
}

TEST(Publication, the_first_failure_says_why_a_file_cannot_be_published) {
  Publication publication(true);
  publication.fail({});
  EXPECT_FALSE(publication.has_failed());
  publication.fail({Code::no_space, "the disk is full", 3});
  publication.fail({Code::io, "later"});
  EXPECT_TRUE(publication.has_failed());
  EXPECT_EQ(publication.failure().code(), Code::no_space);
  EXPECT_EQ(publication.failure().rank(), 3);
  EXPECT_EQ(publication.failure().message(), "the disk is full; since then this new file cannot be published any more");
}

}  // namespace windrow::test
