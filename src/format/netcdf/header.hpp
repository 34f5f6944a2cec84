// SPDX-License-Identifier: BSD-3-Clause
// The header of a netCDF classic file, as PnetCDF writes and reads it. It works on a scratch file on this process alone, which holds
// nothing but the header; the caller moves its bytes to and from the real one. Needs MPI to run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"

namespace windrow {

struct NetcdfAttribute {
  std::string name;
  int type = 0;                       // NC_BYTE ... NC_UINT64
  int64_t count = 0;
  std::vector<std::byte> data;        // [count] in native order
};

struct NetcdfDimension {
  std::string name;
  int64_t length = 0;                 // of the unlimited one, records: not looked at to write
  bool unlimited = false;
};

struct NetcdfVariable {
  std::string name;
  int type = 0;
  std::vector<int> dimensions;        // numbers; an unlimited one comes first
  std::vector<NetcdfAttribute> attributes;
  int64_t offset = -1;                // of the first element; read_header() only
};

struct NetcdfContents {
  int version = 1;                    // 1, 2 or 5
  int64_t records = 0;
  std::vector<NetcdfDimension> dimensions;
  std::vector<NetcdfAttribute> attributes;
  std::vector<NetcdfVariable> variables;
  int64_t record_bytes = 0;           // from one record to the next; read_header() only
};

// Where data go, in bytes.
struct NetcdfSpaces {
  int64_t behind_header = 0;          // free, before the first variable
  int64_t alignment = 4;              // of each variable without records
  int64_t before_records = 0;         // free, behind the last of them
  int64_t record_alignment = 4;       // of the first record
};

struct NetcdfHeader {
  std::vector<std::byte> bytes;
  std::vector<int64_t> offsets;       // of the variables
  int64_t record_bytes = 0;
};

// Code::unsupported: the version cannot hold it; bad_argument: a name. Messages are PnetCDF's, with what they are about. O(header).
Result<NetcdfHeader> write_header(const NetcdfContents& contents, const NetcdfSpaces& spaces);

// What a header takes, as the NetCDF Classic Format Specification has it. O(contents).
int64_t header_bytes_of(const NetcdfContents& contents);

// As PnetCDF puts it into a file: in Unicode's normal form C. Asks PnetCDF, in a scratch file.
Result<std::string> name_in_file(const std::string& name);

// `bytes` have passed check_header(). Code::bad_file: PnetCDF cannot read them all the same.
Result<NetcdfContents> read_header(std::span<const std::byte> bytes);

}  // namespace windrow
