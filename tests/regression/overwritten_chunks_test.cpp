// SPDX-License-Identifier: BSD-3-Clause
// Filtered chunks of published files are overwritten several times between two syncs, so that their places change.
// Each call of the storage in turn is the last one, or fails. Every element that no unfinished flush was overwriting
// then has the value of the last sync or of a later flush.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "../capi/checked.hpp"
#include "../stride.hpp"
#include "failing_storage.h"

namespace {

using namespace windrow_test;

constexpr int64_t k_half = 4;  // rows; a chunk has two halves
constexpr int k_variables = 4;
constexpr int64_t k_records = 2;
constexpr const char* k_failures[] = {"nothing", "freeze", "tear", "kill", "io", "no space", "short", "read"};

int64_t value_of(int64_t variable, int64_t edition, int64_t place) {
  const int64_t base = variable * 1'000'000 + edition * 1000;
  if (edition % 3 != 0)
    return base;  // short when compressed
  return static_cast<int64_t>(static_cast<uint64_t>(base + place + 1) * 0x9e3779b97f4a7c15u >> 8);
}

std::string text_of(int edition) {
  return std::string(edition % 2 == 0 ? 9000 : 20, static_cast<char>('a' + edition % 26));
}

// A half of a chunk, a record or an attribute.
struct Thing {
  std::set<int> editions;  // those that may be there; empty: any, or none
  int latest = 0;
  bool undefined = false;
};

enum class Act {
  whole,
  part,
  append,
  text,
  define,
  sync
};
struct Step {
  Act act;
  int variable = 0;
};
constexpr Step k_steps[] = {{Act::whole, 0}, {Act::whole, 1}, {Act::whole, 0}, {Act::part, 2},  {Act::whole, 1},
                            {Act::append},   {Act::sync},     {Act::whole, 2}, {Act::text},     {Act::whole, 0},
                            {Act::whole, 3}, {Act::define},   {Act::whole, 1}, {Act::append},   {Act::part, 0},
                            {Act::whole, 2}, {Act::sync},     {Act::text},     {Act::define},   {Act::whole, 3},
                            {Act::part, 1},  {Act::whole, 1}, {Act::append},   {Act::whole, 0}, {Act::whole, 2}};

class OverwrittenChunks : public testing::Test {
 protected:
  OverwrittenChunks() {
    const std::string shared = outside_.file("frozen");
    if (rank_of() == 0)
      std::ofstream(shared, std::ios::binary).write("\0\0\0\0", 4);
    MPI_Barrier(MPI_COMM_WORLD);
    const int descriptor = ::open(shared.c_str(), O_RDWR);
    frozen_ = static_cast<int*>(::mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0));
    ::close(descriptor);
  }
  ~OverwrittenChunks() override { ::munmap(const_cast<int*>(frozen_), sizeof(int)); }

  void sweep(const KeyValues& options, bool in_one_session);
  void run(const KeyValues& options, bool in_one_session, failing_kind failure, int victim, long nth);
  windrow_file* make(const KeyValues& options);
  void step(windrow_file* file, const Step& step);
  void write(windrow_file* file, int variable, int halves);
  void append(windrow_file* file);
  void replace_texts(windrow_file* file);
  void define(windrow_file* file);
  void note_sync(int code);
  std::string faults(bool closed);

  std::string path() const { return folder_.file("work") + "/a.h5"; }
  // Collective.
  bool frozen() {
    MPI_Barrier(MPI_COMM_WORLD);
    const bool is = *frozen_ != 0;
    MPI_Barrier(MPI_COMM_WORLD);
    return is;
  }
  // A change to these begins, and ends.
  void begin(std::initializer_list<Thing*> things) {
    ++edition_;
    if (!frozen())
      for (Thing* thing : things)
        thing->undefined = true;
  }
  void end(std::initializer_list<Thing*> things, const std::vector<bool>& before, int code, bool overwritten) {
    if (frozen())
      return;
    size_t i = 0;
    for (Thing* thing : things) {
      // what an error has left undefined is so until it is written and published
      thing->undefined = before[i++] || (code != WINDROW_OK && overwritten);
      if (!thing->editions.empty() && (code == WINDROW_OK || !overwritten))
        thing->editions.insert(edition_);
      if (code == WINDROW_OK)
        thing->latest = edition_;
      else
        has_failed_ = true;
    }
  }
  bool fits(const std::vector<int64_t>& data, int64_t number, int edition) const {
    for (size_t i = 0; i < data.size(); ++i)
      if (data[i] != value_of(number, edition, static_cast<int64_t>(i)))
        return false;
    return true;
  }

  SharedFolder folder_, outside_;
  volatile int* frozen_ = nullptr;
  Thing halves_[k_variables][2], text_, long_text_;
  std::vector<Thing> records_;
  int edition_ = 0, defined_ = 0;
  bool has_failed_ = false;
  int64_t columns_ = 20;
  long calls_ = 0;
};

// All ranks have a part of the columns of each row.
struct Block {
  int64_t start[2], count[2];
  std::vector<int64_t> data;
  Block(int64_t first_row, int64_t rows, int64_t columns) {
    const int64_t first = columns * rank_of() / size_of(), end = columns * (rank_of() + 1) / size_of();
    start[0] = first_row, start[1] = first, count[0] = rows, count[1] = end - first;
    data.resize(static_cast<size_t>(rows * count[1]));
  }
  void fill(int64_t variable, int64_t edition) {
    for (size_t i = 0; i < data.size(); ++i)
      data[i] = value_of(variable, edition, static_cast<int64_t>(i) % (k_half * count[1]));
  }
};

void OverwrittenChunks::write(windrow_file* file, int variable, int halves) {
  Thing &first = halves_[variable][0], &second = halves_[variable][1];
  const std::vector<bool> before{first.undefined, second.undefined};
  int id = -1;
  EXPECT_WINDROW_OK(windrow_find_variable(file, fmt::format("z{}", variable).c_str(), &id));
  Block block(0, halves * k_half, columns_);
  if (halves == 2)
    begin({&first, &second});
  else
    begin({&first});
  block.fill(variable, edition_);
  const int code = windrow_write_block(file, id, block.start, block.count, block.data.data());
  if (halves == 2)
    end({&first, &second}, before, code, true);
  else
    end({&first}, before, code, true);
}

void OverwrittenChunks::append(windrow_file* file) {
  int id = -1;
  EXPECT_WINDROW_OK(windrow_find_variable(file, "g", &id));
  const int64_t shape[2] = {k_half, columns_};
  Block block(0, k_half, columns_);
  windrow_decomposition* all = nullptr;
  EXPECT_WINDROW_OK(windrow_block(MPI_COMM_WORLD, 2, shape, block.start, block.count, nullptr, nullptr, &all));
  records_.emplace_back();
  begin({&records_.back()});
  block.fill(100, edition_);
  int code = windrow_put_record(file, id, static_cast<int64_t>(records_.size()) - 1, all, block.data.data());
  code = std::max(code, windrow_flush(file));
  end({&records_.back()}, {false}, code, true);
  windrow_decomposition_free(all);
}

// Texts of variable length are in heaps, and long texts at the end of the file: their places are freed.
void OverwrittenChunks::replace_texts(windrow_file* file) {
  begin({});
  const std::string text = text_of(edition_);
  const char* const both[2] = {text.c_str(), "short"};
  const int64_t two = 2;
  int code = windrow_put_attribute(file, "/", "texts", WINDROW_TEXT, 1, &two, both);
  end({&text_}, {text_.undefined}, code, false);
  code = windrow_put_attribute_text(file, "z0", "long", text.c_str());
  end({&long_text_}, {long_text_.undefined}, code, false);
}

void OverwrittenChunks::define(windrow_file* file) {
  const int64_t shape[2] = {2 * k_half, columns_};
  int id = -1;
  if (windrow_define_variable(file, fmt::format("n{}", defined_++).c_str(), WINDROW_INT64, 2, shape, &id) != WINDROW_OK)
    return;
  Block block(0, 2 * k_half, columns_);
  block.fill(50, 0);
  has_failed_ |= windrow_write_block(file, id, block.start, block.count, block.data.data()) != WINDROW_OK;
}

// Without an error readers find the latest editions from now on.
void OverwrittenChunks::note_sync(int code) {
  if (frozen())
    return;
  has_failed_ |= code != WINDROW_OK;
  if (code != WINDROW_OK)
    return;
  const auto note = [](Thing& thing) {
    if (!thing.undefined)
      thing.editions = {thing.latest};
  };
  for (auto& each : halves_)
    note(each[0]), note(each[1]);
  for (Thing& each : records_)
    note(each);
  note(text_), note(long_text_);
}

windrow_file* OverwrittenChunks::make(const KeyValues& options) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_of() == 0) {
    std::filesystem::remove_all(folder_.file("work"));
    std::filesystem::create_directory(folder_.file("work"));
  }
  *frozen_ = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  edition_ = defined_ = 0;
  has_failed_ = false;
  for (auto& each : halves_)
    each[0] = each[1] = Thing();
  text_ = long_text_ = Thing();
  records_.clear();
  windrow_file* file = nullptr;
  EXPECT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), Options(options), &file));
  int id = -1;
  const int64_t shape[3] = {0, k_half, columns_}, whole[2] = {2 * k_half, columns_};
  for (int i = 0; i < k_variables; ++i)
    EXPECT_WINDROW_OK(windrow_define_variable_with(
        file, fmt::format("z{}", i).c_str(), WINDROW_INT64, 2, whole,
        Options({{"filters", "deflate:1"}, {"chunks", fmt::format("8x{}", columns_)}}), &id));
  EXPECT_WINDROW_OK(windrow_define_variable_with(
      file, "g", WINDROW_INT64, 3, shape,
      Options({{"filters", "deflate:1"}, {"chunks", fmt::format("3x4x{}", columns_)}, {"extendible", "true"}}), &id));
  for (int i = 0; i < k_variables; ++i)
    write(file, i, 2);
  for (int64_t i = 0; i < k_records; ++i)
    append(file);
  edition_ += 1 - edition_ % 2;
  replace_texts(file);
  return file;
}

void OverwrittenChunks::step(windrow_file* file, const Step& step) {
  switch (step.act) {
    case Act::whole:
      return write(file, step.variable, 2);
    case Act::part:
      return write(file, step.variable, 1);
    case Act::append:
      return append(file);
    case Act::text:
      return replace_texts(file);
    case Act::define:
      return define(file);
    case Act::sync:
      return note_sync(windrow_sync(file));
  }
}

// `closed`: the last close succeeded, so the latest editions are there.
std::string OverwrittenChunks::faults(bool closed) {
  windrow_file* file = nullptr;
  if (windrow_open(MPI_COMM_WORLD, path().c_str(), WINDROW_READ, nullptr, &file) != WINDROW_OK)
    return std::string("open: ") + windrow_error_message();
  std::string found;
  const auto look = [&](const std::string& name, const Thing& thing, int code, const auto& fits) {
    if (thing.undefined || thing.editions.empty())
      return;
    const std::set<int> wanted = closed ? std::set<int>{thing.latest} : thing.editions;
    if (code != WINDROW_OK)
      found += name + ": " + windrow_error_message() + "\n";
    else if (std::none_of(wanted.begin(), wanted.end(), fits))
      found += fmt::format("{} is none of editions {}\n", name, fmt::join(wanted, " "));
  };
  int id = -1;
  for (int i = 0; i < k_variables; ++i)
    for (int half = 0; half < 2; ++half) {
      Block block(half * k_half, k_half, columns_);
      int code = windrow_find_variable(file, fmt::format("z{}", i).c_str(), &id);
      if (code == WINDROW_OK)
        code = windrow_read_block(file, id, block.start, block.count, block.data.data());
      look(fmt::format("half {} of z{}", half, i), halves_[i][half], code,
           [&](int edition) { return fits(block.data, i, edition); });
    }
  const int64_t shape[2] = {k_half, columns_};
  Block block(0, k_half, columns_);
  windrow_decomposition* all = nullptr;
  EXPECT_WINDROW_OK(windrow_block(MPI_COMM_WORLD, 2, shape, block.start, block.count, nullptr, nullptr, &all));
  for (size_t i = 0; i < records_.size(); ++i) {
    int code = windrow_find_variable(file, "g", &id);
    if (code == WINDROW_OK)
      code = windrow_get_record(file, id, static_cast<int64_t>(i), all, block.data.data());
    code = std::max(code, windrow_flush(file));
    look(fmt::format("record {}", i), records_[i], code, [&](int edition) { return fits(block.data, 100, edition); });
  }
  windrow_decomposition_free(all);
  const char* texts[2] = {"", ""};
  int code = windrow_get_attribute(file, "/", "texts", WINDROW_TEXT, texts);
  look("texts", text_, code, [&](int edition) { return texts[0] == text_of(edition); });
  code = windrow_get_attribute(file, "z0", "long", WINDROW_TEXT, texts);
  look("long text", long_text_, code, [&](int edition) { return texts[0] == text_of(edition); });
  EXPECT_WINDROW_OK(windrow_close(file));
  return found;
}

void OverwrittenChunks::run(const KeyValues& options, bool in_one_session, failing_kind failure, int victim, long nth) {
  windrow_file* file = make(options);
  int code = in_one_session ? windrow_sync(file) : windrow_close(file);
  EXPECT_WINDROW_OK(code);
  note_sync(code);
  for (auto& each : halves_)
    each[0].editions = each[1].editions = {each[0].latest};
  if (!in_one_session) {
    EXPECT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path().c_str(), WINDROW_UPDATE, Options(options), &file));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  failing_start(folder_.file("work").c_str(), failure, victim == rank_of() ? nth : 0, frozen_);
  for (const Step& each : k_steps)
    step(file, each);
  code = windrow_close(file);
  note_sync(code);
  const bool closed = !frozen() && code == WINDROW_OK && !has_failed_;
  calls_ = failing_stop();
  MPI_Barrier(MPI_COMM_WORLD);
  *frozen_ = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(faults(closed), "") << k_failures[failure] << " at call " << nth << " of rank " << victim
                                << (in_one_session ? ", after a sync" : ", after an open")
                                << (options.empty() ? "" : ", " + options[0].second);
}

void OverwrittenChunks::sweep(const KeyValues& options, bool in_one_session) {
  if (windrow_has("hdf5") == 0)
    return;
  run(options, in_one_session, FAILING_IO, 0, 0);
  const long calls = calls_;
  int turn = 0;
  for (int victim = 0; victim < size_of(); ++victim) {
    long most = calls;
    MPI_Bcast(&most, 1, MPI_LONG, victim, MPI_COMM_WORLD);
    for (long nth = 1; nth <= most; ++nth)
      for (const failing_kind failure : {FAILING_FREEZE, FAILING_TEAR, FAILING_IO, FAILING_NO_SPACE, FAILING_SHORT}) {
        if (turn++ % stride() != 0)
          continue;
        run(options, in_one_session, failure, victim, nth);
        if (failed_anywhere())
          return;
      }
  }
  if (rank_of() == 0)
    std::printf("%d cases\n", turn);
}

TEST_F(OverwrittenChunks, OfAFileOpenedForUpdate) {
  sweep({{"files", "one"}}, false);
}
TEST_F(OverwrittenChunks, OfAFileAfterASync) {
  sweep({{"files", "one"}}, true);
}
TEST_F(OverwrittenChunks, OfASet) {
  sweep({{"files", "subfiles(2)"}}, false);
}
TEST_F(OverwrittenChunks, OfASetAfterASync) {
  sweep({{"files", "subfiles(2)"}}, true);
}
TEST_F(OverwrittenChunks, OnStableStorage) {
  sweep({{"files", "one"}, {"durable", "true"}}, false);
}
TEST_F(OverwrittenChunks, AtMultiplesOfAnAlignment) {
  columns_ = 2500;  // chunks that compression does not shrink have more than 64 KiB, and are aligned
  sweep({{"files", "one"}, {"alignment", "4096"}}, true);
}

}  // namespace
