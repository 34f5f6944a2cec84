// SPDX-License-Identifier: BSD-3-Clause
// Points that several ranks hold: their writers, errors in them, and points that no rank holds.
#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include <gmock/gmock.h>

#include "../capi/checked.hpp"

#define EXPECT_WINDROW_ERROR(call, expected, words)           \
  do {                                                        \
    EXPECT_EQ((call), (expected)) << windrow_error_message(); \
    EXPECT_THAT(windrow_error_message(), HasSubstr(words));   \
  } while (false)

namespace {

using namespace windrow_test;
using testing::HasSubstr;

constexpr int64_t k_points = 20000,
                  k_load = 3;  // two directory ranks look after them, with four ranks every second one

// The same on every rank: ranges of a partition with shared points at their boundaries. No rank holds every 97th point.
struct Mesh {
  std::vector<int> partition;           // [k_points] -1: none
  std::vector<std::vector<int>> ranks;  // [k_points] that hold it

  explicit Mesh(int size, unsigned seed = 7) {
    std::mt19937 random(seed);
    const auto below = [&](int end) { return static_cast<int>(random() % static_cast<unsigned>(end)); };
    int rank = 0;
    for (int64_t point = 0; point < k_points; ++point) {
      if (below(12) == 0)
        rank = below(size);
      const bool hole = point % 97 == 96;
      partition.push_back(hole ? -1 : rank);
      std::set<int> holders;
      if (!hole)
        holders.insert(rank);
      while (!hole && below(3) == 0)
        holders.insert(below(size));
      ranks.emplace_back(holders.begin(), holders.end());
    }
  }

  bool holds(int rank, int64_t point) const {
    const auto& holders = ranks[static_cast<size_t>(point)];
    return std::find(holders.begin(), holders.end(), rank) != holders.end();
  }
};

double value_of(int64_t point, int64_t element) {
  return static_cast<double>(point * 10 + element);
}

struct Part {
  std::vector<int64_t> list;
  std::vector<unsigned char> owned;
  std::vector<double> values;

  // In another order on each rank.
  Part(const Mesh& mesh, int rank) {
    for (int64_t point = 0; point < k_points; ++point)
      if (mesh.holds(rank, point))
        list.push_back(point);
    std::mt19937 random(static_cast<unsigned>(rank));
    std::shuffle(list.begin(), list.end(), random);
    for (const int64_t point : list) {
      owned.push_back(mesh.partition[static_cast<size_t>(point)] == rank ? 1 : 0);
      for (int64_t k = 0; k < k_load; ++k)
        values.push_back(value_of(point, k));
    }
  }

  Decomposition make(bool flags = true, const windrow_options* options = nullptr) const {
    windrow_decomposition* d = nullptr;
    EXPECT_WINDROW_OK(windrow_points_with(MPI_COMM_WORLD, k_points, static_cast<int64_t>(list.size()), list.data(),
                                          flags ? owned.data() : nullptr, options, &d));
    return Decomposition(d);
  }
};

struct Writes {
  std::vector<int64_t> points;
  int64_t intervals = 0;
};

Writes written_by(const Decomposition& mesh, const char* owner) {
  Writes writes;
  int64_t count = -1, again = -1;
  EXPECT_WINDROW_OK(windrow_decomposition_owned(mesh.get(), owner, 0, nullptr, &count, &writes.intervals));
  writes.points.resize(static_cast<size_t>(count));
  EXPECT_WINDROW_OK(
      windrow_decomposition_owned(mesh.get(), owner, count, writes.points.data(), &again, &writes.intervals));
  EXPECT_EQ(again, count);
  EXPECT_TRUE(std::is_sorted(writes.points.begin(), writes.points.end()));
  return writes;
}

int64_t sum_of(int64_t value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return value;
}

double imbalance_of(int64_t count) {
  int64_t most = 0, least = 0;
  MPI_Allreduce(&count, &most, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(&count, &least, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
  return static_cast<double>(most - least) * size_of() / static_cast<double>(sum_of(count));
}

// The writer of each point, on every rank; checks that it is a rank that holds the point.
std::vector<int> owners_of(const Mesh& mesh, const Decomposition& decomposition, const char* owner) {
  std::vector<int> owners(k_points, -1), writers(k_points, 0);
  for (const int64_t point : written_by(decomposition, owner).points) {
    EXPECT_TRUE(mesh.holds(rank_of(), point));
    owners[static_cast<size_t>(point)] = rank_of();
    writers[static_cast<size_t>(point)] = 1;
  }
  MPI_Allreduce(MPI_IN_PLACE, owners.data(), static_cast<int>(k_points), MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, writers.data(), static_cast<int>(k_points), MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (size_t point = 0; point < writers.size(); ++point)
    EXPECT_EQ(writers[point], mesh.partition[point] < 0 ? 0 : 1) << owner << " " << point;
  return owners;
}

TEST(Points, have_one_writer_each_by_every_rule) {
  const Mesh mesh(size_of());
  const Decomposition points = Part(mesh, rank_of()).make();
  const auto partitioner = owners_of(mesh, points, "partitioner");
  EXPECT_EQ(partitioner, mesh.partition);
  const auto first = owners_of(mesh, points, "first"), highest = owners_of(mesh, points, "highest"),
             idg = owners_of(mesh, points, "idg"), figure = owners_of(mesh, points, "idg_figure");
  owners_of(mesh, points, "random");
  EXPECT_EQ(owners_of(mesh, points, "auto"), partitioner);
  const Decomposition unflagged = Part(mesh, rank_of()).make(false);
  EXPECT_EQ(owners_of(mesh, unflagged, "auto"), owners_of(mesh, unflagged, "balanced"));
  for (size_t point = 0; point < mesh.ranks.size(); ++point) {
    const auto& ranks = mesh.ranks[point];
    if (ranks.empty())
      continue;
    EXPECT_EQ(first[point], ranks.front());
    EXPECT_EQ(highest[point], ranks.back());
    // The paper's text and its figure 4, with the ranks in ascending order after the point's own.
    std::vector<int> list{mesh.partition[point]};
    for (const int rank : ranks)
      if (rank != list.front())
        list.push_back(rank);
    const auto holds = [&](int rank) { return std::find(list.begin(), list.end(), rank) != list.end(); };
    const int last = point > 0 ? idg[point - 1] : -1, before = point > 0 ? mesh.partition[point - 1] : -1;
    const int after = point + 1 < mesh.partition.size() ? mesh.partition[point + 1] : -1;
    EXPECT_EQ(idg[point], list.size() == 1 ? list.front()
                          : holds(last)    ? last
                          : holds(after)   ? after
                                           : list.front())
        << point;
    int expected = list.front();
    for (const int rank : list)
      if (rank == before || rank == after)
        expected = rank;
    EXPECT_EQ(figure[point], list.size() == 1 ? list.front() : expected) << point;
  }
}

TEST(Points, are_the_same_whatever_their_order) {
  const Mesh mesh(size_of());
  Part part(mesh, rank_of());
  const Decomposition shuffled = part.make();
  std::sort(part.list.begin(), part.list.end());
  for (size_t i = 0; i < part.list.size(); ++i)
    part.owned[i] = mesh.partition[static_cast<size_t>(part.list[i])] == rank_of() ? 1 : 0;
  const Decomposition sorted = part.make();
  for (const char* owner : {"idg", "random", "balanced", "first"})
    EXPECT_EQ(owners_of(mesh, shuffled, owner), owners_of(mesh, sorted, owner)) << owner;
}

TEST(Points, balanced_has_neither_more_intervals_nor_more_imbalance_than_idg) {
  for (const unsigned seed : {7U, 8U, 9U}) {
    const Mesh mesh(size_of(), seed);
    const Part part(mesh, rank_of());
    const Decomposition points = part.make();
    const Writes balanced = written_by(points, "balanced"), idg = written_by(points, "idg");
    EXPECT_LE(sum_of(balanced.intervals), sum_of(idg.intervals));
    EXPECT_LE(imbalance_of(static_cast<int64_t>(balanced.points.size())),
              imbalance_of(static_cast<int64_t>(idg.points.size())));
    const Options any({{"imbalance", "100000"}});
    EXPECT_LE(sum_of(written_by(part.make(true, any), "balanced").intervals), sum_of(balanced.intervals));
  }
}

TEST(Points, holes_are_counted_and_read_as_the_fill_value) {
  const Mesh mesh(size_of());
  const Part part(mesh, rank_of());
  const Decomposition points = part.make();
  int64_t holes = -1;
  ASSERT_WINDROW_OK(windrow_decomposition_holes(points.get(), &holes));
  EXPECT_EQ(holes, k_points / 97);

  const SharedFolder folder;
  windrow_decomposition* all = nullptr;
  ASSERT_WINDROW_OK(windrow_same(MPI_COMM_WORLD, 0, nullptr, nullptr, nullptr, &all));
  const Decomposition same(all);
  const std::string gathered = "gathered to one rank";
  for (const std::string& strategy : {std::string("auto"), std::string("idg"), std::string("bips3d-tree"),
                                      std::string("two-phase"), std::string("list"), gathered})
    for (const char* owner : {"auto", "balanced", "idg", "idg_figure", "random", "first", "highest", "partitioner"}) {
      SCOPED_TRACE(strategy + " " + owner);
      windrow_file* file = nullptr;
      int variable = -1;
      const int64_t shape[2] = {k_points, k_load};
      const Options options({{"strategy", strategy == gathered ? "auto" : strategy},
                             {"gather", strategy == gathered ? "team(" + std::to_string(size_of()) + ")" : "auto"},
                             {"owner", owner}});
      ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, folder.file("holes.raw").c_str(), options, &file));
      ASSERT_WINDROW_OK(windrow_define_variable(file, "v", WINDROW_FLOAT64, 2, shape, &variable));
      ASSERT_WINDROW_OK(windrow_write(file, variable, points.get(), part.values.data()));
      const char* report = nullptr;
      ASSERT_WINDROW_OK(windrow_explain(file, "text", &report));
      EXPECT_THAT(std::string(report), testing::HasSubstr(std::to_string(holes) + " of " + std::to_string(k_points) +
                                                          " points are held by no rank"));
      std::vector<double> read(k_points * k_load, -1);
      ASSERT_WINDROW_OK(windrow_read(file, variable, same.get(), read.data()));
      for (int64_t point = 0; point < k_points; ++point)
        for (int64_t k = 0; k < k_load; ++k)
          ASSERT_EQ(read[static_cast<size_t>(point * k_load + k)],
                    mesh.partition[static_cast<size_t>(point)] < 0 ? 0 : value_of(point, k));
      // All holders get their replicas, by another partition too.
      std::vector<double> mine(part.values.size(), -1);
      ASSERT_WINDROW_OK(windrow_read(file, variable, points.get(), mine.data()));
      EXPECT_EQ(mine, part.values);
      ASSERT_WINDROW_OK(windrow_close(file));
    }
}

TEST(Points, replicas_that_differ_are_named_on_all_ranks) {
  if (size_of() == 1)
    GTEST_SKIP() << "one rank has no replicas";
  const Mesh mesh(size_of());
  Part part(mesh, rank_of());
  const Decomposition points = part.make(false);
  int64_t victim = 0;
  while (mesh.ranks[static_cast<size_t>(victim)].size() < 2 || victim < 2000)
    ++victim;
  const auto& holders = mesh.ranks[static_cast<size_t>(victim)];
  const SharedFolder folder;
  for (const bool spoilt : {false, true}) {
    for (size_t i = 0; i < part.list.size() && spoilt; ++i)
      if (part.list[i] == victim && rank_of() == holders.back())
        part.values[i * k_load + 2] = -7;
    windrow_file* file = nullptr;
    int variable = -1;
    const int64_t shape[2] = {k_points, k_load};
    const Options options({{"check_replicas", "true"}});
    ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, folder.file("replicas.raw").c_str(), options, &file));
    ASSERT_WINDROW_OK(windrow_define_variable(file, "v", WINDROW_FLOAT64, 2, shape, &variable));
    // One rank has nothing queued. Its replicas are not compared, but those of the others are.
    ASSERT_WINDROW_OK(windrow_put(file, variable, points.get(), part.values.data()));
    if (spoilt) {
      const std::string message = "put of \"/v\": point " + std::to_string(victim) + ", element 2 is ";
      EXPECT_WINDROW_ERROR(windrow_flush(file), WINDROW_BAD_ARGUMENT, message);
      EXPECT_THAT(holders, testing::Contains(windrow_error_rank()));
      EXPECT_WINDROW_ERROR(windrow_write(file, variable, points.get(), part.values.data()), WINDROW_BAD_ARGUMENT,
                           "-7 on rank " + std::to_string(holders.back()));
    } else {
      EXPECT_WINDROW_OK(windrow_flush(file));
    }
    EXPECT_WINDROW_OK(windrow_discard(file));
  }
}

TEST(Points, that_a_rank_lists_twice_are_compared) {
  const SharedFolder folder;
  for (const float second : {4.5F, 9.5F}) {
    // Points 10 r, 10 r + 1 and 10 r again; the last rank may have two different values of the latter.
    const std::array<int64_t, 3> list{10 * rank_of(), 10 * rank_of() + 1, 10 * rank_of()};
    const std::array<float, 3> values{4.5F, 1, rank_of() == size_of() - 1 ? second : 4.5F};
    windrow_decomposition* made = nullptr;
    ASSERT_WINDROW_OK(windrow_points(MPI_COMM_WORLD, 10 * size_of(), 3, list.data(), nullptr, &made));
    const Decomposition points(made);
    windrow_file* file = nullptr;
    int variable = -1;
    const std::array<int64_t, 1> shape{10 * size_of()};
    const Options options({{"check_replicas", "true"}});
    ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, folder.file("twice.raw").c_str(), options, &file));
    ASSERT_WINDROW_OK(windrow_define_variable(file, "v", WINDROW_FLOAT32, 1, shape.data(), &variable));
    if (second == 4.5F) {
      EXPECT_WINDROW_OK(windrow_write(file, variable, points.get(), values.data()));
    } else {
      const int last = size_of() - 1;
      EXPECT_WINDROW_ERROR(windrow_write(file, variable, points.get(), values.data()), WINDROW_BAD_ARGUMENT,
                           "point " + std::to_string(10 * last) + " is number 0 and number 2 of rank " +
                               std::to_string(last) + "'s list, and is 4.5 and 9.5");
      EXPECT_EQ(windrow_error_rank(), last);
    }
    EXPECT_WINDROW_OK(windrow_discard(file));
  }
}

TEST(Points, that_one_rank_has_not_put_are_not_compared_but_would_be_lost) {
  const Mesh mesh(size_of());
  const Part part(mesh, rank_of());
  const Decomposition points = part.make();
  const SharedFolder folder;
  windrow_file* file = nullptr;
  int variable = -1;
  const int64_t shape[1] = {k_points};
  const Options options({{"check_replicas", "true"}});
  ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, folder.file("some.raw").c_str(), options, &file));
  ASSERT_WINDROW_OK(windrow_define_variable(file, "v", WINDROW_INT16, 1, shape, &variable));
  std::vector<float> values;
  for (const int64_t point : part.list)
    values.push_back(static_cast<float>(point % 1000));
  if (rank_of() > 0) {
    ASSERT_WINDROW_OK(windrow_put_as(file, variable, points.get(), WINDROW_FLOAT32, values.data()));
  }
  EXPECT_EQ(windrow_flush(file), size_of() > 1 ? WINDROW_BAD_ARGUMENT : WINDROW_OK) << windrow_error_message();
  EXPECT_WINDROW_OK(windrow_discard(file));
}

TEST(Points, flags_that_contradict_each_other_are_an_error_where_they_are_needed) {
  const Mesh mesh(size_of());
  Part part(mesh, rank_of());
  for (size_t i = 0; i < part.list.size(); ++i)
    if (part.list[i] == 1234)
      part.owned[i] = 0;
  const Decomposition points = part.make();
  int64_t count = 0, intervals = 0;
  for (const char* owner : {"partitioner", "idg", "balanced"})
    EXPECT_WINDROW_ERROR(windrow_decomposition_owned(points.get(), owner, 0, nullptr, &count, &intervals),
                         WINDROW_BAD_ARGUMENT, "point 1234 is held by");
  EXPECT_WINDROW_OK(windrow_decomposition_owned(points.get(), "first", 0, nullptr, &count, &intervals));
  const Decomposition unflagged = part.make(false);
  EXPECT_WINDROW_ERROR(windrow_decomposition_owned(unflagged.get(), "idg", 0, nullptr, &count, &intervals),
                       WINDROW_BAD_ARGUMENT, "needs owner flags");
  EXPECT_WINDROW_OK(windrow_decomposition_owned(unflagged.get(), "balanced", 0, nullptr, &count, &intervals));
}

TEST(Points, flags_of_some_ranks_only_are_an_error) {
  if (size_of() == 1)
    GTEST_SKIP() << "one rank gives flags or does not";
  const Mesh mesh(size_of());
  const Part part(mesh, rank_of());
  windrow_decomposition* d = nullptr;
  const int without = size_of() - 1;
  EXPECT_WINDROW_ERROR(windrow_points(MPI_COMM_WORLD, k_points, static_cast<int64_t>(part.list.size()),
                                      part.list.data(), rank_of() == without ? nullptr : part.owned.data(), &d),
                       WINDROW_BAD_ARGUMENT,
                       "rank " + std::to_string(without) + " gave no owner flags with its points, but rank 0 did");
  EXPECT_EQ(windrow_error_rank(), without);
  EXPECT_EQ(d, nullptr);
  // A rank without points has none to give.
  EXPECT_WINDROW_OK(windrow_points(MPI_COMM_WORLD, k_points,
                                   rank_of() == without ? 0 : static_cast<int64_t>(part.list.size()), part.list.data(),
                                   rank_of() == without ? nullptr : part.owned.data(), &d));
  windrow_decomposition_free(d);
}

TEST(Points, memory_is_as_long_as_the_list) {
  const Mesh mesh(size_of());
  const Part part(mesh, rank_of());
  const Decomposition points = part.make();
  int64_t elements = -1;
  const int64_t shape[2] = {k_points, k_load}, most[2] = {k_points, int64_t{1} << 60}, other[1] = {k_points - 1};
  ASSERT_WINDROW_OK(windrow_decomposition_memory(points.get(), 2, shape, &elements));
  EXPECT_EQ(elements, static_cast<int64_t>(part.values.size()));
  EXPECT_WINDROW_ERROR(windrow_decomposition_memory(points.get(), 1, other, &elements), WINDROW_BAD_ARGUMENT,
                       "20000 points");
  EXPECT_WINDROW_ERROR(windrow_decomposition_memory(points.get(), 2, most, &elements), WINDROW_BAD_ARGUMENT,
                       "2^63 - 1");
  EXPECT_WINDROW_ERROR(windrow_decomposition_memory(points.get(), 1, nullptr, &elements), WINDROW_BAD_ARGUMENT,
                       "shape");
  EXPECT_WINDROW_ERROR(windrow_decomposition_memory(points.get(), 2, shape, nullptr), WINDROW_BAD_ARGUMENT, "elements");
  EXPECT_WINDROW_ERROR(windrow_decomposition_memory(nullptr, 2, shape, &elements), WINDROW_BAD_ARGUMENT,
                       "decomposition");
}

TEST(Points, bad_arguments) {
  const Mesh mesh(size_of());
  const Part part(mesh, rank_of());
  const Decomposition points = part.make();
  int64_t count = 0, intervals = 0, number = 0;
  EXPECT_WINDROW_ERROR(windrow_decomposition_owned(nullptr, "idg", 0, nullptr, &count, &intervals),
                       WINDROW_BAD_ARGUMENT, "decomposition");
  EXPECT_WINDROW_ERROR(windrow_decomposition_owned(points.get(), nullptr, 0, nullptr, &count, &intervals),
                       WINDROW_BAD_ARGUMENT, "owner");
  EXPECT_WINDROW_ERROR(windrow_decomposition_owned(points.get(), "nearest", 0, nullptr, &count, &intervals),
                       WINDROW_BAD_ARGUMENT, "nearest");
  EXPECT_WINDROW_ERROR(windrow_decomposition_owned(points.get(), "idg", 1, nullptr, &count, &intervals),
                       WINDROW_BAD_ARGUMENT, "list");
  EXPECT_WINDROW_ERROR(windrow_decomposition_owned(points.get(), "idg", 1, &number, &count, &intervals),
                       WINDROW_BAD_ARGUMENT, "a buffer for 1 point");
  EXPECT_WINDROW_ERROR(windrow_decomposition_holes(points.get(), nullptr), WINDROW_BAD_ARGUMENT, "holes");
  windrow_decomposition* rows = nullptr;
  ASSERT_WINDROW_OK(windrow_rows(MPI_COMM_WORLD, 10, WINDROW_EVEN, &rows));
  EXPECT_WINDROW_ERROR(windrow_decomposition_holes(rows, &number), WINDROW_BAD_ARGUMENT, "windrow_points()");
  EXPECT_WINDROW_ERROR(windrow_decomposition_owned(rows, "idg", 0, nullptr, &count, &intervals), WINDROW_BAD_ARGUMENT,
                       "windrow_points()");
  windrow_decomposition_free(rows);
  windrow_decomposition* none = nullptr;
  EXPECT_WINDROW_ERROR(
      windrow_points_with(MPI_COMM_WORLD, k_points, 0, nullptr, nullptr, Options({{"owner", "idg"}}), &none),
      WINDROW_BAD_ARGUMENT, "option \"owner\" is an option of files");
  const Options options({{"imbalance", rank_of() == 0 ? "7" : "8"}});
  windrow_decomposition* d = nullptr;
  const int rc = windrow_points_with(MPI_COMM_WORLD, k_points, 0, nullptr, nullptr, options, &d);
  EXPECT_EQ(rc, size_of() == 1 ? WINDROW_OK : WINDROW_BAD_ARGUMENT);
  windrow_decomposition_free(d);
  EXPECT_WINDROW_ERROR(windrow_points_with(MPI_COMM_WORLD, k_points, 0, nullptr, nullptr,
                                           Options({{"machine", "/there is none.json"}}), &none),
                       WINDROW_NOT_FOUND, "/there is none.json");
  EXPECT_WINDROW_OK(windrow_points_with(MPI_COMM_WORLD, k_points, 0, nullptr, nullptr,
                                        Options({{"point_bytes", rank_of() == 0 ? "800" : "8"}}), &none));
  windrow_decomposition_free(none);
  EXPECT_WINDROW_OK(windrow_points_with(MPI_COMM_WORLD, k_points, 0, nullptr, nullptr,
                                        Options({{"point_bytes", "9000000000000000000"}}), &none));
  windrow_decomposition_free(none);
}

// Ranks without points, no points at all, and the same number twice on one rank.
TEST(Points, few_or_none) {
  windrow_decomposition* d = nullptr;
  int64_t count = -1, intervals = -1, holes = -1;
  ASSERT_WINDROW_OK(windrow_points(MPI_COMM_WORLD, 0, 0, nullptr, nullptr, &d));
  EXPECT_WINDROW_OK(windrow_decomposition_owned(d, "balanced", 0, nullptr, &count, &intervals));
  EXPECT_EQ(count, 0);
  EXPECT_EQ(intervals, 0);
  EXPECT_WINDROW_OK(windrow_decomposition_holes(d, &holes));
  EXPECT_EQ(holes, 0);
  windrow_decomposition_free(d);
  const std::vector<int64_t> twice{5, 2, 5};
  const int64_t mine = rank_of() == 0 ? 3 : 0;
  ASSERT_WINDROW_OK(windrow_points(MPI_COMM_WORLD, 7, mine, twice.data(), nullptr, &d));
  EXPECT_WINDROW_OK(windrow_decomposition_owned(d, "auto", 0, nullptr, &count, &intervals));
  EXPECT_EQ(count, rank_of() == 0 ? 2 : 0);
  EXPECT_WINDROW_OK(windrow_decomposition_holes(d, &holes));
  EXPECT_EQ(holes, 5);
  windrow_decomposition_free(d);
}

// The paper's mesh of eight nodes (figure 3), by the functions for meshes.
TEST(Meshes, are_classified_as_in_the_papers_table_1) {
  const std::vector<int64_t> offsets{0, 2, 5, 9, 12, 15, 18, 20, 24},
      neighbours{1, 3, 0, 4, 7, 4, 5, 6, 7, 0, 5, 7, 1, 2, 6, 2, 3, 7, 2, 4, 1, 2, 3, 5};
  const std::vector<int> partition{0, 0, 1, 0, 1, 0, 1, 0};
  std::vector<int64_t> part_offsets(9);
  ASSERT_WINDROW_OK(
      windrow_classify_nodes(8, offsets.data(), neighbours.data(), partition.data(), 0, part_offsets.data(), nullptr));
  ASSERT_EQ(part_offsets.back(), 13);
  std::vector<int> parts(13);
  ASSERT_WINDROW_OK(windrow_classify_nodes(8, offsets.data(), neighbours.data(), partition.data(), 13,
                                           part_offsets.data(), parts.data()));
  EXPECT_EQ(parts, (std::vector<int>{0, 0, 1, 1, 0, 0, 1, 0, 0, 1, 1, 0, 1}));
  EXPECT_WINDROW_ERROR(windrow_classify_nodes(8, offsets.data(), neighbours.data(), partition.data(), 12,
                                              part_offsets.data(), parts.data()),
                       WINDROW_BAD_ARGUMENT, "a buffer for 12 parts is too small for 13");
  EXPECT_WINDROW_ERROR(
      windrow_classify_nodes(8, nullptr, neighbours.data(), partition.data(), 0, part_offsets.data(), nullptr),
      WINDROW_BAD_ARGUMENT, "offsets");

  const std::vector<int64_t> cells{0, 1, 2, 3, 1, 2, 3, 4};
  std::vector<int64_t> cell_offsets(6);
  ASSERT_WINDROW_OK(
      windrow_mesh_neighbours(5, WINDROW_TETRAHEDRON, 8, cells.data(), 0, 0, cell_offsets.data(), nullptr));
  std::vector<int64_t> numbers(static_cast<size_t>(cell_offsets.back()));
  ASSERT_WINDROW_OK(windrow_mesh_neighbours(5, WINDROW_TETRAHEDRON, 8, cells.data(), 1, cell_offsets.back(),
                                            cell_offsets.data(), numbers.data()));
  EXPECT_EQ(numbers, (std::vector<int64_t>{1, 2, 3, 0, 2, 3, 4, 0, 1, 3, 4, 0, 1, 2, 4, 1, 2, 3}));
  EXPECT_WINDROW_ERROR(
      windrow_mesh_neighbours(4, WINDROW_TETRAHEDRON, 8, cells.data(), 0, 0, cell_offsets.data(), nullptr),
      WINDROW_BAD_ARGUMENT, "cell 1 has node 4");
  EXPECT_WINDROW_ERROR(
      windrow_mesh_neighbours(4, WINDROW_TETRAHEDRON, -1, cells.data(), 0, 0, cell_offsets.data(), nullptr),
      WINDROW_BAD_ARGUMENT, "length");
}

}  // namespace
