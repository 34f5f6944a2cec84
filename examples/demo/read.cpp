// SPDX-License-Identifier: BSD-3-Clause
// windrow-demo-read FILE PARTS [DUMP]: reads the checkpoint by any number of ranks, cut in other ways than it was
// written, and checks every value. DUMP: fields/potential as raw bytes, as `h5dump -b LE -o DUMP` writes it; checked
// too.
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "demo.hpp"

namespace {

struct Reader {
  int rank = 0;
  int size = 1;
  int64_t nodes = 0;
  int64_t checked_in_all = 0;
  int64_t wrong_in_all = 0;

  // Collective: adds up what the ranks found, and prints one line.
  void conclude(const char* path, const char* how, int64_t checked, int64_t wrong) {
    std::array<int64_t, 2> sums{checked, wrong};
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    checked_in_all += sums[0];
    wrong_in_all += sums[1];
    if (rank == 0)
      std::printf("   %-5s %-24s %-46s %9" PRId64 " values\n", sums[1] == 0 ? "right" : "WRONG", path, how, sums[0]);
  }
};

int64_t count_wrong(const std::vector<double>& values, size_t field, const std::vector<int64_t>& nodes) {
  int64_t wrong = 0;
  size_t place = 0;
  for (int64_t node : nodes)
    for (int64_t level = 0; level < demo::k_levels; ++level)
      wrong += values[place++] != demo::field_value(field, node, level) ? 1 : 0;
  return wrong;
}

std::vector<int64_t> every(int64_t first, int64_t end, int64_t step) {
  std::vector<int64_t> list;
  for (int64_t node = first; node < end; node += step)
    list.push_back(node);
  return list;
}

// Rows: each rank a contiguous third. The coordinates have no formula: each part's copy says what they are.
void check_coordinates(const std::string& parts, Reader& reader, const std::vector<double>& read,
                       const windrow::Decomposition::Rows& rows) {
  int64_t wrong = 0;
  for (int64_t p = 0; p < windrow::mesh::read_parts_header(parts).parts; ++p) {
    const windrow::mesh::Part part = windrow::mesh::read_part(parts, p);
    for (size_t i = 0; i < part.numbers.size(); ++i) {
      const int64_t row = part.numbers[i] - rows.first;
      if (row < 0 || row >= rows.count)
        continue;
      wrong +=
          std::memcmp(&read[static_cast<size_t>(row) * 3], &part.coordinates[i * 3], 3 * sizeof(double)) != 0 ? 3 : 0;
    }
  }
  reader.conclude("mesh/coordinates", "rows: a third of the nodes each", rows.count * 3, wrong);
}

void check_mesh(windrow::File& file, const std::string& parts, Reader& reader) {
  const auto rows = windrow::Decomposition::rows(MPI_COMM_WORLD, reader.nodes);
  const auto mine = rows.my_rows();
  const std::vector<int64_t> dealt = every(reader.rank, reader.nodes, reader.size);
  const auto points = windrow::Decomposition::points(MPI_COMM_WORLD, reader.nodes, dealt);
  const auto same = windrow::Decomposition::same(MPI_COMM_WORLD, {reader.nodes, demo::k_levels});

  std::vector<double> coordinates(static_cast<size_t>(mine.count) * 3),
      by_rows(static_cast<size_t>(mine.count * demo::k_levels)), by_points(dealt.size() * demo::k_levels),
      whole(static_cast<size_t>(reader.nodes * demo::k_levels));
  file.get(file.find_variable("mesh/coordinates"), rows, coordinates);
  file.get(file.find_variable(demo::k_fields[0]), rows, by_rows);
  file.get(file.find_variable(demo::k_fields[1]), points, by_points);
  file.get(file.find_variable(demo::k_fields[2]), same, whole);
  file.flush();

  const auto in_rows = every(mine.first, mine.first + mine.count, 1), all = every(0, reader.nodes, 1);
  const auto size = [](const std::vector<double>& values) { return static_cast<int64_t>(values.size()); };
  check_coordinates(parts, reader, coordinates, mine);
  reader.conclude(demo::k_fields[0], "rows", size(by_rows), count_wrong(by_rows, 0, in_rows));
  reader.conclude(demo::k_fields[1], "points: nodes dealt out like cards", size(by_points),
                  count_wrong(by_points, 1, dealt));
  reader.conclude(demo::k_fields[2], "same: all of it on every rank", size(whole), count_wrong(whole, 2, all));
}

void check_grid(windrow::File& file, Reader& reader) {
  const demo::GridBlock block = demo::grid_block({1, 1, reader.size}, reader.rank);
  std::vector<double> cells(block.cells(), demo::k_ghost_value);
  file.read(file.find_variable("grid/doping"), block.decomposition(MPI_COMM_WORLD), cells);
  int64_t checked = 0, wrong = 0;
  block.for_each_cell([&](size_t place, int64_t z, int64_t y, int64_t x, bool ghost) {
    checked += ghost ? 0 : 1;
    wrong += cells[place] != (ghost ? demo::k_ghost_value : demo::grid_value(z, y, x)) ? 1 : 0;
  });
  reader.conclude("grid/doping", "blocks along x, ghost cells left as they were", checked, wrong);
}

void check_dump(const std::string& path, Reader& reader) {
  int64_t checked = 0, wrong = 0;
  if (reader.rank == 0) {
    std::vector<double> values(static_cast<size_t>(reader.nodes * demo::k_levels));
    const auto bytes = static_cast<std::streamsize>(values.size() * sizeof(double));
    std::ifstream dump(path, std::ios::binary);
    if (!dump.read(reinterpret_cast<char*>(values.data()), bytes) || dump.peek() != EOF)
      throw std::runtime_error(path + " has not the size of the variable");
    checked = static_cast<int64_t>(values.size());
    wrong = count_wrong(values, 0, every(0, reader.nodes, 1));
  }
  reader.conclude(demo::k_fields[0], "as h5dump reads it", checked, wrong);
}

int read(const std::vector<std::string>& words) {
  if (words.size() < 2)
    throw std::runtime_error("usage: windrow-demo-read FILE PARTS [DUMP]");
  Reader reader;
  MPI_Comm_rank(MPI_COMM_WORLD, &reader.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &reader.size);
  auto file = windrow::File::open(MPI_COMM_WORLD, words[0]);
  reader.nodes = file.shape(file.find_variable("mesh/coordinates")).front();
  check_mesh(file, words[1], reader);
  check_grid(file, reader);
  if (words.size() > 2)
    check_dump(words[2], reader);
  file.close();
  if (reader.rank == 0)
    std::printf("   %" PRId64 " values checked bit for bit, %" PRId64 " wrong\n", reader.checked_in_all,
                reader.wrong_in_all);
  return reader.wrong_in_all == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return demo::run_program(argc, argv, "windrow-demo-read", read);
}
