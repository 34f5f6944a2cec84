// SPDX-License-Identifier: BSD-3-Clause
// The raw format's bytes, its sidecar in foreign hands, and hostile sidecars.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "../contract/example_attributes.hpp"
#include "../temporary_folder.hpp"
#include "storage/store.hpp"

namespace windrow::test {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

class RawFormat : public testing::Test {
 protected:
  RawFormat() {
    auto format = open_format("raw", path_, FormatMode::create, {});
    EXPECT_TRUE(format.value()->define_group("/g").ok());
    EXPECT_TRUE(format.value()->define_variable({"/g/three", Type::uint8, {3}, false}).ok());
    EXPECT_TRUE(format.value()->define_variable({"/big", Type::int16, {2, 2}, true}).ok());
    EXPECT_TRUE(format.value()->put_attribute("/big", numbers<double>("scale", Type::float64, {0.5})).ok());
    EXPECT_TRUE(format.value()->put_attribute("/big", text("units", "m")).ok());
    EXPECT_TRUE(format.value()->close().ok());
  }
  std::string sidecar() const {
    std::ifstream file(path_ + ".json");
    return {std::istreambuf_iterator<char>(file), {}};
  }
  Status open_with(const std::string& text) const {
    std::ofstream(path_ + ".json") << text;
    return open_format("raw", path_, FormatMode::read, {}).status();
  }
  TemporaryFolder folder_;
  std::string path_ = folder_.path("a.raw");
};

}  // namespace

TEST_F(RawFormat, lays_variables_one_after_another) {
  const Json about = Json::parse(sidecar());
  EXPECT_EQ(about["windrow"], "raw");
  EXPECT_EQ(about["version"], 1);
  EXPECT_EQ(about["bytes"], 16);
  EXPECT_EQ(about["variables"][0]["offset"], 0);
  EXPECT_EQ(about["variables"][1]["offset"], 8);
  EXPECT_EQ(about["variables"][1]["byte_order"], "big");
  EXPECT_EQ(about["variables"][1]["attributes"][0]["values"], Json::array({0.5}));
  EXPECT_EQ(std::filesystem::file_size(path_), 16U);
  EXPECT_EQ(format_sidecars("raw", path_), std::vector<std::string>{path_ + ".json"});
}

TEST_F(RawFormat, is_read_by_numpy_as_its_page_says) {
  auto store = open_store(path_, StoreMode::update, {});
  ASSERT_TRUE(store.value()->write_at(8, bytes_of<uint8_t>({0, 1, 0, 2, 0, 3, 1, 0})).ok());
  std::ofstream(folder_.path("read.py")) << R"(
import json, sys, numpy
about = json.load(open(sys.argv[1] + ".json"))
v = about["variables"][1]
kind = numpy.dtype(v["type"]).newbyteorder(">" if v["byte_order"] == "big" else "<")
a = numpy.memmap(sys.argv[1], kind, "r", v["offset"], tuple(v["shape"]))
sys.exit(0 if a.tolist() == [[1, 2], [3, 256]] else 1)
)";
  const std::string command = "/usr/bin/python3 '" + folder_.path("read.py") + "' '" + path_ + "'";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST_F(RawFormat, keeps_texts_that_are_not_utf8) {
  auto format = open_format("raw", path_, FormatMode::update, {});
  Attribute latin =
      fixed_text("latin", {std::string("gr\xfc\xdf"), std::string("a\0b", 3)}, 4, TextPadding::null_padded);
  ASSERT_TRUE(format.value()->put_attribute("/g", latin).ok());
  ASSERT_TRUE(format.value()->close().ok());
  format = open_format("raw", path_, FormatMode::read, {});
  EXPECT_EQ(format.value()->catalog().value().groups[1].attributes.front(), latin);

  format = open_format("raw", path_, FormatMode::update, {});
  ASSERT_TRUE(format.value()->define_group("/gr\xfc\xdf").ok());
  EXPECT_EQ(format.value()->close().code(), Code::bad_argument) << "JSON has no such names";
}

TEST_F(RawFormat, refuses_sidecars_that_cannot_be) {
  const Json good = Json::parse(sidecar());
  ASSERT_TRUE(open_with(good.dump()).ok());
  const std::pair<const char*, const char*> mistakes[] = {
      {"/version", "2"},
      {"/version", "null"},
      {"/bytes", "17"},  // longer than the data file
      {"/bytes", "-1"},
      {"/bytes", "15"},  // then /big leaves it
      {"/bytes", "1e3"},
      {"/groups", "{}"},
      {"/groups", "[]"},
      {"/groups/0/path", "\"/x\""},
      {"/groups/1/path", "\"/\""},
      {"/groups/1/path", "\"/h\""},  // /g/three has no parent then
      {"/groups/1/path", "\"/no/g\""},
      {"/groups/1/path", "7"},
      {"/groups/1", "[]"},
      {"/groups/1/attributes", "7"},
      {"/variables", "null"},
      {"/variables/0/path", "\"/g\""},
      {"/variables/0/path", "\"/big\""},
      {"/variables/0/path", "\"../escape\""},
      {"/variables/0/path", "\"/a//b\""},
      {"/variables/0/type", "\"int128\""},
      {"/variables/0/type", "\"text\""},
      {"/variables/0/type", "3"},
      {"/variables/0/byte_order", "\"middle\""},
      {"/variables/0/shape", "3"},
      {"/variables/0/shape", "[-3]"},
      {"/variables/0/shape", "[-1, -3]"},
      {"/variables/0/shape", "[3.5]"},
      {"/variables/0/shape", "[9223372036854775808]"},
      {"/variables/0/shape", "[4294967296, 4294967296]"},
      {"/variables/1/shape", "[9223372036854775807]"},
      {"/variables/0/shape", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]"},
      {"/variables/0/shape", "[17]"},
      {"/variables/0/shape", "[9]"},  // onto /big
      {"/variables/0/shape", "[0]"},  // and yet a place
      {"/variables/0/offset", "-1"},
      {"/variables/0/offset", "14"},
      {"/variables/0/offset", "8"},
      {"/variables/0/offset", "9223372036854775807"},
      {"/variables/0/offset", "\"0\""},
      {"/variables/1/attributes/0/name", "\"\""},
      {"/variables/1/attributes/0/name", "\"units\""},
      {"/variables/1/attributes/0/name", "null"},
      {"/variables/1/attributes/0/type", "\"none\""},
      {"/variables/1/attributes/0/shape", "[2]"},
      {"/variables/1/attributes/0/shape", "[1000000000000]"},
      {"/variables/1/attributes/0/values", "[\"half\"]"},
      {"/variables/1/attributes/0/values", "[\"0xzz\"]"},
      {"/variables/1/attributes/0/values", "[\"0x1ffffffffffffffff\"]"},
      {"/variables/1/attributes/0/values", "0.5"},
      {"/variables/1/attributes/1/values", "[7]"},
      {"/variables/1/attributes/1/values", "[{\"hex\": \"f\"}]"},
      {"/variables/1/attributes/1/values", "[{\"hex\": \"zz\"}]"},
      {"/variables/1/attributes/1/padding", "\"left\""},
      {"/variables/1/attributes/1/size", "-4"},
      {"/variables/1/attributes/1/character_set", "\"ebcdic\""},
      {"/variables/1/attributes/1/variable_length", "1"},
  };
  for (const auto& [place, value] : mistakes) {
    Json wrong = good;
    ASSERT_TRUE(wrong.contains(Json::json_pointer(place))) << place;
    wrong[Json::json_pointer(place)] = Json::parse(value);
    const Status status = open_with(wrong.dump());
    EXPECT_EQ(status.code(), Code::bad_file) << place << " " << value;
    EXPECT_THAT(status.message(), HasSubstr("a.raw.json")) << place << " " << value;
  }
}

TEST_F(RawFormat, refuses_integers_outside_their_type) {
  Json about = Json::parse(sidecar());
  Json& attribute = about["variables"][1]["attributes"][0];
  attribute["type"] = "int8";
  const std::pair<const char*, bool> cases[] = {{"-128", true},  {"127", true},  {"128", false},
                                                {"-129", false}, {"1.0", false}, {"18446744073709551615", false}};
  for (const auto& [value, fits] : cases) {
    attribute["values"] = Json::array({Json::parse(value)});
    EXPECT_EQ(open_with(about.dump()).ok(), fits) << value;
  }
}

TEST_F(RawFormat, refuses_text_that_is_no_sidecar) {
  const std::string good = sidecar();
  for (const std::string& text :
       {std::string(), std::string("{}"), std::string("[]"), std::string("7"), std::string("\"raw\""),
        std::string("{\"windrow\": \"raw\"}"), std::string(100'000, '['), good.substr(0, good.size() / 2)}) {
    EXPECT_EQ(open_with(text).code(), Code::bad_file) << text.substr(0, 50);
  }
  EXPECT_TRUE(open_with(good).ok());
}

TEST_F(RawFormat, says_that_the_data_file_is_truncated_or_its_sidecar_missing) {
  std::filesystem::resize_file(path_, 15);
  const Status truncated = open_format("raw", path_, FormatMode::read, {}).status();
  EXPECT_EQ(truncated.code(), Code::bad_file);
  EXPECT_THAT(truncated.message(), HasSubstr("truncated"));
  std::filesystem::remove(path_ + ".json");
  const Status missing = open_format("raw", path_, FormatMode::read, {}).status();
  EXPECT_EQ(missing.code(), Code::bad_file);
  EXPECT_THAT(missing.message(), HasSubstr("sidecar is missing"));
}

// Somebody else's text must not keep rank 0 busy, for which the others wait.
TEST_F(RawFormat, sidecars_of_many_members_are_read_at_once) {
  std::string members;
  for (int i = 0; i < 300000; ++i)
    members += "\"" + std::to_string(i) + "\":0,";
  EXPECT_TRUE(open_with("{" + members + sidecar().substr(1)).ok());
  EXPECT_EQ(open_with("{" + members + "\"windrow\":\"raw\"}").code(), Code::bad_file);
}

TEST_F(RawFormat, sidecars_that_are_too_large_are_refused_unread) {
  std::filesystem::resize_file(path_ + ".json", (int64_t{1} << 30) + 1);
  for (const FormatMode mode : {FormatMode::read, FormatMode::update}) {
    const Status status = open_format("raw", path_, mode, {}).status();
    EXPECT_EQ(status.code(), Code::bad_file);
    EXPECT_THAT(status.message(), HasSubstr("1073741825 bytes"));
  }
  EXPECT_EQ(format_of_file(path_).status().code(), Code::bad_file);
}

}  // namespace windrow::test
