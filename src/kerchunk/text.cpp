// SPDX-License-Identifier: BSD-3-Clause
// Writes the text, and finds what it cannot represent.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/paint.hpp"
#include "base/utf8.hpp"
#include "format/check.hpp"
#include "format/fill.hpp"
#include "kerchunk/kerchunk.hpp"
#include "kerchunk/values.hpp"

namespace windrow {
namespace {

constexpr int64_t k_most_filled =
    int64_t{1}  // maximum bytes of text for the chunks of one variable that were never written
    << 20;

std::string name_of(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

// Attributes that describe the file's storage, which netCDF's readers hide too.
bool is_hidden(const std::string& name) {
  constexpr std::array<std::string_view, 10> k_hidden{"CLASS",
                                                      "NAME",
                                                      "REFERENCE_LIST",
                                                      "DIMENSION_LIST",
                                                      "DIMENSION_LABELS",
                                                      "_Netcdf4Dimid",
                                                      "_Netcdf4Coordinates",
                                                      "_NCProperties",
                                                      "_nc3_strict",
                                                      "_ARRAY_DIMENSIONS"};
  return name.starts_with("windrow_") || std::find(k_hidden.begin(), k_hidden.end(), name) != k_hidden.end();
}

// The filter's configuration for numcodecs; "": numcodecs has no filter for HDF5's bytes. (HDF5's LZ4 stores several
// blocks, that of numcodecs one.)
std::string codec_of(const Filter& filter, int64_t element_bytes) {
  const auto value = [&](size_t at, uint32_t otherwise) {
    return at < filter.values.size() ? filter.values[at] : otherwise;
  };
  constexpr std::array<std::string_view, 6> k_blosc{"blosclz", "lz4",  "lz4hc",
                                                    "snappy",  "zlib", "zstd"};  // indexed by Blosc's numbers
  switch (static_cast<FilterId>(filter.id)) {
    case FilterId::deflate:
      return fmt::format(R"({{"id":"zlib","level":{}}})", value(0, 1));
    case FilterId::shuffle:
      return fmt::format(R"({{"id":"shuffle","elementsize":{}}})", value(0, static_cast<uint32_t>(element_bytes)));
    case FilterId::zstd:
      return fmt::format(R"({{"id":"zstd","level":{}}})", value(0, 3));
    case FilterId::blosc: {
      const uint32_t codec = value(6, 0);
      if (codec >= k_blosc.size())
        return {};
      return fmt::format(R"({{"id":"blosc","cname":"{}","clevel":{},"shuffle":{},"blocksize":0}})", k_blosc[codec],
                         value(4, 5), value(5, 1));
    }
    case FilterId::fletcher32:
    case FilterId::lz4:
      break;
  }
  return {};
}

// The filters that Zarr needs: a checksum after all others is cut off instead.
std::span<const Filter> zarr_filters(const Chunking& chunking) {
  const std::span<const Filter> all = chunking.filters;
  return unread_tail(chunking) > 0 ? all.first(all.size() - 1) : all;
}

// The attribute _FillValue if it is a number of the variable's type, in native order; empty: none.
std::span<const std::byte> fill_attribute(const Variable& variable) {
  for (const Attribute& each : variable.attributes)
    if (each.name == "_FillValue" && each.type == variable.type &&
        static_cast<int64_t>(each.data.size()) == type_size(each.type) &&
        !json_number(each.type, each.data, true).empty())
      return each.data;
  return {};
}

bool has_fill_attribute(const Variable& variable) {
  return std::any_of(variable.attributes.begin(), variable.attributes.end(),
                     [](const Attribute& each) { return each.name == "_FillValue"; });
}

std::vector<std::byte> stored_fill(const Variable& variable) {
  if (!variable.fill.empty())
    return variable.fill;
  return std::vector<std::byte>(static_cast<size_t>(element_bytes(variable.type, variable.details)));
}

// xarray treats an array's fill value as missing data. So it is _FillValue, or else NaN, which is also conspicuous if a
// file cannot be read. Integers have none.
std::string fill_value_of(const Variable& variable) {
  if (const auto fill = fill_attribute(variable); !fill.empty())
    return json_number(variable.type, fill, true);
  const bool is_float =
      variable.type == Type::float16 || variable.type == Type::float32 || variable.type == Type::float64;
  return is_float && !has_fill_attribute(variable) ? "\"NaN\"" : "null";
}

// Whether chunks missing in the text have the same values for Zarr's as for HDF5's readers.
bool has_same_fill(const Variable& variable) {
  const auto fill = json_number(
      variable.type, in_native_order(stored_fill(variable), variable.type, variable.placement.big_endian), true);
  return !fill.empty() && fill == fill_value_of(variable);
}

bool has_unfiltered_edges(const Variable& variable) {
  const Chunking& chunking = variable.chunking;
  if (!chunking.edges_unfiltered)
    return false;
  for (size_t i = 0; i < chunking.shape.size() && i < variable.shape.size(); ++i)
    if (variable.shape[i] % chunking.shape[i] != 0)
      return true;
  return false;
}

// The stored form of a chunk that was never written.
Status filled_chunk(const Variable& variable, int64_t elements, ByteBuffer& out) {
  const std::vector<std::byte> fill = stored_fill(variable);
  std::vector<std::byte> bytes(fill.size() * static_cast<size_t>(elements));
  paint(bytes, 0, fill);
  FilterBuffers buffers;
  return encode(zarr_filters(variable.chunking), bytes, buffers, out);
}

// The same as text; "" if `missing` of them would be too long.
std::string fill_as_text(const Variable& variable, int64_t missing, int64_t elements) {
  constexpr int64_t k_most_encoded = int64_t{64} << 20;
  const int64_t most = variable.chunking.filters.empty() ? k_most_filled / missing : k_most_encoded;
  ByteBuffer stored;
  if (elements > most / element_bytes(variable.type, variable.details) ||
      !filled_chunk(variable, elements, stored).ok())
    return {};
  return static_cast<int64_t>(stored.size()) <= k_most_filled / missing
             ? fmt::format("\"base64:{}\"", base64(stored.bytes()))
             : "";
}

int64_t elements_of(std::span<const int64_t> chunk) {
  int64_t elements = 1;
  for (const int64_t extent : chunk)
    elements *= extent;
  return elements;
}

// Names of the dimensions of a group's arrays: their own if each name has one length there; otherwise "phony_dim_0" and
// so on, the same for the same length.
class DimensionNames {
 public:
  explicit DimensionNames(const Catalog& catalog) {
    for (const Variable& variable : catalog.variables) {
      Group& group = groups_[parent_of(variable.path)];
      for (size_t i = 0; i < variable.dimensions.size() && i < variable.shape.size(); ++i)
        if (!variable.dimensions[i].empty())
          group.lengths.emplace(name_of(variable.dimensions[i]), variable.shape[i]);
    }
  }
  std::vector<std::string> of(const Variable& variable) {
    Group& group = groups_[parent_of(variable.path)];
    std::vector<std::string> names;
    std::map<int64_t, int64_t> seen;
    for (size_t i = 0; i < variable.shape.size(); ++i) {
      const int64_t length = variable.shape[i];
      const std::string name = i < variable.dimensions.size() ? name_of(variable.dimensions[i]) : "";
      const bool means_it = !name.empty() && group.lengths.at(name) == length &&
                            std::find(names.begin(), names.end(), name) == names.end();
      names.push_back(means_it ? name : phony(group, length, seen[length]++));
    }
    return names;
  }

 private:
  struct Group {
    std::map<std::string, int64_t> lengths;
    std::map<std::pair<int64_t, int64_t>, std::string> phony;
    int64_t next = 0;
  };
  static std::string phony(Group& group, int64_t length, int64_t occurrence) {
    std::string& name = group.phony[{length, occurrence}];
    while (name.empty() || (group.lengths.contains(name) && group.lengths[name] != length))
      name = fmt::format("phony_dim_{}", group.next++);
    return name;
  }
  std::map<std::string, Group> groups_;
};

class Writer {
 public:
  void entry(std::string_view key, std::string_view json) { put(key, json_text(json)); }
  void put(std::string_view key, std::string_view value) {
    out_ += first_ ? "\n" : ",\n";
    first_ = false;
    out_ += json_text(key);
    out_ += ':';
    out_ += value;
  }
  std::string out_ = "{\"version\":1,\"refs\":{";

 private:
  bool first_ = true;
};

std::string attributes_text(const std::vector<Attribute>& attributes, const Variable* variable, std::string text = {}) {
  for (const Attribute& each : attributes) {
    if (is_hidden(each.name) ||
        (variable != nullptr && each.name == "_FillValue" && !fill_attribute(*variable).empty()))
      continue;
    const std::string value = json_value(each);
    if (!value.empty())
      text += fmt::format("{}{}:{}", text.empty() ? "" : ",", json_text(each.name), value);
  }
  return fmt::format("{{{}}}", text);
}

std::string array_text(const Variable& variable, const ReferencedArray& array) {
  std::vector<std::string> codecs;
  for (const Filter& filter : zarr_filters(variable.chunking))
    codecs.push_back(codec_of(filter, element_bytes(variable.type, variable.details)));
  return fmt::format(R"({{"zarr_format":2,"shape":[{}],"chunks":[{}],"dtype":"{}","fill_value":{},)"
                     R"("order":"C","filters":{},"compressor":null}})",
                     fmt::join(variable.shape, ","), fmt::join(array.chunk, ","),
                     dtype_of(variable.type, variable.details, variable.placement.big_endian), fill_value_of(variable),
                     codecs.empty() ? std::string("null") : fmt::format("[{}]", fmt::join(codecs, ",")));
}

void write_chunks(Writer& writer, const Variable& variable, const ReferencedArray& array,
                  std::span<const std::string> files) {
  const std::string name = variable.path.substr(1) + '/';
  std::vector<int64_t> at(array.chunk.size());
  // Included even if Zarr's fill value is equivalent, because fsspec up to 2022 cannot read several chunks if one is
  // missing.
  const auto missing = std::count_if(array.references.begin(), array.references.end(),
                                     [](const ChunkReference& each) { return each.offset < 0; });
  const std::string filled =
      missing > 0 && variable.content.empty() ? fill_as_text(variable, missing, elements_of(array.chunk)) : "";
  for (const ChunkReference& chunk : array.references) {
    const std::string key = name + (at.empty() ? std::string("0") : fmt::format("{}", fmt::join(at, ".")));
    if (chunk.offset >= 0) {
      writer.put(key, fmt::format("[{},{},{}]", files[static_cast<size_t>(chunk.file)], chunk.offset, chunk.bytes));
    } else if (!variable.content.empty()) {
      writer.put(key, fmt::format("\"base64:{}\"", base64(variable.content)));
    } else if (!filled.empty()) {
      writer.put(key, filled);
    }
    for (size_t i = at.size(); i-- > 0;) {
      if (++at[i] < (variable.shape[i] - 1) / array.chunk[i] + 1)
        break;
      at[i] = 0;
    }
  }
}

}  // namespace

std::string why_no_array(const Variable& variable) {
  if (!variable.unsupported.empty())
    return variable.unsupported;
  if (variable.null_space)
    return "it has no elements and no shape";
  if (dtype_of(variable.type, variable.details, false).empty())
    return fmt::format("Zarr does not support arrays of {}{}", type_name(variable.type),
                       variable.type == Type::text ? " of variable length in a file" : "");
  for (size_t at = 1; at < variable.path.size(); at = std::min(variable.path.find('/', at), variable.path.size()) + 1)
    if (variable.path.compare(at, 2, ".z") == 0)
      return "names that begin with .z are reserved by Zarr";
  if (variable.path.find('\\') != std::string::npos)
    return "readers of Zarr interpret \\ in a name as /";
  if (!is_utf8(variable.path))
    return "its name is not UTF-8";
  for (const Filter& filter : zarr_filters(variable.chunking))
    if (codec_of(filter, element_bytes(variable.type, variable.details)).empty())
      return fmt::format("numcodecs has no filter that can decode HDF5's {}",
                         filter.name.empty() ? fmt::format("filter {}", filter.id) : filter.name);
  if (has_unfiltered_edges(variable))
    return "chunks at its edges are stored without filters, but Zarr has one filter pipeline for all chunks";
  return {};
}

std::string why_no_attribute(const Attribute& attribute) {
  if (is_hidden(attribute.name) || !json_value(attribute).empty())
    return {};
  return attribute.unsupported.empty() ? "JSON cannot represent its type" : attribute.unsupported;
}

std::string why_no_fill(const Variable& variable, int64_t missing, int64_t elements) {
  if (missing == 0 || !variable.content.empty() || has_same_fill(variable) ||
      !fill_as_text(variable, missing, elements).empty())
    return {};
  return fmt::format(
      "{} of its chunks were never written; readers would treat the fill value as the mark of missing values, and as "
      "data they exceed {}",
      missing, k_most_filled);
}

std::string references_text(const Catalog& catalog, std::span<const ReferencedArray> arrays,
                            std::span<const std::string> files, std::span<const std::string> left_out) {
  Writer writer;
  std::vector<std::string> quoted;
  for (const std::string& file : files)
    quoted.push_back(json_text(file));
  for (const Group& group : catalog.groups) {
    const std::string name = group.path == "/" ? "" : group.path.substr(1) + '/';
    writer.entry(name + ".zgroup", R"({"zarr_format":2})");
    writer.entry(name + ".zattrs", attributes_text(group.attributes, nullptr));
  }
  DimensionNames dimensions(catalog);
  for (const ReferencedArray& array : arrays) {
    const Variable& variable = catalog.variables[static_cast<size_t>(array.variable)];
    std::vector<std::string> names = dimensions.of(variable);
    for (std::string& name : names)
      name = json_text(name);
    const std::string name = variable.path.substr(1);
    writer.entry(name + "/.zarray", array_text(variable, array));
    writer.entry(name + "/.zattrs", attributes_text(variable.attributes, &variable,
                                                    fmt::format("\"_ARRAY_DIMENSIONS\":[{}]", fmt::join(names, ","))));
    write_chunks(writer, variable, array, quoted);
  }
  writer.out_ += "\n}";
  if (!left_out.empty()) {
    std::vector<std::string> lines;
    for (const std::string& line : left_out)
      lines.push_back(json_text(line));
    writer.out_ += fmt::format(",\"windrow_left_out\":[\n{}\n]", fmt::join(lines, ",\n"));
  }
  writer.out_ += "}\n";
  return std::move(writer.out_);
}

}  // namespace windrow
