// SPDX-License-Identifier: BSD-3-Clause
// The grammar:
//   header   := magic records dimensions attributes variables
//   list     := 0 0 | tag count item...
//   dimension := name length
//   attribute := name type count value...
//   variable := name count dimension_number... attributes type bytes offset
// Counts, lengths and dimension numbers have 4 bytes, in version 5 8; offsets 4 in version 1, else 8. Names and values
// end at a multiple of 4.
#include "format/netcdf/header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

#include "base/checked.hpp"
#include "base/units.hpp"

namespace windrow {
namespace {

constexpr int64_t k_most_dimensions_of_variable = 1024;  // NC_MAX_VAR_DIMS of netCDF-3
constexpr uint32_t k_dimension_tag = 10, k_variable_tag = 11, k_attribute_tag = 12;
constexpr size_t k_tag_bytes = 4, k_type_bytes = 4;

size_t size_bytes(int version) noexcept {
  return version == 5 ? 8 : 4;
}
size_t offset_bytes(int version) noexcept {
  return version == 1 ? 4 : 8;
}

int64_t padded(int64_t bytes) noexcept {
  return ceil_divide(bytes, int64_t{4}) * 4;
}

// Converts numbers from the file's to native order, and back.
void swap_if_little(std::span<std::byte> values, int64_t each) {
  if constexpr (std::endian::native == std::endian::big)
    return;
  for (size_t at = 0; at + static_cast<size_t>(each) <= values.size(); at += static_cast<size_t>(each)) {
    const auto value = values.subspan(at, static_cast<size_t>(each));
    std::reverse(value.begin(), value.end());
  }
}

class Encoder {
 public:
  Encoder(int version, int64_t bytes) : version_(version) { out_.reserve(static_cast<size_t>(bytes)); }
  std::vector<std::byte> take() { return std::move(out_); }

  void number(uint64_t value, size_t width) {
    for (size_t i = width; i-- > 0;)
      out_.push_back(static_cast<std::byte>(value >> (8 * i) & 0xff));
  }
  void size(int64_t value) { number(static_cast<uint64_t>(value), size_bytes(version_)); }
  void pad() { out_.resize(static_cast<size_t>(padded(std::ssize(out_)))); }
  void list(uint32_t tag, size_t count) {
    number(count == 0 ? 0 : tag, k_tag_bytes);
    size(static_cast<int64_t>(count));
  }
  void name(const std::string& text) {
    size(std::ssize(text));
    const auto* begin = reinterpret_cast<const std::byte*>(text.data());
    out_.insert(out_.end(), begin, begin + text.size());
    pad();
  }
  void attributes(const std::vector<NetcdfAttribute>& all) {
    list(k_attribute_tag, all.size());
    for (const NetcdfAttribute& each : all) {
      name(each.name);
      number(static_cast<uint64_t>(each.type), k_type_bytes);
      size(each.count);
      const size_t begin = out_.size();
      out_.insert(out_.end(), each.data.begin(), each.data.end());
      swap_if_little(std::span(out_).subspan(begin), netcdf_type_bytes(each.type));
      pad();
    }
  }
  void variable(const NetcdfVariable& each, const NetcdfContents& contents) {
    name(each.name);
    size(std::ssize(each.dimensions));
    for (const int dimension : each.dimensions)
      size(dimension);
    attributes(each.attributes);
    number(static_cast<uint64_t>(each.type), k_type_bytes);
    // Mark of a variable whose size exceeds this field: readers then use the shape.
    constexpr int64_t k_most = int64_t{UINT32_MAX} - 3;
    const int64_t bytes = padded_bytes_of(each, contents);
    size(version_ < 5 && bytes > k_most ? int64_t{UINT32_MAX} : bytes);
    number(static_cast<uint64_t>(each.offset), offset_bytes(version_));
  }

 private:
  int version_;
  std::vector<std::byte> out_;
};

class Decoder {
 public:
  Decoder(std::span<const std::byte> bytes, int64_t file_bytes) : bytes_(bytes), file_bytes_(file_bytes) {}

  Result<DecodedHeader> run() {
    header();
    if (good())
      check_places();
    if (!error_.empty())
      return Status(code_, error_);
    if (!short_)
      return DecodedHeader{std::move(contents_), static_cast<int64_t>(at_)};
    if (static_cast<int64_t>(bytes_.size()) >= file_bytes_)
      return Status(Code::bad_file, "the file ends in its header");
    return DecodedHeader{};
  }

 private:
  bool good() const noexcept { return error_.empty() && !short_; }
  void wrong(const std::string& what) {
    if (good())
      error_ = fmt::format("byte {} of the header: {}", at_, what);
  }

  // After the first error, or at the end of the bytes, everything is 0.
  uint64_t number(size_t width) {
    if (good() && bytes_.size() - at_ < width)
      short_ = true;
    if (!good())
      return 0;
    uint64_t value = 0;
    for (size_t i = 0; i < width; ++i)
      value = value << 8 | static_cast<uint64_t>(bytes_[at_ + i]);
    at_ += width;
    return value;
  }
  // A non-negative count or length.
  int64_t size() {
    const uint64_t value = number(size_bytes(contents_.version));
    if (value > static_cast<uint64_t>(contents_.version == 5 ? INT64_MAX : int64_t{INT32_MAX}))
      wrong("a length is negative");
    return good() ? static_cast<int64_t>(value) : 0;
  }
  // Version 2 stores unsigned lengths.
  int64_t dimension_length() { return contents_.version == 2 ? static_cast<int64_t>(number(4)) : size(); }
  // The number of items that follow, each with at least `least` bytes.
  int64_t list(uint32_t tag, int64_t least) {
    const uint64_t found = number(k_tag_bytes);
    const int64_t count = size();
    if (!good() || (found == 0 && count == 0))
      return 0;
    if (found != tag)
      wrong(fmt::format("tag {} in place of {}", found, tag));
    if (count > (file_bytes_ - static_cast<int64_t>(at_)) / least)
      wrong(fmt::format("a list of {} exceeds the file", counted(count, "item")));
    return good() ? count : 0;
  }
  // This number of bytes, and their padding.
  std::span<const std::byte> take(int64_t count) {
    if (!good())
      return {};
    const int64_t left = file_bytes_ - static_cast<int64_t>(at_);
    if (count > left || padded(count) > left) {
      wrong(fmt::format("{} exceed the file", counted(count, "byte")));
      return {};
    }
    if (padded(count) > static_cast<int64_t>(bytes_.size() - at_)) {
      short_ = true;
      return {};
    }
    const auto taken = bytes_.subspan(at_, static_cast<size_t>(count));
    at_ += static_cast<size_t>(padded(count));
    return taken;
  }
  std::string name() {
    const int64_t length = size();
    if (good() && (length == 0 || length > k_longest_netcdf_name))
      wrong(fmt::format("a name of {}", counted(length, "byte")));
    const auto taken = take(length);
    std::string text(reinterpret_cast<const char*>(taken.data()), taken.size());
    if (text.find('\0') != text.npos || text.find('/') != text.npos)
      wrong("a name that contains a slash or a NUL");
    return text;
  }
  NetcdfType type() {
    const uint64_t value = number(k_type_bytes);
    const auto last = static_cast<uint64_t>(contents_.version == 5 ? NetcdfType::uint64 : NetcdfType::float64);
    if (good() && (value == 0 || value > last))
      wrong(fmt::format("type {}", value));
    return good() ? static_cast<NetcdfType>(value) : NetcdfType::none;
  }
  std::vector<NetcdfAttribute> attributes() {
    std::vector<NetcdfAttribute> all;
    const int64_t count = list(k_attribute_tag, 12);
    for (int64_t i = 0; i < count && good(); ++i) {
      NetcdfAttribute each;
      each.name = name();
      each.type = type();
      each.count = size();
      const auto bytes = checked_multiply(each.count, netcdf_type_bytes(each.type));
      if (!bytes || *bytes > file_bytes_)
        wrong(fmt::format("an attribute of {}", counted(each.count, "value")));
      const auto values = take(bytes.value_or(0));
      each.data.assign(values.begin(), values.end());
      swap_if_little(each.data, netcdf_type_bytes(each.type));
      all.push_back(std::move(each));
    }
    return all;
  }
  void dimensions() {
    const int64_t count = list(k_dimension_tag, 8);
    bool unlimited = false;
    for (int64_t i = 0; i < count && good(); ++i) {
      NetcdfDimension each;
      each.name = name();
      each.length = dimension_length();
      each.unlimited = each.length == 0;
      if (each.unlimited && unlimited)
        wrong("a second unlimited dimension");
      unlimited = unlimited || each.unlimited;
      if (each.unlimited)
        each.length = contents_.records;
      contents_.dimensions.push_back(std::move(each));
    }
    if (!unlimited)
      contents_.records = 0;
  }
  void variable() {
    NetcdfVariable each;
    each.name = name();
    const int64_t count = size();
    if (good() && count > k_most_dimensions_of_variable)
      wrong(fmt::format("a variable of {}", counted(count, "dimension")));
    for (int64_t i = 0; i < count && good(); ++i) {
      const int64_t number = size();
      const auto known = std::ssize(contents_.dimensions);
      if (good() && number >= known)
        wrong(fmt::format("dimension number {} of {}", number, known));
      if (good() && i > 0 && contents_.dimensions[static_cast<size_t>(number)].unlimited)
        wrong("an unlimited dimension that is not the first");
      each.dimensions.push_back(static_cast<int>(number));
    }
    each.attributes = attributes();
    each.type = type();
    (void)size_of_variable();
    const uint64_t offset = number(offset_bytes(contents_.version));
    if (!good())
      return;
    const auto bytes = bytes_of(each, contents_);
    if (!bytes || *bytes > k_most_netcdf_bytes)
      return wrong("a variable larger than the maximum size of a file");
    if (offset >= static_cast<uint64_t>(k_most_netcdf_bytes))
      return wrong("a variable begins beyond the maximum size of a file");
    each.offset = static_cast<int64_t>(offset);
    if (each.offset > k_most_netcdf_bytes - *bytes)
      return wrong("a variable ends beyond the maximum size of a file");
    contents_.variables.push_back(std::move(each));
  }
  // Redundant with the shape, and wrong by specification in large files of versions 1 and 2.
  uint64_t size_of_variable() { return number(size_bytes(contents_.version)); }

  void header() {
    const uint64_t magic = number(4);
    const auto version = static_cast<int>(magic & 0xff);
    if (good() && (magic >> 8 != 0x434446 || (version != 1 && version != 2 && version != 5)))
      wrong("not netCDF classic");
    if (!good())
      return;
    contents_.version = version;
    const uint64_t records = number(size_bytes(version));
    if (good() && records == (version == 5 ? UINT64_MAX : uint64_t{UINT32_MAX})) {
      code_ = Code::unsupported;
      wrong("the number of records is not known yet (\"streaming\")");
    }
    if (records > static_cast<uint64_t>(INT64_MAX))
      wrong("the number of records is negative");
    contents_.records = good() ? static_cast<int64_t>(records) : 0;
    dimensions();
    contents_.attributes = attributes();
    const int64_t count = list(k_variable_tag, 28);
    for (int64_t i = 0; i < count && good(); ++i)
      variable();
  }

  struct Place {
    int64_t begin, end;
    size_t variable;
  };

  // Checks that no variables overlap, that none is in the header, and that records come after all variables without
  // records.
  void check_places() {
    std::vector<Place> fixed, rows;
    for (size_t i = 0; i < contents_.variables.size() && good(); ++i) {
      const NetcdfVariable& each = contents_.variables[i];
      if (each.offset < static_cast<int64_t>(at_))
        return wrong("a variable overlaps the header");
      const Place place{each.offset, each.offset + bytes_of(each, contents_).value_or(0), i};
      (has_records(each, contents_) ? rows : fixed).push_back(place);
    }
    for (std::vector<Place>* list : {&fixed, &rows}) {
      std::sort(list->begin(), list->end(), [](const Place& a, const Place& b) { return a.begin < b.begin; });
      for (size_t i = 1; i < list->size(); ++i)
        if ((*list)[i].begin < (*list)[i - 1].end)
          return overlap((*list)[i - 1], (*list)[i]);
    }
    if (rows.empty())
      return;
    if (!fixed.empty() && rows.front().begin < fixed.back().end)
      return overlap(fixed.back(), rows.front());
    const int64_t record = record_bytes_of(contents_);
    if (rows.back().end - rows.front().begin > record)
      return wrong("the variables of a record are further apart than the records");
    const auto all = checked_multiply(record, std::max<int64_t>(contents_.records, 1));
    if (!all || *all > k_most_netcdf_bytes - rows.front().begin)
      wrong(fmt::format("{} exceed the maximum of a file", counted(contents_.records, "record")));
  }
  void overlap(const Place& first, const Place& second) {
    wrong(fmt::format("\"{}\" and \"{}\" overlap", contents_.variables[first.variable].name,
                      contents_.variables[second.variable].name));
  }

  std::span<const std::byte> bytes_;
  int64_t file_bytes_;
  size_t at_ = 0;
  bool short_ = false;
  Code code_ = Code::bad_file;
  std::string error_;
  NetcdfContents contents_;
};

int64_t header_bytes_of(const std::vector<NetcdfAttribute>& attributes, int64_t size) {
  int64_t bytes = static_cast<int64_t>(k_tag_bytes) + size;
  for (const NetcdfAttribute& each : attributes)
    bytes += size + padded(std::ssize(each.name)) + static_cast<int64_t>(k_type_bytes) + size +
             padded(std::ssize(each.data));
  return bytes;
}

}  // namespace

int64_t netcdf_type_bytes(NetcdfType type) noexcept {
  constexpr std::array<int64_t, 12> k_bytes{1, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
  return k_bytes[static_cast<size_t>(type)];
}

bool has_records(const NetcdfVariable& variable, const NetcdfContents& contents) {
  return !variable.dimensions.empty() &&
         contents.dimensions[static_cast<size_t>(variable.dimensions.front())].unlimited;
}

std::optional<int64_t> bytes_of(const NetcdfVariable& variable, const NetcdfContents& contents) {
  std::optional<int64_t> bytes = netcdf_type_bytes(variable.type);
  for (const int number : variable.dimensions) {
    const NetcdfDimension& dimension = contents.dimensions[static_cast<size_t>(number)];
    if (bytes && !dimension.unlimited)
      bytes = checked_multiply(*bytes, dimension.length);
  }
  return bytes;
}

int64_t padded_bytes_of(const NetcdfVariable& variable, const NetcdfContents& contents) {
  const auto bytes = bytes_of(variable, contents);
  return bytes && *bytes <= INT64_MAX - 3 ? padded(*bytes) : INT64_MAX;
}

int64_t record_bytes_of(const NetcdfContents& contents) {
  int64_t all = 0, count = 0, single = 0;
  for (const NetcdfVariable& each : contents.variables) {
    if (!has_records(each, contents))
      continue;
    all = checked_add(all, padded_bytes_of(each, contents)).value_or(INT64_MAX);
    single = bytes_of(each, contents).value_or(INT64_MAX);
    ++count;
  }
  return count == 1 ? single : all;
}

int64_t header_bytes_of(const NetcdfContents& contents) {
  const auto size = static_cast<int64_t>(size_bytes(contents.version)),
             offset = static_cast<int64_t>(offset_bytes(contents.version));
  constexpr int64_t k_magic = 4;
  const auto name = [size](const std::string& text) { return size + padded(std::ssize(text)); };
  int64_t bytes = k_magic + size + 2 * (static_cast<int64_t>(k_tag_bytes) + size);
  for (const NetcdfDimension& each : contents.dimensions)
    bytes += name(each.name) + size;
  bytes += header_bytes_of(contents.attributes, size);
  for (const NetcdfVariable& each : contents.variables)
    bytes += name(each.name) + size + size * std::ssize(each.dimensions) + header_bytes_of(each.attributes, size) +
             static_cast<int64_t>(k_type_bytes) + size + offset;
  return bytes;
}

std::vector<std::byte> encode_header(const NetcdfContents& contents) {
  Encoder out(contents.version, header_bytes_of(contents));
  constexpr uint64_t k_magic = 0x43444600;
  out.number(k_magic | static_cast<uint64_t>(contents.version), 4);
  out.size(contents.records);
  out.list(k_dimension_tag, contents.dimensions.size());
  for (const NetcdfDimension& each : contents.dimensions) {
    out.name(each.name);
    out.size(each.unlimited ? 0 : each.length);
  }
  out.attributes(contents.attributes);
  out.list(k_variable_tag, contents.variables.size());
  for (const NetcdfVariable& each : contents.variables)
    out.variable(each, contents);
  return out.take();
}

Result<DecodedHeader> decode_header(std::span<const std::byte> bytes, int64_t file_bytes, const std::string& path) {
  auto header = Decoder(bytes, file_bytes).run();
  if (header.ok())
    return header;
  return Status(header.status().code(), fmt::format("\"{}\": {}", path, header.status().message()));
}

}  // namespace windrow
