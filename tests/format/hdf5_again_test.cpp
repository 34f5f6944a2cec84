// SPDX-License-Identifier: BSD-3-Clause
// HDF5 files like others before: HDF5 is not asked for them. New ones that are defined alike have the same bytes as if it was; of those that are read and say the same the
// same is told.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>

#include "format/format.hpp"
#include "format/hdf5/image.hpp"
#include "storage/store.hpp"
#include "../temporary_folder.hpp"

static int64_t files_of_hdf5 = 0;  // made in this process
static int64_t files_opened = 0;   // by HDF5

extern "C" __attribute__((visibility("default"))) hid_t H5Fcreate(const char* path, unsigned flags, hid_t creation, hid_t access) {
  ++files_of_hdf5;
  static const auto create = reinterpret_cast<decltype(&H5Fcreate)>(dlsym(RTLD_NEXT, "H5Fcreate"));
  return create(path, flags, creation, access);
}

extern "C" __attribute__((visibility("default"))) hid_t H5Fopen(const char* path, unsigned flags, hid_t access) {
  ++files_opened;
  static const auto open = reinterpret_cast<decltype(&H5Fopen)>(dlsym(RTLD_NEXT, "H5Fopen"));
  return open(path, flags, access);
}

namespace windrow::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using Definition = std::function<Status(Format&)>;

Attribute text(const std::string& name, const std::string& value) {
  Attribute attribute;
  attribute.name = name;
  attribute.type = Type::text;
  attribute.texts = {value};
  return attribute;
}
Attribute number(const std::string& name, int64_t value) {
  Attribute attribute;
  attribute.name = name;
  attribute.type = Type::int64;
  attribute.data.resize(sizeof value);
  std::memcpy(attribute.data.data(), &value, sizeof value);
  return attribute;
}
Definition variable(VariableDefinition definition) {
  return [definition](Format& format) { return format.define_variable(definition).status(); };
}
Definition attribute(const std::string& object, Attribute value) {
  return [object, value](Format& format) { return format.put_attribute(object, value); };
}

class Hdf5Again : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.path(name); }
  std::unique_ptr<Format> create(const std::string& name, const FormatOptions& options = {}) {
    auto format = open_format("hdf5", path(name), FormatMode::create, options);
    EXPECT_TRUE(format.ok()) << format.status().message();
    return format.ok() ? std::move(format).value() : nullptr;
  }
  // Nobody has made a file with such options before, and HDF5 makes the same of them: no format but netCDF looks at these.
  static FormatOptions fresh() {
    static int64_t rooms = 0;
    return {.header_room = ++rooms};
  }
  std::vector<char> make(const std::string& name, const std::vector<Definition>& definitions, const FormatOptions& options = {}) {
    const auto format = create(name, options);
    for (size_t i = 0; i < definitions.size(); ++i) {
      const Status status = definitions[i](*format);
      EXPECT_TRUE(status.ok()) << i << ": " << status.message();
    }
    const Status closed = format->close();
    EXPECT_TRUE(closed.ok()) << closed.message();
    return bytes_of(name);
  }
  std::vector<char> bytes_of(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string& name, const Placement& placement, const std::vector<std::byte>& bytes) {
    auto store = open_store(path(name), StoreMode::update, {});
    ASSERT_TRUE(store.ok() && store.value()->write_at(placement.offset, bytes).ok());
  }
  // All that can be foretold, in an order that a program could have.
  static std::vector<Definition> all() {
    const VariableDefinition whole{.path = "/g/split", .type = Type::float32, .shape = {10}};
    const std::vector<Part> parts{{"part 0.h5", {{0}, {4}}}, {"part 1.h5", {{4}, {6}}}};
    return {[](Format& format) { return format.define_group("/g"); },
            attribute("/", text("title", "one")),
            variable({.path = "/a", .type = Type::float64, .shape = {100, 30}}),
            variable({.path = "/g/b", .type = Type::int16, .shape = {7}, .big_endian = true}),
            attribute("/g/b", number("n", 3)),
            [](Format& format) { return format.put_attributes("/a", std::vector<Attribute>{text("units", "K"), number("m", 4)}); },
            [](Format& format) { return format.define_dimension({.path = "/x", .length = 30}); },
            [](Format& format) { return format.name_dimensions("/a", {"", "/x"}); },
            [](Format& format) { return format.define_link({.path = "/to b", .target = "g/b"}); },
            [whole, parts](Format& format) { return format.define_split(whole, parts); },
            variable({.path = "/chunks", .type = Type::int32, .shape = {0, 8}, .chunking = {.shape = {4, 8}, .filters = {}}, .extendible = true}),
            variable({.path = "/scalar", .type = Type::uint8, .shape = {}}),
            variable({.path = "/nothing", .type = Type::float32, .shape = {0}}),
            variable({.path = "/texts", .type = Type::text, .shape = {2}})};
  }
  // Those above, each in other words.
  static std::vector<Definition> others() {
    const VariableDefinition whole{.path = "/g/split", .type = Type::float32, .shape = {10}};
    const std::vector<Part> parts{{"part 0.h5", {{0}, {4}}}, {"part 2.h5", {{4}, {6}}}};
    return {[](Format& format) { return format.define_group("/h").ok() ? format.define_group("/g") : Status(Code::internal, "h"); },
            attribute("/", text("title", "two")),
            variable({.path = "/a", .type = Type::float64, .shape = {100, 31}}),
            variable({.path = "/g/b", .type = Type::int16, .shape = {7}}),
            attribute("/g/b", number("n", -3)),
            [](Format& format) { return format.put_attributes("/a", std::vector<Attribute>{text("units", "K"), number("m", 5)}); },
            [](Format& format) { return format.define_dimension({.path = "/y", .length = 30}).ok() ? format.define_dimension({.path = "/x", .length = 30}) : Status(Code::internal, "y"); },
            [](Format& format) { return format.put_attribute("/a", number("no names", 1)); },
            [](Format& format) { return format.define_link({.path = "/to b", .target = "g/c"}); },
            [whole, parts](Format& format) { return format.define_split(whole, parts); },
            variable({.path = "/chunks", .type = Type::int32, .shape = {0, 8}, .chunking = {.shape = {5, 8}, .filters = {}}, .extendible = true}),
            variable({.path = "/scalar", .type = Type::uint8, .shape = {}, .fill = {std::byte{7}}}),
            variable({.path = "/nothing", .type = Type::float32, .shape = {0}, .fill = std::vector<std::byte>(4, std::byte{1})}),
            variable({.path = "/texts", .type = Type::text, .shape = {3}})};
  }

  TemporaryFolder folder_;
};

TEST_F(Hdf5Again, the_same_definitions_make_the_same_bytes_without_hdf5) {
  const int64_t before = files_of_hdf5;
  const FormatOptions options = fresh();
  const auto first = make("a.h5", all(), options);
  EXPECT_EQ(files_of_hdf5, before + 1);
  EXPECT_EQ(make("b.h5", all(), options), first);
  EXPECT_EQ(make("a name with spaces.h5", all(), options), first);
  EXPECT_EQ(files_of_hdf5, before + 1);
  auto read = open_format("hdf5", path("b.h5"), FormatMode::read, {});
  ASSERT_TRUE(read.ok()) << read.status().message();
  const auto catalog = read.value()->catalog();
  ASSERT_TRUE(catalog.ok()) << catalog.status().message();
  EXPECT_EQ(catalog.value().variables.size(), 7u);
  EXPECT_TRUE(read.value()->close().ok());
  const FormatOptions aligned{.alignment = 4096, .alignment_threshold = 1, .header_room = options.header_room};
  EXPECT_NE(make("c.h5", all(), aligned), first) << "other options are another file";
  EXPECT_EQ(files_of_hdf5, before + 2);
}

TEST_F(Hdf5Again, any_other_word_is_told_to_hdf5_with_all_before_it) {
  const FormatOptions options = fresh();
  (void)make("a.h5", all(), options);
  ASSERT_EQ(all().size(), others().size());
  for (size_t i = 0; i < all().size(); ++i) {
    SCOPED_TRACE(i);
    std::vector<Definition> definitions = all();
    definitions[i] = others()[i];
    const auto wanted = make("wanted.h5", definitions, fresh());
    const int64_t before = files_of_hdf5;
    EXPECT_EQ(make("b.h5", definitions, options), wanted);
    EXPECT_EQ(files_of_hdf5, before + 1);
    EXPECT_EQ(make("b.h5", definitions, options), wanted) << "which is kept too";
    EXPECT_EQ(files_of_hdf5, before + 1);
  }
}

TEST_F(Hdf5Again, fewer_and_more_definitions_are_another_file) {
  const FormatOptions options = fresh();
  std::vector<Definition> fewer = all(), more = all();
  fewer.pop_back();
  more.push_back(attribute("/", number("one more", 1)));
  for (const auto& each : {all(), fewer, std::vector<Definition>{}, more, all(), fewer, std::vector<Definition>{}}) {
    const auto wanted = make("wanted.h5", each, fresh());
    EXPECT_EQ(make("a.h5", each, options), wanted) << each.size();
  }
}

TEST_F(Hdf5Again, places_are_the_same_and_what_lies_there_stays_when_hdf5_takes_over) {
  const FormatOptions options = fresh();
  const VariableDefinition a{.path = "/a", .type = Type::uint8, .shape = {100'000}}, b{.path = "/b", .type = Type::uint8, .shape = {50'000}};
  const std::vector<std::byte> ones(100'000, std::byte{1}), twos(50'000, std::byte{2});
  std::vector<char> first;
  for (const int64_t number_of_file : {0, 1, 2, 3}) {
    SCOPED_TRACE(number_of_file);
    const int64_t before = files_of_hdf5;
    const auto format = create("a.h5", options);
    const auto at_a = format->define_variable(a);
    ASSERT_TRUE(at_a.ok());
    write("a.h5", at_a.value(), ones);
    const auto at_b = format->define_variable(b);
    ASSERT_TRUE(at_b.ok());
    write("a.h5", at_b.value(), twos);
    if (number_of_file == 2) {
      EXPECT_TRUE(format->put_attribute("/a", number("n", 1)).ok());
    }
    if (number_of_file == 3) {
      EXPECT_TRUE(format->flush().ok()) << "which HDF5 does";
    }
    EXPECT_TRUE(format->close().ok());
    EXPECT_EQ(files_of_hdf5 - before, number_of_file == 1 ? 0 : 1);
    if (number_of_file == 0) first = bytes_of("a.h5");
    if (number_of_file != 2) {
      EXPECT_EQ(bytes_of("a.h5"), first);
    }
    auto store = open_store(path("a.h5"), StoreMode::read, {});
    std::vector<std::byte> in_a(ones.size()), in_b(twos.size());
    ASSERT_TRUE(store.value()->read_at(at_a.value().offset, in_a).ok() && store.value()->read_at(at_b.value().offset, in_b).ok());
    EXPECT_EQ(in_a, ones);
    EXPECT_EQ(in_b, twos);
  }
}

TEST_F(Hdf5Again, what_cannot_be_foretold_is_asked_of_hdf5) {
  const FormatOptions options = fresh();
  const auto a = variable({.path = "/a", .type = Type::int32, .shape = {4}});
  const auto texts = variable({.path = "/t", .type = Type::text, .shape = {2}});
  (void)make("a.h5", {a, texts}, options);
  for (const bool writes : {true, false}) {
    const auto format = create("b.h5", options);
    EXPECT_TRUE(a(*format).ok() && texts(*format).ok());
    EXPECT_THAT(a(*format).message(), HasSubstr("\"/a\" exists already"));
    if (writes) {
      EXPECT_TRUE(format->write_texts("/t", {"x", "y"}).ok());
    }
    EXPECT_EQ(format->read_texts("/t").value(), writes ? (std::vector<std::string>{"x", "y"}) : std::vector<std::string>(2));
    EXPECT_EQ(format->catalog().value().variables.size(), 2u);
    EXPECT_TRUE(format->undefine("/a", 0).ok());
    EXPECT_TRUE(a(*format).ok());
    EXPECT_TRUE(format->close().ok());
    EXPECT_FALSE(a(*format).ok()) << "it is closed";
  }
  const auto wanted = make("wanted.h5", {a, texts}, fresh());
  EXPECT_EQ(make("c.h5", {a, texts}, options), wanted) << "texts of another file are not in it";
}

TEST_F(Hdf5Again, a_closed_file_takes_nothing_more) {
  const FormatOptions options = fresh();
  const auto a = variable({.path = "/a", .type = Type::int32, .shape = {4}});
  const auto first = make("a.h5", {a}, options);
  const auto format = create("b.h5", options);
  EXPECT_TRUE(a(*format).ok());
  EXPECT_TRUE(format->close().ok());
  EXPECT_EQ(a(*format).code(), Code::bad_state);
  EXPECT_EQ(format->close().code(), Code::bad_state);
  EXPECT_EQ(format->catalog().status().code(), Code::bad_state);
  EXPECT_EQ(bytes_of("b.h5"), first);
}

TEST_F(Hdf5Again, few_and_small_ones_are_kept) {
  const FormatOptions options = fresh();
  const auto file_of = [](int64_t length) { return std::vector{variable({.path = "/a", .type = Type::int8, .shape = {length}})}; };
  for (int64_t length = 1; length <= 9; ++length) (void)make("a.h5", file_of(length), options);
  int64_t before = files_of_hdf5;
  for (int64_t length = 2; length <= 9; ++length) (void)make("a.h5", file_of(length), options);
  EXPECT_EQ(files_of_hdf5, before);
  (void)make("a.h5", file_of(1), options);
  EXPECT_EQ(files_of_hdf5, before + 1);
  const std::vector<Definition> large{attribute("/", text("t", std::string(300 << 10, 'x')))};
  std::vector<Definition> many;
  for (int i = 0; i < 1100; ++i) many.push_back(attribute("/", number("n" + std::to_string(i), i)));
  before = files_of_hdf5;
  for (int i = 0; i < 2; ++i) (void)make("a.h5", large, options), (void)make("a.h5", many, options);
  EXPECT_EQ(files_of_hdf5, before + 4);
}

TEST_F(Hdf5Again, a_file_that_failed_is_not_kept) {
  const FormatOptions options = fresh();
  const auto a = variable({.path = "/a", .type = Type::int32, .shape = {4}});
  {
    const auto format = create("a.h5", options);
    EXPECT_TRUE(a(*format).ok());
    EXPECT_FALSE(a(*format).ok());
    EXPECT_TRUE(format->close().ok());
  }
  const int64_t before = files_of_hdf5;
  (void)make("a.h5", {a}, options);
  EXPECT_EQ(files_of_hdf5, before + 1);
}

TEST_F(Hdf5Again, limits_of_files_are_those_of_now) {
  const FormatOptions options = fresh();
  const auto a = variable({.path = "/a", .type = Type::int8, .shape = {int64_t{1} << 22}});
  (void)make("a.h5", {a}, options);
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  const rlimit low{1 << 20, old.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &low), 0);
  const auto format = create("b.h5", options);
  const Status status = a(*format);
  const Status closed = format->close();
  setrlimit(RLIMIT_FSIZE, &old);
  EXPECT_THAT(status.message(), HasSubstr("growing of"));
  EXPECT_TRUE(closed.ok()) << closed.message();
}

// Files that are read. A name of its own for each test's attribute: what other tests have read is kept too.
class Hdf5ReadAgain : public Hdf5Again {
 protected:
  std::unique_ptr<Format> open(const std::string& name, FormatMode mode = FormatMode::read) {
    auto format = open_format("hdf5", path(name), mode, {});
    EXPECT_TRUE(format.ok()) << format.status().message();
    return format.ok() ? std::move(format).value() : nullptr;
  }
  // What the file says of itself, and whether HDF5 was asked.
  std::pair<Catalog, bool> read(const std::string& name) {
    const int64_t before = files_opened;
    const auto format = open(name);
    auto catalog = format->catalog();
    EXPECT_TRUE(catalog.ok()) << catalog.status().message();
    EXPECT_TRUE(format->close().ok());
    return {catalog.ok() ? std::move(catalog).value() : Catalog(), files_opened > before};
  }
  // Of a file that nobody has read: by the name of an attribute.
  static std::vector<Definition> fresh_file(std::vector<Definition> definitions) {
    static int files = 0;
    definitions.push_back(attribute("/", number("file " + std::to_string(++files), 1)));
    return definitions;
  }
  // All but what names another file.
  static std::vector<Definition> whole() {
    std::vector<Definition> definitions = all();
    definitions.erase(definitions.begin() + 9);
    return definitions;
  }
  void change(const std::string& name, size_t offset, char byte) {
    std::fstream file(path(name), std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(byte);
  }
  static std::string text_of(const std::vector<char>& bytes) { return {bytes.begin(), bytes.end()}; }
};

TEST_F(Hdf5ReadAgain, a_file_that_says_the_same_is_read_without_hdf5) {
  const auto definitions = fresh_file(whole());
  (void)make("a.h5", definitions);
  const auto [first, asked] = read("a.h5");
  EXPECT_TRUE(asked);
  EXPECT_EQ(first.variables.size(), 6u);
  EXPECT_EQ(read("a.h5"), std::pair(first, false));
  (void)make("another name.h5", definitions);
  const Placement place = std::find_if(first.variables.begin(), first.variables.end(), [](const Variable& each) { return each.path == "/a"; })->placement;
  write("another name.h5", place, std::vector<std::byte>(static_cast<size_t>(place.bytes), std::byte{7}));
  EXPECT_EQ(read("another name.h5"), std::pair(first, false)) << "values are not looked at";
}

TEST_F(Hdf5ReadAgain, what_hdf5_alone_finds_it_is_asked_for) {
  const auto definitions = fresh_file(whole());
  {
    const auto format = create("a.h5");
    for (const Definition& each : definitions) ASSERT_TRUE(each(*format).ok());
    ASSERT_TRUE(format->write_texts("/texts", {"one", "two"}).ok());
    ASSERT_TRUE(format->extend("/chunks", std::array<int64_t, 2>{4, 8}).ok());
    const std::array<int64_t, 2> first{0, 0};
    const auto placed = format->place_chunk("/chunks", first, 128, false);
    ASSERT_TRUE(placed.ok()) << placed.status().message();
    write("a.h5", {.offset = placed.value().offset}, std::vector<std::byte>(128, std::byte{3}));
    ASSERT_TRUE(format->close().ok());
  }
  const std::array<int64_t, 2> first{0, 0};
  ChunkPlace chunk;
  for (const bool again : {false, true}) {
    const int64_t before = files_opened;
    const auto format = open("a.h5");
    EXPECT_EQ(format->catalog().value().variables.size(), 6u);
    EXPECT_EQ(files_opened - before, again ? 0 : 1);
    EXPECT_EQ(format->read_texts("/texts").value(), (std::vector<std::string>{"one", "two"}));
    const auto found = format->find_chunk("/chunks", first);
    ASSERT_TRUE(found.ok()) << found.status().message();
    EXPECT_GT(found.value().offset, 0);
    if (again) {
      EXPECT_EQ(found.value().offset, chunk.offset);
    }
    chunk = found.value();
    EXPECT_EQ(files_opened - before, 1);
    EXPECT_EQ(format->catalog().value().variables.size(), 6u);
    const Status refused = format->put_attribute("/", number("more", 1));
    EXPECT_EQ(refused.code(), Code::bad_state);
    EXPECT_THAT(refused.message(), HasSubstr("open for reading only"));
    EXPECT_TRUE(format->close().ok());
    EXPECT_EQ(format->close().code(), Code::bad_state);
    EXPECT_EQ(format->catalog().status().code(), Code::bad_state);
    EXPECT_EQ(format->read_texts("/texts").status().code(), Code::bad_state);
  }
}

TEST_F(Hdf5ReadAgain, one_changed_byte_of_what_a_file_says_is_seen) {
  const auto definitions = fresh_file({attribute("/", text("title", "a text to be found")), variable({.path = "/a", .type = Type::int32, .shape = {7}})});
  const auto bytes = make("a.h5", definitions);
  const auto [first, asked] = read("a.h5");
  EXPECT_EQ(read("a.h5"), std::pair(first, false));
  const size_t at = text_of(bytes).find("text to be found");
  ASSERT_NE(at, std::string::npos);
  change("a.h5", at, 'T');
  const auto [second, asked_then] = read("a.h5");
  EXPECT_TRUE(asked_then);
  EXPECT_NE(second, first);
  EXPECT_EQ(read("a.h5"), std::pair(second, false)) << "which is kept beside the other";
  change("a.h5", at, 't');
  EXPECT_EQ(read("a.h5"), std::pair(first, false));
}

// Whatever byte changes: what is told is what HDF5 tells of it, whether it is asked in vain or not at all. In a child: HDF5 1.10 does not free what it had of a damaged file.
TEST_F(Hdf5ReadAgain, every_byte_counts_that_hdf5_reads) {
  const auto definitions = fresh_file({attribute("/", number("n", 5)), variable({.path = "/a", .type = Type::int32, .shape = {7}})});
  const auto bytes = make("a.h5", definitions);
  (void)read("a.h5");
  constexpr int k_few = 120, k_differs = 121;
  const auto compare = [&] {
    int64_t seen = 0;
    for (size_t at = 0; at < bytes.size(); at += 3) {
      change("a.h5", at, static_cast<char>(bytes[at] ^ 0x11));
      const int64_t before = files_opened;
      auto again = open_format("hdf5", path("a.h5"), FormatMode::read, {});
      const auto with = again.ok() ? again.value()->catalog() : Result<Catalog>(again.status());
      seen += files_opened > before ? 1 : 0;
      again = Status(Code::internal, "");
      // Open to be changed, a file is read by HDF5 always.
      auto by_hdf5 = open_format("hdf5", path("a.h5"), FormatMode::update, {});
      const auto without = by_hdf5.ok() ? by_hdf5.value()->catalog() : Result<Catalog>(by_hdf5.status());
      if (with.ok() != without.ok() || (with.ok() && with.value() != without.value())) {
        std::cerr << "byte " << at << ": " << with.status().message() << " / " << without.status().message() << "\n";
        return k_differs;
      }
      if (by_hdf5.ok()) (void)by_hdf5.value()->close();
      std::ofstream(path("a.h5"), std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }
    return seen > 50 ? 0 : k_few;
  };
  const pid_t child = ::fork();
  if (child == 0) ::_exit(compare());
  int result = 1;
  ASSERT_EQ(::waitpid(child, &result, 0), child);
  EXPECT_EQ(result, 0) << WEXITSTATUS(result);
}

TEST_F(Hdf5ReadAgain, a_file_of_another_length_is_read_by_hdf5) {
  const auto definitions = fresh_file({variable({.path = "/a", .type = Type::int32, .shape = {1000}})});
  const auto bytes = make("a.h5", definitions);
  const auto [first, asked] = read("a.h5");
  std::filesystem::resize_file(path("a.h5"), bytes.size() + 1);
  EXPECT_EQ(read("a.h5"), std::pair(first, true));
  std::filesystem::resize_file(path("a.h5"), bytes.size() - 1);
  EXPECT_FALSE(open_format("hdf5", path("a.h5"), FormatMode::read, {}).ok()) << "it is truncated";
}

TEST_F(Hdf5ReadAgain, locks_are_those_of_hdf5) {
  const auto definitions = fresh_file({variable({.path = "/a", .type = Type::int32, .shape = {10}})});
  (void)make("a.h5", definitions);
  const auto locked_by_others = [&](int how) {
    const int file = ::open(path("a.h5").c_str(), O_RDONLY | O_CLOEXEC);
    const int result = ::flock(file, how | LOCK_NB);
    ::close(file);
    return result == 0;
  };
  for (const bool again : {false, true}) {
    const int64_t before = files_opened;
    const auto format = open("a.h5");
    ASSERT_TRUE(format->catalog().ok());
    EXPECT_EQ(files_opened - before, again ? 0 : 1);
    EXPECT_FALSE(locked_by_others(LOCK_EX));
    EXPECT_TRUE(locked_by_others(LOCK_SH));
    EXPECT_TRUE(format->close().ok());
    EXPECT_TRUE(locked_by_others(LOCK_EX));
  }
  const int other = ::open(path("a.h5").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(other, LOCK_EX), 0);
  const auto refused = open_format("hdf5", path("a.h5"), FormatMode::read, {});
  EXPECT_THAT(refused.status().message(), HasSubstr("locked by it"));
  ::close(other);
}

TEST_F(Hdf5ReadAgain, one_program_that_reads_and_changes_a_file_is_told_what_hdf5_would_say) {
  const auto definitions = fresh_file({attribute("/", number("n", 1)), variable({.path = "/a", .type = Type::int32, .shape = {10}})});
  (void)make("a.h5", definitions);
  (void)read("a.h5");
  {
    const auto reader = open("a.h5");
    const auto writer = open_format("hdf5", path("a.h5"), FormatMode::update, {});
    ASSERT_FALSE(writer.ok());
    EXPECT_EQ(writer.status().code(), Code::bad_state);
    EXPECT_THAT(writer.status().message(), HasSubstr("is open for reading in this program"));
    EXPECT_TRUE(reader->close().ok());
  }
  const auto writer = open("a.h5", FormatMode::update);
  ASSERT_TRUE(writer->put_attribute("/", number("n", 2)).ok());
  // HDF5 has both on one state of the file, of which the storage knows nothing yet.
  const auto reader = open_format("hdf5", path("a.h5"), FormatMode::read, {});
  if (reader.ok()) {
    const auto catalog = reader.value()->catalog();
    EXPECT_TRUE(catalog.ok());
    EXPECT_THAT(catalog.value().groups.front().attributes, Contains(number("n", 2)));
    EXPECT_TRUE(reader.value()->close().ok());
  }
  EXPECT_TRUE(writer->close().ok());
  EXPECT_THAT(read("a.h5").first.groups.front().attributes, Contains(number("n", 2)));
}

TEST_F(Hdf5ReadAgain, few_and_small_ones_are_kept_and_none_that_tell_of_what_cannot_be_read) {
  (void)make("large.h5", fresh_file({attribute("/", text("t", std::string(60'000, 'x'))), attribute("/", text("u", std::string(300 << 10, 'y')))}));
  (void)make("split.h5", fresh_file(all()));  // which has a virtual dataset
  for (const std::string name : {"large.h5", "split.h5"}) {
    (void)read(name);
    EXPECT_TRUE(read(name).second) << name;
  }
  for (int number_of_file = 0; number_of_file < 9; ++number_of_file) {
    const std::string name = std::to_string(number_of_file) + ".h5";
    (void)make(name, fresh_file({}));
    EXPECT_TRUE(read(name).second);
  }
  for (int number_of_file = 8; number_of_file > 0; --number_of_file) EXPECT_FALSE(read(std::to_string(number_of_file) + ".h5").second) << number_of_file;
  EXPECT_TRUE(read("0.h5").second) << "the last eight are kept";
}

// As by a program that asks for no lock: HDF5 would find other texts than the program has been told of.
TEST_F(Hdf5ReadAgain, a_file_that_has_changed_since_it_was_opened_is_an_error) {
  const auto definitions = fresh_file({attribute("/", text("title", "a text to be changed")), variable({.path = "/texts", .type = Type::text, .shape = {2}})});
  const auto bytes = make("a.h5", definitions);
  (void)read("a.h5");
  const size_t at = text_of(bytes).find("text to be changed");
  const auto format = open("a.h5");
  EXPECT_EQ(format->read_texts("/texts").value().size(), 2u);
  EXPECT_TRUE(format->close().ok());
  const auto changed = open("a.h5");
  ASSERT_TRUE(changed->catalog().ok());
  change("a.h5", at, 'T');
  for (const bool again : {false, true}) {
    const Status status = changed->read_texts("/texts").status();
    EXPECT_EQ(status.code(), Code::bad_file) << again;
    EXPECT_THAT(status.message(), HasSubstr("somebody else has changed it since it was opened"));
  }
  change("a.h5", at, 't');
  EXPECT_EQ(changed->read_texts("/texts").value().size(), 2u);
  EXPECT_TRUE(changed->close().ok());
}

TEST_F(Hdf5ReadAgain, what_was_read_twice_and_differed_is_not_kept) {
  const std::vector<std::byte> ones(8, std::byte{1}), twos(8, std::byte{2});
  for (const ImageRecord::Of what : {ImageRecord::Of::writes, ImageRecord::Of::reads}) {
    ImageRecord alike(what), apart(what);
    alike.note(0, ones);
    alike.note(4, ones);
    apart.note(0, ones);
    apart.note(4, twos);
    EXPECT_FALSE(alike.image()) << "nobody has said how long the file is";
    alike.end(20);
    apart.end(20);
    const auto image = alike.image();
    ASSERT_TRUE(image);
    ASSERT_EQ(image->stretches.size(), 1u);
    EXPECT_EQ(image->stretches.front().bytes, std::vector<std::byte>(12, std::byte{1}));
    EXPECT_EQ(apart.image().has_value(), what == ImageRecord::Of::writes) << "HDF5 has used both";
  }
}

}  // namespace
}  // namespace windrow::test
