// SPDX-License-Identifier: BSD-3-Clause
// Texts of variable length, fill values and mappings of virtual datasets whose places in the file, or the heaps that
// they are in, are damaged: named, and never followed by HDF5, which would write past its memory or not end.
#include <hdf5.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

#include <cstring>
#include <map>
#include <span>

#include "../capi/checked.hpp"
#include "format/hdf5/superblock.hpp"

namespace {

using namespace windrow_test;

// Little-endian numbers in a file's bytes.
void put(std::string& bytes, size_t at, uint64_t number, size_t size) {
  for (size_t i = 0; i < size; ++i)
    bytes[at + i] = static_cast<char>(number >> (8 * i));
}

std::vector<size_t> all_of(const std::string& bytes, const std::string& what) {
  std::vector<size_t> found;
  for (size_t at = bytes.find(what); at != std::string::npos; at = bytes.find(what, at + 1))
    found.push_back(at);
  return found;
}

constexpr size_t k_superblock = 96, k_checksum = 4;

// The offset of the checksum of each object header, by the begin of the header.
std::map<size_t, size_t> headers_of(const std::string& bytes) {
  const auto has_checksum = [&](size_t begin, size_t end) {
    std::string checksum(k_checksum, '\0');
    put(checksum, 0, windrow::checksum_of_metadata(std::as_bytes(std::span(bytes).subspan(begin, end - begin))),
        k_checksum);
    return bytes.compare(end, k_checksum, checksum) == 0;
  };
  std::map<size_t, size_t> headers;
  for (const char* signature : {"OHDR", "OCHK"})
    for (const size_t begin : all_of(bytes, signature)) {
      size_t end = begin + std::strlen(signature);
      while (end + k_checksum < bytes.size() && !has_checksum(begin, end))
        ++end;
      headers[begin] = end;
    }
  return headers;
}

class HeapPlaces : public testing::Test {
 protected:
  void SetUp() override {
    const int64_t five = 5;
    const char* const texts[5] = {"one", "another", "", "and a third one", "x"};
    windrow_file* file = nullptr;
    int variable = -1;
    ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path_.c_str(), nullptr, &file));
    ASSERT_WINDROW_OK(windrow_put_attribute(file, "/", "texts", WINDROW_TEXT, 1, &five, texts));
    ASSERT_WINDROW_OK(windrow_define_variable(file, "names", WINDROW_TEXT, 1, &five, &variable));
    ASSERT_WINDROW_OK(windrow_put_texts(file, variable, texts));
    ASSERT_WINDROW_OK(windrow_close(file));
    bytes_ = bytes_of_file(path_);
    for (const size_t heap : all_of(bytes_, "GCOL")) {
      heaps_.push_back(heap);
      std::string address(8, '\0');
      put(address, 0, heap, 8);
      for (const size_t place : all_of(bytes_, address))
        if (place > k_superblock)
          places_.push_back(place - 4);
    }
    ASSERT_GE(places_.size(), 8U);
    headers_ = headers_of(bytes_);
    for (const auto& [begin, end] : headers_)
      ASSERT_LT(end + k_checksum, bytes_.size()) << "header at " << begin;
  }

  // Opens the file with these bytes and reads all of it: either everything, or an error that names the texts. The
  // checksums fit the bytes: HDF5 1.10 never frees a header with a wrong one, and says so when the program ends.
  int read(std::string bytes, int mode) {
    for (const auto& [begin, end] : headers_) {
      const auto header = std::as_bytes(std::span(bytes).subspan(begin, end - begin));
      put(bytes, end, windrow::checksum_of_metadata(header), k_checksum);
    }
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
    windrow_file* file = nullptr;
    int code = windrow_open(MPI_COMM_WORLD, path_.c_str(), mode, nullptr, &file);
    if (code != WINDROW_OK) {
      EXPECT_EQ(code, WINDROW_BAD_FILE) << windrow_error_message();
      count_named();
      return code;
    }
    const char* texts[5] = {};
    int variable = -1;
    EXPECT_WINDROW_OK(windrow_get_attribute(file, "/", "texts", WINDROW_TEXT, texts));
    EXPECT_WINDROW_OK(windrow_find_variable(file, "names", &variable));
    code = windrow_get_texts(file, variable, texts);
    EXPECT_TRUE(code == WINDROW_OK || code == WINDROW_BAD_FILE) << windrow_error_message();
    if (code != WINDROW_OK)
      count_named();
    if (mode == WINDROW_UPDATE) {
      const char* const fresh[5] = {"1", "2", "3", "4", "5"};
      EXPECT_EQ(windrow_put_texts(file, variable, fresh), code) << windrow_error_message();
    }
    EXPECT_WINDROW_OK(windrow_discard(file));
    return code;
  }

  // By us.
  void count_named() { named_ += std::string(windrow_error_message()).find(": damaged") != std::string::npos ? 1 : 0; }

  SharedFolder folder_;
  int named_ = 0;
  const std::string path_ = folder_.file("a.h5");
  std::string bytes_;
  std::vector<size_t> heaps_, places_;
  std::map<size_t, size_t> headers_;
};

TEST_F(HeapPlaces, that_are_whole_are_read) {
  for (const int mode : {WINDROW_READ, WINDROW_UPDATE})
    EXPECT_EQ(read(bytes_, mode), WINDROW_OK) << windrow_error_message();
}

TEST_F(HeapPlaces, that_are_damaged_are_named) {
  const std::vector<uint64_t> odd{0,           1, 2, 7, 64, 255, 4096, 65535, 0x7fffffff, 0xffffffff, uint64_t{1} << 40,
                                  ~uint64_t{0}};
  int refused = 0;
  for (const size_t place : places_)
    for (const auto& [offset, size] : {std::pair<size_t, size_t>{0, 4}, {4, 8}, {12, 4}})
      for (const uint64_t number : odd) {
        SCOPED_TRACE("the place at " + std::to_string(place) + ", byte " + std::to_string(offset) + " is " +
                     std::to_string(number));
        std::string bytes = bytes_;
        put(bytes, place + offset, number, size);
        for (const int mode : {WINDROW_READ, WINDROW_UPDATE})
          refused += read(bytes, mode) != WINDROW_OK ? 1 : 0;
      }
  EXPECT_GT(refused, 400);
  EXPECT_EQ(named_, refused);
}

TEST_F(HeapPlaces, in_damaged_heaps_are_named) {
  int refused = 0;
  for (const size_t heap : heaps_)
    for (size_t at = 0; at < 120; at += 2)
      for (const uint64_t number : {0ULL, 1ULL, 0xffULL, 0x8000ULL, 0xffffULL}) {
        SCOPED_TRACE("byte " + std::to_string(at) + " of the heap at " + std::to_string(heap) + " is " +
                     std::to_string(number));
        std::string bytes = bytes_;
        put(bytes, heap + at, number, 2);
        refused += read(bytes, at % 4 == 0 ? WINDROW_READ : WINDROW_UPDATE) != WINDROW_OK ? 1 : 0;
      }
  EXPECT_GT(refused, 50);
  EXPECT_GT(named_, 50);
}

// Changes of a session are in HDF5's memory at first.
TEST_F(HeapPlaces, of_texts_that_were_just_put_are_no_error) {
  windrow_file* file = nullptr;
  const char* const fresh[5] = {"a", "b", "c", "d", "a much longer one than all before"};
  const char* texts[5] = {};
  int variable = -1;
  ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path_.c_str(), WINDROW_UPDATE, nullptr, &file));
  ASSERT_WINDROW_OK(windrow_find_variable(file, "names", &variable));
  ASSERT_WINDROW_OK(windrow_put_texts(file, variable, fresh));
  ASSERT_WINDROW_OK(windrow_get_texts(file, variable, texts));
  for (int i = 0; i < 5; ++i)
    EXPECT_STREQ(texts[i], fresh[i]);
  EXPECT_WINDROW_OK(windrow_close(file));
}

// Datasets of others with fill values, which HDF5 converts before anything is read. The parameter: with the headers of
// HDF5 1.8, which have checksums.
class FillValues : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_ADDRESS__
    const __lsan::ScopedDisabler others;  // HDF5 never frees the lists in fill values of new datasets
#endif
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(access, GetParam() ? H5F_LIBVER_LATEST : H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST);
    file_ = H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
    ASSERT_GE(file_, 0);
    const hid_t text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, H5T_VARIABLE);
    const hid_t list = H5Tvlen_create(H5T_STD_I32LE), lists = H5Tvlen_create(list);
    const hid_t compound = H5Tcreate(H5T_COMPOUND, sizeof(const char*) + sizeof(hvl_t));
    H5Tinsert(compound, "text", 0, text);
    H5Tinsert(compound, "list", sizeof(const char*), list);
    const char* missing = "missing";
    std::array<int32_t, 2> numbers{1, 2};
    hvl_t one{numbers.size(), numbers.data()}, two{1, &one};
    const struct {
      const char* text;
      hvl_t list;
    } both{missing, one};
    make("texts", text, &missing, false);
    make("chunked", text, &missing, true);
    make("number", H5T_IEEE_F64LE, &k_number, false);
    make("list", list, &one, false);
    make("lists", lists, &two, false);
    make("compound", compound, &both, false);
    for (const hid_t type : {text, list, lists, compound})
      H5Tclose(type);
    H5Pclose(access);
    H5Fclose(file_);
    bytes_ = bytes_of_file(path_);
    heaps_ = all_of(bytes_, "GCOL");
    ASSERT_EQ(heaps_.size(), 1U);
    std::string address(8, '\0');
    put(address, 0, heaps_.front(), 8);
    for (const size_t place : all_of(bytes_, address))
      if (place > k_superblock && place < heaps_.front())
        places_.push_back(place - 4);
    ASSERT_GE(places_.size(), 6U);
    headers_ = headers_of(bytes_);
  }
  void make(const char* name, hid_t type, const void* fill, bool chunks) const {
    const hsize_t five = 5, chunk = 2, start = 0, one = 1;
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(1, &five, nullptr);
    H5Pset_fill_value(creation, type, fill);
    if (chunks)
      H5Pset_chunk(creation, 1, &chunk);
    const hid_t dataset = H5Dcreate2(file_, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    EXPECT_GE(dataset, 0);
    if (chunks) {  // one of three
      H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, nullptr, &one, nullptr);
      const hid_t memory = H5Screate_simple(1, &one, nullptr);
      H5Dwrite(dataset, type, memory, space, H5P_DEFAULT, fill);
      H5Sclose(memory);
    }
    H5Dclose(dataset), H5Sclose(space), H5Pclose(creation);
  }
  // Opens the file with these bytes and uses all of it. The number of variables.
  int use(std::string bytes, int mode) {
    for (const auto& [begin, end] : headers_) {
      const auto header = std::as_bytes(std::span(bytes).subspan(begin, end - begin));
      put(bytes, end, windrow::checksum_of_metadata(header), k_checksum);
    }
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
    windrow_file* file = nullptr;
    const int code = windrow_open(MPI_COMM_WORLD, path_.c_str(), mode, nullptr, &file);
    if (code != WINDROW_OK) {
      EXPECT_EQ(code, WINDROW_BAD_FILE) << windrow_error_message();
      return 0;
    }
    const std::string unsupported = windrow_unsupported_objects(file);
    for (size_t at = 0; (at = unsupported.find("its fill value: ", at)) != std::string::npos; ++at)
      ++named_;
    const char *texts[5] = {}, *const fresh[5] = {"1", "2", "3", "4", "5"};
    for (const char* name : {"texts", "chunked"}) {
      int variable = -1;
      if (windrow_find_variable(file, name, &variable) != WINDROW_OK)
        continue;
      (void)windrow_get_texts(file, variable, texts);  // HDF5 refuses chunks that are not there if it cannot write
      if (mode == WINDROW_UPDATE) {
        EXPECT_WINDROW_OK(windrow_put_texts(file, variable, fresh));
      }
    }
    const int variables = windrow_variable_count(file);
    EXPECT_WINDROW_OK(windrow_discard(file));
    return variables;
  }

  static constexpr double k_number = 7.25;
  static constexpr int k_variables = 6;
  SharedFolder folder_;
  int named_ = 0;
  hid_t file_ = H5I_INVALID_HID;
  const std::string path_ = folder_.file("a.h5");
  std::string bytes_;
  std::vector<size_t> heaps_, places_;
  std::map<size_t, size_t> headers_;
};

INSTANTIATE_TEST_SUITE_P(Headers, FillValues, testing::Bool());

TEST_P(FillValues, that_are_whole_are_read) {
  for (const int mode : {WINDROW_READ, WINDROW_UPDATE})
    EXPECT_EQ(use(bytes_, mode), k_variables);
  EXPECT_EQ(named_, 0);
  windrow_file* file = nullptr;
  int variable = -1;
  std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes_;
  ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path_.c_str(), WINDROW_UPDATE, nullptr, &file));
  for (const char* name : {"texts", "chunked"}) {
    const char* texts[5] = {};
    EXPECT_WINDROW_OK(windrow_find_variable(file, name, &variable));
    EXPECT_WINDROW_OK(windrow_get_texts(file, variable, texts));
    EXPECT_STREQ(texts[4], "missing") << name;
  }
  EXPECT_WINDROW_OK(windrow_discard(file));
}

TEST_P(FillValues, whose_places_are_damaged_are_named) {
  for (const size_t place : places_)
    for (const auto& [offset, size] : {std::pair<size_t, size_t>{0, 4}, {4, 8}, {12, 4}})
      for (const uint64_t number : {1ULL, 7ULL, 255ULL, 4096ULL, 0xffffULL, 0x7fffffffULL, 1ULL << 40, ~0ULL}) {
        SCOPED_TRACE("the place at " + std::to_string(place) + ", byte " + std::to_string(offset) + " is " +
                     std::to_string(number));
        std::string bytes = bytes_;
        put(bytes, place + offset, number, size);
        use(bytes, number % 2 == 0 ? WINDROW_READ : WINDROW_UPDATE);
      }
  EXPECT_GT(named_, 20);
}

TEST_P(FillValues, in_damaged_heaps_are_named) {
  for (size_t at = 0; at < 120; at += 2)
    for (const uint64_t number : {0ULL, 1ULL, 0x8000ULL, 0xffffULL}) {
      SCOPED_TRACE("byte " + std::to_string(at) + " of the heap is " + std::to_string(number));
      std::string bytes = bytes_;
      put(bytes, heaps_.front() + at, number, 2);
      use(bytes, at % 4 == 0 ? WINDROW_READ : WINDROW_UPDATE);
    }
  EXPECT_GT(named_, 50);
}

TEST_P(FillValues, of_another_size_are_named) {
  std::string value(sizeof k_number, '\0');
  std::memcpy(value.data(), &k_number, sizeof k_number);
  for (const size_t number : {size_t{1}, size_t{4}, size_t{7}}) {
    std::string bytes = bytes_;
    for (const size_t at : all_of(bytes_, value))
      put(bytes, at - 4, number, 4);
    EXPECT_EQ(use(bytes, WINDROW_READ), k_variables - 1);
    bytes = bytes_;
    for (const size_t place : places_)
      if (bytes.compare(place - 4, 4, std::string("\x10\0\0\0", 4)) == 0)
        put(bytes, place - 4, number, 4);
    EXPECT_EQ(use(bytes, WINDROW_READ), k_variables - 2);
  }
  EXPECT_EQ(named_, 3 * (1 + 2));
}

// HDF5 would convert the characters of texts by these bits.
TEST_P(FillValues, of_texts_whose_characters_have_other_bits_are_named) {
  const std::string plain("\0\0\0\1\0\0\0\0\0\10\0", 11);  // size 1, the first bit is 0, 8 bits
  const auto found = all_of(bytes_, plain);
  ASSERT_GE(found.size(), 2U);
  for (const size_t at : found) {
    std::string bytes = bytes_;
    bytes[at + plain.size() - 4] = 113;
    use(bytes, WINDROW_UPDATE);
  }
  EXPECT_EQ(named_, 2);
}

// Lengths of chunks, by which HDF5 1.10 divides. The parameter: a layout of version 4, in a header with a checksum.
class ChunkLengths : public testing::TestWithParam<bool> {};

INSTANTIATE_TEST_SUITE_P(Headers, ChunkLengths, testing::Bool());

TEST_P(ChunkLengths, that_are_zero_are_named) {
  const SharedFolder folder;
  const std::string path = folder.file("a.h5");
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS), creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_libver_bounds(access, GetParam() ? H5F_LIBVER_LATEST : H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  const std::array<hsize_t, 2> shape{211, 241}, chunk{199, 97};
  const hid_t space = H5Screate_simple(2, shape.data(), nullptr);
  H5Pset_chunk(creation, 2, chunk.data());
  H5Dclose(H5Dcreate2(file, "chunked", H5T_IEEE_F64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT));
  H5Dclose(H5Dcreate2(file, "whole", H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5Sclose(space), H5Pclose(creation), H5Pclose(access), H5Fclose(file);
  const std::string bytes = bytes_of_file(path);
  const size_t size = GetParam() ? 1 : 4;
  std::string lengths(3 * size, '\0');
  for (size_t i = 0; i < 3; ++i)
    put(lengths, i * size, i < 2 ? chunk[i] : sizeof(double), size);
  const auto places = all_of(bytes, lengths);
  ASSERT_EQ(places.size(), 1U);
  for (size_t i = 0; i < 3; ++i) {
    std::string damaged = bytes;
    put(damaged, places.front() + i * size, 0, size);
    for (const auto& [begin, end] : headers_of(bytes)) {
      const auto header = std::as_bytes(std::span(damaged).subspan(begin, end - begin));
      put(damaged, end, windrow::checksum_of_metadata(header), k_checksum);
    }
    std::ofstream(path, std::ios::binary | std::ios::trunc) << damaged;
    for (const int mode : {WINDROW_READ, WINDROW_UPDATE}) {
      windrow_file* opened = nullptr;
      const int code = windrow_open(MPI_COMM_WORLD, path.c_str(), mode, nullptr, &opened);
      const std::string named = code == WINDROW_OK ? windrow_unsupported_objects(opened) : windrow_error_message();
      EXPECT_NE(named.find("/chunked"), std::string::npos) << named;
      EXPECT_NE(named.find("a length of its chunks is 0: damaged"), std::string::npos) << named;
      if (code != WINDROW_OK) {
        EXPECT_EQ(code, WINDROW_BAD_FILE);
        continue;
      }
      int variable = -1;
      EXPECT_WINDROW_OK(windrow_find_variable(opened, "whole", &variable));
      EXPECT_WINDROW_OK(windrow_discard(opened));
    }
  }
}

// The references from a set to its subfiles are in a heap too.
class Mappings : public testing::Test {
 protected:
  void SetUp() override {
    const int64_t shape[2] = {4, 50}, start[2] = {0, 0};
    const std::vector<double> data(200, 1.5);
    windrow_file* file = nullptr;
    int variable = -1;
    const Options options{{"files", "subfiles(3)"}};
    ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path_.c_str(), options, &file));
    for (const char* name : {"one", "two"}) {
      ASSERT_WINDROW_OK(windrow_define_variable(file, name, WINDROW_FLOAT64, 2, shape, &variable));
      ASSERT_WINDROW_OK(windrow_write_block(file, variable, start, shape, data.data()));
    }
    ASSERT_WINDROW_OK(windrow_close(file));
    bytes_ = bytes_of_file(path_);
    heaps_ = all_of(bytes_, "GCOL");
    ASSERT_FALSE(heaps_.empty());
  }
  // Whether the file with these bytes is as it was.
  bool is_whole(const std::string& bytes, int mode) {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
    windrow_file* file = nullptr;
    const int code = windrow_open(MPI_COMM_WORLD, path_.c_str(), mode, nullptr, &file);
    if (code != WINDROW_OK) {
      EXPECT_EQ(code, WINDROW_BAD_FILE) << windrow_error_message();
      count_named(windrow_error_message());
      return false;
    }
    int first = -1, second = -1;
    const bool found = windrow_find_variable(file, "one", &first) == WINDROW_OK &&
                       windrow_find_variable(file, "two", &second) == WINDROW_OK;
    count_named(windrow_unsupported_objects(file));
    EXPECT_WINDROW_OK(windrow_discard(file));
    return found;
  }
  void count_named(const std::string& message) {
    named_ += message.find("its mappings to other files are damaged: ") != std::string::npos ? 1 : 0;
  }

  SharedFolder folder_;
  const std::string path_ = folder_.file("a.h5");
  std::string bytes_;
  std::vector<size_t> heaps_;
  int named_ = 0;
};

TEST_F(Mappings, that_are_whole_are_followed) {
  for (const int mode : {WINDROW_READ, WINDROW_UPDATE})
    EXPECT_TRUE(is_whole(bytes_, mode));
  EXPECT_EQ(named_, 0);
}

TEST_F(Mappings, that_are_damaged_are_named) {
  int damaged = 0;
  for (const size_t heap : heaps_)
    for (size_t at = 0; at < 800 && heap + at < bytes_.size(); at += 5)
      for (const char odd : {'\0', '\1', '\xff'}) {
        SCOPED_TRACE("byte " + std::to_string(at) + " of the heap at " + std::to_string(heap));
        std::string bytes = bytes_;
        bytes[heap + at] = odd;
        damaged += is_whole(bytes, at % 2 == 0 ? WINDROW_READ : WINDROW_UPDATE) ? 0 : 1;
      }
  EXPECT_GT(damaged, 100);
  EXPECT_GT(named_, 50);
}

TEST_F(Mappings, that_are_not_where_the_dataset_says_are_named) {
  std::string address(8, '\0');
  put(address, 0, heaps_.front(), 8);
  int damaged = 0;
  for (const auto& [begin, end] : headers_of(bytes_)) {
    const size_t place = bytes_.find("\4\3" + address, begin);
    if (place >= end)
      continue;
    for (const auto& [offset, size] : {std::pair<size_t, size_t>{2, 8}, {10, 4}})
      for (const uint64_t number : {0ULL, 1ULL, 7ULL, 4096ULL, 0xffffULL, 1ULL << 40}) {
        std::string bytes = bytes_;
        put(bytes, place + offset, number, size);
        if (bytes == bytes_)
          continue;
        const auto header = std::as_bytes(std::span(bytes).subspan(begin, end - begin));
        put(bytes, end, windrow::checksum_of_metadata(header), k_checksum);
        damaged += is_whole(bytes, WINDROW_READ) ? 0 : 1;
      }
  }
  EXPECT_GT(damaged, 10);
  EXPECT_GT(named_, 10);
}

}  // namespace
