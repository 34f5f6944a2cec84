// SPDX-License-Identifier: BSD-3-Clause
// SplitPolicy: the number of subfiles of a file, and the split of its variables over them, by the options. Pure, with
// the same result on all ranks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "base/settings.hpp"
#include "base/status.hpp"
#include "extent/split.hpp"
#include "format/format.hpp"
#include "subfiling/subfiles.hpp"

namespace windrow {

// The number of subfiles that options request, by `files` or by the names that other libraries use. 0 if they request
// none. bad_argument if they enable subfiles without a valid number.
Result<int64_t> asked_subfiles(const Settings& settings, int ranks);

// The same for the file that a program creates with these options. 1: a single file; 0: the library chooses.
Result<int64_t> wanted_subfiles(const Settings& settings, int ranks);

// The set that a new file becomes when variables are defined.
struct SubfileRequest {
  int64_t count = 0;    // number of subfiles; 0 if the file stays as it is
  bool of_all = false;  // variables whose options request no number are also split over them
};

struct SplitOptions {
  std::string path;               // path of the file, for messages
  bool is_new = false;            // the file is not published yet, so it can become a set
  int64_t subfiles = 1;           // for variables whose options request no number
  bool count_was_chosen = false;  // the library has chosen this number: parts have at least k_least_part_bytes
  int64_t most_file_bytes = 0;    // maximum size of each file (subfile_bytes); 0 if there is none
  int64_t expected_bytes = 0;     // expected size of all variables; 0 if unknown
  int64_t alignment = 0;
};

class SplitPolicy {
 public:
  // `set`: nullptr if the file is a single file. Catalog and set must outlive this object.
  SplitPolicy(SplitOptions options, const Catalog& catalog, const Subfiles* set)
      : options_(std::move(options)), catalog_(catalog), set_(set) {}

  // The number of subfiles that the options of a variable request; 1 requests none. 0 if they request no number, or the
  // number that the file has by default. `file`: the options of the file.
  Result<int64_t> subfiles_of_variable(const Settings& own, const Settings& file, int ranks) const;

  // The set that a new file becomes for these definitions. The count is 0 if it is a set already, or remains a single
  // file.
  Result<SubfileRequest> request_for(std::span<const VariableDefinition> definitions) const;

  // The definitions that are split over the set, by number of the variable. `first`: the number of the first
  // definition.
  Result<std::map<int, SplitVariable>> split(std::span<const VariableDefinition> definitions, int first) const;

  // bad_argument if the set with these definitions would not fit into its address space.
  Status check_room(std::span<const VariableDefinition> definitions, const std::map<int, SplitVariable>& splits,
                    int first) const;

  // The split of a variable if `count` subfiles are the default for variables. nullopt if it is not split.
  Result<std::optional<Split>> split_of(const VariableDefinition& definition, int64_t count) const;

 private:
  Result<int64_t> subfiles_asked_by(const VariableDefinition& definition) const;
  Result<int64_t> files_for_size(std::span<const VariableDefinition> definitions) const;
  Result<bool> fits_in_files(std::span<const VariableDefinition> definitions, int64_t count) const;
  int64_t parts_for(const VariableDefinition& definition, const SplitRequest& request, bool asked) const;

  SplitOptions options_;
  const Catalog& catalog_;
  const Subfiles* set_;
};

}  // namespace windrow
