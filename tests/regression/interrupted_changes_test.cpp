// SPDX-License-Identifier: BSD-3-Clause
// A complete file or set is changed. Each call of the storage in turn is the last one, fails, is cut short, or finds no
// space. Everything that was readable before is readable afterwards, by another number of ranks, and so is what a sync
// has published meanwhile. The change can be repeated.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "../capi/checked.hpp"
#include "../stride.hpp"
#include "failing_storage.h"

namespace {

using namespace windrow_test;

constexpr int64_t k_rows = 10, k_columns = 37, k_records = 3, k_appended = 2;
constexpr const char* k_old_title = "as it was";

// Of an element; `edition` is another number each time that a variable is written.
int64_t value_of(int64_t variable, int64_t edition, int64_t place) {
  return variable * 1'000'000'000 + edition * 1'000'000 + place;
}

struct Kind {
  const char* name;
  const char* ending;
  int subfiles;
  bool grows;
};
constexpr Kind k_kinds[] = {{"HDF5", "h5", 1, true},     {"netCDF", "nc", 1, true},     {"raw", "raw", 1, false},
                            {"HDF5 set", "h5", 3, true}, {"netCDF set", "nc", 2, true}, {"raw set", "raw", 2, false}};

enum class Change {
  define,
  attributes,
  append,
  overwrite,
  replace
};
constexpr const char* k_changes[] = {"define", "attributes", "append", "overwrite", "replace"};

constexpr const char* k_failures[] = {"nothing", "freeze", "tear", "kill", "io", "no space", "short", "read"};

// A number that all processes of this host share. Collective.
class SharedNumber {
 public:
  explicit SharedNumber(const std::string& path) {
    if (rank_of() == 0)
      std::ofstream(path, std::ios::binary).write("\0\0\0\0", 4);
    MPI_Barrier(MPI_COMM_WORLD);
    const int descriptor = ::open(path.c_str(), O_RDWR);
    address_ = static_cast<int*>(::mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0));
    ::close(descriptor);
  }
  SharedNumber(const SharedNumber&) = delete;
  SharedNumber& operator=(const SharedNumber&) = delete;
  ~SharedNumber() { ::munmap(address_, sizeof(int)); }
  volatile int* get() noexcept { return address_; }

 private:
  int* address_;
};

// Rows of a variable, all ranks of a communicator together.
class Rows {
 public:
  explicit Rows(MPI_Comm comm) {
    first_ = k_rows * rank_of(comm) / size_of(comm);
    count_ = k_rows * (rank_of(comm) + 1) / size_of(comm) - first_;
    const int64_t shape[2] = {k_rows, k_columns}, start[2] = {first_, 0}, count[2] = {count_, k_columns};
    EXPECT_WINDROW_OK(windrow_block(comm, 2, shape, start, count, nullptr, nullptr, &all_));
    data_.resize(static_cast<size_t>(count_ * k_columns));
  }
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
  ~Rows() { windrow_decomposition_free(all_); }

  int write(windrow_file* file, int variable, int64_t number, int64_t edition, int64_t record = -1) {
    for (size_t i = 0; i < data_.size(); ++i)
      data_[i] = value_of(number, edition, first_ * k_columns + static_cast<int64_t>(i));
    const int queued = record < 0 ? windrow_put(file, variable, all_, data_.data())
                                  : windrow_put_record(file, variable, record, all_, data_.data());
    const int moved = windrow_flush(file);
    return moved != WINDROW_OK ? moved : queued;
  }
  // What is wrong with it, on any rank's part: "" nothing.
  std::string read(windrow_file* file, const std::string& name, int64_t number, int64_t edition, int64_t record = -1) {
    int variable = -1;
    if (windrow_find_variable(file, name.c_str(), &variable) != WINDROW_OK)
      return name + ": " + windrow_error_message();
    std::fill(data_.begin(), data_.end(), -1);
    const int queued = record < 0 ? windrow_get(file, variable, all_, data_.data())
                                  : windrow_get_record(file, variable, record, all_, data_.data());
    const int moved = windrow_flush(file);
    if (moved != WINDROW_OK || queued != WINDROW_OK)
      return name + ": " + windrow_error_message();
    for (size_t i = 0; i < data_.size(); ++i)
      if (data_[i] != value_of(number, edition, first_ * k_columns + static_cast<int64_t>(i)))
        return fmt::format("{} record {}: element {} is {} and not {}", name, record, i, data_[i],
                           value_of(number, edition, first_ * k_columns + static_cast<int64_t>(i)));
    return {};
  }

 private:
  int64_t first_ = 0, count_ = 0;
  windrow_decomposition* all_ = nullptr;
  std::vector<int64_t> data_;
};

int define(windrow_file* file, const std::string& name, int* variable, const KeyValues& options = {},
           int64_t records = -1) {
  const int64_t shape[3] = {records, k_rows, k_columns};
  return windrow_define_variable_with(file, name.c_str(), WINDROW_INT64, records < 0 ? 2 : 3,
                                      shape + (records < 0 ? 1 : 0), Options(options), variable);
}

// What a call that has come to an end on all ranks, before anything was to fail, has promised.
struct Promised {
  int new_variables = 0;
  int64_t new_records = 0;
};

class InterruptedChanges : public testing::Test {
 protected:
  InterruptedChanges() : frozen_(outside_.file("frozen")) {}

  std::string work() const { return there_.empty() ? folder_.file("work") : there_; }
  std::string path(const Kind& kind) const { return work() + "/a." + kind.ending; }
  std::string kept(const Kind& kind) const { return folder_.file(kind.name); }

  // A finished file, to be copied.
  void make(const Kind& kind, const KeyValues& options) {
    if (rank_of() == 0)
      std::filesystem::create_directory(work());
    MPI_Barrier(MPI_COMM_WORLD);
    KeyValues all = options;
    if (kind.subfiles > 1)
      all.emplace_back("files", fmt::format("subfiles({})", kind.subfiles));
    windrow_file* file = nullptr;
    ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path(kind).c_str(), Options(all), &file));
    Rows rows(MPI_COMM_WORLD);
    for (int i = 0; i < 3; ++i) {
      int variable = -1;
      EXPECT_WINDROW_OK(
          define(file, fmt::format("v{}", i), &variable, i == 2 ? KeyValues{{"split", "none"}} : KeyValues{}));
      EXPECT_WINDROW_OK(rows.write(file, variable, i, 0));
    }
    for (int i = 0; i < (kind.grows ? 2 : 0); ++i) {
      int variable = -1;
      KeyValues growing{{"extendible", "true"}};
      if (std::string(kind.ending) == "h5")
        growing.emplace_back("chunks", "4x5x37");
      if (std::string(kind.ending) == "h5" && i == 0)
        growing.emplace_back("filters", "deflate:1");
      EXPECT_WINDROW_OK(define(file, fmt::format("g{}", i), &variable, growing, 0));
      for (int64_t record = 0; record < k_records; ++record)
        EXPECT_WINDROW_OK(rows.write(file, variable, 100 + i, record, record));
    }
    EXPECT_WINDROW_OK(windrow_put_attribute_text(file, "/", "title", k_old_title));
    EXPECT_WINDROW_OK(windrow_put_attribute_text(file, "v0", "title", k_old_title));
    ASSERT_WINDROW_OK(windrow_close(file));
    if (rank_of() == 0)
      std::filesystem::rename(work(), kept(kind));
    MPI_Barrier(MPI_COMM_WORLD);
  }
  void copy(const Kind& kind) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_of() == 0) {
      std::filesystem::remove_all(work());
      std::filesystem::copy(kept(kind), work(), std::filesystem::copy_options::recursive);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

  int replace(const Kind& kind, const KeyValues& options, int edition, Promised& promised);
  // All calls are made, for any results of the previous ones.
  int change(const Kind& kind, Change what, const KeyValues& options, int edition, Promised& promised);
  // Collective.
  bool is_frozen() {
    MPI_Barrier(MPI_COMM_WORLD);
    const bool is = *frozen_.get() != 0;
    MPI_Barrier(MPI_COMM_WORLD);
    return is;
  }
  void sync(windrow_file* file, int& worst, int& promised, int more) {
    worst = std::max(worst, windrow_sync(file));
    if (!is_frozen() && worst == WINDROW_OK)
      promised = more;
  }
  std::string faults(const Kind& kind, Change what, MPI_Comm comm, const Promised& promised, int edition);
  void expect_restored(const Kind& kind, const std::string& where);
  void sweep(const Kind& kind, const KeyValues& options);
  void try_one(const Kind& kind, Change what, const KeyValues& options, failing_kind failure, int victim, long nth);

  std::string there_;
  long cases_ = 0;
  SharedFolder folder_, outside_;
  SharedNumber frozen_;
};

// A new file replaces the existing one: it has the name after the sync, and later calls change it.
int InterruptedChanges::replace(const Kind& kind, const KeyValues& options, int edition, Promised& promised) {
  KeyValues all = options;
  if (kind.subfiles > 1)
    all.emplace_back("files", fmt::format("subfiles({})", kind.subfiles));
  windrow_file* file = nullptr;
  int worst = windrow_create(MPI_COMM_WORLD, path(kind).c_str(), Options(all), &file);
  if (worst != WINDROW_OK)
    return worst;
  Rows rows(MPI_COMM_WORLD);
  const auto note = [&](int code) { worst = std::max(worst, code); };
  for (int i = 0; i < 3; ++i) {
    int variable = -1;
    const int defined =
        define(file, fmt::format("v{}", i), &variable, i == 2 ? KeyValues{{"split", "none"}} : KeyValues{});
    note(defined);
    if (defined == WINDROW_OK)
      note(rows.write(file, variable, i, edition + 1));
  }
  for (const char* object : {"/", "v0"})
    note(windrow_put_attribute_text(file, object, "title", k_old_title));
  if (worst != WINDROW_OK)
    return windrow_discard(file), worst;  // a close would publish what there is
  sync(file, worst, promised.new_variables, 3);
  note(windrow_put_attribute_text(file, "/", "after the sync", "is there"));
  const int closed = windrow_close(file);
  if (!is_frozen() && closed == WINDROW_OK && worst == WINDROW_OK)
    promised.new_variables = 3;
  return std::max(worst, closed);
}

int InterruptedChanges::change(const Kind& kind, Change what, const KeyValues& options, int edition,
                               Promised& promised) {
  if (what == Change::replace)
    return replace(kind, options, edition, promised);
  windrow_file* file = nullptr;
  int worst = windrow_open(MPI_COMM_WORLD, path(kind).c_str(), WINDROW_UPDATE, Options(options), &file);
  if (worst != WINDROW_OK)
    return worst;
  Rows rows(MPI_COMM_WORLD);
  const auto note = [&](int code) { worst = std::max(worst, code); };
  int variable = -1, promised_records = 0;
  switch (what) {
    case Change::define:
      for (int i = 0; i < 3; ++i) {
        const std::string name = fmt::format("n{}", i);
        int defined = define(file, name, &variable);
        if (defined == WINDROW_EXISTS)
          defined = windrow_find_variable(file, name.c_str(), &variable);  // of a later call that failed
        note(defined);
        note(windrow_put_attribute_text(file, "/", fmt::format("about n{}", i).c_str(), "new"));
        if (defined == WINDROW_OK)
          note(rows.write(file, variable, 10 + i, edition));
        if (i < 2)
          sync(file, worst, promised.new_variables, i + 1);
      }
      break;
    case Change::attributes:
      for (int i = 0; i < 4; ++i) {
        const std::string text(6000, 'x');
        note(windrow_put_attribute_text(file, "/", fmt::format("long {}", i).c_str(), text.c_str()));
        note(windrow_put_attribute_text(file, "v0", fmt::format("long {}", i).c_str(), text.c_str()));
        int none = 0;
        if (i % 2 == 0)
          sync(file, worst, none, 0);
      }
      break;
    case Change::append:
      for (int64_t record = k_records; record < k_records + k_appended; ++record) {
        for (int i = 0; i < 2; ++i)
          if (windrow_find_variable(file, fmt::format("g{}", i).c_str(), &variable) == WINDROW_OK)
            note(rows.write(file, variable, 100 + i, record, record));
        sync(file, worst, promised_records, static_cast<int>(record - k_records + 1));
        promised.new_records = promised_records;
      }
      break;
    case Change::overwrite:
      note(windrow_find_variable(file, "v0", &variable));
      note(rows.write(file, variable, 0, 1));
      break;
    case Change::replace:
      break;
  }
  // In the session that has met an error older variables are readable as ever.
  if (!is_frozen() && worst != WINDROW_OK) {
    const std::string fault = rows.read(file, "v1", 1, 0) + rows.read(file, "v2", 2, 0);
    EXPECT_EQ(fault, "");
  }
  const int closed = windrow_close(file);
  if (!is_frozen() && closed == WINDROW_OK && worst == WINDROW_OK)
    promised = {3, k_appended};
  return std::max(worst, closed);
}

// What is not as it was, or was promised.
std::string InterruptedChanges::faults(const Kind& kind, Change what, MPI_Comm comm, const Promised& promised,
                                       int edition) {
  windrow_file* file = nullptr;
  if (windrow_open(comm, path(kind).c_str(), WINDROW_READ, nullptr, &file) != WINDROW_OK)
    return std::string("open: ") + windrow_error_message();
  Rows rows(comm);
  std::string found;
  const auto look = [&](const std::string& fault) { found += fault.empty() ? "" : fault + "\n"; };
  // Of a file that another was to replace either is there, as a whole.
  int64_t there = 0;
  for (int64_t other = 1; what == Change::replace && other <= edition + 1; ++other)
    if (rows.read(file, "v0", 0, other).empty())
      there = other;
  MPI_Allreduce(MPI_IN_PLACE, &there, 1, MPI_INT64_T, MPI_MAX, comm);
  if (what == Change::replace && promised.new_variables > 0 && there != edition + 1)
    look("the file that was to be replaced is there");
  for (int i = what == Change::overwrite ? 1 : 0; i < 3; ++i)
    look(rows.read(file, fmt::format("v{}", i), i, there));
  for (int i = 0; i < (kind.grows && there == 0 ? 2 : 0); ++i)
    for (int64_t record = 0; record < k_records + (what == Change::append ? promised.new_records : 0); ++record)
      look(rows.read(file, fmt::format("g{}", i), 100 + i, record, record));
  for (int i = 0; i < (what == Change::define ? promised.new_variables : 0); ++i)
    look(rows.read(file, fmt::format("n{}", i), 10 + i, edition));
  for (const char* object : {"/", "v0"}) {
    const char* text = "";
    if (windrow_get_attribute(file, object, "title", WINDROW_TEXT, &text) != WINDROW_OK)
      look(std::string("title of ") + object + ": " + windrow_error_message());
    else if (std::string(text) != k_old_title)
      look(std::string("title of ") + object + " is " + text);
  }
  const char* problems = "";
  if (windrow_check_subfiles(file, &problems) != WINDROW_OK)
    look(windrow_error_message());
  std::istringstream lines(problems);
  for (std::string line; std::getline(lines, line);)
    if (what != Change::overwrite || line.find("v0") == std::string::npos)
      look("check: " + line);
  if (windrow_close(file) != WINDROW_OK)
    look(windrow_error_message());
  return found;
}

void InterruptedChanges::expect_restored(const Kind& kind, const std::string& where) {
  windrow_file* file = nullptr;
  ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path(kind).c_str(), WINDROW_READ, nullptr, &file));
  EXPECT_STREQ(windrow_interrupted(file), "") << where;
  EXPECT_WINDROW_OK(windrow_close(file));
}

void InterruptedChanges::try_one(const Kind& kind, Change what, const KeyValues& options, failing_kind failure,
                                 int victim, long nth) {
  ++cases_;
  copy(kind);
  Promised promised;
  *frozen_.get() = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  failing_start(work().c_str(), failure, victim == rank_of() ? nth : 0, frozen_.get());
  const int code = change(kind, what, options, 0, promised);
  MPI_Barrier(MPI_COMM_WORLD);
  (void)failing_stop();
  MPI_Barrier(MPI_COMM_WORLD);
  const std::string told = code == WINDROW_OK ? "" : windrow_error_message();
  *frozen_.get() = 0;
  const std::string where =
      fmt::format("{}, {}, {} at call {} of rank {} ({} {}), options {}", kind.name, k_changes[static_cast<int>(what)],
                  k_failures[failure], nth, victim, code, told, options.empty() ? "none" : options[0].first);
  EXPECT_EQ(faults(kind, what, MPI_COMM_WORLD, promised, 0), "") << where;
  if (rank_of() == 0) {
    EXPECT_EQ(faults(kind, what, MPI_COMM_SELF, promised, 0), "") << where << ", one rank";
  }
  MPI_Barrier(MPI_COMM_WORLD);
  // Other programs read the file, unless it could not be restored at once.
  if (failure != FAILING_FREEZE && failure != FAILING_TEAR)
    expect_restored(kind, where);
  // What was not published can be made again. Variables that were are defined, so it is tried where none is promised.
  if (promised.new_variables > 0 || promised.new_records > 0 || cases_ % 2 == 0)
    return;
  Promised again;
  EXPECT_WINDROW_OK(change(kind, what, options, 1, again)) << where << ", again";
  EXPECT_EQ(faults(kind, what, MPI_COMM_WORLD, again, 1), "") << where << ", again";
  expect_restored(kind, where + ", again");
}

void InterruptedChanges::sweep(const Kind& kind, const KeyValues& options) {
  if (windrow_has(std::string(kind.ending) == "h5" ? "hdf5" : std::string(kind.ending) == "nc" ? "netcdf" : "raw") == 0)
    return;
  make(kind, options);
  if (failed_anywhere())
    return;
  int turn = 0;
  for (const Change what : {Change::define, Change::attributes, Change::append, Change::overwrite, Change::replace}) {
    if (what == Change::append && !kind.grows)
      continue;
    for (const bool reads : {false, true}) {
      copy(kind);
      Promised promised;
      *frozen_.get() = 0;
      failing_start(work().c_str(), reads ? FAILING_READ : FAILING_IO, 0, frozen_.get());
      EXPECT_WINDROW_OK(change(kind, what, options, 0, promised));
      long calls = failing_stop();
      EXPECT_EQ(faults(kind, what, MPI_COMM_WORLD, promised, 0), "");
      for (int victim = 0; victim < size_of(); ++victim) {
        long most = calls;
        MPI_Bcast(&most, 1, MPI_LONG, victim, MPI_COMM_WORLD);
        for (long nth = 1; nth <= most; ++nth)
          for (const failing_kind failure :
               {FAILING_FREEZE, FAILING_TEAR, FAILING_IO, FAILING_NO_SPACE, FAILING_SHORT, FAILING_READ}) {
            const char* only = std::getenv("WINDROW_TEST_FAILURE");
            if ((failure == FAILING_READ) != reads || turn++ % stride() != 0 ||
                (only != nullptr && std::string(only) != k_failures[failure]))
              continue;
            try_one(kind, what, options, failure, victim, nth);
            if (failed_anywhere())
              return;
          }
      }
    }
  }
  if (rank_of() == 0)
    std::printf("%s: %ld cases\n", kind.name, cases_);
}

// For sets_test.py: a file is made at WINDROW_KILLED_AT/a.ENDING, and one of the processes killed while it is changed.
// "KIND CHANGE RANK NTH CHECKSUMS".
class Killed : public InterruptedChanges {
 protected:
  void make_and_change(const char* folder, const char* what) {
    std::istringstream words(what);
    int kind = 0, change_number = 0, victim = 0, checksums = 0;
    long nth = 0;
    words >> kind >> change_number >> victim >> nth >> checksums;
    const KeyValues options = checksums != 0 ? KeyValues{{"checksum", "on"}} : KeyValues{};
    make(k_kinds[kind], options);
    copy(k_kinds[kind]);
    if (rank_of() == 0)
      std::filesystem::rename(work(), folder);
    MPI_Barrier(MPI_COMM_WORLD);
    there_ = folder;
    failing_start(folder, FAILING_KILL, victim == rank_of() ? nth : 0, frozen_.get());
    Promised promised;
    (void)change(k_kinds[kind], static_cast<Change>(change_number), options, 0, promised);
    (void)failing_stop();
  }
};

TEST_F(Killed, InTheMidst) {
  const char* folder = std::getenv("WINDROW_KILLED_AT");
  const char* what = std::getenv("WINDROW_KILLED");
  if (folder == nullptr || what == nullptr)
    GTEST_SKIP() << "run by sets_test.py";
  make_and_change(folder, what);
}

class EachKind : public InterruptedChanges, public testing::WithParamInterface<int> {};

TEST_P(EachKind, LeaveWhatWasThere) {
  sweep(k_kinds[GetParam()], {});
}
TEST(Interrupted, AreNoFilesOfNone) {
  EXPECT_EQ(windrow_interrupted(nullptr), nullptr);
}

TEST_P(EachKind, LeaveWhatWasThereWithChecksumsOnStableStorage) {
  sweep(k_kinds[GetParam()], {{"checksum", "on"}, {"durable", "true"}});
}

INSTANTIATE_TEST_SUITE_P(Formats, EachKind, testing::Range(0, static_cast<int>(std::size(k_kinds))));

}  // namespace
