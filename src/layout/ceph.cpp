// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/units.hpp"
#include "layout/parse.hpp"

namespace windrow {
namespace {

constexpr int64_t k_granule = int64_t{64} << 10;

struct Field {
  std::string_view name;
  int64_t least, most, granule;
  std::optional<int64_t> value = std::nullopt;
};

Status fault(std::string what) {
  return {Code::bad_file, "layout of cephfs: " + std::move(what)};
}

Status take(Field& field, std::string_view text) {
  if (field.value)
    return fault(fmt::format("{} is repeated", field.name));
  field.value = parse_integer(text);
  if (!field.value || *field.value < field.least || *field.value > field.most || *field.value % field.granule != 0)
    return fault(fmt::format("{} cannot be \"{}\"", field.name, text));
  return {};
}

}  // namespace

Result<StorageLayout> parse_cephfs(std::string_view text) {
  std::array fields{Field{"stripe_unit", k_granule, UINT32_MAX, k_granule}, Field{"stripe_count", 1, k_most_stripes, 1},
                    Field{"object_size", k_granule, UINT32_MAX, k_granule}};
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const size_t equals = word.find('=');
    if (equals == std::string_view::npos)
      continue;  // the pool comes next and may have any name
    for (Field& field : fields)
      if (field.name == word.substr(0, equals))
        if (Status status = take(field, word.substr(equals + 1)); !status.ok())
          return status;
    if (word.starts_with("pool="))
      break;
  }
  for (const Field& field : fields)
    if (!field.value)
      return fault(fmt::format("{} is missing", field.name));
  LayoutComponent component{.stripe_bytes = *fields[0].value,
                            .stripe_count = *fields[1].value,
                            .object_bytes = *fields[2].value,
                            .targets = {}};
  StorageLayout layout{.kind = LayoutKind::cephfs, .components = {std::move(component)}};
  if (Status status = check_layout(layout); !status.ok())
    return status;
  return layout;
}

}  // namespace windrow
