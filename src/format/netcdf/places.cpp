// SPDX-License-Identifier: BSD-3-Clause
#include "format/netcdf/places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "base/checked.hpp"
#include "base/units.hpp"
#include "format/check.hpp"
#include "format/netcdf/dimensions.hpp"
#include "format/netcdf/types.hpp"

namespace windrow {
namespace {

// Room for a few attributes more, and a header that is one page.
constexpr int64_t k_page = 4096;

bool has_records(const NetcdfVariable& variable, const NetcdfContents& contents) {
  return !variable.dimensions.empty() && contents.dimensions[static_cast<size_t>(variable.dimensions.front())].unlimited;
}

// Of a variable without records, or of one record.
std::optional<int64_t> bytes_of(const NetcdfVariable& variable, const NetcdfContents& contents) {
  std::optional<int64_t> bytes = netcdf_type_bytes(variable.type);
  for (const int number : variable.dimensions) {
    const NetcdfDimension& dimension = contents.dimensions[static_cast<size_t>(number)];
    if (bytes && !dimension.unlimited) bytes = checked_multiply(*bytes, dimension.length);
  }
  return bytes;
}

// Behind the last variable without records.
int64_t end_of_fixed(const NetcdfContents& contents, const NetcdfHeader& header, int64_t data_begin) {
  int64_t end = data_begin;
  for (size_t i = 0; i < contents.variables.size(); ++i)
    if (!has_records(contents.variables[i], contents))
      end = std::max(end, header.offsets[i] + ceil_divide(bytes_of(contents.variables[i], contents).value_or(0), 4) * 4);
  return end;
}

int64_t begin_of(const NetcdfContents& contents, const std::vector<int64_t>& offsets, bool records) {
  int64_t begin = INT64_MAX;
  for (size_t i = 0; i < offsets.size(); ++i)
    if (has_records(contents.variables[i], contents) == records) begin = std::min(begin, offsets[i]);
  return begin == INT64_MAX ? 0 : begin;
}

int version_needed(const NetcdfContents& contents) {
  int needed = 1;
  const auto look = [&](const NetcdfAttribute& each) { needed = std::max(needed, version_for(each.type)); };
  for (const NetcdfAttribute& each : contents.attributes) look(each);
  for (const NetcdfVariable& variable : contents.variables) {
    needed = std::max(needed, version_for(variable.type));
    for (const NetcdfAttribute& each : variable.attributes) look(each);
  }
  return needed;
}

// What of the contents is too large for a version, and which is not; "" where that cannot be told.
// Source: NetCDF Classic Format Specification, "Notes on vsize" and the limits of each version.
std::string what_is_too_large(const NetcdfContents& contents, int version) {
  constexpr int64_t k_most_of_2 = int64_t{UINT32_MAX} - 3;
  const int64_t most = version == 1 ? int64_t{INT32_MAX} - 3 : k_most_of_2;
  const auto say = [&](const std::string& name, const std::string& why, int better) {
    return fmt::format("variable \"{}\" {}, which version {} of netCDF classic cannot hold; version {} does (netcdf_version={}), and format=hdf5", name,
                       why, version, better, better);
  };
  for (const NetcdfDimension& each : contents.dimensions)
    if (each.length > most) {
      const int better = version == 1 && each.length <= k_most_of_2 ? 2 : 5;
      return fmt::format("dimension \"{}\" of length {} is longer than version {} of netCDF classic can have it; version {} does (netcdf_version={}), and "
                         "format=hdf5", each.name, each.length, version, better, better);
    }
  int64_t at = 0;
  for (const bool records : {false, true})
    for (const NetcdfVariable& each : contents.variables) {
      if (has_records(each, contents) != records) continue;
      const int64_t bytes = bytes_of(each, contents).value_or(INT64_MAX / 2);
      if (version == 1 && at > INT32_MAX) return say(each.name, fmt::format("would begin behind {}", counted(at, "byte")), 2);
      if (bytes > most && &each != &contents.variables.back()) return say(each.name, fmt::format("has {}{}", counted(bytes, "byte"), records ? " a record" : ""), version == 1 && bytes <= k_most_of_2 ? 2 : 5);
      at = checked_add(at, bytes).value_or(INT64_MAX / 2);
    }
  return "";
}

int64_t up(int64_t value, int64_t unit) { return ceil_divide(value, unit) * unit; }

struct MadeHeader {
  NetcdfHeader header;
  int64_t data_begin = 0;
};

// A header that is thought to have `header_bytes`; where it has not, it has to be made again.
Result<MadeHeader> header_by(int64_t header_bytes, int64_t alignment, const NetcdfContents& contents, const NetcdfPlaces& before, const FormatOptions& options) {
  // One that has outgrown its room gets twice what it needs, so that this does not happen for each attribute.
  const int64_t spare = before.data_begin > 0 ? header_bytes : 0;
  const bool fits = before.data_begin >= header_bytes;
  const int64_t data_begin = fits ? before.data_begin : up(up(header_bytes + options.header_room + spare, k_page), alignment);
  NetcdfSpaces spaces{.behind_header = data_begin - header_bytes, .alignment = alignment, .before_records = 0, .record_alignment = std::lcm<int64_t>(4, options.record_alignment)};
  auto header = write_header(contents, spaces);
  if (!header.ok()) return header.status();
  const int64_t end = end_of_fixed(contents, header.value(), up(data_begin, alignment));
  if (fits && before.records_begin >= end && before.records_begin != begin_of(contents, header.value().offsets, true)) {
    spaces.before_records = before.records_begin - end;
    spaces.record_alignment = 4;
    header = write_header(contents, spaces);
    if (!header.ok()) return header.status();
  }
  return MadeHeader{std::move(header).value(), data_begin};
}

Result<NetcdfPlaces> places_by(int64_t alignment, const NetcdfContents& contents, const NetcdfPlaces& before, const FormatOptions& options) {
  const int64_t foretold = header_bytes_of(contents);
  auto made = header_by(foretold, alignment, contents, before, options);
  if (!made.ok()) return made.status();
  if (const auto told = static_cast<int64_t>(made.value().header.bytes.size()); told != foretold) {
    made = header_by(told, alignment, contents, before, options);
    if (!made.ok()) return made.status();
  }
  auto [header, data_begin] = std::move(made).value();
  NetcdfPlaces places;
  places.version = contents.version;
  places.header = std::move(header.bytes);
  places.offsets = std::move(header.offsets);
  places.record_bytes = header.record_bytes;
  places.data_begin = data_begin;
  for (const NetcdfVariable& each : contents.variables) {
    places.has_records.push_back(has_records(each, contents));
    places.bytes.push_back(bytes_of(each, contents).value_or(0));
  }
  places.records_begin = begin_of(contents, places.offsets, true);
  return places;
}

// Whatever alignment put the variables where they are, one by the greatest number that divides all their places does the same.
int64_t alignment_of(const NetcdfPlaces& places) {
  int64_t divisor = 0;
  for (size_t i = 0; i < places.offsets.size(); ++i)
    if (!places.has_records[i]) divisor = std::gcd(divisor, places.offsets[i]);
  return std::gcd(divisor, places.records_begin);  // PnetCDF ends what has no records at a multiple too
}

// What has a place keeps it where all can, though another alignment be asked for now than when the file was made.
Result<NetcdfPlaces> places_in(const NetcdfContents& contents, const NetcdfPlaces& before, const FormatOptions& options) {
  const int64_t asked = std::lcm<int64_t>(4, options.alignment), own = alignment_of(before);
  auto places = places_by(asked, contents, before, options);
  if (!places.ok() || !moves(before, places.value()) || own < 4 || own == asked) return places;
  auto as_before = places_by(own, contents, before, options);
  return as_before.ok() && !moves(before, as_before.value()) ? std::move(as_before) : std::move(places);
}

}  // namespace

Result<NetcdfPlaces> find_places(NetcdfContents contents, const NetcdfPlaces& before, int lowest, int highest, const FormatOptions& options) {
  constexpr std::array k_versions{1, 2, 5};
  lowest = std::max(lowest, version_needed(contents));
  Status refused{Code::unsupported, fmt::format("what it holds needs version {} of netCDF classic, and netcdf_version allows {}", lowest, highest)};
  for (const int version : k_versions) {
    if (version < lowest || version > highest) continue;
    contents.version = version;
    auto places = places_in(contents, before, options);
    if (places.ok() || places.status().code() != Code::unsupported) return places;
    const std::string what = what_is_too_large(contents, version);
    refused = what.empty() ? places.status() : Status(Code::unsupported, what);
  }
  return refused;
}

bool moves(const NetcdfPlaces& before, const NetcdfPlaces& after) noexcept {
  if (before.offsets.empty()) return false;
  if (static_cast<int64_t>(after.header.size()) > before.data_begin) return true;
  for (size_t i = 0; i < before.offsets.size(); ++i) {
    if (before.offsets[i] != after.offsets[i]) return true;
    if (before.has_records[i] && before.record_bytes != after.record_bytes) return true;
  }
  return false;
}

void forget(NetcdfPlaces& places, size_t variable) noexcept {
  if (variable >= places.offsets.size()) return;
  const auto number = static_cast<std::ptrdiff_t>(variable);
  places.offsets.erase(places.offsets.begin() + number);
  places.has_records.erase(places.has_records.begin() + number);
  places.bytes.erase(places.bytes.begin() + number);
}

NetcdfPlaces places_of(const NetcdfContents& contents, std::vector<std::byte> header) {
  NetcdfPlaces places;
  places.version = contents.version;
  places.header = std::move(header);
  places.record_bytes = contents.record_bytes;
  for (const NetcdfVariable& each : contents.variables) {
    places.offsets.push_back(each.offset);
    places.has_records.push_back(has_records(each, contents));
    places.bytes.push_back(bytes_of(each, contents).value_or(0));
  }
  places.records_begin = begin_of(contents, places.offsets, true);
  const int64_t fixed = begin_of(contents, places.offsets, false);
  places.data_begin = fixed == 0 ? places.records_begin : places.records_begin == 0 ? fixed : std::min(fixed, places.records_begin);
  return places;
}

Variable variable_of(const NetcdfVariable& from, const NetcdfContents& contents) {
  Variable variable;
  variable.path = "/" + from.name;
  variable.type = type_of_netcdf(from.type);
  if (variable.type == Type::text) variable.details.bytes = 1;
  for (const NetcdfAttribute& each : from.attributes) variable.attributes.push_back(from_netcdf(each));
  for (const int number : from.dimensions) {
    const NetcdfDimension& dimension = contents.dimensions[static_cast<size_t>(number)];
    const bool last = variable.shape.size() + 1 == from.dimensions.size();
    if (variable.type == Type::text && last && !dimension.unlimited && dimension.name == text_dimension(dimension.length)) {
      variable.details.bytes = dimension.length;
      continue;
    }
    variable.shape.push_back(dimension.unlimited ? contents.records : dimension.length);
    variable.dimensions.push_back("/" + dimension.name);
  }
  variable.extendible = has_records(from, contents);
  variable.placement = {.offset = from.offset, .bytes = checked_product(variable.shape).value_or(0) * element_bytes(variable.type, variable.details),
                        .big_endian = true, .stride = variable.extendible ? contents.record_bytes : 0};
  for (const NetcdfAttribute& each : from.attributes) {
    if (each.name != k_fill_attribute || each.type != from.type || each.count != 1) continue;
    const auto value = std::span(each.data).first(static_cast<size_t>(netcdf_type_bytes(each.type)));
    variable.fill = reversed_if_little(value);
    if (variable.type == Type::text) variable.fill.assign(static_cast<size_t>(variable.details.bytes), value.front());
    if (std::all_of(variable.fill.begin(), variable.fill.end(), [](std::byte byte) { return byte == std::byte{0}; })) variable.fill.clear();
  }
  if (variable.shape.size() <= k_most_dimensions) return variable;
  variable.unsupported = fmt::format("{}, more than {}", counted(variable.shape.size(), "dimension"), k_most_dimensions);
  variable.shape.clear();
  variable.dimensions.clear();
  variable.placement = {};
  variable.extendible = false;
  return variable;
}

int64_t end_of(const NetcdfPlaces& places, int64_t records) noexcept {
  int64_t end = static_cast<int64_t>(places.header.size());
  for (size_t i = 0; i < places.offsets.size(); ++i)
    if (places.has_records[i]) end = std::max(end, records > 0 ? places.records_begin + records * places.record_bytes : 0);
    else end = std::max(end, places.offsets[i] + ceil_divide(places.bytes[i], 4) * 4);
  return end;
}

std::span<const std::byte> records_in(const NetcdfPlaces& places) noexcept {
  return std::span(places.header).subspan(k_records_at, places.version == 5 ? 8 : 4);
}

void put_records(NetcdfPlaces& places, int64_t records) noexcept {
  const size_t width = records_in(places).size();
  for (size_t i = 0; i < width; ++i) places.header[k_records_at + i] = static_cast<std::byte>(records >> (8 * (width - 1 - i)) & 0xff);
}

}  // namespace windrow
