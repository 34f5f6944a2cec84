// SPDX-License-Identifier: BSD-3-Clause
// Every collective call of windrow.h, as a table.
#pragma once

#include "scene.hpp"

namespace windrow_test {

inline const auto k_begin = [](Scene& s) { s.begin(); };
inline const auto k_begin_reading = [](Scene& s) { s.begin_reading(); };
inline const auto k_nothing = [](Scene&) {};
inline const auto k_close = [](Scene& s) { EXPECT_WINDROW_OK(s.close()); };

// The calls that do not depend on the strategy.
inline std::vector<Call> plain_calls() {
  const auto opened = [](Scene& s) {
    EXPECT_EQ(windrow_variable_count(s.file), 2);
    EXPECT_WINDROW_OK(windrow_find_variable(s.file, "fields/grid", &s.grid_variable));
    EXPECT_WINDROW_OK(s.close());
  };
  const auto written = [](Scene& s) {  // the handle still works
    EXPECT_WINDROW_OK(s.put_and_flush());
    EXPECT_WINDROW_OK(s.close());
  };
  const auto begin_with_texts = [](Scene& s) {
    s.begin();
    EXPECT_WINDROW_OK(windrow_define_variable(s.file, "texts", WINDROW_TEXT, 1, s.attribute_shape.data(), &s.variable));
  };
  static const char* const texts[2] = {"a text that is longer than a short string",
                                       "and another that is longer than that"};
  const auto put_texts = [](Scene& s) { return windrow_put_texts(s.file, s.variable, texts); };
  const auto get_texts = [](Scene& s) {
    const char* read[2] = {};
    const int code = windrow_get_texts(s.file, s.variable, read);
    if (code == WINDROW_OK) {
      EXPECT_STREQ(read[1], texts[1]);
    }
    return code;
  };
  return {
      {"create", k_nothing, [](Scene& s) { return s.create(); }, [](Scene& s) { EXPECT_NE(s.file, nullptr); }},
      {"open", k_nothing, [](Scene& s) { return s.open(WINDROW_READ); }, opened},
      {"open for update", k_nothing, [](Scene& s) { return s.open(WINDROW_UPDATE); }, opened},
      {"define_group", k_begin,
       [](Scene& s) { return windrow_define_group(s.file, "a group/with a long name inside"); },
       [written](Scene& s) {
         EXPECT_EQ(windrow_group_count(s.file), 4);  // the root, fields and these
         EXPECT_STREQ(windrow_group_path(s.file, 3), "/a group/with a long name inside");
         written(s);
       },
       true, true},
      {"define_variable", k_begin,
       [](Scene& s) {
         return windrow_define_variable(s.file, "a group/and in it/another variable", WINDROW_FLOAT32, 2,
                                        s.grid_shape.data(), &s.variable);
       },
       [written](Scene& s) {
         EXPECT_EQ(s.variable, 2);
         EXPECT_EQ(windrow_variable_count(s.file), 3);
         written(s);
       },
       true, true},
      {"define_variables", k_begin,
       [](Scene& s) {
         const windrow_variable_definition both[2] = {
             {"a group/and in it/one more", WINDROW_FLOAT32, 2, s.grid_shape.data(), nullptr},
             {"another group with a long name/and a variable", WINDROW_INT8, 2, s.grid_shape.data(), nullptr}};
         int numbers[2] = {-1, -1};
         const int code = windrow_define_variables(s.file, 2, both, numbers);
         EXPECT_EQ(numbers[1], code == WINDROW_OK ? 3 : -1);
         return code;
       },
       [written](Scene& s) {
         EXPECT_EQ(windrow_variable_count(s.file), 4);
         written(s);
       },
       true, false},
      {"put_attribute", k_begin,
       [](Scene& s) {
         return windrow_put_attribute(s.file, "/fields/grid", "the name of an attribute", WINDROW_INT64, 1,
                                      s.attribute_shape.data(), s.point_shape.data());
       },
       [written](Scene& s) {
         std::vector<int64_t> read(static_cast<size_t>(s.attribute_shape[0]));
         EXPECT_EQ(windrow_attribute_count(s.file, "/fields/grid"), 1);
         EXPECT_WINDROW_OK(
             windrow_get_attribute(s.file, "/fields/grid", "the name of an attribute", WINDROW_INT64, read.data()));
         EXPECT_EQ(read, s.point_shape);
         written(s);
       },
       true, true},
      {"put_attribute_text", k_begin,
       [](Scene& s) {
         return windrow_put_attribute_text(s.file, "/", "title", "a title that is longer than a short string");
       },
       [written](Scene& s) {
         EXPECT_EQ(windrow_attribute_count(s.file, "/"), 1);
         written(s);
       },
       true, true},
      {"delete_attribute", k_begin, [](Scene& s) { return windrow_delete_attribute(s.file, "/", "title"); },
       [](Scene& s) {
         EXPECT_EQ(windrow_attribute_count(s.file, "/"), 0);
         EXPECT_WINDROW_OK(
             windrow_put_attribute_text(s.file, "/", "title", "a title that is longer than a short string"));
         EXPECT_WINDROW_OK(s.put_and_flush());
         EXPECT_WINDROW_OK(s.close());
       },
       true, true},
      {"define_link", k_begin,
       [](Scene& s) { return windrow_define_link(s.file, "a group/with a long name/and a link", "/fields/grid"); },
       [written](Scene& s) {
         int found = -1;
         EXPECT_WINDROW_OK(windrow_find_variable(s.file, "a group/with a long name/and a link", &found));
         EXPECT_EQ(found, s.grid_variable);
         written(s);
       },
       true, true},
      {"name_dimensions", k_begin,
       [](Scene& s) {
         const char* names[2] = {"the rows of a grid", "the columns of a grid"};
         return windrow_name_dimensions(s.file, s.grid_variable, names);
       },
       [written](Scene& s) {
         EXPECT_EQ(windrow_dimension_count(s.file), 2);
         written(s);
       },
       true, true},
      {"set_strategy",
       [](Scene& s) {
         s.begin();
         s.other_options = std::make_unique<Options>(KeyValues{{"gather", "team(2)"}, {"domains", "even"}});
       },
       [](Scene& s) { return windrow_set_strategy(s.file, *s.other_options); }, written, true, true},
      {"put_texts", begin_with_texts, put_texts,
       [get_texts, written](Scene& s) {
         EXPECT_WINDROW_OK(get_texts(s));
         written(s);
       },
       true, true},
      {"get_texts",
       [begin_with_texts, put_texts](Scene& s) {
         begin_with_texts(s);
         EXPECT_WINDROW_OK(put_texts(s));
       },
       get_texts, written, true, true},
      {"block", k_nothing, [](Scene& s) { return make_into(s, [&](auto** d) { return s.make_block(d); }); }, k_nothing},
      {"blocks", k_nothing,
       [](Scene& s) {
         return make_into(s, [&](auto** d) {
           return windrow_blocks(s.comm, 2, s.grid_shape.data(), 1, s.start.data(), s.count.data(), nullptr, nullptr,
                                 d);
         });
       },
       k_nothing},
      {"rows", k_nothing,
       [](Scene& s) {
         return make_into(s, [&](auto** d) { return windrow_rows(s.comm, 7 * s.size, WINDROW_EVEN, d); });
       },
       k_nothing},
      {"rows counted", k_nothing,
       [](Scene& s) { return make_into(s, [&](auto** d) { return windrow_rows(s.comm, 7 * s.size, 7, d); }); },
       [](Scene& s) {
         int64_t first = -1, rows = -1;
         EXPECT_WINDROW_OK(windrow_decomposition_rows(s.made.get(), &first, &rows));
         EXPECT_EQ(first, 7 * s.rank);
         EXPECT_EQ(rows, 7);
       }},
      {"points", k_nothing, [](Scene& s) { return make_into(s, [&](auto** d) { return s.make_points(d); }); },
       k_nothing},
      {"same", k_nothing,
       [](Scene& s) {
         return make_into(s,
                          [&](auto** d) { return windrow_same(s.comm, 2, s.grid_shape.data(), nullptr, nullptr, d); });
       },
       k_nothing},
  };
}

// The calls that move data. They are made with each strategy.
inline std::vector<Call> moving_calls() {
  const auto read = [](Scene& s) {
    s.expect_read();
    EXPECT_WINDROW_OK(s.close());
  };
  const auto rest_read = [read](Scene& s) {
    EXPECT_WINDROW_OK(s.get_and_flush());
    read(s);
  };
  const auto written = [](Scene& s) {
    EXPECT_WINDROW_OK(windrow_write(s.file, s.grid_variable, s.block.get(), s.grid.data()));
    EXPECT_WINDROW_OK(windrow_write(s.file, s.point_variable, s.points.get(), s.values.data()));
    EXPECT_WINDROW_OK(s.close());
  };
  const auto queue = [](Scene& s) {
    (void)windrow_put(s.file, s.grid_variable, s.block.get(), s.grid.data());
    (void)windrow_put(s.file, s.point_variable, s.points.get(), s.values.data());
  };
  // The test lets allocations fail, so everything else that a call needs is allocated in the scene.
  const auto put_converted = [](Scene& s) {
    (void)windrow_put_as(s.file, s.grid_variable, s.block.get(), WINDROW_FLOAT64, s.wide_grid.data());
    (void)windrow_put_as(s.file, s.point_variable, s.points.get(), WINDROW_FLOAT32, s.narrow_values.data());
    return windrow_flush(s.file);
  };
  const auto define_filled = [](Scene& s) {
    s.begin();
    const Options options{{"fill_value", "-7"}};
    EXPECT_WINDROW_OK(
        windrow_define_variable_with(s.file, "filled", WINDROW_INT32, 2, s.grid_shape.data(), options, &s.variable));
  };
  return {
      {"put_as", k_begin, put_converted, k_close, true, true},
      {"write_block of a part of what is filled", define_filled,
       [](Scene& s) {
         const int64_t part[2] = {s.count[0], s.count[1] / 2};
         return windrow_write_block(s.file, s.variable, s.start.data(), part, s.grid.data());
       },
       written, true, true},
      {"read_block of what is filled", define_filled,
       [](Scene& s) {
         const int code = windrow_read_block(s.file, s.variable, s.start.data(), s.count.data(), s.grid_read.data());
         if (code == WINDROW_OK) {
           EXPECT_TRUE(std::all_of(s.grid_read.begin(), s.grid_read.end(), [](int32_t each) { return each == -7; }));
         }
         return code;
       },
       written, true, true},
      {"get_as", k_begin_reading,
       [](Scene& s) {
         std::fill(s.wide_grid.begin(), s.wide_grid.end(), -1);
         (void)windrow_get_as(s.file, s.grid_variable, s.block.get(), WINDROW_FLOAT64, s.wide_grid.data());
         const int code = windrow_flush(s.file);
         if (code == WINDROW_OK) {
           EXPECT_TRUE(std::equal(s.wide_grid.begin(), s.wide_grid.end(), s.grid.begin()));
         }
         return code;
       },
       rest_read},
      {"flush of puts", k_begin, [](Scene& s) { return s.put_and_flush(); }, k_close, true, true},
      {"flush of puts in two", k_begin,
       [queue](Scene& s) {
         queue(s);
         const int code = windrow_flush_begin(s.file);
         return code == WINDROW_OK ? windrow_flush_end(s.file) : code;
       },
       k_close, true, true},
      {"write", k_begin, [](Scene& s) { return windrow_write(s.file, s.grid_variable, s.block.get(), s.grid.data()); },
       written, true, true},
      {"write_block", k_begin,
       [](Scene& s) {
         return windrow_write_block(s.file, s.grid_variable, s.start.data(), s.count.data(), s.grid.data());
       },
       written, true, true},
      {"explain",
       [queue](Scene& s) {
         s.begin();
         queue(s);
       },
       [](Scene& s) { return windrow_explain(s.file, "text", &s.text); },
       [written](Scene& s) {
         ASSERT_NE(s.text, nullptr);
         EXPECT_NE(std::string(s.text).find("domains"), std::string::npos) << s.text;
         written(s);
       },
       true, true},
      {"sync", k_begin,
       [queue](Scene& s) {
         queue(s);
         return windrow_sync(s.file);
       },
       k_close, true, true},
      {"close", k_begin,
       [queue](Scene& s) {
         queue(s);
         return s.close();
       },
       k_nothing, false, true},
      {"flush of gets", k_begin_reading, [](Scene& s) { return s.get_and_flush(); }, read},
      {"read", k_begin_reading,
       [](Scene& s) { return windrow_read(s.file, s.grid_variable, s.block.get(), s.grid_read.data()); }, rest_read},
      {"read_block", k_begin_reading,
       [](Scene& s) {
         return windrow_read_block(s.file, s.grid_variable, s.start.data(), s.count.data(), s.grid_read.data());
       },
       rest_read},
  };
}

// The calls on HDF5 files that describe grids, and those that publish the text. The files that it adds to the folder
// are removed again.
inline std::vector<Call> xdmf_calls() {
  const auto describe = [](Scene& s) {
    static const double origin[2] = {0, 0}, spacing[2] = {1, 1};
    return windrow_xdmf_uniform_grid(s.file, "a grid with a name that is longer than a short string", 0.5, 2,
                                     s.grid_shape.data(), origin, spacing, &s.variable);
  };
  const auto add = [](Scene& s) {
    return windrow_xdmf_field(s.file, s.variable, "a field with a name that is longer than a short string",
                              WINDROW_AT_NODES, s.grid_variable);
  };
  const auto begin = [describe](Scene& s) {
    s.begin();
    EXPECT_WINDROW_OK(describe(s));
  };
  const auto queue = [begin, add](Scene& s) {
    begin(s);
    EXPECT_WINDROW_OK(add(s));
    (void)windrow_put(s.file, s.grid_variable, s.block.get(), s.grid.data());
    (void)windrow_put(s.file, s.point_variable, s.points.get(), s.values.data());
  };
  const auto flushed = [begin, add](Scene& s) {
    begin(s);
    EXPECT_WINDROW_OK(add(s));
    EXPECT_WINDROW_OK(s.put_and_flush());
  };
  const auto take_away = [](Scene& s) {
    MPI_Barrier(s.comm);
    if (s.rank == 0) {
      EXPECT_TRUE(std::filesystem::remove(std::filesystem::path(s.path).replace_extension(".xmf")));
    }
    MPI_Barrier(s.comm);
  };
  const auto written = [take_away](Scene& s) {
    EXPECT_WINDROW_OK(s.put_and_flush());
    EXPECT_WINDROW_OK(s.close());
    take_away(s);
  };
  return {
      {"xdmf_uniform_grid", k_begin, describe, written, true, true},
      {"xdmf_field", begin, add, written, true, true},
      {"sync with a grid", flushed, [](Scene& s) { return windrow_sync(s.file); },
       [take_away](Scene& s) {
         EXPECT_WINDROW_OK(s.close());
         take_away(s);
       },
       true, true},
      {"close with a grid", queue, [](Scene& s) { return s.close(); }, take_away, false, true},
  };
}

}  // namespace windrow_test
