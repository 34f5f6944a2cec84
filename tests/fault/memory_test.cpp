// SPDX-License-Identifier: BSD-3-Clause
// One rank runs out of memory, at each allocation of each collective call in turn. All ranks get an error, none hangs,
// the existing file is unchanged, and the same handles still work.
#include "../stride.hpp"
#include "calls.hpp"
#include "failing_new.hpp"

namespace {

using namespace windrow_test;

constexpr int k_old = 1,
              k_new = 500'000;  // the numbers in the existing file, and in the one that shall replace it

// Whether the call reads the standing file; then it has to find that one's numbers.
int base_of(const Call& call) {
  return call.publishes ? k_new : k_old;
}

struct Outcome {
  int code = WINDROW_OK;
  int64_t allocations = 0, failed = 0;
};

Outcome run_armed(const Call& call, Scene& scene, int victim, int64_t at, bool for_good) {
  Outcome outcome;
  if (scene.rank == victim)
    failing_new.arm(at, for_good);
  outcome.code = call.run(scene);
  failing_new.disarm();
  int64_t numbers[2] = {failing_new.count, failing_new.failed};
  MPI_Bcast(numbers, 2, MPI_INT64_T, victim, MPI_COMM_WORLD);
  outcome.allocations = numbers[0];
  outcome.failed = numbers[1];
  return outcome;
}

// The first twenty, and then ever fewer: 20, 21, 23, 26, 29, ...
int64_t next_allocation(int64_t at) {
  return at + stride() * (at < 20 ? 1 : 1 + at / 10);
}

class Memory : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() != ".raw" && windrow_has("hdf5") == 0)
      GTEST_SKIP() << "built without HDF5";
    Scene(standing_.path(), standing_options(GetParam()), k_old).write_all();
    standing_.remember();
  }

  // One allocation, or all from one on, fails on one rank.
  int64_t try_one(const Call& call, const KeyValues& strategy, int victim, int64_t at, bool for_good) {
    Outcome outcome;
    bool published = false;
    {
      Scene scene(standing_.path(), strategy, base_of(call));
      call.prepare(scene);
      outcome = run_armed(call, scene, victim, at, for_good);
      if (outcome.failed == 0) {
        EXPECT_EQ(outcome.code, WINDROW_OK) << windrow_error_message();
      }
      // If all later allocations fail, the failing rank may have no memory for the message; the code is the same.
      if (!for_good)
        expect_same_everywhere(outcome.code);
      EXPECT_TRUE(outcome.code == WINDROW_OK || outcome.code == WINDROW_OUT_OF_MEMORY)
          << windrow_code_name(outcome.code) << ": " << windrow_error_message();
      published = call.publishes && go_on(call, scene, outcome.code);
    }
    if (published) {
      Scene::expect_file(standing_.path(), k_new);
      standing_.restore();
    }
    standing_.expect_whole();
    return outcome.allocations;
  }

  // After the call: whether it was made to succeed in the end.
  bool go_on(const Call& call, Scene& scene, int code) {
    if (code == WINDROW_OK) {
      call.finish(scene);
      return true;
    }
    if (scene.file == nullptr)
      standing_.expect_whole();  // else there is a temporary beside it
    int undefined = std::string(windrow_error_message()).find("undefined now") != std::string::npos ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &undefined, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (!call.repeatable)
      return false;
    if (call.publishes && undefined != 0) {  // it failed while data moved: such a file does not take its name
      EXPECT_EQ(scene.close(), WINDROW_OUT_OF_MEMORY) << windrow_error_message();
      return false;
    }
    EXPECT_WINDROW_OK(call.run(scene));
    call.finish(scene);
    return true;
  }

  void try_all(const std::vector<Call>& calls, const KeyValues& strategy) {
    for (const Call& call : calls) {
      // The raw format's sidecar is JSON, and the destructor of nlohmann::json (3.11) allocates: without memory it ends
      // the program. In an HDF5 file these calls are the same but for that.
      const bool sidecar = call.name.starts_with("open") || call.name == "sync" || call.name == "close";
      if (sidecar && GetParam() == ".raw")
        continue;
      for (int victim = 0; victim < size_of(); ++victim) {
        SCOPED_TRACE(call.name + ", " + text_of(strategy) + ", rank " + std::to_string(victim));
        const int64_t allocations = try_one(call, strategy, victim, 0, false);
        for (int64_t at = 1 + begin_++ % stride(); at <= allocations; at = next_allocation(at)) {
          SCOPED_TRACE("allocation " + std::to_string(at) + " of " + std::to_string(allocations));
          try_one(call, strategy, victim, at, false);
          if (at % 3 == 1)
            try_one(call, strategy, victim, at, true);
          if (failed_anywhere())
            return;
        }
      }
    }
  }

  SharedFolder folder_;
  Standing standing_{folder_, GetParam()};
  int64_t begin_ = 0;  // which of the first allocations a sweep begins with: another one each time
};

TEST_P(Memory, runs_out_in_calls_that_prepare) {
  if (GetParam() == "chunked.h5")
    GTEST_SKIP() << "they do not touch data";
  try_all(plain_calls(), {});
}

TEST_P(Memory, runs_out_in_calls_for_viewers) {
  if (GetParam() != ".h5")
    GTEST_SKIP() << "XDMF describes HDF5 files, whatever their chunks";
  try_all(xdmf_calls(), {});
}

TEST_P(Memory, runs_out_in_calls_that_move_data) {
  const auto& strategies = strategies_for(GetParam());
  try_all(moving_calls(), strategies.front());
  std::vector<Call> flushes = moving_calls();  // the others differ from these in nothing that depends on the strategy
  std::erase_if(flushes, [](const Call& call) { return !call.name.starts_with("flush"); });
  for (size_t i = 1; i < strategies.size() && !failed_anywhere(); ++i)
    try_all(flushes, strategies[i]);
}

INSTANTIATE_TEST_SUITE_P(Formats, Memory, testing::Values(".raw", ".h5", "chunked.h5", "split.h5"),
                         [](const auto& format) {
                           return format.param.starts_with('.') ? format.param.substr(1)
                                                                : format.param.substr(0, format.param.find('.'));
                         });

}  // namespace
