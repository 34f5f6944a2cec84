// SPDX-License-Identifier: BSD-3-Clause
// appending write PATH FAULT LENGTHS KEY=VALUE...: appends records to a compressed variable, each LENGTH of LENGTHS
// ("1,1,3") in a flush with a sync of its own, all ranks, each its columns; the fault ("": none) comes to the flushes.
// Rank 0 prints the number of records after each sync. appending continue ...: the same into a file that is there,
// opened for update. appending read PATH RECORDS: all records that the file says it has are read, and the first RECORDS
// of them must be what was written; prints how many. For killed_append_test.py.
#include <mpi.h>
#include <windrow/windrow.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr int64_t k_columns = 24000;

int failed(const char* what) {
  std::fprintf(stderr, "%s: %s\n", what, windrow_error_message());
  return 1;
}

// Of another compressed size in each record.
std::vector<int32_t> record(int64_t number, int64_t first, int64_t count) {
  std::vector<int32_t> values;
  for (int64_t column = first; column < first + count; ++column) {
    const auto mixed = static_cast<uint32_t>((column * 2654435761U) ^ static_cast<uint32_t>(number * 40503));
    values.push_back(column % (7 + number % 5) == 0 ? static_cast<int32_t>(mixed) : static_cast<int32_t>(number));
  }
  return values;
}

struct Share {
  int rank = 0, ranks = 1;
  int64_t first() const { return k_columns * rank / ranks; }
  int64_t count() const { return k_columns * (rank + 1) / ranks - first(); }
};

int append(const char* path, bool update, const char* lengths, const windrow_options* options,
           const windrow_options* of_variable) {
  Share share;
  MPI_Comm_rank(MPI_COMM_WORLD, &share.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &share.ranks);
  windrow_file* file = nullptr;
  int variable = -1;
  int64_t records = 0;
  const int64_t shape[2] = {0, k_columns};
  if (update) {
    if (windrow_open(MPI_COMM_WORLD, path, WINDROW_UPDATE, options, &file) != WINDROW_OK)
      return failed("open");
    windrow_variable_info info{};
    info.size = sizeof info;
    if (windrow_find_variable(file, "grid", &variable) != WINDROW_OK ||
        windrow_inquire_variable(file, variable, &info) != WINDROW_OK)
      return failed("find");
    records = info.shape[0];
  } else {
    if (windrow_create(MPI_COMM_WORLD, path, options, &file) != WINDROW_OK)
      return failed("create");
    if (windrow_define_variable_with(file, "grid", WINDROW_INT32, 2, shape, of_variable, &variable) != WINDROW_OK)
      return failed("define");
  }
  windrow_decomposition* columns = nullptr;
  const int64_t first = share.first(), mine = share.count();
  if (windrow_block(MPI_COMM_WORLD, 1, &k_columns, &first, &mine, nullptr, nullptr, &columns) != WINDROW_OK)
    return failed("block");
  std::istringstream all(lengths);
  for (std::string length; std::getline(all, length, ',');) {
    const int64_t count = std::atoll(length.c_str());
    std::vector<std::vector<int32_t>> values;
    for (int64_t number = records; number < records + count; ++number) {
      values.push_back(record(number, share.first(), share.count()));
      if (windrow_put_record(file, variable, number, columns, values.back().data()) != WINDROW_OK)
        return failed("put");
    }
    if (windrow_sync(file) != WINDROW_OK)
      return failed("sync");
    records += count;
    if (share.rank == 0)
      std::printf("%lld\n", static_cast<long long>(records)), std::fflush(stdout);
  }
  windrow_decomposition_free(columns);
  return windrow_close(file) == WINDROW_OK ? 0 : failed("close");
}

int read(const char* path, int64_t expected) {
  windrow_file* file = nullptr;
  int variable = -1;
  windrow_variable_info info{};
  info.size = sizeof info;
  if (windrow_open(MPI_COMM_WORLD, path, WINDROW_READ, nullptr, &file) != WINDROW_OK)
    return failed("open");
  if (windrow_find_variable(file, "grid", &variable) != WINDROW_OK ||
      windrow_inquire_variable(file, variable, &info) != WINDROW_OK)
    return failed("find");
  std::vector<int32_t> values(static_cast<size_t>(expected * k_columns));
  const int64_t start[2] = {0, 0}, counts[2] = {expected, k_columns};
  if (info.shape[0] < expected)
    return std::fprintf(stderr, "%lld records are there\n", static_cast<long long>(info.shape[0])), 1;
  if (windrow_read_block(file, variable, start, counts, values.data()) != WINDROW_OK)
    return failed("read");
  for (int64_t number = 0; number < expected; ++number) {
    const std::vector<int32_t> wanted = record(number, 0, k_columns);
    for (int64_t column = 0; column < k_columns; ++column) {
      const int32_t found = values[static_cast<size_t>(number * k_columns + column)];
      if (found == wanted[static_cast<size_t>(column)])
        continue;
      return std::fprintf(stderr, "record %lld, column %lld: %d\n", static_cast<long long>(number),
                          static_cast<long long>(column), found),
             1;
    }
  }
  std::printf("%lld\n", static_cast<long long>(info.shape[0]));
  return windrow_close(file) == WINDROW_OK ? 0 : failed("close");
}

int run(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "read" && argc == 4)
    return read(argv[2], std::atoll(argv[3]));
  if (argc < 5)
    return 2;
  windrow_options *options = nullptr, *of_variable = nullptr;
  if (windrow_options_create(&options) != WINDROW_OK || windrow_options_create(&of_variable) != WINDROW_OK)
    return failed("options");
  const auto set = [](windrow_options* where, const std::string& setting) {
    const size_t equals = setting.find('=');
    return windrow_options_set(where, setting.substr(0, equals).c_str(), setting.substr(equals + 1).c_str()) ==
           WINDROW_OK;
  };
  for (int i = 5; i < argc; ++i)
    if (!set(options, argv[i]))
      return failed("option");
  if (argv[3][0] != '\0' && !(set(options, "store=faulty") && set(options, std::string("fault=") + argv[3])))
    return failed("option");
  if (!set(of_variable, "extendible=true") || !set(of_variable, "chunks=8x6000") ||
      !set(of_variable, "filters=shuffle,deflate:1"))
    return failed("option");
  const int code = append(argv[2], what == "continue", argv[4], options, of_variable);
  windrow_options_free(of_variable);
  windrow_options_free(options);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int code = run(argc, argv);
  MPI_Finalize();
  return code;
}
