// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "../temporary_folder.hpp"
#include "kerchunk/kerchunk.hpp"
#include "publication/format_sidecars.hpp"
#include "publication/kerchunk_sidecar.hpp"
#include "publication/publication.hpp"
#include "publication/subfile_folder.hpp"
#include "publication/xdmf_sidecar.hpp"

namespace windrow::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

std::set<std::string> names_in(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.insert(entry.path().filename().string());
  return names;
}

struct NewFile {
  explicit NewFile(const std::string& name) : path(folder.path(name)) { EXPECT_TRUE(publication.start(path).ok()); }
  Status publish() {
    FolderLock turn;
    const StoreOptions options;
    return publication.publish({.catalog = catalog, .format = nullptr, .durable = false, .store = options}, turn);
  }

  TemporaryFolder folder;
  std::string path;
  Catalog catalog;
  Publication publication{true};
};

}  // namespace

TEST(Sidecars, of_a_format_that_has_none_there_is_nothing) {
  NewFile file("a.h5");
  auto& sidecars = file.publication.add<FormatSidecars>("hdf5");
  ASSERT_TRUE(sidecars.start(file.publication.temporary()).ok());
  EXPECT_FALSE(sidecars.takes_turns());
  ASSERT_TRUE(file.publish().ok());
  EXPECT_THAT(names_in(file.folder.path()), ElementsAre("a.h5"));
}

TEST(Sidecars, a_description_is_published_with_a_raw_file_or_goes_with_it) {
  for (const bool published : {false, true}) {
    NewFile file("a.raw");
    auto& sidecars = file.publication.add<FormatSidecars>("raw");
    ASSERT_TRUE(sidecars.start(file.publication.temporary()).ok());
    EXPECT_TRUE(sidecars.takes_turns());
    EXPECT_THAT(names_in(file.folder.path()), SizeIs(2)) << "two temporaries";
    if (published) {
      ASSERT_TRUE(file.publish().ok());
    }
    file.publication.abandon();
    const std::set<std::string> left =
        published ? std::set<std::string>{"a.raw", "a.raw.json"} : std::set<std::string>{};
    EXPECT_EQ(names_in(file.folder.path()), left);
  }
}

TEST(Sidecars, a_folder_of_subfiles_is_published_with_the_file_or_goes_with_it) {
  for (const bool published : {false, true}) {
    NewFile file("a.nc");
    auto& folder = file.publication.add<SubfileFolder>("netcdf", file.path);
    EXPECT_FALSE(folder.takes_turns()) << "there are no subfiles";
    const TemporaryFile& temporary = file.publication.temporary();
    ASSERT_TRUE(folder.start(temporary, temporary.temporary_path + ".subfiles", file.path + ".subfiles-1").ok());
    EXPECT_TRUE(folder.takes_turns());
    std::ofstream(temporary.temporary_path + ".subfiles/0.nc") << "part";
    if (published) {
      ASSERT_TRUE(file.publish().ok());
    }
    file.publication.abandon();
    const std::set<std::string> left =
        published ? std::set<std::string>{"a.nc", "a.nc.subfiles-1"} : std::set<std::string>{};
    EXPECT_EQ(names_in(file.folder.path()), left);
  }
}

TEST(Sidecars, a_text_for_viewers_is_published_when_grids_have_changed) {
  NewFile file("a.h5");
  ViewerGrids grids;
  auto& text = file.publication.add<XdmfSidecar>(grids, "hdf5", file.path, file.path);
  ASSERT_TRUE(file.publish().ok());
  EXPECT_THAT(names_in(file.folder.path()), ElementsAre("a.h5"));
  ASSERT_TRUE(text.start().ok());
  ASSERT_TRUE(text.start().ok());
  EXPECT_THAT(names_in(file.folder.path()), SizeIs(2)) << "one temporary";
  grids.changed = true;
  const StoreOptions options;
  ASSERT_TRUE(file.publication
                  .publish_sidecars({.catalog = file.catalog, .format = nullptr, .durable = false, .store = options})
                  .ok());
  EXPECT_THAT(names_in(file.folder.path()), ElementsAre("a.h5", "a.xmf"));
  ASSERT_TRUE(text.start().ok());
  file.publication.abandon();
  EXPECT_THAT(names_in(file.folder.path()), ElementsAre("a.h5", "a.xmf"));
}

// A text for viewers describes the bytes of the file that has the name.
TEST(Sidecars, a_text_for_viewers_stays_when_the_file_does) {
  for (const int renamed : {0, 1}) {
    NewFile file("a.h5");
    const std::string text = file.folder.path("a.xmf");
    std::ofstream(text) << "old";
    std::ofstream(file.path) << "old";
    ViewerGrids grids;
    file.publication.add<XdmfSidecar>(grids, "hdf5", file.path, file.path);
    grids.changed = true;
    FolderLock turn;
    StoreOptions options;
    options.kind = "faulty";
    options.fault = "operation=publish,error=io,after=" + std::to_string(renamed);
    EXPECT_EQ(
        file.publication.publish({.catalog = file.catalog, .format = nullptr, .durable = false, .store = options}, turn)
            .code(),
        Code::io);
    EXPECT_EQ(file.publication.is_temporary(), renamed == 0);
    EXPECT_EQ(std::filesystem::file_size(text), 3U) << renamed;
    file.publication.abandon();
    EXPECT_THAT(names_in(file.folder.path()), ElementsAre("a.h5", "a.xmf")) << renamed;
  }
}

TEST(Sidecars, viewers_are_told_of_hdf5_files_only_and_not_under_their_own_name) {
  const ViewerGrids grids;
  EXPECT_EQ(XdmfSidecar(grids, "raw", "a.raw", "/tmp/a.raw").start().code(), Code::unsupported);
  EXPECT_EQ(XdmfSidecar(grids, "hdf5", "a.xmf", "/tmp/a.xmf").start().code(), Code::bad_argument);
}

TEST(Sidecars, old_references_of_ours_go_and_those_of_others_when_new_ones_come) {
  NewFile file("a.h5");
  const std::string old = file.path + ".kerchunk.json";
  KerchunkSidecar references(file.path, file.path, true);
  EXPECT_TRUE(references.withdraw().ok()) << "there are none";
  std::ofstream(old) << k_references_begin << "...";
  EXPECT_TRUE(references.withdraw().ok());
  EXPECT_FALSE(std::filesystem::exists(old));
  std::ofstream(old) << "somebody else's";
  EXPECT_TRUE(references.withdraw().ok());
  EXPECT_TRUE(std::filesystem::exists(old));
  EXPECT_FALSE(references.takes_turns());
  references.want(true);
  EXPECT_TRUE(references.takes_turns());
  EXPECT_TRUE(references.withdraw().ok());
  EXPECT_FALSE(std::filesystem::exists(old));
}

TEST(Sidecars, references_have_one_temporary_and_say_that_the_file_is_complete_without_them) {
  NewFile file("a.h5");
  auto& references = file.publication.add<KerchunkSidecar>("a.h5", file.path, true);
  ASSERT_TRUE(references.start(file.publication.temporary()).ok());
  ASSERT_TRUE(references.start(file.publication.temporary()).ok());
  EXPECT_THAT(names_in(file.folder.path()), SizeIs(2));
  ASSERT_TRUE(file.publish().ok());
  std::filesystem::create_directory(file.path + ".kerchunk.json");
  EXPECT_THAT(references.publish(false).message(), HasSubstr("\"a.h5\" is complete, but its references are not"));
  std::filesystem::remove(file.path + ".kerchunk.json");
  ASSERT_TRUE(references.publish(false).ok());
  EXPECT_THAT(names_in(file.folder.path()), ElementsAre("a.h5", "a.h5.kerchunk.json"));
}

}  // namespace windrow::test
