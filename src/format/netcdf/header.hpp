// SPDX-License-Identifier: BSD-3-Clause
// The header of a netCDF classic file: its contents and its bytes, in memory only. Sources: NetCDF Classic Format
// Specification (versions 1 and 2), and PnetCDF's specification of version 5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"

namespace windrow {

// The numbers in files.
enum class NetcdfType : int {
  none = 0,
  byte,
  character,
  int16,
  int32,
  float32,
  float64,
  ubyte,
  uint16,
  uint32,
  int64,
  uint64
};

int64_t netcdf_type_bytes(NetcdfType type) noexcept;  // 1 for none

inline constexpr int64_t k_longest_netcdf_name = 256;             // NC_MAX_NAME
inline constexpr int64_t k_most_netcdf_bytes = int64_t{1} << 60;  // maximum size of a file

struct NetcdfAttribute {
  std::string name;
  NetcdfType type = NetcdfType::none;
  int64_t count = 0;
  std::vector<std::byte> data;  // [count] in native order
};

struct NetcdfDimension {
  std::string name;
  int64_t length = 0;  // for the unlimited dimension the number of records, which is ignored when writing
  bool unlimited = false;
};

struct NetcdfVariable {
  std::string name;
  NetcdfType type = NetcdfType::none;
  std::vector<int> dimensions;  // numbers; an unlimited one comes first
  std::vector<NetcdfAttribute> attributes;
  int64_t offset = -1;  // offset of the first element
};

struct NetcdfContents {
  int version = 1;  // 1, 2 or 5
  int64_t records = 0;
  std::vector<NetcdfDimension> dimensions;
  std::vector<NetcdfAttribute> attributes;
  std::vector<NetcdfVariable> variables;
};

bool has_records(const NetcdfVariable& variable, const NetcdfContents& contents);

// Bytes of all elements of a variable without records, or of one record. nullopt: more than 64 bits.
std::optional<int64_t> bytes_of(const NetcdfVariable& variable, const NetcdfContents& contents);

// Space in the file: up to the next multiple of 4, at most INT64_MAX.
int64_t padded_bytes_of(const NetcdfVariable& variable, const NetcdfContents& contents);

// Distance between records. The rows of a single variable have no padding.
int64_t record_bytes_of(const NetcdfContents& contents);

// O(contents).
int64_t header_bytes_of(const NetcdfContents& contents);

// Encodes the header. Types and numbers must fit the version (find_places() checks that), and variables must have
// offsets. O(header).
std::vector<std::byte> encode_header(const NetcdfContents& contents);

struct DecodedHeader {
  NetcdfContents contents;
  int64_t bytes = 0;  // size of the header; 0 if it is longer than the given bytes
};

// Decodes the header at the beginning of `bytes`, the first bytes of a file of `file_bytes`. Reads nothing outside
// `bytes`; the file is untrusted. Code::bad_file if the header is invalid, with the place; unsupported if the file is
// still being written ("streaming" length). O(header).
Result<DecodedHeader> decode_header(std::span<const std::byte> bytes, int64_t file_bytes, const std::string& path);

}  // namespace windrow
