// SPDX-License-Identifier: BSD-3-Clause
// Subfiles: the map of a set, which is the same on every rank, and the open formats of the subfiles that this rank
// owns. The map is stored in attributes of the base file; each subfile describes its parts (docs/subfiles.md). The base
// file is authoritative: a subfile is flushed before it, and may have variables and records that the base file does not
// have. No call communicates.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/checked.hpp"
#include "base/status.hpp"
#include "dataio/file_line.hpp"
#include "extent/split.hpp"
#include "format/format.hpp"

namespace windrow {

// A variable whose parts are in subfiles: part k in subfile k.
struct SplitVariable {
  Split split;                   // the split of one record if the variable is extendible
  std::vector<int64_t> offsets;  // [parts] in their files; -1: the subfile is invalid, or not allocated yet
  int64_t element_bytes = 0;
  std::string path;
  bool grows = false;            // extendible: along the first dimension, which is not split
  int64_t records = 1;           // current number of records
  std::vector<int64_t> strides;  // [parts] distance between records in its file, if extendible
  std::vector<int64_t>
      chunk;  // chunk shape, or empty; no chunk is longer than its part, except along the extendible dimension
  std::vector<std::byte> fill;  // fill value as stored; empty: none
  std::string filters;  // filters of chunks, as in the option, because their parameters may depend on the chunk size

  SplitVariable(Split cut, std::string name, int64_t bytes, bool is_growing)
      : split(std::move(cut)),
        offsets(static_cast<size_t>(split.parts()), -1),
        element_bytes(bytes),
        path(std::move(name)),
        grows(is_growing),
        records(is_growing ? 0 : 1),
        strides(offsets.size(), 0) {}
  bool is_chunked() const noexcept { return !chunk.empty(); }
  bool has_part(int64_t number) const noexcept { return number < split.parts(); }
  bool has_contiguous_part(int64_t number) const noexcept { return has_part(number) && !is_chunked(); }
  bool has_place(int64_t part) const noexcept { return offsets[static_cast<size_t>(part)] >= 0; }
  // Shape of a part, with all records.
  std::vector<int64_t> shape(int64_t part) const {
    std::vector<int64_t> all = split.box(part).count;
    if (grows)
      all[0] = records;
    return all;
  }
  // Chunking of a part. Code::bad_argument: filters that its chunks cannot have.
  Result<Chunking> chunking(int64_t part) const;
  // The common chunk shape of all parts if they begin at multiples of it; otherwise empty: there is no regular grid.
  std::vector<int64_t> common_chunk() const;
  int64_t row_bytes(int64_t part) const noexcept {
    return split.elements(part) * element_bytes;
  }  // of one record, or of all
  // Bytes from the first to the end of this many records of a part; nullopt: more than 64 bits.
  std::optional<int64_t> length(int64_t part, int64_t count) const noexcept {
    const auto before = checked_multiply(std::max<int64_t>(0, count - 1), strides[static_cast<size_t>(part)]);
    return before && count > 0 ? checked_add(*before, row_bytes(part)) : before;
  }
};

// By variable and part: the places of its chunks in C order of their grid, or why they are unknown.
using PartChunks = std::map<std::pair<int, int64_t>, Result<std::vector<ChunkPlace>>>;

// Options of changes to subfiles.
struct SubfileOptions {
  FormatOptions format;
  StoreOptions store;
  int64_t buffer_bytes = 0;  // memory while a subfile is rewritten
  bool durable = false;
  bool sums = false;  // there will be checksums of elements
};

// Faults of a subfile.
enum class Fault : int64_t {
  none = 0,
  missing,
  unreadable,
  damaged,
  foreign,
  swapped,
  different,
  contradicting,
  not_a_file,
  locked,
  elsewhere,
  failed  // the rank that owns the subfile could not read it
};

// The range of a part as stored in its subfile: first elements along all dimensions, then ends; 0 and 0 along an
// extendible dimension.
std::vector<int64_t> range_of(const SplitVariable& split, int64_t part);

// Contradiction between a part's own description and the map, with both values; "": none.
std::string contradiction_in(const Variable& own, const SplitVariable& split, int64_t part);

class Subfiles {
 public:
  static constexpr int64_t k_most = 65536;                    // maximum number of subfiles
  static constexpr std::string_view k_reserved = "windrow_";  // prefix of the names of our attributes

  Subfiles(std::string format, std::string identity, std::string folder, SubfileNames names)
      : format_(std::move(format)),
        identity_(std::move(identity)),
        folder_(std::move(folder)),
        names_(std::move(names)),
        faults_(static_cast<size_t>(names_.count), 0),
        file_numbers_(static_cast<size_t>(names_.count), 0) {}

  // Returns the set that the attributes of a catalog describe; nullptr if there is none. Removes these attributes from
  // the catalog. bad_file if the map is invalid. `path`: the path of the base file, with which messages begin.
  static Result<std::unique_ptr<Subfiles>> take_from(Catalog& catalog, const std::string& format,
                                                     const std::string& path);

  int64_t count() const noexcept { return names_.count; }  // maximum number of subfiles in the map
  int64_t used() const noexcept;  // number of existing subfiles: the first ones, in which variables have parts
  const std::string& format_name() const noexcept { return format_; }
  const std::string& identity() const noexcept { return identity_; }
  const std::string& folder() const noexcept { return folder_; }  // its name in the folder of the base file
  const SubfileNames& names() const noexcept { return names_; }
  void move_to(std::string folder) noexcept;  // the folder was renamed
  std::string relative_name(int64_t number) const {
    return SubfileNames{folder_, names_.ending, names_.count}.path(number);
  }

  const SplitVariable* find(int variable) const noexcept;
  void add(int variable, SplitVariable split) { variables_.insert_or_assign(variable, std::move(split)); }
  void forget_from(int variable) { variables_.erase(variables_.lower_bound(variable), variables_.end()); }
  std::map<int, SplitVariable>& variables() noexcept { return variables_; }
  const std::map<int, SplitVariable>& variables() const noexcept { return variables_; }

  // Fits the address space to the catalog's contiguous variables and the parts. Files begin at multiples of `unit`, at
  // least 1 MiB. True: it changed.
  bool fit_line(const Catalog& catalog, int64_t unit);
  int64_t longest_file() const noexcept { return FileLine::k_begin / 2 / (count() + 1); }
  const FileLine& line() const noexcept { return line_; }
  // Whether the address space stays within 64 bits if each file grows by this many bytes.
  bool has_room(int64_t bytes) const noexcept { return bytes < longest_file() - line_.room; }
  int64_t place(const SplitVariable& variable, int64_t part) const noexcept {
    return line_.place(part + 1, variable.offsets[static_cast<size_t>(part)]);
  }

  // Sets a fault and, for some kinds, the number that was found; for Fault::failed, the rank.
  void set_fault(int64_t number, int64_t packed) noexcept { faults_[static_cast<size_t>(number)] = packed; }
  // For Fault::contradicting: which attribute, and both values. For Fault::failed: the error.
  void set_fault_text(int64_t number, std::string text) { fault_texts_.insert_or_assign(number, std::move(text)); }
  const std::string& fault_text(int64_t number) const { return fault_texts_.at(number); }
  static bool has_text(int64_t packed) noexcept {
    const auto fault = static_cast<Fault>(packed & 0xff);
    return fault == Fault::contradicting || fault == Fault::failed;
  }
  static int64_t pack(Fault fault, int64_t found = 0) noexcept { return static_cast<int64_t>(fault) + (found << 8); }
  // Code::bad_file, not_found, no_permission, bad_state or io, with the subfile's name.
  Status fault_of(int64_t number) const;

  // File number of a subfile (storage/file_system.hpp), 0: unknown.
  uint64_t file_number_of(int64_t number) const noexcept { return file_numbers_[static_cast<size_t>(number)]; }
  void set_file_number(int64_t number, uint64_t file) noexcept { file_numbers_[static_cast<size_t>(number)] = file; }
  // Rank-local: whether a subfile still has its name; otherwise nothing more is written to it.
  Status check_name(int64_t number);

  // The rank that owns a subfile. All ranks own about as many; the first belongs to rank 0.
  int owner_of(int64_t number, int ranks) const noexcept { return static_cast<int>(number * ranks / count()); }

  // Format object of one of this rank's subfiles. Opened on demand, and closed again if needed, because the number of
  // open files of a process is limited.
  Result<Format*> format(int64_t number, FormatMode mode);
  void set_options(SubfileOptions options) { options_ = std::move(options); }
  // Rank-local. Other programs can read the set now, and would find a half-changed subfile. So they are to refuse the
  // base file before a subfile changes at another time than at the end of SubfileSet::finish().
  void set_base(std::string path, uint64_t number) noexcept {
    base_path_ = std::move(path);
    base_number_ = number;
  }
  Status refuse_others() const;
  void drop(int64_t number);  // if format() created it here, also its file
  bool has_open_formats() const noexcept { return !formats_.empty(); }
  Status close_formats();
  void drop_formats() noexcept;  // closes them without their changes
  Status flush_formats();
  int64_t opens() const noexcept { return opens_; }  // how often this rank has opened formats and examined files

  // Rank-local; does nothing unless the format allocates late. Extends the subfile to all records and places its
  // definitions. If something moves, the subfile is rewritten, and open handles refer to the old file: see moved(),
  // which may also be true after an error. This rank's variables() have the new places.
  Status finish_format(int64_t number, Format& format);
  Status finish_formats();  // those that are open
  bool moved() const noexcept { return moved_; }
  void forget_moves() noexcept { moved_ = false; }
  // Rank-local: enters the places that finish_formats() would find. No file and no format changes.
  Status predict_places();
  // The places and lengths of the parts, and the address space. places() may throw std::bad_alloc.
  struct Places {
    std::map<int, SplitVariable> variables;
    FileLine line;
  };
  Places places() const { return {variables_, line_}; }
  void restore(Places places) noexcept {
    variables_.swap(places.variables);
    line_ = places.line;
  }

  // Rank-local: makes the subfile as long as its contiguous variables, also if their last elements were never written.
  Status lengthen(int64_t number) const;
  // Rank-local: the subfile with the files that belong to it goes to stable storage.
  Status sync(int64_t number) const;

  // Rank-local: defines the part of a variable in its subfile, with its attributes. Returns the offset. After an error
  // nothing of it remains.
  Result<int64_t> define_part(Format& format, const VariableDefinition& definition, const SplitVariable& split,
                              int64_t part) const;
  // Rank-local: removes new definitions, the last first. If the storage refuses, they remain, but no map refers to
  // them.
  void withdraw(Format& format, std::span<const std::string> made) const;
  int64_t records() const noexcept;  // number of records of extendible variables that grow together
  // Writes the map's attributes of a variable in the base file.
  Status describe(Format& base, const VariableDefinition& definition, const SplitVariable& split) const;
  // Writes the attributes of the file; `number`: -1 for the base file.
  Status sign(Format& format, int64_t number) const;
  Status write_checksum(Format& base, int64_t sum) const;  // of the map
  // without fill values for sets of an earlier version: see sums_fills_
  int64_t checksum(const Catalog& catalog) const;

  // Kind and value of a checksum of elements (codec/checksum.hpp).
  using Sum = std::array<int64_t, 2>;
  Status put_sum(Format& format, const std::string& path, const Sum& sum) const;
  Status drop_sum(Format& format, const std::string& path) const;  // a missing one is not an error
  // By variable, for a subfile that is not open for update here; with the number of records that are included, which
  // may be more than the set has.
  struct PartSum {
    Sum sum{};
    int64_t records = 1;
  };
  Result<std::map<int, PartSum>> sums(int64_t number, const Catalog& base);
  bool is_summed(int64_t number) const noexcept {
    return summed_.contains(number);
  }  // whether examine() has found any in a subfile of this rank

  // Records that examine() has found in a chunked part if there are more than the set has (a killed job); otherwise 0.
  int64_t leftover(int variable, int64_t part) const noexcept {
    const auto found = leftovers_.find({variable, part});
    return found == leftovers_.end() ? 0 : found->second;
  }
  void forget_leftover(int variable, int64_t part) { leftovers_.erase({variable, part}); }
  // Whether examine() has found an interrupted change of a subfile (Format::is_interrupted()).
  bool is_interrupted(int64_t number) const noexcept { return interrupted_.contains(number); }
  void note_interrupted(int64_t number) { interrupted_.insert(number); }
  // Whether examine() has found more records in a subfile than the set has.
  bool has_more_records(int64_t number) const noexcept { return longer_.contains(number); }
  // Rank-local: removes variables and groups that examine() has found and that the base file does not have, because a
  // job was killed or failed before it updated the base file. Called before anything is defined.
  Status remove_unknown(int64_t number, Format& format);

  // Rank-local: examines a subfile. Returns its fault, packed, and sets the places of the parts in it. out_of_memory,
  // io: it could not be examined.
  Result<int64_t> examine(int64_t number, const Catalog& base, std::map<int, Placement>& places);

  // Rank-local: whether the folder is a real folder or missing, and not a link.
  bool has_own_folder() const;

  // Unexpected files in the folder, one per line, with a description.
  std::vector<std::string> unexpected_files() const;

 private:
  struct ExaminedSubfile {
    int64_t number;
    const Catalog& base;
    const Catalog& found;
    uintmax_t bytes = 0;
  };
  Status limit_open(FormatMode mode);
  Status rewrite(int64_t number, Format& format, const Layout& layout, const TemporaryFile& temporary,
                 bool& named) const;
  // Faults, packed except the first (faults.cpp).
  Fault fault_by_name(int64_t number) const;
  int64_t note_contradiction(int64_t number, std::string text);
  int64_t examine_root(int64_t number, const std::vector<Attribute>& root);
  int64_t examine_part(const ExaminedSubfile& subfile, int variable, const SplitVariable& split,
                       std::map<int, Placement>& places);
  void note_unknown(int64_t number, const Catalog& subfile, const Catalog& base);
  using VariableInSubfile = std::pair<SplitVariable*, size_t>;  // with its index in the subfile
  Result<std::vector<VariableInSubfile>> variables_in(Format& format);
  void enter_places(int64_t number, std::span<const VariableInSubfile> placed, const Layout& layout) noexcept;

  std::string format_, identity_, folder_;
  SubfileNames names_;
  FileLine line_;
  std::map<int, SplitVariable> variables_;
  std::vector<int64_t> faults_;
  std::vector<uint64_t> file_numbers_;
  std::map<int64_t, std::string> fault_texts_;  // by subfile
  std::map<int64_t, std::unique_ptr<Format>> formats_;
  std::string base_path_;  // "": no other program can read the set, or it cannot be read through the base file
  uint64_t base_number_ = 0;
  std::set<int64_t> summed_, longer_, interrupted_;
  std::map<std::pair<int, int64_t>, int64_t> leftovers_;
  std::map<int64_t, std::vector<std::string>> unknown_;  // by subfile: paths, groups before their members
  std::vector<uint8_t> made_;                            // [subfiles] 1: this rank created it
  int64_t found_ = 0;                                    // number of subfiles when the set was opened
  int64_t opens_ = 0;
  SubfileOptions options_;
  Status lost_;  // of a subfile whose changes limit_open() could not keep
  bool moved_ = false;
};

// Returns how a variable is split, or nullptr if it is not. `subfiles`: nullptr if the file is a single file.
inline const SplitVariable* find_split(const Subfiles* subfiles, int variable) noexcept {
  return subfiles != nullptr ? subfiles->find(variable) : nullptr;
}

// A new identity: 32 random hexadecimal digits, grouped like a UUID.
std::string make_identity();

// Name of the folder of a set's subfiles, from its base file's name and its identity.
std::string folder_name(std::string_view base_name, std::string_view identity);

// Whether a name is a single folder's, to be searched only in the folder of the base file.
bool is_plain_name(std::string_view name) noexcept;

}  // namespace windrow
