// SPDX-License-Identifier: BSD-3-Clause
// Random programs of writes and reads of a file of bytes, beside an oracle: a file in memory to which the calls are
// applied one rank after the other. All ranks make the lists of all ranks, from the same random numbers.
#include <algorithm>
#include <cstring>
#include <random>

#include "../capi/checked.hpp"
#include "../stride.hpp"

namespace {

using namespace windrow_test;
using Random = std::mt19937_64;

int64_t pick(Random& random, int64_t from, int64_t to) {  // inclusive
  return from + static_cast<int64_t>(random() % static_cast<uint64_t>(to - from + 1));
}

struct Piece {
  int64_t file = 0, memory = 0, length = 0;
};

struct FreeList {
  void operator()(windrow_byte_list* list) const { windrow_byte_list_free(list); }
};
using ByteList = std::unique_ptr<windrow_byte_list, FreeList>;

// The list of one rank in one call: pieces in their order, either given as pieces or as nested runs.
struct Plan {
  struct Run {
    Piece first;
    std::vector<int64_t> counts, file_strides, memory_strides;
  };
  std::vector<Run> runs;
  bool as_pieces = false;
  std::vector<Piece> pieces;  // of the runs
  int64_t memory_begin = 0, memory_end = 0;
};

// A run whose pieces do not overlap in the file: each stride is at least the span of the loops before it. The loops
// then get a random order, and some strides become negative.
Plan::Run some_run(Random& random, int64_t begin, int64_t& memory) {
  const int loops = static_cast<int>(pick(random, 0, 3));
  Plan::Run run;
  run.first = {begin, 0, pick(random, 0, 3) == 0 ? pick(random, 0, 3000) : pick(random, 1, 60)};
  int64_t span = std::max<int64_t>(1, run.first.length);
  struct Loop {
    int64_t count, file, memory;
  };
  std::vector<Loop> all;
  int64_t packed = std::max<int64_t>(1, run.first.length) + pick(random, 0, 3);
  for (int i = 0; i < loops; ++i) {
    const int64_t count = pick(random, 1, 5), stride = span + pick(random, 0, 40);
    all.push_back({count, stride, packed});
    span += (count - 1) * stride;
    packed *= count;
  }
  int64_t lowest_file = 0, lowest_memory = 0;
  for (Loop& loop : all) {
    if (pick(random, 0, 3) == 0) {
      loop.file = -loop.file;
      lowest_file += (loop.count - 1) * loop.file;
    }
    if (pick(random, 0, 3) == 0) {
      loop.memory = -loop.memory;
      lowest_memory += (loop.count - 1) * loop.memory;
    }
  }
  std::shuffle(all.begin(), all.end(), random);
  run.first.file -= lowest_file;
  run.first.memory = memory - lowest_memory;
  memory += packed + pick(random, 0, 9);
  for (const Loop& loop : all) {
    run.counts.push_back(loop.count);
    run.file_strides.push_back(loop.file);
    run.memory_strides.push_back(loop.memory);
  }
  return run;
}

void add_pieces(const Plan::Run& run, std::vector<Piece>& pieces) {
  std::vector<Piece> made{run.first};
  for (size_t i = 0; i < run.counts.size(); ++i) {
    std::vector<Piece> repeated;
    for (int64_t step = 0; step < run.counts[i]; ++step)
      for (const Piece& each : made)
        repeated.push_back(
            {each.file + step * run.file_strides[i], each.memory + step * run.memory_strides[i], each.length});
    made = std::move(repeated);
  }
  pieces.insert(pieces.end(), made.begin(), made.end());
}

Plan some_plan(Random& random, int64_t begin, int64_t end) {
  Plan plan;
  plan.as_pieces = pick(random, 0, 1) == 0;
  plan.memory_begin = pick(random, 0, 2) == 0 ? -pick(random, 0, 3000) : 0;
  int64_t memory = plan.memory_begin;
  const int64_t runs = pick(random, 0, 4) == 0 ? 0 : pick(random, 1, 12);
  for (int64_t i = 0; i < runs; ++i)
    plan.runs.push_back(some_run(random, pick(random, begin, end), memory));
  for (const Plan::Run& run : plan.runs)
    add_pieces(run, plan.pieces);
  plan.memory_end = memory;
  return plan;
}

ByteList list_of(const Plan& plan) {
  windrow_byte_list* list = nullptr;
  if (plan.as_pieces) {
    std::vector<int64_t> files, memories, lengths;
    for (const Piece& each : plan.pieces) {
      files.push_back(each.file);
      memories.push_back(each.memory);
      lengths.push_back(each.length);
    }
    EXPECT_WINDROW_OK(windrow_byte_list_pieces(static_cast<int64_t>(files.size()), files.data(), memories.data(),
                                               lengths.data(), &list));
  } else {
    std::vector<windrow_byte_run> runs;
    for (const Plan::Run& each : plan.runs)
      runs.push_back({each.first.file, each.first.memory, each.first.length, static_cast<int>(each.counts.size()),
                      each.counts.data(), each.file_strides.data(), each.memory_strides.data()});
    EXPECT_WINDROW_OK(windrow_byte_list_runs(static_cast<int64_t>(runs.size()), runs.data(), &list));
  }
  return ByteList(list);
}

const std::vector<KeyValues>& strategies() {
  static const std::vector<KeyValues> all{
      {},
      {{"strategy", "two-phase"}},
      {{"strategy", "list"}},
      {{"strategy", "scorpio"}},
      {{"strategy", "tpc"}},
      {{"strategy", "ylib"}},
      {{"strategy", "bips3d-tree"}},
      {{"gather", "none"}, {"domains", "even"}, {"access", "sieve"}},
      {{"gather", "none"}, {"domains", "none"}, {"access", "sieve"}},
      {{"gather", "host"}, {"domains", "even"}, {"access", "list"}},
      {{"gather", "team(2)"}, {"domains", "none"}, {"access", "list"}},
      {{"gather", "none"}, {"domains", "aligned"}, {"access", "contiguous"}, {"check_messages", "true"}},
  };
  return all;
}

class Program {
 public:
  Program(uint64_t seed, std::string path) : random_(seed), path_(std::move(path)) {
    begin_ = pick(random_, 0, 4) == 0 ? (int64_t{1} << 32) - 9000 : 0;  // across 4 GiB
    end_ = begin_ + pick(random_, 100, 40000);
    const int64_t old = begin_ > 0 ? 0 : pick(random_, 0, 1) * pick(random_, 0, 30000);
    if (rank_of() == 0 && old > 0) {
      std::ofstream(path_, std::ios::binary) << std::string(static_cast<size_t>(old), '\xee');
      image_.assign(static_cast<size_t>(old), std::byte{0xee});
    }
    image_.assign(static_cast<size_t>(old), std::byte{0xee});
    MPI_Barrier(MPI_COMM_WORLD);
  }

  void run() {
    KeyValues values = strategies()[random_() % strategies().size()];
    values.emplace_back("buffer", "4096");
    if (pick(random_, 0, 1) == 0)
      values.emplace_back("sieve_hole", "200");
    if (pick(random_, 0, 1) == 0)
      values.emplace_back("direct_bytes", "700");
    windrow_bytes* file = nullptr;
    ASSERT_WINDROW_OK(
        windrow_bytes_open(MPI_COMM_WORLD, path_.c_str(), WINDROW_UPDATE_OR_CREATE, Options(values), &file));
    std::vector<std::vector<Plan>> last;
    const int64_t calls = pick(random_, 2, 6);
    for (int64_t i = 0; i < calls; ++i) {
      if (last.empty() || pick(random_, 0, 2) > 0) {
        std::vector<Plan> plans;
        for (int rank = 0; rank < size_of(); ++rank)
          plans.push_back(some_plan(random_, begin_, end_));
        last.push_back(std::move(plans));
      }
      const auto& plans = last[random_() % last.size()];  // new ones, or those of an earlier call
      if (pick(random_, 0, 2) == 0)
        read(file, plans);
      else
        write(file, plans);
    }
    EXPECT_WINDROW_OK(windrow_bytes_close(file));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_of() == 0)
      expect_file();
    MPI_Barrier(MPI_COMM_WORLD);
  }

 private:
  std::byte& at(int64_t offset) { return image_[static_cast<size_t>(offset - shift())]; }
  int64_t shift() const { return begin_; }
  int64_t end_of_file() const { return image_.empty() ? 0 : shift() + static_cast<int64_t>(image_.size()); }

  void write(windrow_bytes* file, const std::vector<Plan>& plans) {
    ++writes_;
    for (size_t rank = 0; rank < plans.size(); ++rank)
      for (const Piece& piece : plans[rank].pieces)
        for (int64_t i = 0; i < piece.length; ++i) {
          if (piece.file + i >= end_of_file())
            image_.resize(static_cast<size_t>(piece.file + i + 1 - shift()));
          at(piece.file + i) = value(rank, piece.memory + i);
        }
    const Plan& mine = plans[static_cast<size_t>(rank_of())];
    std::vector<std::byte> memory;
    for (int64_t i = mine.memory_begin; i < mine.memory_end; ++i)
      memory.push_back(value(static_cast<size_t>(rank_of()), i));
    EXPECT_WINDROW_OK(windrow_bytes_write(file, list_of(mine).get(), memory.data() - mine.memory_begin));
  }

  void read(windrow_bytes* file, const std::vector<Plan>& plans) {
    const Plan& mine = plans[static_cast<size_t>(rank_of())];
    const auto untouched = static_cast<std::byte>(0xaa);
    std::vector<std::byte> memory(static_cast<size_t>(mine.memory_end - mine.memory_begin), untouched);
    std::vector<std::byte> expected = memory;
    int64_t bytes = 0, found = -1;
    for (const Piece& piece : mine.pieces)
      for (int64_t i = 0; i < piece.length && piece.file + i < end_of_file(); ++i, ++bytes)
        expected[static_cast<size_t>(piece.memory + i - mine.memory_begin)] = at(piece.file + i);
    EXPECT_WINDROW_OK(windrow_bytes_read(file, list_of(mine).get(), memory.data() - mine.memory_begin, &found));
    EXPECT_TRUE(memory == expected);
    EXPECT_EQ(found, bytes);
  }

  std::byte value(size_t rank, int64_t memory) const {
    const auto place = static_cast<uint64_t>(memory + 100000);
    return static_cast<std::byte>((place * 2654435761 + rank * 97 + static_cast<uint64_t>(writes_) * 31) >> 5);
  }

  void expect_file() {
    std::ifstream stream(path_, std::ios::binary);
    stream.seekg(0, std::ios::end);
    ASSERT_EQ(static_cast<int64_t>(stream.tellg()), end_of_file());
    std::vector<char> bytes(image_.size());
    stream.seekg(shift());
    stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    const auto different = std::mismatch(image_.begin(), image_.end(), bytes.begin(), [](std::byte one, char other) {
      return one == static_cast<std::byte>(other);
    });
    EXPECT_TRUE(different.first == image_.end())
        << "first difference at " << shift() + (different.first - image_.begin());
  }

  Random random_;
  std::string path_;
  int64_t begin_ = 0, end_ = 0;
  int64_t writes_ = 0;
  std::vector<std::byte> image_;  // the file from begin_ on
};

TEST(BytePrograms, DoWhatTheOracleDoes) {
  SharedFolder folder;
  const auto step = static_cast<uint64_t>(stride());
  for (uint64_t seed = 0; seed < 800; seed += step) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Program(seed, folder.file("a file " + std::to_string(seed))).run();
    if (rank_of() == 0)
      std::filesystem::remove(folder.file("a file " + std::to_string(seed)));
    if (failed_anywhere())
      break;
  }
}

}  // namespace
