// SPDX-License-Identifier: BSD-3-Clause
#include "filling/fill_manager.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/paint.hpp"
#include "comm/agree.hpp"
#include "filling/fill_share.hpp"
#include "filling/undefined_elements.hpp"

namespace windrow {

bool are_never_written(const Catalog& catalog, const WriteState& write_state,
                       std::span<const int64_t> variables) noexcept {
  bool all = true;
  for_each_among(variables, catalog.variables.size(), [&](size_t i) {
    all = all && (catalog.variables[i].is_chunked() || write_state[i].never_written || write_state[i].needs_fill());
  });
  return all;
}

template <class Visit>
void FillManager::for_each_unfilled(std::span<const int64_t> variables, Visit&& visit) const {
  for_each_among(variables, parts_.space.catalog().variables.size(), [&](size_t i) {
    if (parts_.write_state[i].needs_fill())
      visit(i);
  });
}

// Returns the bytes that `rank` fills. Each part of a split variable is filled by the owner of its subfile.
Extent FillManager::share_of(int64_t part, Extent bytes, int rank) const {
  const int ranks = parts_.comm.size();
  if (part < 0)
    return fill_share(bytes, rank, ranks, parts_.layout);
  return parts_.space.owner_of(part, ranks) == rank ? bytes : Extent{bytes.begin, bytes.begin};
}

bool FillManager::knows_holes(const PreparedPlan& prepared, std::span<const int64_t> variables, FillMap& map) const {
  static constexpr std::byte k_zero{0};
  const AccessRule& rule = prepared.rule;
  const Catalog& catalog = parts_.space.catalog();
  if (rule.access != Access::sieve || !prepared.plan.has_domains() || prepared.plan.direct_bytes > 0 ||
      prepared.extension || !are_never_written(catalog, parts_.write_state, variables) ||
      parts_.write_state.any_needs_fill(variables))
    return false;
  for_each_among(variables, catalog.variables.size(), [&](size_t i) {
    parts_.space.for_each_extent(i, [&](int64_t, Extent bytes) { map.add(bytes, {&k_zero, 1}); });
  });
  map.sort();
  if (!map.has_gaps_up_to(rule.hole_bytes))
    return true;
  map.clear();
  return false;
}

bool FillManager::is_whole(const BatchSummary& summary) const noexcept {
  const auto& variables = parts_.space.catalog().variables;
  int64_t bytes = 0;
  for_each_among(summary.objects, variables.size(), [&](size_t i) {
    if (!variables[i].is_chunked())
      bytes += variables[i].placement.bytes;
  });
  return summary.bytes >= bytes;
}

void FillManager::add_unfilled(std::span<const int64_t> variables, FillMap& map) const {
  for_each_unfilled(variables, [&](size_t i) {
    const auto& value = parts_.space.catalog().variables[i].fill;
    parts_.space.for_each_extent(i, [&](int64_t, Extent bytes) { map.add(bytes, value); });
  });
  map.sort();
}

// The number of requests of all ranks that write fill values into the whole variables.
int64_t FillManager::requests_to_fill(std::span<const int64_t> variables, const FillMap& map) const noexcept {
  int64_t requests = 0;
  for_each_unfilled(variables, [&](size_t i) {
    parts_.space.for_each_extent(i, [&](int64_t part, Extent bytes) {
      for (int rank = 0; rank < parts_.comm.size(); ++rank)
        requests += map.requests(share_of(part, bytes, rank), FillMap::k_buffer_bytes);
    });
  });
  return requests;
}

// Collective, agreed. Writes fill values into the unfilled ones of `variables`. After an error they remain unfilled,
// and a new file is not published.
Status FillManager::fill_whole(std::span<const int64_t> variables, const FillMap& map) const {
  WriteState& write_state = parts_.write_state;
  Status local = guard([&] {
    std::vector<std::byte> buffer;
    for_each_unfilled(variables, [&](size_t i) {
      parts_.space.for_each_extent(i, [&](int64_t part, Extent bytes) {
        const Extent share = share_of(part, bytes, parts_.comm.rank());
        if (share.empty())
          return;
        if (buffer.empty())
          buffer.resize(static_cast<size_t>(FillMap::k_buffer_bytes));
        map.write(share, buffer, parts_.file);
      });
    });
    return Status{};
  });
  local.update(parts_.file.take_status());
  Status verdict = agree(parts_.comm, std::move(local));
  if (verdict.ok()) {
    write_state.mark_filled(variables);
    return verdict;
  }
  if (verdict.code() == Code::out_of_memory)
    return verdict;
  const bool is_new = parts_.publication.is_temporary();
  if (is_new)
    parts_.publication.fail(verdict);
  write_state.set_moving([&](size_t i) { return write_state[i].needs_fill() && is_among(i, variables); });
  return UndefinedElements(parts_.space.catalog(), write_state, !is_new)
      .add_names(std::move(verdict), &VariableState::moving);
}

Status FillManager::fill_rest() const {
  if (!parts_.write_state.any_needs_fill())
    return {};
  std::vector<int64_t> all;
  FillMap map;
  Status local = guard([&] {
    all.assign((parts_.space.catalog().variables.size() + 63) / 64, -1);
    add_unfilled(all, map);
    return Status{};
  });
  if (Status verdict = agree(parts_.comm, std::move(local)); !verdict.ok())
    return verdict;
  Status verdict = fill_whole(all, map);
  Trace of_no_flush;
  parts_.file.take_counters(of_no_flush);
  return verdict;
}

FillManager::Method FillManager::method_of(const BatchSummary& summary, const PreparedPlan& prepared,
                                           bool reading) const noexcept {
  if (prepared.extension || !parts_.write_state.any_needs_fill(summary.objects))
    return Method::none;
  if (!reading && is_whole(summary))
    return Method::by_data;
  const bool has_windows = prepared.plan.has_domains() && prepared.plan.direct_bytes == 0;
  return reading || !has_windows ? Method::whole : Method::in_windows;
}

// Local. Prepares the filling of windows. Returns the number of requests of this rank, which is writer number `writer`.
int64_t FillManager::prepare_windows(const PreparedPlan& prepared, size_t writer, WindowFill& fill) const {
  fill.windows = windows_of(prepared.plan, writer);
  const Extent domain = fill.windows.domain;
  fill.buffer.resize(static_cast<size_t>(std::min(FillMap::k_buffer_bytes, domain.size())));
  const auto buffer_bytes = static_cast<int64_t>(fill.buffer.size());
  int64_t requests = 0;
  const auto count = [&](Extent part) { requests += fill.map.requests(part, buffer_bytes); };
  int64_t position = domain.begin;
  prepared.transfer->for_each_storage_window([&](const Window& window, PieceView covered) {
    fill.for_each_part({position, window.bytes.begin}, count);
    window.for_each_part(
        [&](Extent part, int64_t) { fill.map.for_each_request(part, covered, [&](Extent) { ++requests; }); });
    position = window.bytes.end;
  });
  fill.for_each_part({position, domain.end}, count);
  return requests;
}

// Collective.
Status FillManager::prepare(const BatchSummary& summary, const PreparedPlan& prepared, Method method, WindowFill& fill,
                            PlanForecast& forecast) const {
  std::array<int64_t, 1> requests{};
  Status local = guard([&] {
    add_unfilled(summary.objects, fill.map);
    const auto& writers = prepared.plan.writers;
    const auto found = std::find(writers.begin(), writers.end(), parts_.comm.rank());
    if (method == Method::in_windows && found != writers.end())
      requests[0] = prepare_windows(prepared, static_cast<size_t>(found - writers.begin()), fill);
    return Status{};
  });
  if (Status verdict = agree(parts_.comm, std::move(local), Reduction{.maximum = {}, .sum = requests, .bits = {}});
      !verdict.ok())
    return verdict;
  if (method == Method::in_windows)
    forecast.write_requests = requests[0], forecast.read_requests = 0;
  if (method == Method::whole)
    forecast.write_requests += requests_to_fill(summary.objects, fill.map);
  return {};
}

Status FillManager::fill_before(const BatchSummary& summary, const PreparedPlan& prepared, bool reading,
                                WindowFill& fill, PlanForecast& forecast) const {
  const Method method = method_of(summary, prepared, reading);
  if (method == Method::none)
    return {};
  if (method != Method::by_data) {
    if (Status verdict = prepare(summary, prepared, method, fill, forecast); !verdict.ok())
      return verdict;
    fill.wanted = method == Method::in_windows;
  }
  if (method == Method::whole)
    if (Status verdict = fill_whole(summary.objects, fill.map); !verdict.ok())
      return verdict;
  parts_.write_state.begin_filling(summary.objects);
  return {};
}

Status FillManager::forecast(const BatchSummary& summary, const PreparedPlan& prepared, bool reading,
                             PlanForecast& forecast) const {
  const Method method = method_of(summary, prepared, reading);
  if (method == Method::none || method == Method::by_data)
    return {};
  WindowFill fill;
  return prepare(summary, prepared, method, fill, forecast);
}

bool FillManager::has_unfilled_records(size_t variable) const noexcept {
  const Variable& each = parts_.space.catalog().variables[variable];
  return each.is_interleaved() && !each.fill.empty() && parts_.write_state[variable].filled_records < each.records();
}

bool FillManager::any_unfilled_records() const noexcept {
  bool any = false;
  for (size_t i = 0; i < parts_.space.catalog().variables.size(); ++i)
    any = any || has_unfilled_records(i);
  return any;
}

// Returns the records without fill values, in the file or in the subfiles of a set.
std::vector<StridedRows> FillManager::unfilled_records(size_t variable) const {
  const Variable& each = parts_.space.catalog().variables[variable];
  const int64_t first = parts_.write_state[variable].filled_records, count = each.shape.front() - first;
  const auto rows_of = [&](int64_t offset, int64_t stride, int64_t row) {
    return StridedRows{.to = offset + first * stride, .to_stride = stride, .bytes = row, .count = count};
  };
  const SplitVariable* split = parts_.space.find_split(variable);
  if (split == nullptr)
    return {rows_of(parts_.space.place_of(variable), each.placement.stride, row_bytes(each))};
  std::vector<StridedRows> rows;
  for (int64_t part = 0; part < split->split.parts(); ++part)
    rows.push_back(rows_of(parts_.space.place_of(*split, part), split->strides[static_cast<size_t>(part)],
                           split->row_bytes(part)));
  return rows;
}

// Local. Writes this rank's share of the unfilled records of all variables whose new records the flush does not write
// completely.
Status FillManager::write_records(std::span<const int64_t> written) const {
  constexpr int64_t k_buffer = int64_t{1} << 20;
  const auto& variables = parts_.space.catalog().variables;
  std::vector<std::byte> buffer;
  for (size_t i = 0; i < variables.size(); ++i) {
    const Variable& variable = variables[i];
    if (!has_unfilled_records(i))
      continue;
    const std::vector<StridedRows> rows = unfilled_records(i);
    if (written[i] == row_bytes(variable) * (variable.shape.front() - parts_.write_state[i].filled_records))
      continue;
    buffer.resize(static_cast<size_t>(k_buffer));
    for_each_part(rows, parts_.comm.rank(), parts_.comm.size(), k_buffer,
                  [&](const StridedRows&, int64_t, int64_t to, int64_t at, int64_t length) {
                    const auto part = std::span(buffer).first(static_cast<size_t>(length));
                    paint(part, at % static_cast<int64_t>(variable.fill.size()), variable.fill);
                    parts_.file.write(to, part);
                  });
  }
  return {};
}

Status FillManager::fill_records(Status local, std::span<int64_t> written) const {
  if (Status verdict = agree(parts_.comm, std::move(local), Reduction{.maximum = {}, .sum = written, .bits = {}});
      !verdict.ok())
    return verdict;
  local = guard([&] { return write_records(written); });
  local.update(parts_.file.take_status());
  Status verdict = agree(parts_.comm, std::move(local));
  if (verdict.code() == Code::out_of_memory)
    return verdict;
  const Catalog& catalog = parts_.space.catalog();
  WriteState& write_state = parts_.write_state;
  if (!verdict.ok()) {
    write_state.set_moving([&](size_t i) { return i < catalog.variables.size() && has_unfilled_records(i); });
    return UndefinedElements(catalog, write_state, !parts_.publication.is_temporary())
        .add_names(std::move(verdict), &VariableState::moving);
  }
  for (size_t i = 0; i < catalog.variables.size(); ++i)
    write_state[i].filled_records = catalog.variables[i].records();
  return verdict;
}

}  // namespace windrow
