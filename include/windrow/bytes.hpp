// SPDX-License-Identifier: BSD-3-Clause
/**
 * @file bytes.hpp
 * Files of plain bytes in the C++ interface: include windrow.hpp.  Contracts are those of bytes.h.
 *
 *     const auto list = windrow::ByteList::pieces(file_offsets, lengths);    // local
 *     auto file = windrow::ByteFile::open(comm, "field.dat", windrow::Mode::update_or_create);
 *     file.write(list, values);                                              // collective
 *     file.close();                                                          // collective
 */
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <windrow/elements.hpp>

namespace windrow {
#if WINDROW_THROWS
inline namespace api {
#else
inline namespace status_api {
#endif

/** A piece that is repeated by nested loops, as windrow_byte_run: one entry a loop in each of the three lists. */
struct ByteRun {
  int64_t file_offset = 0;
  int64_t memory_offset = 0;
  int64_t length = 0;
  std::vector<int64_t> counts;
  std::vector<int64_t> file_strides;
  std::vector<int64_t> memory_strides;
};

/** Which bytes of a file this rank moves, and where they are in its memory; all is in bytes.  Local. */
class ByteList {
 public:
  ByteList() noexcept = default;  ///< no bytes: for a rank that moves nothing
  /** Pieces of the file.  Without `memory_offsets` they are in memory one after another. */
  static ByteList pieces(std::span<const int64_t> file_offsets, std::span<const int64_t> lengths,
                         std::span<const int64_t> memory_offsets = {}) {
    ByteList list;
    if (lengths.size() != file_offsets.size() || (!memory_offsets.empty() && memory_offsets.size() != lengths.size())) {
      list.refuse("a list of " + std::to_string(file_offsets.size()) + " file offsets, " +
                  std::to_string(lengths.size()) + " lengths and " + std::to_string(memory_offsets.size()) +
                  " memory offsets");
      return list;
    }
    check(windrow_byte_list_pieces(static_cast<int64_t>(lengths.size()), file_offsets.data(),
                                   memory_offsets.empty() ? nullptr : memory_offsets.data(), lengths.data(),
                                   &list.raw_));
    return list;
  }
  /** Nested regular runs, such as a block of an array. */
  static ByteList runs(std::span<const ByteRun> runs) {
    ByteList list;
    std::vector<windrow_byte_run> plain;
    for (const ByteRun& run : runs) {
      if (run.file_strides.size() != run.counts.size() || run.memory_strides.size() != run.counts.size()) {
        list.refuse("run " + std::to_string(plain.size()) + " of a list has " + std::to_string(run.counts.size()) +
                    " counts, " + std::to_string(run.file_strides.size()) + " file strides and " +
                    std::to_string(run.memory_strides.size()) + " memory strides");
        return list;
      }
      plain.push_back({run.file_offset, run.memory_offset, run.length, static_cast<int>(run.counts.size()),
                       run.counts.data(), run.file_strides.data(), run.memory_strides.data()});
    }
    check(windrow_byte_list_runs(static_cast<int64_t>(plain.size()), plain.data(), &list.raw_));
    return list;
  }
  /** `count` elements of an MPI datatype in memory, which are the bytes of the file from byte `offset` on. */
  static ByteList types(MPI_Datatype datatype, int64_t count, int64_t offset = 0) {
    ByteList list;
    check(windrow_byte_list_types(nullptr, offset, count, datatype, &list.raw_));
    return list;
  }
  /** The same through a view of the file, from etype `offset` of it on. */
  static ByteList types(MPI_Datatype datatype, int64_t count, const windrow_byte_view& view, int64_t offset = 0) {
    ByteList list;
    check(windrow_byte_list_types(&view, offset, count, datatype, &list.raw_));
    return list;
  }

  ByteList(ByteList&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
  ByteList& operator=(ByteList&& other) noexcept { return std::swap(raw_, other.raw_), *this; }
  ~ByteList() { windrow_byte_list_free(raw_); }

  struct Memory {
    int64_t begin = 0;
    int64_t end = 0;
  };
  /** All bytes of the list are in [begin, end) of the data that a call passes. */
  Memory memory() const {
    Memory range;
    check(windrow_byte_list_memory(raw_, &range.begin, &range.end));
    return range;
  }
  const windrow_byte_list* get() const noexcept { return raw_; }

 private:
  // Without exceptions, the other ranks may be in a call with their lists: they must get an error too.
  void refuse(const std::string& problem) {
    (void)windrow_byte_list_pieces(-1, nullptr, nullptr, nullptr, &raw_);
    fail(WINDROW_BAD_ARGUMENT, -1, problem);
  }

  windrow_byte_list* raw_ = nullptr;
};

/** Contiguous elements whose bytes can be moved. */
template <class Range>
concept Bytes = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
    std::is_trivially_copyable_v<std::ranges::range_value_t<Range>>;

/** An open file of plain bytes, which must be closed: see windrow.hpp.  All calls but report() are collective.
 *
 * The data of a call are contiguous elements, such as a vector or a span.  A list with bytes outside of them is
 * WINDROW_BAD_ARGUMENT on every rank.  With a pointer nothing is checked; nullptr: the memory offsets of the list are
 * addresses, as with MPI_BOTTOM. */
class ByteFile {
 public:
  /** Collective over `comm`. */
  static ByteFile open(MPI_Comm comm, const std::string& path, Mode mode = Mode::read, const Options& options = {}) {
    ByteFile file;
    check(windrow_bytes_open(comm, path.c_str(), static_cast<int>(mode), options.get(), &file.raw_));
    return file;
  }

  ByteFile(ByteFile&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)), exceptions_(other.exceptions_) {}
  ByteFile& operator=(ByteFile&& other) noexcept { return std::swap(raw_, other.raw_), *this; }
  ~ByteFile() { assert((raw_ == nullptr || std::uncaught_exceptions() > exceptions_) && "close() the file"); }

  /** The handle is freed even on error. */
  void close() { check(windrow_bytes_close(std::exchange(raw_, nullptr))); }
  /** Replaces up to 64 numbers by their sums over all ranks. */
  void sum(std::span<int64_t> numbers) {
    check(windrow_bytes_sum(raw_, static_cast<int64_t>(numbers.size()), numbers.data()));
  }
  void sync() { check(windrow_bytes_sync(raw_)); }
  bool is_open() const noexcept { return raw_ != nullptr; }
  windrow_bytes* get() const noexcept { return raw_; }

  template <Bytes Range>
  void write(const ByteList& list, Range&& data) {
    const auto bytes = std::as_bytes(std::span(std::ranges::data(data), std::ranges::size(data)));
    const windrow_byte_list* fitting = checked("write", list, bytes.size());
    check(windrow_bytes_write(raw_, fitting, bytes.data()));
  }
  void write(const ByteList& list, const void* memory) { check(windrow_bytes_write(raw_, list.get(), memory)); }
  /** Write nothing on this rank. */
  void write() { check(windrow_bytes_write(raw_, nullptr, nullptr)); }

  /** @return bytes of this rank's list before the end of the file. */
  template <Bytes Range>
  requires(!std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<Range>>>) int64_t
      read(const ByteList& list, Range&& data) {
    const auto bytes = std::as_writable_bytes(std::span(std::ranges::data(data), std::ranges::size(data)));
    const windrow_byte_list* fitting = checked("read", list, bytes.size());
    return read_raw(fitting, bytes.data());
  }
  int64_t read(const ByteList& list, void* memory) { return read_raw(list.get(), memory); }
  /** Read nothing on this rank. */
  void read() { (void)read_raw(nullptr, nullptr); }

  /** The plan of a write() of these lists, as "text" or "json". */
  std::string explain_write(const ByteList& list, const std::string& format = "text") const {
    return explain(1, list, format);
  }
  /** The plan of a read() of these lists. */
  std::string explain_read(const ByteList& list, const std::string& format = "text") const {
    return explain(0, list, format);
  }
  /** What the last write() or read() did, as "text" or "json".  Local. */
  std::string report(const std::string& format = "text") const {
    const char* text = "";
    check(windrow_bytes_report(raw_, format.c_str(), &text));
    return text;
  }

 private:
  ByteFile() = default;
  int64_t read_raw(const windrow_byte_list* list, void* memory) {
    int64_t bytes = 0;
    check(windrow_bytes_read(raw_, list, memory, &bytes));
    return bytes;
  }
  std::string explain(int writes, const ByteList& list, const std::string& format) const {
    const char* text = "";
    check(windrow_bytes_explain(raw_, writes, list.get(), format.c_str(), &text));
    return text;
  }
  // The list if its bytes are in the data.  Otherwise nothing, and the next call fails on every rank.
  const windrow_byte_list* checked(const char* call, const ByteList& list, size_t size) const {
    int64_t begin = 0, end = 0;
    (void)windrow_byte_list_memory(list.get(), &begin, &end);
    if (begin >= 0 && std::cmp_less_equal(end, size))
      return list.get();
    const std::string problem = std::string(call) + ": the data has " + std::to_string(size) +
                                (size == 1 ? " byte" : " bytes") + ", and the list has bytes from " +
                                std::to_string(begin) + " to " + std::to_string(end);
    (void)windrow_bytes_refuse(raw_, problem.c_str());
    return nullptr;
  }

  windrow_bytes* raw_ = nullptr;
  int exceptions_ = std::uncaught_exceptions();
};

}  // namespace api or status_api
}  // namespace windrow
