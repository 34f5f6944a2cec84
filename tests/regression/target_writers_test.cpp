// SPDX-License-Identifier: BSD-3-Clause
// With domains=target each storage target has one client, also of variables that grow, that are split over subfiles,
// and of chunks.
#include <gmock/gmock.h>

#include "../capi/files.hpp"
#include "../capi/touched.hpp"

namespace {

using namespace windrow_test;
using nlohmann::json;
using testing::HasSubstr;

constexpr int64_t k_stripe = int64_t{64} << 10, k_targets = 4;
constexpr const char* k_layout = "mock:stripe=64KiB,count=4";
constexpr int64_t k_rows = 64, k_columns = 8192;  // a row is a stripe

using Clients = std::map<std::pair<int64_t, int64_t>, std::set<int64_t>>;  // ranks, by file and target

// Of the last flush. In the line of a set's files each has a place of its own, a multiple of 1 GiB.
void add_clients(windrow_file* file, Clients& clients) {
  const json report = report_of(file);
  std::vector<int64_t> mine;
  for (const json& run : report["stripes_of_this_rank"])
    for (int64_t i = 0; i < run[2]; ++i)
      mine.insert(mine.end(), {run[0].get<int64_t>() + i * run[1].get<int64_t>(), rank_of()});
  mine = gather(mine);
  for (size_t i = 0; i < mine.size(); i += 2)
    clients[{mine[i] >> 30, mine[i] / k_stripe % k_targets}].insert(mine[i + 1]);
}

void expect_one_each(const Clients& clients, size_t targets) {
  EXPECT_EQ(clients.size(), targets);
  std::set<int64_t> busy;
  for (const auto& [target, ranks] : clients) {
    EXPECT_EQ(ranks.size(), 1U) << "target " << target.second << " of file " << target.first;
    busy.insert(ranks.begin(), ranks.end());
  }
  EXPECT_EQ(busy.size(), std::min<size_t>(targets, static_cast<size_t>(size_of())))
      << "all ranks, as far as there are targets";
}

class TargetWriters : public Files {
 protected:
  void SetUp() override {
    Files::SetUp();
    if (GetParam() == ".nc" && windrow_has("netcdf") == 0)
      GTEST_SKIP() << "built without netCDF";
  }
  void TearDown() override {
    if (file_ != nullptr) {
      EXPECT_WINDROW_OK(windrow_close(file_));
    }
  }
  // As many writers as there are targets of files, or as many as there are ranks.
  void create(KeyValues options, size_t targets) {
    options.insert(options.end(), {{"layout", k_layout}, {"domains", "target"}, {"writers", std::to_string(targets)}});
    ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), Options(options), &file_));
  }
  int define(const char* name, int64_t rows, const KeyValues& options) {
    const int64_t shape[2] = {rows, k_columns};
    int variable = -1;
    EXPECT_WINDROW_OK(
        windrow_define_variable_with(file_, name, WINDROW_FLOAT64, 2, shape, Options(options), &variable));
    return variable;
  }
  // Columns, so that each rank has pieces of all stripes.
  void write(int variable, double from) {
    std::iota(data_.begin(), data_.end(), from + 1e7 * rank_of());
    EXPECT_WINDROW_OK(windrow_write_block(file_, variable, start_, count_, data_.data()));
  }
  void expect_data(int variable) {
    std::vector<double> read(data_.size(), -1);
    EXPECT_WINDROW_OK(windrow_read_block(file_, variable, start_, count_, read.data()));
    EXPECT_TRUE(read == data_);
  }
  json plan() const { return report_of(file_)["plans"][0]; }
  // One client for each target in the last flush, as its plan has it.
  void expect_dealt(size_t targets) {
    SCOPED_TRACE(plan().dump());
    if (size_of() > 1) {
      EXPECT_EQ(plan()["domains"], "target");
    }
    Clients clients;
    add_clients(file_, clients);
    expect_one_each(clients, targets);
  }

  windrow_file* file_ = nullptr;
  const int64_t first_ = k_columns * rank_of() / size_of(), end_ = k_columns * (rank_of() + 1) / size_of();
  const int64_t start_[2] = {0, first_}, count_[2] = {k_rows, end_ - first_};
  std::vector<double> data_ = std::vector<double>(static_cast<size_t>(count_[0] * count_[1]));
};

TEST_P(TargetWriters, keep_their_targets_while_variables_grow) {
  if (GetParam() != ".nc")
    GTEST_SKIP() << "what grows there has chunks, or cannot grow";
  for (const char* files : {"one", "subfiles(2)"}) {
    SCOPED_TRACE(files);
    const size_t targets = static_cast<size_t>(k_targets) * (files[0] == 's' ? 2 : 1);
    create({{"files", files}}, targets);
    const KeyValues grows{{"extendible", "true"}};
    const int variables[] = {define("a", 0, grows), define("b", 0, grows)};
    const int64_t shape[1] = {k_columns};
    Decomposition columns;
    windrow_decomposition* made = nullptr;
    ASSERT_WINDROW_OK(windrow_block(MPI_COMM_WORLD, 1, shape, &start_[1], &count_[1], nullptr, nullptr, &made));
    columns.reset(made);
    Clients clients;
    std::vector<double> row(static_cast<size_t>(count_[1])), read(row.size());
    for (int64_t record = 0; record < 12; ++record) {
      std::iota(row.begin(), row.end(), 1e6 * rank_of() + 1e5 * static_cast<double>(record));
      for (const int variable : variables)
        EXPECT_WINDROW_OK(windrow_put_record(file_, variable, record, columns.get(), row.data()));
      EXPECT_WINDROW_OK(windrow_flush(file_));
      if (size_of() > 1) {
        EXPECT_EQ(plan()["domains"], "target") << plan();
      }
      add_clients(file_, clients);
    }
    // The stripes that a flush has bytes of are those of some targets.
    for (const auto& [target, ranks] : clients)
      EXPECT_EQ(ranks.size(), 1U) << "target " << target.second << " of file " << target.first;
    EXPECT_EQ(clients.size(), targets);
    EXPECT_WINDROW_OK(windrow_get_record(file_, variables[1], 11, columns.get(), read.data()));
    EXPECT_WINDROW_OK(windrow_flush(file_));
    EXPECT_TRUE(read == row);
    EXPECT_WINDROW_OK(windrow_close(std::exchange(file_, nullptr)));
  }
}

TEST_P(TargetWriters, have_targets_of_the_subfiles_of_their_own) {
  create({{"files", "subfiles(3)"}}, 3 * k_targets);
  const int variable = define("split", k_rows, {});
  write(variable, 1);
  expect_dealt(3 * k_targets);
  expect_data(variable);
  expect_dealt(3 * k_targets);
  EXPECT_WINDROW_OK(windrow_close(std::exchange(file_, nullptr)));
  ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path().c_str(), WINDROW_READ,
                                 Options({{"layout", k_layout}, {"strategy", "ylib"}, {"writers", "2"}}), &file_));
  expect_data(variable);
  Clients clients;
  add_clients(file_, clients);
  std::map<int64_t, std::set<int64_t>> files;
  for (const auto& [target, ranks] : clients) {
    EXPECT_EQ(ranks.size(), 1U);
    for (const int64_t rank : ranks)
      files[rank].insert(target.first);
  }
  for (const auto& [rank, own] : files)
    EXPECT_LE(own.size(), size_of() > 1 ? 2U : 3U) << "few writers have targets of the same file";
}

// New ones have a place before they are written.
TEST_P(TargetWriters, are_those_of_chunks) {
  if (GetParam() != ".h5")
    GTEST_SKIP() << "it has no chunks";
  for (const char* files : {"one", "subfiles(2)"}) {
    SCOPED_TRACE(files);
    const size_t targets = static_cast<size_t>(k_targets) * (files[0] == 's' ? 2 : 1);
    create({{"files", files}, {"alignment", "65536"}}, targets);
    const int variable = define("chunked", k_rows, {{"chunks", "1x8192"}});
    windrow_decomposition* columns = nullptr;
    const int64_t shape[2] = {k_rows, k_columns};
    ASSERT_WINDROW_OK(windrow_block(MPI_COMM_WORLD, 2, shape, start_, count_, nullptr, nullptr, &columns));
    EXPECT_WINDROW_OK(windrow_put(file_, variable, columns, data_.data()));
    const char* text = nullptr;
    ASSERT_WINDROW_OK(windrow_explain(file_, "json", &text));
    if (size_of() > 1) {
      EXPECT_EQ(json::parse(text)[0]["domains"], "target") << text;
      EXPECT_THAT(text, HasSubstr("some of these chunks are new"));
    }
    EXPECT_WINDROW_OK(windrow_flush(file_));
    windrow_decomposition_free(columns);
    expect_dealt(targets);
    for (int again = 0; again < 2; ++again) {
      write(variable, 2 + again);
      expect_dealt(targets);
    }
    expect_data(variable);
    expect_dealt(targets);
    EXPECT_WINDROW_OK(windrow_close(std::exchange(file_, nullptr)));
  }
}

// Records of HDF5's are new chunks; and what is not written of a chunk holds the fill value.
TEST_P(TargetWriters, keep_their_targets_while_chunks_are_appended) {
  if (GetParam() != ".h5")
    GTEST_SKIP() << "it has no chunks";
  for (const char* files : {"one", "subfiles(2)"}) {
    SCOPED_TRACE(files);
    const size_t targets = static_cast<size_t>(k_targets) * (files[0] == 's' ? 2 : 1);
    create({{"files", files}, {"alignment", "65536"}, {"split", "1"}}, targets);
    constexpr int64_t k_chunks = 6, k_written = k_chunks * k_columns - 100;
    int variable = -1;
    const int64_t shape[2] = {0, k_chunks * k_columns}, length[1] = {k_chunks * k_columns};
    ASSERT_WINDROW_OK(windrow_define_variable_with(
        file_, "grows", WINDROW_FLOAT64, 2, shape,
        Options({{"extendible", "true"}, {"chunks", "1x8192"}, {"fill_value", "-7"}}), &variable));
    const int64_t begin[1] = {k_written * rank_of() / size_of()},
                  count[1] = {k_written * (rank_of() + 1) / size_of() - begin[0]};
    windrow_decomposition* parts = nullptr;
    ASSERT_WINDROW_OK(windrow_block(MPI_COMM_WORLD, 1, length, begin, count, nullptr, nullptr, &parts));
    Decomposition held(parts);
    std::vector<double> row(static_cast<size_t>(count[0]));
    Clients clients;
    for (int64_t record = 0; record < 6; ++record) {
      std::iota(row.begin(), row.end(), 1e6 * rank_of() + 1e5 * static_cast<double>(record));
      EXPECT_WINDROW_OK(windrow_put_record(file_, variable, record, parts, row.data()));
      EXPECT_WINDROW_OK(windrow_flush(file_));
      if (size_of() > 1) {
        EXPECT_EQ(plan()["domains"], "target") << plan();
      }
      add_clients(file_, clients);
    }
    for (const auto& [target, ranks] : clients)
      EXPECT_EQ(ranks.size(), 1U) << "target " << target.second << " of file " << target.first;
    EXPECT_EQ(clients.size(), targets);
    const int64_t all_start[2] = {0, 0}, all_count[2] = {6, k_chunks * k_columns};
    std::vector<double> all(static_cast<size_t>(all_count[0] * all_count[1]));
    EXPECT_WINDROW_OK(windrow_read_block(file_, variable, all_start, all_count, all.data()));
    for (int64_t record = 0; record < 6; ++record)
      for (int64_t column = 0; column < k_chunks * k_columns; ++column) {
        int writer = 0;
        while (column < k_written && column >= k_written * (writer + 1) / size_of())
          ++writer;
        const double expected = column >= k_written ? -7
                                                    : 1e6 * writer + 1e5 * static_cast<double>(record) +
                                                          static_cast<double>(column - k_written * writer / size_of());
        ASSERT_EQ(all[static_cast<size_t>(record * k_chunks * k_columns + column)], expected)
            << "record " << record << ", column " << column;
      }
    EXPECT_WINDROW_OK(windrow_close(std::exchange(file_, nullptr)));
  }
}

// A plan lists what moves, not what there is.
TEST_P(TargetWriters, are_those_of_some_of_very_many_chunks) {
  if (GetParam() != ".h5")
    GTEST_SKIP() << "it has no chunks";
  create({{"alignment", "65536"}}, k_targets);
  constexpr int64_t k_all = 70'000;
  const int variable = define("many", k_all, {{"chunks", "1x8192"}});
  const int64_t start[2] = {k_all - k_rows, first_}, count[2] = {k_rows, end_ - first_};
  std::iota(data_.begin(), data_.end(), 1e7 * rank_of());
  EXPECT_WINDROW_OK(windrow_write_block(file_, variable, start, count, data_.data()));
  expect_dealt(k_targets);
  std::vector<double> read(data_.size(), -1);
  EXPECT_WINDROW_OK(windrow_read_block(file_, variable, start, count, read.data()));
  EXPECT_TRUE(read == data_);
}

// Encoded they are longer or shorter than before, and have other offsets, which readers find.
TEST_P(TargetWriters, of_chunks_with_filters_are_chosen_for_readers) {
  if (GetParam() != ".h5")
    GTEST_SKIP() << "it has no chunks";
  create({}, k_targets);
  const int variable = define("filtered", k_rows, {{"chunks", "1x8192"}, {"filters", "shuffle"}});
  for (int again = 0; again < 2; ++again) {
    write(variable, 1 + again);
    if (size_of() > 1) {
      EXPECT_EQ(plan()["domains"], "aligned");
      EXPECT_THAT(plan()["reasons"].dump(), HasSubstr("places of filtered chunks are known only after encoding"));
    }
  }
  expect_data(variable);
  if (size_of() > 1) {
    EXPECT_EQ(plan()["domains"], "target");
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, TargetWriters, testing::Values(".raw", ".nc", ".h5"),
                         [](const auto& each) { return each.param.substr(1); });

}  // namespace
