// SPDX-License-Identifier: BSD-3-Clause
#include "format/netcdf/places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <numeric>

#include "base/checked.hpp"
#include "base/numbering.hpp"
#include "base/units.hpp"
#include "format/check.hpp"
#include "format/netcdf/dimensions.hpp"
#include "format/netcdf/types.hpp"
#include "storage/store.hpp"
#include "storage/system_error.hpp"

namespace windrow {
namespace {

// Space for a few more attributes, and a header of one page.
constexpr int64_t k_page = 4096;

int64_t begin_of(const NetcdfContents& contents, const std::vector<int64_t>& offsets, bool records) {
  int64_t begin = INT64_MAX;
  for (size_t i = 0; i < offsets.size(); ++i)
    if (has_records(contents.variables[i], contents) == records)
      begin = std::min(begin, offsets[i]);
  return begin == INT64_MAX ? 0 : begin;
}

void enter_variables(const NetcdfContents& contents, NetcdfPlaces& places) {
  for (const NetcdfVariable& each : contents.variables) {
    places.offsets.push_back(each.offset);
    places.has_records.push_back(has_records(each, contents));
    places.bytes.push_back(bytes_of(each, contents).value_or(0));
  }
}

int version_needed(const NetcdfContents& contents) {
  int needed = 1;
  const auto look = [&](const NetcdfAttribute& each) { needed = std::max(needed, version_for(each.type)); };
  for (const NetcdfAttribute& each : contents.attributes)
    look(each);
  for (const NetcdfVariable& variable : contents.variables) {
    needed = std::max(needed, version_for(variable.type));
    for (const NetcdfAttribute& each : variable.attributes)
      look(each);
  }
  return needed;
}

int64_t up(int64_t value, int64_t unit) {
  return ceil_divide(value, unit) * unit;
}

// Larger than any file, but small enough to be rounded up.
constexpr int64_t k_beyond = INT64_MAX / 4;
int64_t after(int64_t begin, int64_t bytes) {
  return std::min(k_beyond, checked_add(begin, bytes).value_or(k_beyond));
}

// The properties of a variable that can exceed the limits of a version.
struct NetcdfSize {
  std::string_view name;
  int64_t bytes = 0;  // padded size of all elements, or of one record
  bool records = false;
  int64_t offset = -1;  // -1: after the previous one
};

template <class AnyVariable>
NetcdfSize size_of(const AnyVariable& variable) {
  const auto elements = checked_product(std::span(variable.shape).subspan(variable.extendible ? 1 : 0));
  const auto bytes =
      elements ? checked_multiply(*elements, element_bytes(variable.type, variable.details)) : std::nullopt;
  return {std::string_view(variable.path).substr(1), up(std::min(bytes.value_or(k_beyond), k_beyond), 4),
          variable.extendible};
}

constexpr int64_t k_most_of_1 = int64_t{INT32_MAX} - 3, k_most_of_2 = int64_t{UINT32_MAX} - 3;

int64_t most_bytes_of(int version) {
  return version == 1 ? k_most_of_1 : version == 2 ? k_most_of_2 : k_most_netcdf_bytes;
}

// `better`: a version that can hold the variable; 0: none.
std::string too_large_text(const NetcdfSize& variable, const std::string& why, int version, int better) {
  const std::string instead = better == 0
                                  ? "format=hdf5 can hold it"
                                  : fmt::format("version {} does (netcdf_version={}), and format=hdf5", better, better);
  return fmt::format("variable \"{}\" {}, which version {} of netCDF classic cannot hold; {}", variable.name, why,
                     version, instead);
}

// Why the version cannot hold a variable that begins there; "": it can. `is_last`: no offset depends on its size.
std::string is_too_large(const NetcdfSize& variable, int64_t begin, bool is_last, int version) {
  if (version == 1 && begin > INT32_MAX)
    return too_large_text(variable, fmt::format("would begin at byte {}, beyond {}", begin, INT32_MAX), version, 2);
  if (variable.bytes > most_bytes_of(version) && !is_last) {
    const int better = version == 5 ? 0 : variable.bytes <= k_most_of_2 ? 2 : 5;
    const std::string bytes = counted(variable.bytes, "byte");
    return too_large_text(
        variable,
        fmt::format("has {}{}, more than {}", bytes, variable.records ? " a record" : "", most_bytes_of(version)),
        version, better);
  }
  if (after(begin, variable.bytes) > k_most_netcdf_bytes)
    return too_large_text(variable, fmt::format("would end beyond {} bytes", k_most_netcdf_bytes), version, 0);
  return "";
}

// The number of the last variable in the file. Variables with records follow the others.
size_t last_in_file(std::span<const NetcdfSize> variables) {
  const bool has_records =
      std::any_of(variables.begin(), variables.end(), [](const NetcdfSize& each) { return each.records; });
  size_t last = variables.size();
  for (size_t i = 0; i < variables.size(); ++i)
    if (variables[i].records == has_records)
      last = i;
  return last;
}

// Source: NetCDF Classic Format Specification, "Notes on vsize" and the limits of each version.
std::string are_too_large(std::span<const NetcdfSize> variables, int version) {
  const size_t last = version == 5 ? variables.size() : last_in_file(variables);
  int64_t at = 0;
  for (const bool records : {false, true})
    for (size_t i = 0; i < variables.size(); ++i) {
      const NetcdfSize& each = variables[i];
      if (each.records != records)
        continue;
      const int64_t begin = each.offset >= 0 ? each.offset : at;
      if (std::string why = is_too_large(each, begin, i == last, version); !why.empty())
        return why;
      at = after(begin, each.bytes);
    }
  return "";
}

// Continues the sum over all variables.
void add_up(std::span<const Variable> variables, NetcdfSum& sum) {
  for (; sum.variables < variables.size(); ++sum.variables) {
    const int64_t bytes = size_of(variables[sum.variables]).bytes;
    sum.bytes = after(sum.bytes, bytes);
    sum.largest = std::max(sum.largest, bytes);
  }
}

std::vector<NetcdfSize> sizes_of(const NetcdfContents& contents) {
  std::vector<NetcdfSize> sizes;
  for (const NetcdfVariable& each : contents.variables)
    sizes.push_back({each.name, padded_bytes_of(each, contents), has_records(each, contents), each.offset});
  return sizes;
}

std::string what_is_too_large(const NetcdfContents& contents, int version) {
  if (version != 5 && contents.records > INT32_MAX)
    return fmt::format("{} records are more than the {} that version {} of netCDF classic allows; use netcdf_version=5",
                       contents.records, INT32_MAX, version);
  for (const NetcdfDimension& each : contents.dimensions)
    if (std::string what = is_too_long(each.name, each.length, version); !each.unlimited && !what.empty())
      return what;
  const auto most = version == 5 ? INT64_MAX : int64_t{INT32_MAX};
  const auto too_long = [most](const NetcdfAttribute& each) { return each.count > most; };
  bool found = std::any_of(contents.attributes.begin(), contents.attributes.end(), too_long);
  for (const NetcdfVariable& each : contents.variables)
    found = found || std::any_of(each.attributes.begin(), each.attributes.end(), too_long);
  if (found)
    return fmt::format("an attribute of more than {} values, which needs netcdf_version=5", most);
  std::string what = are_too_large(sizes_of(contents), version);
  const auto all = checked_multiply(record_bytes_of(contents), contents.records);
  if (what.empty() && (!all || *all > k_most_netcdf_bytes))
    what = fmt::format("{} records would have more than {} bytes", contents.records, k_most_netcdf_bytes);
  return what;
}

// The offset of the first record: the present one, unless the variables without records end later.
int64_t records_begin_after(int64_t end, bool fits, int64_t alignment, const NetcdfPlaces& before,
                            const FormatOptions& options) {
  const int64_t next = up(up(end, alignment), std::lcm<int64_t>(4, options.record_alignment));
  return fits && before.records_begin >= end && before.records_begin != next ? up(before.records_begin, alignment)
                                                                             : next;
}

// Assigns offsets to all variables of `contents`, and makes the header.
NetcdfPlaces places_by(int64_t alignment, NetcdfContents& contents, const NetcdfPlaces& before,
                       const FormatOptions& options) {
  const int64_t header_bytes = header_bytes_of(contents);
  // A header that has outgrown its space gets twice what it needs, so that this does not happen for each attribute.
  const int64_t spare = before.data_begin > 0 ? header_bytes : 0;
  const bool fits = before.data_begin >= header_bytes;
  NetcdfPlaces places;
  places.version = contents.version;
  places.data_begin = fits ? before.data_begin : up(up(header_bytes + options.header_room + spare, k_page), alignment);
  int64_t end = up(places.data_begin, alignment);
  for (NetcdfVariable& each : contents.variables) {
    if (has_records(each, contents))
      continue;
    each.offset = up(end, alignment);
    end = after(each.offset, padded_bytes_of(each, contents));
  }
  const int64_t records_begin = records_begin_after(end, fits, alignment, before, options);
  end = records_begin;
  for (NetcdfVariable& each : contents.variables) {
    if (!has_records(each, contents))
      continue;
    each.offset = end;
    end = after(end, padded_bytes_of(each, contents));
    places.records_begin = records_begin;
  }
  places.record_bytes = record_bytes_of(contents);
  places.header = encode_header(contents);
  enter_variables(contents, places);
  return places;
}

// An alignment that reproduces the present places: the greatest common divisor of all offsets.
int64_t alignment_of(const NetcdfPlaces& places) {
  int64_t divisor = 0;
  for (size_t i = 0; i < places.offsets.size(); ++i)
    if (!places.has_records[i])
      divisor = std::gcd(divisor, places.offsets[i]);
  return std::gcd(divisor, places.records_begin);  // the records begin at a multiple too
}

// Keeps all places if possible, even if another alignment is requested now than when the file was created.
NetcdfPlaces places_in(NetcdfContents& contents, const NetcdfPlaces& before, const FormatOptions& options) {
  const int64_t asked = std::lcm<int64_t>(4, options.alignment), own = alignment_of(before);
  NetcdfPlaces places = places_by(asked, contents, before, options);
  if (!moves(before, places) || own < 4 || own == asked)
    return places;
  NetcdfPlaces as_before = places_by(own, contents, before, options);
  return moves(before, as_before) ? places_by(asked, contents, before, options) : as_before;
}

}  // namespace

std::string is_too_long(std::string_view name, int64_t length, int version) {
  if (version == 5 || length <= (version == 1 ? k_most_of_1 : k_most_of_2))
    return "";
  const int better = length <= k_most_of_2 ? 2 : 5;
  return fmt::format(
      "dimension \"{}\" of length {} is longer than version {} of netCDF classic allows; version {} "
      "(netcdf_version={}) and format=hdf5 allow it",
      name, length, version, better, better);
}

std::string what_does_not_fit(const VariableDefinition& definition, std::span<const Variable> others, int version,
                              NetcdfSum& sum) {
  const std::span lengths = std::span(definition.shape).subspan(definition.extendible ? 1 : 0);
  if (std::find(lengths.begin(), lengths.end(), 0) != lengths.end())  // 0 means the unlimited dimension
    return fmt::format(
        "\"{}\" has no elements: netCDF classic allows only variables that grow to be empty: use extendible with 0 as "
        "the {} dimension, or format=hdf5",
        definition.path, slowest_side());
  for (const int64_t length : lengths)
    if (std::string what = is_too_long(definition.path, length, version); !what.empty())
      return what;
  const NetcdfSize own = size_of(definition);
  if (version == 5)  // it holds all that one file can
    return are_too_large({&own, 1}, version);
  add_up(others, sum);
  if (after(sum.bytes, own.bytes) <= (version == 1 ? k_most_of_1 : k_most_netcdf_bytes) &&
      std::max(sum.largest, own.bytes) <= k_most_of_2)
    return "";
  std::vector<NetcdfSize> sizes;
  for (const Variable& each : others)
    sizes.push_back(size_of(each));
  sizes.push_back(own);
  return are_too_large(sizes, version);
}

bool fits_surely(std::span<const Variable> variables, int64_t records, int version, NetcdfSum& sum,
                 const NetcdfBound& bound) {
  add_up(variables, sum);
  const NetcdfPlaces& before = bound.before;
  const FormatOptions& options = bound.options;
  const int64_t first = before.offsets.empty() || before.has_records.front() ? 0 : before.offsets.front();
  const int64_t own = std::gcd(first, before.records_begin);  // at least alignment_of(before)
  const int64_t unit = std::max(std::lcm<int64_t>(4, options.alignment), own);
  // At most what places_by() adds: a new header gets twice its bytes.
  int64_t begin = after(after(bound.header_bytes, bound.header_bytes), options.header_room + k_page);
  begin = std::max({begin, before.data_begin, before.records_begin});
  begin = after(begin, std::lcm<int64_t>(4, options.record_alignment));
  const auto count = static_cast<int64_t>(variables.size()) + 3;  // and the header, and twice the first record
  begin = after(begin, std::min(k_beyond, checked_multiply(unit, count).value_or(k_beyond)));
  begin = after(begin, sum.bytes);
  if (version < 5 && records > INT32_MAX)
    return false;
  const int64_t all = std::min(k_beyond, checked_multiply(sum.bytes, records).value_or(k_beyond));
  return begin <= (version == 1 ? int64_t{INT32_MAX} : k_most_netcdf_bytes) && after(begin, all) <= k_most_netcdf_bytes;
}

Result<NetcdfPlaces> find_places(NetcdfContents contents, const NetcdfPlaces& before, int lowest, int highest,
                                 const FormatOptions& options) {
  constexpr std::array k_versions{1, 2, 5};
  lowest = std::max(lowest, version_needed(contents));
  std::string refused =
      fmt::format("its contents need version {} of netCDF classic, but netcdf_version allows {}", lowest, highest);
  for (const int version : k_versions) {
    if (version < lowest || version > highest)
      continue;
    contents.version = version;
    NetcdfPlaces places = places_in(contents, before, options);
    refused = what_is_too_large(contents, version);
    if (!refused.empty())
      continue;
    const auto bytes = std::ssize(places.header);
    if (beyond_file_size_limit(bytes))
      return Status(code_of_errno(EFBIG),
                    fmt::format("the header, {}: {}", counted(bytes, "byte"), text_of_errno(EFBIG)));
    return places;
  }
  return Status(Code::unsupported, refused);
}

bool moves(const NetcdfPlaces& before, const NetcdfPlaces& after) noexcept {
  if (before.offsets.empty())
    return false;
  if (static_cast<int64_t>(after.header.size()) > before.data_begin)
    return true;
  for (size_t i = 0; i < before.offsets.size(); ++i) {
    if (before.offsets[i] != after.offsets[i])
      return true;
    if (before.has_records[i] && before.record_bytes != after.record_bytes)
      return true;
  }
  return false;
}

void forget(NetcdfPlaces& places, size_t variable) noexcept {
  if (variable >= places.offsets.size())
    return;
  const auto number = static_cast<std::ptrdiff_t>(variable);
  places.offsets.erase(places.offsets.begin() + number);
  places.has_records.erase(places.has_records.begin() + number);
  places.bytes.erase(places.bytes.begin() + number);
}

NetcdfPlaces places_of(const NetcdfContents& contents, std::vector<std::byte> header) {
  NetcdfPlaces places;
  places.version = contents.version;
  places.header = std::move(header);
  places.record_bytes = record_bytes_of(contents);
  enter_variables(contents, places);
  places.records_begin = begin_of(contents, places.offsets, true);
  const int64_t fixed = begin_of(contents, places.offsets, false);
  places.data_begin = fixed == 0                  ? places.records_begin
                      : places.records_begin == 0 ? fixed
                                                  : std::min(fixed, places.records_begin);
  return places;
}

namespace {

// The last dimension of a text is the length of its elements.
void take_dimensions(const NetcdfVariable& from, const NetcdfContents& contents, Variable& variable) {
  for (const int number : from.dimensions) {
    const NetcdfDimension& dimension = contents.dimensions[static_cast<size_t>(number)];
    const bool is_last = variable.shape.size() + 1 == from.dimensions.size();
    const bool can_be_length = variable.type == Type::text && is_last && !dimension.unlimited;
    if (can_be_length && dimension.name == text_dimension(dimension.length)) {
      variable.details.bytes = dimension.length;
      continue;
    }
    variable.shape.push_back(dimension.unlimited ? contents.records : dimension.length);
    variable.dimensions.push_back("/" + dimension.name);
  }
}

void take_fill(const NetcdfVariable& from, Variable& variable) {
  for (const NetcdfAttribute& each : from.attributes) {
    if (each.name != k_fill_attribute || each.type != from.type || each.count != 1)
      continue;
    const auto value = std::span(each.data).first(static_cast<size_t>(netcdf_type_bytes(each.type)));
    variable.fill = reversed_if_little(value);
    if (variable.type == Type::text)
      variable.fill.assign(static_cast<size_t>(variable.details.bytes), value.front());
    if (std::all_of(variable.fill.begin(), variable.fill.end(), [](std::byte byte) { return byte == std::byte{0}; }))
      variable.fill.clear();
  }
}

void refuse_dimensions(Variable& variable) {
  variable.unsupported =
      fmt::format("{}, more than {}", counted(variable.shape.size(), "dimension"), k_most_dimensions);
  variable.shape.clear();
  variable.dimensions.clear();
  variable.placement = {};
  variable.extendible = false;
}

}  // namespace

Variable variable_of(const NetcdfVariable& from, const NetcdfContents& contents, int64_t record_bytes) {
  Variable variable;
  variable.path = "/" + from.name;
  variable.type = type_of_netcdf(from.type);
  if (variable.type == Type::text)
    variable.details.bytes = 1;
  for (const NetcdfAttribute& each : from.attributes)
    variable.attributes.push_back(from_netcdf(each));
  take_dimensions(from, contents, variable);
  variable.extendible = has_records(from, contents);
  variable.placement = {
      .offset = from.offset,
      .bytes = checked_product(variable.shape).value_or(0) * element_bytes(variable.type, variable.details),
      .big_endian = true,
      .stride = variable.extendible ? record_bytes : 0};
  take_fill(from, variable);
  if (variable.shape.size() > k_most_dimensions)
    refuse_dimensions(variable);
  return variable;
}

int64_t end_of(const NetcdfPlaces& places, int64_t records) noexcept {
  int64_t end = static_cast<int64_t>(places.header.size());
  for (size_t i = 0; i < places.offsets.size(); ++i)
    if (places.has_records[i])
      end = std::max(end, records > 0 ? places.records_begin + records * places.record_bytes : 0);
    else
      end = std::max(end, places.offsets[i] + ceil_divide(places.bytes[i], 4) * 4);
  return end;
}

std::span<const std::byte> records_in(const NetcdfPlaces& places) noexcept {
  return std::span(places.header).subspan(k_records_at, places.version == 5 ? 8 : 4);
}

void put_records(NetcdfPlaces& places, int64_t records) noexcept {
  const size_t width = records_in(places).size();
  for (size_t i = 0; i < width; ++i)
    places.header[k_records_at + i] = static_cast<std::byte>(records >> (8 * (width - 1 - i)) & 0xff);
}

}  // namespace windrow
