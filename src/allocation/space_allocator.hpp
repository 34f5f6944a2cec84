// SPDX-License-Identifier: BSD-3-Clause
// SpaceAllocator: allocates space in the file before a flush moves data. It has three tasks:
//
//   growth         a put of a record beyond the end makes its variable longer
//   first put      a variable that has never been written may have no place yet (a compact dataset of HDF5)
//   late placement it knows whether variables lack their places because of a definition; LatePlacement places them
//
// Growth is a sequence of collective steps, which File::extend_for_queue() calls: start_wanted(), the caller counts
// what the queue wants, agree_on_wanted(), give_places(), extend(). All ranks have the same state after each step. Rank
// 0 extends the base file, and the owners of subfiles extend the parts of split variables.
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

// Checks whether a variable can have this number of records. bad_argument if the file or the grid of chunks would
// become too large. `has_room`: the address space of its set of subfiles has room for them. Pure.
Status check_growth(const Variable& variable, int64_t records, bool has_room);

class SpaceAllocator {
 public:
  // The files in which this rank allocates. The caller owns them.
  struct Formats {
    Format* base;     // of rank 0; nullptr on other ranks
    SubfileSet& set;  // without a map if the file is a single file
    DataFile& file;
  };

  // Both must outlive this object.
  SpaceAllocator(const Comm& comm, Metadata& metadata)
      : comm_(comm), metadata_(metadata), size_check_(metadata.path()) {}

  // Local. Called once, when the file is open and `metadata` has its catalog.
  void start(bool creates, bool updates) noexcept;
  // Local. Allocates memory for this number of variables. May throw std::bad_alloc.
  void reserve(size_t variables);

  // Rank 0. Checks whether the file system allows a file with these definitions: see FileSizeCheck.
  Status check_size(std::span<const VariableDefinition> definitions, FunctionRef<bool(size_t)> is_elsewhere) {
    return size_check_.check(metadata_.catalog(), definitions, is_elsewhere);
  }
  // Local. If all extendible variables of the format share the number of records, all become as long as the longest.
  // The variables before number `first` are already.
  void grow_as_one(size_t first) noexcept { size_check_.add(metadata_.grow_as_one(first)); }

  // Late allocation: whether variables lack their places. A definition marks the file unplaced if the format places
  // variables late. Local.
  bool is_unplaced() const noexcept { return unplaced_; }
  void mark_unplaced() noexcept { unplaced_ = metadata_.traits().places_late; }
  void mark_placed() noexcept { unplaced_ = false; }

  // Removes interleaved records that a killed job left after the last record of the file. Otherwise they would become
  // records of the file, although no program has completed them. Called before the file changes. Local; the caller
  // calls mark_cut() when all ranks have succeeded.
  Status cut_leftovers(const Formats& formats) const;
  void mark_cut() noexcept { is_cut_ = true; }

  // The steps of growth, in this order.

  // Local. Sets to zero, and returns, what the queue of this rank wants of each variable: the number of records, or the
  // number of puts if its elements are in the metadata. The caller enters the numbers. Valid until reserve().
  std::span<int64_t> start_wanted() noexcept;
  std::span<int64_t> wanted() noexcept { return std::span(wanted_).first(variables()); }
  // Collective, agreed. Afterwards wanted() has the maxima over all ranks, and `sums` has sums.
  Status agree_on_wanted(Status local, std::span<int64_t> sums = {});
  // Collective, agreed. Allocates variables that are put for the first time and have no place. `format`: of rank 0;
  // nullptr on other ranks.
  Status give_places(Format* format);
  // Whether a variable must become longer. The same on all ranks after agree_on_wanted().
  bool any_grows() const noexcept;
  // Collective, agreed. Extends the variables that grow, and enters their new lengths into the metadata. Then it calls
  // entered(variable) for each of them, in the same order on all ranks. After an error the metadata are unchanged.
  Status extend(const Formats& formats, FunctionRef<void(int)> entered);

  // Local, the same on all ranks; after agree_on_wanted(). Enters into the metadata what give_places() and extend()
  // would, but changes no file. A variable without a place is assumed to begin at `end`, the end of the file. False:
  // nothing has to change.
  bool predict(int64_t end, const FormatOptions& options) noexcept;

  // Local. Sets to zero, and returns, one number for each variable, to be summed over the ranks. Valid until the next
  // call of this function, give_places() or reserve().
  std::span<int64_t> start_sums() noexcept;

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
  bool unplaced_ = false;                  // see is_unplaced()
  bool updates_ = false;                   // the file was opened for update, so leftovers of a killed job are possible
  bool is_cut_ = false;                    // cut_leftovers() has succeeded on all ranks
  int64_t first_records_ = 0;              // interleaved records when the file was opened
  std::set<int> grown_;                    // rank 0: chunked variables that have grown since the file was opened
  std::vector<int64_t> wanted_, numbers_;  // [variables], or longer after a definition that was refused
};

}  // namespace windrow
