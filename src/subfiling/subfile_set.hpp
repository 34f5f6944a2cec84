// SPDX-License-Identifier: BSD-3-Clause
// SubfileSet: the subfiles of an open file, if it has some. Makes or examines them, defines and places the parts of its
// variables, and completes the subfiles before the base file. Each rank uses the formats of the subfiles that it owns;
// the map is the same on all ranks. The base file belongs to the caller.
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
#include "format/format.hpp"
#include "storage/folder_lock.hpp"
#include "storage/striping.hpp"
#include "subfiling/file_count.hpp"
#include "subfiling/set_messages.hpp"
#include "subfiling/subfiles.hpp"
#include "varstate/write_state.hpp"

namespace windrow {

struct SetOptions {
  SubfileOptions subfiles;
  bool places_late = false;  // the format allocates late
  int64_t line_unit = FileLine::k_unit;
};

class SubfileSet {
 public:
  // Of a file with this catalog, whose parts are `changed` as the state says. All references outlive this object.
  SubfileSet(Comm& comm, FormatMode mode, const Catalog& catalog, WriteState& state) noexcept
      : comm_(comm), mode_(mode), catalog_(catalog), state_(state) {}

  // nullptr: the file is a single file.
  const std::unique_ptr<Subfiles>& map() const noexcept { return map_; }

  // Of a new file: how many subfiles, for variables whose options do not say; 0: not chosen yet. `why`: if the library
  // has chosen the number.
  void want(FileCount wanted) noexcept { wanted_ = std::move(wanted); }
  const FileCount& wanted() const noexcept { return wanted_; }
  // The same of any file.
  int64_t default_count() const noexcept {
    return mode_ == FormatMode::create ? wanted_.files : map_ ? map_->count() : 1;
  }

  // Local, on all ranks. `temporary_path`: of the new base file.
  void create(const SetNames& names, const std::string& temporary_path, int64_t count);
  SetNames names() const;  // of this set
  // Local, on all ranks: the set that the catalog of an opened file describes, if any. See Subfiles::take_from().
  Status open(Catalog& catalog, const std::string& format_name, const std::string& path);
  void forget() noexcept { map_.reset(); }  // the set that was to be created

  // Rank 0: the folder of subfiles is not removed by others while this object exists.
  void hold_folder(const std::string& folder) { folder_lock_ = FolderLock::share(folder); }
  void hold_folder_of(const Catalog& catalog, const std::string& path);
  // Path of the folder beside a base file of this path.
  std::string final_folder(const std::string& final_path) const;
  // After prepare_move() with the final path, move() cannot fail.
  void prepare_move(const std::string& final_path) { map_folder_ = data_folder_ = final_folder(final_path); }
  void move() noexcept;

  // Collective, agreed. Makes the subfiles of a new set, or examines those of an opened one. `data`: of the file, used
  // from here on. `base`: rank 0's format of the base file, here and below.
  Status start(Status local, DataFile& data, Format* base, SetOptions options);

  bool is_own(int64_t number) const noexcept { return map_->owner_of(number, comm_.size()) == comm_.rank(); }
  Result<Format*> format(int64_t number) { return map_->format(number, mode_); }  // of an own subfile
  // Local: work(number, format) for each of the first `end` subfiles that this rank owns.
  Status for_own(int64_t end, FunctionRef<Status(int64_t, Format&)> work);

  // Local, the same on all ranks. True: the address space has changed, and plans for the previous one are invalid.
  bool fit_line(int64_t unit);

  // Definitions (part_definition.cpp)
  // Collective, agreed. Defines the parts of those definitions that are split; `first`: number of the first definition.
  // `splits` get their places. After an error there are none of these parts.
  Status define_parts(Status local, std::span<const VariableDefinition> definitions,
                      std::map<int, SplitVariable>& splits, int first);
  // Local, after all definitions of a call: those from number `end` on were refused, unless `succeeded`.
  void end_definitions(int end, bool succeeded);
  // Rank 0: defines a split variable in the base file. `records`: see Format::undefine().
  Status define_in_base(Format& base, const VariableDefinition& definition, const SplitVariable& split,
                        int64_t records) const;

  // Records (part_records.cpp). Local.
  void update_records() noexcept;  // from the catalog
  bool has_room_for(int64_t records) const noexcept;
  Status extend_parts(int variable, const SplitVariable& split, int64_t records);
  // Removes records after the first ones, which a killed job has left.
  Status cut(int64_t records);

  // Collective, agreed. Places the parts whose format allocates late, unless a rank comes with an error. The places of
  // all ranks are valid afterwards, also after an error. `moved`: some subfile was rewritten, and plans are invalid.
  Status place(Status local, bool& moved);
  // Collective, agreed. Completes and flushes the subfiles, before the base file is flushed. `ends`: closes them.
  // `moved` as above; after an error the places are then incomplete.
  Status finish(Format* base, bool ends, bool& moved);
  Status lengthen();          // local: own subfiles are as long as their variables, also where nobody has written
  Status seal(Format& base);  // rank 0: writes the map's checksum, before the base file is flushed

  // Rank 0: problems of the set, one per line: faults, other files in the folder, and a base file that shows other
  // programs something else.
  std::string problems(Format& base) const;

  // Collective; the status is this rank's own. `chunks`: on rank 0, the chunks of all parts of these variables.
  Status collect_chunks(Status local, std::span<const int> variables, PartChunks& chunks);

  // Targets (line_layout.cpp)
  // Collective, agreed. Asks for the layouts of the subfiles that are not known yet. `base`: of the base file.
  Status find_layouts(Status local, const StripingOptions& options, const StorageLayout& base);
  const StorageLayout& layout_of(int64_t number) const noexcept { return layouts_[static_cast<size_t>(number)]; }
  // Of the address space; nullptr: unknown.
  const std::shared_ptr<const StorageLayout>& line_layout() const noexcept { return line_layout_; }

  // For SetChecksums.
  Comm& comm() const noexcept { return comm_; }
  const Catalog& catalog() const noexcept { return catalog_; }
  FormatMode mode() const noexcept { return mode_; }
  bool is_changed(int variable) const noexcept { return state_[static_cast<size_t>(variable)].changed; }
  const SubfileOptions& options() const noexcept { return options_.subfiles; }

 private:
  Status start_opened(Status local);
  Status examine(Status local);
  Status find_own(SubfileFindings& own);
  Status learn(const SubfileFindings& all);
  Status agree_on_places(Status local, std::span<int64_t> numbers);
  Status settle(Status local, bool& moved);
  Status complete_own(bool ends);
  Status complete_base(Format* base);
  Status withdraw_parts(const std::map<int, SplitVariable>& splits, int first);
  void drop_unused();
  Status define_own(std::span<const VariableDefinition> definitions, const std::map<int, SplitVariable>& splits,
                    int first, std::span<int64_t> offsets);
  Status prepare_growth(Format& format, int variable, const SplitVariable& split, int64_t part);
  Result<ChunkLayout> layout_in_subfile(int variable, const SplitVariable& split, int64_t part) const;
  Status find_own_chunks(std::span<const int> variables, PartChunkLists& own);
  Status learn_layouts(std::span<const std::byte> message, int64_t known, int64_t used);

  Comm& comm_;
  const FormatMode mode_;
  const Catalog& catalog_;
  WriteState& state_;
  DataFile* data_ = nullptr;
  SetOptions options_;
  FileCount wanted_;
  std::unique_ptr<Subfiles> map_;
  FolderLock folder_lock_;                   // rank 0
  std::string map_folder_, data_folder_;     // the final folder, for move()
  bool sealed_ = false;                      // the base file has the checksum of the map as it is
  std::set<std::pair<int, int64_t>> grown_;  // own chunked parts that have grown since the file was opened
  std::vector<StorageLayout> layouts_;       // of subfiles, as far as they are known
  std::shared_ptr<const StorageLayout> line_layout_;
};

}  // namespace windrow
