// SPDX-License-Identifier: BSD-3-Clause
// ByteFile: an open file of plain bytes. It is the second front of the engine beside File: each rank passes a list of
// bytes and their places in memory, and one call moves the lists of all ranks. The file is changed in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/settings.hpp"
#include "base/status.hpp"
#include "bytefile/byte_list.hpp"
#include "bytefile/known_lists.hpp"
#include "comm/comm.hpp"
#include "dataio/data_file.hpp"
#include "engine/flush_engine.hpp"
#include "engine/storage_facts.hpp"
#include "storage/held_file.hpp"

namespace windrow {

struct ByteFileMessage;

class ByteFile {
 public:
  enum class Mode {
    read,
    update,
    create  // update, and a file that does not exist is made, without bytes
  };

  // Collective calls, as those of File: all ranks call them in the same order and get the same status. `local`: an
  // error that the caller has found in this rank's arguments.

  // `program`: the options of the call; those of the environment are added to them.
  static Result<std::unique_ptr<ByteFile>> open(MPI_Comm user, const std::string& path, Mode mode,
                                                const Settings& program, Status local = {});
  ~ByteFile();

  // Writes the bytes of the lists of all ranks. Where lists of ranks overlap, the highest rank's bytes are written.
  // After an error any of the listed bytes may be old or new; no other byte has changed. `list` must outlive the call.
  Status write(const ByteList& list, const std::byte* memory, Status local = {});
  // Reads the lists of all ranks. Bytes beyond the end of the file are not read, and their memory stays as it is.
  // Returns the number of bytes that this rank has got.
  Result<int64_t> read(const ByteList& list, std::byte* memory, Status local = {});
  // Returns the plan of such a call as a text. Nothing moves.
  Result<std::string> explain(bool reading, const ByteList& list, bool json, Status local = {});
  // Replaces each number by its sum over all ranks, at most k_most_sums numbers. Nothing of the file is read or
  // written. `count`: the same on all ranks; the number of `numbers`, unless `local` is an error.
  static constexpr int64_t k_most_sums = 64;
  Status sum(std::span<int64_t> numbers, int64_t count, Status local = {});
  // What was written is on stable storage when the call returns.
  Status sync();
  // The last call.
  Status close();

  // Local calls.
  std::string report(bool json) const;
  const std::string& path() const noexcept { return path_; }

 private:
  struct Opening;
  // A call that moves the lists.
  struct Moving {
    bool reading = false;
    bool moves = true;  // not only explained
    const ByteList& list;
    std::byte* memory;
    Pieces pieces{};  // of the list, before the end of the file if it is read
    RequestBatch batch{};
    BatchSummary summary{};
  };

  ByteFile(std::string path, Mode mode, std::shared_ptr<Comm> comm);

  // open_byte_file.cpp
  Status take_options(const Settings& program, uint64_t& arguments);  // local
  Status open_on_root(Opening& opening);                              // rank 0
  Status hold_on_root();                                              // rank 0
  Status receive(Opening& opening);                                   // local
  void start_trace();                                                 // collective

  void remove_new() noexcept;  // rank 0

  // byte_file.cpp
  Status check_mode(bool reading) const;                         // local
  static Status check_memory(const Moving& moving);              // local
  Status look_at_file(int64_t& size);                            // rank 0
  Status build(Moving& moving, int64_t end);                     // local
  Status summarize(Moving& moving, Status local);                // collective
  Result<PreparedPlan*> ready(Moving& moving);                   // collective
  Status keep_written(Moving& moving, std::span<int64_t> bits);  // collective
  Status move(Moving& moving, PreparedPlan& prepared);           // collective
  void copy_repeated(const Moving& moving) noexcept;             // local
  Status run(Moving& moving, Status local);                      // collective
  Status call(Moving& moving, Status local);                     // collective

  std::shared_ptr<Comm> comm_;
  OpenFile identity_;  // identifies the file in agreements
  std::string path_;
  Mode mode_ = Mode::read;
  Settings settings_;
  StorageFacts storage_;
  HeldFile held_;        // rank 0
  bool is_new_ = false;  // rank 0: the file was made by open(), and its name is not on stable storage
  int64_t size_ = 0;     // length of the file when a call of all ranks last looked; the same on all ranks
  std::unique_ptr<DataFile> data_;
  FlushEngine engine_;
  KnownLists known_;
};

}  // namespace windrow
