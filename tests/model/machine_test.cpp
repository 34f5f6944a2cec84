// SPDX-License-Identifier: BSD-3-Clause
// Machine files: omitted numbers, their content, and implausible numbers.
#include "model/machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <random>
#include <sstream>

namespace windrow::test {
namespace {

using testing::HasSubstr;

Result<Machine> parse(const std::string& members) {
  return parse_machine("{\"windrow machine\": 1" + members + "}", "a machine.json");
}

void expect_fault(const std::string& members, const std::string& field, const std::string& part) {
  const auto machine = parse(members);
  ASSERT_FALSE(machine.ok()) << members;
  EXPECT_EQ(machine.status().code(), Code::bad_file);
  EXPECT_THAT(machine.status().message(), HasSubstr("machine file \"a machine.json\": " + field)) << members;
  EXPECT_THAT(machine.status().message(), HasSubstr(part)) << members;
}

// Every number different from its default, and within its bounds.
Machine unlike_the_default() {
  Machine machine;
  machine.name = "a \"machine\" with\nlines";
  machine.about = "measured, \xc3\xa4hnlich";
  machine.storage.kind = "gpfs";
  int64_t next = 11;
  for_each_number(machine, [&](std::string_view, auto& number, auto least, auto) {
    using Number = std::remove_reference_t<decltype(number)>;
    number = std::max(least, static_cast<Number>(next));
    next += 7;
  });
  machine.storage.targets = 4096, machine.storage.targets_per_server = 3, machine.storage.stripe_count = 5;
  machine.network.latency_s = 1.0 / 3e6;
  machine.codecs = {{.name = "lz4", .encode_bytes_per_s = 1e9 / 3, .decode_bytes_per_s = 2e9},
                    {.name = "zstd", .encode_bytes_per_s = 1e8, .decode_bytes_per_s = 5e8}};
  machine.writes = {{.request_bytes = 4096, .ranks = 1, .bytes_per_s = 1e8}};
  machine.reads = {{.request_bytes = 65536, .ranks = 4, .bytes_per_s = 1.5e8, .sharing = Sharing::targets}};
  return machine;
}

std::vector<double> numbers_of(const Machine& machine) {
  std::vector<double> numbers;
  for_each_number(machine,
                  [&](std::string_view, auto number, auto, auto) { numbers.push_back(static_cast<double>(number)); });
  return numbers;
}

}  // namespace

TEST(Machine, that_says_nothing_has_the_defaults) {
  const auto machine = parse("");
  ASSERT_TRUE(machine.ok()) << machine.status().message();
  EXPECT_EQ(machine_text(machine.value()), machine_text(Machine{}));
}

TEST(Machine, is_read_as_it_was_written) {
  const Machine machine = unlike_the_default();
  const auto again = parse_machine(machine_text(machine), "again.json");
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(numbers_of(again.value()), numbers_of(machine));
  const auto& least = numbers_of(Machine{});
  for (size_t i = 0; i < least.size(); ++i)
    EXPECT_NE(numbers_of(machine)[i], least[i]) << "number " << i << " is not told from its default";
  EXPECT_EQ(machine_text(again.value()), machine_text(machine));
  EXPECT_EQ(again.value().name, machine.name);
  EXPECT_EQ(again.value().codecs.at(0).encode_bytes_per_s, 1e9 / 3);
  EXPECT_EQ(again.value().reads.at(0).ranks, 4);
  EXPECT_EQ(again.value().reads.at(0).sharing, Sharing::targets);
}

TEST(Machine, takes_sizes_and_rates_as_texts) {
  const auto machine = parse(
      R"(, "storage": {"stripe_bytes": "4 MiB", "target_write_bytes_per_s": "1.5 GB", "request_bytes": 1048576.0})");
  ASSERT_TRUE(machine.ok()) << machine.status().message();
  EXPECT_EQ(machine.value().storage.stripe_bytes, int64_t{4} << 20);
  EXPECT_EQ(machine.value().storage.target_write_bytes_per_s, 1.5e9);
  EXPECT_EQ(machine.value().storage.request_bytes, int64_t{1} << 20);
  expect_fault(R"(, "network": {"latency_s": "1 KiB"})", "network.latency_s", "it must be a number");
}

TEST(Machine, names_the_field_that_is_wrong) {
  expect_fault(R"(, "hosts": 0)", "hosts", "cannot be 0");
  expect_fault(R"(, "hosts": 2.5)", "hosts", "a whole number");
  expect_fault(R"(, "hosts": "many")", "hosts", "it must be a number");
  expect_fault(R"(, "hosts": null)", "hosts", "it must be a number");
  expect_fault(R"(, "hosts": true)", "hosts", "it must be a number");
  expect_fault(R"(, "hosts": 1e300)", "hosts", "it must be from 1 to");
  expect_fault(R"(, "hosts": 18446744073709551615)", "hosts", "it must be from");
  expect_fault(R"(, "hosts": 100000000, "ranks_per_host": 100000)", "hosts", "is more ranks than MPI allows");
  expect_fault(R"(, "network": {"bytes_per_s": -1})", "network.bytes_per_s", "cannot be -1");
  expect_fault(R"(, "network": {"latency_s": 1e7})", "network.latency_s", "it must be from");
  expect_fault(R"(, "network": 7)", "network", "it must be an object");
  expect_fault(R"(, "storage": {"kind": 7})", "storage.kind", "it must be a string");
  expect_fault(R"(, "storage": {"targets": 4, "stripe_count": 5})", "storage.stripe_count", "there are 4 targets");
  expect_fault(R"(, "storage": {"targets": 4, "targets_per_server": 6})", "storage.targets_per_server",
               "there are 4 targets");
  expect_fault(R"(, "metadata": {"opens_per_s": 0})", "metadata.opens_per_s", "it must be from");
  expect_fault(R"(, "metadata": {"opens_per_second": 5})", "metadata.opens_per_second", "is an unknown name");
  expect_fault(R"(, "host": 5)", "host", "is an unknown name");
  expect_fault(R"(, "codecs": [{"name": "lz4", "encode_bytes_per_s": 5}])", "codecs[0].decode_bytes_per_s",
               "is missing");
  expect_fault(R"(, "codecs": [7])", "codecs[0]", "it must be an object");
  expect_fault(R"(, "codecs": {})", "codecs", "a list");
  const std::string lz4 = R"({"name": "lz4", "encode_bytes_per_s": 5, "decode_bytes_per_s": 5})";
  expect_fault(", \"codecs\": [" + lz4 + ", " + lz4 + "]", "codecs[1].name", "like another one");
  expect_fault(R"(, "writes": [{"request_bytes": 0, "ranks": 1, "bytes_per_s": 1}])", "writes[0].request_bytes",
               "cannot be 0");
  expect_fault(
      R"(, "writes": [{"request_bytes": 8, "ranks": 1, "bytes_per_s": 1}, )"
      R"({"request_bytes": 8, "ranks": 2, "bytes_per_s": 1}, {"request_bytes": 8, "ranks": 1, "bytes_per_s": 2}])",
      "writes[2]", "the same request_bytes, ranks and sharing as writes[0]");
  expect_fault(R"(, "hosts": 2, "hosts": 64)", "hosts", "is repeated");
  expect_fault(R"(, "network": {"latency_s": 1, "bytes_per_s": 1e9, "latency_s": 0})", "latency_s", "is repeated");
  expect_fault(R"(, "network": {"bytes_per_s": "10 Gb"})", "network.bytes_per_s", "this means bits");
  expect_fault(R"(, "network": {"bytes_per_s": 1})", "network.bytes_per_s", "it must be from 1000");
  expect_fault(R"(, "network": {"latency_s": 100000})", "network.latency_s", "it must be from");
  expect_fault(R"(, "reads": [{"request_bytes": 1, "ranks": 1, "bytes_per_s": 1, "sharing": "among"}])",
               "reads[0].sharing", "one of apart, interleaved, targets, mapped, sieved");
}

TEST(Machine, is_no_file_of_another_kind) {
  const auto expect = [](const std::string& text, const std::string& part) {
    const auto machine = parse_machine(text, "m.json");
    ASSERT_FALSE(machine.ok()) << text.substr(0, 80);
    EXPECT_THAT(machine.status().message(), HasSubstr("\"m.json\"")) << text.substr(0, 80);
    EXPECT_THAT(machine.status().message(), HasSubstr(part)) << text.substr(0, 80);
  };
  expect("", "is not JSON");
  expect("{\"windrow machine\": 1", "is not JSON");
  expect("{\"windrow machine\": 1, \"hosts\": 1e999}", "out of range");
  expect("[]", "is not a machine file");
  expect("7", "is not a machine file");
  expect("{}", "is not a machine file");
  expect("{\"windrow machine\": 2}", "version 2; this library reads version 1");
  expect("{\"windrow machine\": \"1\"}", "version");
  expect(std::string(100'000, '['), "lists nested");
  expect("{\"windrow machine\": 1, \"hosts\": " + std::string(150'000, '[') + std::string(150'000, ']') + "}",
         "lists nested");
  expect(std::string((size_t{1} << 20) + 1, ' '), "longer than 1 MiB");
}

TEST(Machine, text_survives_any_change) {
  const std::string written = machine_text(unlike_the_default());
  std::mt19937 random(7);
  for (int i = 0; i < 3000; ++i) {
    std::string text = written;
    for (unsigned change = 0; change < 1 + random() % 3; ++change)
      text[random() % text.size()] = static_cast<char>(random() % 256);
    if (random() % 4 == 0)
      text.resize(random() % text.size());
    const auto machine = parse_machine(text, "changed");
    const bool sound = !machine.ok() || parse_machine(machine_text(machine.value()), "again").ok();
    EXPECT_TRUE(sound) << text;
  }
}

TEST(Machine, has_every_number_in_its_manual) {
  std::ifstream stream(std::string(WINDROW_DOCS) + "/machine-files.md");
  std::stringstream manual;
  manual << stream.rdbuf();
  const Machine defaults;
  for_each_number(defaults, [&](std::string_view name, auto, auto, auto) {
    EXPECT_THAT(manual.str(), HasSubstr("`" + std::string(name) + "`"));
  });
}

TEST(MeasuredRates, are_between_and_beside_what_was_measured) {
  const std::vector<MeasuredRate> rates{{.request_bytes = 1024, .ranks = 1, .bytes_per_s = 100},
                                        {.request_bytes = 4096, .ranks = 1, .bytes_per_s = 400},
                                        {.request_bytes = 1024, .ranks = 4, .bytes_per_s = 200},
                                        {.request_bytes = 4096, .ranks = 4, .bytes_per_s = 800}};
  EXPECT_DOUBLE_EQ(rate_at(rates, 1024, 1), 100);
  EXPECT_NEAR(rate_at(rates, 2048, 1), 200, 1e-9);
  EXPECT_NEAR(rate_at(rates, 2048, 2), 200 * std::sqrt(2), 1e-9);
  EXPECT_DOUBLE_EQ(rate_at(rates, 512, 1), 50) << "a request costs what the smallest did";
  EXPECT_DOUBLE_EQ(rate_at(rates, int64_t{1} << 40, 99), 800);
  EXPECT_EQ(rate_at({}, 4096, 1), 0);
}

// Of several ranks short requests were not measured: they lose as much as one rank's do.
TEST(MeasuredRates, of_short_requests_of_several_fall_as_one_rank_s_do) {
  const std::vector<MeasuredRate> rates{{.request_bytes = 1024, .ranks = 1, .bytes_per_s = 100},
                                        {.request_bytes = 65536, .ranks = 1, .bytes_per_s = 400},
                                        {.request_bytes = 65536, .ranks = 4, .bytes_per_s = 1000}};
  EXPECT_DOUBLE_EQ(rate_at(rates, 1024, 4), 250);
  EXPECT_DOUBLE_EQ(rate_at(rates, 512, 4), 125);
  EXPECT_DOUBLE_EQ(rate_at(rates, 65536, 4), 1000);
  EXPECT_LT(rate_at(rates, 1024, 2), rate_at(rates, 65536, 2));
}

TEST(MeasuredRates, of_one_sharing_say_nothing_of_another) {
  const std::vector<MeasuredRate> rates{
      {.request_bytes = 1024, .ranks = 1, .bytes_per_s = 100},
      {.request_bytes = 1024, .ranks = 1, .bytes_per_s = 7, .sharing = Sharing::interleaved}};
  EXPECT_DOUBLE_EQ(rate_at(rates, 1024, 1), 100);
  EXPECT_DOUBLE_EQ(rate_at(rates, 1024, 1, Sharing::interleaved), 7);
  EXPECT_EQ(rate_at(rates, 1024, 1, Sharing::mapped), 0);
}

}  // namespace windrow::test
