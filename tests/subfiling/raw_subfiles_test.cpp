// SPDX-License-Identifier: BSD-3-Clause
// Sets of raw files: complete, with a description each, read by any number of ranks, and by a reader of JSON.
#include <sys/stat.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <numeric>

#include "../capi/checked.hpp"

namespace {

using namespace windrow_test;

constexpr int64_t k_rows = 13, k_columns = 6;
constexpr int64_t k_shape[2] = {k_rows, k_columns};

// A block of the array, and what it holds: its elements' numbers.
struct Block {
  int64_t start[2], count[2];
  std::vector<int32_t> data;
  Block(size_t axis, MPI_Comm comm = MPI_COMM_WORLD) : start{0, 0}, count{k_rows, k_columns} {
    const int64_t rank = rank_of(comm), size = size_of(comm);
    start[axis] = k_shape[axis] * rank / size;
    count[axis] = k_shape[axis] * (rank + 1) / size - start[axis];
    for (int64_t i = start[0]; i < start[0] + count[0]; ++i)
      for (int64_t j = start[1]; j < start[1] + count[1]; ++j)
        data.push_back(static_cast<int32_t>(i * k_columns + j));
  }
};

class RawSubfiles : public testing::Test {
 protected:
  std::string path() const { return folder_.file("a run.raw"); }
  void make(KeyValues options) const {
    windrow_file* file = nullptr;
    EXPECT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), Options(options), &file));
    int variable = -1, scalar = -1, texts = -1;
    EXPECT_WINDROW_OK(windrow_define_variable_with(file, "g/v v", WINDROW_INT32, 2, k_shape,
                                                   Options{{"byte_order", "big"}, {"fill_value", "-7"}}, &variable));
    EXPECT_WINDROW_OK(windrow_define_variable(file, "scalar", WINDROW_FLOAT64, 0, nullptr, &scalar));
    const int64_t two[1] = {2};
    EXPECT_WINDROW_OK(windrow_define_variable(file, "texts", WINDROW_TEXT, 1, two, &texts));
    EXPECT_WINDROW_OK(windrow_put_attribute_text(file, "g/v v", "units", "K"));
    const Block rows(0);
    EXPECT_WINDROW_OK(windrow_write_block(file, variable, rows.start, rows.count, rows.data.data()));
    const char* words[2] = {"one", "two"};
    EXPECT_WINDROW_OK(windrow_put_texts(file, texts, words));
    EXPECT_WINDROW_OK(windrow_close(file));
  }
  windrow_file* open(int mode = WINDROW_READ, MPI_Comm comm = MPI_COMM_WORLD) const {
    windrow_file* file = nullptr;
    EXPECT_WINDROW_OK(windrow_open(comm, path().c_str(), mode, nullptr, &file));
    return file;
  }
  static int find(windrow_file* file) {
    int variable = -1;
    EXPECT_WINDROW_OK(windrow_find_variable(file, "g/v v", &variable));
    return variable;
  }
  static int read(windrow_file* file, const Block& block, std::vector<int32_t>& data) {
    data.assign(block.data.size() + 1, -1);
    const int code = windrow_read_block(file, find(file), block.start, block.count, data.data());
    data.pop_back();
    return code;
  }
  static void expect_read(windrow_file* file, const Block& block) {
    std::vector<int32_t> data;
    EXPECT_WINDROW_OK(read(file, block, data));
    EXPECT_TRUE(data == block.data);
  }
  static std::string problems(windrow_file* file) {
    const char* text = "";
    EXPECT_WINDROW_OK(windrow_check_subfiles(file, &text));
    return text;
  }
  std::string set() const {
    std::string found;
    for (const std::string& name : folder_.names())
      if (is_set_in_use(folder_.file(name)))
        found = folder_.file(name);
    return found;
  }
  template <class Work>
  static void on_rank_0(Work&& work) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_of() == 0)
      work();
    MPI_Barrier(MPI_COMM_WORLD);
  }

  SharedFolder folder_;
};

TEST_F(RawSubfiles, are_read_by_any_ranks_as_one_array) {
  for (const KeyValues& way :
       {KeyValues{{"files", "subfiles(3)"}}, KeyValues{{"files", "subfiles(6)"}, {"split", "0,1"}},
        KeyValues{{"files", "per-rank"}, {"split", "0"}},
        KeyValues{{"files", "subfiles(3)"}, {"split_parts", "7+1+5x1"}, {"checksum", "on"}},
        KeyValues{{"files", "subfiles(13)"}, {"buffer", "4096"}}}) {
    SCOPED_TRACE(way.front().second);
    make(way);
    for (const size_t axis : {size_t{0}, size_t{1}}) {
      windrow_file* file = open();
      expect_read(file, Block(axis));
      EXPECT_EQ(problems(file), "");
      EXPECT_EQ(windrow_attribute_count(file, "g/v v"), 1);
      EXPECT_WINDROW_OK(windrow_close(file));
    }
    // Changed in place, with something new.
    windrow_file* file = open(WINDROW_UPDATE);
    int late = -1;
    EXPECT_WINDROW_OK(
        windrow_define_variable_with(file, "late", WINDROW_INT32, 2, k_shape, Options{{"fill_value", "5"}}, &late));
    const Block columns(1);
    EXPECT_WINDROW_OK(windrow_write_block(file, find(file), columns.start, columns.count, columns.data.data()));
    EXPECT_WINDROW_OK(windrow_close(file));
    MPI_Comm few = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank_of() < (size_of() + 1) / 2 ? 0 : 1 + rank_of(), rank_of(), &few);
    file = open(WINDROW_READ, few);
    expect_read(file, Block(0, few));
    EXPECT_EQ(problems(file), "");
    EXPECT_WINDROW_OK(windrow_find_variable(file, "late", &late));
    const Block block(1, few);
    std::vector<int32_t> filled(block.data.size() + 1);
    EXPECT_WINDROW_OK(windrow_read_block(file, late, block.start, block.count, filled.data()));
    filled.pop_back();
    EXPECT_TRUE(filled == std::vector<int32_t>(block.data.size(), 5));
    EXPECT_WINDROW_OK(windrow_close(file));
    MPI_Comm_free(&few);
    if (failed_anywhere())
      return;
  }
}

// Without Windrow: the description of the base file lists the boxes and files of the elements, and the description of
// each file has the offsets.
TEST_F(RawSubfiles, are_described_for_everybody) {
  make({{"files", "subfiles(4)"}, {"split", "0,1"}});
  on_rank_0([&] {
    const auto variable_of = [](const std::string& file) {
      const auto about = nlohmann::json::parse(bytes_of_file(file + ".json"));
      for (const auto& each : about["variables"])
        if (each["path"] == "/g/v v")
          return each;
      return nlohmann::json();
    };
    const auto whole = variable_of(path());
    EXPECT_EQ(whole["offset"], -1);
    EXPECT_EQ(whole["shape"], nlohmann::json(std::vector<int64_t>{k_rows, k_columns}));
    ASSERT_EQ(whole["parts"].size(), 4u);
    std::vector<int> seen(k_rows * k_columns);
    for (const auto& part : whole["parts"]) {
      const std::string file = folder_.file(part["file"].get<std::string>());
      const auto own = variable_of(file);
      EXPECT_EQ(own["shape"], part["count"]);
      EXPECT_EQ(own["byte_order"], "big");
      const std::string bytes = bytes_of_file(file);
      size_t at = own["offset"].get<size_t>();
      for (int64_t i = 0; i < part["count"][0]; ++i)
        for (int64_t j = 0; j < part["count"][1]; ++j, at += 4) {
          const int64_t number =
              (part["start"][0].get<int64_t>() + i) * k_columns + part["start"][1].get<int64_t>() + j;
          ++seen[static_cast<size_t>(number)];
          int64_t value = 0;
          for (size_t byte = 0; byte < 4; ++byte)
            value = value * 256 + static_cast<unsigned char>(bytes.at(at + byte));
          EXPECT_EQ(value, number);
        }
    }
    EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; }));
  });
}

TEST_F(RawSubfiles, at_fault_are_named_and_read_from_nowhere_else) {
  make({{"files", "subfiles(3)"}, {"checksum", "on"}});
  const std::string folder = set(), victim = folder + "/1.raw", kept = folder_.file("kept");
  on_rank_0([&] { std::filesystem::copy(folder, kept); });
  const auto expect_fault = [&](const std::string& words, auto&& damage) {
    SCOPED_TRACE(words);
    on_rank_0(damage);
    windrow_file* file = open();
    EXPECT_NE(problems(file).find("/1.raw\" " + words), std::string::npos) << problems(file);
    std::vector<int32_t> data;
    const int code = read(file, Block(1), data);
    EXPECT_NE(code, WINDROW_OK);
    expect_same_everywhere(code);
    EXPECT_WINDROW_OK(windrow_close(file));
    on_rank_0([&] {
      std::filesystem::remove(victim);
      std::filesystem::remove(victim + ".json");
      std::filesystem::copy_file(kept + "/1.raw", victim);
      std::filesystem::copy_file(kept + "/1.raw.json", victim + ".json");
    });
  };
  expect_fault("is missing", [&] { std::filesystem::remove(victim); });
  expect_fault("is damaged", [&] { std::filesystem::remove(victim + ".json"); });
  expect_fault("is damaged", [&] { std::filesystem::resize_file(victim, 3); });
  expect_fault("is damaged", [&] { std::ofstream(victim + ".json") << "{}"; });
  expect_fault("is a link", [&] {
    std::filesystem::remove(victim + ".json");
    std::filesystem::create_symlink(kept + "/1.raw.json", victim + ".json");
  });
  expect_fault("is a link", [&] {
    std::filesystem::remove(victim + ".json");
    EXPECT_EQ(mkfifo((victim + ".json").c_str(), 0600), 0);  // opening it would hang
  });
  expect_fault("is number 2", [&] {
    for (const char* ending : {".raw", ".raw.json"})
      std::filesystem::copy_file(folder + "/2" + ending, folder + "/1" + ending,
                                 std::filesystem::copy_options::overwrite_existing);
  });
  // A byte of the elements; what the description leads to; a file that the set does not have.
  on_rank_0([&] {
    std::fstream stream(victim, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(6).put('\x55');
    std::string about = bytes_of_file(path() + ".json");
    const size_t at = about.find("/2.raw\"");
    about.replace(at, 2, "/0");
    std::ofstream(path() + ".json", std::ios::binary) << about;
    std::ofstream(folder + "/3.raw.json") << "{}";
  });
  windrow_file* file = open();
  const std::string told = problems(file);
  EXPECT_NE(told.find("/1.raw\": the elements of \"/g/v v\" do not match their checksum"), std::string::npos) << told;
  EXPECT_NE(told.find("the base file refers other programs to other places than the map"), std::string::npos) << told;
  EXPECT_NE(told.find("/3.raw.json\" is not a file of its set"), std::string::npos) << told;
  EXPECT_EQ(told.find("0.raw.json"), std::string::npos) << told;
  EXPECT_WINDROW_OK(windrow_close(file));
}

TEST_F(RawSubfiles, have_no_maps_made_to_hurt) {
  make({{"files", "subfiles(3)"}});
  const std::string about = bytes_of_file(path() + ".json"), data = bytes_of_file(path());
  MPI_Barrier(MPI_COMM_WORLD);
  const std::vector<std::pair<std::string, nlohmann::json>> damages{{"/parts", 7},
                                                                    {"/parts/0", 7},
                                                                    {"/parts/0/file", 7},
                                                                    {"/parts/0/start", nlohmann::json::array({0})},
                                                                    {"/parts/0/start", nlohmann::json::array({-1, 0})},
                                                                    {"/parts/0/count", nlohmann::json::array({"x", 1})},
                                                                    {"/offset", 0},
                                                                    {"/offset", -2},
                                                                    {"/shape", nlohmann::json::array({13, 7})},
                                                                    {"/type", "int16"}};
  for (const auto& [place, value] : damages) {
    SCOPED_TRACE(place + " " + value.dump());
    on_rank_0([&, &where = place, &what = value] {
      auto changed = nlohmann::ordered_json::parse(about);
      for (auto& each : changed["variables"])
        if (each["path"] == "/g/v v")
          each[nlohmann::ordered_json::json_pointer(where)] = what;
      std::ofstream(path() + ".json", std::ios::binary) << changed.dump(1);
    });
    windrow_file* file = nullptr;
    const int code = windrow_open(MPI_COMM_WORLD, path().c_str(), WINDROW_READ, nullptr, &file);
    EXPECT_EQ(code, WINDROW_BAD_FILE);
    expect_same_everywhere(code);
    EXPECT_NE(std::string(windrow_error_message()).find("a run.raw"), std::string::npos) << windrow_error_message();
    EXPECT_WINDROW_OK(windrow_discard(file));
  }
  on_rank_0([&] { std::ofstream(path() + ".json", std::ios::binary) << about; });
  windrow_file* file = open();
  expect_read(file, Block(1));
  EXPECT_WINDROW_OK(windrow_close(file));
}

TEST_F(RawSubfiles, have_no_chunks) {
  windrow_file* file = nullptr;
  ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), Options{{"files", "subfiles(2)"}}, &file));
  int variable = -1;
  const int code =
      windrow_define_variable_with(file, "v", WINDROW_INT32, 2, k_shape, Options{{"chunks", "2x2"}}, &variable);
  EXPECT_EQ(code, WINDROW_UNSUPPORTED);
  expect_same_everywhere(code);
  EXPECT_WINDROW_OK(windrow_discard(file));
  on_rank_0([&] { EXPECT_TRUE(folder_.names().empty()); });
}

}  // namespace
