// SPDX-License-Identifier: BSD-3-Clause
// Chunks that other programs stored without some of their filters, or without any at the array's edges: what Windrow
// changes of them, others read, and so does it itself in the same session.
#include <gmock/gmock.h>

#include <algorithm>

#include "../capi/checked.hpp"
#include "../format/foreign.hpp"

namespace {

using namespace windrow_test;
using testing::HasSubstr;

// Datasets of every index that HDF5 has for chunks. Of three chunks the outer ones were stored with a mask.
constexpr int64_t k_rows = 24, k_columns = 2;
const char* k_make_masked = R"(
import zlib
model = np.arange(48).reshape(24, 2) * 1000003 + 5
shuffled = lambda raw: np.frombuffer(raw, 'u1').reshape(-1, 8).T.tobytes()
kinds = {'single': ((24, 2), None), 'fixed': ((8, 2), None),
         'growing': ((8, 2), (None, 2)), 'both grow': ((8, 2), (None, None))}
stores = {'shuffle 1': (dict(shuffle=True), 1, bytes), 'shuffle all': (dict(shuffle=True), 0xffffffff, bytes),
          'deflate 1': (dict(shuffle=True, compression=1), 1, zlib.compress),
          'deflate 2': (dict(shuffle=True, compression=1), 2, shuffled),
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

// Datasets whose edge chunks are not filtered; h5py has no call for it, but the library that it uses.
constexpr int64_t k_side = 10;
const char* k_make_edged = R"(
import ctypes
library = ctypes.CDLL([line.split()[-1] for line in open('/proc/self/maps')
                       if '/libhdf5' in line and '_hl' not in line][0])
model = np.arange(100, dtype='i4').reshape(10, 10) * 1001
f = h5py.File(path, 'w', libver='latest')
def make(name, most, tune):
    p = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    p.set_chunk((4, 4))
    tune(p)
    assert library.H5Pset_chunk_opts(ctypes.c_int64(p.id), ctypes.c_uint(2)) >= 0
    d = h5py.Dataset(h5py.h5d.create(f.id, name, h5py.h5t.STD_I32LE, h5py.h5s.create_simple((10, 10), most), p))
    return d
any = h5py.h5s.UNLIMITED
def compressed(p): p.set_shuffle(); p.set_deflate(1)
)";

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

int64_t masked_value(int64_t element, int64_t round) {
  return round == 0 ? element * 1000003 + 5 : -element - 1000 * round;
}

// Some rows of each rank, in all three chunks together; what the array is afterwards.
void change_masked(windrow_file* file, int variable, int64_t first, int64_t count, int64_t stride, int64_t round,
                   std::vector<int64_t>& model) {
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

// In part, of the same size and of another, and whole, whichever comes first; again in the same session and in the next
// one.
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
          for (int64_t element = 0; model.size() < k_rows * k_columns; ++element)
            model.push_back(masked_value(element, 0));
          if (whole_first)
            change_masked(file, variable, 0, 8, 8, 1, model);
          change_masked(file, variable, 1, 2, 7, 2, model);
          change_masked(file, variable, 2, 2, 7, 3, model);
          if (!whole_first)
            change_masked(file, variable, 0, 8, 8, again ? 5 : 4, model);
        }
        ASSERT_WINDROW_OK(windrow_close(file));
      }
      h5py(std::string(k_make_masked) + "size, whole_first = " + std::to_string(size_of()) +
           (whole_first ? ", True" : ", False") + R"(
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

std::vector<int32_t> edged_model() {
  std::vector<int32_t> model;
  for (int32_t i = 0; i < k_side * k_side; ++i)
    model.push_back(i * 1001);
  return model;
}

void expect_all(windrow_file* file, int variable, const std::vector<int32_t>& model, const std::string& when) {
  std::vector<int32_t> all(model.size(), -1);
  const int64_t start[2] = {0, 0}, counts[2] = {static_cast<int64_t>(model.size()) / k_side, k_side};
  ASSERT_WINDROW_OK(windrow_read_block(file, variable, start, counts, all.data()));
  EXPECT_EQ(all, model) << when;
}

// A row for each rank.
void change_edged(windrow_file* file, int variable, int64_t first, int64_t column, std::vector<int32_t>& model) {
  const int64_t wide = k_side - column;
  for (int64_t rank = 0; rank < size_of() && first + rank < k_side; ++rank)
    for (int64_t j = column; j < k_side; ++j)
      model[static_cast<size_t>((first + rank) * k_side + j)] = static_cast<int32_t>(-(rank + 1) * 100 - j - first);
  const bool any = first + rank_of() < k_side;
  const int64_t row = any ? first + rank_of() : 0, start[2] = {row, column}, count[2] = {any ? 1 : 0, wide};
  const int32_t* mine = model.data() + row * k_side + column;
  ASSERT_WINDROW_OK(windrow_write_block(file, variable, start, count, mine));
  expect_all(file, variable, model, "row " + std::to_string(first));
}

void put_row(windrow_file* file, int variable, int64_t record, std::vector<int32_t>& model) {
  const int64_t shape[1] = {k_side}, start[1] = {0}, count[1] = {rank_of() == size_of() - 1 ? k_side : 0};
  windrow_decomposition* d = nullptr;
  ASSERT_WINDROW_OK(windrow_block(MPI_COMM_WORLD, 1, shape, start, count, nullptr, nullptr, &d));
  const Decomposition block(d);
  model.resize(static_cast<size_t>((record + 1) * k_side), 0);
  int32_t* row = model.data() + record * k_side;
  for (int64_t j = 0; j < k_side; ++j)
    row[j] = static_cast<int32_t>(record * 100 + j);
  ASSERT_WINDROW_OK(windrow_put_record(file, variable, record, d, row));
  ASSERT_WINDROW_OK(windrow_flush(file));
  expect_all(file, variable, model, "record " + std::to_string(record));
}

TEST_F(SkippedFilters, of_edges_stay_so_and_what_grows_is_filtered) {
  h5py(std::string(k_make_edged) +
       "for name, most in ((b'fixed', (10, 10)), (b'growing', (any, 10)), (b'both grow', (any, any))): make(name, "
       "most, compressed)[...] = model\n");
  windrow_file* file = open(WINDROW_UPDATE);
  for (const char* name : {"fixed", "growing", "both grow"}) {
    SCOPED_TRACE(name);
    const int variable = find(file, name);
    std::vector<int32_t> model = edged_model();
    expect_all(file, variable, model, "as it was");
    change_edged(file, variable, 1, 3, model);
    change_edged(file, variable, 7, 0, model);
    change_edged(file, variable, 6, 9, model);
    if (name != std::string("fixed"))
      for (const int64_t record : {10, 11, 13, 18})
        put_row(file, variable, record, model);
  }
  ASSERT_WINDROW_OK(windrow_close(file));
  h5py(std::string("size = ") + std::to_string(size_of()) + R"(
model = np.arange(100, dtype='i4').reshape(10, 10) * 1001
columns = np.arange(10)
for first, column in ((1, 3), (7, 0), (6, 9)):
    for rank in range(min(size, 10 - first)):
        model[first + rank, column:] = -(rank + 1) * 100 - columns[column:] - first
f = h5py.File(path, 'r')
for name in ('fixed', 'growing', 'both grow'):
    d = f[name]
    rows = 10 if name == 'fixed' else 19
    wanted = np.zeros((rows, 10), 'i4')
    wanted[:10] = model
    if name != 'fixed':
        for record in (10, 11, 13, 18): wanted[record] = record * 100 + columns
    assert d.shape == (rows, 10) and (d[...] == wanted).all(), (name, d[...])
    for i in range(d.id.get_num_chunks()):
        chunk = d.id.get_chunk_info(i)
        edge = chunk.chunk_offset[0] + 4 > rows or chunk.chunk_offset[1] + 4 > 10
        assert (chunk.size == 64) == edge and chunk.filter_mask == 0, (name, chunk)
)");
}

// Chunks that were never written, and all of an array at once.
TEST_F(SkippedFilters, of_edges_are_so_in_new_chunks) {
  h5py(std::string(k_make_edged) + "make(b'empty', (10, 10), compressed)\n");
  windrow_file* file = open(WINDROW_UPDATE);
  const int variable = find(file, "empty");
  expect_all(file, variable, std::vector<int32_t>(k_side * k_side, 0), "as it was");
  const std::vector<int32_t> model = edged_model();
  const int64_t start[2] = {0, 0}, count[2] = {rank_of() == 0 ? k_side : 0, k_side};
  ASSERT_WINDROW_OK(windrow_write_block(file, variable, start, count, model.data()));
  ASSERT_WINDROW_OK(windrow_close(file));
  h5py("assert (h5py.File(path, 'r')['empty'][...] == np.arange(100).reshape(10, 10) * 1001).all()\n");
}

// HDF5 itself filters what is inside once a variable has grown. Where it lacks a filter that must not be skipped,
// nothing has grown.
TEST_F(SkippedFilters, of_edges_that_hdf5_cannot_filter_do_not_grow) {
  if (windrow_has("filter=blosc") == 0)
    GTEST_SKIP() << "built without Blosc";
  h5py(
      std::string(k_make_edged) +
      "class Filter(ctypes.Structure):\n"  // H5Z_class2_t: a dataset is made only where its mandatory filters are known
      "    _fields_ = [('version', ctypes.c_int), ('id', ctypes.c_int), ('encodes', ctypes.c_uint), ('decodes', "
      "ctypes.c_uint), ('name', ctypes.c_char_p),\n"
      "                ('can_apply', ctypes.c_void_p), ('set_local', ctypes.c_void_p), ('filter', "
      "ctypes.CFUNCTYPE(ctypes.c_size_t))]\n"
      "blosc = Filter(1, 32001, 1, 1, b'blosc', None, None, ctypes.CFUNCTYPE(ctypes.c_size_t)(lambda: 0))\n"
      "assert library.H5Zregister(ctypes.byref(blosc)) >= 0\n"
      "def mandatory(p): p.set_filter(32001, h5py.h5z.FLAG_MANDATORY, (2, 2, 4, 64, 5, 1, 1))\n"
      "d = make(b'odd', (any, 10), mandatory)\n"
      "rows = np.zeros((12, 12), 'i4')\nrows[:10, :10] = model\n"
      "for i, j in ((0, 8), (4, 8), (8, 0), (8, 4), (8, 8)): d.id.write_direct_chunk((i, j), rows[i:i + 4, j:j + "
      "4].tobytes())\n");
  windrow_file* file = open(WINDROW_UPDATE);
  const int variable = find(file, "odd");
  std::vector<int32_t> model = edged_model();
  for (int64_t i = 0; i < 8; ++i)
    std::fill_n(model.begin() + i * k_side, 8, 0);
  expect_all(file, variable, model, "as it was");
  const int64_t shape[1] = {k_side}, start[1] = {0}, count[1] = {rank_of() == 0 ? k_side : 0};
  windrow_decomposition* d = nullptr;
  ASSERT_WINDROW_OK(windrow_block(MPI_COMM_WORLD, 1, shape, start, count, nullptr, nullptr, &d));
  const Decomposition block(d);
  const std::vector<int32_t> row(k_side, 7);
  ASSERT_WINDROW_OK(windrow_put_record(file, variable, 12, d, row.data()));
  if (windrow_flush(file) == WINDROW_OK) {  // this HDF5 finds a plugin
    model.resize(13 * k_side, 0);
    std::fill(model.end() - k_side, model.end(), 7);
  } else {
    EXPECT_THAT(windrow_error_message(), HasSubstr("extension of \"/odd\""));
  }
  expect_all(file, variable, model, "after the flush");
  ASSERT_WINDROW_OK(windrow_close(file));
  file = open(WINDROW_READ);
  expect_all(file, find(file, "odd"), model, "opened again");
  ASSERT_WINDROW_OK(windrow_close(file));
}

}  // namespace
