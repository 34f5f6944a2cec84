// SPDX-License-Identifier: BSD-3-Clause
// HDF5 files that we make: others read them, and they stay whole while other processes write into them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>

#include "../contract/example_attributes.hpp"
#include "foreign.hpp"
#include "storage/store.hpp"

namespace {
int flock_error = 0;  // what flock() says in place of its work
int flock_calls = 0;
}  // namespace

// In place of the C library's, for libhdf5 too: a file system that refuses locks.
extern "C" __attribute__((visibility("default"))) int flock(int, int) noexcept {
  ++flock_calls;
  if (flock_error == 0)
    return 0;
  errno = flock_error;
  return -1;
}

namespace windrow::test {
namespace {

using testing::HasSubstr;

class Hdf5 : public testing::Test {
 protected:
  ~Hdf5() override { flock_error = 0; }
  std::unique_ptr<Format> open(FormatMode mode, const FormatOptions& options = {}) {
    auto format = open_format("hdf5", path_, mode, options);
    EXPECT_TRUE(format.ok()) << format.status().message();
    return format.ok() ? std::move(format).value() : nullptr;
  }
  void write(const Placement& placement, std::span<const std::byte> bytes) {
    auto store = open_store(path_, StoreMode::update, {});
    ASSERT_TRUE(store.ok() && store.value()->write_at(placement.offset, bytes).ok());
  }
  TemporaryFolder folder_;
  std::string path_ = folder_.path("a.h5");
};

}  // namespace

TEST_F(Hdf5, h5py_reads_every_type_and_order) {
  auto format = open(FormatMode::create);
  ASSERT_TRUE(format->define_group("/g").ok());
  const auto put = [&](const std::string& name, Type type, bool big, const std::vector<std::byte>& bytes) {
    const int64_t count = static_cast<int64_t>(bytes.size()) / type_size(type);
    const auto placement = format->define_variable({"/g/" + name, type, {count}, big});
    ASSERT_TRUE(placement.ok()) << placement.status().message();
    write(placement.value(), bytes);
  };
  put("i1", Type::int8, false, bytes_of<int8_t>({-128, 127}));
  put("u1", Type::uint8, false, bytes_of<uint8_t>({0, 255}));
  put("<i2", Type::int16, false, bytes_of<uint8_t>({0, 1}));
  put(">i2", Type::int16, true, bytes_of<uint8_t>({1, 0}));
  put("<u2", Type::uint16, false, bytes_of<uint8_t>({255, 255}));
  put(">u2", Type::uint16, true, bytes_of<uint8_t>({0, 1}));
  put("<i4", Type::int32, false, bytes_of<uint8_t>({0, 0, 0, 128}));
  put(">i4", Type::int32, true, bytes_of<uint8_t>({128, 0, 0, 0}));
  put("<u4", Type::uint32, false, bytes_of<uint8_t>({1, 0, 0, 0}));
  put(">u4", Type::uint32, true, bytes_of<uint8_t>({0, 0, 0, 1}));
  put("<i8", Type::int64, false, bytes_of<uint8_t>({0, 0, 0, 0, 0, 0, 0, 128}));
  put(">i8", Type::int64, true, bytes_of<uint8_t>({128, 0, 0, 0, 0, 0, 0, 0}));
  put("<u8", Type::uint64, false, bytes_of<uint8_t>({0, 0, 0, 0, 0, 0, 0, 128}));
  put(">u8", Type::uint64, true, bytes_of<uint8_t>({128, 0, 0, 0, 0, 0, 0, 0}));
  put("<f2", Type::float16, false, bytes_of<uint8_t>({0, 56}));
  put(">f2", Type::float16, true, bytes_of<uint8_t>({56, 0}));
  put("<f4", Type::float32, false, bytes_of<uint8_t>({0, 0, 0, 63}));
  put(">f4", Type::float32, true, bytes_of<uint8_t>({63, 0, 0, 0}));
  put("<f8", Type::float64, false, bytes_of<uint8_t>({0, 0, 0, 0, 0, 0, 224, 191}));
  put(">f8", Type::float64, true, bytes_of<uint8_t>({191, 224, 0, 0, 0, 0, 0, 0}));
  ASSERT_TRUE(format->close().ok());
  const Output output = run_h5py(R"(
expected = {"i1": [-128, 127], "u1": [0, 255], "<i2": [256], ">i2": [256], "<u2": [65535], ">u2": [1],
            "<i4": [-2**31], ">i4": [-2**31], "<u4": [1], ">u4": [1], "<i8": [-2**63], ">i8": [-2**63],
            "<u8": [2**63], ">u8": [2**63], "<f2": [0.5], ">f2": [0.5], "<f4": [0.5], ">f4": [0.5],
            "<f8": [-0.5], ">f8": [-0.5]}
g = h5py.File(path, "r")["g"]
assert sorted(g) == sorted(expected)
for name, values in expected.items():
    assert g[name].dtype == np.dtype(name), (name, g[name].dtype)
    assert g[name][...].tolist() == values, (name, g[name][...])
)",
                                 path_);
  EXPECT_EQ(output.exit_code, 0) << output.text;
}

TEST_F(Hdf5, h5py_reads_attributes_scalars_and_empty_variables) {
  auto format = open(FormatMode::create);
  for (const Attribute& attribute : all_attributes())
    ASSERT_TRUE(format->put_attribute("/", attribute).ok());
  const auto scalar = format->define_variable({"/scalar", Type::float64, {}, false});
  write(scalar.value(), bytes_of<double>({2.5}));
  ASSERT_TRUE(format->define_variable({"/empty", Type::int32, {3, 0}, false}).ok());
  ASSERT_TRUE(format->close().ok());
  const Output output = run_h5py(R"(
f = h5py.File(path, "r")
a = f.attrs
assert f["scalar"].shape == () and f["scalar"][()] == 2.5
assert f["empty"].shape == (3, 0)
assert a["int16"].dtype == ">i2" and a["int16"].tolist() == [-32768, 32767]
assert a["uint64"].tolist() == [0, 2**64 - 1]
assert np.isnan(a["float32"][2]) and a["float64"].tolist() == [0.1, 1e300, -np.inf, np.inf]
assert a["variable text"] == 'gr\u00fc\u00dfe, "quoted"\n' and a["empty text"] == ""
assert a["texts"].tolist() == ["one", "", "three"]
assert a["null terminated"].tolist() == [b"ab", b"", b"abc"]
assert a["space padded"].tolist() in ([b"ab ", b"   ", b"abc"], [b"ab", b"", b"abc"])
assert a["scalar"] == 2.5 and a["two by three"].tolist() == [[1, 2, 3], [4, 5, 6]]
assert a["no elements"].shape == (0,)
)",
                                 path_);
  EXPECT_EQ(output.exit_code, 0) << output.text;
}

TEST_F(Hdf5, two_runs_make_the_same_bytes) {
  const auto make = [&](const std::string& name) {
    path_ = folder_.path(name);
    auto format = open(FormatMode::create, {.alignment = 4096});
    ASSERT_TRUE(format->define_group("/g").ok());
    for (int i = 0; i < 30; ++i)
      write(format->define_variable({"/g/v" + std::to_string(i), Type::float64, {1000 * i + 1}, false}).value(),
            std::vector<std::byte>(8 * static_cast<size_t>(1000 * i + 1), std::byte{1}));
    for (const Attribute& attribute : all_attributes())
      ASSERT_TRUE(format->put_attribute("/g", attribute).ok());
    ASSERT_TRUE(format->close().ok());
  };
  make("first");
  ::sleep(1);  // a time stamp has a second's resolution
  make("second");
  EXPECT_EQ(run("cmp '" + folder_.path("first") + "' '" + folder_.path("second") + "'").text, "");
}

TEST_F(Hdf5, another_process_reads_a_flushed_file_that_is_still_open) {
  auto format = open(FormatMode::create);
  const auto placement = format->define_variable({"/v", Type::int32, {4}, false});
  write(placement.value(), bytes_of<int32_t>({1, 2, 3, 4}));
  ASSERT_TRUE(format->flush().ok());
  const Output output = run("h5dump -d /v '" + path_ + "'");
  EXPECT_EQ(output.exit_code, 0) << output.text;
  EXPECT_THAT(output.text, HasSubstr("1, 2, 3, 4"));
  EXPECT_TRUE(format->close().ok());
}

TEST_F(Hdf5, what_other_processes_write_survives_flush_and_close) {
  auto format = open(FormatMode::create);
  std::vector<Placement> places;
  for (int i = 0; i < 50; ++i) {
    places.push_back(format->define_variable({"/v" + std::to_string(i), Type::uint8, {1 + 700 * i}, false}).value());
    const pid_t child = ::fork();
    if (child == 0) {  // writes all that exists so far, then and again
      auto store = open_store(path_, StoreMode::update, {});
      bool good = store.ok();
      for (size_t n = 0; n < places.size() && good; ++n)
        good = store.value()
                   ->write_at(places[n].offset, std::vector<std::byte>(static_cast<size_t>(places[n].bytes),
                                                                       static_cast<std::byte>(n + 1)))
                   .ok();
      ::_exit(good ? 0 : 1);
    }
    int result = 1;
    ::waitpid(child, &result, 0);
    ASSERT_EQ(result, 0);
    ASSERT_TRUE(format->put_attribute("/v" + std::to_string(i), text("note", std::string(300, 'x'))).ok());
    if (i % 7 == 0) {
      ASSERT_TRUE(format->flush().ok());
    }
  }
  ASSERT_TRUE(format->close().ok());
  const Output output = run_h5py(R"(
f = h5py.File(path, "r")
for i in range(50):
    v = f["v%d" % i]
    assert v.shape == (1 + 700 * i,) and (v[...] == i + 1).all(), i
    assert v.attrs["note"] == "x" * 300
)",
                                 path_);
  EXPECT_EQ(output.exit_code, 0) << output.text;
}

TEST_F(Hdf5, the_applications_error_handler_is_left_alone) {
  static int handler_calls = 0;
  const H5E_auto2_t handler = [](hid_t, void*) -> herr_t { return ++handler_calls, 0; };
  H5E_auto2_t before = nullptr;
  void* before_data = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &before, &before_data);
  int mine = 0;
  H5Eset_auto2(H5E_DEFAULT, handler, &mine);
  auto format = open(FormatMode::create);
  EXPECT_EQ(format->define_group("/no/group").code(), Code::not_found);
  EXPECT_EQ(format->put_attribute("/nothing", text("a", "b")).code(), Code::not_found);
  EXPECT_TRUE(format->close().ok());
  EXPECT_FALSE(open_format("hdf5", folder_.path("missing"), FormatMode::read, {}).ok());
  H5E_auto2_t after = nullptr;
  void* after_data = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &after, &after_data);
  EXPECT_EQ(after, handler);
  EXPECT_EQ(after_data, &mine);
  EXPECT_EQ(handler_calls, 0);
  H5Eset_auto2(H5E_DEFAULT, before, before_data);
}

#ifndef H5_NO_DEPRECATED_SYMBOLS
TEST_F(Hdf5, an_error_handler_of_the_first_kind_is_left_alone) {
  const H5E_auto1_t handler = [](void*) -> herr_t { return 0; };
  H5Eset_auto1(handler, this);
  EXPECT_EQ(open(FormatMode::create)->define_group("/no/group").code(), Code::not_found);
  unsigned is_second = 1;
  H5Eauto_is_v2(H5E_DEFAULT, &is_second);
  H5E_auto1_t after = nullptr;
  void* after_data = nullptr;
  H5Eget_auto1(&after, &after_data);
  EXPECT_EQ(is_second, 0U);
  EXPECT_EQ(after, handler);
  EXPECT_EQ(after_data, this);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}
#endif

TEST_F(Hdf5, works_where_the_file_system_refuses_locks) {
  for (const int error : {ENOSYS, ENOLCK, EOPNOTSUPP, EIO}) {
    flock_error = error;
    auto format = open(FormatMode::create);
    ASSERT_NE(format, nullptr) << error;
    ASSERT_TRUE(format->define_variable({"/v", Type::int8, {10}, false}).ok());
    ASSERT_TRUE(format->close().ok());
    for (const FormatMode mode : {FormatMode::read, FormatMode::update}) {
      flock_calls = 0;
      format = open(mode);
      ASSERT_NE(format, nullptr) << error;
      EXPECT_GT(flock_calls, 0) << "this test must refuse what libhdf5 asks for";
      EXPECT_EQ(format->catalog().value().variables.size(), 1U);
      ASSERT_TRUE(format->close().ok());
    }
  }
}

// HDF5 is asked late for a file that says the same as one before, and opens it twice where locks are refused.
TEST_F(Hdf5, opens_a_file_late_in_another_folder_and_without_locks) {
  const std::string name = std::filesystem::relative(path_).string();
  const std::filesystem::path before = std::filesystem::current_path();
  auto format = open(FormatMode::create);
  ASSERT_TRUE(format->define_variable({"/t", Type::text, {3}, false}).ok());
  ASSERT_TRUE(format->close().ok());
  flock_error = ENOLCK;
  for (const bool again : {false, true}) {
    auto read = open_format("hdf5", name, FormatMode::read, {});
    ASSERT_TRUE(read.ok()) << again << read.status().message();
    EXPECT_EQ(read.value()->catalog().value().variables.size(), 1U);
    if (again)
      std::filesystem::current_path("/");
    const auto texts = read.value()->read_texts("/t");
    std::filesystem::current_path(before);
    ASSERT_TRUE(texts.ok()) << again << texts.status().message();
    EXPECT_EQ(texts.value().size(), 3U);
    EXPECT_TRUE(read.value()->close().ok());
  }
}

TEST_F(Hdf5, a_file_locked_by_another_program_is_reported) {
  ASSERT_TRUE(open(FormatMode::create)->close().ok());
  flock_error = EWOULDBLOCK;
  const auto format = open_format("hdf5", path_, FormatMode::update, {});
  ASSERT_FALSE(format.ok());
  EXPECT_EQ(format.status().code(), Code::bad_state);
  EXPECT_THAT(format.status().message(), HasSubstr("locked"));
}

TEST_F(Hdf5, the_process_file_size_limit_is_an_error_and_not_a_signal) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit{.rlim_cur = 100'000, .rlim_max = 100'000};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0)
      ::_exit(2);
    auto format = open_format("hdf5", path_, FormatMode::create, {});
    const auto large = format.value()->define_variable({"/large", Type::uint8, {200'000}, false});
    const auto small = format.value()->define_variable({"/small", Type::uint8, {2000}, false});
    const bool good = large.status().code() == Code::io && small.ok() && format.value()->close().ok();
    ::_exit(good ? 0 : 1);
  }
  int result = 1;
  ::waitpid(child, &result, 0);
  EXPECT_EQ(result, 0);
}

// In a child, which then ends by exit(): HDF5 closes there what it still has, and must not stumble over this file.
TEST_F(Hdf5, storage_that_refuses_metadata_is_an_error_and_not_a_crash_at_exit) {
  for (const bool flushed_first : {false, true}) {
    const pid_t child = ::fork();
    if (child == 0) {
      auto format = open_format("hdf5", path_, FormatMode::create, {});
      for (int i = 0; i < 60; ++i)
        if (!format.value()->define_group("/g" + std::to_string(i)).ok())
          ::_exit(2);
      const rlimit limit{.rlim_cur = 10'000, .rlim_max = 10'000};
      if (::setrlimit(RLIMIT_FSIZE, &limit) != 0 || ::signal(SIGXFSZ, SIG_IGN) == SIG_ERR)
        ::_exit(2);
      bool good = true;
      if (flushed_first) {
        good = format.value()->flush().code() == Code::io && format.value()->define_group("/more").code() == Code::io;
        good = good && format.value()->flush().code() == Code::io;
      }
      const Status closed = format.value()->close();
      good = good && closed.code() == Code::io && closed.message().find("file too large") != std::string::npos;
      format.value().reset();
      std::exit(good ? 0 : 1);
    }
    int result = 1;
    ::waitpid(child, &result, 0);
    EXPECT_EQ(result, 0) << (flushed_first ? "flush, then close" : "close alone");
  }
}

// HDF5 gives variables the space of former chunks: chunks of other programs, like these.
TEST_F(Hdf5, room_that_is_given_again_is_zero) {
  const std::vector<std::byte> noise(20'000, std::byte{0xaa});
  auto format = open(FormatMode::create);
  const Chunking chunking{.shape = {1000}, .filters = parse_filters("deflate", 8, 8000).value()};
  ASSERT_TRUE(format->define_variable({"/z", Type::float64, {5000}, false, chunking}).ok());
  for (const int64_t bytes : {3000, 20'000, 30, 200})  // places move, to where they were too small before
    for (int64_t chunk = 0; chunk < 5; ++chunk) {
      const int64_t first[] = {1000 * chunk};
      const auto place = format->place_chunk("/z", first, bytes, false);
      ASSERT_TRUE(place.ok()) << place.status().message();
      write({.offset = place.value().offset}, std::span(noise).first(static_cast<size_t>(bytes)));
    }
  const int64_t end = open_store(path_, StoreMode::read, {}).value()->size().value();
  const auto expect_zeros = [&](const std::string& path, int64_t bytes) {
    const auto placement = format->define_variable({path, Type::uint8, {bytes}, false});
    ASSERT_TRUE(placement.ok()) << placement.status().message();
    EXPECT_LT(placement.value().offset, end) << "this test is about room that was used";
    ASSERT_TRUE(format->flush().ok());
    std::vector<std::byte> found(static_cast<size_t>(bytes), std::byte{1});
    ASSERT_TRUE(open_store(path_, StoreMode::read, {}).value()->read_at(placement.value().offset, found).ok());
    EXPECT_EQ(found, std::vector<std::byte>(static_cast<size_t>(bytes))) << path;
  };
  expect_zeros("/within", 10'000);
  expect_zeros("/as large", 60'000);
  expect_zeros("/partly behind the end", 200'000);
  ASSERT_TRUE(format->close().ok());
}

// The disk is full after the end of the file, and before that HDF5 has overwritten half of what others have read.
TEST_F(Hdf5, storage_that_refuses_metadata_leaves_what_was_published) {
  auto format = open(FormatMode::create);
  for (int i = 0; i < 60; ++i)
    ASSERT_TRUE(format->define_group("/g" + std::to_string(i)).ok());
  ASSERT_TRUE(format->define_variable({"/texts", Type::text, {300}, false}).ok());
  ASSERT_TRUE(format->write_texts("/texts", std::vector<std::string>(300, "old")).ok());
  ASSERT_TRUE(format->close().ok());
  for (const bool flushed_between : {false, true}) {
    const pid_t child = ::fork();
    if (child == 0) {
      auto updated = open_format("hdf5", path_, FormatMode::update, {});
      bool good = true;
      const auto change = [&](const std::string& what) {
        for (int i = 0; i < 60; ++i)
          good =
              good && updated.value()->put_attribute("/g" + std::to_string(i), text(what, std::string(50, 'x'))).ok();
        good = good && updated.value()->write_texts("/texts", std::vector<std::string>(300, what)).ok();
      };
      if (flushed_between) {
        change("published");
        good = good && updated.value()->flush().ok();
      }
      const auto size = static_cast<rlim_t>(std::filesystem::file_size(path_));
      const rlimit limit{.rlim_cur = size, .rlim_max = size};
      if (::setrlimit(RLIMIT_FSIZE, &limit) != 0 || ::signal(SIGXFSZ, SIG_IGN) == SIG_ERR)
        ::_exit(2);
      change("refused");
      std::exit(good && updated.value()->close().code() == Code::io ? 0 : 1);
    }
    int result = 1;
    ::waitpid(child, &result, 0);
    ASSERT_EQ(result, 0);
    format = open(FormatMode::update);
    ASSERT_NE(format, nullptr);
    const auto catalog = format->catalog();
    ASSERT_TRUE(catalog.ok()) << catalog.status().message();
    EXPECT_EQ(catalog.value().groups.size(), 61U);
    for (const Group& group : catalog.value().groups)
      EXPECT_EQ(group.attributes.size(), flushed_between && group.path != "/" ? 1U : 0U) << group.path;
    EXPECT_EQ(format->read_texts("/texts").value(),
              std::vector<std::string>(300, flushed_between ? "published" : "old"));
    EXPECT_TRUE(format->put_attribute("/g7", text("room", "again")).ok() &&
                format->delete_attribute("/g7", "room").ok() && format->close().ok());
  }
}

TEST_F(Hdf5, a_file_that_is_there_keeps_its_mode_when_it_is_made_anew) {
  std::ofstream(path_) << std::string(5000, 'x');
  namespace fs = std::filesystem;
  fs::permissions(path_, fs::perms::owner_read | fs::perms::owner_write);
  const auto format = open(FormatMode::create);
  EXPECT_EQ(fs::status(path_).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  ASSERT_TRUE(format->close().ok());
  EXPECT_EQ(fs::status(path_).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(open(FormatMode::read)->catalog().value().groups.size(), 1U);
}

TEST_F(Hdf5, attributes_may_be_large_and_a_refused_one_leaves_the_old) {
  auto format = open(FormatMode::create);
  const Attribute small = numbers<int32_t>("n", Type::int32, {1});
  ASSERT_TRUE(format->put_attribute("/", small).ok());
  Attribute large = small;
  large.shape = {20'000};
  large.data.resize(80'000);
  large.name = "large";
  EXPECT_TRUE(format->put_attribute("/", large).ok());
  EXPECT_EQ(format->put_attribute("/", fixed_text("n", {std::string("a\0b", 3)}, 4, TextPadding::null_padded)).code(),
            Code::ok);
  EXPECT_EQ(format->put_attribute("/", text("n", std::string("a\0b", 3))).code(), Code::bad_argument);
  const auto attributes = format->catalog().value().groups.front().attributes;
  ASSERT_EQ(attributes.size(), 2U);
  EXPECT_EQ(attributes[1], fixed_text("n", {std::string("a\0b", 3)}, 4, TextPadding::null_padded));
}

TEST_F(Hdf5, holds_many_variables) {
  auto format = open(FormatMode::create);
  for (int i = 0; i < 2000; ++i)
    ASSERT_TRUE(format->define_variable({"/v" + std::to_string(i), Type::float32, {10}, false}).ok());
  ASSERT_TRUE(format->close().ok());
  EXPECT_EQ(open(FormatMode::read)->catalog().value().variables.size(), 2000U);
}

}  // namespace windrow::test
