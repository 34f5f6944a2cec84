// SPDX-License-Identifier: BSD-3-Clause
// What a killed job has left is removed by the next one that makes the same file; what a living one writes is not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "../temporary_folder.hpp"
#include "storage/publish.hpp"

namespace windrow::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::vector<std::string> names(const TemporaryFolder& folder) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    found.push_back(entry.path().filename().string());
  return found;
}

TemporaryFile start(const std::string& path) {
  auto temporary = start_temporary_file(path);
  EXPECT_TRUE(temporary.ok()) << temporary.status().message();
  return std::move(temporary).value();
}

// A temporary with a sidecar and a folder with a file, as a process that is killed leaves it.
void leave(const std::string& path) {
  const pid_t child = ::fork();
  if (child == 0) {
    const TemporaryFile temporary = start(path);
    const Rename sidecar{temporary.temporary_path + ".json", path + ".json"};
    (void)start_sidecars(temporary, {&sidecar, 1});
    (void)start_folder(temporary, temporary.temporary_path + ".subfiles");
    std::ofstream(temporary.temporary_path + ".subfiles/0.raw") << "x";
    (void)::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
}

}  // namespace

TEST(Leftovers, the_next_job_removes_what_a_killed_one_has_left) {
  TemporaryFolder folder;
  const std::string path = folder.path("a.raw");
  leave(path);
  EXPECT_THAT(names(folder),
              UnorderedElementsAre(".a.raw.windrow-0000", ".a.raw.windrow-0000.json", ".a.raw.windrow-0000.subfiles"));
  const TemporaryFile temporary = start(path);
  EXPECT_THAT(names(folder), ElementsAre(std::filesystem::path(temporary.temporary_path).filename().string()));
}

TEST(Leftovers, what_a_living_job_writes_stays) {
  TemporaryFolder folder;
  const std::string path = folder.path("a.raw");
  const TemporaryFile living = start(path);
  const Rename sidecar{living.temporary_path + ".json", path + ".json"};
  ASSERT_TRUE(start_sidecars(living, {&sidecar, 1}).ok());
  leave(path);  // beside it
  ASSERT_EQ(names(folder).size(), 5U);
  { const TemporaryFile another = start(path); }
  EXPECT_THAT(names(folder),
              UnorderedElementsAre(".a.raw.windrow-0000", ".a.raw.windrow-0000.json", ".a.raw.windrow-0001"))
      << "the second was the draft's";
  EXPECT_THAT(remove_leftovers(path), ElementsAre(folder.path(".a.raw.windrow-0001")));
  EXPECT_THAT(names(folder), UnorderedElementsAre(".a.raw.windrow-0000", ".a.raw.windrow-0000.json"));
  EXPECT_TRUE(living.held.is_at(living.temporary_path));
}

TEST(Leftovers, those_of_a_calibration_of_the_folder_are_removed_with_those_of_any_file_in_it) {
  TemporaryFolder folder;
  const std::string calibration = folder.path(std::string(k_calibration));
  leave(calibration);
  const TemporaryFile living = start(folder.path("a.raw"));
  EXPECT_THAT(remove_leftovers(folder.path("b.raw")), ElementsAre(folder.path(".windrow-calibration.windrow-0000")));
  EXPECT_THAT(names(folder), ElementsAre(".a.raw.windrow-0000"));
  const TemporaryFile other = start(calibration);
  EXPECT_THAT(remove_leftovers(folder.path("b.raw")), IsEmpty()) << "it is at work";
}

TEST(Leftovers, more_than_one_is_removed_and_what_is_alone_too) {
  TemporaryFolder folder;
  const std::string path = folder.path("a.raw");
  { const TemporaryFile first = start(path), second = start(path), third = start(path); }
  for (const char* name : {".a.raw.windrow-9999.json", ".a.raw.windrow-zzzz", "a.raw", ".b.raw.windrow-0000"})
    std::ofstream(folder.path(name)) << "x";
  const TemporaryFile temporary = start(path);
  EXPECT_THAT(names(folder), UnorderedElementsAre(".a.raw.windrow-0000", ".a.raw.windrow-9999.json",
                                                  ".a.raw.windrow-zzzz", "a.raw", ".b.raw.windrow-0000"));
  EXPECT_THAT(remove_leftovers(path),
              ElementsAre(folder.path(".a.raw.windrow-9999.json"), folder.path(".a.raw.windrow-zzzz")));
  EXPECT_THAT(remove_leftovers(path), IsEmpty());
}

TEST(Leftovers, a_companion_that_was_left_alone_is_in_nobodys_way) {
  TemporaryFolder folder;
  const std::string path = folder.path("a.raw");
  leave(path);
  std::filesystem::remove(folder.path(".a.raw.windrow-0000"));
  const TemporaryFile temporary = start(path);
  const Rename sidecar{temporary.temporary_path + ".json", path + ".json"};
  EXPECT_TRUE(start_sidecars(temporary, {&sidecar, 1}).ok());
  EXPECT_TRUE(start_folder(temporary, temporary.temporary_path + ".subfiles").ok());
  EXPECT_TRUE(std::filesystem::is_empty(temporary.temporary_path + ".subfiles"));
}

}  // namespace windrow::test
