// SPDX-License-Identifier: BSD-3-Clause
// A program to trace: writes FILE of plain bytes twice through the same lists and reads it; then, if asked for, writes
// a list of IRREGULAR pieces a rank. Rank 0 prints windrow_bytes_report() after each call, a line each.
//
// The lists begin at byte 1000000. Rank r has 50 pieces of 100 bytes, in turn with the other ranks, and 40 bytes of the
// first piece of the next rank, which that rank writes. The lists that are read go on 30 bytes beyond the end.
#include <mpi.h>

#include <windrow/windrow.h>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr int64_t k_begin = 1'000'000, k_pieces = 50, k_length = 100, k_shared = 40, k_beyond = 30;

void check(int code) {
  if (code != WINDROW_OK)
    throw std::runtime_error(windrow_error_message());
}

void print_report(windrow_bytes* file, int rank) {
  const char* report = "";
  check(windrow_bytes_report(file, "json", &report));
  std::string text = report;
  for (char& c : text)
    if (c == '\n')
      c = ' ';
  if (rank == 0)
    std::printf("%s\n", text.c_str());
}

windrow_byte_list* list_of(const std::vector<int64_t>& offsets, const std::vector<int64_t>& lengths) {
  windrow_byte_list* list = nullptr;
  check(windrow_byte_list_pieces(static_cast<int64_t>(offsets.size()), offsets.data(), nullptr, lengths.data(), &list));
  return list;
}

void run(const char* path, int irregular) {
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<int64_t> offsets, lengths;
  for (int64_t i = 0; i < k_pieces; ++i) {
    offsets.push_back(k_begin + (i * size + rank) * k_length);
    lengths.push_back(k_length);
  }
  if (rank + 1 < size)
    lengths[0] += k_shared;
  std::vector<char> data(static_cast<size_t>((irregular + k_pieces + 1) * 2 * k_length), static_cast<char>('a' + rank));
  windrow_bytes* file = nullptr;
  check(windrow_bytes_open(MPI_COMM_WORLD, path, WINDROW_UPDATE_OR_CREATE, nullptr, &file));
  windrow_byte_list* list = list_of(offsets, lengths);
  for (int step = 0; step < 2; ++step) {
    check(windrow_bytes_write(file, list, data.data()));
    print_report(file, rank);
  }
  windrow_byte_list_free(list);
  lengths.back() += k_beyond;
  list = list_of(offsets, lengths);
  check(windrow_bytes_read(file, list, data.data(), nullptr));
  print_report(file, rank);
  windrow_byte_list_free(list);
  offsets.assign(static_cast<size_t>(irregular), 0);
  lengths.assign(offsets.size(), 1);
  for (size_t i = 0; i < offsets.size(); ++i) {
    const auto place = static_cast<int64_t>(i);
    offsets[i] = (place * size + rank) * k_length + place % 7 * place % 11;
    lengths[i] = 1 + place * place % 13;
  }
  list = list_of(offsets, lengths);
  check(windrow_bytes_write(file, list, data.data()));
  windrow_byte_list_free(list);
  check(windrow_bytes_close(file));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  try {
    run(argv[1], argc > 2 ? std::atoi(argv[2]) : 0);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return MPI_Finalize();
}
