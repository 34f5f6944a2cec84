// SPDX-License-Identifier: BSD-3-Clause
// One rank's argument is wrong: the call fails on all ranks with the same message, which names the rank and the value,
// nothing has changed, and the same call with good arguments succeeds. And ranks that have nothing to do take part all
// the same.
#include "calls.hpp"

namespace {

using namespace windrow_test;

constexpr int k_old = 1, k_new = 500'000;

enum class Named {
  victim,
  differing,
  nobody
};  // which rank an error names; differing: the lowest that is not as rank 0

struct Mistake {
  std::string name;
  std::function<void(Scene&)> prepare;
  std::function<int(Scene&, bool)> run;  // true: on the rank that is wrong
  int code = WINDROW_BAD_ARGUMENT;
  std::string words;  // in the message
  Named named = Named::victim;
};

std::vector<Mistake> file_mistakes() {
  const auto create = [](Scene& s, const char* path, const windrow_options* options, windrow_file** file) {
    return windrow_create(s.comm, path, options, file);
  };
  return {
      {"create: path NULL", k_nothing,
       [create](Scene& s, bool bad) { return create(s, bad ? nullptr : s.path.c_str(), nullptr, &s.file); },
       WINDROW_BAD_ARGUMENT, "the path of the file is NULL"},
      {"create: path empty", k_nothing,
       [create](Scene& s, bool bad) { return create(s, bad ? "" : s.path.c_str(), nullptr, &s.file); },
       WINDROW_BAD_ARGUMENT, "the path of the file is empty"},
      {"create: file NULL", k_nothing,
       [create](Scene& s, bool bad) { return create(s, s.path.c_str(), nullptr, bad ? nullptr : &s.file); },
       WINDROW_BAD_ARGUMENT, "file is NULL"},
      {"create: paths differ", k_nothing,
       [create](Scene& s, bool bad) {
         return create(s, bad ? (s.path + ".raw").c_str() : s.path.c_str(), nullptr, &s.file);
       },
       WINDROW_BAD_ARGUMENT, "differ between the ranks", Named::differing},
      {"create: options differ", k_nothing,
       [create](Scene& s, bool bad) {
         const Options two_phase{{"strategy", "two-phase"}};
         return create(s, s.path.c_str(), bad ? static_cast<const windrow_options*>(two_phase) : nullptr, &s.file);
       },
       WINDROW_BAD_ARGUMENT, "differ between the ranks", Named::differing},
      {"create: environment differs", k_nothing,
       [create](Scene& s, bool bad) {
         if (bad)
           setenv("WINDROW_DOMAINS", "even", 1);
         const int code = create(s, s.path.c_str(), nullptr, &s.file);
         unsetenv("WINDROW_DOMAINS");
         return code;
       },
       WINDROW_BAD_ARGUMENT, "environment", Named::differing},
      {"create: bad environment", k_nothing,
       [create](Scene& s, bool bad) {
         if (bad)
           setenv("WINDROW_DOMAINS", "round", 1);
         const int code = create(s, s.path.c_str(), nullptr, &s.file);
         unsetenv("WINDROW_DOMAINS");
         return code;
       },
       WINDROW_BAD_ARGUMENT, "WINDROW_DOMAINS"},
      {"open: mode", k_nothing, [](Scene& s, bool bad) { return s.open(bad ? 7 : WINDROW_READ); }, WINDROW_BAD_ARGUMENT,
       "WINDROW_UPDATE"},
      {"open: modes differ", k_nothing, [](Scene& s, bool bad) { return s.open(bad ? WINDROW_UPDATE : WINDROW_READ); },
       WINDROW_BAD_ARGUMENT, "differ between the ranks", Named::differing},
  };
}

std::vector<Mistake> definition_mistakes() {
  const auto define = [](Scene& s, const char* path, int type, int ndims, int64_t first) {
    const int64_t shape[2] = {first, 3};
    return windrow_define_variable(s.file, path, type, ndims, shape, &s.variable);
  };
  const auto put = [](Scene& s, const char* object, const char* name, int type, const void* data) {
    const int64_t shape[1] = {2};
    return windrow_put_attribute(s.file, object, name, type, 1, shape, data);
  };
  static const int64_t numbers[2] = {1, 2};
  return {
      {"group NULL", k_begin, [](Scene& s, bool bad) { return windrow_define_group(s.file, bad ? nullptr : "g"); },
       WINDROW_BAD_ARGUMENT, "the path of the group is NULL"},
      {"group path", k_begin, [](Scene& s, bool bad) { return windrow_define_group(s.file, bad ? "a//b" : "g"); },
       WINDROW_BAD_ARGUMENT, "a//b"},
      {"groups differ", k_begin, [](Scene& s, bool bad) { return windrow_define_group(s.file, bad ? "h" : "g"); },
       WINDROW_BAD_ARGUMENT, "differ", Named::differing},
      {"variable NULL", k_begin,
       [define](Scene& s, bool bad) { return define(s, bad ? nullptr : "v", WINDROW_INT8, 2, 3); },
       WINDROW_BAD_ARGUMENT, "the path of the variable is NULL"},
      {"variable type", k_begin, [define](Scene& s, bool bad) { return define(s, "v", bad ? 99 : WINDROW_INT8, 2, 3); },
       WINDROW_BAD_ARGUMENT, "variable \"v\": there is no type 99"},
      {"variable ndims", k_begin,
       [define](Scene& s, bool bad) { return define(s, "v", WINDROW_INT8, bad ? 33 : 2, 3); }, WINDROW_BAD_ARGUMENT,
       "33"},
      {"variable shape", k_begin,
       [define](Scene& s, bool bad) { return define(s, "v", WINDROW_INT8, 2, bad ? -3 : 3); }, WINDROW_BAD_ARGUMENT,
       "dimension 0 is -3"},
      {"variables differ", k_begin,
       [define](Scene& s, bool bad) { return define(s, "v", WINDROW_INT8, 2, bad ? 4 : 3); }, WINDROW_BAD_ARGUMENT,
       "differ", Named::differing},
      {"variable exists", k_begin,
       [define](Scene& s, bool bad) { return define(s, bad ? "fields/grid" : "v", WINDROW_INT8, 2, 3); },
       WINDROW_EXISTS, "/fields/grid"},
      {"attribute object NULL", k_begin,
       [put](Scene& s, bool bad) { return put(s, bad ? nullptr : "/", "a", WINDROW_INT64, numbers); },
       WINDROW_BAD_ARGUMENT, "the object of the attribute is NULL"},
      {"attribute object", k_begin,
       [put](Scene& s, bool bad) { return put(s, bad ? "/nowhere" : "/", "a", WINDROW_INT64, numbers); },
       WINDROW_NOT_FOUND, "/nowhere"},
      {"attribute name", k_begin,
       [put](Scene& s, bool bad) { return put(s, "/", bad ? nullptr : "a", WINDROW_INT64, numbers); },
       WINDROW_BAD_ARGUMENT, "the name of the attribute is NULL"},
      {"attribute names differ", k_begin,
       [put](Scene& s, bool bad) { return put(s, "/", bad ? "b" : "a", WINDROW_INT64, numbers); }, WINDROW_BAD_ARGUMENT,
       "differ", Named::differing},
      {"attribute type", k_begin,
       [put](Scene& s, bool bad) { return put(s, "/", "a", bad ? 99 : WINDROW_INT64, numbers); }, WINDROW_BAD_ARGUMENT,
       "99"},
      {"attribute data", k_begin,
       [put](Scene& s, bool bad) { return put(s, "/", "a", WINDROW_INT64, bad ? nullptr : numbers); },
       WINDROW_BAD_ARGUMENT, "data of an attribute is NULL"},
      {"explain format", k_begin,
       [](Scene& s, bool bad) { return windrow_explain(s.file, bad ? "xml" : "json", &s.text); }, WINDROW_BAD_ARGUMENT,
       "json"},
      {"explain formats differ", k_begin,
       [](Scene& s, bool bad) { return windrow_explain(s.file, bad ? "text" : "json", &s.text); }, WINDROW_BAD_ARGUMENT,
       "differ", Named::differing},
      {"explain text", k_begin,
       [](Scene& s, bool bad) { return windrow_explain(s.file, "json", bad ? nullptr : &s.text); },
       WINDROW_BAD_ARGUMENT, "text is NULL"},
  };
}

std::vector<Mistake> decomposition_mistakes() {
  const auto block = [](Scene& s, int ndims, int64_t rows, const int64_t* start, const int64_t* count) {
    const int64_t shape[2] = {rows, s.grid_shape[1]};
    return make_into(s,
                     [&](auto** d) { return windrow_block(s.comm, ndims, shape, start, count, nullptr, nullptr, d); });
  };
  const auto rows = [](Scene& s, int64_t all, int64_t mine) {
    return make_into(s, [&](auto** d) { return windrow_rows(s.comm, all, mine, d); });
  };
  const auto points = [](Scene& s, int64_t count, const int64_t* list) {
    return make_into(s, [&](auto** d) { return windrow_points(s.comm, 100, count, list, nullptr, d); });
  };
  static const int64_t inside[2] = {1, 99}, outside[2] = {1, 100}, negative[2] = {-1, 5};
  return {
      {"block leaves the shape", k_nothing,
       [block](Scene& s, bool bad) { return block(s, 2, bad ? k_rows - 1 : k_rows, s.start.data(), s.count.data()); },
       WINDROW_BAD_ARGUMENT, "6"},
      {"block start NULL", k_nothing,
       [block](Scene& s, bool bad) { return block(s, 2, k_rows, bad ? nullptr : s.start.data(), s.count.data()); },
       WINDROW_BAD_ARGUMENT, "start is NULL"},
      {"block count", k_nothing,
       [block](Scene& s, bool bad) { return block(s, 2, k_rows, s.start.data(), bad ? negative : s.count.data()); },
       WINDROW_BAD_ARGUMENT, "-1"},
      {"block shapes differ", k_nothing,
       [block](Scene& s, bool bad) { return block(s, 2, bad ? k_rows + 1 : k_rows, s.start.data(), s.count.data()); },
       WINDROW_BAD_ARGUMENT, "differ between", Named::differing},
      {"block ndims", k_nothing,
       [block](Scene& s, bool bad) { return block(s, bad ? 33 : 2, k_rows, s.start.data(), s.count.data()); },
       WINDROW_BAD_ARGUMENT, "33"},
      {"block decomposition NULL", k_nothing,
       [](Scene& s, bool bad) {
         if (bad)
           return s.make_block(nullptr);
         return make_into(s, [&](auto** d) { return s.make_block(d); });
       },
       WINDROW_BAD_ARGUMENT, "decomposition is NULL"},
      {"blocks negative", k_nothing,
       [](Scene& s, bool bad) {
         return make_into(s, [&](auto** d) {
           return windrow_blocks(s.comm, 2, s.grid_shape.data(), bad ? -1 : 1, s.start.data(), s.count.data(), nullptr,
                                 nullptr, d);
         });
       },
       WINDROW_BAD_ARGUMENT, "-1"},
      {"blocks starts NULL", k_nothing,
       [](Scene& s, bool bad) {
         return make_into(s, [&](auto** d) {
           return windrow_blocks(s.comm, 2, s.grid_shape.data(), 1, bad ? nullptr : s.start.data(), s.count.data(),
                                 nullptr, nullptr, d);
         });
       },
       WINDROW_BAD_ARGUMENT, "starts is NULL"},
      {"rows too many", k_nothing, [rows](Scene& s, bool bad) { return rows(s, 7 * s.size, bad ? 8 * s.size : 7); },
       WINDROW_BAD_ARGUMENT, "more than all"},
      {"rows do not add up", k_nothing, [rows](Scene& s, bool bad) { return rows(s, 7 * s.size, bad ? 6 : 7); },
       WINDROW_BAD_ARGUMENT, "add up", Named::nobody},
      {"rows far too many", k_nothing,
       [rows](Scene& s, bool bad) { return rows(s, bad ? INT64_MAX : 7 * s.size, bad ? INT64_MAX : 7); },
       WINDROW_BAD_ARGUMENT, "differ", Named::nobody},
      {"rows even on one rank", k_nothing,
       [rows](Scene& s, bool bad) { return rows(s, 7 * s.size, bad ? WINDROW_EVEN : 7); }, WINDROW_BAD_ARGUMENT,
       "WINDROW_EVEN", Named::nobody},
      {"rows negative", k_nothing, [rows](Scene& s, bool bad) { return rows(s, 7 * s.size, bad ? -7 : 7); },
       WINDROW_BAD_ARGUMENT, "-7"},
      {"points outside", k_nothing, [points](Scene& s, bool bad) { return points(s, 2, bad ? outside : inside); },
       WINDROW_BAD_ARGUMENT, "100"},
      {"points NULL", k_nothing, [points](Scene& s, bool bad) { return points(s, 2, bad ? nullptr : inside); },
       WINDROW_BAD_ARGUMENT, "NULL"},
      {"points negative", k_nothing, [points](Scene& s, bool bad) { return points(s, bad ? -2 : 2, inside); },
       WINDROW_BAD_ARGUMENT, "-2"},
      {"same leaves the shape", k_nothing,
       [](Scene& s, bool bad) {
         const int64_t start[2] = {bad ? k_rows : 0, 0}, count[2] = {1, 1};
         return make_into(s, [&](auto** d) { return windrow_same(s.comm, 2, s.grid_shape.data(), start, count, d); });
       },
       WINDROW_BAD_ARGUMENT, "6"},
      {"kinds differ", k_nothing,
       [](Scene& s, bool bad) {
         return make_into(s, [&](auto** d) {
           return bad ? windrow_points(s.comm, k_rows * s.grid_shape[1], 0, nullptr, nullptr, d) : s.make_block(d);
         });
       },
       WINDROW_BAD_ARGUMENT, "kind", Named::differing},
  };
}

std::vector<Mistake> data_mistakes() {
  const auto flush = [](Scene& s, bool bad, int variable, const windrow_decomposition* d, const void* data) {
    const int code =
        windrow_put(s.file, bad ? variable : s.grid_variable, bad ? d : s.block.get(), bad ? data : s.grid.data());
    EXPECT_EQ(code != WINDROW_OK, bad);
    return windrow_flush(s.file);
  };
  return {
      {"put variable", k_begin, [flush](Scene& s, bool bad) { return flush(s, bad, 17, s.block.get(), s.grid.data()); },
       WINDROW_BAD_ARGUMENT, "17"},
      {"put decomposition NULL", k_begin,
       [flush](Scene& s, bool bad) { return flush(s, bad, 0, nullptr, s.grid.data()); }, WINDROW_BAD_ARGUMENT,
       "decomposition is NULL"},
      {"put decomposition", k_begin,
       [flush](Scene& s, bool bad) { return flush(s, bad, 1, s.block.get(), s.grid.data()); }, WINDROW_BAD_ARGUMENT,
       "\"/points\""},
      {"put data NULL", k_begin, [flush](Scene& s, bool bad) { return flush(s, bad, 0, s.block.get(), nullptr); },
       WINDROW_BAD_ARGUMENT, "the data is NULL"},
      {"get data NULL", k_begin_reading,
       [](Scene& s, bool bad) {
         (void)windrow_get(s.file, s.grid_variable, s.block.get(), bad ? nullptr : s.grid_read.data());
         return windrow_flush(s.file);
       },
       WINDROW_BAD_ARGUMENT, "the data is NULL"},
      {"put into a file that is read", k_begin_reading,
       [](Scene& s, bool bad) {
         if (bad) {
           EXPECT_EQ(windrow_put(s.file, s.grid_variable, s.block.get(), s.grid.data()), WINDROW_BAD_STATE);
         }
         return windrow_flush(s.file);
       },
       WINDROW_BAD_STATE, "reading only"},
      {"write", k_begin,
       [](Scene& s, bool bad) {
         return windrow_write(s.file, bad ? -1 : s.grid_variable, s.block.get(), s.grid.data());
       },
       WINDROW_BAD_ARGUMENT, "-1"},
      {"read", k_begin_reading,
       [](Scene& s, bool bad) {
         return windrow_read(s.file, s.grid_variable, bad ? nullptr : s.block.get(), s.grid_read.data());
       },
       WINDROW_BAD_ARGUMENT, "decomposition is NULL"},
      {"write_block variable", k_begin,
       [](Scene& s, bool bad) {
         return windrow_write_block(s.file, bad ? 5 : s.grid_variable, s.start.data(), s.count.data(), s.grid.data());
       },
       WINDROW_BAD_ARGUMENT, "5"},
      {"write_block start", k_begin,
       [](Scene& s, bool bad) {
         return windrow_write_block(s.file, s.grid_variable, bad ? nullptr : s.start.data(), s.count.data(),
                                    s.grid.data());
       },
       WINDROW_BAD_ARGUMENT, "start is NULL"},
      {"write_block data", k_begin,
       [](Scene& s, bool bad) {
         return windrow_write_block(s.file, s.grid_variable, s.start.data(), s.count.data(),
                                    bad ? nullptr : s.grid.data());
       },
       WINDROW_BAD_ARGUMENT, "the data is NULL"},
      {"read_block count", k_begin_reading,
       [](Scene& s, bool bad) {
         const int64_t far[2] = {k_rows + 1, 1};
         return windrow_read_block(s.file, s.grid_variable, s.start.data(), bad ? far : s.count.data(),
                                   s.grid_read.data());
       },
       WINDROW_BAD_ARGUMENT, "7"},
  };
}

class Arguments : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == ".h5" && windrow_has("hdf5") == 0)
      GTEST_SKIP() << "built without HDF5";
    Scene(standing_.path(), {}, k_old).write_all();
    standing_.remember();
  }

  void try_all(const std::vector<Mistake>& mistakes) {
    for (const Mistake& mistake : mistakes)
      for (int victim = 0; victim < size_of(); ++victim) {
        SCOPED_TRACE(mistake.name + ", rank " + std::to_string(victim));
        {
          Scene scene(standing_.path(), {}, k_new);
          mistake.prepare(scene);
          const int code = mistake.run(scene, scene.rank == victim);
          const bool alone = scene.size == 1;  // no rank to differ from
          if (!alone || mistake.named == Named::victim) {
            EXPECT_EQ(code, mistake.code) << windrow_error_message();
            EXPECT_NE(std::string(windrow_error_message()).find(mistake.words), std::string::npos)
                << windrow_error_message();
          }
          if (!alone) {
            EXPECT_EQ(windrow_error_rank(), mistake.named == Named::nobody                     ? -1
                                            : mistake.named == Named::differing && victim == 0 ? 1
                                                                                               : victim)
                << windrow_error_message();
          }
          expect_same_everywhere(code);
          EXPECT_WINDROW_OK(mistake.run(scene, false));
        }
        standing_.expect_whole();
        if (failed_anywhere())
          return;
      }
  }

  SharedFolder folder_;
  Standing standing_{folder_, GetParam()};
};

TEST_P(Arguments, of_files) {
  try_all(file_mistakes());
}
TEST_P(Arguments, of_definitions) {
  try_all(definition_mistakes());
}
TEST_P(Arguments, of_decompositions) {
  try_all(decomposition_mistakes());
}
TEST_P(Arguments, of_data) {
  try_all(data_mistakes());
}

// A rank that queues nothing, or holds nothing.
TEST_P(Arguments, a_rank_with_nothing_takes_part) {
  for (const KeyValues& strategy : fault_strategies())
    for (int idle = 0; idle < size_of(); ++idle)
      for (const bool queues : {true, false}) {
        SCOPED_TRACE(text_of(strategy) + ", rank " + std::to_string(idle) +
                     (queues ? " queues nothing much" : " queues nothing"));
        {
          Scene scene(standing_.path(), strategy, k_old);
          if (scene.rank == idle) {
            scene.count = {k_rows, 0};
            scene.grid.clear();
            scene.list.clear();
            scene.owned.clear();
            scene.values.clear();
          }
          scene.begin_reading(WINDROW_UPDATE);
          for (int32_t& value : scene.grid)
            value += 7;
          if (queues || scene.rank != idle) {
            EXPECT_WINDROW_OK(windrow_put(scene.file, scene.grid_variable, scene.block.get(),
                                          scene.rank == idle ? nullptr : scene.grid.data()));
          }
          EXPECT_WINDROW_OK(windrow_flush(scene.file));
          if (queues || scene.rank != idle) {
            EXPECT_WINDROW_OK(windrow_get(scene.file, scene.grid_variable, scene.block.get(),
                                          scene.rank == idle ? nullptr : scene.grid_read.data()));
            EXPECT_WINDROW_OK(
                windrow_get(scene.file, scene.point_variable, scene.points.get(), scene.values_read.data()));
          }
          EXPECT_WINDROW_OK(windrow_flush(scene.file));
          if (scene.rank != idle)
            scene.expect_read();
          EXPECT_WINDROW_OK(scene.close());
        }
        standing_.restore();
        if (failed_anywhere())
          return;
      }
}

INSTANTIATE_TEST_SUITE_P(Formats, Arguments, testing::Values(".raw", ".h5"),
                         [](const auto& format) { return format.param.substr(1); });

}  // namespace
