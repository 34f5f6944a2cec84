// SPDX-License-Identifier: BSD-3-Clause
// Somebody replaces or removes a temporary file or folder while it is written: the close says what has happened, what
// had the name before stays, and
// nothing of the other is published or removed.
#include <gmock/gmock.h>

#include "../capi/checked.hpp"

namespace {

using namespace windrow_test;
using testing::HasSubstr;
namespace fs = std::filesystem;

constexpr const char* k_strange = "somebody else's";

// Of the folder: what begins with a dot and ends so.
std::string temporary(const SharedFolder& folder, const std::string& ending) {
  for (const std::string& name : folder.names())
    if (name.starts_with('.') && name.ends_with(ending)) return folder.file(name);
  return "";
}

void replace(const std::string& path, bool removes) {
  ASSERT_FALSE(path.empty());
  const bool is_folder = fs::is_directory(path);
  fs::rename(path, path + "-taken");
  if (removes) return;
  if (is_folder) fs::create_directory(path);
  std::ofstream(is_folder ? path + "/strange" : path) << k_strange;
}

struct Case {
  std::string name;    // of the file
  std::string ending;  // of what is replaced
  bool removes;
  bool syncs;  // published by a sync
};

void try_case(const Case& tried, const windrow_options* options) {
  SharedFolder folder;
  const std::string path = folder.file(tried.name);
  const int64_t shape[1] = {4 * size_of()}, start[1] = {4 * rank_of()}, count[1] = {4};
  const double data[4] = {1, 2, 3, 4};
  std::string before;
  for (const bool strange : {false, true}) {
    windrow_file* file = nullptr;
    int variable = -1;
    ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path.c_str(), options, &file));
    ASSERT_WINDROW_OK(windrow_define_variable(file, "v", WINDROW_FLOAT64, 1, shape, &variable));
    ASSERT_WINDROW_OK(windrow_write_block(file, variable, start, count, data));
    std::string replaced;
    if (strange && rank_of() == 0) {
      replaced = temporary(folder, tried.ending);
      replace(replaced, tried.removes);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (tried.syncs && strange) expect_same_everywhere(windrow_sync(file));
    const int code = windrow_close(file);
    EXPECT_EQ(code == WINDROW_OK, !strange) << windrow_error_message();
    expect_same_everywhere(code);
    if (!strange) before = bytes_of_file(path);
    if (!strange || rank_of() != 0) continue;
    EXPECT_EQ(bytes_of_file(path), before);
    if (tried.removes || replaced.empty()) continue;
    EXPECT_THAT(windrow_error_message(), HasSubstr("replaced by somebody else"));
    EXPECT_EQ(bytes_of_file(fs::is_directory(replaced) ? replaced + "/strange" : replaced), k_strange);
  }
  windrow_file* file = nullptr;
  ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path.c_str(), WINDROW_READ, nullptr, &file));
  int variable = -1;
  double read[4] = {};
  ASSERT_WINDROW_OK(windrow_find_variable(file, "v", &variable));
  ASSERT_WINDROW_OK(windrow_read_block(file, variable, start, count, read));
  EXPECT_THAT(read, testing::ElementsAre(1, 2, 3, 4));
  EXPECT_WINDROW_OK(windrow_close(file));
}

TEST(Replaced, temporary_files_are_not_published) {
  const Options one{}, set{{"files", "subfiles(2)"}}, references{{"references", "kerchunk"}};
  for (const bool removes : {false, true})
    for (const bool syncs : {false, true}) {
      std::vector<std::pair<Case, const windrow_options*>> cases{{{"a.raw", "00", removes, syncs}, one},
                                                                 {{"a.raw", ".json", removes, syncs}, one},
                                                                 {{"a.raw", ".subfiles", removes, syncs}, set}};
      if (windrow_has("netcdf") != 0) cases.push_back({{"a.nc", "00", removes, syncs}, one});
      if (windrow_has("hdf5") != 0) {
        cases.push_back({{"a.h5", "00", removes, syncs}, one});
        cases.push_back({{"a.h5", "00", removes, syncs}, set});
      }
      for (const auto& [tried, options] : cases) {
        SCOPED_TRACE(tried.name + " " + tried.ending + (removes ? ", removed" : ", replaced") +
                     (syncs ? ", then a sync" : ""));
        if (!failed_anywhere()) try_case(tried, options);
      }
    }
}

}  // namespace
