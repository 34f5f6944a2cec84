// SPDX-License-Identifier: BSD-3-Clause
// SubfileSet: the set of subfiles of an open file. A set is a base file and the subfiles that have the parts of its
// split variables. The map says which part is where; all ranks have the same map (Subfiles). Each subfile has an owner,
// the only rank that uses its format. SubfileSet has the collective steps, in which the owners change their subfiles
// and all ranks learn the result (PartDefinitions defines the parts of new variables, SetChecksums has the checksums of
// elements):
//
//   create() or open()  local: the map of a new set, or of the set that a catalog describes
//   start()             signs a new set, or examines the subfiles of an opened one
//   extend_parts()      local: adds records to parts
//   place()             places the parts if the format allocates late
//   finish()            completes and flushes the subfiles, always before the base file is flushed
//
// The base file is authoritative. So a subfile is flushed before the base file, and may have variables and records that
// the base file does not have. The caller owns the base file, and decides when a step happens. An object without a map
// belongs to a single file; then only want(), create(), open() and map() may be called.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/function_ref.hpp"
#include "base/status.hpp"
#include "chunking/chunks.hpp"
#include "comm/comm.hpp"
#include "dataio/data_file.hpp"
#include "extent/boxes.hpp"
#include "format/format.hpp"
#include "storage/folder_lock.hpp"
#include "subfiling/file_count.hpp"
#include "subfiling/set_layouts.hpp"
#include "subfiling/set_messages.hpp"
#include "subfiling/subfiles.hpp"
#include "varstate/write_state.hpp"

namespace windrow {

struct SetOptions {
  SubfileOptions subfiles;
  bool places_late = false;              // the format allocates late
  bool joins_parts = false;              // other programs read the subfiles through the base file
  int64_t line_unit = FileLine::k_unit;  // files begin at multiples of it in the address space of the set
};

class SubfileSet {
 public:
  // All references must outlive this object. `state` says which variables have changed.
  SubfileSet(Comm& comm, FormatMode mode, const Catalog& catalog, WriteState& state) noexcept
      : comm_(comm), mode_(mode), catalog_(catalog), state_(state) {}
  SubfileSet(const SubfileSet&) = delete;
  SubfileSet& operator=(const SubfileSet&) = delete;

  // nullptr if the file is a single file.
  const std::unique_ptr<Subfiles>& map() const noexcept { return map_; }

  // The number of subfiles of a new file, for variables whose options do not request one. 0 if it is not chosen yet.
  // FileCount::why is set if the library has chosen the number. Local, the same on all ranks.
  void want(FileCount wanted) noexcept { wanted_ = std::move(wanted); }
  void want_count(int64_t files) noexcept { wanted_.files = files; }
  const FileCount& wanted() const noexcept { return wanted_; }
  // The same number for a new or an opened file.
  int64_t default_count() const noexcept {
    return mode_ == FormatMode::create ? wanted_.files : map_ ? map_->count() : 1;
  }

  // Local; all ranks call it. Makes the map of a new set. `temporary_path`: the path of the new base file.
  void create(const SetNames& names, const std::string& temporary_path, int64_t count);
  // The names of this set, from which other ranks create it.
  SetNames names() const;
  // Local; all ranks call it. Takes the map out of the catalog of an opened file, if there is one. bad_file if the map
  // is invalid: see Subfiles::take_from().
  Status open(Catalog& catalog, const std::string& format_name, const std::string& path);
  // Drops the map of a set that could not be made.
  void forget() noexcept { map_.reset(); }

  // Rank 0. Locks the folder of subfiles, so that no other program removes it while this object exists.
  void hold_folder(const std::string& folder) { folder_lock_ = FolderLock::share(folder); }
  void hold_folder_of(const Catalog& catalog, const std::string& path);
  // The path of the folder of subfiles beside a base file with this path.
  std::string final_folder(const std::string& final_path) const;
  // Local. The folder gets its final name: prepare_move() allocates, so that move() cannot fail.
  void prepare_move(const std::string& final_path) {
    map_folder_ = data_folder_ = final_folder(final_path);
    base_path_ = final_path;
  }
  void move() noexcept;

  // Collective, agreed. Signs the base file of a new set; a subfile is made with its first part. Examines the subfiles
  // of an opened set, and sends what the owners found to all ranks. A set that is opened for update must have no fault.
  // `data`: the data file, which must outlive this object. `base`: the format of the base file on rank 0.
  Status start(Status local, DataFile& data, Format* base, SetOptions options);

  // Whether this rank owns the subfile.
  bool is_own(int64_t number) const noexcept { return map_->owner_of(number, comm_.size()) == comm_.rank(); }
  // Local. Opens the format of an own subfile on demand. The map owns it.
  Result<Format*> format(int64_t number) { return map_->format(number, mode_); }
  // Local. Calls work(number, format) for each own subfile among the first `end`, until a call fails.
  Status for_own(int64_t end, FunctionRef<Status(int64_t, Format&)> work);

  // Local, the same on all ranks. Fits the address space to the catalog. Returns true if the address space has changed;
  // plans that were made before are then invalid.
  bool fit_line(int64_t unit);

  // Records (part_records.cpp). Local.

  // Takes the numbers of records from the catalog.
  void update_records() noexcept;
  // Whether the address space has room for variables with this number of records.
  bool has_room_for(int64_t records) const noexcept;
  // Extends the own parts of a variable. Before the first growth it removes what a killed job left after the records.
  Status extend_parts(int variable, const SplitVariable& split, int64_t records);
  // Removes the records after the first `records`, which a killed job has left, from the own subfiles.
  Status cut(int64_t records);

  // Collective, agreed. Places the parts if the format allocates late; does nothing if `local` is an error on a rank.
  // Afterwards all ranks have the current places, also after an error. `moved`: whether a subfile was rewritten; plans
  // are then invalid.
  Status place(Status local, bool& moved);
  // For an explanation: the places that place() would find, and the numbers of records in the catalog. No file changes.
  // restore() reverts both. The first is collective and agreed.
  Status predict_places();
  void predict_records() noexcept;
  void restore(Subfiles::Places places) noexcept;
  // Collective, agreed. Completes and flushes the subfiles. The caller flushes the base file afterwards. `ends`: closes
  // the subfiles too. `moved`: as above, but after an error the places may be incomplete.
  Status finish(Format* base, bool ends, bool& moved);
  // Local. Makes the own subfiles as long as their variables, also if their last elements were never written.
  Status lengthen();
  // Rank 0. Other programs may read the base file again, unless a subfile is half changed. Called if the base file was
  // not flushed after finish(), which does the same.
  Status accept_others(Format& base) const;
  // Rank 0. Writes the checksum of the map into the base file, before the base file is flushed.
  Status write_checksum(Format& base);

  // Rank 0. Returns the problems of the set, one per line: faults of subfiles, unexpected files in the folder, and
  // variables that the base file shows differently to other programs.
  std::string problems(Format& base) const;

  // Collective; the status is of this rank. Sets `chunks` on rank 0 to the chunks of all parts of these variables.
  Status collect_chunks(Status local, std::span<const int> variables, PartChunks& chunks);

  // Local. Adds boxes of a split variable that have all elements that own subfiles have stored. A part about which
  // nothing is known is added as a whole.
  Status add_own_written(int variable, BoxList& boxes);

  // The layouts of the subfiles, for domains by target.
  SetLayouts& layouts() noexcept { return layouts_; }
  const SetLayouts& layouts() const noexcept { return layouts_; }

  // For PartDefinitions and SetChecksums.
  Comm& comm() const noexcept { return comm_; }
  const Catalog& catalog() const noexcept { return catalog_; }
  FormatMode mode() const noexcept { return mode_; }
  bool is_changed(int variable) const noexcept { return state_[static_cast<size_t>(variable)].changed; }
  const SubfileOptions& options() const noexcept { return options_.subfiles; }
  void mark_incomplete() noexcept { complete_ = false; }

 private:
  Status start_opened(Status local, Format* base);
  Status examine(Status local);
  Status find_own(SubfileFindings& own);
  Status learn(const SubfileFindings& all);
  Status agree_on_places(Status local, std::span<int64_t> numbers);
  Status share_places(Status local, FunctionRef<Status()> find, bool keeps, bool& moved);
  Status settle(Status local, bool& moved);
  Status complete_own(bool ends);
  Status complete_base(Format* base);
  Status restore_interrupted(Status local, Format* base);
  bool refuses_others() const noexcept { return options_.joins_parts && is_in_place_; }
  Status refuse_others(Status local, Format* base);
  void find_half_changed(Format* base);
  Status prepare_growth(Format& format, int variable, const SplitVariable& split, int64_t part);
  Result<ChunkLayout> layout_in_subfile(int variable, const SplitVariable& split, int64_t part) const;
  Status find_own_chunks(std::span<const int> variables, PartChunkLists& own);

  Comm& comm_;
  const FormatMode mode_;
  const Catalog& catalog_;
  WriteState& state_;
  DataFile* data_ = nullptr;
  SetOptions options_;
  FileCount wanted_;
  std::unique_ptr<Subfiles> map_;
  FolderLock folder_lock_;                   // rank 0
  std::string map_folder_, data_folder_;     // two copies of the final folder, which move() takes
  std::string base_path_;                    // of the base file, for move()
  bool is_in_place_ = false;                 // other programs can read the set
  bool has_half_changed_ = false;            // rank 0: a subfile may be half changed
  bool complete_ = false;                    // the base file has the checksum of the current map
  std::set<std::pair<int, int64_t>> grown_;  // own chunked parts that have grown since the file was opened
  SetLayouts layouts_{*this};
};

}  // namespace windrow
