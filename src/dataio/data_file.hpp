// SPDX-License-Identifier: BSD-3-Clause
// DataFile: the store through which this rank moves data of variables, or the stores of a set of files (file_line.hpp).
// Each store is opened at its first request, so ranks without data never open the file. Used by one thread at a time.
// Keeps the first failure and ignores further requests until it is reported.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>

#include "dataio/file_line.hpp"
#include "exchange/role.hpp"
#include "layout/layout.hpp"
#include "layout/tally.hpp"
#include "plan/access.hpp"
#include "storage/store.hpp"
#include "trace/recording.hpp"

namespace windrow {

class DataFile {
 public:
  DataFile(std::string path, bool writable, StoreOptions options)
      : path_(std::move(path)), writable_(writable), options_(std::move(options)) {}

  // Announces that all of these bytes will be written: opens the file and lets the store allocate blocks. An empty
  // range ends the announcement.
  void expect(Extent range);
  void write(int64_t offset, std::span<const std::byte> bytes);
  void write(int64_t offset, std::span<const ConstSlice> slices);
  void read(int64_t offset, std::span<std::byte> bytes);
  void read(int64_t offset, std::span<const Slice> slices);
  // Some of them concurrently, if they are in one file. `idle` may call read_ahead() for the next call.
  void read(std::span<const ReadRequest> requests, const IdleCallback& idle);
  void read_ahead(std::span<const ReadRequest> requests);
  // Maps `range` in the page cache until unmap(). Returns nullptr if it must be read by requests, or after an error.
  const std::byte* map(Extent range);
  void unmap();
  bool in_memory(Extent range);
  // Under a lock: if other ranks write back what they have read (write_over_holes), unlocked writes could be undone.
  void write_locked(int64_t offset, std::span<const std::byte> bytes);
  // Calls `write`, which writes some of these bytes, while others who read bytes and write them back
  // (write_over_holes) are kept out of the range. Without locks nobody can do that, so the file system needs none.
  template <class Write>
  void write_while_shared(Extent range, Write&& write) {
    const bool shared = share(range);
    write();
    if (shared)
      end_share(range);
  }
  // Writes the covered bytes of `hull`: reads the bytes between them and writes everything. `bytes` has room for the
  // hull and holds the covered bytes; the others are read into it, `at_once` bytes at a time.
  void write_over_holes(Extent hull, std::byte* bytes, PieceView covered, int64_t at_once, bool locked);

  Status sync();  // does nothing if this rank does not have the file open
  Status close();
  bool failed() const noexcept { return !status_.ok(); }
  Status take_status();  // the first failure since the last call
  // Adds the counters since the last call to `trace`. Another thread than the caller may have made the requests; its
  // numbers are kept here until then.
  void take_counters(Trace& trace);
  Trace& work() noexcept { return work_; }
  // Sets where requests are recorded; nullptr ends the recording. `layout`: has the targets of the bytes of the base
  // file. If it is nullptr the file is one target, as is each file of a set.
  void record(Recording* recording, std::shared_ptr<const StorageLayout> layout) {
    recording_ = recording;
    layout_ = std::move(layout);
    named_ = layout_ != nullptr && names_targets(*layout_);
    work_.timeline = recording != nullptr ? &recording->storage : nullptr;
  }
  int64_t opens() const noexcept { return opens_; }
  bool used() const noexcept { return used_; }  // whether this rank has moved data since begin_flush()
  void begin_flush() noexcept {
    used_ = false;
    touched_.clear();
  }
  // From now on requests are tallied by stripes.
  void tally_by(std::shared_ptr<const StorageLayout> stripes) noexcept { stripes_ = std::move(stripes); }
  // The same for the files of a set, by offsets in their address space. nullptr ends the tally.
  void tally_line_by(std::shared_ptr<const StorageLayout> stripes) noexcept { stripes_of_line_ = std::move(stripes); }
  const StripeTally& touched() const noexcept { return touched_; }  // since begin_flush()
  const std::string& path() const noexcept { return path_; }
  std::string where(int64_t place) const;  // for messages: an offset, with its file
  const StoreOptions& options() const noexcept { return options_; }
  // Sets the file number of a file of the set (storage/file_system.hpp); 0 if unknown. If another file has its name,
  // that is an error. `elsewhere`: a path for readers on the host of rank 0 if the base file has lost its name.
  void set_number(int64_t file, uint64_t number) { numbers_[file] = number; }
  uint64_t base_number() const noexcept {
    const auto found = numbers_.find(0);
    return found == numbers_.end() ? 0 : found->second;
  }
  void set_elsewhere(std::string path) { elsewhere_ = std::move(path); }
  void forget_subfile_numbers() noexcept { numbers_.erase(numbers_.upper_bound(0), numbers_.end()); }
  void rename(std::string path) { path_ = std::move(path); }  // the file was renamed; open stores continue
  // Allocates the memory of write_over_holes() that a plan needs, so that transfers allocate none. out_of_memory.
  Status reserve(int64_t bytes);
  int64_t reserved() const noexcept { return scratch_bytes_; }
  // From now on write_over_holes() takes holes past the end of the file as zeros. Otherwise the file must be extended
  // before.
  void take_past_end_as_zeros() noexcept { zeros_past_end_ = true; }
  // Extends each file to cover these bytes, so that reads between the pieces never reach its end.
  Status extend(std::span<const Extent> regions);
  // For a set of files. `syncs`: files that are closed to limit the number of open files are synced first.
  void set_line(FileLine line) noexcept { line_ = line; }
  void set_subfiles(SubfileNames names, bool syncs) {
    names_ = std::move(names);
    syncs_ = syncs;
  }
  // The new folder of the subfiles; open stores stay valid.
  void move_to(std::string folder) noexcept { names_.folder = std::move(folder); }

 private:
  struct Opened {
    std::unique_ptr<Store> store;
    StoreCounters before;  // counters at the last take_counters()
    int64_t last_used = 0;
  };
  template <class Work>
  void attempt(int64_t place, Work&& work);
  bool share(Extent range);  // false: there is no lock, or an error
  void end_share(Extent range);
  void tally(int64_t offset, int64_t bytes);
  bool are_separate(std::span<const ReadRequest> requests) const noexcept;
  Result<Opened*> open(int64_t file);
  Result<std::unique_ptr<Store>> open_numbered(int64_t file, const std::string& path);
  Status close_idle();
  Status read_old(Store& store, int64_t offset, std::span<std::byte> bytes);
  void count(Opened& opened, int64_t place);
  void note(int64_t place, const StoreCounters& now, const StoreCounters& before) noexcept;  // for the recording

  std::string path_;
  bool writable_;
  StoreOptions options_;
  Trace work_;
  Recording* recording_ = nullptr;
  std::shared_ptr<const StorageLayout> layout_;
  bool named_ = false;  // its targets have names, so equal columns of other files differ
  FileLine line_;
  SubfileNames names_;
  bool syncs_ = false;
  std::map<int64_t, uint64_t> numbers_;
  std::string elsewhere_;
  std::map<int64_t, Opened> stores_;  // by number in the set: 0 is the base file
  int64_t uses_ = 0;
  Status status_;
  std::unique_ptr<std::byte[]> scratch_;
  int64_t scratch_bytes_ = 0;
  bool zeros_past_end_ = false;
  bool lacks_locks_ = false;  // the file system does
  int64_t opens_ = 0;
  bool used_ = false;
  std::shared_ptr<const StorageLayout> stripes_, stripes_of_line_;  // nullptr if requests are not tallied
  StripeTally touched_;
};

// Each rank moves its own pieces between the user's memory and the file without copies: one vectored request for each
// contiguous range of the file. Elements in the other byte order go through `bounce`.
// `shares`: the bytes between the pieces belong to others, who may read and write them back.
void write_direct(std::span<const Item> items, DataFile& file, std::span<std::byte> bounce, Trace& trace, bool shares);
void read_direct(std::span<const Item> items, DataFile& file, std::span<std::byte> bounce, Trace& trace);

// The same from the page cache: one copy, no request. If mapping is impossible, as read_direct().
void read_mapped(std::span<const Item> items, DataFile& file, std::span<std::byte> bounce, Trace& trace);

// Number of requests of write_direct() and read_direct(), unless one is cut short.
int64_t direct_requests(std::span<const Item> items, int64_t bounce_bytes);

}  // namespace windrow
