// SPDX-License-Identifier: BSD-3-Clause
#include "storage/faulty/fault_plan.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <utility>

namespace windrow {
namespace {

constexpr std::array<std::pair<std::string_view, Operation>, 6> k_operations{{
    {"open", Operation::open},
    {"write", Operation::write},
    {"read", Operation::read},
    {"resize", Operation::resize},
    {"sync", Operation::sync},
    {"publish", Operation::publish},
}};

constexpr std::array<std::pair<std::string_view, Intervention>, 4> k_errors{{
    {"no_space", {.error = ENOSPC}},
    {"io", {.error = EIO}},
    {"no_permission", {.error = EACCES}},
    {"short", {.short_transfer = true}},
}};

Status bad_field(std::string_view field, std::string_view why) {
  return {Code::bad_argument, fmt::format("fault: {}: {}", field, why)};
}

template <class Number>
std::optional<Number> whole_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0)
    return std::nullopt;
  return number;
}

template <class Table>
auto look_up(const Table& table, std::string_view name) -> std::optional<typename Table::value_type::second_type> {
  for (const auto& [known, value] : table)
    if (known == name)
      return value;
  return std::nullopt;
}

struct Fields {
  FaultPlan plan;
  bool has_operation = false, has_error = false, has_rank = false, has_after = false;
};

Status take_field(Fields& fields, std::string_view key, std::string_view value) {
  bool* seen = key == "rank"        ? &fields.has_rank
               : key == "operation" ? &fields.has_operation
               : key == "after"     ? &fields.has_after
               : key == "error"     ? &fields.has_error
                                    : nullptr;
  if (!seen)
    return bad_field(key, "no such field; the fields are rank, operation, after, error");
  if (std::exchange(*seen, true))
    return bad_field(key, "given twice");
  if (key == "rank") {
    fields.plan.rank = whole_number<int>(value);
    return fields.plan.rank ? Status() : bad_field(key, "it must be a whole number");
  }
  if (key == "after") {
    const auto after = whole_number<int64_t>(value);
    fields.plan.after = after.value_or(0);
    return after ? Status() : bad_field(key, "it must be a whole number");
  }
  if (key == "operation") {
    const auto operation = look_up(k_operations, value);
    fields.plan.operation = operation.value_or(Operation::write);
    return operation ? Status() : bad_field(key, "it must be open, write, read, resize, sync or publish");
  }
  fields.plan.kill = value == "kill";
  const auto fault = look_up(k_errors, value);
  fields.plan.fault = fault.value_or(Intervention{});
  return fault || fields.plan.kill ? Status() : bad_field(key, "it must be no_space, io, no_permission, short or kill");
}

}  // namespace

Result<FaultPlan> parse_fault_plan(std::string_view text) {
  Fields fields;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view field = text.substr(begin, end - begin);
    const size_t equals = field.find('=');
    if (equals == std::string_view::npos)
      return bad_field(field.empty() ? "\"\"" : field, "not of the form field=value");
    Status status = take_field(fields, field.substr(0, equals), field.substr(equals + 1));
    if (!status.ok())
      return status;
    begin = end + 1;
  }
  if (!fields.has_operation)
    return bad_field("operation", "missing");
  if (!fields.has_error)
    return bad_field("error", "missing");
  const Operation operation = fields.plan.operation;
  if (fields.plan.fault.short_transfer && operation != Operation::write && operation != Operation::read)
    return bad_field("error", "only a write or a read can be short");
  if (operation == Operation::open && fields.plan.after > 0)
    return bad_field("after", "a store is opened once: it must be 0");
  return fields.plan;
}

}  // namespace windrow
