// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "kerchunk/kerchunk.hpp"

namespace windrow {
namespace {

using nlohmann::json;

template <class T>
std::vector<std::byte> bytes_of(const T& value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

template <class T>
Attribute number(const std::string& name, Type type, T value) {
  Attribute attribute;
  attribute.name = name;
  attribute.type = type;
  attribute.data = bytes_of(value);
  return attribute;
}

Attribute word(const std::string& name, const std::string& text) {
  Attribute attribute;
  attribute.name = name;
  attribute.type = Type::text;
  attribute.texts = {text};
  return attribute;
}

Variable variable_of(const std::string& path, Type type, std::vector<int64_t> shape) {
  Variable variable;
  variable.path = path;
  variable.type = type;
  variable.shape = std::move(shape);
  return variable;
}

Catalog catalog_of(std::vector<Variable> variables) {
  Catalog catalog;
  catalog.groups.push_back({.path = "/", .attributes = {}});
  catalog.groups.push_back({.path = "/g", .attributes = {}});
  catalog.variables = std::move(variables);
  return catalog;
}

// What all references are; those of Zarr's own keys parsed.
json references_of(const Catalog& catalog, std::vector<ReferencedArray> arrays,
                   std::vector<std::string> files = {"a.h5"}) {
  json whole = json::parse(references_text(catalog, arrays, files, std::vector<std::string>{}));
  EXPECT_EQ(whole["version"], 1);
  json found = whole["refs"];
  for (auto& [key, value] : found.items())
    if (key.find(".z") != std::string::npos)
      value = json::parse(value.get<std::string>());
  return found;
}

TEST(ReferencesText, says_where_chunks_lie) {
  const Catalog catalog = catalog_of({variable_of("/g/\"odd\" \xce\xb5", Type::float32, {5, 4})});
  const json found =
      references_of(catalog, {{0, {2, 4}, {{0, 100, 32}, {1, 200, 32}, {1, 300, 32}}}}, {"a.h5", "s/1.h5"});
  const std::string name = "g/\"odd\" \xce\xb5/";
  EXPECT_EQ(found[".zgroup"], json::parse(R"({"zarr_format":2})"));
  EXPECT_EQ(found["g/.zgroup"]["zarr_format"], 2);
  EXPECT_EQ(found[name + "0.0"], json::parse(R"(["a.h5",100,32])"));
  EXPECT_EQ(found[name + "2.0"], json::parse(R"(["s/1.h5",300,32])"));
  const json array = found[name + ".zarray"];
  EXPECT_EQ(array["shape"], json({5, 4}));
  EXPECT_EQ(array["chunks"], json({2, 4}));
  EXPECT_EQ(array["dtype"], "<f4");
  EXPECT_EQ(array["fill_value"], "NaN");
  EXPECT_EQ(array["filters"], nullptr);
  EXPECT_EQ(array["compressor"], nullptr);
  EXPECT_EQ(array["order"], "C");
}

TEST(ReferencesText, names_dimensions_once_for_a_length) {
  Variable named = variable_of("/g/a", Type::int32, {3, 4, 4}), other = variable_of("/g/b", Type::int32, {4, 3, 9});
  named.dimensions = {"/g/time", "/x", "/x"};
  other.dimensions = {"", "/time", "/time"};  // another dimension of that name, and one of another length
  const json found = references_of(catalog_of({named, other}), {{0, {3, 4, 4}, {}}, {1, {4, 3, 9}, {}}});
  const json first = found["g/a/.zattrs"]["_ARRAY_DIMENSIONS"], second = found["g/b/.zattrs"]["_ARRAY_DIMENSIONS"];
  EXPECT_EQ(first[0], "time");
  EXPECT_EQ(first[1], "x");
  EXPECT_NE(first[2], "x");
  EXPECT_EQ(second[0], first[2]) << "the same length";
  EXPECT_EQ(second[1], "time");
  EXPECT_NE(second[2], "time") << "it has another length";
}

TEST(ReferencesText, has_attributes_but_not_our_own) {
  Catalog catalog = catalog_of({variable_of("/v", Type::int16, {2})});
  Attribute list = number("list", Type::float64, 0.0);
  list.shape = {2};
  list.data = bytes_of(std::array<double, 2>{2, 0.1});
  catalog.groups[0].attributes = {word("title", "a \"b\"\n\xff"), list, word("windrow_set", "x"),
                                  word("_NCProperties", "x")};
  catalog.variables[0].attributes = {
      number<int16_t>("_FillValue", Type::int16, -1), number<uint64_t>("large", Type::uint64, UINT64_MAX),
      number<float>("float", Type::float32, 0.1F), number<unsigned char>("yes", Type::boolean, 1),
      number<uint16_t>("half", Type::float16, 0xb600)};
  const json found = references_of(catalog, {{0, {2}, {}}});
  EXPECT_EQ(found[".zattrs"].dump(), R"({"list":[2.0,0.1],"title":"a \"b\"\n\\xff"})");
  EXPECT_EQ(found["v/.zattrs"]["large"], UINT64_MAX);
  EXPECT_EQ(found["v/.zattrs"]["yes"], true);
  EXPECT_EQ(found["v/.zattrs"]["half"], -0.375);
  EXPECT_FALSE(found["v/.zattrs"].contains("_FillValue")) << "it is the array's fill value";
  EXPECT_EQ(found["v/.zarray"]["fill_value"], -1);
  EXPECT_EQ(why_no_attribute(catalog.groups[0].attributes[2]), "");
  Attribute complex = number<double>("c", Type::complex64, 0);
  EXPECT_NE(why_no_attribute(complex), "");
}

// A netCDF text that ncgen writes as "" is one NUL; a NUL between characters is reported.
TEST(ReferencesText, has_no_nuls_at_the_end_of_attributes) {
  Catalog catalog = catalog_of({variable_of("/v", Type::int8, {2})});
  catalog.variables[0].attributes = {word("units", std::string(1, '\0')), word("name", std::string("a\0b\0\0", 5))};
  const json found = references_of(catalog, {{0, {2}, {}}})["v/.zattrs"];
  EXPECT_EQ(found["units"], "");
  EXPECT_EQ(found["name"], std::string("a\0b", 3));
}

// Zarr 2 reads what is in a key as ASCII, and JSON's way to say the rest is all that it takes.
TEST(ReferencesText, is_ascii_whatever_it_says) {
  Catalog catalog = catalog_of({variable_of("/\u03b5", Type::int16, {2})});
  catalog.variables[0].attributes = {word("units", "\u00b0C, \u20ac, \U0001f33e"), word("\u00b5", "plain")};
  const std::string text = references_text(catalog, std::vector<ReferencedArray>{{0, {2}, {}}},
                                           std::vector<std::string>{"a.h5"}, std::vector<std::string>{});
  EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char each) { return static_cast<unsigned char>(each) < 0x80; }))
      << text;
  const std::string attributes = json::parse(text)["refs"]["\u03b5/.zattrs"];
  EXPECT_TRUE(std::all_of(attributes.begin(), attributes.end(), [](char each) {
    return static_cast<unsigned char>(each) < 0x80;
  })) << attributes;
  EXPECT_EQ(json::parse(attributes)["units"], "\u00b0C, \u20ac, \U0001f33e");
  EXPECT_EQ(json::parse(attributes)["\u00b5"], "plain");
}

TEST(ReferencesText, has_the_bytes_of_chunks_that_nobody_wrote) {
  Variable zeros = variable_of("/zeros", Type::float64, {2}), small = variable_of("/small", Type::uint16, {1}),
           marked = variable_of("/marked", Type::float64, {2});
  small.content = {std::byte{1}, std::byte{2}};
  marked.attributes = {number("_FillValue", Type::float64, 7.0)};
  marked.fill = bytes_of(7.0);
  const json found =
      references_of(catalog_of({zeros, small, marked}), {{0, {1}, {{0, 8, 8}, {}}}, {1, {1}, {{}}}, {2, {2}, {{}}}});
  EXPECT_EQ(found["zeros/1"], "base64:AAAAAAAAAAA=");
  EXPECT_EQ(found["small/0"], "base64:AQI=");
  EXPECT_EQ(found["marked/0"], "base64:AAAAAAAAHEAAAAAAAAAcQA==");
  EXPECT_EQ(found["marked/.zarray"]["fill_value"], 7.0);
  EXPECT_EQ(why_no_fill(zeros, 1000, 100), "");
  EXPECT_NE(why_no_fill(zeros, 1000, 1000), "");
  EXPECT_EQ(why_no_fill(marked, 1000, 1000), "") << "Zarr's fill value says it";
}

TEST(WhyNoArray, names_what_zarr_lacks) {
  const auto with = [](std::vector<Filter> filters) {
    Variable variable = variable_of("/v", Type::float64, {4});
    variable.chunking = {{2}, std::move(filters)};
    return why_no_array(variable);
  };
  const auto id = [](FilterId each) { return Filter{static_cast<int>(each), {}, "name"}; };
  EXPECT_EQ(with({id(FilterId::shuffle), id(FilterId::deflate), id(FilterId::fletcher32)}), "");
  EXPECT_NE(with({id(FilterId::fletcher32), id(FilterId::deflate)}), "") << "the checksum is inside";
  EXPECT_NE(with({id(FilterId::lz4)}), "");
  EXPECT_NE(with({Filter{4, {}, "szip"}}), "");
  Variable edged = variable_of("/v", Type::float64, {4, 6});
  edged.chunking = {{2, 3}, {id(FilterId::deflate)}, true};
  EXPECT_EQ(why_no_array(edged), "") << "no chunk is cut by an edge";
  edged.shape = {4, 7};
  EXPECT_NE(why_no_array(edged), "");
  EXPECT_NE(why_no_array(variable_of("/v", Type::text, {4})), "");
  EXPECT_NE(why_no_array(variable_of("/v", Type::opaque, {4})), "");
  EXPECT_NE(why_no_array(variable_of("/.zarray", Type::int8, {4})), "");
  EXPECT_NE(why_no_array(variable_of("/g/.zv/v", Type::int8, {4})), "");
  EXPECT_NE(why_no_array(variable_of("/a\\b", Type::int8, {4})), "");
  EXPECT_EQ(why_no_array(variable_of("/v", Type::complex128, {4})), "");
}

}  // namespace
}  // namespace windrow
