// SPDX-License-Identifier: BSD-3-Clause
// Several places of a file are changed together: after each call that is the last, all bytes are the old ones or all
// are the new ones.
#include "storage/overwrite.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "../temporary_folder.hpp"
#include "format/format.hpp"

namespace windrow {
namespace {

constexpr int64_t k_bytes = 5000;
constexpr const char* k_path = "a.h5";

// In memory; of its n-th change half has an effect, and none of those after it.
class StoppedStore final : public Store {
 public:
  explicit StoppedStore(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  void stop_at(int change, bool fails) {
    left_ = change;
    fails_ = fails;
  }
  void go_on() { left_.reset(); }
  void fail_once(int change) {
    stop_at(change, true);
    goes_on_ = true;
  }
  // Before the n-th read from now on another process changes the file.
  void change_at_read(int read, std::vector<std::byte> later) {
    reads_left_ = read;
    later_ = std::move(later);
  }
  bool stopped() const { return left_ && *left_ < 0; }
  const std::vector<std::byte>& bytes() const { return bytes_; }

  Status write_at(int64_t offset, std::span<const std::byte> bytes) override {
    const bool goes = goes_through(), last = stopped() && *left_ == -1;
    const size_t length = goes ? bytes.size() : last ? bytes.size() / 2 : 0;
    if (length > 0) {
      bytes_.resize(std::max(bytes_.size(), static_cast<size_t>(offset) + length));
      std::memcpy(bytes_.data() + offset, bytes.data(), length);
    }
    return goes || !fails_ ? Status() : Status(Code::io, "refused");
  }
  Status read_at(int64_t offset, std::span<std::byte> bytes) override {
    if (reads_left_ > 0 && --reads_left_ == 0)
      bytes_ = later_;
    if (static_cast<size_t>(offset) + bytes.size() > bytes_.size())
      return {Code::bad_file, "ends early"};
    std::memcpy(bytes.data(), bytes_.data() + offset, bytes.size());
    return {};
  }
  Status write_slices_at(int64_t, std::span<const ConstSlice>) override { return {Code::internal, ""}; }
  Status read_slices_at(int64_t, std::span<const Slice>) override { return {Code::internal, ""}; }
  Result<int64_t> size() override { return static_cast<int64_t>(bytes_.size()); }
  Status resize(int64_t size) override {
    const bool goes = goes_through();
    if (goes)
      bytes_.resize(static_cast<size_t>(size));
    return goes || !fails_ ? Status() : Status(Code::io, "refused");
  }
  Status sync() override { return {}; }
  Status close() override { return {}; }
  Status lock(int64_t, int64_t) override { return {}; }
  Status lock_shared(int64_t, int64_t) override { return {}; }
  Status unlock(int64_t, int64_t) override { return {}; }

 private:
  bool goes_through() { return !left_ || (*left_)-- > 0 || (goes_on_ && *left_ < -1); }
  std::optional<int> left_;
  bool fails_ = false, goes_on_ = false;
  int reads_left_ = 0;
  std::vector<std::byte> bytes_, later_;
};

std::vector<std::byte> pattern(int64_t bytes, int seed) {
  std::vector<std::byte> made(static_cast<size_t>(bytes));
  for (size_t i = 0; i < made.size(); ++i)
    made[i] = static_cast<std::byte>(i * 7 + static_cast<size_t>(seed));
  return made;
}

// What a reader finds, by the log where there is one.
std::vector<std::byte> as_read(Store& store, size_t bytes, int64_t mark_at = k_no_mark) {
  auto log = find_undo_log(store, k_path, mark_at);
  EXPECT_TRUE(log.ok());
  std::vector<std::byte> read(bytes);
  EXPECT_TRUE(store.read_at(0, read).ok());
  apply(log.value(), 0, read);
  hide_mark(mark_at, 0, read);
  return read;
}

TEST(Overwrite, IsWholeOrNotAtAll) {
  const std::vector<std::byte> old = pattern(k_bytes, 1), first = pattern(300, 90), second = pattern(2000, 91);
  const std::array changes{Overwrite{100, first}, Overwrite{2500, second}};
  std::vector<std::byte> wanted = old;
  for (const Overwrite& each : changes)
    std::memcpy(wanted.data() + each.offset, each.bytes.data(), each.bytes.size());
  for (const bool fails : {false, true})
    for (int stop = 0;; ++stop) {
      StoppedStore store(old);
      store.stop_at(stop, fails);
      const bool done = overwrite(store, changes, k_bytes, false).ok() && !store.stopped();
      store.go_on();
      const std::vector<std::byte> read = as_read(store, old.size());
      const bool all_new = std::memcmp(store.bytes().data(), wanted.data(), wanted.size()) == 0;
      EXPECT_TRUE(read == (done ? wanted : old) || (all_new && read == wanted)) << stop;
      EXPECT_TRUE(roll_back(store, k_path, false).ok());
      EXPECT_FALSE(find_undo_log(store, k_path).value().found);
      EXPECT_EQ(as_read(store, old.size()), read) << stop;
      if (!done)
        continue;
      EXPECT_EQ(store.bytes(), wanted) << "nothing is left behind the end";
      break;
    }
}

// Two ranges of a file that has a mark, one of which may include it.
class MarkedFile {
 public:
  MarkedFile(int64_t mark_at, bool is_marked_before) : mark_at_(mark_at) {
    const std::array version{std::byte{1}}, later_version{std::byte{2}};
    place(old_, mark_at, version);
    if (mark_at >= 100 && mark_at < 400)
      place(first_, mark_at - 100, later_version);
    place(wanted_ = old_, 100, first_);
    place(wanted_, 2500, second_);
    store_.emplace(old_);
    if (is_marked_before) {
      EXPECT_TRUE(set_mark(*store_, mark_at, true).ok());
    }
  }
  StoppedStore& store() { return *store_; }
  bool change() {
    return overwrite(*store_, std::array{Overwrite{100, first_}, Overwrite{2500, second_}}, k_bytes, false, mark_at_)
        .ok();
  }
  bool is_refused() { return is_marked(*store_, mark_at_).value(); }
  // What programs that know neither log nor mark find.
  std::vector<std::byte> now() const { return {store_->bytes().begin(), store_->bytes().begin() + k_bytes}; }
  bool is_whole(const std::vector<std::byte>& bytes) const { return bytes == old_ || bytes == wanted_; }
  bool is_changed(const std::vector<std::byte>& bytes) const { return bytes == wanted_; }

 private:
  static void place(std::vector<std::byte>& bytes, int64_t offset, std::span<const std::byte> part) {
    std::memcpy(bytes.data() + offset, part.data(), part.size());
  }
  int64_t mark_at_;
  std::vector<std::byte> old_ = pattern(k_bytes, 1), first_ = pattern(300, 90), second_ = pattern(2000, 91), wanted_;
  std::optional<StoppedStore> store_;
};

TEST(Overwrite, IsRefusedByOtherProgramsWhileItIsHalfDone) {
  for (const int64_t mark_at : {8, 250, 2000})
    for (const bool was_marked : {false, true})
      for (const bool fails : {false, true})
        for (int stop = 0, refused = 0;; ++stop) {
          SCOPED_TRACE(std::to_string(mark_at) + (was_marked ? ", marked" : "") + (fails ? ", fails at " : ", at ") +
                       std::to_string(stop));
          MarkedFile file(mark_at, was_marked);
          file.store().stop_at(stop, fails);
          const bool done = file.change() && !file.store().stopped();
          file.store().go_on();
          EXPECT_TRUE(file.is_refused() || file.is_whole(file.now()));
          refused += file.is_refused() ? 1 : 0;
          const std::vector<std::byte> read = as_read(file.store(), k_bytes, mark_at);
          EXPECT_TRUE(done ? file.is_changed(read) : file.is_whole(read));
          EXPECT_TRUE(roll_back(file.store(), k_path, false, mark_at).ok());
          EXPECT_FALSE(file.is_refused());
          EXPECT_TRUE(file.now() == read);
          EXPECT_FALSE(find_undo_log(file.store(), k_path).value().found);
          if (!done)
            continue;
          EXPECT_GT(refused, 2);
          break;
        }
}

// An error that lasts for one request.
TEST(Overwrite, ThatFailsIsNotRefused) {
  for (const bool was_marked : {false, true})
    for (int failing = 0; failing < (was_marked ? 4 : 5); ++failing) {
      MarkedFile file(8, was_marked);
      file.store().fail_once(failing);
      EXPECT_FALSE(file.change()) << failing;
      EXPECT_FALSE(file.is_refused()) << failing;
      EXPECT_TRUE(file.is_whole(file.now())) << failing;
      EXPECT_FALSE(find_undo_log(file.store(), k_path).value().found);
    }
}

TEST(Overwrite, OfAFewBytesNeedsNoLogAndOfNoneNothing) {
  const std::vector<std::byte> old = pattern(k_bytes, 1), number = pattern(8, 50);
  StoppedStore store(old);
  const std::array few{Overwrite{4, number}};
  store.stop_at(1, true);
  EXPECT_TRUE(overwrite(store, few, k_bytes, false).ok()) << "one request";
  const std::array same{Overwrite{4, number}};
  store.stop_at(0, true);
  EXPECT_TRUE(overwrite(store, same, k_bytes, false).ok()) << "none";
}

TEST(Overwrite, LooksAtWhatIsNoLog) {
  const std::string_view magic = "windrow undo log";
  for (int seed = 0; seed < 200; ++seed) {
    std::vector<std::byte> bytes = pattern(300, seed);
    std::memcpy(bytes.data() + bytes.size() - magic.size(), magic.data(), magic.size());
    StoppedStore store(bytes);
    auto log = find_undo_log(store, k_path);
    ASSERT_TRUE(log.ok());
    EXPECT_FALSE(log.value().found);
  }
}

// A file of a killed process, of whose changes the first `requests` requests had an effect and half of the next one.
// Then another program, which knows nothing of the log, has changed a byte to what is neither old nor new.
class ChangedByOthers {
 public:
  ChangedByOthers(int requests, int64_t place) : store_(old_) {
    const std::array changes{Overwrite{100, first_}, Overwrite{2500, second_}};
    for (const Overwrite& each : changes)
      std::memcpy(wanted_.data() + each.offset, each.bytes.data(), each.bytes.size());
    store_.stop_at(requests, false);
    EXPECT_TRUE(overwrite(store_, changes, k_bytes, false).ok());
    store_.go_on();
    EXPECT_TRUE(find_undo_log(store_, k_path).value().found);
    const auto at = static_cast<size_t>(place);
    std::array<std::byte, 1> other{};
    while (other[0] == wanted_[at] || other[0] == old_[at])
      other[0] = static_cast<std::byte>(std::to_integer<int>(other[0]) + 1);
    EXPECT_TRUE(store_.write_at(place, other).ok());
    is_in_a_range_ = wanted_[at] != old_[at];
  }
  StoppedStore& store() { return store_; }
  bool is_in_a_range() const { return is_in_a_range_; }
  std::vector<std::byte> now() const { return {store_.bytes().begin(), store_.bytes().begin() + k_bytes}; }

 private:
  std::vector<std::byte> old_ = pattern(k_bytes, 1), first_ = pattern(300, 90), second_ = pattern(2000, 91);
  std::vector<std::byte> wanted_ = old_;
  StoppedStore store_;
  bool is_in_a_range_ = false;
};

constexpr std::array<int64_t, 8> k_places{0, 100, 250, 399, 1000, 2500, 4499, 4999};

TEST(Overwrite, LeavesWhatOthersHaveChangedSinceItWasComplete) {
  for (const int64_t place : k_places) {
    ChangedByOthers file(3, place);  // all is written, and the log is not cut off
    const std::vector<std::byte> now = file.now();
    EXPECT_EQ(as_read(file.store(), now.size()), now) << place;
    EXPECT_TRUE(roll_back(file.store(), k_path, false).ok());
    EXPECT_EQ(file.store().bytes(), now) << place;
  }
}

TEST(Overwrite, LeavesWhatOthersHaveChangedBeforeItBegan) {
  const std::vector<std::byte> old = pattern(k_bytes, 1);
  for (const int64_t place : k_places) {
    ChangedByOthers file(2, place);
    const std::vector<std::byte> changed = file.now();
    for (const int64_t at : {int64_t{100}, int64_t{2500}}) {
      std::vector<std::byte> range(old.begin() + at, old.begin() + at + (at == 100 ? 300 : 2000));
      if (place >= at && place < at + static_cast<int64_t>(range.size()))
        range[static_cast<size_t>(place - at)] = changed[static_cast<size_t>(place)];
      ASSERT_TRUE(file.store().write_at(at, range).ok());
    }
    const std::vector<std::byte> now = file.now();
    EXPECT_EQ(as_read(file.store(), now.size()), now) << place;
    EXPECT_TRUE(roll_back(file.store(), k_path, false).ok());
    EXPECT_EQ(file.store().bytes(), now) << place;
  }
}

// A writer continues while a reader looks at its log: the reader finds that there is none any more.
TEST(Overwrite, IsReadWhileItsWriterContinues) {
  constexpr int k_reads_of_log = 2, k_ranges = 2;
  for (int read = k_reads_of_log + 1; read <= k_reads_of_log + k_ranges + 1; ++read) {
    ChangedByOthers file(2, 250);
    file.store().change_at_read(read, file.now());
    const auto log = find_undo_log(file.store(), k_path);
    ASSERT_TRUE(log.ok()) << read << ": " << log.status().message();
    EXPECT_FALSE(log.value().found) << read;
  }
}

TEST(Overwrite, ReportsWhatOthersHaveChangedWhenItWasHalfDone) {
  for (const int64_t place : k_places) {
    ChangedByOthers file(2, place);  // half of the second range is written
    const std::vector<std::byte> all = file.store().bytes(), now = file.now();
    if (!file.is_in_a_range()) {
      EXPECT_TRUE(roll_back(file.store(), k_path, false).ok()) << place;
      continue;
    }
    for (const Status& status :
         {find_undo_log(file.store(), k_path).status(), roll_back(file.store(), k_path, false)}) {
      EXPECT_EQ(status.code(), Code::bad_file) << place;
      for (const char* part : {"\"a.h5\"", "half changed", "undo log", "truncate -s 5000"})
        EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
    }
    EXPECT_EQ(file.store().bytes(), all) << "the log stays";
    ASSERT_TRUE(file.store().resize(k_bytes).ok());
    EXPECT_EQ(as_read(file.store(), now.size()), now) << "as the message advises";
  }
}

// The formats say so, for reading and for update, and change nothing.
TEST(Overwrite, MakesADamagedFileThatNoFormatOpens) {
  for (const std::string format : {"hdf5", "netcdf"}) {
    const test::TemporaryFolder folder;
    const std::string path = folder.path("a");
    auto made = open_format(format, path, FormatMode::create, {});
    if (!made.ok())
      continue;  // not built
    ASSERT_TRUE(made.value()->define_variable({"/v", Type::float64, {100}}).ok());
    if (made.value()->traits().places_late) {
      ASSERT_TRUE(made.value()->lay_out().ok());
      made.value()->take_layout();
    }
    ASSERT_TRUE(made.value()->close().ok());
    ASSERT_GE(std::filesystem::file_size(path), 64U);
    std::vector<std::byte> bytes(std::filesystem::file_size(path));
    std::ifstream(path, std::ios::binary)
        .read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    const std::vector<std::byte> old(bytes.begin() + 24, bytes.begin() + 64), changed = pattern(40, 3);
    StoppedStore store(bytes);
    store.stop_at(1, false);
    ASSERT_TRUE(overwrite(store, std::array{Overwrite{24, changed}}, static_cast<int64_t>(bytes.size()), false).ok());
    store.go_on();
    std::array<std::byte, 1> foreign{};
    while (foreign[0] == old[30] || foreign[0] == changed[30])
      foreign[0] = static_cast<std::byte>(std::to_integer<int>(foreign[0]) + 1);
    ASSERT_TRUE(store.write_at(24 + 30, foreign).ok());
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(store.bytes().data()), static_cast<std::streamsize>(store.bytes().size()));
    for (const FormatMode mode : {FormatMode::read, FormatMode::update}) {
      const auto opened = open_format(format, path, mode, {});
      EXPECT_EQ(opened.status().code(), Code::bad_file) << format << ": " << opened.status().message();
      for (const std::string& part : {path, std::string("undo log")})
        EXPECT_NE(opened.status().message().find(part), std::string::npos) << opened.status().message();
    }
    EXPECT_EQ(std::filesystem::file_size(path), store.bytes().size()) << "the log stays";
  }
}

}  // namespace
}  // namespace windrow
