// SPDX-License-Identifier: BSD-3-Clause
// Two programs change one published file: the second is refused before it changes anything. Each rank is a program of
// its own here.
#include <gmock/gmock.h>

#include "../capi/checked.hpp"

namespace {

using namespace windrow_test;
using testing::HasSubstr;

constexpr int64_t k_elements = 50;

struct Kind {
  const char* name;
  const char* format;
  const char* files;
};
constexpr Kind k_kinds[] = {{"a.raw", "raw", "one"},   {"a.raw", "raw", "subfiles(2)"},
                            {"a.nc", "netcdf", "one"}, {"a.nc", "netcdf", "subfiles(2)"},
                            {"a.h5", "hdf5", "one"},   {"a.h5", "hdf5", "subfiles(2)"}};

// Long names: those of netCDF do not fit into the room of its header, so that the file is written again.
std::string long_name(int number) {
  return "v" + std::to_string(number) + std::string(200, 'x');
}

void define_and_write(windrow_file* file, const std::string& name, double value) {
  const int64_t shape[1] = {k_elements}, start[1] = {0};
  const std::vector<double> data(k_elements, value);
  int variable = -1;
  ASSERT_WINDROW_OK(windrow_define_variable(file, name.c_str(), WINDROW_FLOAT64, 1, shape, &variable));
  ASSERT_WINDROW_OK(windrow_write_block(file, variable, start, shape, data.data()));
}

double first_of(windrow_file* file, const std::string& name) {
  const int64_t start[1] = {0}, count[1] = {1};
  int variable = -1;
  double read = -1;
  EXPECT_WINDROW_OK(windrow_find_variable(file, name.c_str(), &variable));
  EXPECT_WINDROW_OK(windrow_read_block(file, variable, start, count, &read));
  return read;
}

void expect_refused(const std::string& path) {
  windrow_file* file = nullptr;
  EXPECT_NE(windrow_open(MPI_COMM_SELF, path.c_str(), WINDROW_UPDATE, nullptr, &file), WINDROW_OK);
  EXPECT_THAT(windrow_error_message(), HasSubstr(path));
  EXPECT_EQ(file, nullptr);
}

void expect_readable(const std::string& path) {
  windrow_file* file = nullptr;
  ASSERT_WINDROW_OK(windrow_open(MPI_COMM_SELF, path.c_str(), WINDROW_READ, nullptr, &file));
  EXPECT_EQ(first_of(file, "base"), 7);
  EXPECT_WINDROW_OK(windrow_close(file));
}

// `opened`: the first has opened the file for update. Otherwise it has created and published the file.
void try_kind(const Kind& kind, bool opened) {
  SharedFolder folder;
  const std::string path = folder.file(kind.name);
  const bool first = rank_of() == 0;
  const Options options{{"files", kind.files}, {"split", "0"}, {"header_room", "0"}};
  windrow_file* file = nullptr;
  if (first) {
    ASSERT_WINDROW_OK(windrow_create(MPI_COMM_SELF, path.c_str(), options, &file));
    define_and_write(file, "base", 7);
    if (opened) {
      ASSERT_WINDROW_OK(windrow_close(file));
      ASSERT_WINDROW_OK(windrow_open(MPI_COMM_SELF, path.c_str(), WINDROW_UPDATE, nullptr, &file));
    } else {
      ASSERT_WINDROW_OK(windrow_sync(file));
    }
    expect_refused(path);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (!first) {
    expect_refused(path);
    if (!opened)
      expect_readable(path);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (first)
    for (int number = 0; number < 40; ++number)
      define_and_write(file, long_name(number), 100 + number);
  MPI_Barrier(MPI_COMM_WORLD);
  if (!first)
    expect_refused(path);
  MPI_Barrier(MPI_COMM_WORLD);
  if (first) {
    EXPECT_WINDROW_OK(windrow_close(file));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (first)
    return;
  ASSERT_WINDROW_OK(windrow_open(MPI_COMM_SELF, path.c_str(), WINDROW_UPDATE, nullptr, &file));
  define_and_write(file, "second", 2);
  EXPECT_EQ(first_of(file, "base"), 7);
  EXPECT_EQ(first_of(file, long_name(39)), 139);
  EXPECT_EQ(first_of(file, "second"), 2);
  EXPECT_WINDROW_OK(windrow_close(file));
}

TEST(Updaters, exclude_each_other) {
  ASSERT_EQ(size_of(), 2);
  for (const Kind& kind : k_kinds)
    for (const bool opened : {true, false}) {
      SCOPED_TRACE(std::string(kind.name) + ", " + kind.files + (opened ? ", opened" : ", created"));
      if (windrow_has(kind.format) != 0 && !failed_anywhere())
        try_kind(kind, opened);
      MPI_Barrier(MPI_COMM_WORLD);
    }
}

// All ranks close the file together, and each may open it at once.
TEST(Updaters, may_follow_as_soon_as_it_is_closed) {
  for (const Kind& kind : k_kinds)
    for (const bool opened : {true, false}) {
      if (windrow_has(kind.format) == 0)
        continue;
      SCOPED_TRACE(std::string(kind.name) + ", " + kind.files + (opened ? ", opened" : ", created"));
      SharedFolder folder;
      const std::string path = folder.file(kind.name);
      const Options options{{"files", kind.files}, {"split", "0"}};
      windrow_file* file = nullptr;
      for (int turn = 0; turn < 10; ++turn) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (opened && turn > 0) {
          ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path.c_str(), WINDROW_UPDATE, nullptr, &file));
        } else {
          ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path.c_str(), options, &file));
        }
        EXPECT_WINDROW_OK(windrow_close(file));
        if (rank_of() != 1)
          continue;
        EXPECT_WINDROW_OK(windrow_open(MPI_COMM_SELF, path.c_str(), WINDROW_UPDATE, nullptr, &file));
        EXPECT_WINDROW_OK(windrow_close(file));
      }
      MPI_Barrier(MPI_COMM_WORLD);
    }
}

// Readers of a file that is being updated are not refused, apart from HDF5's own rules.
TEST(Updaters, do_not_exclude_readers) {
  for (const Kind& kind : k_kinds) {
    if (windrow_has(kind.format) == 0 || std::string(kind.format) == "hdf5")
      continue;
    SCOPED_TRACE(std::string(kind.name) + ", " + kind.files);
    SharedFolder folder;
    const std::string path = folder.file(kind.name);
    const Options options{{"files", kind.files}, {"split", "0"}};
    windrow_file* file = nullptr;
    if (rank_of() == 0) {
      ASSERT_WINDROW_OK(windrow_create(MPI_COMM_SELF, path.c_str(), options, &file));
      define_and_write(file, "base", 7);
      ASSERT_WINDROW_OK(windrow_close(file));
      ASSERT_WINDROW_OK(windrow_open(MPI_COMM_SELF, path.c_str(), WINDROW_UPDATE, nullptr, &file));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_of() != 0) {
      ASSERT_WINDROW_OK(windrow_open(MPI_COMM_SELF, path.c_str(), WINDROW_READ, nullptr, &file));
      EXPECT_EQ(first_of(file, "base"), 7);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_WINDROW_OK(windrow_close(file));
  }
}

// Messages between the writer, rank 0, and the reader, rank 1.
enum Tag {
  k_end = 1,   // nothing is published any more
  k_opened,    // the reader has opened the file once
  k_last_open  // and does not open it again
};

void send_to(int rank, Tag tag) {
  MPI_Send(nullptr, 0, MPI_BYTE, rank, tag, MPI_COMM_WORLD);
}

int receive_from_reader() {
  MPI_Status status;
  MPI_Recv(nullptr, 0, MPI_BYTE, 1, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
  return status.MPI_TAG;
}

// A reader waits until nothing changes for a moment. So the writer waits until it has opened the file, at first perhaps
// in the middle of a change.
void wait_for_reader() {
  int is_there = 1;
  while (is_there != 0) {
    MPI_Iprobe(1, k_opened, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
    if (is_there != 0)
      (void)receive_from_reader();
  }
  for (int i = 0; i < 2; ++i)
    (void)receive_from_reader();
}

// Rank 0 publishes attributes of other lengths, so that metadata moves; rank 1 opens the file all the time.
void publish_often(const std::string& path, const char* format, int variables) {
  const Options options{{"format", format}};
  windrow_file* file = nullptr;
  ASSERT_WINDROW_OK(windrow_create(MPI_COMM_SELF, path.c_str(), options, &file));
  for (int i = 0; i < variables; ++i)
    define_and_write(file, "v" + std::to_string(i), i);
  ASSERT_WINDROW_OK(windrow_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
  for (size_t round = 0; round < 60; ++round) {
    for (int i = 0; i < variables; ++i) {
      const std::string text(40 + (round * 37 + static_cast<size_t>(i) * 11) % 250, 'a');
      ASSERT_WINDROW_OK(windrow_put_attribute_text(file, ("v" + std::to_string(i)).c_str(), "text", text.c_str()));
    }
    ASSERT_WINDROW_OK(windrow_sync(file));
    wait_for_reader();
  }
  EXPECT_WINDROW_OK(windrow_close(file));
}

bool has_arrived(MPI_Request& request) {
  int done = 0;
  MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  return done != 0;
}

void read_often(const std::string& path, int variables, MPI_Request& end) {
  MPI_Barrier(MPI_COMM_WORLD);
  int opened = 0, missing = 0;
  do {
    windrow_file* file = nullptr;
    EXPECT_WINDROW_OK(windrow_open(MPI_COMM_SELF, path.c_str(), WINDROW_READ, nullptr, &file));
    ++opened;
    for (int i = 0, variable = -1; i < variables; ++i)
      missing += windrow_find_variable(file, ("v" + std::to_string(i)).c_str(), &variable) == WINDROW_OK ? 0 : 1;
    EXPECT_STREQ(windrow_unsupported_objects(file), "");
    EXPECT_WINDROW_OK(windrow_close(file));
    send_to(0, k_opened);
  } while (!has_arrived(end));
  send_to(0, k_last_open);
  EXPECT_EQ(missing, 0) << "in " << opened << " openings";
}

TEST(Reader, of_a_file_that_is_being_published_finds_all_variables) {
  constexpr int k_variables = 20;
  const SharedFolder folder;
  const int rank = rank_of();
  for (const auto& [name, format] : {std::pair("often.h5", "hdf5"), {"often.nc", "netcdf"}}) {
    SCOPED_TRACE(format);
    MPI_Request end = MPI_REQUEST_NULL;
    if (rank == 1)
      MPI_Irecv(nullptr, 0, MPI_BYTE, 0, k_end, MPI_COMM_WORLD, &end);
    if (rank == 0)
      publish_often(folder.file(name), format, k_variables);
    else
      read_often(folder.file(name), k_variables, end);
    if (rank == 0) {
      send_to(1, k_end);
      while (receive_from_reader() != k_last_open)
        continue;
    }
  }
}

}  // namespace
