// SPDX-License-Identifier: BSD-3-Clause
// Sets of files: checksums of their elements, how many there are where that is left to us, and the references beside
// them.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "../capi/checked.hpp"
#include "format/format.hpp"
#include "subfiling/file_count.hpp"
#include "subfiling/map_attributes.hpp"

namespace {

using namespace windrow_test;

constexpr int64_t k_rows = 12, k_columns = 500;  // a part is longer than the smallest buffer

class Sets : public testing::Test {
 protected:
  void SetUp() override {
    if (windrow_has("hdf5") == 0)
      GTEST_SKIP() << "built without HDF5";
  }
  std::string path() const { return folder_.file("a.h5"); }
  windrow_file* create(const KeyValues& options) const {
    windrow_file* file = nullptr;
    EXPECT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), Options(options), &file));
    return file;
  }
  windrow_file* open(int mode, const KeyValues& options = {}) const {
    windrow_file* file = nullptr;
    EXPECT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path().c_str(), mode, Options(options), &file));
    return file;
  }
  static int define(windrow_file* file, const char* name) {
    constexpr int64_t k_shape[2] = {k_rows, k_columns};
    int variable = -1;
    EXPECT_WINDROW_OK(windrow_define_variable(file, name, WINDROW_FLOAT64, 2, k_shape, &variable));
    return variable;
  }
  // All rows, each rank its share.
  static void write(windrow_file* file, int variable, double value) {
    const int64_t first = k_rows * rank_of() / size_of(), end = k_rows * (rank_of() + 1) / size_of();
    const int64_t start[2] = {first, 0}, count[2] = {end - first, k_columns};
    std::vector<double> data(static_cast<size_t>(count[0] * count[1]));
    for (size_t i = 0; i < data.size(); ++i)
      data[i] = value + static_cast<double>(first * k_columns) + static_cast<double>(i);
    EXPECT_WINDROW_OK(windrow_write_block(file, variable, start, count, data.data()));
  }
  void make(const KeyValues& options) const {
    windrow_file* file = create(options);
    const int v = define(file, "g/v"), w = define(file, "w");
    write(file, v, 0);
    write(file, w, 1e6);
    EXPECT_WINDROW_OK(windrow_close(file));
  }
  void change(const KeyValues& options) const {
    windrow_file* file = open(WINDROW_UPDATE, options);
    int variable = -1;
    EXPECT_WINDROW_OK(windrow_find_variable(file, "g/v", &variable));
    write(file, variable, 7);
    EXPECT_WINDROW_OK(windrow_close(file));
  }
  std::string problems() const {
    windrow_file* file = open(WINDROW_READ, {{"buffer", "4096"}});
    const char* text = "";
    EXPECT_WINDROW_OK(windrow_check_subfiles(file, &text));
    const std::string found = text;
    EXPECT_WINDROW_OK(windrow_close(file));
    return found;
  }
  std::string subfile(int number) const {
    for (const std::string& name : folder_.names())
      if (name.starts_with("a.h5.subfiles-") && is_set_in_use(folder_.file(name)))
        return folder_.file(name) + "/" + std::to_string(number) + ".h5";
    return {};
  }
  // Rank 0: changes one bit of the element `value` in a file.
  static void flip(const std::string& name, double value) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_of() == 0) {
      std::ifstream in(name, std::ios::binary);
      std::string bytes((std::istreambuf_iterator<char>(in)), {});
      const auto* raw = reinterpret_cast<const char*>(&value);
      const size_t at = bytes.find(std::string(raw, sizeof value));
      ASSERT_NE(at, std::string::npos) << name;
      bytes[at] = static_cast<char>(bytes[at] ^ 1);
      std::ofstream(name, std::ios::binary) << bytes;
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

  SharedFolder folder_;
};

TEST_F(Sets, a_flipped_bit_is_told_with_its_subfile_and_variable) {
  make({{"files", "subfiles(3)"}, {"checksum", "on"}});
  EXPECT_EQ(problems(), "");
  const double in_the_second = 4 * k_columns + 3, in_the_last = 1e6 + 11 * k_columns + 499;
  flip(subfile(1), in_the_second);
  const std::string one = problems();
  EXPECT_NE(one.find("/1.h5\": the elements of \"/g/v\" do not match their checksum"), std::string::npos) << one;
  EXPECT_EQ(std::count(one.begin(), one.end(), '\n'), 1) << one;
  flip(subfile(2), in_the_last);
  const std::string two = problems();
  EXPECT_NE(two.find("/2.h5\": the elements of \"/w\""), std::string::npos) << two;
  EXPECT_EQ(std::count(two.begin(), two.end(), '\n'), 2) << two;
}

// The checksum of a map includes the fill values.
TEST_F(Sets, with_another_fill_value_than_their_map_has_are_damaged) {
  windrow_file* file = create({{"files", "subfiles(2)"}});
  constexpr int64_t k_shape[2] = {k_rows, k_columns};
  int variable = -1;
  EXPECT_WINDROW_OK(windrow_define_variable_with(file, "v", WINDROW_FLOAT64, 2, k_shape,
                                                 Options(KeyValues{{"fill_value", "7"}}), &variable));
  EXPECT_WINDROW_OK(windrow_close(file));
  EXPECT_EQ(problems(), "");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_of() == 0)
    for (const std::string& each : {path(), subfile(0), subfile(1)}) {
      auto format = windrow::open_format("hdf5", each, windrow::FormatMode::update, {});
      ASSERT_TRUE(format.ok()) << format.status().message();
      windrow::Attribute fill = windrow::map::attribute_of(windrow::map::k_fill, windrow::Type::uint8);
      fill.shape = {8};
      fill.data.resize(8);
      EXPECT_TRUE(format.value()->put_attribute("/v", fill).ok());
      EXPECT_TRUE(format.value()->close().ok());
    }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(windrow_open(MPI_COMM_WORLD, path().c_str(), WINDROW_READ, nullptr, &file), WINDROW_BAD_FILE);
}

TEST_F(Sets, without_the_option_nothing_is_summed_up) {
  make({{"files", "subfiles(3)"}});
  flip(subfile(1), 4 * k_columns + 3);
  EXPECT_EQ(problems(), "");
}

TEST_F(Sets, a_change_renews_checksums_or_takes_them_away) {
  make({{"files", "subfiles(3)"}, {"checksum", "on"}});
  change({{"checksum", "on"}});
  EXPECT_EQ(problems(), "");
  flip(subfile(0), 7 + 5);
  EXPECT_NE(problems(), "") << "there is a new one";
  flip(subfile(0), [] {
    double value = 7 + 5;
    auto* raw = reinterpret_cast<unsigned char*>(&value);
    raw[0] = static_cast<unsigned char>(raw[0] ^ 1);
    return value;
  }());
  EXPECT_EQ(problems(), "");
  change({});
  EXPECT_EQ(problems(), "");
  flip(subfile(0), 7 + 5);
  EXPECT_EQ(problems(), "") << "there is none any more";
  flip(subfile(0), 1e6 + 2);
  EXPECT_NE(problems(), "") << "that of the other variable is as it was";
}

// Of what has chunks, their bytes as stored.
TEST_F(Sets, chunks_have_checksums_too) {
  windrow_file* file = create({{"files", "subfiles(3)"}, {"checksum", "on"}, {"chunks", "3x64"}});
  const int v = define(file, "g/v"), w = define(file, "w");
  write(file, v, 0);
  write(file, w, 1e6);
  EXPECT_WINDROW_OK(windrow_close(file));
  EXPECT_EQ(problems(), "");
  change({{"checksum", "on"}});
  EXPECT_EQ(problems(), "");
  flip(subfile(1), 7 + 7 * k_columns + 3);  // parts are of whole chunks: 6, 3 and 3 rows
  const std::string found = problems();
  EXPECT_NE(found.find("/1.h5\": the elements of \"/g/v\" do not match their checksum"), std::string::npos) << found;
  EXPECT_EQ(std::count(found.begin(), found.end(), '\n'), 1) << found;
  change({});
  EXPECT_EQ(problems(), "");
}

TEST_F(Sets, a_file_that_is_synced_has_its_checksums_when_it_is_closed) {
  windrow_file* file = create({{"files", "subfiles(2)"}, {"checksum", "on"}});
  const int v = define(file, "g/v");
  write(file, v, 0);
  EXPECT_WINDROW_OK(windrow_sync(file));
  write(file, v, 7);
  EXPECT_WINDROW_OK(windrow_sync(file));
  EXPECT_WINDROW_OK(windrow_close(file));
  EXPECT_EQ(problems(), "");
  flip(subfile(0), 7 + 5);
  EXPECT_NE(problems(), "");
}

std::string reasons_of(windrow_file* file) {
  const char* text = nullptr;
  EXPECT_WINDROW_OK(windrow_explain(file, "text", &text));
  return text;
}

TEST_F(Sets, auto_makes_one_file_here_and_says_why) {
  windrow_file* file = create({{"files", "auto"}, {"file_system", "local"}});
  write(file, define(file, "g/v"), 0);
  EXPECT_EQ(windrow_subfile_count(file), 0);
  EXPECT_NE(reasons_of(file).find("files one: on a local disk"), std::string::npos) << reasons_of(file);
  EXPECT_WINDROW_OK(windrow_close(file));
  file = create({});
  write(file, define(file, "g/v"), 0);
  EXPECT_EQ(reasons_of(file).find("files one"), std::string::npos) << "nobody asked";
  EXPECT_WINDROW_OK(windrow_close(file));
}

// The axis as well as the reason, with any preset.
TEST_F(Sets, a_plan_says_how_many_files_there_are) {
  const auto files_of = [](windrow_file* file) {
    const char* text = nullptr;
    EXPECT_WINDROW_OK(windrow_explain(file, "json", &text));
    return nlohmann::json::parse(text).at(0).at("files").get<std::string>();
  };
  windrow_file* file = create({{"files", "auto"}, {"file_system", "local"}, {"strategy", "subfiling"}});
  write(file, define(file, "g/v"), 0);
  EXPECT_EQ(windrow_subfile_count(file), 0);
  EXPECT_EQ(files_of(file), "one") << reasons_of(file);
  EXPECT_WINDROW_OK(windrow_close(file));
  file = create({{"files", "subfiles(2)"}});
  write(file, define(file, "g/v"), 0);
  EXPECT_EQ(files_of(file), "subfiles");
  EXPECT_WINDROW_OK(windrow_close(file));
}

TEST_F(Sets, auto_follows_the_rule_on_a_parallel_file_system) {
  const int64_t hosts = (size_of() + ranks_per_host() - 1) / ranks_per_host();
  const auto expected = windrow::choose_file_count({windrow::FileSystem::lustre, true, size_of(), hosts});
  windrow_file* file = create({{"files", "auto"}, {"file_system", "lustre"}});
  const int v = define(file, "g/v");
  write(file, v, 0);
  EXPECT_EQ(windrow_subfile_count(file), 0) << "no subfile is empty";
  EXPECT_NE(reasons_of(file).find(expected.why), std::string::npos) << reasons_of(file);
  windrow_variable_info info{};
  info.size = sizeof info;
  EXPECT_WINDROW_OK(windrow_inquire_variable(file, v, &info));
  EXPECT_STREQ(info.split, "") << "it has fewer than 64 MiB";
  EXPECT_WINDROW_OK(windrow_close(file));
  EXPECT_EQ(problems(), "");
  if (expected.files == 1)
    return;
  const std::string parts = std::to_string(expected.files) + "x1";  // of any size
  file = create({{"files", "auto"}, {"file_system", "lustre"}, {"split_parts", parts}});
  write(file, define(file, "g/v"), 0);
  EXPECT_EQ(windrow_subfile_count(file), expected.files);
  EXPECT_WINDROW_OK(windrow_close(file));
  EXPECT_EQ(problems(), "");
}

TEST(FileCount, is_that_of_a_documented_rule) {
  using windrow::FileSystem;
  const auto files = [](FileSystem kind, int64_t ranks, int64_t hosts, bool can_split = true) {
    const auto chosen = windrow::choose_file_count({kind, can_split, ranks, hosts});
    EXPECT_TRUE(chosen.why.starts_with(chosen.files == 1 ? "files one: "
                                                         : "files subfiles(" + std::to_string(chosen.files) + "): "))
        << chosen.why;
    return chosen.files;
  };
  for (const FileSystem kind : {FileSystem::lustre, FileSystem::beegfs, FileSystem::cephfs, FileSystem::gpfs}) {
    EXPECT_EQ(files(kind, 1, 1), 1);
    EXPECT_EQ(files(kind, 4096, 1), 1);
    EXPECT_EQ(files(kind, 256, 64), 32);
    EXPECT_EQ(files(kind, 4096, 32), 32);
    EXPECT_EQ(files(kind, 100'000, 1000), 1000);
    EXPECT_EQ(files(kind, 4096, 32, false), 1);
  }
  for (const FileSystem kind : {FileSystem::unknown, FileSystem::local, FileSystem::nfs})
    EXPECT_EQ(files(kind, 4096, 512), 1);
  // A layout that shows several targets: a file for each of them, and no more than hosts.
  const auto of_targets = [](int64_t ranks, int64_t hosts, int64_t targets) {
    const auto chosen = windrow::choose_file_count({FileSystem::lustre, true, ranks, hosts, targets});
    EXPECT_NE(chosen.why.find(std::to_string(targets) + " targets"), std::string::npos) << chosen.why;
    return chosen.files;
  };
  EXPECT_EQ(of_targets(256, 64, 4), 4);
  EXPECT_EQ(of_targets(256, 3, 16), 3);
  EXPECT_EQ(of_targets(256, 1, 16), 1);
  EXPECT_EQ(windrow::choose_file_count({FileSystem::lustre, true, 256, 64, 1}).files, 32)
      << "the next file gets another target";
  EXPECT_EQ(windrow::choose_file_count({FileSystem::local, true, 256, 64, 4}).files, 1);
}

// A machine file decides if it has several targets.
TEST(FileCount, is_what_the_machine_is_predicted_to_write_fastest) {
  using windrow::FileSystem;
  windrow::Machine machine;
  machine.name = "a cluster";
  machine.storage = {.targets = 16, .target_write_bytes_per_s = 500e6, .client_bytes_per_s = 2e9, .stripe_count = 1};
  const auto count = [&](int64_t ranks, int64_t hosts, int64_t bytes, int64_t targets = 0) {
    const auto chosen =
        windrow::choose_file_count_by(machine, {FileSystem::lustre, true, ranks, hosts, targets}, bytes);
    EXPECT_TRUE(chosen.why.find("are predicted by a cluster") != std::string::npos ||
                chosen.why.find("; parts have at least 64 MiB, and ") != std::string::npos)
        << chosen.why;
    EXPECT_TRUE(chosen.why.starts_with(chosen.files == 1 ? "files one: "
                                                         : "files subfiles(" + std::to_string(chosen.files) + "): "))
        << chosen.why;
    return chosen.files;
  };
  constexpr int64_t k_large = int64_t{64} << 30;
  EXPECT_EQ(count(512, 64, k_large), 16) << "a file for each target";
  EXPECT_EQ(count(512, 4, k_large), 4) << "no more than hosts";
  EXPECT_EQ(count(512, 64, int64_t{128} << 20), 2) << "parts have at least 64 MiB";
  EXPECT_EQ(count(512, 64, 1 << 20), 1);
  EXPECT_EQ(count(512, 1, k_large), 1);
  EXPECT_EQ(count(64, 16, 0), 16) << "64 MiB a rank";
  machine.storage.lock_s = 0;
  EXPECT_EQ(count(512, 64, k_large, 16), 1) << "a file has all targets, and nothing is lost by sharing it";
  machine.storage.lock_s = 10;
  EXPECT_GT(count(512, 64, k_large, 16), 1) << "locks that go from writer to writer cost more";
  machine.storage.lock_s = 0;
  machine.metadata.creates_per_s = 1e-3;
  EXPECT_EQ(count(512, 64, k_large), 1) << "files are dear";
  const auto split = [&](bool can_split) {
    return windrow::choose_file_count_by(machine, {FileSystem::lustre, can_split, 256, 64}, k_large);
  };
  EXPECT_NE(split(false).why.find("cannot be split"), std::string::npos);
  machine.storage.targets = 1;  // it has seen one file: the next one may get another target
  EXPECT_EQ(split(true).files, windrow::choose_file_count({FileSystem::lustre, true, 256, 64}).files);
}

TEST_F(Sets, auto_asks_the_machine_file) {
  const std::string name = folder_.file("machine.json");
  if (rank_of() == 0)
    std::ofstream(name) << R"({"windrow machine": 1, "name": "a cluster", )"
                        << R"("storage": {"kind": "lustre", "targets": 16, "stripe_count": 1}})";
  MPI_Barrier(MPI_COMM_WORLD);
  const int64_t hosts = (size_of() + ranks_per_host() - 1) / ranks_per_host();
  windrow_file* file =
      create({{"files", "auto"}, {"file_system", "lustre"}, {"machine", name}, {"expected_bytes", "1 GiB"}});
  write(file, define(file, "g/v"), 0);
  EXPECT_EQ(windrow_subfile_count(file), 0) << "nothing in it is large enough to be split";
  EXPECT_NE(
      reasons_of(file).find(hosts > 1 ? "for 1 GiB are predicted by a cluster" : "at most as many files as hosts (1)"),
      std::string::npos)
      << reasons_of(file);
  EXPECT_WINDROW_OK(windrow_close(file));
  EXPECT_EQ(problems(), "");
}

// What would be refused as a set is not chosen.
TEST_F(Sets, auto_makes_one_file_where_the_version_of_netcdf_allows_no_more) {
  if (windrow_has("netcdf") == 0)
    GTEST_SKIP() << "built without netCDF";
  const std::string machine = folder_.file("machine.json"), name = folder_.file("a.nc");
  if (rank_of() == 0)
    std::ofstream(machine) << R"({"windrow machine": 1, "name": "a cluster", )"
                           << R"("storage": {"kind": "lustre", "targets": 16, "stripe_count": 1}})";
  MPI_Barrier(MPI_COMM_WORLD);
  const int64_t hosts = (size_of() + ranks_per_host() - 1) / ranks_per_host();
  for (const std::string version : {"1", "2", "5"}) {
    windrow_file* file = nullptr;
    const KeyValues options{{"files", "auto"},
                            {"file_system", "lustre"},
                            {"machine", machine},
                            {"expected_bytes", "1 GiB"},
                            {"netcdf_version", version}};
    ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, name.c_str(), Options(options), &file)) << version;
    write(file, define(file, "v"), 0);
    EXPECT_EQ(windrow_subfile_count(file), 0) << version << ": nothing in it is large enough to be split";
    const std::string why = "files one: netcdf_version=" + version + " allows no more";
    EXPECT_EQ(reasons_of(file).find(why) != std::string::npos, hosts > 1 && version != "5") << reasons_of(file);
    EXPECT_WINDROW_OK(windrow_close(file));
  }
}

nlohmann::json references_at(const std::string& name) {
  std::ifstream in(name);
  return in ? nlohmann::json::parse(in) : nlohmann::json();
}

TEST_F(Sets, references_follow_the_file) {
  const std::string text = path() + ".kerchunk.json";
  windrow_file* file = create({{"files", "subfiles(3)"}, {"references", "kerchunk"}});
  write(file, define(file, "g/v"), 0);
  EXPECT_WINDROW_OK(windrow_flush(file));
  EXPECT_FALSE(std::filesystem::exists(text)) << "not before the file has its name";
  EXPECT_WINDROW_OK(windrow_sync(file));
  EXPECT_EQ(references_at(text)["refs"].count("g/v/2.0"), 1U);
  write(file, define(file, "w"), 0);
  EXPECT_WINDROW_OK(windrow_close(file));
  EXPECT_EQ(references_at(text)["refs"].count("w/2.0"), 1U);
  file = open(WINDROW_UPDATE, {{"references", "kerchunk"}});
  EXPECT_WINDROW_OK(windrow_put_attribute_text(file, "w", "units", "K"));
  const char* left_out = nullptr;
  EXPECT_EQ(windrow_write_references(file, nullptr, nullptr, &left_out), WINDROW_BAD_STATE);
  EXPECT_WINDROW_OK(windrow_close(file));
  EXPECT_NE(references_at(text)["refs"]["w/.zattrs"].get<std::string>().find("units"), std::string::npos);
  file = open(WINDROW_READ);
  EXPECT_WINDROW_OK(windrow_write_references(file, nullptr, "s3://bucket/", &left_out));
  EXPECT_STREQ(left_out, "");
  EXPECT_TRUE(references_at(text)["refs"]["w/0.0"][0].get<std::string>().starts_with("s3://bucket/a.h5.subfiles-"));
  EXPECT_EQ(windrow_write_references(file, folder_.file("nowhere/a.json").c_str(), nullptr, nullptr),
            WINDROW_NOT_FOUND);
  EXPECT_EQ(windrow_write_references(nullptr, nullptr, nullptr, nullptr), WINDROW_BAD_ARGUMENT);
  EXPECT_WINDROW_OK(windrow_close(file));
  file = create({{"references", "kerchunk"}});
  define(file, "g/v");
  EXPECT_WINDROW_OK(windrow_discard(file));
  MPI_Barrier(MPI_COMM_WORLD);
  for (const std::string& name : folder_.names())
    EXPECT_FALSE(name.starts_with('.')) << name;
  EXPECT_EQ(references_at(text)["refs"].count("w/2.0"), 1U) << "those of the file that is still there";
}

}  // namespace
