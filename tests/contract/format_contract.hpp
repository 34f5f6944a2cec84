// SPDX-License-Identifier: BSD-3-Clause
// Tests that every format passes. Instantiated with the name of the format.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>

#include "../temporary_folder.hpp"
#include "example_attributes.hpp"
#include "storage/store.hpp"

namespace windrow::test {

class FormatContract : public testing::TestWithParam<std::string_view> {
 protected:
  std::unique_ptr<Format> open(FormatMode mode, const FormatOptions& options = {}) {
    auto format = open_format(GetParam(), path_, mode, options);
    EXPECT_TRUE(format.ok()) << format.status().message();
    return format.ok() ? std::move(format).value() : nullptr;
  }
  Catalog catalog() {
    auto format = open(FormatMode::read);
    auto catalog = format->catalog();
    EXPECT_TRUE(catalog.ok()) << catalog.status().message();
    EXPECT_TRUE(format->close().ok());
    return std::move(catalog).value();
  }
  // Defines, and adds the definition to the expected catalog.
  Placement define(Format& format, const VariableDefinition& definition, std::vector<Attribute> attributes = {}) {
    const auto placement = format.define_variable(definition);
    EXPECT_TRUE(placement.ok()) << placement.status().message();
    for (const Attribute& attribute : attributes) {
      const Status status = format.put_attribute(definition.path, attribute);
      EXPECT_TRUE(status.ok()) << status.message();
    }
    expected_.variables.push_back(
        {definition.path, definition.type, definition.shape, placement.value(), attributes, ""});
    expected_.variables.back().details = definition.details;
    expected_.variables.back().null_space = definition.null_space;
    return placement.value();
  }
  void define_group(Format& format, const std::string& path, std::vector<Attribute> attributes = {}) {
    if (path != "/") {
      EXPECT_TRUE(format.define_group(path).ok());
    }
    for (const Attribute& attribute : attributes) {
      const Status status = format.put_attribute(path, attribute);
      EXPECT_TRUE(status.ok()) << status.message();
    }
    expected_.groups.push_back({path, attributes});
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.path("file of a test");
  Catalog expected_;
};

TEST_P(FormatContract, a_new_file_holds_the_root_only) {
  ASSERT_TRUE(open(FormatMode::create)->close().ok());
  expected_.groups = {{.path = "/", .attributes = {}}};
  EXPECT_EQ(catalog(), expected_);
  EXPECT_EQ(format_of_file(path_).value(), GetParam());
}

TEST_P(FormatContract, says_again_what_was_defined) {
  auto format = open(FormatMode::create);
  define_group(*format, "/", all_attributes());
  define_group(*format, "/a");
  define_group(*format, "/a/b c", {text("units", "m s-1")});
  define_group(*format, "/a/b c/größe");
  int number = 0;
  for (const bool big_endian : {false, true})
    for (int type = 1; type <= static_cast<int>(Type::float64); ++type)
      define(*format, {"/a/v" + std::to_string(number++), static_cast<Type>(type), {3, 5}, big_endian});
  for (const bool big_endian : {false, true})
    for (const Type type : {Type::boolean, Type::complex64, Type::complex128, Type::float16})
      define(*format, {"/a/v" + std::to_string(number++), type, {3, 5}, big_endian});
  define(*format, {"/a/colour", Type::int16, {3}, true, {}, false, {.enumeration = "RED=-1\na = b=300"}});
  define(*format, {"/a/mask", Type::uint64, {}, false, {}, false, {.enumeration = "ALL=18446744073709551615"}});
  define(*format, {"/a/opaque", Type::opaque, {3}, false, {}, false, {.bytes = 5, .tag = "a tag"}});
  define(*format, {"/a/untagged", Type::opaque, {3}, false, {}, false, {.bytes = 5}});
  for (const TextPadding padding : {TextPadding::null_terminated, TextPadding::null_padded, TextPadding::space_padded})
    define(*format, {"/a/text" + std::to_string(number++),
                     Type::text,
                     {4},
                     false,
                     {},
                     false,
                     {.bytes = 7, .text_ascii = true, .text_padding = padding}});
  define(*format, {"/a/texts", Type::text, {2, 2}, false, {}, false, {.text_padding = TextPadding::null_terminated}});
  define(*format, {"/a/null", Type::float32, {}, false, {}, false, {}, true});
  define(*format, {"/scalar", Type::float64, {}, false}, all_attributes());
  define(*format, {"/a/b c/nothing", Type::int32, {4, 0, 2}, false}, {text("why", "no particles here")});
  define(*format, {"/a/b c/größe/deep", Type::uint8, std::vector<int64_t>(32, 1), false});
  ASSERT_TRUE(format->close().ok());
  const Catalog found = catalog();
  EXPECT_EQ(sorted(found), sorted(expected_));
  EXPECT_EQ(found.groups.front().path, "/");
}

TEST_P(FormatContract, bytes_written_at_the_placements_are_the_variables) {
  auto format = open(FormatMode::create);
  define_group(*format, "/");
  std::vector<Placement> places;
  for (int i = 0; i < 20; ++i)
    places.push_back(define(*format, {"/v" + std::to_string(i), Type::uint8, {100 + 1000 * i}, false}));
  auto writer = open_store(path_, StoreMode::update, {});
  ASSERT_TRUE(writer.ok());
  const auto content = [&](size_t i) {
    return std::vector<std::byte>(static_cast<size_t>(places[i].bytes), static_cast<std::byte>(i + 1));
  };
  for (size_t i = 0; i < 10; ++i)
    ASSERT_TRUE(writer.value()->write_at(places[i].offset, content(i)).ok());
  ASSERT_TRUE(format->flush().ok());
  for (size_t i = 10; i < 20; ++i)
    ASSERT_TRUE(writer.value()->write_at(places[i].offset, content(i)).ok());
  ASSERT_TRUE(format->put_attribute("/v3", text("late", "metadata after the data")).ok());
  expected_.variables[3].attributes.push_back(text("late", "metadata after the data"));
  places.push_back(define(*format, {"/late", Type::uint8, {5000}, false}));
  ASSERT_TRUE(writer.value()->write_at(places.back().offset, content(20)).ok());
  ASSERT_TRUE(format->close().ok());
  auto reader = open_store(path_, StoreMode::read, {});
  for (size_t i = 0; i < places.size(); ++i) {
    std::vector<std::byte> back(static_cast<size_t>(places[i].bytes));
    ASSERT_TRUE(reader.value()->read_at(places[i].offset, back).ok());
    EXPECT_EQ(back, content(i)) << i;
  }
  EXPECT_EQ(sorted(catalog()), sorted(expected_));
}

TEST_P(FormatContract, has_its_full_size_although_nobody_wrote_the_end) {
  auto format = open(FormatMode::create);
  define(*format, {"/small", Type::int32, {7}, false});
  const Placement last = define(*format, {"/large", Type::float64, {1'000'000}, false});
  ASSERT_TRUE(format->close().ok());
  EXPECT_GE(static_cast<int64_t>(std::filesystem::file_size(path_)), last.offset + last.bytes);
}

TEST_P(FormatContract, places_beyond_four_gib) {
  auto format = open(FormatMode::create);
  define(*format, {"/large", Type::float64, {1'000'000, 1000}, false});
  const Placement behind = define(*format, {"/behind", Type::float64, {4'000'000}, false});
  EXPECT_GE(behind.offset, int64_t{8'000'000'000});
  auto writer = open_store(path_, StoreMode::update, {});
  const std::vector<std::byte> content(static_cast<size_t>(behind.bytes), std::byte{6});
  ASSERT_TRUE(writer.value()->write_at(behind.offset, content).ok());
  ASSERT_TRUE(format->close().ok());
  EXPECT_EQ(sorted(catalog()).variables.front().placement, behind);
}

TEST_P(FormatContract, aligns_large_variables) {
  auto format = open(FormatMode::create, {.alignment = 4096, .alignment_threshold = 1000});
  define(*format, {"/tiny", Type::uint8, {3}, false});
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(define(*format, {"/v" + std::to_string(i), Type::uint8, {1000 + 37 * i}, false}).offset % 4096, 0);
  ASSERT_TRUE(format->close().ok());
  EXPECT_EQ(open_format(GetParam(), path_, FormatMode::create, {.alignment = 0}).status().code(), Code::bad_argument);
}

TEST_P(FormatContract, an_update_adds_and_replaces) {
  auto format = open(FormatMode::create);
  define_group(*format, "/", {text("title", "first"), text("kept", "yes")});
  define(*format, {"/old", Type::int16, {10}, true}, {numbers<int32_t>("n", Type::int32, {1, 2, 3})});
  ASSERT_TRUE(format->close().ok());
  format = open(FormatMode::update);
  EXPECT_EQ(sorted(format->catalog().value()), sorted(expected_));
  define_group(*format, "/new");
  define(*format, {"/new/v", Type::float32, {5}, false});
  const Attribute longer = text("title", std::string(2000, 'x'));
  ASSERT_TRUE(format->put_attribute("/", longer).ok());
  expected_.groups[0].attributes[0] = longer;
  const Attribute other_type = numbers<double>("n", Type::float64, {1.5});
  ASSERT_TRUE(format->put_attribute("/old", other_type).ok());
  expected_.variables[0].attributes[0] = other_type;
  // With the same type and shape, and with another shape. A list is written up to the refused attribute.
  const std::array several{numbers<int32_t>("m", Type::int32, {1, 2, 3}), text("t", "a"),
                           numbers<int32_t>("m", Type::int32, {4, 5, 6}), numbers<int32_t>("s", Type::int32, {7}),
                           numbers<int32_t>("s", Type::int32, {8, 9})};
  ASSERT_TRUE(format->put_attributes("/old", several).ok());
  for (const size_t i : {2U, 1U, 4U})
    expected_.variables[0].attributes.push_back(several[i]);
  Attribute nameless = several[0];
  nameless.name = "";
  EXPECT_EQ(format->put_attributes("/", std::array{numbers<int32_t>("before", Type::int32, {1}), nameless, several[1]})
                .code(),
            Code::bad_argument);
  expected_.groups[0].attributes.push_back(numbers<int32_t>("before", Type::int32, {1}));
  EXPECT_EQ(format->put_attributes("/nothing", several).code(), Code::not_found);
  EXPECT_TRUE(format->put_attributes("/old", {}).ok());
  ASSERT_TRUE(format->close().ok());
  EXPECT_EQ(sorted(catalog()), sorted(expected_));
}

TEST_P(FormatContract, a_flushed_file_may_be_renamed_while_it_is_open) {
  auto format = open(FormatMode::create);
  define_group(*format, "/");
  define(*format, {"/before", Type::int32, {10}, false});
  ASSERT_TRUE(format->flush().ok());
  const std::string renamed = folder_.path("renamed");
  const auto sidecars = format_sidecars(GetParam(), path_);
  const auto renamed_sidecars = format_sidecars(GetParam(), renamed);
  std::filesystem::rename(path_, renamed);
  for (size_t i = 0; i < sidecars.size(); ++i)
    std::filesystem::rename(sidecars[i], renamed_sidecars[i]);
  path_ = renamed;
  EXPECT_EQ(sorted(catalog()), sorted(expected_)) << "published so far";
  define(*format, {"/after", Type::int32, {10}, false});
  ASSERT_TRUE(format->close().ok());
  EXPECT_EQ(sorted(catalog()), sorted(expected_));
}

TEST_P(FormatContract, refuses_names_that_are_taken_or_cannot_be) {
  auto format = open(FormatMode::create);
  ASSERT_TRUE(format->define_group("/g").ok());
  const auto define_at = [&](const std::string& path) {
    return format->define_variable({path, Type::int8, {1}, false}).status().code();
  };
  ASSERT_EQ(define_at("/v"), Code::ok);
  for (const char* taken : {"/g", "/v"}) {
    EXPECT_EQ(define_at(taken), Code::exists);
    EXPECT_EQ(format->define_group(taken).code(), Code::exists);
  }
  for (const char* orphan : {"/no/v", "/v/below a variable"}) {
    EXPECT_EQ(define_at(orphan), Code::not_found) << orphan;
    EXPECT_EQ(format->define_group(orphan).code(), Code::not_found) << orphan;
  }
  for (const std::string& wrong : {std::string(), std::string("v"), std::string("//v"), std::string("/g/"),
                                   std::string("/./v"), std::string("/a\0b", 4)}) {
    EXPECT_EQ(define_at(wrong), Code::bad_argument) << wrong;
    EXPECT_EQ(format->define_group(wrong).code(), Code::bad_argument) << wrong;
  }
  EXPECT_EQ(define_at("/"), Code::bad_argument);
  EXPECT_EQ(define_at("/.."), Code::ok) << "a name like any other";
}

TEST_P(FormatContract, refuses_shapes_and_types_that_cannot_be) {
  auto format = open(FormatMode::create);
  const auto code = [&](Type type, std::vector<int64_t> shape) {
    return format->define_variable({"/v", type, std::move(shape), false}).status().code();
  };
  EXPECT_EQ(code(Type::none, {1}), Code::bad_argument);
  EXPECT_EQ(code(Type::opaque, {1}), Code::bad_argument) << "of no bytes";
  EXPECT_EQ(code(Type::int8, {-1}), Code::bad_argument);
  EXPECT_EQ(code(Type::int8, std::vector<int64_t>(33, 1)), Code::bad_argument);
  EXPECT_EQ(code(Type::int8, {INT64_MAX, 2}), Code::bad_argument);
  EXPECT_EQ(code(Type::float64, {INT64_MAX / 4}), Code::bad_argument);
  EXPECT_EQ(code(Type::int8, {1}), Code::ok) << "what was refused left nothing behind";
}

TEST_P(FormatContract, takes_back_what_was_defined_last) {
  auto format = open(FormatMode::create);
  define_group(*format, "/");
  define(*format, {"/kept", Type::int32, {10}, false}, {text("units", "m")});
  ASSERT_TRUE(format->close().ok());
  format = open(FormatMode::update);
  ASSERT_TRUE(format->define_group("/g").ok());
  ASSERT_TRUE(format->define_variable({"/g/v", Type::float64, {1000}, false}).ok());
  ASSERT_TRUE(format->put_attribute("/g/v", text("units", "K")).ok());
  ASSERT_TRUE(
      format
          ->define_split({"/whole", Type::float64, {6}, false}, std::vector<Part>{{"0", {{0}, {3}}}, {"1", {{3}, {3}}}})
          .ok());
  EXPECT_EQ(format->undefine("/nothing", 0).ok(), false);
  EXPECT_EQ(format->undefine("/g", 0).ok(), false) << "it has a member";
  for (const char* each : {"/whole", "/g/v", "/g"}) {
    const Status status = format->undefine(each, 0);
    EXPECT_TRUE(status.ok()) << each << ": " << status.message();
  }
  EXPECT_EQ(sorted(format->catalog().value()), sorted(expected_));
  define(*format, {"/g", Type::int16, {3}, true});
  ASSERT_TRUE(format->close().ok());
  EXPECT_EQ(sorted(catalog()), sorted(expected_));
  format = open(FormatMode::read);
  EXPECT_EQ(format->undefine("/g", 0).code(), Code::bad_state);
}

TEST_P(FormatContract, refuses_attributes_that_cannot_be) {
  auto format = open(FormatMode::create);
  const auto code = [&](const Attribute& attribute) { return format->put_attribute("/", attribute).code(); };
  EXPECT_EQ(format->put_attribute("/nothing", text("a", "b")).code(), Code::not_found);
  EXPECT_EQ(code(text("", "b")), Code::bad_argument);
  EXPECT_EQ(code(text(std::string("a\0b", 3), "b")), Code::bad_argument);
  Attribute wrong = numbers<int32_t>("n", Type::int32, {1, 2});
  wrong.shape = {3};
  EXPECT_EQ(code(wrong), Code::bad_argument);
  wrong.shape = {-2};
  EXPECT_EQ(code(wrong), Code::bad_argument);
  wrong.type = Type::none;
  EXPECT_EQ(code(wrong), Code::bad_argument);
  wrong.unsupported = "compound type";
  EXPECT_EQ(code(wrong), Code::unsupported);
  EXPECT_EQ(code(fixed_text("t", {"too long"}, 3, TextPadding::null_padded)), Code::bad_argument);
  EXPECT_EQ(format->catalog().value().groups.front().attributes.size(), 0U);
}

TEST_P(FormatContract, keeps_texts_of_variable_length) {
  auto format = open(FormatMode::create);
  const Details terminated{.text_padding = TextPadding::null_terminated};
  define(*format, {"/texts", Type::text, {2, 2}, false, {}, false, terminated});
  define(*format, {"/never written", Type::text, {2}, false, {}, false, terminated});
  define(*format, {"/number", Type::int32, {2}, false});
  const std::vector<std::string> first{"one", "", std::string(3000, 'x'), "größe"}, second{"1", "2", "3", ""};
  ASSERT_TRUE(format->write_texts("/texts", first).ok());
  EXPECT_EQ(format->read_texts("/texts").value(), first);
  EXPECT_EQ(format->write_texts("/texts", {"too", "few"}).code(), Code::bad_argument);
  EXPECT_EQ(format->write_texts("/number", {"a", "b"}).code(), Code::bad_argument);
  EXPECT_EQ(format->read_texts("/number").status().code(), Code::bad_argument);
  EXPECT_EQ(format->read_texts("/nowhere").status().code(), Code::not_found);
  ASSERT_TRUE(format->close().ok());
  format = open(FormatMode::update);
  EXPECT_EQ(format->read_texts("/texts").value(), first);
  EXPECT_EQ(format->read_texts("/never written").value(), std::vector<std::string>(2));
  ASSERT_TRUE(format->write_texts("/texts", second).ok());
  ASSERT_TRUE(format->close().ok());
  format = open(FormatMode::read);
  EXPECT_EQ(format->read_texts("/texts").value(), second);
  EXPECT_EQ(format->write_texts("/texts", first).code(), Code::bad_state);
}

TEST_P(FormatContract, a_reader_changes_nothing_and_a_closed_file_does_nothing) {
  ASSERT_TRUE(open(FormatMode::create)->close().ok());
  auto format = open(FormatMode::read);
  const VariableDefinition definition{"/v", Type::int8, {1}, false};
  for (const bool closed : {false, true}) {
    EXPECT_EQ(format->define_group("/g").code(), Code::bad_state);
    EXPECT_EQ(format->define_variable(definition).status().code(), Code::bad_state);
    EXPECT_EQ(format->put_attribute("/", text("a", "b")).code(), Code::bad_state);
    EXPECT_EQ(format->flush().code(), closed ? Code::bad_state : Code::ok);
    EXPECT_EQ(format->close().code(), closed ? Code::bad_state : Code::ok);
  }
}

TEST_P(FormatContract, says_what_is_wrong_with_a_path) {
  for (const FormatMode mode : {FormatMode::read, FormatMode::update}) {
    const auto missing = open_format(GetParam(), folder_.path("missing"), mode, {});
    ASSERT_FALSE(missing.ok());
    EXPECT_EQ(missing.status().code(), Code::not_found);
    EXPECT_THAT(missing.status().message(), testing::HasSubstr("missing"));
  }
  EXPECT_EQ(open_format(GetParam(), folder_.path("no/folder"), FormatMode::create, {}).status().code(),
            Code::not_found);
  auto foreign = open_store(path_, StoreMode::create, {});
  const std::vector<std::byte> bytes(5000, std::byte{'x'});
  ASSERT_TRUE(foreign.value()->write_at(0, bytes).ok());
  const auto format = open_format(GetParam(), path_, FormatMode::read, {});
  ASSERT_FALSE(format.ok());
  EXPECT_EQ(format.status().code(), Code::bad_file) << format.status().message();
  EXPECT_EQ(format_of_file(path_).status().code(), Code::bad_file);
}

TEST_P(FormatContract, a_file_that_is_dropped_without_close_leaks_nothing) {
  auto format = open(FormatMode::create);
  define(*format, {"/v", Type::int8, {100}, false});
  format.reset();
  std::filesystem::remove(path_);
  ASSERT_TRUE(open(FormatMode::create)->close().ok());
}

}  // namespace windrow::test
