// SPDX-License-Identifier: BSD-3-Clause
// SpaceAllocator: gives space in the file to variables that lack a place and to new records, before a flush moves data.
// All ranks have the same state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "allocation/file_size_check.hpp"
#include "base/function_ref.hpp"
#include "base/status.hpp"
#include "comm/comm.hpp"
#include "dataio/data_file.hpp"
#include "metadata/metadata.hpp"
#include "subfiling/subfile_set.hpp"

namespace windrow {

// Whether a variable can have so many records. `has_room`: its set of subfiles has room for them.
Status check_growth(const Variable& variable, int64_t records, bool has_room);

class SpaceAllocator {
 public:
  // Where this rank allocates.
  struct Formats {
    Format* base;          // rank 0's
    SubfileSet* subfiles;  // nullptr: the file is a single file
    DataFile& file;
  };

  SpaceAllocator(const Comm& comm, Metadata& metadata)
      : comm_(comm), metadata_(metadata), size_check_(metadata.path()) {}

  // The file is open and `metadata` has its catalog.
  void start(bool creates, bool updates) noexcept;
  void reserve(size_t variables);  // memory for so many; may throw std::bad_alloc

  // Rank 0: whether the file system allows the file with these definitions, see FileSizeCheck.
  Status check_size(std::span<const VariableDefinition> definitions, FunctionRef<bool(size_t)> is_elsewhere) {
    return size_check_.check(metadata_.catalog(), definitions, is_elsewhere);
  }
  // Where the format asks for it, all variables become as long as the longest; those before `first` are so already.
  void grow_as_one(size_t first) noexcept { size_check_.add(metadata_.grow_as_one(first)); }

  // Late allocation: variables lack their places, since something was defined after they were placed.
  bool is_unplaced() const noexcept { return unplaced_; }
  void mark_unplaced() noexcept { unplaced_ = metadata_.traits().places_late; }
  void mark_placed() noexcept { unplaced_ = false; }

  // Interleaved records that a killed job left after the last record of the file would become records that nobody has
  // written. They are cut off before the file changes. Local; mark_cut() once all ranks have done it.
  Status cut_leftovers(const Formats& formats) const;
  void mark_cut() noexcept { is_cut_ = true; }

  // The steps of growth. `wanted`: [variables] what the queue of this rank asks for: records, or the number of puts to
  // a variable that lies in metadata. Zeros at first; all ranks have the maxima after agree_on_wanted().
  std::span<int64_t> start_wanted() noexcept;
  std::span<int64_t> wanted() noexcept { return std::span(wanted_).first(variables()); }
  Status agree_on_wanted(Status local);  // collective
  // Collective. Variables that nobody has ever written get a place when they are put. `format`: rank 0's.
  Status give_places(Format* format);
  bool any_grows() const noexcept;
  // Collective. Extends what grows, and enters the new numbers of records. entered(variable): for each, in the same
  // order on all ranks.
  Status extend(const Formats& formats, FunctionRef<void(int)> entered);

  std::span<int64_t> start_sums() noexcept;  // [variables] zeros: numbers that are added over all ranks

 private:
  size_t variables() const noexcept { return metadata_.catalog().variables.size(); }
  bool lacks_place(size_t variable) const noexcept;
  bool grows(size_t variable) const noexcept;
  Status for_each_growing(FunctionRef<Status(int, int64_t)> work) const;
  Status extend_formats(const Formats& formats);
  Status extend_on_root(const Formats& formats, int variable, int64_t records);
  Status blank_leftovers_on_root(const Formats& formats, int variable);

  const Comm& comm_;
  Metadata& metadata_;
  FileSizeCheck size_check_;
  bool unplaced_ = false;
  bool updates_ = false;
  bool is_cut_ = false;
  int64_t first_records_ = 0;              // interleaved ones, when the file was opened
  std::set<int> grown_;                    // rank 0: chunked variables that have grown since the file was opened
  std::vector<int64_t> wanted_, numbers_;  // [variables], or more: memory for definitions that were refused
};

}  // namespace windrow
