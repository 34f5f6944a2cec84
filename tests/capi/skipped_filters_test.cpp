// SPDX-License-Identifier: BSD-3-Clause
// Chunks that other programs stored without some of their filters: what Windrow changes of them, others
// read, and so does it itself in the same session.
#include <gmock/gmock.h>

#include <algorithm>

#include "../format/foreign.hpp"
#include "checked.hpp"

namespace {

using namespace windrow_test;

// Datasets of every index that HDF5 has for chunks. Of three chunks the outer ones were stored with a mask.
constexpr int64_t k_rows = 24, k_columns = 2;
const char* k_make_masked = R"(
import zlib
model = np.arange(48).reshape(24, 2) * 1000003 + 5
shuffled = lambda raw: np.frombuffer(raw, 'u1').reshape(-1, 8).T.tobytes()
kinds = {'single': ((24, 2), None), 'fixed': ((8, 2), None), 'growing': ((8, 2), (None, 2)), 'both grow': ((8, 2), (None, None))}
stores = {'shuffle 1': (dict(shuffle=True), 1, bytes), 'shuffle all': (dict(shuffle=True), 0xffffffff, bytes),
          'deflate 1': (dict(shuffle=True, compression=1), 1, zlib.compress), 'deflate 2': (dict(shuffle=True, compression=1), 2, shuffled),
          'deflate 3': (dict(shuffle=True, compression=1), 3, bytes), 'nothing 1': (dict(), 1, bytes)}
def make(libver):
    f = h5py.File(path, 'w', libver=libver)
    for kind, (chunks, most) in kinds.items():
        for store, (filters, mask, encode) in stores.items():
            d = f.create_dataset(kind + ' ' + store, shape=(24, 2), dtype='i8', chunks=chunks, maxshape=most, **filters)
            d[...] = model
            for row in (0, 16) if chunks[0] == 8 else (0,):
                d.id.write_direct_chunk((row, 0), encode(model[row:row + chunks[0]].tobytes()), filter_mask=mask)
    f.close()
)";

std::vector<std::string> masked_names() {
  std::vector<std::string> names;
  for (const char* kind : {"single", "fixed", "growing", "both grow"})
    for (const char* store : {"shuffle 1", "shuffle all", "deflate 1", "deflate 2", "deflate 3", "nothing 1"})
      names.push_back(std::string(kind) + " " + store);
  return names;
}

class SkippedFilters : public testing::Test {
 protected:
  std::string path() const { return folder_.file("of others.h5"); }
  void h5py(const std::string& script) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_of() == 0) {
      const auto output = windrow::test::run_h5py(script, path());
      EXPECT_EQ(output.exit_code, 0) << output.text;
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  windrow_file* open(int mode) const {
    windrow_file* file = nullptr;
    EXPECT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path().c_str(), mode, nullptr, &file));
    return file;
  }
  static int find(windrow_file* file, const std::string& name) {
    int variable = -1;
    EXPECT_WINDROW_OK(windrow_find_variable(file, name.c_str(), &variable));
    return variable;
  }
  SharedFolder folder_;
};

int64_t masked_value(int64_t element, int64_t round) { return round == 0 ? element * 1000003 + 5 : -element - 1000 * round; }

// Some rows of each rank, in all three chunks together; what the array is afterwards.
void change_masked(windrow_file* file, int variable, int64_t first, int64_t count, int64_t stride, int64_t round, std::vector<int64_t>& model) {
  for (int rank = 0; rank < size_of(); ++rank) {
    const int64_t begin = std::min(first + stride * rank, k_rows), end = std::min(begin + count, k_rows);
    std::vector<int64_t> mine;
    for (int64_t element = begin * k_columns; element < end * k_columns; ++element)
      mine.push_back(model[static_cast<size_t>(element)] = masked_value(element, round));
    const int64_t start[2] = {begin < end ? begin : 0, 0}, counts[2] = {end - begin, k_columns};
    if (rank == rank_of()) {
      ASSERT_WINDROW_OK(windrow_write_block(file, variable, start, counts, mine.data()));
    }
  }
  std::vector<int64_t> all(model.size());
  const int64_t start[2] = {0, 0}, counts[2] = {k_rows, k_columns};
  ASSERT_WINDROW_OK(windrow_read_block(file, variable, start, counts, all.data()));
  EXPECT_EQ(all, model) << "round " << round;
}

// In part, of the same size and of another, and whole, whichever comes first; again in the same session and in the next one.
TEST_F(SkippedFilters, of_chunks_that_are_changed_are_none) {
  for (const char* libver : {"earliest", "latest"})
    for (const bool whole_first : {false, true}) {
      SCOPED_TRACE(std::string(libver) + (whole_first ? ", whole first" : ""));
      h5py(std::string(k_make_masked) + "make('" + libver + "')\n");
      std::vector<int64_t> model;
      for (const bool again : {false, true}) {
        windrow_file* file = open(WINDROW_UPDATE);
        const std::vector<int64_t> before = model;
        for (const std::string& name : masked_names()) {
          SCOPED_TRACE(name);
          const int variable = find(file, name);
          model = before;
          for (int64_t element = 0; model.size() < k_rows * k_columns; ++element) model.push_back(masked_value(element, 0));
          if (whole_first) change_masked(file, variable, 0, 8, 8, 1, model);
          change_masked(file, variable, 1, 2, 7, 2, model);
          change_masked(file, variable, 2, 2, 7, 3, model);
          if (!whole_first) change_masked(file, variable, 0, 8, 8, again ? 5 : 4, model);
        }
        ASSERT_WINDROW_OK(windrow_close(file));
      }
      h5py(std::string(k_make_masked) + "size, whole_first = " + std::to_string(size_of()) + (whole_first ? ", True" : ", False") + R"(
flat = np.arange(48).reshape(24, 2)
changed = set()
def change(first, count, stride, round):
    for rank in range(size):
        rows = range(min(first + stride * rank, 24), min(first + stride * rank + count, 24))
        for row in rows:
            model[row] = -flat[row] - 1000 * round
            changed.add(row // 8)
for again in (False, True):
    if whole_first: change(0, 8, 8, 1)
    change(1, 2, 7, 2)
    change(2, 2, 7, 3)
    if not whole_first: change(0, 8, 8, 5 if again else 4)
f = h5py.File(path, 'r')
for kind, (chunks, most) in kinds.items():
    for store, (filters, mask, encode) in stores.items():
        d = f[kind + ' ' + store]
        assert (d[...] == model).all(), (d.name, d[...], model)
        for i in range(d.id.get_num_chunks()) if filters else ():
            chunk = d.id.get_chunk_info(i)
            old = mask if chunk.chunk_offset[0] != 8 else 0
            expected = 0 if kind == 'single' or chunk.chunk_offset[0] // 8 in changed else old
            assert chunk.filter_mask == expected, (d.name, chunk)
)");
    }
}

}  // namespace
