// SPDX-License-Identifier: BSD-3-Clause
// bytes PATH NUMBER FAULT KEY=VALUE...: writes listed bytes of a file with all ranks, with values of that number, or
// dies of the fault ("": none). For killed_bytes_test.py, which has the same list and the same values.
#include <mpi.h>
#include <windrow/windrow.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

int failed(const char* what) {
  std::fprintf(stderr, "%s: %s\n", what, windrow_error_message());
  return 1;
}

constexpr int64_t k_cells = 600, k_cell = 96;

// Each cell has a piece of each rank, of several lengths and with gaps between them. Some cells have none, and in the
// middle of the file is a long gap.
void list_pieces(int64_t rank, int64_t size, std::vector<int64_t>& offsets, std::vector<int64_t>& lengths) {
  const int64_t room = k_cell / size;
  for (int64_t cell = 0; cell < k_cells; ++cell) {
    if (cell % 8 == 5)
      continue;
    offsets.push_back(cell * k_cell + (cell >= k_cells / 2 ? 20'000 : 0) + rank * room + cell % 3);
    lengths.push_back(1 + (7 * cell + 3 * rank) % (room - 4));
  }
}

char value_at(int64_t offset, int64_t number) {
  return static_cast<char>((7 * offset + offset / 256 + 101 * number) % 256);
}

int write(const char* path, int64_t number, const windrow_options* options) {
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<int64_t> offsets, lengths;
  list_pieces(rank, size, offsets, lengths);
  std::vector<char> data;
  for (size_t i = 0; i < offsets.size(); ++i)
    for (int64_t k = 0; k < lengths[i]; ++k)
      data.push_back(value_at(offsets[i] + k, number));
  windrow_byte_list* list = nullptr;
  windrow_bytes* file = nullptr;
  if (windrow_byte_list_pieces(static_cast<int64_t>(offsets.size()), offsets.data(), nullptr, lengths.data(), &list) !=
      WINDROW_OK)
    return failed("list");
  if (windrow_bytes_open(MPI_COMM_WORLD, path, WINDROW_UPDATE, options, &file) != WINDROW_OK)
    return failed("open");
  if (windrow_bytes_write(file, list, data.data()) != WINDROW_OK)
    return failed("write");
  windrow_byte_list_free(list);
  return windrow_bytes_close(file) == WINDROW_OK ? 0 : failed("close");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 4)
    return 2;
  windrow_options* options = nullptr;
  if (windrow_options_create(&options) != WINDROW_OK)
    return failed("options");
  std::vector<std::string> settings(argv + 4, argv + argc);
  if (argv[3][0] != '\0') {
    settings.emplace_back("store=faulty");
    settings.push_back(std::string("fault=") + argv[3]);
  }
  for (const std::string& setting : settings) {
    const size_t equals = setting.find('=');
    if (windrow_options_set(options, setting.substr(0, equals).c_str(), setting.substr(equals + 1).c_str()) !=
        WINDROW_OK)
      return failed("option");
  }
  const int code = write(argv[1], std::atoll(argv[2]), options);
  windrow_options_free(options);
  MPI_Finalize();
  return code;
}
