// SPDX-License-Identifier: BSD-3-Clause
// The table of filters, and filter pipelines.
#include "filter/filter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>

#include "base/units.hpp"
#include "filter/steps.hpp"

namespace windrow {
namespace {

struct Entry {
  FilterId id;
  std::string_view name;
  EncodeStep encode;  // nullptr: not built in
  DecodeStep decode;
};

#ifdef WINDROW_HAS_DEFLATE
constexpr Entry k_deflate{FilterId::deflate, "deflate", encode_deflate, decode_deflate};
#else
constexpr Entry k_deflate{FilterId::deflate, "deflate", nullptr, nullptr};
#endif
#ifdef WINDROW_HAS_LZ4
constexpr Entry k_lz4{FilterId::lz4, "lz4", encode_lz4, decode_lz4};
#else
constexpr Entry k_lz4{FilterId::lz4, "lz4", nullptr, nullptr};
#endif
#ifdef WINDROW_HAS_ZSTD
constexpr Entry k_zstd{FilterId::zstd, "zstd", encode_zstd, decode_zstd};
#else
constexpr Entry k_zstd{FilterId::zstd, "zstd", nullptr, nullptr};
#endif
#ifdef WINDROW_HAS_BLOSC
constexpr Entry k_blosc{FilterId::blosc, "blosc", encode_blosc, decode_blosc};
#else
constexpr Entry k_blosc{FilterId::blosc, "blosc", nullptr, nullptr};
#endif

constexpr std::array<Entry, 6> k_table{k_deflate,
                                       Entry{FilterId::shuffle, "shuffle", encode_shuffle, decode_shuffle},
                                       Entry{FilterId::fletcher32, "fletcher32", encode_fletcher32, decode_fletcher32},
                                       k_lz4,
                                       k_zstd,
                                       k_blosc};

const Entry* find_entry(int id) noexcept {
  for (const Entry& entry : k_table)
    if (static_cast<int>(entry.id) == id)
      return &entry;
  return nullptr;
}

bool compresses(int id) noexcept {
  return id != static_cast<int>(FilterId::shuffle) && id != static_cast<int>(FilterId::fletcher32);
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::optional<int32_t> number_in(std::string_view text, int32_t least, int32_t most) {
  int32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least || number > most)
    return std::nullopt;
  return number;
}

constexpr std::array<std::string_view, 6> k_blosc_codecs{"blosclz", "lz4",  "lz4hc",
                                                         "snappy",  "zlib", "zstd"};  // indexed by Blosc's numbers

// The number at a place of the arguments, or `otherwise` where there are fewer; nullopt: it is invalid.
struct NumberArgument {
  size_t place;
  int32_t otherwise, least, most;

  std::optional<int32_t> of(std::span<const std::string_view> arguments) const {
    return place < arguments.size() ? number_in(arguments[place], least, most) : otherwise;
  }
};

std::optional<std::vector<uint32_t>> level_values(const NumberArgument& level,
                                                  std::span<const std::string_view> arguments) {
  const auto found = level.of(arguments);
  if (!found)
    return std::nullopt;
  return std::vector<uint32_t>{static_cast<uint32_t>(*found)};
}

std::optional<std::vector<uint32_t>> blosc_values(std::span<const std::string_view> arguments, int64_t element_bytes,
                                                  int64_t chunk_bytes) {
  constexpr NumberArgument k_level{.place = 1, .otherwise = 5, .least = 0, .most = 9};
  const std::string_view codec = arguments.empty() ? "lz4" : arguments[0];
  const auto at = std::find(k_blosc_codecs.begin(), k_blosc_codecs.end(), codec);
  const auto level = k_level.of(arguments);
  if (at == k_blosc_codecs.end() || !level)
    return std::nullopt;
  // Versions of the filter and of Blosc's format, as in the reference filter.
  return std::vector<uint32_t>{2,
                               2,
                               static_cast<uint32_t>(std::min<int64_t>(element_bytes, 255)),
                               static_cast<uint32_t>(chunk_bytes),
                               static_cast<uint32_t>(*level),
                               1,
                               static_cast<uint32_t>(at - k_blosc_codecs.begin())};
}

// nullopt: invalid text after the name.
std::optional<std::vector<uint32_t>> values_of(FilterId id, std::span<const std::string_view> arguments,
                                               int64_t element_bytes, int64_t chunk_bytes) {
  constexpr NumberArgument k_deflate_level{.place = 0, .otherwise = 1, .least = 0, .most = 9};
  constexpr NumberArgument k_zstd_level{
      .place = 0, .otherwise = 3, .least = k_least_zstd_level, .most = k_most_zstd_level};
  const size_t allowed = id == FilterId::blosc ? 2 : id == FilterId::deflate || id == FilterId::zstd ? 1 : 0;
  if (arguments.size() > allowed)
    return std::nullopt;
  switch (id) {
    case FilterId::deflate:
      return level_values(k_deflate_level, arguments);
    case FilterId::zstd:
      return level_values(k_zstd_level, arguments);
    case FilterId::shuffle:
      return std::vector<uint32_t>{static_cast<uint32_t>(element_bytes)};
    case FilterId::fletcher32:
      return std::vector<uint32_t>{};
    case FilterId::lz4:
      return std::vector<uint32_t>{0};
    case FilterId::blosc:
      break;
  }
  return blosc_values(arguments, element_bytes, chunk_bytes);
}

Status in_pipeline(const Filter& filter, Status status) {
  if (status.ok())
    return status;
  return {status.code(), fmt::format("filter {}: {}", filter.name, status.message())};
}

}  // namespace

Result<std::vector<Filter>> parse_filters(std::string_view text, int64_t element_bytes, int64_t chunk_bytes) {
  std::vector<Filter> filters;
  if (text.empty() || text == "none")
    return filters;
  // Filter values have 32 bits, and HDF5's chunks fewer than 2^32 bytes.
  if (chunk_bytes > std::numeric_limits<uint32_t>::max())
    return Status{Code::bad_argument, "a filtered chunk must have fewer than 2^32 bytes"};
  for (const std::string_view part : split(text, ',')) {
    const std::vector<std::string_view> words = split(part, ':');
    const auto entry =
        std::find_if(k_table.begin(), k_table.end(), [&](const Entry& each) { return each.name == words.front(); });
    if (entry == k_table.end())
      return Status{Code::bad_argument, fmt::format("there is no filter \"{}\"; there are {}", words.front(),
                                                    fmt::join(filter_names(), ", "))};
    if (entry->encode == nullptr)
      return Status{Code::unsupported, fmt::format("the filter \"{}\" is not built in", entry->name)};
    auto values = values_of(entry->id, std::span(words).subspan(1), element_bytes, chunk_bytes);
    if (!values)
      return Status{Code::bad_argument, fmt::format("\"{}\" is not a filter: use deflate:0 to 9, zstd:{} to {}, lz4, "
                                                    "blosc:CODEC:0 to 9, shuffle or fletcher32",
                                                    part, k_least_zstd_level, k_most_zstd_level)};
    filters.push_back({static_cast<int>(entry->id), std::move(*values), std::string(entry->name)});
  }
  return filters;
}

std::string text_of(std::span<const Filter> filters) {
  std::string text;
  for (const Filter& filter : filters) {
    const Entry* entry = find_entry(filter.id);
    text += text.empty() ? "" : ",";
    text += entry != nullptr ? std::string(entry->name) : fmt::format("filter {}", filter.id);
    if (entry == nullptr || filter.values.empty())
      continue;
    if (entry->id == FilterId::deflate || entry->id == FilterId::zstd)
      text += fmt::format(":{}", static_cast<int32_t>(filter.values.front()));
    if (entry->id == FilterId::blosc && filter.values.size() > 6 && filter.values[6] < k_blosc_codecs.size())
      text += fmt::format(":{}:{}", k_blosc_codecs[filter.values[6]], filter.values[4]);
  }
  return text;
}

std::string missing_filter(std::span<const Filter> filters) {
  for (const Filter& filter : filters) {
    const Entry* entry = find_entry(filter.id);
    if (entry == nullptr || entry->decode == nullptr)
      return fmt::format("filter {} ({})", filter.id, filter.name);
  }
  return {};
}

Status encode(std::span<const Filter> filters, std::span<const std::byte> bytes, FilterBuffers& buffers,
              ByteBuffer& out) {
  for (size_t i = 0; i < filters.size(); ++i) {
    const Entry* entry = find_entry(filters[i].id);
    if (entry == nullptr || entry->encode == nullptr)
      return {Code::unsupported, fmt::format("filter {} is not built in", filters[i].name)};
    const bool last = i + 1 == filters.size();
    ByteBuffer& to = last ? out : i % 2 == 0 ? buffers.first : buffers.second;
    if (!last)
      to.clear();
    if (Status status = entry->encode(filters[i], bytes, buffers, to); !status.ok())
      return in_pipeline(filters[i], std::move(status));
    bytes = to.bytes();
  }
  if (filters.empty())
    out.append(bytes);
  return {};
}

Status decode(std::span<const Filter> filters, uint32_t skipped, std::span<const std::byte> stored,
              std::span<std::byte> bytes_out, FilterBuffers& buffers) {
  ByteBuffer last(bytes_out);
  bool into_first = true;
  for (size_t i = filters.size(); i-- > 0;) {
    if (i < 32 && (skipped >> i & 1) != 0)
      continue;
    const Entry* entry = find_entry(filters[i].id);
    if (entry == nullptr || entry->decode == nullptr)
      return {Code::unsupported, fmt::format("filter {} is not built in", filters[i].name)};
    // Earlier filters may have enlarged the data: a checksum by four bytes, a compressor of incompressible data by a
    // little.
    size_t limit = bytes_out.size();
    for (size_t before = 0; before < i; ++before)
      limit += compresses(filters[before].id) ? limit / 8 + (size_t{64} << 10) : 4;
    ByteBuffer& out = i == 0 ? last : into_first ? buffers.first : buffers.second;
    out.clear();
    if (Status status = entry->decode(filters[i], stored, limit, buffers, out); !status.ok())
      return in_pipeline(filters[i], std::move(status));
    stored = out.bytes();
    into_first = !into_first;
  }
  if (stored.size() != bytes_out.size())
    return {Code::bad_file,
            fmt::format("a chunk of {} has {} after decoding", counted(bytes_out.size(), "byte"), stored.size())};
  if (stored.data() != bytes_out.data())
    std::copy(stored.begin(), stored.end(), bytes_out.begin());
  return {};
}

std::span<const std::string_view> filter_names() noexcept {
  static const auto names = [] {
    std::vector<std::string_view> found;
    for (const Entry& entry : k_table)
      if (entry.encode != nullptr)
        found.push_back(entry.name);
    return found;
  }();
  return names;
}

}  // namespace windrow
