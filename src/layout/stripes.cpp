// SPDX-License-Identifier: BSD-3-Clause
#include "layout/stripes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <set>

#include "base/checked.hpp"
#include "base/units.hpp"

namespace windrow {
namespace {

constexpr int64_t k_granule = int64_t{64} << 10, k_most_bytes = (int64_t{4} << 30) - k_granule;
constexpr int64_t k_most_count = 2000,
                  k_most_first = 65534;  // LOV_MAX_STRIPE_COUNT; the 16-bit value with all bits set means "any"

Status fault(std::string_view text, std::string why) {
  return {Code::bad_argument,
          fmt::format("stripe cannot be \"{}\": {}; it is auto, site, or numbers such as size=4MiB,count=8,first=3",
                      text, std::move(why))};
}

Status read_number(std::string_view key, std::string_view value, StripeNumbers& numbers, std::string_view whole) {
  const auto bytes = parse_bytes(value);
  const auto number = parse_integer(value);
  if (key == "size") {
    if (!bytes || *bytes < k_granule || *bytes > k_most_bytes || *bytes % k_granule != 0)
      return fault(whole, fmt::format("its size must be a multiple of 64 KiB below 4 GiB, not \"{}\"", value));
    numbers.bytes = *bytes;
  } else if (key == "count") {
    if (value != "all" && (!number || *number < 1 || *number > k_most_count))
      return fault(
          whole, fmt::format("its count must be a whole number from 1 to {} or all, not \"{}\"", k_most_count, value));
    numbers.count = value == "all" ? k_all_targets : *number;
  } else if (key == "first") {
    if (!number || *number < 0 || *number > k_most_first)
      return fault(whole,
                   fmt::format("its first target must be a number from 0 to {}, not \"{}\"", k_most_first, value));
    numbers.first = *number;
  } else {
    return fault(whole, fmt::format("there is no \"{}\"", key));
  }
  return {};
}

template <class Number>
void store(std::vector<std::byte>& bytes, size_t at, Number value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

}  // namespace

Result<StripeRequest> parse_stripes(std::string_view text) {
  if (text == "auto")
    return StripeRequest{};
  if (text == "site")
    return StripeRequest{StripeRequest::Kind::site, {}};
  StripeRequest request{StripeRequest::Kind::numbers, {}};
  std::set<std::string_view> said;
  for (size_t at = 0; at <= text.size();) {
    const std::string_view word = text.substr(at, text.substr(at).find(','));
    at += word.size() + 1;
    const size_t equals = word.find('=');
    if (equals == std::string_view::npos)
      return fault(text, fmt::format("\"{}\" is not a number", word));
    if (!said.insert(word.substr(0, equals)).second)
      return fault(text, fmt::format("\"{}\" is repeated", word.substr(0, equals)));
    if (Status status = read_number(word.substr(0, equals), word.substr(equals + 1), request.numbers, text);
        !status.ok())
      return status;
  }
  return request;
}

std::optional<StripeNumbers> stripes_for(int64_t expected_bytes, int64_t writers, int64_t buffer_bytes) noexcept {
  constexpr int64_t k_bytes_a_target = int64_t{1} << 30, k_least = int64_t{1} << 20, k_most = int64_t{64} << 20;
  const int64_t count = std::min({ceil_divide(expected_bytes, k_bytes_a_target), writers, k_most_count});
  if (count < 2)
    return std::nullopt;
  const auto power = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::max(buffer_bytes, k_least))));
  return StripeNumbers{.bytes = std::min(power, k_most), .count = count};
}

bool is_chosen(const StorageLayout& layout) noexcept {
  return layout.components.size() > 1 || (layout.components.size() == 1 && layout.components.front().stripe_count != 1);
}

std::optional<StripeNumbers> numbers_of(const StorageLayout& layout) noexcept {
  if (!layout.is_striped() || layout.components.size() != 1 || layout.components.front().on_metadata_server)
    return std::nullopt;
  const LayoutComponent& only = layout.components.front();
  return StripeNumbers{.bytes = only.stripe_bytes,
                       .count = only.stripe_count,
                       .object_bytes = only.object_bytes,
                       .overstriped = only.overstriped};
}

std::vector<std::byte> lustre_request(const StripeNumbers& numbers) {
  constexpr size_t k_size = 32;
  constexpr uint32_t k_magic_v1 = 0x0BD10BD0, k_raid0 = 1, k_overstriping = 0x200;
  constexpr uint16_t k_any = 0xffff, k_all = 0xffff;
  std::vector<std::byte> bytes(k_size);
  store(bytes, 0, k_magic_v1);
  store(bytes, 4, k_raid0 | (numbers.overstriped ? k_overstriping : 0));
  store(bytes, 24, static_cast<uint32_t>(numbers.bytes));
  store(bytes, 28, numbers.count == k_all_targets ? k_all : static_cast<uint16_t>(numbers.count));
  store(bytes, 30, numbers.first < 0 ? k_any : static_cast<uint16_t>(numbers.first));
  return bytes;
}

std::string cephfs_request(const StripeNumbers& numbers, const StorageLayout& given) {
  LayoutComponent stripes{.stripe_bytes = int64_t{4} << 20,
                          .stripe_count = 1,
                          .object_bytes = int64_t{4} << 20,
                          .targets = {}};  // CephFS's default
  if (given.kind == LayoutKind::cephfs && given.known())
    stripes = given.components.front();
  if (numbers.bytes > 0)
    stripes.stripe_bytes = numbers.bytes;
  if (numbers.count > 0)
    stripes.stripe_count = numbers.count;
  if (numbers.object_bytes > 0)
    stripes.object_bytes = numbers.object_bytes;
  if (stripes.object_bytes % stripes.stripe_bytes != 0)
    stripes.object_bytes = stripes.stripe_bytes;
  return fmt::format("stripe_unit={} stripe_count={} object_size={}", stripes.stripe_bytes, stripes.stripe_count,
                     stripes.object_bytes);
}

std::string text_of(const StripeNumbers& numbers) {
  std::string text;
  const auto add = [&text](std::string word) { text += (text.empty() ? "" : ", ") + word; };
  if (numbers.bytes > 0)
    add("stripe size " + format_bytes(numbers.bytes));
  if (numbers.count != 0)
    add(numbers.count == k_all_targets ? "a stripe on every target" : fmt::format("stripe count {}", numbers.count));
  if (numbers.object_bytes > 0)
    add("objects of " + format_bytes(numbers.object_bytes));
  if (numbers.overstriped)
    add("several on a target");
  if (numbers.first >= 0)
    add(fmt::format("first target {}", numbers.first));
  return text;
}

}  // namespace windrow
