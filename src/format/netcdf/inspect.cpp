// SPDX-License-Identifier: BSD-3-Clause
// Source: NetCDF Classic Format Specification, and that of CDF-5 (PnetCDF). The grammar:
//   header := magic records dimensions attributes variables
//   list   := 0 0 | tag count item...
#include "format/netcdf/inspect.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "base/checked.hpp"
#include "base/units.hpp"

namespace windrow {
namespace {

constexpr int64_t k_longest_name = 256;    // NC_MAX_NAME
constexpr int64_t k_most_dimensions = 1024;  // of a variable: NC_MAX_VAR_DIMS of netCDF-3
constexpr int64_t k_most_bytes = int64_t{1} << 60;
constexpr int64_t k_dimension_tag = 10, k_variable_tag = 11, k_attribute_tag = 12;

class Inspector {
 public:
  Inspector(std::span<const std::byte> bytes, int64_t file_bytes) : bytes_(bytes), file_bytes_(file_bytes) {}

  Result<int64_t> run() {
    header();
    if (!error_.empty()) return Status(code_, error_);
    if (short_) return at_end_of_file() ? Result<int64_t>(Status(Code::bad_file, "the file ends in its header")) : Result<int64_t>(int64_t{0});
    return static_cast<int64_t>(at_);
  }

 private:
  bool good() const noexcept { return error_.empty() && !short_; }
  bool at_end_of_file() const noexcept { return static_cast<int64_t>(bytes_.size()) >= file_bytes_; }
  void wrong(std::string what) {
    if (good()) error_ = fmt::format("byte {} of the header: {}", at_, what);
  }

  // After the first mistake, or at the end of the bytes, everything is 0.
  uint64_t number(size_t width) {
    if (good() && bytes_.size() - at_ < width) short_ = true;
    if (!good()) return 0;
    uint64_t value = 0;
    for (size_t i = 0; i < width; ++i) value = value << 8 | static_cast<uint64_t>(bytes_[at_ + i]);
    at_ += width;
    return value;
  }
  // A count or a length that is not negative.
  int64_t size() {
    const uint64_t value = number(version_ == 5 ? 8 : 4);
    if (value > (version_ == 5 ? static_cast<uint64_t>(INT64_MAX) : uint64_t{INT32_MAX})) wrong("a length is negative");
    return good() ? static_cast<int64_t>(value) : 0;
  }
  // Version 2 takes them for unsigned.
  int64_t dimension_length() { return version_ == 2 ? static_cast<int64_t>(number(4)) : size(); }
  // How many items follow, each of at least `least` bytes.
  int64_t list(int64_t tag, int64_t least) {
    const auto found = static_cast<int64_t>(number(4));
    const int64_t count = size();
    if (!good()) return 0;
    if (found == 0 && count == 0) return 0;
    if (found != tag) wrong(fmt::format("tag {} in place of {}", found, tag));
    else if (count > (file_bytes_ - static_cast<int64_t>(at_)) / least) wrong(fmt::format("a list of {} does not fit into the file", counted(count, "item")));
    return good() ? count : 0;
  }
  void skip(int64_t bytes) {
    if (!good()) return;
    const int64_t left = file_bytes_ - static_cast<int64_t>(at_);
    const int64_t padded = bytes > left ? bytes : (bytes + 3) / 4 * 4;
    if (padded > left) return wrong(fmt::format("{} do not fit into the file", counted(bytes, "byte")));
    if (padded > static_cast<int64_t>(bytes_.size() - at_)) short_ = true;
    else at_ += static_cast<size_t>(padded);
  }
  void name() {
    const int64_t length = size();
    if (good() && (length == 0 || length > k_longest_name)) wrong(fmt::format("a name of {}", counted(length, "byte")));
    const size_t begin = at_;
    skip(length);
    if (!good()) return;
    const std::string_view text(reinterpret_cast<const char*>(bytes_.data() + begin), static_cast<size_t>(length));
    if (text.find('\0') != text.npos || text.find('/') != text.npos) wrong("a name with a slash or a NUL in it");
  }
  int64_t type_bytes() {
    constexpr std::array<int64_t, 12> k_bytes{0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
    const auto type = static_cast<size_t>(number(4));
    const size_t last = version_ == 5 ? 11 : 6;
    if (good() && (type == 0 || type > last)) wrong(fmt::format("type {}", type));
    return good() ? k_bytes[type] : 1;
  }
  void attributes() {
    const int64_t count = list(k_attribute_tag, 12);
    for (int64_t i = 0; i < count && good(); ++i) {
      name();
      const int64_t each = type_bytes(), values = size();
      const auto bytes = checked_multiply(values, each);
      if (!bytes || *bytes > file_bytes_) wrong(fmt::format("an attribute of {}", counted(values, "value")));
      skip(bytes.value_or(0));
    }
  }
  void dimensions() {
    const int64_t count = list(k_dimension_tag, 8);
    for (int64_t i = 0; i < count && good(); ++i) {
      name();
      lengths_.push_back(dimension_length());
      if (good() && lengths_.back() == 0 && unlimited_) wrong("a second unlimited dimension");
      if (lengths_.back() == 0) unlimited_ = true;
    }
  }
  void variable() {
    name();
    const int64_t count = size();
    if (good() && count > k_most_dimensions) wrong(fmt::format("a variable of {}", counted(count, "dimension")));
    std::optional<int64_t> elements = 1;
    bool records = false;
    for (int64_t i = 0; i < count && good(); ++i) {
      const int64_t number = size();
      if (number >= static_cast<int64_t>(lengths_.size())) return wrong(fmt::format("dimension number {} of {}", number, lengths_.size()));
      const int64_t length = lengths_[static_cast<size_t>(number)];
      if (length == 0 && i > 0) return wrong("an unlimited dimension that is not the first");
      if (length == 0) records = true;
      else if (elements) elements = checked_multiply(*elements, length);
    }
    attributes();
    const int64_t each = type_bytes();
    (void)number(version_ == 5 ? 8 : 4);  // the size, which the shape says too, and which is wrong in large files of versions 1 and 2
    const uint64_t begin = number(version_ == 1 ? 4 : 8);
    if (!good()) return;
    const auto bytes = elements ? checked_multiply(*elements, each) : std::nullopt;
    if (!bytes || *bytes > k_most_bytes) return wrong("a variable of more bytes than a file can have");
    if (begin >= static_cast<uint64_t>(k_most_bytes)) return wrong("a variable begins behind what a file can have");
    begins_.push_back(static_cast<int64_t>(begin));
    if (!records && begins_.back() > k_most_bytes - *bytes) return wrong("a variable ends behind what a file can have");
    if (!records) return;
    const auto together = checked_add(record_bytes_, *bytes + 4);
    if (!together) return wrong("records of more bytes than a file can have");
    record_bytes_ = *together;
  }
  void header() {
    const auto magic = number(4);
    version_ = static_cast<int>(magic & 0xff);
    if (good() && (magic >> 8 != 0x434446 || (version_ != 1 && version_ != 2 && version_ != 5))) wrong("not netCDF classic");
    const uint64_t records = number(version_ == 5 ? 8 : 4);
    if (good() && records == (version_ == 5 ? UINT64_MAX : uint64_t{UINT32_MAX})) {
      code_ = Code::unsupported;
      wrong("the number of records is not known yet (\"streaming\")");
    }
    if (records > static_cast<uint64_t>(INT64_MAX)) wrong("the number of records is negative");
    dimensions();
    attributes();
    const int64_t count = list(k_variable_tag, 28);
    for (int64_t i = 0; i < count && good(); ++i) variable();
    if (!good()) return;
    const auto all = checked_multiply(record_bytes_, static_cast<int64_t>(records));
    if (!all || *all > k_most_bytes) wrong(fmt::format("{} are more than a file can have", counted(records, "record")));
    for (const int64_t begin : begins_) {
      if (begin < static_cast<int64_t>(at_)) wrong("a variable lies in the header");
      if (good() && begin > k_most_bytes - *all) wrong("a variable ends behind what a file can have");
    }
  }

  std::span<const std::byte> bytes_;
  int64_t file_bytes_;
  size_t at_ = 0;
  int version_ = 1;
  bool short_ = false, unlimited_ = false;
  Code code_ = Code::bad_file;
  std::string error_;
  std::vector<int64_t> lengths_, begins_;
  int64_t record_bytes_ = 0;
};

}  // namespace

Result<int64_t> inspect_header(std::span<const std::byte> bytes, int64_t file_bytes, const std::string& path) {
  auto header = Inspector(bytes, file_bytes).run();
  if (header.ok()) return header;
  return Status(header.status().code(), fmt::format("\"{}\": {}", path, header.status().message()));
}

}  // namespace windrow
