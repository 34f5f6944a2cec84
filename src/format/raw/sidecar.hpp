// SPDX-License-Identifier: BSD-3-Clause
// The raw format's sidecar: a catalog as JSON text, and back. The text of a file is untrusted.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "format/format.hpp"

namespace windrow {

inline constexpr int64_t k_sidecar_version = 1;
inline constexpr int64_t k_most_sidecar_bytes = int64_t{1} << 30;

// Variables with text of variable length, by path; those that were never written are missing.
using TextLists = std::map<std::string, std::vector<std::string>>;

// Split variables, by path.
using PartLists = std::map<std::string, std::vector<Part>>;

// `bytes`: size of the data file. Code::bad_argument: a name that is not UTF-8, which JSON cannot represent;
// unsupported: the text would have more than k_most_sidecar_bytes.
Result<std::string> sidecar_text(const Catalog& catalog, const TextLists& texts, const PartLists& parts, int64_t bytes);

struct RawSidecar {
  Catalog catalog;
  TextLists texts;
  PartLists parts;
  int64_t bytes = 0;        // size of the data file
  bool is_interim = false;  // it was read from an interim sidecar
};

// Code::bad_file, with the place in the text: not JSON, not a sidecar, a newer version, or invalid contents: types,
// shapes, places outside `file_bytes` or overlapping, repeated names, missing parents. `file_number`: of the data file
// (storage/file_system.hpp). An interim sidecar describes two files, and is refused for any other.
Result<RawSidecar> parse_sidecar(std::string_view text, const std::string& path, int64_t file_bytes,
                                 uint64_t file_number = 0);

// A sidecar and the file number of its data file.
struct NumberedSidecar {
  std::string_view text;
  uint64_t file_number = 0;
};
// The sidecar of a data file while another file takes its name: that of the present file, with that of the new one in
// it. "": the present file is not described by its sidecar.
std::string interim_sidecar_text(const NumberedSidecar& replaced, const NumberedSidecar& replacing);

// Whether a text claims to be a sidecar, whether valid or not.
bool is_sidecar(std::string_view text);

}  // namespace windrow
