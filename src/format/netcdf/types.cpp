// SPDX-License-Identifier: BSD-3-Clause
#include "format/netcdf/types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/normal_form.hpp"
#include "base/utf8.hpp"
#include "format/check.hpp"

namespace windrow {
namespace {

struct Pair {
  Type type;
  NetcdfType netcdf;
  int version;
};
constexpr std::array k_types{Pair{Type::int8, NetcdfType::byte, 1},       Pair{Type::text, NetcdfType::character, 1},
                             Pair{Type::int16, NetcdfType::int16, 1},     Pair{Type::int32, NetcdfType::int32, 1},
                             Pair{Type::float32, NetcdfType::float32, 1}, Pair{Type::float64, NetcdfType::float64, 1},
                             Pair{Type::uint8, NetcdfType::ubyte, 5},     Pair{Type::uint16, NetcdfType::uint16, 5},
                             Pair{Type::uint32, NetcdfType::uint32, 5},   Pair{Type::int64, NetcdfType::int64, 5},
                             Pair{Type::uint64, NetcdfType::uint64, 5}};

}  // namespace

NetcdfType netcdf_type(Type type) noexcept {
  const auto found = std::find_if(k_types.begin(), k_types.end(), [&](const Pair& pair) { return pair.type == type; });
  return found == k_types.end() ? NetcdfType::none : found->netcdf;
}

Type type_of_netcdf(NetcdfType type) noexcept {
  const auto found =
      std::find_if(k_types.begin(), k_types.end(), [&](const Pair& pair) { return pair.netcdf == type; });
  return found == k_types.end() ? Type::none : found->type;
}

int version_for(NetcdfType type) noexcept {
  const auto found =
      std::find_if(k_types.begin(), k_types.end(), [&](const Pair& pair) { return pair.netcdf == type; });
  return found == k_types.end() ? 1 : found->version;
}

namespace {

bool is_between(char each, char first, char last) noexcept {
  return each >= first && each <= last;
}

bool can_begin_name(char each) noexcept {
  const bool is_ascii = static_cast<unsigned char>(each) < 0x80;
  return !is_ascii || each == '_' || is_between(each, '0', '9') || is_between(each, 'A', 'Z') ||
         is_between(each, 'a', 'z');
}

bool is_slash_or_control(char each) noexcept {
  return static_cast<unsigned char>(each) < 0x20 || each == 0x7f || each == '/';
}

}  // namespace

// Source: NetCDF Classic Format Specification, "name".
Status check_netcdf_name(ObjectName object, std::string_view name) {
  const auto bad = [&](std::string_view why) {
    return Status(Code::bad_argument,
                  fmt::format("{}: netCDF classic cannot have the name \"{}\": {}", object(), readable(name), why));
  };
  if (name.empty() || std::ssize(name) > k_longest_netcdf_name)
    return bad("1 to 256 bytes are needed");
  if (!is_utf8(name))
    return bad("it is not UTF-8");
  if (!can_begin_name(name.front()))
    return bad("it does not begin with a letter, a digit or an underscore");
  if (name.back() == ' ')
    return bad("it ends with a blank");
  if (std::any_of(name.begin(), name.end(), is_slash_or_control))
    return bad("it contains a slash or a control character");
  return {};
}

Status check_new_netcdf_name(ObjectName object, std::string_view name) {
  if (Status status = check_netcdf_name(object, name); !status.ok())
    return status;
  if (std::none_of(name.begin(), name.end(), [](char each) { return static_cast<unsigned char>(each) >= 0x80; }))
    return {};
  const auto normal = normal_form_c(name);
  if (normal == name)
    return {};
  const std::string why = normal ? fmt::format("its normal form is \"{}\"", *normal)
                                 : std::string("this library was built without utf8proc, which computes that form");
  return {
      Code::bad_argument,
      fmt::format("{}: netCDF classic stores names in Unicode's normal form C, but \"{}\" is not known to be in it: {}",
                  object(), readable(name), why)};
}

Result<NetcdfAttribute> to_netcdf(const std::string& object, const Attribute& attribute) {
  const auto name = [&] { return fmt::format("attribute \"{}\" of \"{}\"", attribute.name, object); };
  const auto cannot = [&](std::string_view why) {
    return Status(Code::unsupported, fmt::format("{}: netCDF classic has {}; format=hdf5 can hold it", name(), why));
  };
  if (Status status = check_netcdf_name(name, attribute.name); !status.ok())
    return status;
  NetcdfAttribute out{.name = attribute.name, .type = netcdf_type(attribute.type), .count = 0, .data = {}};
  if (out.type == NetcdfType::none)
    return cannot(fmt::format("no type {}", type_name(attribute.type)));
  if (!attribute.enumeration.empty())
    return cannot("no names of values");
  if (attribute.shape.size() > 1)
    return cannot("no attributes of several dimensions");
  if (attribute.type == Type::text) {
    if (attribute.texts.size() > 1)
      return cannot("no lists of texts");
    if (attribute.texts.empty())
      return out;
    const auto* begin = reinterpret_cast<const std::byte*>(attribute.texts.front().data());
    out.data.assign(begin, begin + attribute.texts.front().size());
    out.count = static_cast<int64_t>(out.data.size());
    return out;
  }
  out.data = attribute.data;
  out.count = static_cast<int64_t>(out.data.size()) / netcdf_type_bytes(out.type);
  return out;
}

Attribute from_netcdf(const NetcdfAttribute& attribute) {
  Attribute out;
  out.name = attribute.name;
  out.type = type_of_netcdf(attribute.type);
  if (out.type == Type::text) {
    out.texts.emplace_back(reinterpret_cast<const char*>(attribute.data.data()), attribute.data.size());
    out.text_variable_length = attribute.count == 0;
    out.text_size = attribute.count;
    out.text_padding = attribute.count == 0 ? TextPadding::null_terminated : TextPadding::null_padded;
    return out;
  }
  out.shape = {attribute.count};
  out.data = attribute.data;
  out.big_endian = true;
  return out;
}

namespace {

// Calls `use` with a zero of the corresponding C type; does nothing if there is none.
template <class Use>
auto with_number(NetcdfType type, Use&& use) -> decltype(use(int8_t{})) {
  switch (type) {
    case NetcdfType::byte:
      return use(int8_t{});
    case NetcdfType::int16:
      return use(int16_t{});
    case NetcdfType::int32:
      return use(int32_t{});
    case NetcdfType::float32:
      return use(float{});
    case NetcdfType::float64:
      return use(double{});
    case NetcdfType::ubyte:
      return use(uint8_t{});
    case NetcdfType::uint16:
      return use(uint16_t{});
    case NetcdfType::uint32:
      return use(uint32_t{});
    case NetcdfType::int64:
      return use(int64_t{});
    case NetcdfType::uint64:
      return use(uint64_t{});
    default:
      return {};
  }
}

// nullopt: it is not a `To`, or for floating point not even approximately.
template <class To, class From>
std::optional<To> converted(From value) {
  if constexpr (std::is_floating_point_v<To>) {
    const auto near = static_cast<To>(value);
    return std::isfinite(static_cast<double>(near)) == std::isfinite(static_cast<double>(value)) ? std::optional(near)
                                                                                                 : std::nullopt;
  } else if constexpr (std::is_floating_point_v<From>) {
    const bool fits = value == std::trunc(value) && value >= static_cast<From>(std::numeric_limits<To>::min()) &&
                      value < std::ldexp(From{1}, std::numeric_limits<To>::digits);
    return fits ? std::optional(static_cast<To>(value)) : std::nullopt;
  } else {
    return std::in_range<To>(value) ? std::optional(static_cast<To>(value)) : std::nullopt;
  }
}

}  // namespace

std::optional<NetcdfAttribute> fill_of_type(const NetcdfAttribute& fill, NetcdfType type) {
  if (fill.count != 1)
    return std::nullopt;
  if (fill.type == type)
    return fill;
  return with_number(fill.type, [&](auto value) {
    std::memcpy(&value, fill.data.data(), sizeof value);
    return with_number(type, [&](auto zero) -> std::optional<NetcdfAttribute> {
      const auto number = converted<decltype(zero)>(value);
      if (!number)
        return std::nullopt;
      NetcdfAttribute out{.name = fill.name, .type = type, .count = 1, .data = std::vector<std::byte>(sizeof zero)};
      std::memcpy(out.data.data(), &*number, sizeof zero);
      return out;
    });
  });
}

std::vector<std::byte> reversed_if_little(std::span<const std::byte> element) {
  std::vector<std::byte> out(element.begin(), element.end());
  if constexpr (std::endian::native == std::endian::little)
    std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace windrow
