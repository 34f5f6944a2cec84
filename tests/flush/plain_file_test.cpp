// SPDX-License-Identifier: BSD-3-Clause
// Extents of a plain file through planner, exchange and store: no format, no catalog, no variables.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <random>
#include <vector>

#include "../temporary_folder.hpp"
#include "comm/agree.hpp"
#include "flush/executor.hpp"
#include "planning/planner.hpp"

namespace windrow {
namespace {

constexpr int64_t k_far = (int64_t{5} << 30) + 3;  // more than fits into 32 bits

// A client without variables: a file of bytes, whose batches are anywhere between their first and their last byte.
class PlainContext final : public BatchContext {
 public:
  PlainContext(DataFile& file, const BatchSummary& summary, int rank)
      : BatchContext(file), hull_(summary.hull), rank_(rank) {}
  void adapt(Pattern& pattern, Strategy&, PlanLimits&) const override { pattern.regions = {hull_}; }
  // Reads of the holes must not reach the end of the file.
  Status prepare(PreparedPlan& prepared, const RequestBatch& batch, Workspace& workspace, Trace& trace) const override {
    if (Status status = prepare_requests(prepared, batch, workspace, trace); !status.ok())
      return status;
    const bool reads_before = !batch.reading && prepared.rule.access == Access::sieve;
    return rank_ == 0 && reads_before ? file().extend(prepared.plan.pattern.regions) : Status{};
  }
  std::string conflict_of(size_t object) const override { return "two lists of object " + std::to_string(object); }

 private:
  Extent hull_;
  int rank_;
};

// A rank's part of a file of bytes, with all that it takes to move some.
struct Front {
  std::shared_ptr<Comm> comm;
  Workspace workspace;
  Trace trace;
  Planner planner;
  Executor executor;
  DataFile file;

  Front(MPI_Comm ranks, const std::string& path, const StrategyRequest& request)
      : comm(Comm::of(ranks).value()),
        planner(*comm, workspace, trace),
        executor(*comm, workspace, trace),
        file(path, true, {}) {
    planner.set_strategy(parse_strategy(request).value());
    PlanLimits& limits = planner.limits();
    limits.buffer_bytes = 4096;
    limits.unit = 512;
    limits.direct_bytes = 600;
    limits.hole_bytes = 200;
    EXPECT_TRUE(planner.grow(1).ok());
    planner.set_objects(1);
  }

  // The extents are in memory as in the file, consecutively.
  RequestBatch batch_of(bool reading, const std::vector<Extent>& extents, std::vector<std::byte>& memory,
                        int64_t list = 1) const {
    RequestBatch batch;
    batch.reading = reading;
    PiecesBuilder builder;
    int64_t place = 0;
    for (const Extent& each : extents) {
      builder.add(Piece{each.begin, place, each.size()});
      place += each.size();
    }
    auto runs = std::make_shared<ByteRuns>();
    runs->elements = builder.take();
    runs->see(PieceView(runs->elements));
    runs->part_long(1, planner.limits().direct_bytes);
    if (!extents.empty()) {
      batch.hull = runs->hull;
      batch.add(std::move(runs), 0, {.data = memory.data()});
    }
    batch.key = {{0, list, 0}};
    batch.objects = {1};
    batch.finish(comm->rank());
    return batch;
  }

  Result<PreparedPlan*> plan_for(const RequestBatch& batch, BatchSummary& summary) {
    if (Status status = planner.summarize({}, {&batch}, {&summary}); !status.ok())
      return status;
    return planner.ready(batch, summary, PlainContext(file, summary, comm->rank()));
  }
  Status move(const RequestBatch& batch) {
    BatchSummary summary;
    const auto prepared = plan_for(batch, summary);
    return prepared.ok() ? executor.run(*prepared.value(), batch, file) : prepared.status();
  }
};

std::byte value_at(int64_t offset, int seed) {
  const auto place = static_cast<uint64_t>(offset);
  return static_cast<std::byte>((place * 2654435761 + place / 251 + static_cast<uint64_t>(seed) * 97) >> 3);
}

// Extents of odd sizes with holes between them, shared out among the ranks: some have none.
std::vector<std::vector<Extent>> some_extents(int ranks, uint64_t seed, bool with_holes) {
  std::mt19937_64 random(seed);
  std::vector<std::vector<Extent>> lists(static_cast<size_t>(ranks));
  const size_t idle = ranks > 2 ? random() % lists.size() : lists.size();
  for (const int64_t begin : {int64_t{0}, int64_t{1} << 20, k_far}) {
    int64_t offset = begin;
    for (int i = 0; i < 60; ++i) {
      size_t rank = random() % lists.size();
      if (rank == idle)
        rank = (rank + 1) % lists.size();
      if (with_holes)
        offset += static_cast<int64_t>(random() % 300);
      const int64_t length = 1 + static_cast<int64_t>(random() % (i % 7 == 0 ? 5000 : 300));
      if (!lists[rank].empty() && lists[rank].back().end == offset)
        lists[rank].back().end += length;
      else
        lists[rank].push_back({offset, offset + length});
      offset += length;
    }
  }
  return lists;
}

std::vector<std::byte> values_of(const std::vector<Extent>& extents, int seed) {
  std::vector<std::byte> values;
  for (const Extent& each : extents)
    for (int64_t offset = each.begin; offset < each.end; ++offset)
      values.push_back(value_at(offset, seed));
  return values;
}

std::vector<std::byte> pread_all(const std::string& path, Extent bytes) {
  std::vector<std::byte> found(static_cast<size_t>(bytes.size()));
  const int file = ::open(path.c_str(), O_RDONLY);
  const auto count = ::pread(file, found.data(), found.size(), bytes.begin);
  ::close(file);
  found.resize(static_cast<size_t>(std::max<ssize_t>(0, count)));
  return found;
}

const std::vector<StrategyRequest>& strategies() {
  static const std::vector<StrategyRequest> all{
      {},
      {.gather = "none", .domains = "even", .access = "contiguous"},
      {.gather = "none", .domains = "aligned", .access = "list"},
      {.gather = "none", .domains = "even", .access = "sieve"},
      {.gather = "none", .domains = "none", .access = "list"},  // each rank for itself
      {.gather = "none", .domains = "none", .access = "sieve"},
      {.gather = "host", .domains = "even", .access = "list"},
      {.gather = "team(2)", .domains = "none", .access = "list"},
  };
  return all;
}
std::string text_of(const StrategyRequest& each) {
  return "gather=" + each.gather + " domains=" + each.domains + " access=" + each.access;
}

class PlainFile : public testing::Test {
 protected:
  PlainFile() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::array<char, 4096> name{};
    if (rank == 0) {
      folder = std::make_unique<test::TemporaryFolder>();
      folder->path("plain").copy(name.data(), name.size() - 1);
    }
    MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
    path = name.data();
  }
  ~PlainFile() override { MPI_Barrier(MPI_COMM_WORLD); }

  // A file with `bytes` of 0xee, in whose place nothing else was.
  void start(int64_t bytes) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      const std::vector<char> old(static_cast<size_t>(bytes), static_cast<char>(0xee));
      std::ofstream(path, std::ios::binary | std::ios::trunc).write(old.data(), bytes);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  // On rank 0: checks that each rank's extents have their values, and that the bytes between them are unchanged.
  void expect_file(const std::vector<std::vector<Extent>>& lists, int seed, int64_t old_bytes) const {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      std::vector<Extent> all;
      for (const auto& list : lists)
        all.insert(all.end(), list.begin(), list.end());
      std::sort(all.begin(), all.end(), [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
      int64_t before = 0;
      for (const Extent& each : all) {
        EXPECT_EQ(pread_all(path, each), values_of({each}, seed)) << "at " << each.begin;
        const Extent hole{std::max(before, each.begin - 400), each.begin};  // of the two long ones the end
        std::vector<std::byte> kept;
        for (int64_t offset = hole.begin; offset < hole.end; ++offset)
          kept.push_back(offset < old_bytes ? std::byte{0xee} : std::byte{0});
        EXPECT_EQ(pread_all(path, hole), kept) << "before " << each.begin;
        before = each.end;
        if (HasFailure())
          break;  // one is enough
      }
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

  int rank = 0, size = 1;
  std::unique_ptr<test::TemporaryFolder> folder;
  std::string path;
};

TEST_F(PlainFile, holds_what_ranks_have_written) {
  uint64_t seed = 1;
  for (const StrategyRequest& request : strategies())
    for (const bool with_holes : {true, false}) {
      SCOPED_TRACE(text_of(request) + (with_holes ? " with holes" : ""));
      const auto lists = some_extents(size, seed++, with_holes);
      const auto& mine = lists[static_cast<size_t>(rank)];
      constexpr int64_t k_old = 9000;
      start(k_old);
      Front front(MPI_COMM_WORLD, path, request);
      std::vector<std::byte> memory = values_of(mine, 1);
      const Status status = front.move(front.batch_of(false, mine, memory));
      ASSERT_TRUE(status.ok()) << status.message();
      expect_file(lists, 1, k_old);
      // A rank that writes its own pieces copies nothing and sends nothing.
      const bool alone = request.gather == "none" && request.domains == "none" && request.access == "list";
      if (alone) {
        EXPECT_EQ(front.trace.direct_bytes, static_cast<int64_t>(memory.size()));
      }
      int64_t moved = front.trace.bytes_copied + front.trace.message_bytes;
      MPI_Allreduce(MPI_IN_PLACE, &moved, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
      if (size > 1 && !request.domains.empty()) {
        EXPECT_EQ(moved == 0, alone);
      }
      EXPECT_TRUE(front.file.close().ok());
    }
}

TEST_F(PlainFile, is_read_by_another_number_of_ranks) {
  const auto written = some_extents(size, 77, true);
  start(0);
  {
    Front front(MPI_COMM_WORLD, path, {});
    std::vector<std::byte> memory = values_of(written[static_cast<size_t>(rank)], 3);
    ASSERT_TRUE(front.move(front.batch_of(false, written[static_cast<size_t>(rank)], memory)).ok());
    ASSERT_TRUE(front.file.close().ok());
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int readers = 1; readers <= size; ++readers) {
    MPI_Comm some = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank < readers ? 0 : MPI_UNDEFINED, rank, &some);
    if (some == MPI_COMM_NULL)
      continue;
    // Distributed again: reader i gets every n-th extent of all.
    std::vector<Extent> all, mine;
    for (const auto& list : written)
      all.insert(all.end(), list.begin(), list.end());
    std::sort(all.begin(), all.end(), [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
    for (size_t i = static_cast<size_t>(rank); i < all.size(); i += static_cast<size_t>(readers))
      mine.push_back(all[i]);
    for (const StrategyRequest& request : strategies()) {
      SCOPED_TRACE(text_of(request) + " by " + std::to_string(readers));
      Front front(some, path, request);
      const std::vector<std::byte> expected = values_of(mine, 3);
      std::vector<std::byte> found(expected.size());
      const Status status = front.move(front.batch_of(true, mine, found));
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_EQ(found, expected);
      EXPECT_TRUE(front.file.close().ok());
    }
    MPI_Comm_free(&some);
  }
}

TEST_F(PlainFile, is_written_again_by_the_same_plan) {
  for (const StrategyRequest& request : strategies()) {
    SCOPED_TRACE(text_of(request));
    const auto lists = some_extents(size, 5, true);
    const auto& mine = lists[static_cast<size_t>(rank)];
    start(0);
    Front front(MPI_COMM_WORLD, path, request);
    for (int time = 1; time <= 3; ++time) {
      std::vector<std::byte> memory = values_of(mine, time);
      const RequestBatch batch = front.batch_of(false, mine, memory);
      BatchSummary summary;
      const auto prepared = front.plan_for(batch, summary);
      ASSERT_TRUE(prepared.ok()) << prepared.status().message();
      EXPECT_EQ(summary.plan_id != 0, time > 1);
      ASSERT_TRUE(front.executor.run(*prepared.value(), batch, front.file).ok());
      expect_file(lists, time, 0);
    }
    EXPECT_EQ(front.trace.plans_made, 1);
    EXPECT_EQ(front.planner.cache().size(), 1U);
    EXPECT_TRUE(front.file.close().ok());
  }
}

TEST_F(PlainFile, is_written_while_the_program_goes_on) {
  for (const StrategyRequest& request : strategies()) {
    SCOPED_TRACE(text_of(request));
    const auto lists = some_extents(size, 9, true);
    const auto& mine = lists[static_cast<size_t>(rank)];
    start(0);
    Front front(MPI_COMM_WORLD, path, request);
    front.executor.use_io_thread(true, true);
    std::vector<std::byte> memory = values_of(mine, 2);
    const RequestBatch batch = front.batch_of(false, mine, memory);
    BatchSummary summary;
    const auto prepared = front.plan_for(batch, summary);
    ASSERT_TRUE(prepared.ok()) << prepared.status().message();
    InFlightBatch in_flight(*front.comm, front.executor.io_thread());
    front.executor.begin(in_flight, *prepared.value(), batch, front.file, true);
    const Status status = agree(*front.comm, front.executor.end(in_flight));
    ASSERT_TRUE(status.ok()) << status.message();
    expect_file(lists, 2, 0);
    EXPECT_TRUE(front.file.close().ok());
  }
}

TEST_F(PlainFile, refuses_different_lists_of_one_object_on_every_rank) {
  start(0);
  Front front(MPI_COMM_WORLD, path, {});
  const std::vector<Extent> mine{{rank * 10, rank * 10 + 10}};
  std::vector<std::byte> memory = values_of(mine, 1);
  const Status status = front.move(front.batch_of(false, mine, memory, rank == 0 ? 1 : 2));
  if (size == 1) {
    EXPECT_TRUE(status.ok());
  } else {
    EXPECT_EQ(status.code(), Code::bad_argument);
    EXPECT_EQ(status.message(), "two lists of object 0");
    EXPECT_EQ(front.planner.cache().size(), 0U);
    EXPECT_EQ(front.trace.write_requests, 0);
  }
}

TEST_F(PlainFile, that_cannot_be_opened_is_an_error_on_every_rank) {
  for (const StrategyRequest& request : strategies()) {
    SCOPED_TRACE(text_of(request));
    Front front(MPI_COMM_WORLD, path + "/nowhere", request);
    const std::vector<Extent> mine{{rank * 10, rank * 10 + 10}};
    std::vector<std::byte> memory = values_of(mine, 1);
    EXPECT_NE(front.move(front.batch_of(false, mine, memory)).code(), Code::ok);
  }
}

}  // namespace
}  // namespace windrow
