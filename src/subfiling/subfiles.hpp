// SPDX-License-Identifier: BSD-3-Clause
// Subfiles: what every rank knows of a set of files that together hold one file's variables, and the subfiles that this
// rank looks after. The map is in attributes of the base file; a subfile says what its parts are (docs/subfiles.md).
// The base file alone decides what there is: a subfile is flushed before it, and may have variables and records that it
// does not know of. Nothing here talks.
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

// A variable whose parts lie in subfiles: part k in subfile k.
struct SplitVariable {
  Split split;                   // of one record, where it grows
  std::vector<int64_t> offsets;  // [parts] in their files; -1: the subfile is at fault, or nothing has a place yet
  int64_t element_bytes = 0;
  std::string path;
  bool grows = false;            // along the first dimension, which is not cut
  int64_t records = 1;           // that there are
  std::vector<int64_t> strides;  // [parts] from one record to the next in its file, where it grows
  std::vector<int64_t>
      chunk;  // empty, or the shape of chunks: a part has none that are longer than itself, but along its growth
  std::vector<std::byte> fill;  // as stored; empty: none
  std::string filters;          // of chunks, as the option has them: parameters may depend on a chunk's bytes

  SplitVariable(Split cut, std::string name, int64_t bytes, bool is_growing)
      : split(std::move(cut)),
        offsets(static_cast<size_t>(split.parts()), -1),
        element_bytes(bytes),
        path(std::move(name)),
        grows(is_growing),
        records(is_growing ? 0 : 1),
        strides(offsets.size(), 0) {}
  // Of a part, with all records.
  std::vector<int64_t> shape(int64_t part) const {
    std::vector<int64_t> all = split.box(part).count;
    if (grows)
      all[0] = records;
    return all;
  }
  // How a part is cut into chunks. Code::bad_argument: filters that its chunks cannot have.
  Result<Chunking> chunking(int64_t part) const;
  // The shape of the chunks of all parts, where they have one in common and begin at multiples of it; else empty: they
  // are in no regular grid.
  std::vector<int64_t> common_chunk() const;
  int64_t row_bytes(int64_t part) const noexcept {
    return split.elements(part) * element_bytes;
  }  // of one record, or of all
  // Behind the last byte of so many records of a part, from its first; nothing where 64 bits do not hold it.
  std::optional<int64_t> length(int64_t part, int64_t count) const noexcept {
    const auto before = checked_multiply(std::max<int64_t>(0, count - 1), strides[static_cast<size_t>(part)]);
    return before && count > 0 ? checked_add(*before, row_bytes(part)) : before;
  }
};

// By variable and part: where its chunks lie in C order of their grid; or why they are not known.
using PartChunks = std::map<std::pair<int, int64_t>, Result<std::vector<ChunkPlace>>>;

// What a subfile is changed with.
struct SubfileOptions {
  FormatOptions format;
  StoreOptions store;
  int64_t buffer_bytes = 0;  // held while a subfile is written anew
  bool durable = false;
  bool sums = false;  // there will be some, of elements
};

// What is wrong with a subfile.
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
  elsewhere
};

// What a subfile says of its part: first elements along all dimensions, then one past the last ones; of what grows 0
// and 0.
std::vector<int64_t> range_of(const SplitVariable& split, int64_t part);

// What a part says of itself otherwise than the map does, with both values; "": nothing.
std::string contradiction_in(const Variable& own, const SplitVariable& split, int64_t part);

class Subfiles {
 public:
  static constexpr int64_t k_most = 65536;                    // subfiles
  static constexpr std::string_view k_reserved = "windrow_";  // what names of our attributes begin with

  Subfiles(std::string format, std::string identity, std::string folder, SubfileNames names)
      : format_(std::move(format)),
        identity_(std::move(identity)),
        folder_(std::move(folder)),
        names_(std::move(names)),
        faults_(static_cast<size_t>(names_.count), 0),
        file_numbers_(static_cast<size_t>(names_.count), 0) {}

  // The set that a catalog's attributes tell of, nullptr for none; what they say is taken out of the catalog. `path`:
  // of the base file, whose name errors begin with. Code::bad_file: a map that cannot be.
  static Result<std::unique_ptr<Subfiles>> take_from(Catalog& catalog, const std::string& format,
                                                     const std::string& path);

  int64_t count() const noexcept { return names_.count; }  // that there may be
  int64_t used() const noexcept;  // that there are: the first ones, in which variables have parts
  const std::string& identity() const noexcept { return identity_; }
  const std::string& folder() const noexcept { return folder_; }  // its name beside the base file
  const SubfileNames& names() const noexcept { return names_; }
  void move_to(std::string folder) noexcept;  // the folder has taken another name
  std::string relative_name(int64_t number) const {
    return SubfileNames{folder_, names_.ending, names_.count}.path(number);
  }

  const SplitVariable* find(int variable) const noexcept;
  void add(int variable, SplitVariable split) { variables_.insert_or_assign(variable, std::move(split)); }
  void forget_from(int variable) { variables_.erase(variables_.lower_bound(variable), variables_.end()); }
  std::map<int, SplitVariable>& variables() noexcept { return variables_; }
  const std::map<int, SplitVariable>& variables() const noexcept { return variables_; }

  // The line: long enough for what the catalog's contiguous variables and the parts occupy. Files begin at multiples of
  // `unit`, of 1 MiB or more. True: it has changed.
  bool fit_line(const Catalog& catalog, int64_t unit);
  int64_t longest_file() const noexcept { return FileLine::k_begin / 2 / (count() + 1); }
  const FileLine& line() const noexcept { return line_; }
  // Whether the line goes no further than offsets can tell when each file has so many bytes more.
  bool has_room(int64_t bytes) const noexcept { return bytes < longest_file() - line_.room; }
  int64_t place(const SplitVariable& variable, int64_t part) const noexcept {
    return line_.place(part + 1, variable.offsets[static_cast<size_t>(part)]);
  }

  // A fault and, for some, the number that was found.
  void set_fault(int64_t number, int64_t packed) noexcept { faults_[static_cast<size_t>(number)] = packed; }
  // Of Fault::contradicting: which attribute of what, and both values.
  void set_contradiction(int64_t number, std::string text) {
    contradictions_.insert_or_assign(number, std::move(text));
  }
  const std::string& contradiction(int64_t number) const { return contradictions_.at(number); }
  static bool contradicts(int64_t packed) noexcept { return static_cast<Fault>(packed & 0xff) == Fault::contradicting; }
  static int64_t pack(Fault fault, int64_t found = 0) noexcept { return static_cast<int64_t>(fault) + (found << 8); }
  Status fault_of(int64_t number) const;  // Code::bad_file, not_found or no_permission, with the subfile's name

  // The number of a subfile's file (storage/file_system.hpp), 0: not known.
  uint64_t file_number_of(int64_t number) const noexcept { return file_numbers_[static_cast<size_t>(number)]; }
  void set_file_number(int64_t number, uint64_t file) noexcept { file_numbers_[static_cast<size_t>(number)] = file; }
  // Rank-local: whether a subfile still has its name; where not, nothing more is written to it.
  Status check_name(int64_t number);

  // Those that a rank looks after: about as many each, the first by rank 0.
  int owner_of(int64_t number, int ranks) const noexcept { return static_cast<int>(number * ranks / count()); }

  // Of this rank's. Formats are opened when they are asked for; some are closed again, since a process may have only so
  // many files open.
  Result<Format*> format(int64_t number, FormatMode mode);
  void set_options(SubfileOptions options) { options_ = std::move(options); }
  void drop(int64_t number);  // one that format() has made here, with its file; else nothing
  Status close_formats();
  Status flush_formats();
  int64_t opens() const noexcept { return opens_; }

  // Rank-local, and nothing to do but for a format that places late: the subfile has all records, and what is defined
  // has its place. Where something had another, the subfile is written anew, and whoever has it open has an old one:
  // moved(), as it may be after an error. This rank's variables() have the places that are in force.
  Status settle(int64_t number, Format& format);
  Status settle_formats();  // of those that are open
  bool moved() const noexcept { return moved_; }
  void forget_moves() noexcept { moved_ = false; }

  // Rank-local: makes the part of a variable in its subfile, and its attributes. The offset. After an error nothing of
  // it is there.
  Result<int64_t> define_part(Format& format, const VariableDefinition& definition, const SplitVariable& split,
                              int64_t part) const;
  // Rank-local: takes back what was made, the last first. What the storage refuses stays there: no map leads to it.
  void withdraw(Format& format, std::span<const std::string> made) const;
  int64_t records() const noexcept;  // of all that grows, where it grows as one
  // Its attributes in the base file.
  Status describe(Format& base, const VariableDefinition& definition, const SplitVariable& split) const;
  // Of the file as a whole; `number`: -1 for the base file.
  Status sign(Format& format, int64_t number) const;
  Status seal(Format& base, int64_t sum) const;    // the map's checksum
  int64_t checksum(const Catalog& catalog) const;  // of an early set without the fill values: see sums_fills_

  // The kind and the value of a checksum of elements (codec/checksum.hpp).
  using Sum = std::array<int64_t, 2>;
  Status put_sum(Format& format, const std::string& path, const Sum& sum) const;
  Status drop_sum(Format& format, const std::string& path) const;  // one that is not there is fine
  // By variable, of a subfile that is not open to be changed here; with the number of records that are summed up, which
  // may be more than the set has.
  struct PartSum {
    Sum sum{};
    int64_t records = 1;
  };
  Result<std::map<int, PartSum>> sums(int64_t number, const Catalog& base);
  bool is_summed(int64_t number) const noexcept {
    return summed_.contains(number);
  }  // whether examine() has seen any; one that a rank looks after

  // Records that examine() has seen of a part with chunks, where there are more than the set has: a job was killed.
  // Else 0.
  int64_t leftover(int variable, int64_t part) const noexcept {
    const auto found = leftovers_.find({variable, part});
    return found == leftovers_.end() ? 0 : found->second;
  }
  void forget_leftover(int variable, int64_t part) { leftovers_.erase({variable, part}); }
  // Whether examine() has seen more records in a subfile than the set has.
  bool has_more_records(int64_t number) const noexcept { return longer_.contains(number); }
  // Rank-local: takes away the variables and groups that examine() has seen and the base file does not know: a job was
  // killed, or refused by the storage, before it came to the base file. Before anything is defined.
  Status remove_unknown(int64_t number, Format& format);

  // Looks at a subfile: what is wrong with it, packed; and where the parts of variables lie in it. Code::out_of_memory:
  // nothing is known of it.
  Result<int64_t> examine(int64_t number, const Catalog& base, std::map<int, Placement>& places);

  // Rank-local: whether its folder is one, or nothing: a link leads elsewhere.
  bool has_own_folder() const;

  // Files in the folder that the set does not have, one a line, and what they are.
  std::vector<std::string> strangers() const;

 private:
  std::string format_, identity_, folder_;
  SubfileNames names_;
  FileLine line_;
  std::map<int, SplitVariable> variables_;
  std::vector<int64_t> faults_;
  std::vector<uint64_t> file_numbers_;
  std::map<int64_t, std::string> contradictions_;  // by subfile
  std::map<int64_t, std::unique_ptr<Format>> formats_;
  std::set<int64_t> summed_, longer_;
  void note_unknown(int64_t number, const Catalog& subfile, const Catalog& base);
  Result<std::vector<std::pair<SplitVariable*, size_t>>> variables_in(Format& format);

  std::map<std::pair<int, int64_t>, int64_t> leftovers_;
  std::map<int64_t, std::vector<std::string>> unknown_;  // by subfile: paths, groups before their members
  std::vector<uint8_t> made_;                            // [subfiles] 1: this rank has created it
  int64_t found_ = 0;                                    // that there were when the set was opened
  int64_t opens_ = 0;
  SubfileOptions options_;
  bool moved_ = false;
  bool sums_fills_ = true;  // false: it was written when fill values were not in the map's checksum, and keeps to that
};

// A new identity: 32 random hexadecimal digits, grouped as in a UUID.
std::string make_identity();

// The folder of a set's subfiles, by its base file's name and its identity.
std::string folder_name(std::string_view base_name, std::string_view identity);

// Whether a name is one folder's, to be looked for beside the base file and nowhere else.
bool is_plain_name(std::string_view name) noexcept;

}  // namespace windrow
