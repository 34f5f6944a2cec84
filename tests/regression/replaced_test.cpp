// SPDX-License-Identifier: BSD-3-Clause
// Another program replaces or removes a file or folder while it is written or read. The call reports it, and nothing of
// the other file is published, changed or removed. A reader continues with the file that it has opened.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <map>

#include "../capi/checked.hpp"

namespace {

using namespace windrow_test;
using testing::HasSubstr;
namespace fs = std::filesystem;

constexpr const char* k_strange = "somebody else's";

// Of the folder: what begins with a dot and ends so.
std::string temporary(const SharedFolder& folder, const std::string& ending) {
  for (const std::string& name : folder.names())
    if (name.starts_with('.') && name.ends_with(ending))
      return folder.file(name);
  return "";
}

void replace(const std::string& path, bool removes) {
  ASSERT_FALSE(path.empty());
  const bool is_folder = fs::is_directory(path);
  fs::rename(path, path + "-taken");
  if (removes)
    return;
  if (is_folder)
    fs::create_directory(path);
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
    if (tried.syncs && strange)
      expect_same_everywhere(windrow_sync(file));
    const int code = windrow_close(file);
    EXPECT_EQ(code == WINDROW_OK, !strange) << windrow_error_message();
    expect_same_everywhere(code);
    if (!strange)
      before = bytes_of_file(path);
    if (!strange || rank_of() != 0)
      continue;
    EXPECT_EQ(bytes_of_file(path), before);
    if (tried.removes || replaced.empty())
      continue;
    EXPECT_THAT(windrow_error_message(), HasSubstr("replaced by another program"));
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
      if (windrow_has("netcdf") != 0)
        cases.push_back({{"a.nc", "00", removes, syncs}, one});
      if (windrow_has("hdf5") != 0) {
        cases.push_back({{"a.h5", "00", removes, syncs}, one});
        cases.push_back({{"a.h5", "00", removes, syncs}, set});
      }
      for (const auto& [tried, options] : cases) {
        SCOPED_TRACE(tried.name + " " + tried.ending + (removes ? ", removed" : ", replaced") +
                     (syncs ? ", then a sync" : ""));
        if (!failed_anywhere())
          try_case(tried, options);
      }
    }
}

constexpr int64_t k_each = 4;
constexpr const char* k_text = "about this file";

// `first`: of the file's elements.
void write_variable(windrow_file* file, const char* name, double first, int* code = nullptr) {
  const int64_t shape[1] = {k_each * size_of()}, start[1] = {k_each * rank_of()}, count[1] = {k_each};
  std::vector<double> data(k_each);
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = first + static_cast<double>(start[0]) + static_cast<double>(i);
  int variable = -1, found = windrow_find_variable(file, name, &variable);
  if (found != WINDROW_OK)
    found = windrow_define_variable(file, name, WINDROW_FLOAT64, 1, shape, &variable);
  const int written = found == WINDROW_OK ? windrow_write_block(file, variable, start, count, data.data()) : found;
  if (code == nullptr) {
    EXPECT_WINDROW_OK(written);
  } else {
    *code = written;
  }
}

// "" if the variable has these elements.
std::string read_variable(windrow_file* file, const char* name, double first) {
  const int64_t start[1] = {k_each * rank_of()}, count[1] = {k_each};
  std::vector<double> data(k_each, -1.0);
  int variable = -1;
  if (windrow_find_variable(file, name, &variable) != WINDROW_OK ||
      windrow_read_block(file, variable, start, count, data.data()) != WINDROW_OK)
    return windrow_error_message();
  for (size_t i = 0; i < data.size(); ++i)
    if (data[i] != first + static_cast<double>(start[0]) + static_cast<double>(i))
      return "other elements";
  return "";
}

void make(const std::string& path, const windrow_options* options, double first) {
  windrow_file* file = nullptr;
  ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path.c_str(), options, &file));
  for (const char* name : {"v", "w"})
    write_variable(file, name, first);
  ASSERT_WINDROW_OK(windrow_close(file));
}

struct Opened {
  std::string name;
  const windrow_options* options;
  std::string replaced;  // with the file's name as prefix, or in its folder of subfiles
};

std::vector<Opened> opened_kinds(const Options& one, const Options& set) {
  std::vector<Opened> kinds{{"a.raw", one, ""}, {"a.raw", one, ".json"}, {"a.raw", set, ""}, {"a.raw", set, "/1.raw"}};
  for (const auto& [format, ending] : {std::pair("netcdf", "nc"), std::pair("hdf5", "h5")}) {
    if (windrow_has(format) == 0)
      continue;
    const std::string name = std::string("a.") + ending;
    kinds.insert(kinds.end(), {{name, one, ""}, {name, set, ""}, {name, set, std::string("/1.") + ending}});
  }
  return kinds;
}

std::string path_of(const SharedFolder& folder, const Opened& kind) {
  if (!kind.replaced.starts_with('/'))
    return folder.file(kind.name + kind.replaced);
  for (const std::string& name : folder.names())
    if (name.starts_with(kind.name + ".subfiles-"))
      return folder.file(name + kind.replaced);
  return "";
}

enum class When {
  before_writing,
  before_sync,
  before_close
};

void try_update(const Opened& kind, bool removes, When when) {
  SharedFolder folder;
  make(folder.file(kind.name), kind.options, 0);
  windrow_file* file = nullptr;
  ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, folder.file(kind.name).c_str(), WINDROW_UPDATE, nullptr, &file));
  const std::string path = path_of(folder, kind);
  const auto interfere = [&] {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_of() == 0)
      replace(path, removes);
    MPI_Barrier(MPI_COMM_WORLD);
  };
  if (when == When::before_writing)
    interfere();
  int code = WINDROW_OK;
  write_variable(file, "v", 1000, &code);
  write_variable(file, "n", 2000, &code);
  expect_same_everywhere(code);
  if (when != When::before_writing) {
    EXPECT_EQ(code, WINDROW_OK) << windrow_error_message();
  }
  (void)windrow_put_attribute_text(file, "/", "text", k_text);
  if (when == When::before_sync) {
    interfere();
    code = windrow_sync(file);
    expect_same_everywhere(code);
    EXPECT_NE(code, WINDROW_OK);
    EXPECT_THAT(windrow_error_message(), HasSubstr(fs::path(path).filename().string()));
  }
  if (when == When::before_close)
    interfere();
  code = windrow_close(file);
  expect_same_everywhere(code);
  EXPECT_NE(code, WINDROW_OK);
  EXPECT_THAT(windrow_error_message(), HasSubstr(fs::path(path).filename().string()));
  EXPECT_THAT(windrow_error_message(), HasSubstr(removes ? "removed" : "replaced"));
  if (rank_of() == 0) {
    EXPECT_EQ(removes ? std::to_string(fs::exists(path)) : bytes_of_file(path), removes ? "0" : k_strange);
  }
}

TEST(Replaced, files_changed_in_place_are_not_taken_for_others) {
  const Options one{}, set{{"files", "subfiles(2)"}, {"split_parts", "2"}};
  for (const Opened& kind : opened_kinds(one, set))
    for (const bool removes : {false, true})
      for (const When when : {When::before_writing, When::before_sync, When::before_close}) {
        SCOPED_TRACE(kind.name + (kind.options == set ? " set " : " ") + kind.replaced +
                     (removes ? ", removed" : ", replaced") + std::to_string(static_cast<int>(when)));
        if (!failed_anywhere())
          try_update(kind, removes, when);
      }
}

TEST(Replaced, readers_read_what_they_have_opened) {
  const Options one{}, set{{"files", "subfiles(2)"}, {"split_parts", "2"}};
  for (const Opened& kind : opened_kinds(one, set)) {
    if (kind.replaced == ".json")
      continue;
    SCOPED_TRACE(kind.name + (kind.options == set ? " set " : " ") + kind.replaced);
    SharedFolder folder;
    const std::string path = folder.file(kind.name);
    make(path, kind.options, 0);
    windrow_file* file = nullptr;
    ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path.c_str(), WINDROW_READ, nullptr, &file));
    const bool is_subfile = kind.replaced.starts_with('/');
    if (is_subfile && rank_of() == 0)
      fs::copy_file(path_of(folder, kind), folder.file("copy"));
    if (is_subfile && rank_of() == 0)
      fs::rename(folder.file("copy"), path_of(folder, kind));
    if (!is_subfile)
      make(path, kind.options, 5000);
    MPI_Barrier(MPI_COMM_WORLD);
    const std::string fault = read_variable(file, "v", 0);
    if (is_subfile) {
      EXPECT_THAT(fault, HasSubstr(kind.replaced.substr(1)));
    } else {
      EXPECT_EQ(fault, "");
    }
    EXPECT_WINDROW_OK(windrow_close(file));
    if (is_subfile)
      continue;
    ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path.c_str(), WINDROW_READ, nullptr, &file));
    EXPECT_EQ(read_variable(file, "v", 5000), "");
    EXPECT_WINDROW_OK(windrow_close(file));
    if (failed_anywhere())
      return;
  }
}

// Once a file has its name, another writer may use the name of its temporary: before the references are there too.
TEST(Replaced, temporary_references_are_of_one_writer) {
  if (windrow_has("netcdf") == 0)
    GTEST_SKIP() << "built without netCDF";
  SharedFolder folder;
  const Options options{{"files", "subfiles(2)"}};
  const std::string path = folder.file("a.nc"), temporary = folder.file(".a.nc.windrow-0000");
  windrow_file *first = nullptr, *second = nullptr;
  const auto begin = [&](windrow_file*& file) {
    const int64_t shape[1] = {4 * size_of()}, start[1] = {4 * rank_of()}, count[1] = {4};
    const double data[4] = {1, 2, 3, 4};
    int variable = -1;
    ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path.c_str(), options, &file));
    ASSERT_WINDROW_OK(windrow_define_variable(file, "v", WINDROW_FLOAT64, 1, shape, &variable));
    ASSERT_WINDROW_OK(windrow_write_block(file, variable, start, count, data));
  };
  const auto references = [&folder] {
    std::map<std::string, ino_t> files;
    for (const std::string& name : folder.names()) {
      struct stat about {};
      const bool is_one = name.starts_with('.') && name.find(".kerchunk.json") != std::string::npos;
      if (is_one && ::stat(folder.file(name).c_str(), &about) == 0)
        files.emplace(name, about.st_ino);
    }
    return files;
  };
  begin(first);
  const auto before = references();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_of() == 0) {
    EXPECT_EQ(before.size(), 1U);
    std::error_code error;
    fs::rename(temporary, temporary + "-aside", error);  // as if it had its name
    EXPECT_FALSE(error);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  begin(second);
  if (rank_of() == 0) {
    const auto after = references();
    EXPECT_EQ(after.size(), 2U);
    for (const auto& [name, file] : before)
      EXPECT_TRUE(after.contains(name) && after.at(name) == file) << name;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_WINDROW_OK(windrow_discard(first));
  EXPECT_WINDROW_OK(windrow_close(second));
  if (rank_of() != 0)
    return;
  EXPECT_FALSE(bytes_of_file(path + ".kerchunk.json").empty());
  EXPECT_TRUE(references().empty());
}

}  // namespace
