// SPDX-License-Identifier: BSD-3-Clause
// The header of a netCDF classic file: what it says, and its bytes. All in memory: no MPI, no files.
// Source: NetCDF Classic Format Specification (versions 1 and 2), and PnetCDF's of version 5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"

namespace windrow {

// The numbers that files hold.
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
inline constexpr int64_t k_most_netcdf_bytes = int64_t{1} << 60;  // of a file

struct NetcdfAttribute {
  std::string name;
  NetcdfType type = NetcdfType::none;
  int64_t count = 0;
  std::vector<std::byte> data;  // [count] in native order
};

struct NetcdfDimension {
  std::string name;
  int64_t length = 0;  // of the unlimited one: the number of records, which is not looked at to write
  bool unlimited = false;
};

struct NetcdfVariable {
  std::string name;
  NetcdfType type = NetcdfType::none;
  std::vector<int> dimensions;  // numbers; an unlimited one comes first
  std::vector<NetcdfAttribute> attributes;
  int64_t offset = -1;  // of the first element
};

struct NetcdfContents {
  int version = 1;  // 1, 2 or 5
  int64_t records = 0;
  std::vector<NetcdfDimension> dimensions;
  std::vector<NetcdfAttribute> attributes;
  std::vector<NetcdfVariable> variables;
};

bool has_records(const NetcdfVariable& variable, const NetcdfContents& contents);

// Of all elements of a variable without records, or of one record of another. nullopt: more than 64 bits can count.
std::optional<int64_t> bytes_of(const NetcdfVariable& variable, const NetcdfContents& contents);

// What it takes in the file: up to the next multiple of 4. At most INT64_MAX.
int64_t padded_bytes_of(const NetcdfVariable& variable, const NetcdfContents& contents);

// From one record to the next. The rows of a single variable follow each other without padding.
int64_t record_bytes_of(const NetcdfContents& contents);

// O(contents).
int64_t header_bytes_of(const NetcdfContents& contents);

// The header. Types and numbers fit the version (find_places() makes sure), and variables have offsets. O(header).
std::vector<std::byte> encode_header(const NetcdfContents& contents);

struct DecodedHeader {
  NetcdfContents contents;
  int64_t bytes = 0;  // of the header; 0: it goes on behind what was given
};

// What the header says that `bytes` begin with, the first of a file of `file_bytes`. Nothing outside of `bytes` is
// read, and a file from outside may hold anything. Code::bad_file: what is wrong, and where; unsupported: a file that
// is still being written (of "streaming" length). O(header).
Result<DecodedHeader> decode_header(std::span<const std::byte> bytes, int64_t file_bytes, const std::string& path);

}  // namespace windrow
