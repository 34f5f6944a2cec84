// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/checked.hpp"
#include "base/units.hpp"
#include "layout/parse.hpp"
#include "layout/stripes.hpp"

namespace windrow {
namespace {

Status fault(std::string what) {
  return {Code::bad_argument, "layout=mock: " + std::move(what)};
}

// The values parsed so far for one component.
struct ParsedComponent {
  std::optional<int64_t> stripe, count, first, targets, object, objects, until;
};

std::string_view next_part(std::string_view& text, char separator) {
  const std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

Status read_word(std::string_view word, ParsedComponent& parsed) {
  const size_t equals = word.find('=');
  const std::string_view key = word.substr(0, equals),
                         value = equals == std::string_view::npos ? "" : word.substr(equals + 1);
  struct Key {
    std::string_view name;
    std::optional<int64_t>& number;
    int64_t least, most;
  };
  constexpr int64_t k_most_bytes = int64_t{1} << 50, k_most_targets = int64_t{1} << 31;
  const std::array keys{
      Key{"stripe", parsed.stripe, 1, k_most_bytes}, Key{"count", parsed.count, 1, k_most_stripes},
      Key{"first", parsed.first, 0, k_most_targets}, Key{"targets", parsed.targets, 1, k_most_targets},
      Key{"object", parsed.object, 1, k_most_bytes}, Key{"objects", parsed.objects, 1, k_most_stripes},
      Key{"until", parsed.until, 1, INT64_MAX - 1}};
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const Key& each) { return each.name == key; });
  if (found == keys.end())
    return fault(
        fmt::format("unknown key \"{}\"; the keys are stripe, count, first, targets, object, objects and until", key));
  if (found->number)
    return fault(fmt::format("{} is repeated", key));
  const bool is_length = found->name == "stripe" || found->name == "object" || found->name == "until";
  const auto number = is_length ? parse_bytes(value) : parse_integer(value);
  if (!number || *number < found->least || *number > found->most)
    return fault(fmt::format("{} cannot be \"{}\"; it must be from {} to {}", key, value, found->least, found->most));
  found->number = *number;
  return {};
}

// Mimics CephFS: the target of each object follows from its number by a hash, so that there is no visible pattern.
void place_objects(LayoutComponent& component, int64_t objects, int64_t targets) {
  constexpr uint64_t k_step = 0x9e3779b97f4a7c15, k_mix = 0xbf58476d1ce4e5b9;  // of the generator splitmix64
  for (int64_t object = 0; object < objects; ++object) {
    uint64_t hash = (static_cast<uint64_t>(object) + 1) * k_step;
    hash = (hash ^ (hash >> 30)) * k_mix;
    component.targets.push_back(static_cast<int64_t>((hash ^ (hash >> 31)) % static_cast<uint64_t>(targets)));
  }
}

// "...;until=1MiB;...": ends the component before it.
bool has_only_end(const ParsedComponent& parsed) noexcept {
  const bool has_place = parsed.first || parsed.targets || parsed.object || parsed.objects;
  return parsed.until && !parsed.stripe && !parsed.count && !has_place;
}

Status add_component(const ParsedComponent& parsed, int64_t begin, StorageLayout& layout) {
  if (!parsed.stripe)
    return fault("a component needs stripe, as in mock:stripe=1MiB,count=8");
  LayoutComponent component{.bytes = {begin, parsed.until.value_or(k_no_end)},
                            .stripe_bytes = *parsed.stripe,
                            .stripe_count = parsed.count.value_or(1),
                            .targets = {}};
  const int64_t first = parsed.first.value_or(0), all = parsed.targets.value_or(first + component.stripe_count);
  if (first >= all)
    return fault(fmt::format("the first target cannot be {}: there are {}, numbered from 0", first, all));
  if (parsed.objects && !parsed.object)
    return fault("objects needs object too, as in object=4MiB,objects=100");
  if (parsed.object) {
    component.object_bytes = *parsed.object;
    place_objects(component, parsed.objects.value_or(component.stripe_count), all);
  } else {
    component.overstriped = component.stripe_count > all;
    for (int64_t i = 0; i < component.stripe_count; ++i)
      component.targets.push_back((first + i) % all);
  }
  layout.components.push_back(std::move(component));
  layout.storage_targets = std::max(layout.storage_targets, all);
  return {};
}

}  // namespace

Result<StorageLayout> parse_mock(std::string_view text) {
  StorageLayout layout{.kind = LayoutKind::mock, .components = {}};
  do {
    std::string_view part = next_part(text, ';');
    ParsedComponent parsed;
    while (!part.empty())
      if (Status status = read_word(next_part(part, ','), parsed); !status.ok())
        return status;
    if (has_only_end(parsed) && layout.known() && layout.components.back().bytes.end == k_no_end) {
      layout.components.back().bytes.end = *parsed.until;
      continue;
    }
    const int64_t begin = layout.known() ? layout.components.back().bytes.end : 0;
    if (begin == k_no_end)
      return fault("only the last component extends to the end; those before it need until=");
    if (Status status = add_component(parsed, begin, layout); !status.ok())
      return status;
  } while (!text.empty());
  if (Status status = check_layout(layout); !status.ok())
    return Status{Code::bad_argument, status.message()};
  return layout;
}

StorageLayout with_stripes(const StorageLayout& mock, const StripeNumbers& numbers) {
  const LayoutComponent& now = mock.components.back();
  int64_t all = std::max<int64_t>(1, mock.storage_targets);
  LayoutComponent component{.stripe_bytes = now.stripe_bytes,
                            .stripe_count = now.stripe_count,
                            .object_bytes = now.object_bytes,
                            .targets = {}};
  int64_t first =
      mock.components.front().targets.empty() || now.object_bytes > 0 ? 0 : mock.components.front().targets.front();
  if (numbers.bytes > 0)
    component.stripe_bytes = numbers.bytes;
  if (numbers.count != 0)
    component.stripe_count = numbers.count == k_all_targets ? std::min(all, k_most_stripes) : numbers.count;
  if (numbers.first >= 0)
    first = numbers.first;
  if (numbers.count > all || first >= all)
    all = first + component.stripe_count;  // a mock has as many targets as requested
  if (component.object_bytes > 0) {
    if (component.object_bytes % component.stripe_bytes != 0)
      component.object_bytes = component.stripe_bytes;
    const int64_t rows = ceil_divide(static_cast<int64_t>(now.targets.size()), component.stripe_count);
    place_objects(component, std::max<int64_t>(1, rows) * component.stripe_count, all);
  } else {
    component.overstriped = component.stripe_count > all;
    for (int64_t i = 0; i < component.stripe_count; ++i)
      component.targets.push_back((first + i) % all);
  }
  return {.kind = mock.kind, .components = {std::move(component)}, .storage_targets = all};
}

}  // namespace windrow
