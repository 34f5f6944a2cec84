// SPDX-License-Identifier: BSD-3-Clause
// Late allocation in a subfile: the rank that owns the subfile places its variables, and rewrites it if variables move.
#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/file_system.hpp"
#include "storage/publish.hpp"
#include "storage/system_error.hpp"
#include "subfiling/copy.hpp"
#include "subfiling/subfiles.hpp"

namespace windrow {

// `named`: whether the new file has the subfile's name, which is possible after an error.
Status Subfiles::rewrite(int64_t number, Format& format, const Layout& layout, const TemporaryFile& temporary,
                         bool& named) const {
  auto store = open_store(temporary.temporary_path, StoreMode::update, {});
  if (!store.ok())
    return store.status();
  if (Status status = format.write_anew(std::move(store).value()); !status.ok())
    return status;
  auto catalog = format.catalog();
  if (!catalog.ok())
    return catalog.status();
  const std::array whole{Extent{0, end_of(catalog.value().variables)}};
  DataFile from(names_.path(number), true, options_.store), to(temporary.temporary_path, true, options_.store);
  Status status = from.extend(whole);
  if (status.ok())
    copy_variables({catalog.value().variables, layout.placements, 0, 1, options_.buffer_bytes}, from, to);
  status.update(from.take_status());
  status.update(to.take_status());
  if (options_.durable)
    status.update(to.sync());
  status.update(from.close());
  status.update(to.close());
  if (!status.ok())
    return status;
  const std::array renames{Rename{temporary.temporary_path, temporary.final_path, &temporary.held}};
  return publish(renames, options_.durable, {}, &named);
}

Status Subfiles::finish_format(int64_t number, Format& format) {
  if (!format.traits().places_late)
    return {};
  for (const auto& [variable, split] : variables_) {
    if (!split.grows || !split.has_part(number))
      continue;
    if (Status status = format.extend(split.path, split.shape(number)); !status.ok())
      return status;
  }
  auto layout = format.lay_out();
  if (!layout.ok())
    return layout.status();
  // Done first: once the new file has the name, nothing may fail before its places are recorded.
  auto placed = variables_in(format);
  if (!placed.ok())
    return placed.status();
  Status status;
  if (layout.value().moves) {
    if (status = check_name(number); !status.ok())
      return status;
    auto temporary = start_temporary_file(names_.path(number));
    if (!temporary.ok())
      return temporary.status();
    bool named = false;
    status = rewrite(number, format, layout.value(), temporary.value(), named);
    if (!named) {
      remove_temporary_file(temporary.value());
      return status;
    }
    set_file_number(number, file_number(names_.path(number)));
    moved_ = true;
  }
  format.take_layout();
  enter_places(number, placed.value(), layout.value());
  return status;
}

Status Subfiles::predict_places() {
  for (auto& [number, format] : formats_) {
    if (!format->traits().places_late)
      continue;
    const auto layout = format->lay_out();
    if (!layout.ok())
      return layout.status();
    const auto placed = variables_in(*format);
    if (!placed.ok())
      return placed.status();
    enter_places(number, placed.value(), layout.value());
  }
  return {};
}

void Subfiles::enter_places(int64_t number, std::span<const VariableInSubfile> placed, const Layout& layout) noexcept {
  for (const auto& [split, at] : placed) {
    if (!split->has_part(number))
      continue;
    split->offsets[static_cast<size_t>(number)] = layout.placements[at].offset;
    split->strides[static_cast<size_t>(number)] = layout.placements[at].stride;
  }
}

Status Subfiles::lengthen(int64_t number) const {
  int64_t end = 0;
  for (const auto& [variable, split] : variables_) {
    if (!split.has_contiguous_part(number) || !split.has_place(number))
      continue;
    const auto length = split.length(number, split.records);
    if (length && *length > 0)
      end = std::max(end, split.offsets[static_cast<size_t>(number)] + *length);
  }
  std::error_code unknown;
  const std::string path = names_.path(number);
  const auto bytes = end > 0 ? std::filesystem::file_size(path, unknown) : 0;
  if (unknown)
    return system_status("size of", path, unknown.value());
  if (bytes >= static_cast<uintmax_t>(end))
    return {};
  auto store = open_store(path, StoreMode::update, {});
  if (!store.ok())
    return store.status();
  Status status = store.value()->resize(end);
  status.update(store.value()->close());
  return status;
}

Status Subfiles::sync(int64_t number) const {
  std::vector<std::string> all = format_sidecars(format_, names_.path(number));
  all.push_back(names_.path(number));
  for (const std::string& each : all) {
    auto store = open_store(each, StoreMode::update, {});
    if (!store.ok())
      return store.status();
    Status status = store.value()->sync();
    status.update(store.value()->close());
    if (!status.ok())
      return status;
  }
  return {};
}

// The split variables of a subfile, each with its index there.
Result<std::vector<Subfiles::VariableInSubfile>> Subfiles::variables_in(Format& format) {
  auto catalog = format.catalog();
  if (!catalog.ok())
    return catalog.status();
  std::map<std::string_view, size_t> numbers;
  for (size_t i = 0; i < catalog.value().variables.size(); ++i)
    numbers.emplace(catalog.value().variables[i].path, i);
  std::vector<VariableInSubfile> found;
  for (auto& [variable, split] : variables_)
    if (const auto own = numbers.find(split.path); own != numbers.end())
      found.emplace_back(&split, own->second);
  return found;
}

}  // namespace windrow
