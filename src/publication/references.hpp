// SPDX-License-Identifier: BSD-3-Clause
// References: the text with the places of the chunks of all variables, for Zarr's readers (kerchunk/kerchunk.hpp).
// Rank 0; no call communicates.
#pragma once

#include <string>
#include <vector>

#include "base/status.hpp"
#include "format/format.hpp"
#include "subfiling/subfiles.hpp"

namespace windrow {

// Where the places of chunks are found. The caller owns all of it.
struct ReferenceSources {
  const Catalog& catalog;
  const Subfiles* subfiles;  // nullptr if the file is a single file
  const PartChunks& chunks;  // of split variables
  Format& format;
};

struct ReferenceText {
  std::string text;
  std::vector<std::string> left_out;  // variables without references, with the reason
};

// Makes the text. `name`: the name of the base file in the text. `prefix`: precedes all names in the text.
Result<ReferenceText> find_references(const ReferenceSources& sources, std::string name, std::string prefix);

// Split variables whose chunks are one regular grid in subfiles without faults, so that references can have them.
std::vector<int> referable_parts(const Catalog& catalog, const Subfiles& subfiles);

// The path of the text beside a file.
std::string references_path(const std::string& file);

// Writes the text of a file to a temporary file and renames it to `path`; "" is the path beside the file. Returns the
// variables without references, one per line.
Result<std::string> write_reference_file(const ReferenceSources& sources, const std::string& file,
                                         const std::string& path, const std::string& prefix, bool durable);

}  // namespace windrow
