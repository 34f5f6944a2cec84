// SPDX-License-Identifier: BSD-3-Clause
// SplitPolicy: how many subfiles a file gets and how its variables are split over them, as options ask for it. Uses no
// MPI and no files, and gives the same on all ranks.
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

// Number of subfiles that options ask for: by `files`, or by the names that other libraries have for it. 0: they do
// not. Code::bad_argument: they enable subfiles and give no valid number.
Result<int64_t> asked_subfiles(const Settings& settings, int ranks);

// The same for the file that a program creates with these options. 1: a single file; 0: the library chooses.
Result<int64_t> wanted_subfiles(const Settings& settings, int ranks);

// How many subfiles a new file gets when variables are defined.
struct SubfileRequest {
  int64_t count = 0;    // 0: it stays as it is
  bool of_all = false;  // also variables whose options do not say are split over them
};

struct SplitOptions {
  std::string path;               // of the file, for messages
  bool is_new = false;            // the file is not published yet, so it can become a set
  int64_t subfiles = 1;           // for variables whose options do not say
  bool count_was_chosen = false;  // the library has chosen this number: parts have k_least_part_bytes
  int64_t most_file_bytes = 0;    // of each file (subfile_bytes); 0: any
  int64_t expected_bytes = 0;     // of all variables; 0: unknown
  int64_t alignment = 0;
};

class SplitPolicy {
 public:
  // `set`: nullptr if the file is a single file. Catalog and set must outlive this object.
  SplitPolicy(SplitOptions options, const Catalog& catalog, const Subfiles* set)
      : options_(std::move(options)), catalog_(catalog), set_(set) {}

  // Number of subfiles that a variable's own options ask for, 1: none; 0: they do not say, or ask for what the file has
  // anyway. `file`: options of the file.
  Result<int64_t> subfiles_of_variable(const Settings& own, const Settings& file, int ranks) const;

  // The set that a new file becomes for these definitions. Nothing if it is a set already, or remains a single file.
  Result<SubfileRequest> request_for(std::span<const VariableDefinition> definitions) const;

  // By number of the variable, from `first` on: those definitions that are split over the set.
  Result<std::map<int, SplitVariable>> split(std::span<const VariableDefinition> definitions, int first) const;

  // Code::bad_argument: with these definitions the set would not fit into its address space.
  Status check_room(std::span<const VariableDefinition> definitions, const std::map<int, SplitVariable>& splits,
                    int first) const;

  // How a variable is split if variables whose options do not say are split over `count` subfiles. nullopt: it is not.
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
