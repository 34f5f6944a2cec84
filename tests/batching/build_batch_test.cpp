// SPDX-License-Identifier: BSD-3-Clause
// Requests as items of a batch, by how their variables are stored. Nothing is opened or moved.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <vector>

#include "batching/chunked_storage.hpp"
#include "batching/contiguous_storage.hpp"

namespace windrow {
namespace {

using testing::HasSubstr;

constexpr int64_t k_rows = 4, k_columns = 6, k_row_bytes = k_columns * 8;

// An open file with variables of k_rows x k_columns numbers.
struct OpenFileParts {
  std::shared_ptr<Comm> comm = Comm::of(MPI_COMM_WORLD).value();
  OpenFile identity;
  std::string path = "run.raw", reason;
  Settings settings;
  Metadata metadata{path};
  DataFile data{path, false, {}};
  WriteState write_state;
  SubfileSet set{*comm, FormatMode::read, metadata.catalog(), write_state};
  std::unique_ptr<Format> format;
  PartFormats formats{format, set};
  Publication publication{false};
  Striping striping;
  StripingOptions striping_options;
  FlushEngine engine{*comm};
  RequestList requests;
  std::vector<double> values = std::vector<double>(static_cast<size_t>(k_rows * k_columns));

  // Variables: contiguous, with interleaved records, and in chunks.
  OpenFileParts() {
    Catalog catalog;
    for (const char* name : {"/contiguous", "/records", "/chunked"}) {
      Variable& variable = catalog.variables.emplace_back();
      variable.path = name;
      variable.type = Type::float64;
      variable.shape = {k_rows, k_columns};
      variable.placement.bytes = k_rows * k_row_bytes;
    }
    catalog.variables[0].placement.offset = 1000;
    catalog.variables[1].placement.offset = 5000;
    catalog.variables[1].placement.stride = 100;
    catalog.variables[1].extendible = true;
    catalog.variables[2].chunking.shape = {2, 3};
    metadata.take(std::move(catalog));
    write_state.grow(metadata.catalog().variables.size());
  }

  FileView view() {
    return {.comm = *comm,
            .identity = identity,
            .path = path,
            .settings = settings,
            .metadata = metadata,
            .data = data,
            .set = set,
            .subfiles = nullptr,
            .format = nullptr,
            .formats = formats,
            .write_state = write_state,
            .publication = publication,
            .striping = striping,
            .striping_options = striping_options,
            .layout = nullptr,
            .files_reason = reason};
  }

  // Rank 0 holds all, the others nothing.
  std::shared_ptr<SharedDecomposition> all_of(const std::vector<int64_t>& shape) {
    const std::vector<int64_t> starts(shape.size(), 0);
    const std::vector<int64_t> counts = comm->rank() == 0 ? shape : starts;
    return SharedDecomposition::make(
               *comm, make_block(shape, {.starts = starts, .counts = counts, .memory_shapes = {}, .memory_starts = {}}),
               SharedDecomposition::Use::any)
        .value();
  }

  void add(bool put, int variable, std::shared_ptr<SharedDecomposition> decomposition, int64_t record = -1) {
    QueuedRequest request;
    request.put = put;
    request.variable = variable;
    request.decomposition = std::move(decomposition);
    request.data = reinterpret_cast<std::byte*>(values.data());
    request.record = record;
    request.rows = k_rows;
    requests.add(std::move(request));
  }
  bool has_data() const { return comm->rank() == 0; }
};

TEST(BuildBatch, contiguous_variables_are_one_item_each) {
  OpenFileParts file;
  const FileView view = file.view();
  ContiguousStorage storage(view, file.engine);
  file.add(true, 0, file.all_of({k_rows, k_columns}));
  VariableBatch batch;
  ASSERT_TRUE(build_batch({view, file.requests}, file.engine, storage, {.reading = false, .ordinal = 0}, batch).ok());
  EXPECT_TRUE(is_among(0, batch.objects));
  EXPECT_EQ(batch.entries, 1);
  ASSERT_EQ(batch.items.size(), file.has_data() ? 1U : 0U);
  if (!file.has_data())
    return;
  EXPECT_EQ(batch.items[0].hull, (Extent{1000, 1000 + k_rows * k_row_bytes}));
  EXPECT_EQ(batch.bytes, k_rows * k_row_bytes);
}

TEST(BuildBatch, a_record_is_contiguous_and_all_records_have_a_stride) {
  OpenFileParts file;
  const FileView view = file.view();
  ContiguousStorage storage(view, file.engine);
  const auto row = file.all_of({k_columns}), all = file.all_of({k_rows, k_columns});
  file.add(false, 1, row, 2);
  VariableBatch record;
  ASSERT_TRUE(build_batch({view, file.requests}, file.engine, storage, {.reading = true, .ordinal = 0}, record).ok());
  file.requests.clear();
  file.add(false, 1, all);
  VariableBatch whole;
  ASSERT_TRUE(build_batch({view, file.requests}, file.engine, storage, {.reading = true, .ordinal = 0}, whole).ok());
  if (!file.has_data())
    return;
  EXPECT_EQ(record.items.at(0).hull, (Extent{5200, 5200 + k_row_bytes}));
  EXPECT_EQ(record.hull, (Extent{5200, 5200 + k_row_bytes}));
  EXPECT_EQ(whole.items.at(0).hull, (Extent{5000, 5300 + k_row_bytes}));
  EXPECT_EQ(whole.bytes, k_rows * k_row_bytes);
  EXPECT_NE(record.key, whole.key);
}

TEST(BuildBatch, a_record_that_does_not_exist_is_an_error) {
  OpenFileParts file;
  const FileView view = file.view();
  ContiguousStorage storage(view, file.engine);
  file.add(false, 1, file.all_of({k_columns}), 4);
  VariableBatch batch;
  EXPECT_THAT(
      build_batch({view, file.requests}, file.engine, storage, {.reading = true, .ordinal = 0}, batch).message(),
      HasSubstr("\"/records\" has 4 records; there is no number 4 to read"));
}

TEST(BuildBatch, a_chunked_variable_has_a_batch_of_its_own) {
  OpenFileParts file;
  const FileView view = file.view();
  const auto all = file.all_of({k_rows, k_columns});
  file.add(true, 0, all);
  file.add(true, 2, all);
  ContiguousStorage contiguous(view, file.engine);
  VariableBatch others;
  ASSERT_TRUE(
      build_batch({view, file.requests}, file.engine, contiguous, {.reading = false, .ordinal = 0}, others).ok());
  EXPECT_TRUE(is_among(2, others.objects));  // all ranks learn that it has a batch
  EXPECT_EQ(others.entries, 1);
  const auto layouts = chunk_layouts_of(view, 2);
  ASSERT_TRUE(layouts.ok());
  ASSERT_EQ(layouts.value().size(), 1U);
  ChunkedStorage chunked(view, file.engine, 2, layouts.value().front());
  VariableBatch chunks;
  ASSERT_TRUE(build_batch({view, file.requests}, file.engine, chunked, {.reading = false, .ordinal = 0}, chunks).ok());
  EXPECT_FALSE(is_among(0, chunks.objects));
  EXPECT_EQ(chunks.entries, 1);
  if (!file.has_data())
    return;
  EXPECT_EQ(chunks.hull, (Extent{0, 4 * 2 * 3 * 8}));  // four chunks of 2 x 3, one after another
  EXPECT_EQ(chunks.bytes, k_rows * k_row_bytes);
}

}  // namespace
}  // namespace windrow
