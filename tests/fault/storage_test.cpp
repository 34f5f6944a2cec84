// SPDX-License-Identifier: BSD-3-Clause
// The storage fails under one rank: all ranks get the same answer in time, a file that is being made does not take its
// name, and what a short transfer leaves undone is done.
#include <nlohmann/json.hpp>

#include <cmath>

#include "../capi/report.hpp"
#include "calls.hpp"

namespace {

using namespace windrow_test;

constexpr int k_old = 1, k_new = 500'000;

struct Error {
  std::string name;
  int code;
  std::string text;
};
const std::vector<Error> k_errors{{"no_space", WINDROW_NO_SPACE, "no space left on device"},
                                  {"io", WINDROW_IO, "input/output error"},
                                  {"no_permission", WINDROW_NO_PERMISSION, "permission denied"}};

std::string fault_of(int victim, const std::string& operation, int after, const std::string& error) {
  return "rank=" + std::to_string(victim) + ",operation=" + operation + ",after=" + std::to_string(after) +
         ",error=" + error;
}

KeyValues with_fault(KeyValues options, const std::string& fault) {
  options.push_back({"store", "faulty"});
  options.push_back({"fault", fault});
  return options;
}

int64_t predicted(const nlohmann::json& report, const char* what) {
  int64_t sum = 0;
  for (const auto& plan : report["plans"])
    sum += plan["expected"][what].get<int64_t>();
  return sum;
}

class Storage : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() != ".raw" && windrow_has("hdf5") == 0)
      GTEST_SKIP() << "built without HDF5";
    Scene(standing_.path(), standing_options(GetParam()), k_old).write_all();
    standing_.remember();
  }

  // Each subfile is a store of its own, and fails once.
  static int faults_of_a_store() { return GetParam() == "split.h5" ? 3 : 1; }

  static void expect_failure(int code, const Error& error, int victim) {
    EXPECT_EQ(code, error.code) << windrow_error_message();
    EXPECT_EQ(windrow_error_rank(), victim) << windrow_error_message();
    EXPECT_NE(std::string(windrow_error_message()).find(error.text), std::string::npos) << windrow_error_message();
  }

  // Calls visit(strategy, victim) for all of them and counts in how many the fault struck.
  template <class Visit>
  void for_each_victim(const std::string& what, Visit&& visit) {
    int struck = 0;
    for (const KeyValues& strategy : strategies_for(GetParam()))
      for (int victim = 0; victim < size_of(); ++victim) {
        SCOPED_TRACE(what + ", " + text_of(strategy) + ", rank " + std::to_string(victim));
        struck += visit(strategy, victim) ? 1 : 0;
        standing_.expect_whole();
        if (failed_anywhere())
          return;
      }
    EXPECT_GT(struck, 0) << what << " happened nowhere: this test tests nothing";
  }

  static void expect_both_undefined() {
    const std::string message = windrow_error_message(),
                      names = message.substr(std::min(message.size(), message.find("; undefined now: ")));
    EXPECT_NE(names.find("\"/fields/grid\""), std::string::npos) << message;
    EXPECT_NE(names.find("\"/points\""), std::string::npos) << message;
  }

  // A new file, of which a flush fails.
  bool fail_put(const KeyValues& strategy, const std::string& operation, int after, const Error& error, int victim) {
    Scene scene(standing_.path(), with_fault(strategy, fault_of(victim, operation, after, error.name)), k_new);
    scene.begin();
    const int code = scene.put_and_flush();
    expect_same_everywhere(code);
    if (code == WINDROW_OK) {
      EXPECT_WINDROW_OK(scene.close());
      Scene::expect_file(standing_.path(), k_new);
      standing_.restore();
      return false;
    }
    expect_failure(code, error, victim);
    if (operation == "write") {  // opening may fail before anything moves
      EXPECT_NE(std::string(windrow_error_message())
                    .find(GetParam() == "chunked.h5" ? "undefined now: \"" : "undefined now: \"/fields/grid\""),
                std::string::npos)
          << windrow_error_message();
    }
    const int again = scene.put_and_flush();  // and not hours later
    expect_same_everywhere(again);
    expect_failure(again, error, victim);
    EXPECT_NE(std::string(windrow_error_message()).find("this new file cannot be published any more"),
              std::string::npos)
        << windrow_error_message();
    const int closed = scene.close();
    expect_same_everywhere(closed);
    expect_failure(closed, error, victim);
    return true;
  }

  // An existing file, of which a flush fails; the next one succeeds.
  bool fail_get(const KeyValues& strategy, const std::string& operation, int after, const Error& error, int victim) {
    Scene scene(standing_.path(), with_fault(strategy, fault_of(victim, operation, after, error.name)), k_old);
    scene.begin_reading();
    int code = scene.get_and_flush();
    if (code == WINDROW_OK && after > 0)
      code = scene.get_and_flush();  // the later request may be in the next flush
    expect_same_everywhere(code);
    if (code != WINDROW_OK)
      expect_failure(code, error, victim);
    for (int again = 0; again < faults_of_a_store() - 1 && operation != "open" && code != WINDROW_OK; ++again)
      if (scene.get_and_flush() == WINDROW_OK)
        break;
    if (code == WINDROW_OK || operation != "open") {  // a store that does not open fails again
      EXPECT_WINDROW_OK(scene.get_and_flush());
      scene.expect_read();
    }
    EXPECT_WINDROW_OK(scene.close());
    return code != WINDROW_OK;
  }

  SharedFolder folder_;
  Standing standing_{folder_, GetParam()};
};

TEST_P(Storage, fails_while_a_file_is_written) {
  for (const Error& error : k_errors) {
    for_each_victim("write, " + error.name,
                    [&](const KeyValues& s, int victim) { return fail_put(s, "write", 0, error, victim); });
    for_each_victim("open, " + error.name,
                    [&](const KeyValues& s, int victim) { return fail_put(s, "open", 0, error, victim); });
  }
  for_each_victim("a later write",
                  [&](const KeyValues& s, int victim) { return fail_put(s, "write", 2, k_errors[0], victim); });
}

TEST_P(Storage, fails_while_a_file_is_read) {
  for (const Error& error : k_errors) {
    for_each_victim("read, " + error.name,
                    [&](const KeyValues& s, int victim) { return fail_get(s, "read", 0, error, victim); });
    for_each_victim("open, " + error.name,
                    [&](const KeyValues& s, int victim) { return fail_get(s, "open", 0, error, victim); });
  }
  for_each_victim("a later read",
                  [&](const KeyValues& s, int victim) { return fail_get(s, "read", 1, k_errors[1], victim); });
}

// No rank has put anything: rank 0 writes the fill value, at the sync or for a get.
TEST_P(Storage, fails_while_a_fill_value_is_written) {
  if (GetParam() == "chunked.h5")
    GTEST_SKIP() << "chunks are filled as they are encoded";
  for (const bool by_get : {false, true}) {
    Scene scene(standing_.path(), with_fault({}, fault_of(0, "write", 0, "no_space")), k_new);
    scene.begin();
    const Options options{{"fill_value", "-7"}};
    EXPECT_WINDROW_OK(windrow_define_variable_with(scene.file, "filled", WINDROW_INT32, 2, scene.grid_shape.data(),
                                                   options, &scene.variable));
    const int code = by_get ? windrow_read_block(scene.file, scene.variable, scene.start.data(), scene.count.data(),
                                                 scene.grid_read.data())
                            : windrow_sync(scene.file);
    expect_same_everywhere(code);
    expect_failure(code, k_errors[0], 0);
    const int closed = scene.close();
    expect_same_everywhere(closed);
    expect_failure(closed, k_errors[0], 0);
    standing_.expect_whole();
  }
}

TEST_P(Storage, fails_to_make_room_for_sieving) {
  if (GetParam() == "chunked.h5")
    GTEST_SKIP() << "chunks are not sieved";
  Scene scene(standing_.path(),
              with_fault({{"domains", "even"}, {"access", "sieve"}}, fault_of(0, "resize", 0, "no_space")), k_new);
  scene.begin();
  const int code = scene.put_and_flush();
  expect_same_everywhere(code);
  expect_failure(code, k_errors[0], 0);
  EXPECT_EQ(scene.close(), WINDROW_NO_SPACE) << windrow_error_message();
  standing_.expect_whole();
}

TEST_P(Storage, that_cannot_sync_publishes_nothing) {
  for (const bool by_close : {true, false})
    for_each_victim(by_close ? "close" : "sync", [&](const KeyValues& strategy, int victim) {
      KeyValues options = with_fault(strategy, fault_of(victim, "sync", 0, "io"));
      options.push_back({"durable", "true"});
      Scene scene(standing_.path(), options, k_new);
      scene.begin();
      EXPECT_WINDROW_OK(scene.put_and_flush());
      const int code = by_close ? scene.close() : windrow_sync(scene.file);
      expect_same_everywhere(code);
      if (code != WINDROW_OK)
        expect_failure(code, k_errors[1], victim);
      if (!by_close) {
        EXPECT_EQ(scene.close(), code) << windrow_error_message();
      }
      if (code != WINDROW_OK)
        return true;
      Scene::expect_file(standing_.path(), k_new);
      standing_.restore();
      return false;
    });
}

// The last flush is that of close(): one agreement covers the writes and the closing. The first failure is reported.
TEST_P(Storage, that_fails_while_a_file_is_closed_publishes_nothing) {
  for (const char* operation : {"sync", "write", "open"})
    for_each_victim(std::string("close with puts: ") + operation, [&](const KeyValues& strategy, int victim) {
      KeyValues options = with_fault(strategy, fault_of(victim, operation, 0, "io"));
      options.push_back({"durable", "true"});
      Scene scene(standing_.path(), options, k_new);
      scene.begin();
      const int code = scene.put_and_close();
      expect_same_everywhere(code);
      if (code != WINDROW_OK) {
        expect_failure(code, k_errors[1], victim);
        return true;
      }
      Scene::expect_file(standing_.path(), k_new);
      standing_.restore();
      return false;
    });
}

TEST_P(Storage, transfers_only_a_part) {
  for (int after = 0; after < 2; ++after)
    for_each_victim("short write", [&](const KeyValues& strategy, int victim) {
      bool struck = false;
      {
        Scene scene(standing_.path(), with_fault(strategy, fault_of(victim, "write", after, "short")), k_new);
        scene.begin();
        EXPECT_WINDROW_OK(scene.put_and_flush());
        const auto report = report_of(scene.file);
        struck = report["write_requests"] > predicted(report, "write_requests");
        EXPECT_WINDROW_OK(scene.close());
      }
      Scene::expect_file(standing_.path(), k_new);
      standing_.restore();
      return struck;
    });
  for_each_victim("short read", [&](const KeyValues& strategy, int victim) {
    Scene scene(standing_.path(), with_fault(strategy, fault_of(victim, "read", 0, "short")), k_old);
    scene.begin_reading();
    EXPECT_WINDROW_OK(scene.get_and_flush());
    scene.expect_read();
    const auto report = report_of(scene.file);
    EXPECT_WINDROW_OK(scene.close());
    return report["read_requests"] > predicted(report, "read_requests");
  });
}

TEST_P(Storage, fails_in_a_file_that_is_changed_in_place) {
  for_each_victim("update", [&](const KeyValues& strategy, int victim) {
    bool struck = false;
    {
      Scene scene(standing_.path(), with_fault(strategy, fault_of(victim, "write", 0, "io")), k_new);
      scene.begin_reading(WINDROW_UPDATE);
      const int code = scene.put_and_flush();
      expect_same_everywhere(code);
      struck = code != WINDROW_OK;
      if (struck) {
        expect_failure(code, k_errors[1], victim);
        EXPECT_NE(std::string(windrow_error_message()).find("undefined now"), std::string::npos)
            << windrow_error_message();
        for (int again = 0; again < faults_of_a_store() - 1 && scene.put_and_flush() != WINDROW_OK; ++again) {}
        EXPECT_WINDROW_OK(scene.put_and_flush());
      }
      EXPECT_WINDROW_OK(scene.close());
    }
    Scene::expect_file(standing_.path(), k_new);
    standing_.restore();
    return struck;
  });
}

TEST_P(Storage, that_fails_in_a_sync_leaves_all_undefined_that_was_written) {
  for_each_victim("sync", [&](const KeyValues& strategy, int victim) {
    bool struck = false;
    {
      KeyValues options = with_fault(strategy, fault_of(victim, "sync", 0, "io"));
      options.push_back({"durable", "true"});
      Scene scene(standing_.path(), options, k_new);
      scene.begin_reading(WINDROW_UPDATE);
      EXPECT_WINDROW_OK(windrow_put(scene.file, scene.grid_variable, scene.block.get(), scene.grid.data()));
      EXPECT_WINDROW_OK(windrow_flush(scene.file));
      EXPECT_WINDROW_OK(windrow_put(scene.file, scene.point_variable, scene.points.get(), scene.values.data()));
      const int code = windrow_sync(scene.file);
      expect_same_everywhere(code);
      struck = code != WINDROW_OK;
      if (struck) {
        expect_failure(code, k_errors[1], victim);
        expect_both_undefined();
      }
      expect_same_everywhere(scene.close());
    }
    standing_.restore();
    return struck;
  });
}

// Each subfile is a store that fails once: what an earlier flush has left undefined is so still when a later one fails,
// until it is written.
TEST_P(Storage, that_fails_again_leaves_both_undefined) {
  if (GetParam() != "split.h5")
    GTEST_SKIP() << "its store fails once";
  int twice = 0;
  for_each_victim("two flushes", [&](const KeyValues& strategy, int victim) {
    bool struck = false;
    {
      Scene scene(standing_.path(), with_fault(strategy, fault_of(victim, "write", 0, "io")), k_new);
      scene.begin_reading(WINDROW_UPDATE);
      const auto put_grid = [&] {
        (void)windrow_put(scene.file, scene.grid_variable, scene.block.get(), scene.grid.data());
        return windrow_flush(scene.file);
      };
      struck = put_grid() != WINDROW_OK;
      (void)windrow_put(scene.file, scene.point_variable, scene.points.get(), scene.values.data());
      const bool again = windrow_flush(scene.file) != WINDROW_OK;
      if (struck && again) {
        ++twice;
        expect_both_undefined();
      }
      for (int i = 0; i < faults_of_a_store() && put_grid() != WINDROW_OK; ++i) {}
      (void)windrow_put(scene.file, scene.point_variable, scene.points.get(), scene.values.data());
      if (struck && windrow_flush(scene.file) != WINDROW_OK) {
        EXPECT_EQ(std::string(windrow_error_message()).find("/fields/grid"), std::string::npos)
            << windrow_error_message();
      }
      EXPECT_WINDROW_OK(scene.close());
    }
    standing_.restore();
    return struck;
  });
  if (size_of() == 1) {
    EXPECT_GT(twice, 0) << "or this test says nothing";
  }
}

// Chunks are allocated before they are written. If that fails, the file is as long as HDF5 records in it, and opens.
// Its name is not needed any more: earlier failures are not reported again.
TEST(Failed, new_files_are_discarded) {
  const SharedFolder folder;
  for (const char* name : {"lost.raw", "lost.h5", "lost.nc"}) {
    if ((std::string(name) == "lost.h5" && windrow_has("hdf5") == 0) ||
        (std::string(name) == "lost.nc" && windrow_has("netcdf") == 0))
      continue;
    SCOPED_TRACE(name);
    const int64_t shape[1] = {1000 * size_of()}, start[1] = {1000 * rank_of()}, count[1] = {1000};
    const std::vector<double> values(1000, 7.0);
    const Options faulty{{"store", "faulty"}, {"fault", fault_of(0, "write", 0, "no_space")}};
    windrow_file* file = nullptr;
    int variable = -1;
    ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, folder.file(name).c_str(), faulty, &file));
    ASSERT_WINDROW_OK(windrow_define_variable(file, "x", WINDROW_FLOAT64, 1, shape, &variable));
    const int code = windrow_write_block(file, variable, start, count, values.data());
    EXPECT_EQ(code, WINDROW_NO_SPACE);
    EXPECT_WINDROW_OK(windrow_discard(file));
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_TRUE(folder.names().empty());
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST(Update, that_fails_leaves_the_rest_of_the_file) {
  if (windrow_has("hdf5") == 0)
    GTEST_SKIP() << "built without HDF5";
  const SharedFolder folder;
  const std::string path = folder.file("grown.h5");
  const int64_t old_shape[1] = {1000}, shape[2] = {40 * size_of(), 500}, start[2] = {40 * rank_of(), 0},
                count[2] = {40, 500};
  const std::vector<double> old(1000, 7.0);
  std::vector<double> noise(40 * 500);
  for (size_t i = 0; i < noise.size(); ++i)
    noise[i] = std::sin(1e3 * static_cast<double>(i * i + 1));
  int struck = 0;
  for (int victim = 0; victim < size_of(); ++victim)
    for (int after = 0; after < 4; ++after) {
      SCOPED_TRACE("rank " + std::to_string(victim) + ", write " + std::to_string(after));
      windrow_file* file = nullptr;
      int variable = -1;
      ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path.c_str(), nullptr, &file));
      ASSERT_WINDROW_OK(windrow_define_variable(file, "old", WINDROW_FLOAT64, 1, old_shape, &variable));
      const int64_t all[1] = {rank_of() == 0 ? 1000 : 0}, first[1] = {0};
      ASSERT_WINDROW_OK(windrow_write_block(file, variable, first, all, old.data()));
      ASSERT_WINDROW_OK(windrow_close(file));
      {
        const Options faulty{{"store", "faulty"},
                             {"fault", fault_of(victim, "write", after, "no_space")},
                             {"filters", "deflate:1"},
                             {"chunks", "10x500"}};
        ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path.c_str(), WINDROW_UPDATE, faulty, &file));
        ASSERT_WINDROW_OK(windrow_define_variable(file, "new", WINDROW_FLOAT64, 2, shape, &variable));
        const int code = windrow_write_block(file, variable, start, count, noise.data());
        expect_same_everywhere(code);
        struck += code == WINDROW_OK ? 0 : 1;
        expect_same_everywhere(windrow_close(file));
      }
      std::vector<double> read(1000);
      ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path.c_str(), WINDROW_READ, nullptr, &file));
      ASSERT_WINDROW_OK(windrow_find_variable(file, "old", &variable));
      const int64_t whole[1] = {1000};
      ASSERT_WINDROW_OK(windrow_read_block(file, variable, first, whole, read.data()));
      EXPECT_EQ(read, old);
      ASSERT_WINDROW_OK(windrow_close(file));
    }
  EXPECT_GT(struck, 0);
}

// Chunks that are partly written have elements that no rank writes. For any failure these are unchanged, and the next
// flush succeeds.
TEST(Update, that_fails_keeps_what_it_was_not_to_write) {
  if (windrow_has("hdf5") == 0)
    GTEST_SKIP() << "built without HDF5";
  const SharedFolder folder;
  const std::string path = folder.file("in part.h5");
  // Of each row of chunks the first and the third are written in part, the second as a whole, and the fourth not at
  // all.
  constexpr int64_t k_rows = 40, k_columns = 100, k_first = 5, k_end = 65;
  const int64_t shape[2] = {k_rows * size_of(), k_columns}, row = k_rows * rank_of();
  const auto value = [&](int64_t i, int64_t j) { return static_cast<double>((row + i) * 1000 + j); };
  const auto open = [&](int mode, const windrow_options* options, int& variable) {
    windrow_file* file = nullptr;
    EXPECT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path.c_str(), mode, options, &file));
    EXPECT_WINDROW_OK(windrow_find_variable(file, "x", &variable));
    return file;
  };
  const auto write_columns = [&](windrow_file* file, int variable, int64_t begin, int64_t end, double sign) {
    std::vector<double> values;
    for (int64_t i = 0; i < k_rows; ++i)
      for (int64_t j = begin; j < end; ++j)
        values.push_back(sign * value(i, j));
    const int64_t start[2] = {row, begin}, count[2] = {k_rows, end - begin};
    return windrow_write_block(file, variable, start, count, values.data());
  };
  const auto expect_columns = [&](windrow_file* file, int variable, int64_t begin, int64_t end, double sign) {
    std::vector<double> read(static_cast<size_t>(k_rows * (end - begin)));
    const int64_t start[2] = {row, begin}, count[2] = {k_rows, end - begin};
    ASSERT_WINDROW_OK(windrow_read_block(file, variable, start, count, read.data()));
    size_t at = 0;
    for (int64_t i = 0; i < k_rows; ++i)
      for (int64_t j = begin; j < end; ++j)
        ASSERT_EQ(read[at++], sign * value(i, j)) << "row " << row + i << ", column " << j;
  };
  int struck = 0;
  for (const char* files : {"one", "subfiles(2)"})
    for (const char* operation : {"read", "write", "open"})
      for (int victim = 0; victim < size_of(); ++victim)
        for (int after = 0; after < (std::string(operation) == "open" ? 1 : 3); ++after) {
          SCOPED_TRACE(std::string(files) + " file, " + operation + " " + std::to_string(after) + " of rank " +
                       std::to_string(victim));
          windrow_file* file = nullptr;
          int variable = -1;
          const Options plain{{"filters", "shuffle,deflate:1"}, {"chunks", "10x30"}, {"files", files}};
          ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path.c_str(), plain, &file));
          ASSERT_WINDROW_OK(windrow_define_variable(file, "x", WINDROW_FLOAT64, 2, shape, &variable));
          ASSERT_WINDROW_OK(write_columns(file, variable, 0, k_columns, 1));
          ASSERT_WINDROW_OK(windrow_close(file));
          const Options faulty{{"store", "faulty"}, {"fault", fault_of(victim, operation, after, "io")}};
          file = open(WINDROW_UPDATE, faulty, variable);
          const int code = write_columns(file, variable, k_first, k_end, -1);
          expect_same_everywhere(code);
          struck += code == WINDROW_OK ? 0 : 1;
          expect_same_everywhere(windrow_close(file));
          file = open(WINDROW_READ, nullptr, variable);
          expect_columns(file, variable, 0, k_first, 1);
          expect_columns(file, variable, k_end, k_columns, 1);
          ASSERT_WINDROW_OK(windrow_close(file));
          // Once more without a fault.
          file = open(WINDROW_UPDATE, nullptr, variable);
          ASSERT_WINDROW_OK(write_columns(file, variable, k_first, k_end, -1));
          ASSERT_WINDROW_OK(windrow_close(file));
          file = open(WINDROW_READ, nullptr, variable);
          expect_columns(file, variable, 0, k_first, 1);
          expect_columns(file, variable, k_first, k_end, -1);
          expect_columns(file, variable, k_end, k_columns, 1);
          ASSERT_WINDROW_OK(windrow_close(file));
          if (failed_anywhere())
            return;
        }
  EXPECT_GT(struck, 0) << "nothing failed: this test tests nothing";
}

// The same for chunks that the previous flush, which no other program has seen yet, has written as a whole or in part.
TEST(Update, that_fails_keeps_what_the_flush_before_has_written) {
  if (windrow_has("hdf5") == 0)
    GTEST_SKIP() << "built without HDF5";
  const SharedFolder folder;
  const std::string path = folder.file("twice.h5");
  constexpr int64_t k_rows = 20, k_columns = 40;
  const int64_t shape[2] = {k_rows * size_of(), k_columns};
  const auto of_columns = [&](int64_t begin, int64_t end, int round) {
    std::vector<int> values;
    for (int64_t i = 0; i < k_rows; ++i)
      for (int64_t j = begin; j < end; ++j)
        values.push_back(static_cast<int>(((k_rows * rank_of() + i) * k_columns + j) * 7919 * round % 100003));
    return values;
  };
  const auto write_columns = [&](windrow_file* file, int variable, int64_t begin, int64_t end, int round) {
    const std::vector<int> values = of_columns(begin, end, round);
    const int64_t start[2] = {k_rows * rank_of(), begin}, count[2] = {k_rows, end - begin};
    return windrow_write_block(file, variable, start, count, values.data());
  };
  int struck = 0;
  for (const char* files : {"one", "subfiles(2)"})
    for (const int64_t first : {0, 5})  // of the flush before
      for (int victim = 0; victim < size_of(); ++victim)
        for (int after = 0; after < 9; ++after) {
          SCOPED_TRACE(std::string(files) + " file, write " + std::to_string(after) + " of rank " +
                       std::to_string(victim) + ", from column " + std::to_string(first));
          windrow_file* file = nullptr;
          int variable = -1;
          const Options plain{{"filters", "shuffle,deflate:1"}, {"chunks", "10x20"}, {"files", files}};
          ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path.c_str(), plain, &file));
          ASSERT_WINDROW_OK(windrow_define_variable(file, "x", WINDROW_INT32, 2, shape, &variable));
          ASSERT_WINDROW_OK(write_columns(file, variable, 0, k_columns, 1));
          ASSERT_WINDROW_OK(windrow_close(file));
          const Options faulty{{"store", "faulty"}, {"fault", fault_of(victim, "write", after, "no_space")}};
          ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path.c_str(), WINDROW_UPDATE, faulty, &file));
          ASSERT_WINDROW_OK(windrow_find_variable(file, "x", &variable));
          const bool wrote = write_columns(file, variable, first, k_columns, 2) == WINDROW_OK;
          const int code = wrote ? write_columns(file, variable, 10, 30, 3) : WINDROW_OK;
          expect_same_everywhere(code);
          struck += code == WINDROW_OK ? 0 : 1;
          expect_same_everywhere(windrow_close(file));
          if (!wrote)
            continue;
          std::vector<int> read(static_cast<size_t>(k_rows * k_columns));
          const int64_t start[2] = {k_rows * rank_of(), 0}, count[2] = {k_rows, k_columns};
          ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path.c_str(), WINDROW_READ, nullptr, &file));
          ASSERT_WINDROW_OK(windrow_find_variable(file, "x", &variable));
          ASSERT_WINDROW_OK(windrow_read_block(file, variable, start, count, read.data()));
          ASSERT_WINDROW_OK(windrow_close(file));
          const std::vector<int> old = of_columns(0, k_columns, 1), before = of_columns(0, k_columns, 2),
                                 now = of_columns(0, k_columns, 3);
          for (size_t i = 0; i < read.size(); ++i) {
            const auto column = static_cast<int64_t>(i) % k_columns;
            const bool asked = column >= 10 && column < 30;
            const int kept = column < first ? old[i] : before[i];
            ASSERT_TRUE(read[i] == kept || (asked && read[i] == now[i]))
                << "element " << i << " is " << read[i] << ", was " << kept;
          }
          if (failed_anywhere())
            return;
        }
  EXPECT_GT(struck, 0) << "nothing failed: this test tests nothing";
}

// Chunks that are written as a whole and become longer have their old content, their new content or the fill value, and
// all of them can be read.
TEST(Update, that_fails_leaves_chunks_that_can_be_read) {
  if (windrow_has("hdf5") == 0)
    GTEST_SKIP() << "built without HDF5";
  const SharedFolder folder;
  const std::string path = folder.file("larger.h5");
  constexpr int64_t k_rows = 200, k_columns = 50;
  const int64_t shape[2] = {k_rows * size_of(), k_columns}, start[2] = {k_rows * rank_of(), 0},
                count[2] = {k_rows, k_columns};
  std::vector<double> smooth(static_cast<size_t>(k_rows * k_columns), 4.5), noise(smooth.size());
  for (size_t i = 0; i < noise.size(); ++i)
    noise[i] = std::sin(1e3 * static_cast<double>(i * i + 1));
  int struck = 0;
  for (const char* files : {"one", "subfiles(2)"})
    for (const char* filters : {"shuffle,deflate:1", "deflate:1,fletcher32"})
      for (int victim = 0; victim < size_of(); ++victim)
        for (int after = 0; after < 4; ++after) {
          SCOPED_TRACE(std::string(files) + " file, filters " + filters + ", write " + std::to_string(after) +
                       " of rank " + std::to_string(victim));
          windrow_file* file = nullptr;
          int variable = -1;
          const Options plain{{"filters", filters}, {"chunks", "20x50"}, {"files", files}};
          ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path.c_str(), plain, &file));
          ASSERT_WINDROW_OK(windrow_define_variable(file, "x", WINDROW_FLOAT64, 2, shape, &variable));
          ASSERT_WINDROW_OK(windrow_write_block(file, variable, start, count, smooth.data()));
          ASSERT_WINDROW_OK(windrow_close(file));
          const Options faulty{
              {"store", "faulty"}, {"fault", fault_of(victim, "write", after, "no_space")}, {"buffer", "64KiB"}};
          ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path.c_str(), WINDROW_UPDATE, faulty, &file));
          ASSERT_WINDROW_OK(windrow_find_variable(file, "x", &variable));
          const int code = windrow_write_block(file, variable, start, count, noise.data());
          expect_same_everywhere(code);
          struck += code == WINDROW_OK ? 0 : 1;
          expect_same_everywhere(windrow_close(file));
          std::vector<double> read(smooth.size());
          ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path.c_str(), WINDROW_READ, nullptr, &file));
          ASSERT_WINDROW_OK(windrow_find_variable(file, "x", &variable));
          ASSERT_WINDROW_OK(windrow_read_block(file, variable, start, count, read.data()));
          ASSERT_WINDROW_OK(windrow_close(file));
          for (size_t i = 0; i < read.size(); ++i)
            ASSERT_TRUE(read[i] == smooth[i] || read[i] == noise[i] || read[i] == 0)
                << "element " << i << " is " << read[i];
          if (failed_anywhere())
            return;
        }
  EXPECT_GT(struck, 0) << "nothing failed: this test tests nothing";
}

// Of what was put twice the first may be in the file when another variable fails: it is named.
TEST(Update, that_fails_names_what_was_put_twice) {
  if (windrow_has("hdf5") == 0)
    GTEST_SKIP() << "built without HDF5";
  const SharedFolder folder;
  const std::string path = folder.file("twice put.h5");
  const int64_t shape[1] = {100}, first[1] = {0}, all[1] = {rank_of() == 0 ? 100 : 0},
                most[1] = {rank_of() == 0 ? 60 : 0}, behind[1] = {40};
  const std::vector<int> zeros(100), ones(100, 1), twos(100, 2);
  int struck = 0;
  for (int after = 0; after < 3; ++after) {
    SCOPED_TRACE("write " + std::to_string(after));
    windrow_file* file = nullptr;
    std::array<int, 2> variables{-1, -1};
    const Options plain{{"filters", "deflate:1"}, {"chunks", "100"}};
    ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path.c_str(), plain, &file));
    for (const auto& [name, variable] : {std::pair{"v", &variables[0]}, std::pair{"w", &variables[1]}}) {
      ASSERT_WINDROW_OK(windrow_define_variable(file, name, WINDROW_INT32, 1, shape, variable));
      ASSERT_WINDROW_OK(windrow_write_block(file, *variable, first, all, zeros.data()));
    }
    ASSERT_WINDROW_OK(windrow_close(file));
    const Options faulty{{"store", "faulty"}, {"fault", fault_of(0, "write", after, "no_space")}, {"chunks", "none"}};
    ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path.c_str(), WINDROW_UPDATE, faulty, &file));
    windrow_decomposition *begin = nullptr, *end = nullptr;
    ASSERT_WINDROW_OK(windrow_block(MPI_COMM_WORLD, 1, shape, first, most, nullptr, nullptr, &begin));
    ASSERT_WINDROW_OK(windrow_block(MPI_COMM_WORLD, 1, shape, behind, most, nullptr, nullptr, &end));
    ASSERT_WINDROW_OK(windrow_put(file, variables[0], begin, ones.data()));
    ASSERT_WINDROW_OK(windrow_put(file, variables[1], begin, ones.data()));
    ASSERT_WINDROW_OK(windrow_put(file, variables[0], end, twos.data()));
    const int code = windrow_flush(file);
    const std::string message = windrow_error_message();
    expect_same_everywhere(code);
    windrow_decomposition_free(begin);
    windrow_decomposition_free(end);
    expect_same_everywhere(windrow_close(file));
    std::vector<int> read(100);
    ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path.c_str(), WINDROW_READ, nullptr, &file));
    ASSERT_WINDROW_OK(windrow_read_block(file, variables[0], first, shape, read.data()));
    ASSERT_WINDROW_OK(windrow_close(file));
    if (code == WINDROW_OK)
      continue;
    ++struck;
    EXPECT_TRUE(read == zeros || message.find("\"/v\"") != std::string::npos) << message;
  }
  EXPECT_GT(struck, 0) << "nothing failed: this test tests nothing";
}

// Chunks that a flush was to begin, a new time step or what was never written so far, hold the fill value where they do
// not hold what was written: all can be read.
TEST(Update, that_fails_leaves_new_chunks_with_the_fill_value) {
  if (windrow_has("hdf5") == 0)
    GTEST_SKIP() << "built without HDF5";
  const SharedFolder folder;
  const std::string path = folder.file("new chunks.h5");
  constexpr int64_t k_rows = 40, k_columns = 100, k_first = 5, k_end = 65;
  const int64_t shape[2] = {k_rows * size_of(), k_columns};
  const int64_t start[2] = {k_rows * rank_of(), k_first}, count[2] = {k_rows, k_end - k_first};
  const int64_t row_start[2] = {k_rows * rank_of(), 0}, rows[2] = {k_rows, k_columns};
  const std::vector<double> values(static_cast<size_t>(k_rows * (k_end - k_first)), 3.5);
  int struck = 0;
  for (const char* files : {"one", "subfiles(2)"})
    for (const auto& [filters, domains] :
         {std::pair{"shuffle,deflate:1", "auto"}, std::pair{"none", "auto"}, std::pair{"none", "target"}})
      for (int victim = 0; victim < size_of(); ++victim)
        for (int after = 0; after < 3; ++after) {
          SCOPED_TRACE(std::string(files) + " file, filters " + filters + ", domains " + domains + ", write " +
                       std::to_string(after) + " of rank " + std::to_string(victim));
          windrow_file* file = nullptr;
          int variable = -1;
          const Options plain{{"files", files}},
              filled{{"filters", filters}, {"chunks", "10x30"}, {"fill_value", "-7"}};
          ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path.c_str(), plain, &file));
          ASSERT_WINDROW_OK(windrow_define_variable_with(file, "x", WINDROW_FLOAT64, 2, shape, filled, &variable));
          ASSERT_WINDROW_OK(windrow_close(file));
          const Options faulty{{"store", "faulty"},
                               {"fault", fault_of(victim, "write", after, "no_space")},
                               {"domains", domains},
                               {"layout", "mock:stripe=4KiB,count=3"}};
          ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path.c_str(), WINDROW_UPDATE, faulty, &file));
          ASSERT_WINDROW_OK(windrow_find_variable(file, "x", &variable));
          const int code = windrow_write_block(file, variable, start, count, values.data());
          expect_same_everywhere(code);
          struck += code == WINDROW_OK ? 0 : 1;
          expect_same_everywhere(windrow_close(file));
          std::vector<double> read(static_cast<size_t>(k_rows * k_columns));
          ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path.c_str(), WINDROW_READ, nullptr, &file));
          ASSERT_WINDROW_OK(windrow_find_variable(file, "x", &variable));
          ASSERT_WINDROW_OK(windrow_read_block(file, variable, row_start, rows, read.data()));
          ASSERT_WINDROW_OK(windrow_close(file));
          for (int64_t i = 0; i < k_rows * k_columns; ++i) {
            const int64_t column = i % k_columns;
            const double value = read[static_cast<size_t>(i)];
            const bool asked = column >= k_first && column < k_end;
            ASSERT_TRUE(value == -7 || (asked && value == 3.5))
                << "row " << i / k_columns << ", column " << column << " is " << value;
          }
          if (failed_anywhere())
            return;
        }
  EXPECT_GT(struck, 0) << "nothing failed: this test tests nothing";
}

INSTANTIATE_TEST_SUITE_P(Formats, Storage, testing::Values(".raw", ".h5", "chunked.h5", "split.h5"),
                         [](const auto& format) {
                           return format.param.starts_with('.') ? format.param.substr(1)
                                                                : format.param.substr(0, format.param.find('.'));
                         });

}  // namespace
