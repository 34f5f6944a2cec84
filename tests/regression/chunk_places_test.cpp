// SPDX-License-Identifier: BSD-3-Clause
// Filtered chunks of a published HDF5 file get other sizes between flushes. Their work does not grow with the number of
// chunks, the places that the index in the file names stay as they are, and an error leaves the old chunk. Stored
// chunks are found with the work of these, not of all chunks.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <hdf5.h>

#include <algorithm>
#include <map>
#include <set>

#include "../temporary_folder.hpp"
#include "format/format.hpp"
#include "storage/store.hpp"

namespace {

// Calls of HDF5 by the library under test, and how many there are until one fails.
struct Calls {
  int64_t listed = 0, created = 0, inserted = 0, found = 0;
  int until_failure = -1;
} calls;

bool fails() {
  return calls.until_failure >= 0 && calls.until_failure-- == 0;
}

}  // namespace

// The library under test calls these in place of HDF5's own.
template <class Function>
Function own(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

extern "C" {
ssize_t H5Fget_free_sections(hid_t file, H5F_mem_t type, size_t count, H5F_sect_info_t* sections) {
  const ssize_t found = own<decltype(&H5Fget_free_sections)>("H5Fget_free_sections")(file, type, count, sections);
  calls.listed += std::max<ssize_t>(1, found);
  return found;
}

hid_t H5Dcreate_anon(hid_t file, hid_t type, hid_t space, hid_t creation, hid_t access) {
  ++calls.created;
  return fails() ? -1 : own<decltype(&H5Dcreate_anon)>("H5Dcreate_anon")(file, type, space, creation, access);
}

herr_t H5Dwrite_chunk(hid_t dataset, hid_t transfer, uint32_t filters, const hsize_t* first, size_t size,
                      const void* bytes) {
  ++calls.inserted;
  return fails() ? -1
                 : own<decltype(&H5Dwrite_chunk)>("H5Dwrite_chunk")(dataset, transfer, filters, first, size, bytes);
}

herr_t H5Dget_chunk_storage_size(hid_t dataset, const hsize_t* first, hsize_t* bytes) {
  ++calls.found;
  return own<decltype(&H5Dget_chunk_storage_size)>("H5Dget_chunk_storage_size")(dataset, first, bytes);
}
}

namespace windrow::test {
namespace {

constexpr int64_t k_elements = 200;  // of a chunk, 8 bytes each

// The chunks of a file, and where they are.
class Chunks {
 public:
  // `newest`: another program has made the file, with the newest version of each object and index.
  explicit Chunks(int64_t count, bool newest = false) : places_(static_cast<size_t>(count)) {
    if (newest)
      make_newest(count);
    auto format = open_format("hdf5", path_, newest ? FormatMode::update : FormatMode::create, {});
    EXPECT_TRUE(format.ok()) << format.status().message();
    format_ = std::move(format).value();
    store_ = open_store(path_, StoreMode::update, {}).value();
    const Chunking chunking{.shape = {k_elements}, .filters = parse_filters("deflate", 8, 8 * k_elements).value()};
    if (newest)
      return;
    EXPECT_TRUE(format_->define_variable({"/z", Type::float64, {k_elements * count}, false, chunking}).ok());
  }
  ~Chunks() { calls = Calls(); }

  Format& format() { return *format_; }
  const std::string& path() const { return path_; }
  Extent place(int64_t chunk) const { return places_[static_cast<size_t>(chunk)]; }

  // What a writer does. Nothing that readers of the file need may be overwritten, nor another chunk.
  Status write(int64_t chunk, int64_t bytes, bool in_part) {
    const int64_t first[] = {chunk * k_elements};
    const auto placed = format_->place_chunk("/z", first, bytes, in_part);
    if (!placed.ok())
      return placed.status();
    const Extent place{placed.value().offset, placed.value().offset + bytes};
    for (const auto* places : {&published_, &now_})
      if (const auto other = overlapped(*places, place); other && *other != chunk)
        return {Code::internal, "chunk " + std::to_string(chunk) + " over " + std::to_string(*other)};
    const Extent before = std::exchange(places_[static_cast<size_t>(chunk)], place);
    now_.erase(before.begin);
    now_[place.begin] = {place.end, chunk};
    const bool moves = in_part || before.size() != bytes;
    if (const auto other = overlapped(published_, place); other && moves)
      return {Code::internal, "chunk " + std::to_string(chunk) + " over its published place"};
    return fill(place, chunk);
  }
  Status flush() {
    Status status = format_->flush();
    published_ = now_;
    return status;
  }
  // Whether the chunk's place, according to the index, has what was written last.
  bool is_whole(int64_t chunk) {
    const int64_t first[] = {chunk * k_elements};
    const auto found = format_->find_chunk("/z", first);
    std::vector<std::byte> bytes(static_cast<size_t>(found.value().bytes));
    return found.value().bytes == place(chunk).size() && store_->read_at(found.value().offset, bytes).ok() &&
           bytes == content(chunk, found.value().bytes);
  }
  int64_t file_bytes() { return store_->size().value(); }

 private:
  using Places = std::map<int64_t, std::pair<int64_t, int64_t>>;  // begin: end and chunk

  void make_newest(int64_t count) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS), creation = H5Pcreate(H5P_DATASET_CREATE);
    const auto extent = static_cast<hsize_t>(k_elements * count), chunk = static_cast<hsize_t>(k_elements);
    const hid_t space = H5Screate_simple(1, &extent, nullptr);
    EXPECT_GE(H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST), 0);
    EXPECT_GE(H5Pset_chunk(creation, 1, &chunk) | H5Pset_deflate(creation, 1), 0);
    const hid_t file = H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
    EXPECT_GE(H5Dclose(H5Dcreate2(file, "z", H5T_IEEE_F64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT)), 0);
    EXPECT_GE(H5Fclose(file), 0);
    H5Sclose(space), H5Pclose(creation), H5Pclose(access);
  }
  static std::optional<int64_t> overlapped(const Places& places, Extent place) {
    auto after = places.lower_bound(place.end);
    if (after == places.begin() || std::prev(after)->second.first <= place.begin)
      return std::nullopt;
    return std::prev(after)->second.second;
  }
  static std::vector<std::byte> content(int64_t chunk, int64_t bytes) {
    return std::vector<std::byte>(static_cast<size_t>(bytes), static_cast<std::byte>(1 + chunk % 250));
  }
  Status fill(Extent place, int64_t chunk) { return store_->write_at(place.begin, content(chunk, place.size())); }

  TemporaryFolder folder_;
  std::string path_ = folder_.path("a.h5");
  std::unique_ptr<Format> format_;
  std::unique_ptr<Store> store_;
  std::vector<Extent> places_;
  Places now_, published_;
};

int64_t size_of_chunk(int64_t chunk, int round, int sizes) {
  return 600 + static_cast<int64_t>((static_cast<uint64_t>(chunk * 31 + round) * 0x9e3779b97f4a7c15u >> 40) %
                                    static_cast<uint64_t>(sizes));
}

struct Work {
  double listed, created, inserted;  // per chunk, at most in a round
};

// All chunks, several times.
Work work_of(int64_t count, int sizes, bool in_part, bool newest) {
  Chunks chunks(count, newest);
  Work most{};
  int64_t first_end = 0;
  for (int round = 0; round < 6; ++round) {
    const Calls before = calls;
    for (int64_t chunk = 0; chunk < count; ++chunk) {
      const Status status = chunks.write(chunk, size_of_chunk(chunk, round, sizes), in_part && round > 0);
      EXPECT_TRUE(status.ok()) << status.message() << " in round " << round;
      if (!status.ok())
        return most;
      chunks.format().forget_moved_chunks();
    }
    EXPECT_TRUE(chunks.flush().ok());
    const auto each = [&](int64_t Calls::*of) {
      return static_cast<double>(calls.*of - before.*of) / static_cast<double>(count);
    };
    most.listed = std::max(most.listed, each(&Calls::listed));
    most.created = std::max(most.created, each(&Calls::created));
    most.inserted = std::max(most.inserted, each(&Calls::inserted));
    if (round == 0)
      first_end = chunks.file_bytes();
    EXPECT_LT(chunks.file_bytes(), 4 * first_end) << "space is used again";
  }
  EXPECT_TRUE(chunks.format().close().ok());
  return most;
}

void expect_the_same_work(int sizes, bool in_part, bool newest) {
  for (const int64_t count : {250, 1000}) {
    const Work work = work_of(count, sizes, in_part, newest);
    std::printf("%d sizes%s%s, %d chunks: listed %.2f, created %.2f, inserted %.2f a chunk\n", sizes,
                in_part ? ", in part" : "", newest ? ", newest versions" : "", static_cast<int>(count), work.listed,
                work.created, work.inserted);
    EXPECT_LT(work.listed, 16);
    EXPECT_LT(work.inserted, 8);
    EXPECT_LT(work.created, in_part ? 2 : 0.05) << "datasets";
  }
}

TEST(ChunkPlaces, NeedTheSameWorkForAnyNumber) {
  for (const int sizes : {2, 5, 600})
    for (const bool in_part : {false, true})
      expect_the_same_work(sizes, in_part, false);
  expect_the_same_work(600, false, true);
}

// Few of very many chunks are stored, or most of some.
TEST(ChunkPlaces, AreListedWithTheWorkOfThoseThatAreStored) {
  for (const auto& [stored, distance] : {std::pair<int64_t, int64_t>{3000, 1000}, {3000, 1}, {40000, 1}}) {
    Chunks chunks(stored * distance);
    std::vector<int64_t> expected;
    for (int64_t chunk = 0; chunk < stored * distance; chunk += distance) {
      const int64_t first[] = {chunk * k_elements};
      ASSERT_TRUE(chunks.format().place_chunk("/z", first, 8, false).ok());
      expected.push_back(first[0]);
    }
    calls.found = 0;
    auto found = chunks.format().stored_chunks("/z");
    ASSERT_TRUE(found.ok()) << found.status().message();
    EXPECT_LE(calls.found, stored) << "of " << stored * distance;
    std::sort(found.value().begin(), found.value().end());
    EXPECT_EQ(found.value(), expected);
  }
}

// Each call of HDF5 in turn fails.
TEST(ChunkPlaces, KeepTheOldChunkAfterAnError) {
  constexpr int64_t k_count = 6;
  for (const int64_t bytes : {500, 700, 900})
    for (const bool in_part : {false, true})
      for (int nth = 0;; ++nth) {
        Chunks chunks(k_count);
        for (int64_t chunk = 0; chunk < k_count; ++chunk)
          ASSERT_TRUE(chunks.write(chunk, 700, false).ok());
        ASSERT_TRUE(chunks.flush().ok());
        ASSERT_TRUE(chunks.write(1, 690, false).ok());
        calls.until_failure = nth;
        const Status status = chunks.write(2, bytes, in_part);
        const bool has_failed = calls.until_failure < 0;
        calls.until_failure = -1;
        EXPECT_EQ(status.ok(), !has_failed) << nth;
        for (int64_t chunk = 0; chunk < k_count; ++chunk)
          EXPECT_TRUE(chunks.is_whole(chunk)) << chunk << ", failure " << nth << ", " << bytes;
        EXPECT_TRUE(chunks.write(3, 710, false).ok()) << "other chunks can be written";
        EXPECT_TRUE(chunks.flush().ok());
        EXPECT_TRUE(chunks.write(4, 710, false).ok());
        for (int64_t chunk = 0; chunk < k_count; ++chunk)
          EXPECT_TRUE(chunks.is_whole(chunk)) << chunk << ", failure " << nth << ", " << bytes << ", later";
        if (!has_failed)
          break;
      }
}

}  // namespace
}  // namespace windrow::test
