// SPDX-License-Identifier: BSD-3-Clause
#include "definitions/variable_definitions.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "comm/agree.hpp"
#include "comm/same.hpp"
#include "metadata/definition.hpp"
#include "subfiling/part_definitions.hpp"

namespace windrow {

Status VariableDefinitions::check() {
  std::string text;
  for (VariableDefinition& definition : definitions_) {
    append_definition(text, definition);
    if (Status status = parts_.metadata.check_definition(definition, added_); !status.ok())
      return status;
  }
  arguments_ = hash_of({std::to_string(definitions_.size()), text});
  return {};
}

std::vector<std::string> VariableDefinitions::describe() const {
  std::vector<std::string> texts;
  for (const VariableDefinition& each : definitions_)
    texts.push_back(description_of(each));
  return texts;
}

// All ranks have allocated their memory before rank 0 changes the format. So all can enter the variables that were
// made.
Status VariableDefinitions::compare(Status local, bool at_once) {
  SameArguments same(local, arguments_);
  const std::span<int64_t> numbers = std::span(made_).first(2);
  std::copy_n(same.numbers().begin(), 2, numbers.begin());
  const auto make = [&](const Reduction& agreed) -> Status {
    if (SameArguments::differ(agreed.maximum) || !at_once || definitions_.size() > k_at_once)
      return {};
    return make_on_root(definitions_, added_.groups, agreed.maximum.subspan(2));
  };
  bool at_work = false;
  outcome_ =
      agree_and_work(parts_.comm, std::move(local), Reduction{.maximum = made_, .sum = {}, .bits = {}}, make, &at_work);
  if (!outcome_.ok() && (!at_work || outcome_.code() == Code::mpi))
    return outcome_;
  if (SameArguments::differ(numbers))
    return name_difference(parts_.comm, arguments_, "number, paths, types, shapes or options of the variables",
                           [&] { return describe(); });
  return {};
}

Status VariableDefinitions::make() {
  Status verdict = outcome_;
  const std::span<const int64_t> places = std::span<const int64_t>(made_).subspan(2);
  const bool made = places[0] >= 0;
  if (made)
    enter(definitions_, places);
  for (size_t begin = made ? definitions_.size() : 0; begin < definitions_.size() && verdict.ok();
       begin += k_a_message) {
    const std::span<const std::string> groups(added_.groups.data(), begin == 0 ? added_.groups.size() : 0);
    verdict = make_some(definitions_.subspan(begin, std::min(k_a_message, definitions_.size() - begin)), groups);
  }
  parts_.metadata.enter_index(added_);
  return verdict;
}

// Collective.
Status VariableDefinitions::make_some(std::span<VariableDefinition> some, std::span<const std::string> groups) {
  std::array<int64_t, 1 + 2 * k_a_message> numbers;
  const std::span<int64_t> places = std::span(numbers).first(1 + 2 * some.size());
  std::fill(places.begin(), places.end(), std::numeric_limits<int64_t>::min());
  Status local = parts_.format != nullptr ? make_on_root(some, groups, places) : Status{};
  Status verdict = agree(parts_.comm, std::move(local), Reduction{.maximum = places, .sum = {}, .bits = {}});
  if (verdict.code() != Code::mpi)
    enter(some, places);
  return verdict;
}

Result<Placement> VariableDefinitions::make_one_on_root(const VariableDefinition& definition, size_t number) const {
  const SplitVariable* split = find_split(parts_.set.map().get(), static_cast<int>(number));
  if (split == nullptr)
    return parts_.format->define_variable(definition);
  const PartDefinitions definitions(parts_.set);
  if (Status status = definitions.define_in_base(*parts_.format, definition, *split, parts_.metadata.records());
      !status.ok())
    return status;
  return Placement{.offset = -1, .bytes = checked_product(definition.shape).value_or(0) * split->element_bytes};
}

// Rank 0.
Status VariableDefinitions::make_on_root(std::span<const VariableDefinition> some, std::span<const std::string> groups,
                                         std::span<int64_t> places) const {
  places[0] = 0;
  bool has_groups = false;
  Status made = guard([&]() -> Status {
    if (Status status = define_groups(*parts_.format, groups); !status.ok())
      return status;
    has_groups = true;
    for (size_t i = 0; i < some.size(); ++i) {
      const auto placement = make_one_on_root(some[i], parts_.metadata.catalog().variables.size() + i);
      if (!placement.ok())
        return placement.status();
      places[1 + 2 * i] = placement.value().offset;
      places[2 + 2 * i] = placement.value().bytes;
      ++places[0];
    }
    return {};
  });
  if (!made.ok() && has_groups && places[0] == 0)
    withdraw_groups(*parts_.format, groups);
  return made;
}

void VariableDefinitions::enter(std::span<VariableDefinition> made, std::span<const int64_t> places) noexcept {
  for (size_t i = 0; i < static_cast<size_t>(places[0]); ++i) {
    const bool big_endian = made[i].big_endian;
    const size_t number = parts_.metadata.catalog().variables.size();
    const Variable& entered = parts_.metadata.enter_variable(
        std::move(made[i]), {.offset = places[1 + 2 * i], .bytes = places[2 + 2 * i], .big_endian = big_endian});
    if (!entered.is_chunked() && !entered.is_interleaved() && entered.placement.bytes > 0)
      write_state_.add_contiguous(number, !entered.fill.empty());
  }
}

}  // namespace windrow
