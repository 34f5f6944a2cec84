// SPDX-License-Identifier: BSD-3-Clause
// DataFile: the store that this rank moves variables' bytes through, or the stores of a set of files (file_line.hpp).
// Each is opened at the first request to it, so that ranks that never touch the data never open the file. Used by one
// thread at a time. Remembers the first failure and asks for nothing more after it until it is reported.
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

  void expect(Extent range);  // all bytes of it are to be written: opens the file, and lets the store find room for
                              // them. Empty: nothing is
  void write(int64_t offset, std::span<const std::byte> bytes);
  void write(int64_t offset, std::span<const ConstSlice> slices);
  void read(int64_t offset, std::span<std::byte> bytes);
  void read(int64_t offset, std::span<const Slice> slices);
  // Some of them at the same time, where they are of one file. `meanwhile` may read_ahead(): what the next call is to
  // read.
  void read(std::span<const ReadRequest> requests, const Meanwhile& meanwhile);
  void read_ahead(std::span<const ReadRequest> requests);
  // The bytes of `range` where the system keeps them, until unmap(); nullptr: to be read otherwise, unless something
  // has failed.
  const std::byte* map(Extent range);
  void unmap();
  bool in_memory(Extent range);
  // Under a lock: where other ranks at the same time write back what they have read (write_over_holes), bytes written
  // without one could be undone.
  void write_locked(int64_t offset, std::span<const std::byte> bytes);
  // Writes those bytes of `hull` that are covered, by reading what lies between them and writing all of it. `bytes`
  // holds the hull's bytes, of which only the covered ones are ours: the others become what is read, `at_once` at a
  // time.
  void write_over_holes(Extent hull, std::byte* bytes, PieceView covered, int64_t at_once, bool locked);

  Status sync();  // only when this rank has it open
  Status close();
  bool failed() const noexcept { return !status_.ok(); }
  Status take_status();  // the first failure since the last call
  // What was counted since the last call goes to `trace`. Requests may be made by another thread than the one that
  // reports: until then its numbers are in here.
  void settle(Trace& trace);
  Trace& work() noexcept { return work_; }
  // Where requests are recorded from now on, or nullptr. `layout`: tells the targets of the base file's bytes; nullptr:
  // it is one target itself, as each file of a set is.
  void record(Recording* recording, std::shared_ptr<const StorageLayout> layout) {
    recording_ = recording;
    layout_ = std::move(layout);
    named_ = layout_ != nullptr && names_targets(*layout_);
    work_.timeline = recording != nullptr ? &recording->storage : nullptr;
  }
  int64_t opens() const noexcept { return opens_; }
  bool used() const noexcept { return used_; }  // whether this rank has moved data since open_for_flush()
  void begin_flush() noexcept {
    used_ = false;
    touched_.clear();
  }
  // From then on requests are tallied by stripes.
  void tally_by(std::shared_ptr<const StorageLayout> stripes) noexcept { stripes_ = std::move(stripes); }
  // The same for the files of a set, by places in their line; nullptr: they are not tallied.
  void tally_line_by(std::shared_ptr<const StorageLayout> stripes) noexcept { stripes_of_line_ = std::move(stripes); }
  const StripeTally& touched() const noexcept { return touched_; }  // since begin_flush()
  const std::string& path() const noexcept { return path_; }
  std::string where(int64_t place) const;  // for messages: an offset, and of which file
  const StoreOptions& options() const noexcept { return options_; }
  // The number of a file of the line (storage/file_system.hpp), 0: not known. Another file under its name is an error.
  // `elsewhere`: a path by which a reader on the host of rank 0 opens the base file when its name is another's.
  void set_number(int64_t file, uint64_t number) { numbers_[file] = number; }
  void set_elsewhere(std::string path) { elsewhere_ = std::move(path); }
  void forget_subfile_numbers() noexcept { numbers_.erase(numbers_.upper_bound(0), numbers_.end()); }
  void rename(std::string path) { path_ = std::move(path); }  // the file has taken another name; an open store goes on
  // Collective wish of a plan: memory for write_over_holes, so that nothing is allocated while data moves.
  Status reserve(int64_t bytes);
  int64_t reserved() const noexcept { return scratch_bytes_; }
  // Makes each file long enough for these bytes, so that reading what is between the pieces never meets its end.
  Status extend(std::span<const Extent> regions);
  // Of a set of files. `syncs`: what is closed, to stay below the limit of open files, is on stable storage first.
  void set_line(FileLine line) noexcept { line_ = line; }
  void set_subfiles(SubfileNames names, bool syncs) {
    names_ = std::move(names);
    syncs_ = syncs;
  }
  void move_to(std::string folder) noexcept {
    names_.folder = std::move(folder);
  }  // of the subfiles; what is open goes on

 private:
  struct Opened {
    std::unique_ptr<Store> store;
    StoreCounters before;  // what has been counted already
    int64_t last_used = 0;
  };
  template <class Work>
  void attempt(int64_t place, Work&& work);
  void tally(int64_t offset, int64_t bytes);
  bool are_apart(std::span<const ReadRequest> requests) const noexcept;
  Result<Opened*> open(int64_t file);
  Result<std::unique_ptr<Store>> open_numbered(int64_t file, const std::string& path);
  Status close_idle();
  void count(Opened& opened, int64_t place);
  void note(int64_t place, const StoreCounters& now, const StoreCounters& before) noexcept;  // for the recording

  std::string path_;
  bool writable_;
  StoreOptions options_;
  Trace work_;
  Recording* recording_ = nullptr;
  std::shared_ptr<const StorageLayout> layout_;
  bool named_ = false;  // its targets have names: a column of stripes is no other one
  FileLine line_;
  SubfileNames names_;
  bool syncs_ = false;
  std::map<int64_t, uint64_t> numbers_;
  std::string elsewhere_;
  std::map<int64_t, Opened> stores_;  // by number in the line: 0 is the base file
  int64_t uses_ = 0;
  Status status_;
  std::unique_ptr<std::byte[]> scratch_;
  int64_t scratch_bytes_ = 0;
  int64_t opens_ = 0;
  bool used_ = false;
  std::shared_ptr<const StorageLayout> stripes_, stripes_of_line_;  // nullptr: none
  StripeTally touched_;
};

// Each rank moves its own pieces between the user's memory and the file: one vectored request for each contiguous
// stretch of the file, no copy. Elements in the other byte order go through `bounce`.
void write_direct(std::span<const Item> items, DataFile& file, std::span<std::byte> bounce, Trace& trace);
void read_direct(std::span<const Item> items, DataFile& file, std::span<std::byte> bounce, Trace& trace);

// The same out of the file's bytes in the system's memory: one copy, no request. Where that cannot be, as read_direct()
// does.
void read_mapped(std::span<const Item> items, DataFile& file, std::span<std::byte> bounce, Trace& trace);

// Requests that write_direct() and read_direct() will make, if no request is cut short.
int64_t direct_requests(std::span<const Item> items, int64_t bounce_bytes);

}  // namespace windrow
