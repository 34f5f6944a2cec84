// SPDX-License-Identifier: BSD-3-Clause
// Writes the corpus of tools/byte-corpus/run into the current folder: one file or set a case, each twice in one
// process, and calls.txt with every call that returned an error. Knows windrow.h only, so one source serves two builds.
#include <windrow/windrow.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

// The identities of sets are random. This definition replaces the one of libstdc++, in the library as well.
unsigned g_next_random = 0;
std::random_device::result_type std::random_device::_M_getval() {
  return g_next_random += 0x01234567u;
}

namespace {

using Shape = std::vector<int64_t>;
using Pairs = std::vector<std::pair<std::string, std::string>>;

int g_rank = 0, g_ranks = 1;
std::string g_case, g_calls;

// An error is part of the corpus: a build in which another call fails differs in calls.txt. Its words are not.
bool check(int code, const std::string& call) {
  if (code != WINDROW_OK)
    g_calls += g_case + ": " + call + ": " + windrow_code_name(code) + "\n";
  return code == WINDROW_OK;
}

struct Options {
  windrow_options* options = nullptr;
  explicit Options(const Pairs& pairs) {
    check(windrow_options_create(&options), "options");
    for (const auto& [key, value] : pairs)
      check(windrow_options_set(options, key.c_str(), value.c_str()), "option " + key);
  }
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;
  ~Options() { windrow_options_free(options); }
};

// Bytes depend on the variable and on their place in it alone. Small ones are ASCII text and finite numbers.
void fill(std::vector<unsigned char>* bytes, int64_t first, int variable) {
  for (size_t i = 0; i < bytes->size(); ++i) {
    const int64_t place = first + static_cast<int64_t>(i);
    (*bytes)[i] = static_cast<unsigned char>((place * 7 / 3 + variable * 31) & 0x3f);
  }
}

class File {
 public:
  File(const std::string& path, const Pairs& pairs) {
    const Options made(pairs);
    is_open_ = check(windrow_create(MPI_COMM_WORLD, path.c_str(), made.options, &file_), "create");
  }
  File(const std::string& path, int mode) {
    is_open_ = check(windrow_open(MPI_COMM_WORLD, path.c_str(), mode, nullptr, &file_), "open");
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (is_open_)
      check(windrow_close(file_), "close");
    for (windrow_decomposition* each : decompositions_)
      windrow_decomposition_free(each);
  }
  windrow_file* get() { return file_; }
  bool is_open() const { return is_open_; }

  int define(const std::string& path, int type, const Shape& shape, const Pairs& pairs = {}) {
    int variable = -1;
    const Options made(pairs);
    const int code = windrow_define_variable_with(file_, path.c_str(), type, static_cast<int>(shape.size()),
                                                  shape.data(), made.options, &variable);
    return check(code, "define " + path) ? variable : -1;
  }
  int find(const std::string& path) {
    int variable = -1;
    return check(windrow_find_variable(file_, path.c_str(), &variable), "find " + path) ? variable : -1;
  }
  void name(int variable, std::vector<const char*> names) {
    if (variable >= 0)
      check(windrow_name_dimensions(file_, variable, names.data()), "name dimensions");
  }
  // Queues rows of the slowest dimension, [begin, end) of it divided among the ranks; a scalar is rank 0's.
  void put(int variable, int64_t begin = 0, int64_t end = -1) {
    if (variable < 0)
      return;
    windrow_variable_info about = info(variable);
    Shape shape(about.shape, about.shape + about.ndims), start(shape.size(), 0), count = shape;
    windrow_decomposition* made = nullptr;
    int64_t elements = 1;
    if (shape.empty()) {
      check(windrow_same(MPI_COMM_WORLD, 0, nullptr, nullptr, nullptr, &made), "same");
    } else {
      if (end < 0)
        end = shape[0];
      const int64_t rows = end - begin, each = rows / g_ranks, rest = rows % g_ranks;
      start[0] = begin + each * g_rank + std::min<int64_t>(g_rank, rest);
      count[0] = each + (g_rank < rest ? 1 : 0);
      for (const int64_t extent : count)
        elements *= extent;
      check(
          windrow_block(MPI_COMM_WORLD, about.ndims, shape.data(), start.data(), count.data(), nullptr, nullptr, &made),
          "block");
    }
    int64_t row = about.element_bytes;
    for (size_t i = 1; i < shape.size(); ++i)
      row *= shape[i];
    queue(made, elements * about.element_bytes, shape.empty() ? 0 : start[0] * row, variable,
          [&](const void* data) { return windrow_put(file_, variable, made, data); });
  }
  void put_record(int variable, int64_t record) {
    if (variable < 0)
      return;
    windrow_variable_info about = info(variable);
    const Shape shape(about.shape + 1, about.shape + about.ndims);
    windrow_decomposition* made = nullptr;
    int64_t elements = 1, first = 0;
    if (shape.empty()) {
      check(windrow_same(MPI_COMM_WORLD, 0, nullptr, nullptr, nullptr, &made), "same");
    } else {
      check(windrow_rows(MPI_COMM_WORLD, shape[0], WINDROW_EVEN, &made), "rows");
      int64_t rows = 0;
      check(windrow_decomposition_rows(made, &first, &rows), "rows of a rank");
      elements = rows;
      for (size_t i = 1; i < shape.size(); ++i) {
        elements *= shape[i];
        first *= shape[i];
      }
    }
    queue(made, elements * about.element_bytes, first * about.element_bytes + record * 1000, variable,
          [&](const void* data) { return windrow_put_record(file_, variable, record, made, data); });
  }
  void flush() {
    check(windrow_flush(file_), "flush");
    buffers_.clear();
  }
  void sync() {
    check(windrow_sync(file_), "sync");
    buffers_.clear();
  }
  void attribute(const std::string& object, const std::string& name, int type, const Shape& shape, const void* data,
                 const Pairs& pairs = {}) {
    const Options made(pairs);
    check(windrow_put_attribute_with(file_, object.c_str(), name.c_str(), type, static_cast<int>(shape.size()),
                                     shape.data(), data, made.options),
          "attribute " + name);
  }
  void text(const std::string& object, const std::string& name, const std::string& value) {
    check(windrow_put_attribute_text(file_, object.c_str(), name.c_str(), value.c_str()), "attribute " + name);
  }

 private:
  windrow_variable_info info(int variable) {
    windrow_variable_info about;
    about.size = sizeof about;
    check(windrow_inquire_variable(file_, variable, &about), "inquire");
    return about;
  }
  template <class Call>
  void queue(windrow_decomposition* made, int64_t bytes, int64_t first, int variable, const Call& call) {
    decompositions_.push_back(made);
    buffers_.emplace_back(static_cast<size_t>(bytes));
    fill(&buffers_.back(), first, variable);
    check(call(buffers_.back().data()), "put");
  }

  windrow_file* file_ = nullptr;
  bool is_open_ = false;
  std::vector<windrow_decomposition*> decompositions_;
  std::vector<std::vector<unsigned char>> buffers_;
};

const int k_numbers[] = {WINDROW_INT8,    WINDROW_UINT8, WINDROW_INT16,     WINDROW_UINT16,    WINDROW_INT32,
                         WINDROW_UINT32,  WINDROW_INT64, WINDROW_UINT64,    WINDROW_FLOAT32,   WINDROW_FLOAT64,
                         WINDROW_FLOAT16, WINDROW_BOOL,  WINDROW_COMPLEX64, WINDROW_COMPLEX128};

void put_attributes(File* file, const std::string& object) {
  std::vector<unsigned char> zeros(64, 0), some(64, 1);
  for (const int type : k_numbers) {
    const std::string name = windrow_type_name(type);
    file->attribute(object, "scalar " + name, type, {}, some.data());
    file->attribute(object, "list " + name, type, {3}, some.data());
    file->attribute(object, "none " + name, type, {0}, zeros.data());
    file->attribute(object, "null " + name, type, {}, nullptr, {{"null_space", "true"}});
  }
  const char* texts[3] = {"one", "", "th\xc3\xa9 third"};
  file->attribute(object, "texts", WINDROW_TEXT, {3}, texts);
  file->attribute(object, "fixed text", WINDROW_TEXT, {2}, texts,
                  {{"element_bytes", "8"}, {"text_characters", "ascii"}, {"text_padding", "space_padded"}});
  file->attribute(object, "table", WINDROW_INT32, {2, 3}, some.data());
  file->attribute(object, "opaque", WINDROW_OPAQUE, {2}, some.data(),
                  {{"element_bytes", "5"}, {"opaque_tag", "five bytes"}});
  file->attribute(object, "colour", WINDROW_INT16, {1}, zeros.data(), {{"enumeration", "RED=0\nGREEN=257"}});
  file->attribute(object, "big", WINDROW_FLOAT64, {2}, some.data(), {{"byte_order", "big"}});
  const char* paths[1] = {"/"};
  file->attribute(object, "reference", WINDROW_REFERENCE, {1}, paths);
  file->text(object, "a text", "first");
  file->text(object, "a text", "replaced by a longer one");
}

// Variables of all types, scalars, empty shapes, and as many attributes.
void write_types(File* file) {
  std::vector<int> variables;
  for (const int type : k_numbers) {
    const std::string name = windrow_type_name(type);
    variables.push_back(file->define("v " + name, type, {5, 3}));
    variables.push_back(file->define("scalar " + name, type, {}));
    variables.push_back(file->define("big " + name, type, {7}, {{"byte_order", "big"}}));
  }
  variables.push_back(file->define("letters", WINDROW_TEXT, {4}, {{"element_bytes", "6"}}));
  variables.push_back(file->define("opaque", WINDROW_OPAQUE, {4}, {{"element_bytes", "3"}, {"opaque_tag", "three"}}));
  variables.push_back(file->define("enumerated", WINDROW_INT32, {4}, {{"enumeration", "A=0\nB=7"}}));
  variables.push_back(file->define("filled", WINDROW_FLOAT64, {40}, {{"fill_value", "-999.5"}}));
  file->define("never written", WINDROW_FLOAT32, {6}, {{"fill_value", "nan"}});
  const int texts = file->define("texts", WINDROW_TEXT, {2});
  const int references = file->define("references", WINDROW_REFERENCE, {2});
  put_attributes(file, "/");
  put_attributes(file, "v float64");
  for (const int variable : variables)
    file->put(variable, 0, variable == variables.back() ? 20 : -1);
  file->flush();
  const char* words[2] = {"some words", "more of them"};
  if (texts >= 0)
    check(windrow_put_texts(file->get(), texts, words), "put texts");
  const char* paths[2] = {"/letters", ""};
  if (references >= 0)
    check(windrow_put_texts(file->get(), references, paths), "put references");
  check(windrow_delete_attribute(file->get(), "/", "table"), "delete attribute");
}

void write_empty(File* file) {
  file->define("nothing", WINDROW_INT32, {0, 5});
  file->define("null", WINDROW_INT32, {}, {{"null_space", "true"}});
  file->put(file->define("something", WINDROW_INT32, {5}));
}

void write_dimensions(File* file) {
  const int x = file->define("x", WINDROW_FLOAT64, {6});
  const int y = file->define("y", WINDROW_FLOAT32, {4, 6});
  const int z = file->define("z", WINDROW_INT8, {4, 6, 7});
  check(windrow_define_dimension(file->get(), "/alone", 9), "define dimension");
  check(windrow_define_dimension(file->get(), "/without end", 0), "define dimension");
  file->name(x, {"x"});
  file->name(y, {"row", "x"});
  put_attributes(file, "/y");
  file->put(x);
  file->put(y);
  file->put(z);
}

void write_groups(File* file) {
  check(windrow_define_group(file->get(), "/a/b/c"), "define group");
  check(windrow_define_group(file->get(), "/empty"), "define group");
  const int x = file->define("a/x", WINDROW_FLOAT64, {6});
  const int y = file->define("a/b/y", WINDROW_FLOAT32, {4, 6});
  file->name(x, {"x"});
  file->name(y, {"row", "x"});
  check(windrow_define_dimension(file->get(), "/alone", 9), "define dimension");
  check(windrow_define_link(file->get(), "/to y", "a/b/y"), "define link");
  check(windrow_define_link(file->get(), "/a/nowhere", "not/there"), "define link");
  if (windrow_group_count(file->get()) > 1)
    put_attributes(file, "/a/b");
  file->text("/a/x", "units", "m");
  file->put(x);
  file->put(y);
}

// Several flushes, with definitions and a sync between them.
void write_flushes(File* file) {
  const int a = file->define("a", WINDROW_FLOAT64, {40, 50});
  file->put(a, 0, 20);
  file->flush();
  const int b = file->define("b", WINDROW_INT16, {333});
  file->put(a, 20);
  file->put(b);
  file->flush();
  file->text("/", "state", "half");
  file->sync();
  const int c = file->define("c", WINDROW_INT32, {11, 13});
  file->put(c);
  file->put(a, 5, 9);
  file->text("/", "state", "done");
}

void write_many(File* file) {
  std::vector<int> variables;
  for (int i = 0; i < 60; ++i)
    variables.push_back(file->define("variable " + std::to_string(i), WINDROW_FLOAT32, {8 + i, 5}));
  for (const int variable : variables)
    file->put(variable);
  file->flush();
  for (int i = 0; i < 60; i += 7)
    file->text("variable " + std::to_string(i), "units", "kg");
}

void write_large(File* file) {
  file->put(file->define("large", WINDROW_FLOAT64, {300, 400}));
  file->put(file->define("other", WINDROW_FLOAT64, {64, 64, 64}));
}

void write_growing(File* file) {
  const Pairs grows{{"extendible", "true"}};
  const int time = file->define("time", WINDROW_FLOAT64, {0}, grows);
  const int t = file->define("t", WINDROW_FLOAT32, {0, 6, 5}, grows);
  const int small = file->define("small", WINDROW_INT16, {0, 3}, {{"extendible", "true"}, {"fill_value", "-7"}});
  const int fixed = file->define("fixed", WINDROW_INT32, {12});
  file->name(time, {"time"});
  file->name(t, {"time", "y", "x"});
  file->put(fixed);
  for (int64_t step = 0; step < 3; ++step) {
    file->put_record(time, step);
    file->put_record(t, step);
    if (step != 1)
      file->put_record(small, step);
    file->flush();
  }
  file->sync();
  file->put_record(t, 5);
}

void write_one_growing(File* file) {
  const int only = file->define("only", WINDROW_INT8, {0, 3}, {{"extendible", "true"}});
  for (int64_t step = 0; step < 5; ++step)
    file->put_record(only, step);
}

void write_chunked(File* file) {
  const int plain = file->define("plain", WINDROW_FLOAT64, {50, 40}, {{"chunks", "16x16"}});
  const int deflated =
      file->define("deflated", WINDROW_FLOAT64, {50, 40}, {{"chunks", "16x16"}, {"filters", "shuffle,deflate:1"}});
  const int summed = file->define("summed", WINDROW_INT32, {1000},
                                  {{"chunks", "100"}, {"filters", "deflate:6,fletcher32"}, {"fill_value", "3"}});
  const int grows = file->define("grows", WINDROW_FLOAT32, {0, 30},
                                 {{"extendible", "true"}, {"chunks", "2x30"}, {"filters", "deflate:1"}});
  const int zstd =
      windrow_has("filter=zstd") ? file->define("zstd", WINDROW_INT16, {300, 20}, {{"filters", "shuffle,zstd:3"}}) : -1;
  const int automatic = file->define("automatic", WINDROW_FLOAT64, {200, 100}, {{"filters", "deflate:1"}});
  file->put(plain);
  file->put(deflated);
  file->put(summed, 0, 350);
  file->flush();
  for (int64_t step = 0; step < 5; ++step)
    file->put_record(grows, step);
  file->put(zstd);
  file->put(automatic);
  file->flush();
  file->put(deflated, 7, 21);  // part of chunks, again
  file->sync();
  file->put(summed, 300, 650);
  file->put_record(grows, 8);
}

// An existing file: definitions, data, attributes and a header that exceeds its room.
void change(const std::string& path) {
  {
    File file(path, WINDROW_UPDATE);
    if (!file.is_open())
      return;
    file.text("/", "history", std::string(6000, 'h'));
    file.text("/", "a text", "short");
    const int more = file.define("more", WINDROW_FLOAT64, {21, 4});
    file.put(more);
    file.flush();
    file.put(file.find("/more"), 3, 11);
  }
  File file(path, WINDROW_UPDATE);
  if (!file.is_open())
    return;
  file.put(file.define("more still", WINDROW_INT16, {77}));
  check(windrow_delete_attribute(file.get(), "/", "history"), "delete attribute");
}

void grow_again(const std::string& path) {
  File file(path, WINDROW_UPDATE);
  if (!file.is_open())
    return;
  const int variable = file.find("/t");
  for (int64_t step = 6; step < 9; ++step)
    file.put_record(variable, step);
}

// Reading must not change what the process writes later.
void read_all(const std::string& path) {
  File file(path, WINDROW_READ);
  if (!file.is_open())
    return;
  for (int i = 0; i < windrow_variable_count(file.get()); ++i) {
    windrow_variable_info about;
    about.size = sizeof about;
    check(windrow_inquire_variable(file.get(), i, &about), "inquire");
    if (about.ndims == 0 || about.element_bytes == 0 || *about.unsupported != '\0' || about.elements == 0)
      continue;
    windrow_decomposition* rows = nullptr;
    check(windrow_rows(MPI_COMM_WORLD, about.shape[0], WINDROW_EVEN, &rows), "rows");
    std::vector<unsigned char> data(static_cast<size_t>(about.elements * about.element_bytes));
    check(windrow_read(file.get(), i, rows, data.data()), "read");
    windrow_decomposition_free(rows);
  }
}

struct Case {
  const char* name;
  void (*write)(File*);
  void (*change)(const std::string&);
};
const Case k_cases[] = {
    {"types", write_types, nullptr},
    {"types-changed", write_types, change},
    {"empty", write_empty, nullptr},
    {"dimensions", write_dimensions, nullptr},
    {"dimensions-changed", write_dimensions, change},
    {"groups", write_groups, nullptr},
    {"flushes", write_flushes, nullptr},
    {"flushes-changed", write_flushes, change},
    {"many", write_many, nullptr},
    {"many-changed", write_many, change},
    {"large", write_large, nullptr},
    {"growing", write_growing, nullptr},
    {"growing-again", write_growing, grow_again},
    {"growing-changed", write_growing, change},
    {"one-growing", write_one_growing, nullptr},
    {"chunked", write_chunked, nullptr},
    {"chunked-changed", write_chunked, change},
};

struct Kind {
  const char* name;
  const char* ending;
  Pairs options;
};
const Kind k_kinds[] = {
    {"raw", "raw", {}},
    {"raw-aligned", "raw", {{"alignment", "4096"}}},
    {"hdf5", "h5", {}},
    {"hdf5-aligned", "h5", {{"alignment", "4096"}, {"references", "kerchunk"}}},
    {"netcdf-auto", "nc", {}},
    {"netcdf-1", "nc", {{"netcdf_version", "1"}}},
    {"netcdf-2", "nc", {{"netcdf_version", "2"}, {"alignment", "512"}, {"record_alignment", "1024"}}},
    {"netcdf-5", "nc", {{"netcdf_version", "5"}, {"header_room", "10000"}, {"references", "kerchunk"}}},
    {"set-raw", "raw", {{"files", "subfiles(3)"}}},
    {"set-hdf5", "h5", {{"files", "subfiles(3)"}, {"checksum", "true"}}},
    {"set-netcdf", "nc", {{"files", "subfiles(3)"}, {"checksum", "true"}}},
};

void write_kind(const Kind& kind) {
  for (const Case& each : k_cases) {
    if (!windrow_has("hdf5") && std::strcmp(kind.ending, "h5") == 0)
      continue;
    if (!windrow_has("netcdf") && std::strcmp(kind.ending, "nc") == 0)
      continue;
    for (const char* turn : {"1", "2"}) {
      const std::string path = std::string(kind.name) + "." + each.name + "." + turn + "." + kind.ending;
      g_case = path;
      g_next_random = 0;
      {
        Pairs options = kind.options;
        // Chunks get their places in the order in which writers ask for them: with one writer that is always the same.
        if (each.write == write_chunked)
          options.emplace_back("writers", "1");
        File file(path, options);
        if (file.is_open())
          each.write(&file);
      }
      if (each.change != nullptr)
        each.change(path);
      read_all(path);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &g_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &g_ranks);
  for (const Kind& kind : k_kinds)
    write_kind(kind);
  if (g_rank == 0) {
    std::FILE* calls = std::fopen("calls.txt", "w");
    if (calls == nullptr || std::fputs(g_calls.c_str(), calls) < 0 || std::fclose(calls) != 0)
      MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
