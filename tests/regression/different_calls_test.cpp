// SPDX-License-Identifier: BSD-3-Clause
// A rank that makes another collective call than the others, of the same file, of another one or of none: all ranks get
// the same error, which names both calls; no later call of the file waits for another rank, nothing is published, and
// the communicator can be used further.
#include <dlfcn.h>
#include <sys/statvfs.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "../capi/checked.hpp"
#include "../stride.hpp"
#include "comm/comm.hpp"

namespace {

bool shared_memory_is_full = false;

}  // namespace

// Replaces the system's function, so that the library finds no space in /dev/shm.
extern "C" int statvfs(const char* path, struct statvfs* info) noexcept {
  using Function = int (*)(const char*, struct statvfs*);
  static const auto system = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "statvfs"));
  const int code = system(path, info);
  if (code == 0 && shared_memory_is_full && std::strcmp(path, "/dev/shm") == 0)
    info->f_bavail = 0;
  return code;
}

namespace {

using namespace windrow_test;

constexpr int64_t k_width = 3;  // of each rank

struct Scene {
  MPI_Comm comm = MPI_COMM_NULL;
  std::string path, other_path;
  windrow_file *file = nullptr, *between = nullptr, *other = nullptr;
  int variable = -1;
  Decomposition parts, made;
  std::vector<int32_t> data = std::vector<int32_t>(k_width, 7);
  int64_t shape[1] = {}, start[1] = {}, count[1] = {k_width};

  explicit Scene(MPI_Comm with) : comm(with) {
    shape[0] = k_width * size_of(comm);
    start[0] = k_width * rank_of(comm);
    windrow_decomposition* block = nullptr;
    EXPECT_WINDROW_OK(windrow_block(comm, 1, shape, start, count, nullptr, nullptr, &block));
    parts.reset(block);
  }
  // Two files with a variable, and one that is opened between them; the first has something queued.
  void begin(bool in_two) {
    const std::vector<std::pair<windrow_file**, std::string>> all{
        {&file, path}, {&between, path + ".between.raw"}, {&other, other_path}};
    for (const auto& [handle, at] : all) {
      ASSERT_WINDROW_OK(windrow_create(comm, at.c_str(), nullptr, handle));
      ASSERT_WINDROW_OK(windrow_define_variable(*handle, "v", WINDROW_INT32, 1, shape, &variable));
    }
    ASSERT_WINDROW_OK(windrow_put(file, variable, parts.get(), data.data()));
    if (!in_two)
      return;
    ASSERT_WINDROW_OK(windrow_flush_begin(file));
  }
  template <class Function>
  int make(Function&& function) {
    windrow_decomposition* decomposition = nullptr;
    const int code = function(&decomposition);
    made.reset(decomposition);
    return code;
  }
};

struct Case {
  const char* name;  // as the message has it
  bool of_file;      // of the first one
  std::function<int(Scene&)> call;
};

int end(windrow_file*& file, int (*how)(windrow_file*)) {
  return how(std::exchange(file, nullptr));
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"flush", true, [](Scene& s) { return windrow_flush(s.file); }},
      {"sync", true, [](Scene& s) { return windrow_sync(s.file); }},
      {"close", true, [](Scene& s) { return end(s.file, windrow_close); }},
      {"discard", true, [](Scene& s) { return end(s.file, windrow_discard); }},
      {"flush_begin", true, [](Scene& s) { return windrow_flush_begin(s.file); }},
      {"flush_end", true, [](Scene& s) { return windrow_flush_end(s.file); }},
      {"write_block", true,
       [](Scene& s) { return windrow_write_block(s.file, s.variable, s.start, s.count, s.data.data()); }},
      {"read_block", true,
       [](Scene& s) { return windrow_read_block(s.file, s.variable, s.start, s.count, s.data.data()); }},
      {"explain", true,
       [](Scene& s) {
         const char* text = nullptr;
         return windrow_explain(s.file, "text", &text);
       }},
      {"set_strategy", true,
       [](Scene& s) {
         return windrow_set_strategy(s.file, Options{{"strategy", "list"}});
       }},
      {"define_variables", true,
       [](Scene& s) {
         int number = -1;
         return windrow_define_variable(s.file, "w", WINDROW_FLOAT64, 1, s.shape, &number);
       }},
      {"define_group", true, [](Scene& s) { return windrow_define_group(s.file, "group"); }},
      {"define_dimension", true, [](Scene& s) { return windrow_define_dimension(s.file, "x", 4); }},
      {"define_link", true, [](Scene& s) { return windrow_define_link(s.file, "link", "/v"); }},
      {"name_dimensions", true,
       [](Scene& s) {
         const char* names[1] = {"x"};
         return windrow_name_dimensions(s.file, s.variable, names);
       }},
      {"put_attribute", true, [](Scene& s) { return windrow_put_attribute_text(s.file, "/", "title", "a title"); }},
      {"delete_attribute", true, [](Scene& s) { return windrow_delete_attribute(s.file, "/", "title"); }},
      {"put_texts", true,
       [](Scene& s) {
         const char* const texts[1] = {"a text"};
         return windrow_put_texts(s.file, s.variable, texts);
       }},
      {"get_texts", true,
       [](Scene& s) {
         std::vector<const char*> texts(static_cast<size_t>(s.shape[0]));
         return windrow_get_texts(s.file, s.variable, texts.data());
       }},
      {"define_grid", true,
       [](Scene& s) {
         const int64_t nodes[2] = {2, 2};
         const double origin[2] = {0, 0}, spacing[2] = {1, 1};
         int grid = -1;
         return windrow_xdmf_uniform_grid(s.file, "grid", 0, 2, nodes, origin, spacing, &grid);
       }},
      {"define_field", true,
       [](Scene& s) { return windrow_xdmf_field(s.file, 0, "field", WINDROW_AT_NODES, s.variable); }},
      {"write_references", true,
       [](Scene& s) {
         const char* left = nullptr;
         return windrow_write_references(s.file, nullptr, nullptr, &left);
       }},
      {"check_subfiles", true,
       [](Scene& s) {
         const char* problems = nullptr;
         return windrow_check_subfiles(s.file, &problems);
       }},
      {"inquire_written", true,
       [](Scene& s) {
         const int64_t *starts = nullptr, *counts = nullptr;
         int64_t boxes = 0;
         return windrow_inquire_written(s.file, s.variable, &boxes, &starts, &counts);
       }},
      {"inquire_written", false,
       [](Scene& s) {
         const int64_t *starts = nullptr, *counts = nullptr;
         int64_t boxes = 0;
         return windrow_inquire_written(s.other, s.variable, &boxes, &starts, &counts);
       }},
      {"flush", false, [](Scene& s) { return windrow_flush(s.other); }},
      {"close", false, [](Scene& s) { return end(s.other, windrow_close); }},
      {"open", false,
       [](Scene& s) {
         windrow_file* third = nullptr;
         const int code = windrow_create(s.comm, (s.path + ".third.raw").c_str(), nullptr, &third);
         EXPECT_EQ(third == nullptr, code != WINDROW_OK);
         return code;
       }},
      {"copy", false,
       [](Scene& s) { return windrow_copy(s.comm, s.path.c_str(), s.other_path.c_str(), nullptr, nullptr); }},
      {"the creation of a decomposition", false,
       [](Scene& s) {
         return s.make([&](auto** made) { return windrow_rows(s.comm, s.shape[0], WINDROW_EVEN, made); });
       }},
      {"the creation of a decomposition", false,
       [](Scene& s) {
         const int64_t points[1] = {rank_of(s.comm)};
         return s.make([&](auto** made) { return windrow_points(s.comm, s.shape[0], 1, points, nullptr, made); });
       }},
  };
  return all;
}

class DifferentCalls : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (size_of() == 1)
      GTEST_SKIP() << "one rank is in one call";
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    shared_memory_is_full = !GetParam();
    ASSERT_EQ(windrow::Comm::of(comm_).value()->rounds().is_ready(), GetParam() && ranks_per_host() >= size_of());
    shared_memory_is_full = false;
  }
  void TearDown() override {
    if (comm_ != MPI_COMM_NULL)
      MPI_Comm_free(&comm_);
  }
  static bool is_of_other(const Case& call) {
    const std::string name = call.name;
    return !call.of_file && name.find("creation") == std::string::npos && name != "open" && name != "copy";
  }
  bool is_twin(const Case& a, const Case& b) const { return std::string(a.name) == b.name && a.of_file == b.of_file; }

  // The file is out of use: its calls are errors without the other ranks, so each rank makes another number of them.
  static void expect_lost(windrow_file*& file, bool closes, Scene& scene) {
    if (file == nullptr)
      return;
    for (int i = 0; i <= rank_of(); ++i) {
      EXPECT_EQ(windrow_flush(file), WINDROW_MPI);
      EXPECT_NE(std::string(windrow_error_message()).find("cannot be used any more"), std::string::npos)
          << windrow_error_message();
      EXPECT_EQ(windrow_write_block(file, 0, scene.start, scene.count, scene.data.data()), WINDROW_MPI);
      EXPECT_EQ(windrow_flush_end(file), WINDROW_MPI);
      EXPECT_EQ(windrow_define_group(file, "later"), WINDROW_MPI);
    }
    if (closes) {
      EXPECT_EQ(end(file, windrow_close), WINDROW_MPI);
    } else {
      EXPECT_EQ(end(file, windrow_discard), WINDROW_OK) << windrow_error_message();
    }
  }

  void try_one(const Case& most, const Case& one, int victim, bool closes) {
    Scene scene(comm_);
    scene.path = folder_.file("file.raw");
    scene.other_path = folder_.file("other.raw");
    scene.begin(std::strcmp(most.name, "flush_end") == 0 || std::strcmp(one.name, "flush_end") == 0);
    if (failed_anywhere())
      return;
    const int code = (rank_of() == victim ? one : most).call(scene);
    const std::string message = windrow_error_message();
    EXPECT_EQ(code, WINDROW_MPI) << message;
    expect_same_everywhere(code);
    const Case &lowest = victim == 0 ? one : most, &second = victim == 0 ? most : one;
    EXPECT_NE(message.find("the ranks are in different calls: rank 0 in " + std::string(lowest.name)),
              std::string::npos)
        << message;
    EXPECT_NE(message.find("rank " + std::to_string(victim == 0 ? 1 : victim) + " in " + second.name),
              std::string::npos)
        << message;
    if (most.of_file || one.of_file) {
      EXPECT_NE(message.find("\"" + scene.path + "\""), std::string::npos) << message;
      expect_lost(scene.file, closes, scene);
    }
    if (is_of_other(most) || is_of_other(one)) {
      EXPECT_NE(message.find("\"" + scene.other_path + "\""), std::string::npos) << message;
      expect_lost(scene.other, closes, scene);
    }
    // Files that no rank was in a call of still work.
    for (windrow_file*& left : {std::ref(scene.file), std::ref(scene.between), std::ref(scene.other)})
      if (left != nullptr) {
        EXPECT_WINDROW_OK(windrow_write_block(left, 0, scene.start, scene.count, scene.data.data()));
        EXPECT_WINDROW_OK(end(left, windrow_discard));
      }
    EXPECT_WINDROW_OK(scene.make([&](auto** made) { return windrow_rows(comm_, scene.shape[0], WINDROW_EVEN, made); }));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_of() == 0) {
      EXPECT_EQ(folder_.names(), std::vector<std::string>()) << "nothing is left";
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

  SharedFolder folder_;
  MPI_Comm comm_ = MPI_COMM_NULL;
};

INSTANTIATE_TEST_SUITE_P(Memory, DifferentCalls, testing::Values(true, false),
                         [](const auto& each) { return each.param ? "shared" : "full"; });

TEST_P(DifferentCalls, are_the_same_error_on_all_ranks_and_let_nobody_wait) {
  int number = 0;
  for (const Case& most : cases())
    for (const Case& one : cases())
      for (int victim = 0; victim < size_of(); ++victim) {
        if (is_twin(most, one) || number++ % stride() != 0)
          continue;
        SCOPED_TRACE(std::string(most.name) + (most.of_file ? "" : " (another)") + ", and " + one.name +
                     (one.of_file ? "" : " (another)") + " on rank " + std::to_string(victim));
        try_one(most, one, victim, number / stride() % 2 == 0);
        if (failed_anywhere())
          return;
      }
}

// The rows of one file must not be written to the other.
TEST_P(DifferentCalls, of_two_files_that_a_rank_flushes_in_another_order_write_nothing) {
  for (int victim = 0; victim < size_of(); ++victim) {
    SCOPED_TRACE(victim);
    Scene scene(comm_);
    scene.path = folder_.file("file.raw");
    scene.other_path = folder_.file("other.raw");
    scene.begin(false);
    EXPECT_WINDROW_OK(windrow_put(scene.other, scene.variable, scene.parts.get(), scene.data.data()));
    windrow_file* third = nullptr;
    int in_third = -1;
    const std::string third_path = folder_.file("third.raw");
    ASSERT_WINDROW_OK(windrow_create(comm_, third_path.c_str(), nullptr, &third));
    ASSERT_WINDROW_OK(windrow_define_variable(third, "v", WINDROW_INT32, 1, scene.shape, &in_third));
    const bool turned = rank_of() == victim;
    for (const bool first : {true, false}) {
      const int code = windrow_flush(first != turned ? scene.file : scene.other);
      EXPECT_EQ(code, WINDROW_MPI);
      const std::string message = windrow_error_message();
      if (!first)
        continue;
      expect_same_everywhere(code);
      EXPECT_NE(message.find("flush of \"" + scene.path + "\""), std::string::npos) << message;
      EXPECT_NE(message.find("flush of \"" + scene.other_path + "\""), std::string::npos) << message;
    }
    EXPECT_EQ(windrow_close(scene.file), WINDROW_MPI);
    EXPECT_EQ(windrow_close(scene.other), WINDROW_MPI);
    // The others were in none of these calls.
    EXPECT_WINDROW_OK(windrow_write_block(scene.between, 0, scene.start, scene.count, scene.data.data()));
    EXPECT_WINDROW_OK(windrow_discard(scene.between));
    EXPECT_WINDROW_OK(windrow_write_block(third, in_third, scene.start, scene.count, scene.data.data()));
    EXPECT_WINDROW_OK(windrow_close(third));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_of() == 0) {
      EXPECT_EQ(folder_.names(), (std::vector<std::string>{"third.raw", "third.raw.json"}));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (failed_anywhere())
      return;
  }
}

// What was there before is there afterwards, and can be opened on the same communicator.
TEST_P(DifferentCalls, leave_a_file_that_is_changed_in_place_readable) {
  Scene scene(comm_);
  scene.path = folder_.file("file.raw");
  scene.other_path = folder_.file("other.raw");
  scene.begin(false);
  EXPECT_WINDROW_OK(windrow_close(scene.file));
  EXPECT_WINDROW_OK(windrow_discard(scene.between));
  EXPECT_WINDROW_OK(windrow_discard(scene.other));
  for (int victim = 0; victim < size_of(); ++victim) {
    ASSERT_WINDROW_OK(windrow_open(comm_, scene.path.c_str(), WINDROW_UPDATE, nullptr, &scene.file));
    std::vector<int32_t> others(k_width, -3);
    EXPECT_WINDROW_OK(windrow_put(scene.file, 0, scene.parts.get(), others.data()));
    const int code = rank_of() == victim ? windrow_discard(scene.file) : windrow_close(scene.file);
    EXPECT_EQ(code, WINDROW_MPI);
    expect_same_everywhere(code);
    ASSERT_WINDROW_OK(windrow_open(comm_, scene.path.c_str(), WINDROW_READ, nullptr, &scene.file));
    std::vector<int32_t> read(k_width, -1);
    EXPECT_WINDROW_OK(windrow_read_block(scene.file, 0, scene.start, scene.count, read.data()));
    EXPECT_EQ(read, scene.data);
    EXPECT_WINDROW_OK(windrow_close(scene.file));
    if (failed_anywhere())
      return;
  }
}

}  // namespace
