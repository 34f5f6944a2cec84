// SPDX-License-Identifier: BSD-3-Clause
// Kerchunk reference files: the variables of a file, or of a set of files, as arrays of one Zarr store. The text gives
// the place of each chunk in its file. fsspec, zarr and xarray open it. Made from a catalog; uses no MPI and no files.
// Sources: https://fsspec.github.io/kerchunk/spec.html (version 1),
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

// Each takes about 70 bytes of text, which every reader loads.
inline constexpr int64_t k_most_references = 1'000'000;

// Place of the stored bytes of one chunk. offset -1: it was never written.
struct ChunkReference {
  int64_t file = 0;  // index of the file in the text
  int64_t offset = -1;
  int64_t bytes = 0;
};

struct ReferencedArray {
  int variable = 0;  // index in the catalog
  // [dimensions] of the array's regular grid, each at least 1; every chunk is stored at full size
  std::vector<int64_t> chunk;
  std::vector<ChunkReference> references;  // in C order of the grid; none for an empty array
};

// Why the variable cannot be a Zarr array, independently of its place: its type, filters or name; or "".
std::string why_no_array(const Variable& variable);

// Why an attribute cannot be one of an array or group, or "". Attributes that only describe the file's storage are not
// reported.
std::string why_no_attribute(const Attribute& attribute);

// Why `missing` chunks of this size that were never written cannot be represented, or "".
std::string why_no_fill(const Variable& variable, int64_t missing, int64_t elements);

// Shape of the largest boxes that, in a regular grid from the beginning, end at all part boundaries (`bounds` as in
// Split), and whose elements are contiguous in their part: rows of a part, or pieces of them. At most 64 MiB if they
// can be divided into at least 1 MiB. [dimensions]
std::vector<int64_t> regular_chunk(std::span<const std::vector<int64_t>> bounds, int64_t element_bytes);

// Number of chunks of an array; nullopt: more than k_most_references.
std::optional<int64_t> count_of_chunks(std::span<const int64_t> shape, std::span<const int64_t> chunk) noexcept;

// Bytes at the end of each stored chunk that Zarr's filters must not see: HDF5's checksum after all other filters.
int64_t unread_tail(const Chunking& chunking) noexcept;

// The whole text. `left_out`: messages for users, one per line; other programs ignore them. May throw std::bad_alloc.
std::string references_text(const Catalog& catalog, std::span<const ReferencedArray> arrays,
                            std::span<const std::string> files, std::span<const std::string> left_out);

// Beginning of every such text.
inline constexpr std::string_view k_references_begin = "{\"version\":1,\"refs\":{\n\".zgroup\":";

}  // namespace windrow
