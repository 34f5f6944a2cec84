// SPDX-License-Identifier: BSD-3-Clause
// Kerchunk: the variables of a file, or of a set of files, as the arrays of one Zarr store, as a text that says in
// which bytes of which file each chunk lies. fsspec, zarr and xarray open it. Made out of a catalog; knows nothing of
// MPI, and neither opens nor writes a file. Source: https://fsspec.github.io/kerchunk/spec.html (version 1),
// https://zarr-specs.readthedocs.io/en/latest/v2/v2.0.html.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "format/format.hpp"

namespace windrow {

// About 70 bytes of text each, which every reader takes into its memory.
inline constexpr int64_t k_most_references = 1'000'000;

// Where the stored bytes of one chunk lie. offset -1: nobody has written it.
struct ChunkReference {
  int64_t file = 0;  // number among those that the text names
  int64_t offset = -1;
  int64_t bytes = 0;
};

struct ReferencedArray {
  int variable = 0;            // in the catalog
  std::vector<int64_t> chunk;  // [dimensions] of the array's regular grid, each at least 1; every chunk is stored whole
  std::vector<ChunkReference> references;  // in C order of the grid; none for an array without elements
};

// "" or why no array of Zarr is the variable, whatever its place: its type, its filters, its name.
std::string why_no_array(const Variable& variable);

// "" or why an attribute cannot be among those of an array or group; those that only say how the file is made are not
// missed.
std::string why_no_attribute(const Attribute& attribute);

// "" or why chunks of the variable that nobody has written cannot be told of: `missing` of them, so many elements each.
std::string why_no_fill(const Variable& variable, int64_t missing, int64_t elements);

// The largest boxes of one shape that, laid side by side from the beginning on, end where all ranges end (`bounds` as
// in Split; no part may cut one), and whose elements lie one behind the other in their part: rows of a part, if need be
// shorter than it. 64 MiB at most where they can be cut so that they keep 1 MiB. [dimensions]
std::vector<int64_t> regular_chunk(std::span<const std::vector<int64_t>> bounds, int64_t element_bytes);

// Chunks in the grid of an array; nullopt: more than k_most_references.
std::optional<int64_t> count_of_chunks(std::span<const int64_t> shape, std::span<const int64_t> chunk) noexcept;

// The last bytes of each stored chunk that Zarr's filters do not take: HDF5's checksum behind all that others have
// made.
int64_t unread_tail(const Chunking& chunking) noexcept;

// The whole text. `left_out`: for people, one a line; other programs pass over it. May throw std::bad_alloc.
std::string references_text(const Catalog& catalog, std::span<const ReferencedArray> arrays,
                            std::span<const std::string> files, std::span<const std::string> left_out);

// What every such text begins with.
inline constexpr std::string_view k_references_begin = "{\"version\":1,\"refs\":{\n\".zgroup\":";

}  // namespace windrow
