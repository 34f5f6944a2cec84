// SPDX-License-Identifier: BSD-3-Clause
// Sets of netCDF classic files: fixed and growing variables that are split, read by any ranks, changed, damaged, and
// seen by PnetCDF.
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "netcdf.hpp"

namespace {

using namespace windrow_test;
using testing::HasSubstr;
using windrow::Decomposition;
using windrow::File;
using windrow::Mode;

constexpr int64_t k_y = 17, k_x = 30, k_records = 6;
using Names = std::vector<std::string>;

class NetcdfSubfiles : public testing::Test {
 protected:
  std::string path(const std::string& name = "file.nc") const { return folder_.file(name); }

  // Names as a climate code has them; `field` and `other` grow.
  void make(const KeyValues& ways, const std::string& name = "file.nc") const {
    windrow::Options options;
    for (const auto& [key, value] : ways)
      options.set(key, value);
    File file = File::create(MPI_COMM_WORLD, path(name), options);
    define(file);
    for (int64_t r = 0; r < k_records; ++r)
      write(file, r);
    file.close();
  }
  static void define(File& file) {
    const windrow::Options grows{{"extendible", "true"}}, filled{{"extendible", "true"}, {"fill_value", "-9"}};
    file.define_variable("fixed", WINDROW_FLOAT64, {k_y, k_x});
    file.define_variable("time", WINDROW_FLOAT64, {0}, grows);
    file.define_variable("field", WINDROW_FLOAT32, {0, k_y, k_x}, grows);
    file.define_variable("other", WINDROW_INT16, {0, k_y, k_x}, filled);
    file.name_dimensions(file.find_variable("fixed"), {"lat", "lon"});
    file.name_dimensions(file.find_variable("field"), {"time", "lat", "lon"});
    file.name_dimensions(file.find_variable("other"), {"time", "lat", "lon"});
    file.put_attribute("field", "units", "K");
  }
  // Record r; of `other` the even ones only.
  void write(File& file, int64_t r) const {
    const Decomposition rows = rows_of(k_y, k_x, part_), one = Decomposition::same(MPI_COMM_WORLD, {});
    const auto fixed = values<double>(1, 0, part_, k_x);
    const auto field = values<float>(2, r, part_, k_x);
    const auto other = values<int16_t>(3, r, part_, k_x);
    const std::vector<double> time(1, static_cast<double>(r));
    if (r == 0)
      file.put(file.find_variable("fixed"), rows, fixed);
    file.put_record(file.find_variable("time"), r, one, time);
    file.put_record(file.find_variable("field"), r, rows, field);
    if (r % 2 == 0)
      file.put_record(file.find_variable("other"), r, rows, other);
    file.flush();
  }
  static void expect_all(File& file, int64_t records = k_records) {
    MPI_Comm comm = windrow_file_comm_of(file);
    const int64_t rank = rank_of(comm), size = size_of(comm), begin = k_y * rank / size, end = k_y * (rank + 1) / size;
    const Part part{begin, end - begin};
    const auto rows = Decomposition::block(comm, {k_y, k_x}, {begin, 0}, {end - begin, k_x});
    const auto all = Decomposition::block(comm, {records, k_y, k_x}, {0, begin, 0}, {records, end - begin, k_x});
    const auto count = static_cast<size_t>(k_x * (end - begin));
    std::vector<double> fixed(count), time(static_cast<size_t>(records));
    std::vector<float> field(count * static_cast<size_t>(records)), last(count);
    std::vector<int16_t> other(count * static_cast<size_t>(records));
    file.get(file.find_variable("fixed"), rows, fixed);
    file.get(file.find_variable("field"), all, field);
    file.get(file.find_variable("other"), all, other);
    file.get_record(file.find_variable("field"), records - 1, rows, last);
    file.flush();
    EXPECT_EQ(fixed, values<double>(1, 0, part, k_x));
    EXPECT_EQ(last, values<float>(2, records - 1, part, k_x));
    for (int64_t r = 0; r < records; ++r) {
      const auto from = static_cast<std::ptrdiff_t>(count) * r;
      EXPECT_EQ(std::vector(field.begin() + from, field.begin() + from + static_cast<std::ptrdiff_t>(count)),
                values<float>(2, r, part, k_x))
          << r;
      const auto wanted = r % 2 == 0 ? values<int16_t>(3, r, part, k_x) : std::vector<int16_t>(count, -9);
      EXPECT_EQ(std::vector(other.begin() + from, other.begin() + from + static_cast<std::ptrdiff_t>(count)), wanted)
          << r;
    }
  }
  static MPI_Comm windrow_file_comm_of(const File&) { return used_comm; }
  static inline MPI_Comm used_comm = MPI_COMM_WORLD;

  static std::string problems(File& file) {
    const char* text = "";
    EXPECT_WINDROW_OK(windrow_check_subfiles(file.get(), &text));
    return text;
  }
  void expect_made(int64_t records = k_records) const {
    {
      File file = File::open(MPI_COMM_WORLD, path(), Mode::read);
      expect_all(file, records);
      EXPECT_EQ(problems(file), "");
      file.close();
    }
    MPI_Comm few = MPI_COMM_NULL;  // the first ranks alone, and each by itself
    MPI_Comm_split(MPI_COMM_WORLD, rank_of() < (size_of() + 1) / 2 ? 0 : 1 + rank_of(), rank_of(), &few);
    used_comm = few;
    {
      File file = File::open(few, path(), Mode::read);
      expect_all(file, records);
      file.close();
    }
    used_comm = MPI_COMM_WORLD;
    MPI_Comm_free(&few);
    expect_valid(path());
    for (const std::string& subfile : subfiles())
      expect_valid(subfile);
  }
  std::vector<std::string> subfiles() const {
    File file = File::open(MPI_COMM_WORLD, path(), Mode::read);
    std::vector<std::string> names;
    for (int i = 0; i < windrow_subfile_count(file.get()); ++i)
      names.push_back(folder_.file(windrow_subfile_name(file.get(), i)));
    file.close();
    return names;
  }

  SharedFolder folder_;
  Part part_ = part_of(k_y);
};

// The text at creation and the text that is made of it later. Names of dimensions and missing values belong to the
// file, independent of their origin.
TEST_F(NetcdfSubfiles, references_are_the_same_now_and_later) {
  for (const char* files : {"one", "subfiles(2)"}) {
    {
      File file = File::create(MPI_COMM_WORLD, path(), windrow::Options{{"files", files}, {"references", "kerchunk"}});
      const int number = file.define_variable("short", WINDROW_INT16, {4, 6}, windrow::Options{{"fill_value", "-9"}});
      file.define_variable("float", WINDROW_FLOAT32, {4, 5}, windrow::Options{{"fill_value", "1e20"}});
      file.define_variable("grows", WINDROW_FLOAT64, {0, 6}, windrow::Options{{"extendible", "true"}});
      const Part part{4 * rank_of() / size_of(), 4 * (rank_of() + 1) / size_of() - 4 * rank_of() / size_of()};
      const auto data = values<int16_t>(3, 0, part, 6);
      file.write(number, rows_of(4, 6, part), data);
      file.close();
    }
    File file = File::open(MPI_COMM_WORLD, path(), Mode::read);
    EXPECT_WINDROW_OK(windrow_write_references(file.get(), (path() + ".later.json").c_str(), nullptr, nullptr));
    file.close();
    const auto text_of = [](const std::string& name) {
      std::ifstream text(name);
      return nlohmann::json::parse(std::string(std::istreambuf_iterator<char>(text), {}));
    };
    const auto now = text_of(path() + ".kerchunk.json");
    EXPECT_EQ(now, text_of(path() + ".later.json")) << files;
    EXPECT_EQ(nlohmann::json::parse(now["refs"]["short/.zarray"].get<std::string>())["fill_value"], -9);
    EXPECT_EQ(nlohmann::json::parse(now["refs"]["short/.zattrs"].get<std::string>())["_ARRAY_DIMENSIONS"],
              (Names{"dim_4", "dim_6"}));
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST_F(NetcdfSubfiles, are_read_by_any_ranks_as_one_array) {
  const std::vector<KeyValues> ways{{{"files", "subfiles(2)"}},
                                    {{"files", "subfiles(5)"}},
                                    {{"files", "per-rank"}},
                                    {{"files", "subfiles(3)"}, {"strategy", "two-phase"}},
                                    {{"files", "subfiles(3)"}, {"strategy", "list"}},
                                    {{"files", "subfiles(4)"}, {"strategy", "subfiling"}, {"buffer", "4096"}},
                                    {{"files", "subfiles(3)"}, {"domains", "even"}, {"access", "sieve"}},
                                    {{"files", "subfiles(3)"}, {"domains", "none"}, {"access", "sieve"}},
                                    {{"files", "subfiles(3)"}, {"access", "mapped"}},
                                    {{"files", "subfiles(3)"}, {"gather", "team(2)"}},
                                    {{"files", "subfiles(16)"}}};
  for (const KeyValues& way : ways) {
    make(way);
    expect_made();
    if (failed_anywhere())
      return;
  }
}

TEST_F(NetcdfSubfiles, are_split_along_any_dimensions_but_the_one_that_grows) {
  const windrow::Options set{{"files", "subfiles(6)"}};
  File file = File::create(MPI_COMM_WORLD, path(), set);
  const auto define = [&](const char* name, const windrow::Options& options) {
    return file.define_variable(name, WINDROW_FLOAT32, {0, k_y, k_x}, options);
  };
  const int x = define("x", {{"extendible", "true"}, {"split", "2"}}),
            both = define("both", {{"extendible", "true"}, {"split", "1,2"}}),
            given = define("given", {{"extendible", "true"}, {"split_parts", "1x10+7x1"}}),
            whole = define("whole", {{"extendible", "true"}, {"split", "none"}});
  EXPECT_THROW(define("records", {{"extendible", "true"}, {"split", "0"}}), windrow::Error);
  EXPECT_THROW(define("chunked", {{"chunks", "1x4x4"}}), windrow::Error);
  for (const int each : {x, both, given, whole})
    file.name_dimensions(each, {"time", "lat", "lon"});
  const Decomposition rows = rows_of(k_y, k_x, part_);
  for (int64_t r = 0; r < k_records; ++r) {
    std::vector<std::vector<float>> data;
    for (int i = 0; i < 4; ++i)
      data.push_back(values<float>(i, r, part_, k_x));
    for (const int each : {x, both, given, whole})
      file.put_record(each, r, rows, data[static_cast<size_t>(each)]);
    file.flush();
  }
  file.close();
  file = File::open(MPI_COMM_WORLD, path(), Mode::read);
  const Decomposition all = rows_of_all(k_records, k_y, k_x, part_);
  for (const char* name : {"x", "both", "given", "whole"}) {
    std::vector<float> read(static_cast<size_t>(k_records * part_.rows * k_x)), wanted;
    file.read(file.find_variable(name), all, read);
    for (int64_t r = 0; r < k_records; ++r)
      for (const float each : values<float>(file.find_variable(name), r, part_, k_x))
        wanted.push_back(each);
    EXPECT_EQ(read, wanted) << name;
  }
  EXPECT_EQ(problems(file), "");
  file.close();
  for (const std::string& subfile : subfiles())
    expect_valid(subfile);
}

// The part, its dimensions by their names, and where it belongs.
TEST_F(NetcdfSubfiles, are_whole_files_to_pnetcdf) {
  make({{"files", "subfiles(3)"}});
  const auto names = subfiles();
  ASSERT_EQ(names.size(), 3u);
  on_root([&] {
    int64_t begin = 0;
    for (const std::string& name : names) {
      const int id = open_nc(name);
      int variable = -1, dimension = -1;
      int64_t range[6] = {};
      MPI_Offset length = 0;
      EXPECT_NC(ncmpi_inq_varid(id, "field", &variable));
      EXPECT_NC(ncmpi_get_att_longlong(id, variable, "windrow_split_range", reinterpret_cast<long long*>(range)));
      EXPECT_EQ(range[1], begin);
      EXPECT_NC(ncmpi_inq_dimid(id, "lat", &dimension));
      EXPECT_NC(ncmpi_inq_dimlen(id, dimension, &length));
      EXPECT_EQ(length, range[4] - range[1]);
      const Part rows{range[1], range[4] - range[1]};
      for (int64_t r = 0; r < k_records; ++r)
        EXPECT_EQ(get_nc<float>(id, "field", {r, 0, 0}, {1, rows.rows, k_x}), values<float>(2, r, rows, k_x))
            << name << " " << r;
      EXPECT_EQ(get_nc<double>(id, "fixed", {0, 0}, {rows.rows, k_x}), values<double>(1, 0, rows, k_x));
      EXPECT_NC(ncmpi_close(id));
      begin = range[4];
    }
    EXPECT_EQ(begin, k_y);
    const int id = open_nc(path());
    int variable = -1, dimensions = -1, unlimited = -1;
    MPI_Offset records = 0;
    EXPECT_NC(ncmpi_inq_varid(id, "field", &variable));
    EXPECT_NC(ncmpi_inq_varndims(id, variable, &dimensions));
    EXPECT_EQ(dimensions, 0) << "a scalar";
    EXPECT_NC(ncmpi_inq_unlimdim(id, &unlimited));
    EXPECT_NC(ncmpi_inq_dimlen(id, unlimited, &records));
    EXPECT_EQ(records, k_records);
    EXPECT_NC(ncmpi_close(id));
  });
}

TEST_F(NetcdfSubfiles, grow_and_take_new_definitions) {
  make({{"files", "subfiles(3)"}});
  File file = File::open(MPI_COMM_WORLD, path(), Mode::update);
  write(file, k_records);
  // Records get longer, and the header exceeds its room: every subfile is written again.
  const int late = file.define_variable("late", WINDROW_FLOAT64, {k_records + 1, k_y, k_x},
                                        {{"extendible", "true"}});  // as many as there are by now
  EXPECT_EQ(file.shape(late), (std::vector<int64_t>{k_records + 1, k_y, k_x}));
  file.put_attribute("field", "long", std::string(40000, 'x'));
  const Decomposition rows = rows_of(k_y, k_x, part_);
  const auto data = values<double>(9, 0, part_, k_x);
  file.put_record(late, 2, rows, data);
  file.flush();
  write(file, k_records + 1);
  file.delete_attribute("field", "units");
  file.close();
  expect_made(k_records + 2);
  file = File::open(MPI_COMM_WORLD, path(), Mode::read);
  std::vector<double> read(data.size());
  file.get_record(file.find_variable("late"), 2, rows, read);
  file.flush();
  EXPECT_EQ(read, data);
  EXPECT_EQ(file.find_variable("field"), 2);
  file.close();
}

// What has a place keeps it: a set whose base file had to move for another alignment could not be sealed.
TEST_F(NetcdfSubfiles, stay_where_they_are_whatever_alignment_is_asked_for_later) {
  for (const auto& [made_by, changed_by] :
       {std::pair{"4096", "1"}, std::pair{"1", "4096"}, std::pair{"8192", "4096"}}) {
    make({{"files", "subfiles(3)"}, {"alignment", made_by}});
    File file = File::open(MPI_COMM_WORLD, path(), Mode::update, {{"alignment", changed_by}});
    write(file, k_records);
    file.sync();
    write(file, k_records + 1);
    file.put_attribute("fixed", "more", 1);
    file.close();
    expect_made(k_records + 2);
    if (failed_anywhere())
      return;
  }
}

// If not everything can stay, all data is moved to the new alignment, and the map has its checksum.
TEST_F(NetcdfSubfiles, take_another_alignment_where_they_move) {
  for (const std::string changed_by : {"512", "8192", "65536"}) {
    make({{"files", "subfiles(3)"}});
    File file = File::open(MPI_COMM_WORLD, path(), Mode::update, {{"alignment", changed_by}});
    const int late = file.define_variable("late", WINDROW_FLOAT64, {k_y, k_x});
    const Decomposition rows = rows_of(k_y, k_x, part_);
    const auto data = values<double>(9, 0, part_, k_x);
    file.put(late, rows, data);
    file.flush();
    file.close();
    expect_made(k_records);
    file = File::open(MPI_COMM_WORLD, path(), Mode::read);
    EXPECT_EQ(problems(file), "");
    std::vector<double> read(data.size());
    file.read(file.find_variable("late"), rows, read);
    EXPECT_EQ(read, data);
    file.close();
    if (failed_anywhere())
      return;
  }
}

// A rank keeps no more than some subfiles open for their headers; what it closes is complete.
TEST_F(NetcdfSubfiles, can_be_many) {
  const windrow::Options set{{"files", "subfiles(80)"}, {"split", "1"}};
  constexpr int64_t k_long = 170;
  File file = File::create(MPI_COMM_WORLD, path(), set);
  const auto column = [&](int64_t i) { return std::vector<double>{static_cast<double>(i + 1)}; };
  const auto cell = [&](int64_t i) {
    return Decomposition::block(MPI_COMM_WORLD, {k_long}, {i}, {rank_of() == 0 ? 1 : 0});
  };
  std::vector<int> variables;
  for (int each = 0; each < 3; ++each) {
    variables.push_back(
        file.define_variable("v" + std::to_string(each), WINDROW_FLOAT64, {0, k_long}, {{"extendible", "true"}}));
    for (const int variable : variables)
      for (const int64_t i : {int64_t{0}, k_long - 1}) {
        const auto data = column(i + variable);
        const auto at = cell(i);
        file.put_record(variable, each, at, data);
        file.flush();
      }
    if (each == 1)
      file.sync();
  }
  file.close();
  file = File::open(MPI_COMM_WORLD, path(), Mode::read);
  EXPECT_EQ(problems(file), "");
  const Decomposition all = Decomposition::same(MPI_COMM_WORLD, {3, k_long});
  for (int variable = 0; variable < 3; ++variable) {
    std::vector<double> read(3 * k_long), wanted(3 * k_long);
    file.read(variable, all, read);
    for (int64_t r = variable; r < 3; ++r)
      for (const int64_t i : {int64_t{0}, k_long - 1})
        wanted[static_cast<size_t>(r * k_long + i)] = column(i + variable).front();
    EXPECT_EQ(read, wanted) << variable;
  }
  file.close();
}

// More offsets than ranks send in one message.
TEST_F(NetcdfSubfiles, of_many_variables_have_all_their_places) {
  constexpr int64_t k_variables = 70;
  const Decomposition rows = rows_of(k_y, k_x, part_);
  windrow::Options options;
  options.set("files", "subfiles(8)");
  File file = File::create(MPI_COMM_WORLD, path(), options);
  for (int64_t i = 0; i < k_variables; ++i)
    file.define_variable("v" + std::to_string(i), WINDROW_FLOAT64, {k_y, k_x});
  for (const bool again : {false, true}) {
    std::vector<std::vector<double>> written;
    for (int64_t i = 0; i < k_variables; ++i)
      written.push_back(values<double>(static_cast<int>(i), again ? 1 : 0, part_, k_x));
    for (int64_t i = 0; i < k_variables; ++i)
      file.put(static_cast<int>(i), rows, written[static_cast<size_t>(i)]);
    file.flush();
    if (!again)
      file.sync();
  }
  file.close();
  File read = File::open(MPI_COMM_WORLD, path(), Mode::read);
  for (const int64_t i : {int64_t{0}, int64_t{61}, int64_t{62}, int64_t{63}, k_variables - 1}) {
    std::vector<double> found(static_cast<size_t>(k_x * part_.rows));
    read.read(read.find_variable("v" + std::to_string(i)), rows, found);
    EXPECT_EQ(found, values<double>(static_cast<int>(i), 1, part_, k_x)) << i;
  }
  EXPECT_EQ(problems(read), "");
  read.close();
}

TEST_F(NetcdfSubfiles, at_fault_are_named_and_all_else_is_read) {
  make({{"files", "subfiles(3)"}}, "b.nc");
  make({{"files", "subfiles(3)"}});
  const auto own = subfiles();
  std::string other;
  for (const std::string& name : folder_.names())
    if (name.starts_with("b.nc.subfiles"))
      other = folder_.file(name);
  const std::string one = own.at(1), kept = folder_.file("kept");
  const auto replace = [&](const std::string& by) {
    std::filesystem::copy_file(by, one, std::filesystem::copy_options::overwrite_existing);
  };
  struct Damage {
    const char* words;
    int code;
    std::function<void()> make;
  };
  const std::vector<Damage> damages{
      {"is missing", WINDROW_NOT_FOUND, [&] { std::filesystem::remove(one); }},
      {"is damaged", WINDROW_BAD_FILE,
       [&] { std::filesystem::resize_file(one, std::filesystem::file_size(one) - 100); }},
      {"is damaged", WINDROW_BAD_FILE, [&] { std::filesystem::resize_file(one, 0); }},
      {"is a link, a folder", WINDROW_BAD_FILE,
       [&] {
         std::filesystem::remove(one);
         std::filesystem::create_directory(one);
       }},
      {"another set", WINDROW_BAD_FILE, [&] { replace(other + "/1.nc"); }},
      {"is number 2", WINDROW_BAD_FILE, [&] { replace(own.at(2)); }},
  };
  on_root([&] { std::filesystem::copy_file(one, kept); });
  for (const Damage& damage : damages) {
    SCOPED_TRACE(damage.words);
    on_root([&] { damage.make(); });
    File file = File::open(MPI_COMM_WORLD, path(), Mode::read);
    const auto first = Decomposition::same(MPI_COMM_WORLD, {k_y, k_x}, {0, 0}, {6, k_x});
    std::vector<float> read(6 * k_x);
    file.get_record(file.find_variable("field"), 3, first, read);
    file.flush();
    EXPECT_EQ(read, values<float>(2, 3, {0, 6}, k_x));
    const auto all = Decomposition::same(MPI_COMM_WORLD, {k_y, k_x});
    std::vector<float> whole(k_y * k_x);
    int code = WINDROW_OK;
    std::string message;
    try {
      file.get_record(file.find_variable("field"), 3, all, whole);
      file.flush();
    } catch (const windrow::Error& error) {
      code = error.code();
      message = error.what();
    }
    EXPECT_EQ(code, damage.code);
    EXPECT_THAT(message, HasSubstr("/1.nc"));
    EXPECT_THAT(message, HasSubstr(damage.words));
    EXPECT_THAT(problems(file), HasSubstr("/1.nc"));
    file.close();
    EXPECT_THROW(File::open(MPI_COMM_WORLD, path(), Mode::update), windrow::Error)
        << "what is to be changed must be whole";
    on_root([&] {
      std::filesystem::remove_all(one);
      std::filesystem::copy_file(kept, one);
    });
    if (failed_anywhere())
      return;
  }
  expect_made();
}

// One bit of the bytes that a variable's value has in a subfile, found by its place.
void flip(const std::string& subfile, const char* variable) {
  on_root([&] {
    const int id = open_nc(subfile);
    int number = -1;
    MPI_Offset offset = 0;
    EXPECT_NC(ncmpi_inq_varid(id, variable, &number));
    EXPECT_NC(ncmpi_inq_varoffset(id, number, &offset));
    EXPECT_NC(ncmpi_close(id));
    std::fstream file(subfile, std::ios::binary | std::ios::in | std::ios::out);
    file.seekg(offset + 3);
    const int byte = file.get();
    ASSERT_GE(byte, 0);
    file.seekp(offset + 3);
    file.put(static_cast<char>(byte ^ 1));
  });
}

TEST_F(NetcdfSubfiles, have_checksums_of_their_elements) {
  const auto told = [&] {
    File file = File::open(MPI_COMM_WORLD, path(), Mode::read, {{"buffer", "4096"}});
    const std::string text = problems(file);
    file.close();
    return text;
  };
  const auto update = [&](const windrow::Options& options, int64_t record) {
    File file = File::open(MPI_COMM_WORLD, path(), Mode::update, options);
    write(file, record);
    file.close();
  };
  const std::string differs = "do not match their checksum";
  make({{"files", "subfiles(3)"}, {"checksum", "on"}});
  expect_made();
  const auto names = subfiles();
  for (const char* variable : {"fixed", "field", "other"}) {
    flip(names.at(1), variable);
    const std::string one = told();
    EXPECT_THAT(one, HasSubstr("/1.nc\": the elements of \"/" + std::string(variable) + "\" " + differs));
    EXPECT_EQ(std::count(one.begin(), one.end(), '\n'), 1) << one;
    flip(names.at(1), variable);
  }
  EXPECT_EQ(told(), "");
  // No rank puts the new record of `other`: it is filled, and its checksum changes.
  update({{"checksum", "on"}}, k_records + 1);
  EXPECT_EQ(told(), "");
  flip(names.at(2), "other");
  EXPECT_THAT(told(), HasSubstr("/2.nc\": the elements of \"/other\" " + differs));
  flip(names.at(2), "other");
  update({}, k_records + 3);
  EXPECT_EQ(told(), "");
  flip(names.at(2), "other");
  flip(names.at(0), "field");
  EXPECT_EQ(told(), "") << "they have none any more";
  flip(names.at(0), "fixed");
  EXPECT_THAT(told(), HasSubstr("/0.nc\": the elements of \"/fixed\" " + differs))
      << "that of what was not changed is as it was";
}

// The checksums of a set that was made without them may need more room than its headers have: its files are written
// again at close.
TEST_F(NetcdfSubfiles, whose_headers_outgrow_their_room_at_last_are_whole) {
  constexpr int k_variables = 400;
  constexpr int64_t k_length = 6;
  const auto move = [&](File& file, double add) {
    const auto mine =
        Decomposition::block(MPI_COMM_WORLD, {k_length}, {0}, {rank_of() == size_of() - 1 ? k_length : 0});
    std::vector<std::vector<double>> data;
    for (int each = 0; each < k_variables; ++each)
      data.push_back({each + add, each + add, each - add, each - add, each + 0.5, each + 0.5});
    for (int each = 0; each < k_variables; ++each)
      file.put(each, mine, data[static_cast<size_t>(each)]);
    file.flush();
  };
  File file = File::create(MPI_COMM_WORLD, path(), {{"files", "subfiles(3)"}, {"split", "0"}});
  for (int each = 0; each < k_variables; ++each)
    file.define_variable("v" + std::to_string(each), WINDROW_FLOAT64, {k_length});
  move(file, 1);
  file.close();
  const auto begin_of = [&](const std::string& subfile) {
    MPI_Offset offset = 0;
    on_root([&] {
      const int id = open_nc(subfile);
      EXPECT_NC(ncmpi_inq_varoffset(id, 0, &offset));
      EXPECT_NC(ncmpi_close(id));
    });
    return offset;
  };
  const auto names = subfiles();
  const MPI_Offset before = begin_of(names.front());
  file = File::open(MPI_COMM_WORLD, path(), Mode::update, {{"checksum", "on"}});
  move(file, 2);
  file.close();
  const MPI_Offset after = begin_of(names.front());
  on_root([&] { EXPECT_GT(after, before) << "or this test says nothing"; });
  file = File::open(MPI_COMM_WORLD, path(), Mode::read);
  EXPECT_EQ(problems(file), "");
  const Decomposition all = Decomposition::same(MPI_COMM_WORLD, {k_length});
  for (const double each : {0.0, k_variables - 1.0}) {
    std::vector<double> read(k_length);
    file.read(static_cast<int>(each), all, read);
    EXPECT_EQ(read, (std::vector<double>{each + 2, each + 2, each - 2, each - 2, each + 0.5, each + 0.5}));
  }
  file.close();
  for (const std::string& name : names)
    expect_valid(name);
}

// A killed job may have left more records in a subfile than the base file has, in its header or after the last one of
// the header.
TEST_F(NetcdfSubfiles, have_nothing_of_records_that_were_never_published) {
  for (const bool defines : {false, true}) {
    make({{"files", "subfiles(3)"}});
    const auto names = subfiles();
    on_root([&] {
      File one = File::open(MPI_COMM_SELF, names.at(1), Mode::update);
      const Part rows{k_y / 3 + 1, 6};
      const auto all = Decomposition::block(MPI_COMM_SELF, {6, k_x}, {0, 0}, {6, k_x});
      const auto data = values<float>(7, 7, rows, k_x);
      one.put_record(one.find_variable("field"), k_records + 1, all, data);
      one.close();
      std::ofstream(names.at(2), std::ios::binary | std::ios::app) << std::string(4 * k_y * k_x * 6, 'x');
    });
    const int64_t last = k_records + 2;
    File file = File::open(MPI_COMM_WORLD, path(), Mode::update);
    expect_all(file);
    if (defines)
      file.define_variable("late", WINDROW_FLOAT64, {k_records, k_y, k_x}, {{"extendible", "true"}});
    write(file, last);
    file.close();
    file = File::open(MPI_COMM_WORLD, path(), Mode::read);
    EXPECT_EQ(problems(file), "");
    const auto rows = rows_of(k_y, k_x, part_);
    for (int64_t r = 0; r <= last; ++r) {
      std::vector<float> field(static_cast<size_t>(part_.rows * k_x), -1);
      std::vector<int16_t> other(field.size(), -1);
      std::vector<double> late(field.size(), -1);
      file.get_record(file.find_variable("field"), r, rows, field);
      file.get_record(file.find_variable("other"), r, rows, other);
      if (defines)
        file.get_record(file.find_variable("late"), r, rows, late);
      file.flush();
      const bool written = r < k_records || r == last;
      EXPECT_EQ(field, written ? values<float>(2, r, part_, k_x) : std::vector<float>(field.size())) << r;
      EXPECT_EQ(other,
                written && r % 2 == 0 ? values<int16_t>(3, r, part_, k_x) : std::vector<int16_t>(other.size(), -9))
          << r;
      if (defines) {
        EXPECT_EQ(late, std::vector<double>(late.size())) << r;
      }
    }
    file.close();
    for (const std::string& name : names)
      expect_valid(name);
    if (failed_anywhere())
      return;
  }
}

// What the base file refuses is in no subfile, also where a rank looks after so many that it has closed some meanwhile.
TEST_F(NetcdfSubfiles, have_nothing_of_what_was_refused) {
  const windrow::Options grows{{"extendible", "true"}};
  const auto expect_refused = [](auto&& call) {
    try {
      call();
      ADD_FAILURE() << "it was taken";
    } catch (const windrow::Error& error) {
      EXPECT_EQ(error.code(), WINDROW_UNSUPPORTED) << error.what();
    }
  };
  for (const char* files : {"subfiles(3)", "subfiles(40)"}) {
    File file = File::create(MPI_COMM_WORLD, path(), {{"files", files}});
    file.define_variable("time", WINDROW_FLOAT64, {3}, grows);  // in the base file
    file.define_variable("other", WINDROW_FLOAT32, {0, k_y, k_x}, grows);
    expect_refused([&] { file.define_variable("field", WINDROW_FLOAT32, {5, k_y, k_x}, grows); });
    expect_refused([&] { file.define_variable("a group/field", WINDROW_FLOAT32, {3, k_y, k_x}, grows); });
    const int fixed = file.define_variable("field", WINDROW_INT32, {5, k_y, k_x});
    expect_refused([&] { file.define_variable("v", WINDROW_FLOAT32, {5, k_y, k_x}, grows); });
    const int v = file.define_variable("v", WINDROW_FLOAT32, {3, k_y, k_x}, grows);
    if (files == std::string("subfiles(3)")) {
      file.name_dimensions(0, {"the time"});
      expect_refused([&] { file.name_dimensions(v, {"when", "lat", "lon"}); });
      file.name_dimensions(v, {"the time", "lat", "lon"});
    }
    const Decomposition rows = rows_of(k_y, k_x, part_), all = rows_of_all(5, k_y, k_x, part_);
    const auto data = values<float>(1, 2, part_, k_x);
    std::vector<int32_t> whole;
    for (int64_t r = 0; r < 5; ++r)
      for (const int32_t each : values<int32_t>(2, r, part_, k_x))
        whole.push_back(each);
    file.put_record(v, 2, rows, data);
    file.put(fixed, all, whole);
    file.close();
    file = File::open(MPI_COMM_WORLD, path(), Mode::read);
    EXPECT_EQ(problems(file), "");
    EXPECT_EQ(file.shape(v), (std::vector<int64_t>{3, k_y, k_x}));
    std::vector<float> read(data.size());
    std::vector<int32_t> read_whole(whole.size());
    file.get_record(v, 2, rows, read);
    file.get(fixed, all, read_whole);
    file.flush();
    EXPECT_EQ(read, data);
    EXPECT_EQ(read_whole, whole);
    file.close();
    const std::string first = subfiles().front();
    on_root([&] {
      const int id = open_nc(first);
      int variables = 0, unlimited = -1;
      MPI_Offset records = 0;
      EXPECT_NC(ncmpi_inq_nvars(id, &variables));
      EXPECT_EQ(variables, 3);
      EXPECT_NC(ncmpi_inq_unlimdim(id, &unlimited));
      EXPECT_NC(ncmpi_inq_dimlen(id, unlimited, &records));
      EXPECT_EQ(records, 3);
      EXPECT_NC(ncmpi_close(id));
    });
    expect_valid(first);
    if (failed_anywhere())
      return;
  }
}

TEST_F(NetcdfSubfiles, need_numbers_of_64_bits) {
  for (const char* version : {"1", "2"}) {
    const windrow::Options options{{"files", "subfiles(2)"}, {"netcdf_version", version}};
    EXPECT_THROW(File::create(MPI_COMM_WORLD, path(), options), windrow::Error);
  }
  on_root([&] { EXPECT_TRUE(folder_.names().empty()); });
}

}  // namespace
