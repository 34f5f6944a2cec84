// SPDX-License-Identifier: BSD-3-Clause
// The header of a netCDF classic file: its bytes as the specification has them, and what a format does with headers
// that are wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "../fault/failing_new.hpp"
#include "../temporary_folder.hpp"
#include "base/normal_form.hpp"
#include "format/format.hpp"
#include "format/netcdf/header.hpp"
#include "storage/store.hpp"

namespace windrow::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values)
    bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

std::vector<std::byte> native(int16_t value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

// t is unlimited, x is 3 long; v(t, x) of shorts with one attribute.
NetcdfContents example(int version) {
  NetcdfContents contents;
  contents.version = version;
  contents.records = 2;
  contents.dimensions = {{"t", 2, true}, {"x", 3, false}};
  contents.variables.push_back({"v", NetcdfType::int16, {0, 1}, {{"add", NetcdfType::int16, 1, native(-2)}}, 0x1000});
  return contents;
}

TEST(NetcdfHeader, has_the_bytes_of_the_specification) {
  EXPECT_EQ(
      encode_header(example(1)), bytes_of(
                                     {'C', 'D', 'F', 1,  0,    0, 0, 2,  // two records
                                      0,   0,   0,   10, 0,    0, 0, 2,    0,    0, 0, 1, 't', 0,   0,   0, 0,
                                      0,   0,   0,   0,  0,    0, 1, 'x',  0,    0, 0, 0, 0,   0,   3,  // dimensions
                                      0,   0,   0,   0,  0,    0, 0, 0,                                 // no attributes
                                      0,   0,   0,   11, 0,    0, 0, 1,    0,    0, 0, 1, 'v', 0,   0,   0, 0,
                                      0,   0,   2,   0,  0,    0, 0, 0,    0,    0, 1,  // v(t, x)
                                      0,   0,   0,   12, 0,    0, 0, 1,    0,    0, 0, 3, 'a', 'd', 'd', 0, 0,
                                      0,   0,   3,   0,  0,    0, 1, 0xff, 0xfe, 0, 0, 0, 0,   0,   3,   0, 0,
                                      0,   8,   0,   0,  0x10, 0}));  // short, 8 bytes, at 4096
  const auto second = encode_header(example(2));
  EXPECT_EQ(std::vector(second.end() - 12, second.end()), bytes_of({0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0x10, 0}));
  EXPECT_EQ(encode_header(example(5)),
            bytes_of({'C',  'D', 'F', 5, 0,   0, 0,   0,   0,   0,   0,  2, 0,  0, 0, 10, 0, 0, 0, 0, 0, 0,    0,
                      2,    0,   0,   0, 0,   0, 0,   0,   1,   't', 0,  0, 0,  0, 0, 0,  0, 0, 0, 0, 0, 0,    0,
                      0,    0,   0,   0, 0,   1, 'x', 0,   0,   0,   0,  0, 0,  0, 0, 0,  0, 3, 0, 0, 0, 0,    0,
                      0,    0,   0,   0, 0,   0, 0,   0,   0,   0,   11, 0, 0,  0, 0, 0,  0, 0, 1, 0, 0, 0,    0,
                      0,    0,   0,   1, 'v', 0, 0,   0,   0,   0,   0,  0, 0,  0, 0, 2,  0, 0, 0, 0, 0, 0,    0,
                      0,    0,   0,   0, 0,   0, 0,   0,   1,   0,   0,  0, 12, 0, 0, 0,  0, 0, 0, 0, 1, 0,    0,
                      0,    0,   0,   0, 0,   3, 'a', 'd', 'd', 0,   0,  0, 0,  3, 0, 0,  0, 0, 0, 0, 0, 1,    0xff,
                      0xfe, 0,   0,   0, 0,   0, 3,   0,   0,   0,   0,  0, 0,  0, 8, 0,  0, 0, 0, 0, 0, 0x10, 0}));
}

TEST(NetcdfHeader, is_decoded_as_it_was_encoded) {
  for (const int version : {1, 2, 5}) {
    NetcdfContents contents = example(version);
    for (int type = 1; type <= (version == 5 ? 11 : 6); ++type) {
      const auto kind = static_cast<NetcdfType>(type);
      NetcdfAttribute attribute{"a" + std::to_string(type), kind, 3, {}};
      for (int64_t i = 0; i < 3 * netcdf_type_bytes(kind); ++i)
        attribute.data.push_back(static_cast<std::byte>(i + type));
      contents.attributes.push_back(attribute);
    }
    const auto bytes = encode_header(contents);
    EXPECT_EQ(std::ssize(bytes), header_bytes_of(contents));
    const auto decoded = decode_header(bytes, 5000, "file");
    ASSERT_TRUE(decoded.ok()) << decoded.status().message();
    EXPECT_EQ(decoded.value().bytes, std::ssize(bytes));
    ASSERT_EQ(decoded.value().contents.attributes.size(), contents.attributes.size());
    for (size_t i = 0; i < contents.attributes.size(); ++i)
      EXPECT_EQ(decoded.value().contents.attributes[i].data, contents.attributes[i].data);
    EXPECT_EQ(decoded.value().contents.records, 2);
    EXPECT_EQ(decoded.value().contents.variables[0].offset, 0x1000);
    EXPECT_EQ(encode_header(decoded.value().contents), bytes);
    for (size_t length = 4; length < bytes.size(); ++length)
      EXPECT_EQ(decode_header(std::span(bytes).first(length), 5000, "file").value().bytes, 0) << length;
  }
}

TEST(NetcdfHeader, puts_no_two_variables_on_the_same_bytes) {
  NetcdfContents contents = example(2);
  contents.variables.push_back({"fixed", NetcdfType::int32, {1}, {}, 0x0ff0});
  EXPECT_TRUE(decode_header(encode_header(contents), 5000, "file").ok())
      << "before the records, and after them in the header";
  for (const int64_t offset : {0x0ff8, 0x1000, 0x1100}) {
    contents.variables.back().offset = offset;
    const auto decoded = decode_header(encode_header(contents), 5000, "file");
    EXPECT_EQ(decoded.status().code(), Code::bad_file) << offset;
    EXPECT_THAT(decoded.status().message(), AllOf(HasSubstr("\"v\""), HasSubstr("\"fixed\""), HasSubstr("overlap")))
        << offset;
  }
}

class NetcdfFiles : public testing::Test {
 protected:
  std::unique_ptr<Format> open(FormatMode mode, const FormatOptions& options = {}) {
    auto format = open_format("netcdf", path_, mode, options);
    EXPECT_TRUE(format.ok()) << format.status().message();
    return format.ok() ? std::move(format).value() : nullptr;
  }
  static VariableDefinition fixed(const std::string& path, std::vector<int64_t> shape) {
    VariableDefinition definition;
    definition.path = path;
    definition.type = Type::int32;
    definition.shape = std::move(shape);
    return definition;
  }
  // One variable without records and, unless there are none, one with.
  void make(int version, int64_t records) {
    auto format = open(FormatMode::create, {.netcdf_version = version});
    EXPECT_TRUE(format->define_variable(fixed("/fixed", {5})).ok());
    VariableDefinition grows = fixed("/grows", {records, 3});
    grows.extendible = true;
    if (records > 0) {
      EXPECT_TRUE(format->define_variable(grows).ok());
    }
    EXPECT_TRUE(format->lay_out().ok());
    format->take_layout();
    EXPECT_TRUE(format->close().ok());
  }
  std::string content() const {
    std::ifstream stream(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  void replace(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  TemporaryFolder folder_;
  std::string path_ = folder_.path("file.nc");
};

TEST_F(NetcdfFiles, with_more_records_than_they_have_bytes_for_are_read_and_not_changed) {
  for (const int version : {1, 2, 5}) {
    make(version, 4);
    std::string bytes = content();
    bytes[version == 5 ? 8 : 4] = 0x40;  // 2^30 records more
    replace(bytes);
    EXPECT_EQ(open(FormatMode::read)->catalog().value().variables[1].shape.front(), (int64_t{1} << 30) + 4);
    const auto refused = open_format("netcdf", path_, FormatMode::update, {});
    EXPECT_EQ(refused.status().code(), Code::bad_file);
    EXPECT_THAT(refused.status().message(),
                AllOf(HasSubstr("file.nc"), HasSubstr("1073741828 records"), HasSubstr("truncated or damaged")));
    EXPECT_TRUE(content() == bytes);
  }
}

TEST_F(NetcdfFiles, that_end_in_their_last_record_can_be_changed) {
  make(2, 4);
  const std::string bytes = content();
  replace(bytes.substr(0, bytes.size() - 8));
  auto format = open(FormatMode::update);
  EXPECT_TRUE(format->extend("/grows", std::vector<int64_t>{5, 3}).ok());
  EXPECT_TRUE(format->close().ok());
  EXPECT_EQ(content().size(), bytes.size() + 12);
  replace(bytes.substr(0, bytes.size() - 12));
  EXPECT_EQ(open_format("netcdf", path_, FormatMode::update, {}).status().code(), Code::bad_file);
}

// The variables of a file of another library may never have been written, and the file may have been truncated.
TEST_F(NetcdfFiles, that_end_before_their_variables_do_get_no_longer_by_that) {
  make(1, 0);
  const std::string bytes = content(), shorter = bytes.substr(0, 4096 + 4);
  replace(shorter);
  Attribute attribute;
  attribute.name = "n";
  attribute.type = Type::int8;
  attribute.data = {std::byte{1}};
  auto format = open(FormatMode::update);
  EXPECT_TRUE(format->put_attribute("/", attribute).ok());
  EXPECT_TRUE(format->lay_out().ok());
  format->take_layout();
  EXPECT_TRUE(format->close().ok());
  EXPECT_EQ(content().size(), shorter.size());

  format = open(FormatMode::update);
  EXPECT_TRUE(format->define_variable(fixed("/more", {2})).ok());
  const auto refused = format->lay_out();
  EXPECT_EQ(refused.status().code(), Code::bad_file);
  EXPECT_THAT(refused.status().message(), AllOf(HasSubstr("byte 4100"), HasSubstr("byte 4116")));
  EXPECT_EQ(content().size(), shorter.size());
  {  // they are written
    auto store = open_store(path_, StoreMode::update, {});
    EXPECT_TRUE(store.value()->resize(4116).ok());
  }
  EXPECT_TRUE(format->lay_out().ok());
  format->take_layout();
  EXPECT_TRUE(format->close().ok());
  EXPECT_EQ(open(FormatMode::read)->catalog().value().variables.size(), 2U);
}

TEST_F(NetcdfFiles, take_back_what_they_cannot_hold_when_it_is_defined) {
  auto format = open(FormatMode::create, {.netcdf_version = 1});
  const auto refused = [&](const Status& status, const char* says) {
    EXPECT_EQ(status.code(), Code::unsupported) << says;
    EXPECT_THAT(status.message(), HasSubstr(says));
  };
  refused(format->define_variable(fixed("/none", {0, 3})).status(), "only variables that grow to be empty");
  refused(format->define_variable(fixed("/none", {3, 0})).status(), "only variables that grow to be empty");
  VariableDefinition grows = fixed("/rows", {0, 0});
  grows.extendible = true;
  refused(format->define_variable(grows).status(), "only variables that grow to be empty");
  EXPECT_TRUE(format->define_dimension({.path = "/time", .length = 0}).ok());
  refused(format->define_dimension({.path = "/another", .length = 0}), "one unlimited dimension");
  refused(format->define_dimension({.path = "/long", .length = int64_t{1} << 32}), "netcdf_version=5");
  refused(format->define_variable(fixed("/long", {int64_t{1} << 31})).status(), "netcdf_version=2");
  EXPECT_TRUE(format->define_variable(fixed("/large", {int64_t{1} << 30})).ok())
      << "the last one may be larger than its size can tell";
  refused(format->define_variable(fixed("/next", {2})).status(), "\"large\"");
  EXPECT_TRUE(format->lay_out().ok());
  format->take_layout();
  EXPECT_TRUE(format->undefine("/large", 0).ok());
  EXPECT_TRUE(format->define_variable(fixed("/small", {4})).ok());
  EXPECT_TRUE(format->lay_out().ok());
  format->take_layout();
  EXPECT_TRUE(format->close().ok());
  EXPECT_EQ(open(FormatMode::read)->catalog().value().variables.size(), 1U);
}

VariableDefinition bytes_at(const std::string& path, int64_t length) {
  VariableDefinition definition;
  definition.path = path;
  definition.type = Type::int8;
  definition.shape = {length};
  return definition;
}

// The header, its room, the alignment and the records count too. A refused definition leaves the file as it was, so
// that it can be laid out.
TEST_F(NetcdfFiles, refuse_at_its_definition_what_cannot_be_placed) {
  constexpr int64_t k_gib = int64_t{1} << 30;
  struct Case {
    FormatOptions options;
    std::vector<VariableDefinition> variables;  // the last one is refused
    const char* says;
  };
  VariableDefinition records = bytes_at("/records", 3'000'000'000);
  records.extendible = true;
  records.shape.push_back(4);
  VariableDefinition huge = records;  // 2^61 bytes of records
  huge.shape = {int64_t{1} << 51, 1024};
  const std::vector<Case> cases{
      {{.netcdf_version = 1}, {bytes_at("/a", 2147483632), bytes_at("/b", 8)}, "would begin at byte 2147487"},
      {{.alignment = k_gib, .netcdf_version = 1},
       {bytes_at("/a", 100), bytes_at("/b", 100)},
       "at byte 2147483648, beyond 2147483647"},
      {{.netcdf_version = 1, .header_room = 3 * k_gib}, {bytes_at("/a", 8)}, "at byte 32"},
      {{.netcdf_version = 2}, {bytes_at("/a", 8), records}, "3000000000 records"},
      {{}, {bytes_at("/a", 8), huge}, "would have more than 1152921504606846976 bytes"},
      {{}, {bytes_at("/a", int64_t{1} << 59), bytes_at("/b", int64_t{1} << 59)}, "beyond 1152921504606846976 bytes"},
  };
  for (const Case& each : cases) {
    auto format = open(FormatMode::create, each.options);
    for (size_t i = 0; i + 1 < each.variables.size(); ++i)
      EXPECT_TRUE(format->define_variable(each.variables[i]).ok()) << each.says;
    for (int time = 0; time < 2; ++time) {
      const Status refused = format->define_variable(each.variables.back()).status();
      EXPECT_EQ(refused.code(), Code::unsupported) << each.says;
      EXPECT_THAT(refused.message(), AllOf(HasSubstr(each.says), Not(HasSubstr("file.nc"))));
    }
    EXPECT_EQ(format->catalog().value().variables.size(), each.variables.size() - 1) << each.says;
    EXPECT_EQ(format->extend(each.variables.back().path, std::vector<int64_t>{1}).code(), Code::bad_argument);
    EXPECT_TRUE(format->lay_out().ok()) << each.says;
  }
}

// An attribute moves the last variable of a full file.
TEST_F(NetcdfFiles, refuse_an_attribute_that_moves_variables_too_far) {
  auto format = open(FormatMode::create, {.netcdf_version = 1});
  EXPECT_TRUE(format->define_variable(bytes_at("/a", int64_t{INT32_MAX} - 4096 - 3)).ok());
  EXPECT_TRUE(format->define_variable(bytes_at("/b", 8)).ok());
  Attribute attribute;
  attribute.name = "long";
  attribute.type = Type::int8;
  attribute.shape = {5000};
  attribute.data.resize(5000);
  for (const char* object : {"/", "/b"}) {
    const Status refused = format->put_attribute(object, attribute);
    EXPECT_EQ(refused.code(), Code::unsupported) << object;
    EXPECT_THAT(refused.message(), HasSubstr("beyond 2147483647")) << object;
  }
  attribute.shape = {5};
  attribute.data.resize(5);
  EXPECT_TRUE(format->put_attribute("/", attribute).ok());
  EXPECT_TRUE(format->lay_out().ok());
  EXPECT_EQ(format->catalog().value().groups.front().attributes.size(), 1U);
  EXPECT_TRUE(format->catalog().value().variables.back().attributes.empty());
}

TEST_F(NetcdfFiles, with_two_dimensions_of_one_name_are_bad) {
  NetcdfContents contents = example(1);
  contents.dimensions.push_back({"x", 4, false});
  auto bytes = encode_header(contents);
  bytes.resize(5000);
  replace({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  const auto refused = open_format("netcdf", path_, FormatMode::read, {});
  EXPECT_EQ(refused.status().code(), Code::bad_file);
  EXPECT_THAT(refused.status().message(), HasSubstr("two dimensions have the name \"x\""));
}

TEST_F(NetcdfFiles, with_what_is_not_understood_take_no_definition) {
  NetcdfContents contents = example(1);
  constexpr int k_dimensions = 33;
  contents.variables.push_back({"deep", NetcdfType::byte, std::vector<int>(k_dimensions, 2), {}, 0x0f00});
  contents.dimensions.push_back({"one", 1, false});
  auto bytes = encode_header(contents);
  bytes.resize(5000);
  replace({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  auto format = open(FormatMode::update);
  EXPECT_THAT(format->define_variable(fixed("/more", {2})).status().message(),
              AllOf(HasSubstr("/more"), HasSubstr("\"/deep\" has 33 dimensions")));
  EXPECT_EQ(format->delete_attribute("/v", "add").code(), Code::unsupported);
  EXPECT_TRUE(format->extend("/v", std::vector<int64_t>{3, 3}).ok()) << "the number of records is there";
  EXPECT_TRUE(format->close().ok());
  EXPECT_EQ(open(FormatMode::read)->catalog().value().variables[0].shape.front(), 3);
}

// Other libraries look names up in this form. The examples are those of Unicode Standard Annex 15.
TEST(NormalForm, of_names) {
  const auto form = [](const char8_t* text) { return normal_form_c(reinterpret_cast<const char*>(text)); };
  const auto same = [](const char8_t* text) { return std::optional<std::string>(reinterpret_cast<const char*>(text)); };
  EXPECT_EQ(form(u8"plain_1"), same(u8"plain_1"));
  EXPECT_EQ(form(u8"\u00e9t\u00e9"), same(u8"\u00e9t\u00e9"));
  if (!form(u8"\u0307"))
    GTEST_SKIP() << "built without utf8proc";
  EXPECT_EQ(form(u8"D\u0307"), same(u8"\u1e0a"));
  EXPECT_EQ(form(u8"D\u0307\u0323"), same(u8"\u1e0c\u0307")) << "marks are put in order";
  EXPECT_EQ(form(u8"\u00ea\u0323"), same(u8"\u1ec7")) << "a mark may go before one that is composed already";
  EXPECT_EQ(form(u8"\u1112\u1161\u11ab\u1100\u1173\u11af"), same(u8"\ud55c\uae00")) << "Hangul";
  EXPECT_EQ(form(u8"\u212b"), same(u8"\u00c5")) << "a character that the form never has";
}

}  // namespace

// The n-th allocation of a definition fails, for every n: then the variable is not there, and can be defined again.
TEST_F(NetcdfFiles, without_memory_for_a_definition_are_as_before) {
  bool failed = true;
  for (int64_t at = 1; failed; ++at) {
    auto format = open(FormatMode::create);
    EXPECT_TRUE(format->define_variable(fixed("/before", {3})).ok());
    VariableDefinition grows = fixed("/a_name_that_needs_memory", {2, 3});
    grows.extendible = true;
    grows.fill.assign(4, std::byte{1});
    windrow_test::failing_new.arm(at, false);
    const Status status = format->define_variable(grows).status();
    failed = windrow_test::failing_new.failed > 0;
    windrow_test::failing_new.disarm();
    EXPECT_EQ(status.ok(), !failed) << at;
    if (!failed)
      break;
    EXPECT_EQ(status.code(), Code::out_of_memory) << at;
    EXPECT_EQ(format->catalog().value().variables.size(), 1U) << at;
    EXPECT_EQ(format->delete_attribute("/a_name_that_needs_memory", "n").code(), Code::not_found) << at;
    EXPECT_TRUE(format->define_variable(grows).ok()) << at;
    EXPECT_TRUE(format->lay_out().ok());
    format->take_layout();
    EXPECT_TRUE(format->close().ok());
    EXPECT_EQ(open(FormatMode::read)->catalog().value().variables.size(), 2U) << at;
  }
}

}  // namespace windrow::test
