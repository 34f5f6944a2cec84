// SPDX-License-Identifier: BSD-3-Clause
// Where the chunks of all variables lie, as a text for Zarr's readers (kerchunk/kerchunk.hpp).
#pragma once

#include <string>
#include <vector>

#include "base/status.hpp"
#include "format/format.hpp"
#include "subfiling/subfiles.hpp"

namespace windrow {

// What is asked for the places of chunks.
struct ReferenceSources {
  const Catalog& catalog;
  const Subfiles* subfiles;  // nullptr: the file is one
  const PartChunks& chunks;  // of variables that are split
  Format& format;
};

struct ReferenceText {
  std::string text;
  std::vector<std::string> left_out;  // and why
};

// `name`: of the base file as the text names it; `prefix` stands before all names.
Result<ReferenceText> find_references(const ReferenceSources& sources, std::string name, std::string prefix);

// Split variables whose chunks are one regular grid in subfiles without faults, so that references can have them.
std::vector<int> referable_parts(const Catalog& catalog, const Subfiles& subfiles);

// Of the text beside a file.
std::string references_path(const std::string& file);

// Writes the text of a file to `path`, "" beside it, by way of a temporary. The lines of what is left out.
Result<std::string> write_reference_file(const ReferenceSources& sources, const std::string& file,
                                         const std::string& path, const std::string& prefix, bool durable);

}  // namespace windrow
