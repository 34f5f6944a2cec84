// SPDX-License-Identifier: BSD-3-Clause
// An explanation changes no file, also where the flush that follows places variables and makes them longer, and says
// what that flush does.
#include <algorithm>

#include "../capi/report.hpp"

namespace {

using namespace windrow_test;

constexpr int64_t k_rows = 40, k_width = 30;

struct Case {
  std::string name;  // of the file
  KeyValues options;
  std::vector<std::string> variables;  // those that are made before
};

// The options of each variable. "new" is defined before the explanation, the others are in the file.
KeyValues options_of(const std::string& variable) {
  if (variable == "grows")
    return {{"extendible", "on"}};
  if (variable == "chunks")
    return {{"extendible", "on"}, {"chunks", "7x5"}};
  if (variable == "filtered")
    return {{"extendible", "on"}, {"chunks", "4x30"}, {"filters", "deflate:1"}};
  return {};
}

std::vector<Case> cases() {
  std::vector<Case> all{{"a.raw", {}, {"written", "never"}}};
  if (windrow_has("netcdf") != 0) {
    all.push_back({"a.nc", {}, {"written", "grows"}});
    all.push_back({"set.nc", {{"files", "subfiles(2)"}}, {"written", "grows"}});
  }
  if (windrow_has("hdf5") != 0) {
    all.push_back({"a.h5", {}, {"written", "never", "scalar", "chunks", "filtered"}});
    all.push_back({"set.h5", {{"files", "subfiles(2)"}}, {"written", "never", "chunks"}});
    all.push_back(
        {"targets.h5", {{"domains", "target"}, {"layout", "mock:stripe=64KiB,count=4"}}, {"written", "chunks"}});
  }
  return all;
}

std::string all_bytes(const SharedFolder& folder) {
  std::string bytes;
  std::vector<std::string> paths;
  for (const auto& each : std::filesystem::recursive_directory_iterator(folder.path()))
    if (each.is_regular_file())
      paths.push_back(each.path().string());
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths)
    bytes += path + "\n" + bytes_of_file(path);
  return bytes;
}

class Explained : public testing::TestWithParam<Case> {
 protected:
  std::string path() const { return folder_.file(GetParam().name); }
  int define(windrow_file* file, const std::string& name) {
    const bool is_scalar = name == "scalar", grows = !options_of(name).empty();
    const int64_t shape[2] = {grows ? 0 : k_rows, k_width};
    int variable = -1;
    EXPECT_WINDROW_OK(windrow_define_variable_with(file, name.c_str(), WINDROW_FLOAT64, is_scalar ? 0 : 2, shape,
                                                   Options(options_of(name)), &variable));
    return variable;
  }
  void put(windrow_file* file, int variable, const std::string& name) {
    if (name == "scalar") {
      EXPECT_WINDROW_OK(windrow_put(file, variable, once(), data_.data()));
    } else if (options_of(name).empty()) {
      EXPECT_WINDROW_OK(windrow_put(file, variable, rows(), data_.data()));
    } else {
      EXPECT_WINDROW_OK(windrow_put_record(file, variable, 5, columns(), data_.data()));
    }
  }
  void make() {
    windrow_file* file = nullptr;
    ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), Options(GetParam().options), &file));
    for (const std::string& name : GetParam().variables) {
      const int variable = define(file, name);
      if (name == "written") {
        EXPECT_WINDROW_OK(windrow_write(file, variable, rows(), data_.data()));
      }
    }
    EXPECT_WINDROW_OK(windrow_close(file));
  }
  windrow_file* open() {
    windrow_file* file = nullptr;
    EXPECT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path().c_str(), WINDROW_UPDATE, nullptr, &file));
    return file;
  }
  // Queues a put of every variable, and a get of one.
  void queue(windrow_file* file, bool defines) {
    for (const std::string& name : GetParam().variables) {
      int variable = -1;
      ASSERT_WINDROW_OK(windrow_find_variable(file, name.c_str(), &variable));
      put(file, variable, name);
      if (name == "written") {
        EXPECT_WINDROW_OK(windrow_get(file, variable, rows(), read_.data()));
      }
    }
    if (defines)
      put(file, define(file, "new"), "new");
  }
  // Without the flag whether a plan is cached.
  static nlohmann::json explain(windrow_file* file) {
    const char* text = nullptr;
    EXPECT_WINDROW_OK(windrow_explain(file, "json", &text));
    nlohmann::json plans = text != nullptr ? nlohmann::json::parse(text) : nlohmann::json::array();
    for (auto& plan : plans)
      plan.erase("cached");
    return plans;
  }
  static std::vector<int64_t> lengths(const nlohmann::json& plan) {
    std::vector<int64_t> found;
    for (const auto& domain : plan.at("domain_bytes"))
      found.push_back(domain.at(1).get<int64_t>() - domain.at(0).get<int64_t>());
    return found;
  }
  const windrow_decomposition* rows() {
    return made(rows_, [](auto** made) { return windrow_rows(MPI_COMM_WORLD, k_rows, WINDROW_EVEN, made); });
  }
  const windrow_decomposition* columns() {
    return made(columns_, [](auto** made) { return windrow_rows(MPI_COMM_WORLD, k_width, WINDROW_EVEN, made); });
  }
  const windrow_decomposition* once() {
    return made(once_, [](auto** made) { return windrow_same(MPI_COMM_WORLD, 0, nullptr, nullptr, nullptr, made); });
  }

  SharedFolder folder_;
  std::vector<double> data_ = std::vector<double>(static_cast<size_t>(k_rows * k_width), 1.5), read_ = data_;

 private:
  template <class Make>
  static const windrow_decomposition* made(Decomposition& kept, Make&& make) {
    if (!kept) {
      windrow_decomposition* decomposition = nullptr;
      EXPECT_WINDROW_OK(make(&decomposition));
      kept.reset(decomposition);
    }
    return kept.get();
  }
  Decomposition rows_, columns_, once_;
};

INSTANTIATE_TEST_SUITE_P(Formats, Explained, testing::ValuesIn(cases()), [](const auto& each) {
  std::string name = each.param.name;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

// The header of a netCDF file changes with a definition, and all bytes move.
TEST_P(Explained, plans_change_no_byte_of_a_file_that_is_not_changed_then) {
  make();
  MPI_Barrier(MPI_COMM_WORLD);
  const std::string before = all_bytes(folder_);
  for (const bool defines : {false, true}) {
    if (defines && GetParam().name != "a.nc")
      continue;  // the definition itself has changed a file
    windrow_file* file = open();
    queue(file, defines);
    const nlohmann::json first = explain(file);
    EXPECT_FALSE(first.empty());
    EXPECT_EQ(explain(file), first) << "an explanation has an effect on the next";
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_EQ(all_bytes(folder_).size(), before.size());
    EXPECT_WINDROW_OK(windrow_discard(file));
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_TRUE(all_bytes(folder_) == before);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST_P(Explained, plans_are_those_of_the_flush_and_do_not_disturb_it) {
  make();
  windrow_file* file = open();
  queue(file, true);
  const nlohmann::json plans = explain(file);
  EXPECT_WINDROW_OK(windrow_flush(file));
  const nlohmann::json done = report_of(file)["plans"];
  ASSERT_EQ(plans.size(), done.size());
  for (size_t i = 0; i < plans.size(); ++i)
    for (const char* key : {"domains", "access", "gather", "writers"})
      EXPECT_EQ(plans[i].at(key), done[i].at(key)) << key;
  for (size_t i = 0; i < plans.size(); ++i)
    EXPECT_EQ(lengths(plans[i]), lengths(done[i])) << "the place in an HDF5 file is assumed";
  EXPECT_WINDROW_OK(windrow_close(file));
  ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path().c_str(), WINDROW_READ, nullptr, &file));
  for (const char* name : {"written", "new"}) {
    int variable = -1;
    ASSERT_WINDROW_OK(windrow_find_variable(file, name, &variable));
    std::fill(read_.begin(), read_.end(), -1);
    EXPECT_WINDROW_OK(windrow_read(file, variable, rows(), read_.data()));
    EXPECT_EQ(read_[0], 1.5) << name;  // each rank has rows
    EXPECT_EQ(read_[k_width - 1], 1.5) << name;
  }
  EXPECT_WINDROW_OK(windrow_close(file));
}

}  // namespace
