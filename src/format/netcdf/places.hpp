// SPDX-License-Identifier: BSD-3-Clause
// Places of the variables of a netCDF classic file, and the version of its header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/format.hpp"
#include "format/netcdf/header.hpp"

namespace windrow {

struct NetcdfPlaces {
  int version = 1;
  std::vector<std::byte> header;  // empty: none yet
  std::vector<int64_t> offsets;   // [variables]
  std::vector<bool> has_records;  // [variables]
  std::vector<int64_t> bytes;     // [variables] of all, or of one record
  int64_t record_bytes = 0;       // from one record to the next
  int64_t data_begin = 0;         // end of the header's space
  int64_t records_begin = 0;
};

// Places all of `contents`, which extends what `before` had, and keeps existing places if possible. `lowest` to
// `highest`: the allowed versions; the smallest sufficient one is chosen. Code::unsupported, with the reason, if no
// version is sufficient.
Result<NetcdfPlaces> find_places(NetcdfContents contents, const NetcdfPlaces& before, int lowest, int highest,
                                 const FormatOptions& options);

// Returns the reason why the version cannot hold a dimension; "" if it can.
std::string is_too_long(std::string_view dimension, int64_t length, int version);

// The sum of the first `variables` of a file, in bytes or bytes of a record.
struct NetcdfSum {
  size_t variables = 0;
  int64_t bytes = 0, largest = 0;
};

// Returns the reason why the version cannot hold a variable together with the defined variables; "" if it can. Checked
// at definition, because every later flush would fail. `sum`: the sum over some of the defined variables; becomes that
// of all. Amortized O(1) if the sum is far from the limits, else O(variables) for versions 1 and 2.
std::string what_does_not_fit(const VariableDefinition& definition, std::span<const Variable> others, int version,
                              NetcdfSum& sum);

// What find_places() uses besides the variables. `header_bytes`: an upper bound of the size of the header.
struct NetcdfBound {
  int64_t header_bytes = 0;
  const NetcdfPlaces& before;
  const FormatOptions& options;
};

// Whether find_places() is certain not to refuse the variables because of their places. If not, only find_places() can
// tell. `sum`: as above. Amortized O(1).
bool fits_surely(std::span<const Variable> variables, int64_t records, int version, NetcdfSum& sum,
                 const NetcdfBound& bound);

// Whether a placed variable moves, or the header would overlap one.
bool moves(const NetcdfPlaces& before, const NetcdfPlaces& after) noexcept;

// Removes one variable.
void forget(NetcdfPlaces& places, size_t variable) noexcept;

NetcdfPlaces places_of(const NetcdfContents& contents, std::vector<std::byte> header);
Variable variable_of(const NetcdfVariable& variable, const NetcdfContents& contents, int64_t record_bytes);

// The end of the last variable or record.
int64_t end_of(const NetcdfPlaces& places, int64_t records) noexcept;

// Offset of the number of records in the header.
inline constexpr size_t k_records_at = 4;
std::span<const std::byte> records_in(const NetcdfPlaces& places) noexcept;
void put_records(NetcdfPlaces& places, int64_t records) noexcept;

}  // namespace windrow
