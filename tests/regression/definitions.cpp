// SPDX-License-Identifier: BSD-3-Clause
// definitions FOLDER ENDING...: for each odd definition and each kind of file one file with a variable "precious", in
// which that definition is made before and
// after the variable is written. Prints "FILE CODE CLOSED OPENED": the codes of the definition, of the close, and of
// opening and reading "precious".
#include <mpi.h>
#include <windrow/windrow.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace {

using Define = std::function<int(windrow_file*)>;
using Cases = std::vector<std::pair<std::string, Define>>;

int rank = 0;

std::string repeated(size_t length) {
  return std::string(length, 'n');
}

std::string nested(int depth, const std::string& name = "d") {
  std::string path;
  for (int i = 0; i < depth; ++i)
    path += "/" + name;
  return path;
}

class Options {
 public:
  Options(std::initializer_list<std::pair<const char*, std::string>> values) {
    windrow_options_create(&raw_);
    for (const auto& [key, value] : values)
      code_ = code_ != 0 ? code_ : windrow_options_set(raw_, key, value.c_str());
  }
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;
  ~Options() { windrow_options_free(raw_); }
  const windrow_options* get() const { return raw_; }
  int code() const { return code_; }

 private:
  windrow_options* raw_ = nullptr;
  int code_ = 0;
};

int variable(windrow_file* file, const std::string& path, const std::vector<int64_t>& shape, int type = WINDROW_INT32,
             const windrow_options* options = nullptr) {
  int number = -1;
  return windrow_define_variable_with(file, path.c_str(), type, static_cast<int>(shape.size()), shape.data(), options,
                                      &number);
}

int attribute(windrow_file* file, const std::string& name, int64_t elements, const windrow_options* options = nullptr,
              int type = WINDROW_INT8) {
  const std::vector<char> data(static_cast<size_t>(elements) * 16, 1);
  return windrow_put_attribute_with(file, "precious", name.c_str(), type, 1, &elements, data.data(), options);
}

int texts(windrow_file* file, const std::string& name, int64_t count, size_t length,
          const windrow_options* options = nullptr) {
  const std::string text = repeated(length);
  const std::vector<const char*> all(static_cast<size_t>(count), text.c_str());
  return windrow_put_attribute_with(file, "/", name.c_str(), WINDROW_TEXT, 1, &count, all.data(), options);
}

int dimension_names(windrow_file* file, const std::string& name) {
  int number = -1;
  const int64_t shape[1] = {3};
  int code = windrow_define_variable(file, "named", WINDROW_INT32, 1, shape, &number);
  const char* names[1] = {name.c_str()};
  return code != 0 ? code : windrow_name_dimensions(file, number, names);
}

// Each way of giving a name.
void add_name(Cases& cases, const std::string& label, const std::string& name) {
  cases.emplace_back("attribute-" + label, [=](windrow_file* f) { return attribute(f, name, 1); });
  cases.emplace_back("root-attribute-" + label,
                     [=](windrow_file* f) { return windrow_put_attribute_text(f, "/", name.c_str(), "v"); });
  cases.emplace_back("replaced-" + label, [=](windrow_file* f) {
    const int code = attribute(f, name, 1);
    return code != 0 ? code : windrow_put_attribute_text(f, "precious", name.c_str(), "v");
  });
  cases.emplace_back("variable-" + label, [=](windrow_file* f) { return variable(f, name, {3}); });
  cases.emplace_back("group-" + label, [=](windrow_file* f) { return windrow_define_group(f, name.c_str()); });
  cases.emplace_back("inside-" + label, [=](windrow_file* f) { return variable(f, name + "/v", {3}); });
  cases.emplace_back("link-" + label,
                     [=](windrow_file* f) { return windrow_define_link(f, name.c_str(), "precious"); });
  cases.emplace_back("target-" + label, [=](windrow_file* f) { return windrow_define_link(f, "link", name.c_str()); });
  cases.emplace_back("dimension-" + label,
                     [=](windrow_file* f) { return windrow_define_dimension(f, name.c_str(), 3); });
  cases.emplace_back("names-" + label, [=](windrow_file* f) { return dimension_names(f, name); });
}

Cases names() {
  Cases cases;
  for (const size_t length : {255U, 256U, 257U, 4096U, 32767U, 65400U, 65534U, 65535U, 65536U, 200000U})
    add_name(cases, std::to_string(length), repeated(length));
  const std::pair<const char*, const char*> odd[] = {{"empty", ""},
                                                     {"slash", "/"},
                                                     {"slashes", "a//b"},
                                                     {"inner-slash", "a/b"},
                                                     {"end-slash", "a/"},
                                                     {"dot", "."},
                                                     {"dots", ".."},
                                                     {"inner-dot", "a/./b"},
                                                     {"bytes", "\xff\xfe"},
                                                     {"cut", "a\xc3"},
                                                     {"control", "a\nb\x01"},
                                                     {"blank", " "},
                                                     {"end-blank", "a "},
                                                     {"quote", "a\"b"},
                                                     {"utf8", "\xc3\xa4\xe2\x82\xac"},
                                                     {"overlong", "\xc0\x80"},
                                                     {"surrogate", "\xed\xa0\x80"},
                                                     {"reserved", "_Netcdf4Dimid"},
                                                     {"list", "DIMENSION_LIST"},
                                                     {"class", "CLASS"},
                                                     {"scale", "REFERENCE_LIST"},
                                                     {"dim-name", "NAME"}};
  for (const auto& [label, name] : odd)
    add_name(cases, label, name);
  return cases;
}

// The largest are for formats with limits: in a sidecar they would be a text of 180 MB, and take minutes. Many texts,
// or a long name beside, need not be so large.
Cases sizes(bool has_sidecar) {
  constexpr int64_t k_large = 1 << 20, k_largest = 20 << 20;
  Cases cases;
  for (const int64_t bytes :
       {int64_t{65000}, int64_t{65400}, int64_t{65535}, int64_t{65536}, int64_t{70000}, k_large, k_largest}) {
    if (has_sidecar && bytes > k_large)
      continue;
    const std::string label = std::to_string(bytes);
    cases.emplace_back("value-" + label, [=](windrow_file* f) { return attribute(f, "a", bytes); });
    cases.emplace_back("text-" + label, [=](windrow_file* f) { return texts(f, "a", 1, static_cast<size_t>(bytes)); });
    if (bytes <= k_large) {
      cases.emplace_back("long-name-value-" + label,
                         [=](windrow_file* f) { return attribute(f, repeated(1000), bytes); });
      cases.emplace_back("texts-" + label, [=](windrow_file* f) { return texts(f, "a", bytes / 8, 3); });
    }
    cases.emplace_back("fixed-text-" + label, [=](windrow_file* f) {
      return texts(f, "a", 1, 3, Options{{"element_bytes", std::to_string(bytes)}}.get());
    });
    cases.emplace_back("opaque-" + label, [=](windrow_file* f) {
      const Options options{{"element_bytes", std::to_string(bytes)}};
      const std::vector<char> data(static_cast<size_t>(bytes), 1);
      const int64_t one = 1;
      return windrow_put_attribute_with(f, "/", "a", WINDROW_OPAQUE, 1, &one, data.data(), options.get());
    });
    cases.emplace_back("opaque-variable-" + label, [=](windrow_file* f) {
      return variable(f, "o", {2}, WINDROW_OPAQUE, Options{{"element_bytes", std::to_string(bytes)}}.get());
    });
  }
  for (const int count : {100, 3000, 20000}) {
    std::string members;
    for (int i = 0; i < count; ++i)
      members += (i > 0 ? "\nmember" : "member") + std::to_string(i) + "=" + std::to_string(i);
    cases.emplace_back("enumeration-" + std::to_string(count), [=](windrow_file* f) {
      return variable(f, "e", {3}, WINDROW_INT32, Options{{"enumeration", members}}.get());
    });
    cases.emplace_back("enumeration-attribute-" + std::to_string(count), [=](windrow_file* f) {
      return attribute(f, "e", 3, Options{{"enumeration", members}}.get(), WINDROW_INT32);
    });
  }
  for (const int count : {70, 300})
    cases.emplace_back("attributes-" + std::to_string(count), [=](windrow_file* f) {
      for (int i = 0; i < count; ++i)
        if (const int code = attribute(f, "a" + std::to_string(i), 1))
          return code;
      return 0;
    });
  for (const int bytes : {1000, 65000, 65536, 70000})
    cases.emplace_back("fill-" + std::to_string(bytes), [=](windrow_file* f) {
      return variable(f, "o", {2}, WINDROW_OPAQUE,
                      Options{{"element_bytes", std::to_string(bytes)},
                              {"fill_value", "0x" + std::string(static_cast<size_t>(bytes) * 2, '1')}}
                          .get());
    });
  for (const int count : {4, 32, 33, 300}) {
    std::string filters = "shuffle";
    for (int i = 1; i < count; ++i)
      filters += ",shuffle";
    cases.emplace_back("filters-" + std::to_string(count), [=](windrow_file* f) {
      return variable(f, "o", {200}, WINDROW_INT32, Options{{"filters", filters}}.get());
    });
  }
  for (const size_t length : {255U, 256U, 70000U})
    cases.emplace_back("tag-" + std::to_string(length), [=](windrow_file* f) {
      return variable(f, "o", {2}, WINDROW_OPAQUE,
                      Options{{"element_bytes", "4"}, {"opaque_tag", repeated(length)}}.get());
    });
  return cases;
}

Cases shapes() {
  Cases cases;
  for (const int depth : {32, 199, 200, 201, 300}) {
    cases.emplace_back("depth-" + std::to_string(depth),
                       [=](windrow_file* f) { return windrow_define_group(f, nested(depth).c_str()); });
    cases.emplace_back("deep-variable-" + std::to_string(depth),
                       [=](windrow_file* f) { return variable(f, nested(depth - 1) + "/v", {3}); });
    cases.emplace_back("deep-link-" + std::to_string(depth), [=](windrow_file* f) {
      return windrow_define_link(f, (nested(depth - 1) + "/l").c_str(), "/precious");
    });
    cases.emplace_back("deep-long-" + std::to_string(depth),
                       [=](windrow_file* f) { return windrow_define_group(f, nested(depth, repeated(500)).c_str()); });
  }
  for (const size_t dimensions : {16U, 31U, 32U, 33U, 64U})
    cases.emplace_back("dimensions-" + std::to_string(dimensions),
                       [=](windrow_file* f) { return variable(f, "many", std::vector<int64_t>(dimensions, 1)); });
  const std::pair<const char*, std::vector<int64_t>> odd[] = {{"zero", {0}},
                                                              {"inner-zero", {3, 0, 4}},
                                                              {"zero-huge", {0, int64_t{1} << 62}},
                                                              {"negative", {-1}},
                                                              {"scalar", {}},
                                                              {"2-31", {int64_t{1} << 31}},
                                                              {"2-40", {int64_t{1} << 40}},
                                                              {"2-61", {int64_t{1} << 61}},
                                                              {"2-63", {INT64_MAX}},
                                                              {"product", {int64_t{1} << 31, int64_t{1} << 31, 4}}};
  for (const auto& [label, shape] : odd) {
    cases.emplace_back(std::string("shape-") + label,
                       [=](windrow_file* f) { return variable(f, "s", shape, WINDROW_INT8); });
    cases.emplace_back(std::string("growing-") + label, [=](windrow_file* f) {
      return variable(f, "s", shape, WINDROW_INT8, Options{{"extendible", "true"}}.get());
    });
    for (const char* chunk : {"1", "0", "5,5", "4294967296", "2147483648"}) {
      const Options options{{"chunks", chunk}};
      if (options.code() == 0)
        cases.emplace_back(std::string("chunk-") + chunk + "-" + label, [=](windrow_file* f) {
          return variable(f, "s", shape, WINDROW_INT8, Options{{"chunks", chunk}}.get());
        });
    }
  }
  for (const int64_t length : {int64_t{0}, int64_t{-1}, int64_t{1} << 31, int64_t{1} << 40, INT64_MAX})
    cases.emplace_back("dimension-length-" + std::to_string(length),
                       [=](windrow_file* f) { return windrow_define_dimension(f, "d", length); });
  return cases;
}

int number_of_root(int code) {
  MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return code;
}

int read_precious(const std::string& path, int64_t expected) {
  windrow_file* file = nullptr;
  int number = -1, code = windrow_open(MPI_COMM_WORLD, path.c_str(), WINDROW_READ, nullptr, &file);
  if (code != 0)
    return code;
  windrow_decomposition* same = nullptr;
  int64_t data[4] = {};
  code = windrow_find_variable(file, "precious", &number);
  if (code == 0)
    code = windrow_same(MPI_COMM_WORLD, 0, nullptr, nullptr, nullptr, &same);
  if (code == 0)
    code = windrow_read(file, number, same, data);
  for (const int64_t each : data)
    if (code == 0 && each != expected)
      code = 99;
  if (code == 0 && std::strlen(windrow_unsupported_objects(file)) > 0)
    code = 98;  // what was defined and cannot be read
  windrow_decomposition_free(same);
  windrow_discard(file);
  return code;
}

void try_case(const std::string& path, const Define& define, bool before) {
  windrow_file* file = nullptr;
  windrow_decomposition* same = nullptr;
  const int64_t shape[1] = {4}, data[4] = {7, 7, 7, 7};
  int number = -1, code = 0;
  windrow_same(MPI_COMM_WORLD, 0, nullptr, nullptr, nullptr, &same);
  int made = windrow_create(MPI_COMM_WORLD, path.c_str(), nullptr, &file);
  if (made == 0)
    made = windrow_define_variable(file, "precious", WINDROW_INT64, 1, shape, &number);
  if (made == 0 && before)
    code = define(file);
  if (made == 0)
    made = windrow_write(file, number, same, data);
  if (made == 0 && !before)
    code = define(file);
  const int closed = made != 0 ? made : windrow_close(file);
  windrow_decomposition_free(same);
  const std::string message = closed != 0 ? windrow_error_message() : "";
  const int opened = read_precious(path, 7), agreed = number_of_root(code);
  if (rank == 0)
    std::printf("%s %d %d %d %s\n", path.c_str(), code, closed, opened, message.substr(0, 300).c_str());
  if (agreed != code)
    std::printf("%s disagreement of rank %d: %d\n", path.c_str(), rank, code);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* stride = std::getenv("WINDROW_TEST_STRIDE");
  const int step = stride != nullptr ? std::atoi(stride) : 1;
  for (int i = 2; i < argc; ++i) {
    int count = 0;
    for (const Cases& cases : {names(), sizes(std::string(argv[i]) == ".raw"), shapes()})
      for (const auto& [label, define] : cases)
        if (const int now = count++; now % step == 0)
          try_case(std::string(argv[1]) + "/" + label + argv[i], define, now / step % 2 == 0);
  }
  MPI_Finalize();
  return 0;
}
