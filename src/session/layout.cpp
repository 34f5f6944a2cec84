// SPDX-License-Identifier: BSD-3-Clause
// Variables of a format that finds their places late: once all is defined, before anything moves. Where variables that are in the file already
// have to go elsewhere, all ranks copy them into a new file beside it, which then takes its name: no byte is moved over another, and a job that
// is killed leaves one whole file or the other.
#include <algorithm>
#include <cstring>
#include <set>

#include "base/checked.hpp"
#include "base/varint.hpp"
#include "comm/agree.hpp"
#include "format/fill.hpp"
#include "session/bands.hpp"
#include "session/file.hpp"

namespace windrow {
namespace {

constexpr int64_t k_join_bytes = 4096;  // two variables that are so near to each other are read and written as one

int64_t row_bytes(const Variable& variable) noexcept {
  const auto elements = checked_product(std::span(variable.shape).subspan(1));
  return elements.value_or(0) * element_bytes(variable.type, variable.details);
}

// The end of a variable's last byte.
int64_t end_of(const Variable& variable) noexcept {
  const Placement& place = variable.placement;
  if (place.offset < 0 || place.bytes == 0) return 0;
  return place.stride == 0 ? place.offset + place.bytes : place.offset + (variable.shape.front() - 1) * place.stride + row_bytes(variable);
}

// What of the variables is in the file, from where to where.
std::vector<Band> bands_of(std::span<const Variable> variables, std::span<const Placement> after) {
  std::vector<Band> bands;
  for (size_t i = 0; i < variables.size(); ++i) {
    const Placement& place = variables[i].placement;
    if (place.offset < 0 || place.bytes == 0) continue;
    if (place.stride == 0) bands.push_back({.from = place.offset, .to = after[i].offset, .bytes = place.bytes});
    else bands.push_back({place.offset, place.stride, after[i].offset, after[i].stride, row_bytes(variables[i]), variables[i].shape.front()});
  }
  std::sort(bands.begin(), bands.end(), [](const Band& a, const Band& b) { return a.from < b.from; });
  return bands;
}

// Records that go by the same distance, all of them, are one piece of the file; so are neighbours without records.
std::vector<Band> joined(std::vector<Band> bands) {
  std::vector<Band> out;
  const Band* first = nullptr;
  bool all_shift = true;
  int64_t end = 0;
  for (const Band& band : bands) {
    if (band.from_stride == 0) continue;
    if (first == nullptr) first = &band;
    all_shift = all_shift && band.from_stride == band.to_stride && band.to - band.from == first->to - first->from && band.count == first->count;
    end = std::max(end, band.from + (band.count - 1) * band.from_stride + band.bytes);
  }
  const Band* before = nullptr;  // what `out` ends with, before it was joined
  for (const Band& band : bands) {
    if (band.from_stride != 0 && all_shift) {
      if (&band == first) out.push_back({.from = band.from, .to = band.to, .bytes = end - band.from});
      continue;
    }
    Band* last = before != nullptr && before + 1 == &band && !out.empty() ? &out.back() : nullptr;
    before = &band;
    const bool joins = last != nullptr && band.from_stride == 0 && last->from_stride == 0 && last->to - last->from == band.to - band.from &&
                       band.from >= last->from + last->bytes && band.from - (last->from + last->bytes) < k_join_bytes;
    if (joins) last->bytes = band.from + band.bytes - last->from;
    else out.push_back(band);
  }
  return out;
}

// Bands whose rows are shuffled into one another: whole records are read, put in order in memory, and written.
struct Records {
  std::vector<Band> bands;
  int64_t from = INT64_MAX, from_bytes = 0, to = INT64_MAX, to_bytes = 0, count = 0;
};

// Takes the bands with records out of `bands`, where a record as it was and as it will be fit into `most` bytes together.
Records take_records(std::vector<Band>& bands, int64_t most) {
  Records records;
  for (const Band& band : bands) {
    if (band.from_stride == 0) continue;
    records.from = std::min(records.from, band.from);
    records.to = std::min(records.to, band.to);
    records.from_bytes = band.from_stride;
    records.to_bytes = band.to_stride;
    records.count = band.count;
  }
  const bool sound = std::all_of(bands.begin(), bands.end(), [&](const Band& band) {
    return band.from_stride == 0 || (band.count == records.count && band.from - records.from + band.bytes <= records.from_bytes &&
                                     band.to - records.to + band.bytes <= records.to_bytes);
  });
  if (records.count == 0 || !sound || records.from_bytes + records.to_bytes > most) return {};
  for (const Band& band : bands)
    if (band.from_stride != 0) records.bands.push_back(band);
  std::erase_if(bands, [](const Band& band) { return band.from_stride != 0; });
  return records;
}

bool is_zero(std::span<const std::byte> bytes) noexcept {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte each) { return each == std::byte{0}; });
}

// Holes stay holes: a new file is zeros where nobody writes.
void write_unless_zero(DataFile& file, int64_t offset, std::span<const std::byte> bytes) {
  if (!is_zero(bytes)) file.write(offset, bytes);
}

void copy_records(const Records& records, int rank, int ranks, std::span<std::byte> buffer, DataFile& from, DataFile& to) {
  if (records.bands.empty()) return;
  const Extent share = even_share(records.count, rank, ranks);
  const int64_t at_once = static_cast<int64_t>(buffer.size()) / (records.from_bytes + records.to_bytes);
  int64_t used = 0;  // of a record as it was: what lies behind the last variable's row may be behind the file's end
  for (const Band& band : records.bands) used = std::max(used, band.from - records.from + band.bytes);
  for (int64_t record = share.begin; record < share.end && !from.failed() && !to.failed();) {
    const int64_t count = std::min(at_once, share.end - record);
    const auto old = buffer.first(static_cast<size_t>((count - 1) * records.from_bytes + used));
    const auto fresh = buffer.subspan(static_cast<size_t>(count * records.from_bytes), static_cast<size_t>(count * records.to_bytes));
    from.read(records.from + record * records.from_bytes, old);
    std::fill(fresh.begin(), fresh.end(), std::byte{0});
    for (int64_t i = 0; i < count; ++i)
      for (const Band& band : records.bands)
        std::memcpy(fresh.data() + i * records.to_bytes + (band.to - records.to), old.data() + i * records.from_bytes + (band.from - records.from),
                    static_cast<size_t>(band.bytes));
    write_unless_zero(to, records.to + record * records.to_bytes, fresh);
    record += count;
  }
}

}  // namespace

// Rank 0 alone: the new places, and where the file has to be written anew the path of that, for all ranks.
Status File::lay_out_on_root(std::vector<std::byte>& told, Draft& anew) {
  auto layout = format_->lay_out();
  if (!layout.ok()) return layout.status();
  if (layout.value().moves) {
    auto draft = start_draft(is_draft() ? draft_.final_path : data_->path());
    if (!draft.ok()) return draft.status();
    anew = std::move(draft).value();
    if (is_draft()) anew.final_path = data_->path();
    auto store = open_store(anew.temporary_path, StoreMode::update, {});
    if (!store.ok()) return store.status();
    if (Status status = format_->write_anew(std::move(store).value()); !status.ok()) return status;
    // A file of others may end before variables that nobody has written.
    std::array<Extent, 1> whole{};
    for (const Variable& variable : catalog_.variables) whole[0].end = std::max(whole[0].end, end_of(variable));
    if (Status status = data_->extend(whole); !status.ok()) return status;
  }
  append_varint(told, anew.temporary_path.size());
  const auto* text = reinterpret_cast<const std::byte*>(anew.temporary_path.data());
  told.insert(told.end(), text, text + anew.temporary_path.size());
  for (const Placement& place : layout.value().placements) {
    const std::array<int64_t, 3> numbers{place.offset, place.bytes, place.stride};
    const auto* bytes = reinterpret_cast<const std::byte*>(numbers.data());
    told.insert(told.end(), bytes, bytes + sizeof numbers);
  }
  return {};
}

Status File::learn_layout(std::span<const std::byte> told, std::vector<Placement>& places, std::string& anew) const {
  size_t position = 0;
  const auto length = read_varint(told, position);
  constexpr size_t k_each = 3 * sizeof(int64_t);
  if (!length || told.size() - position != *length + catalog_.variables.size() * k_each) return {Code::internal, "rank 0's word on a layout is malformed"};
  anew.assign(reinterpret_cast<const char*>(told.data() + position), *length);
  position += *length;
  for (size_t i = 0; i < catalog_.variables.size(); ++i, position += k_each) {
    std::array<int64_t, 3> numbers;
    std::memcpy(numbers.data(), told.data() + position, k_each);
    places.push_back({.offset = numbers[0], .bytes = numbers[1], .big_endian = catalog_.variables[i].placement.big_endian, .stride = numbers[2]});
  }
  return {};
}

// Local: this rank's share of all that has a place by now, into the new file. Holds the option buffer, whatever the file's size.
Status File::copy_to_places(std::span<const Placement> places, const std::string& anew) {
  std::vector<std::byte> buffer(static_cast<size_t>(limits_.buffer_bytes));
  const auto most = static_cast<int64_t>(buffer.size());
  DataFile to(anew, true, data_->options());
  std::vector<Band> bands = joined(bands_of(catalog_.variables, places));
  const Records records = take_records(bands, most);
  for_each_part(bands, comm_->rank(), comm_->size(), most, [&](const Band&, int64_t from, int64_t into, int64_t, int64_t length) {
    if (data_->failed() || to.failed()) return;
    const auto part = std::span(buffer).first(static_cast<size_t>(length));
    data_->read(from, part);
    if (!data_->failed()) write_unless_zero(to, into, part);
  });
  copy_records(records, comm_->rank(), comm_->size(), buffer, *data_, to);
  Status status = data_->take_status();
  status.update(to.take_status());
  if (settings_.boolean("durable") && !is_draft()) status.update(to.sync());
  status.update(to.close());
  return status;
}

// Collective, agreed. Afterwards the places are in force on all ranks; after an error the file and they are as before.
Status File::place_variables(Status local) {
  std::vector<std::byte> told;
  std::vector<Placement> places;
  std::string path;
  Draft anew;  // rank 0
  if (comm_->rank() == 0 && local.ok()) local = guard([&] { return lay_out_on_root(told, anew); });
  local = share_from_root(*comm_, std::move(local), told);
  if (local.ok()) local = guard([&] { return learn_layout(told, places, path); });
  Status verdict = agree(*comm_, std::move(local));
  if (verdict.ok() && !path.empty()) {
    local = guard([&] { return copy_to_places(places, path); });
    Trace of_no_flush;
    data_->settle(of_no_flush);
    verdict = agree(*comm_, std::move(local));
    if (verdict.ok()) {
      local = comm_->rank() == 0 ? guard([&]() -> Status {
        const std::array renames{Rename{anew.temporary_path, anew.final_path}};
        Status status = publish(renames, settings_.boolean("durable") && !is_draft());
        if (status.ok()) format_->take_layout();
        return status;
      })
                                 : Status{};
      verdict = agree(*comm_, std::move(local));
    }
  }
  if (!verdict.ok()) {
    if (!anew.temporary_path.empty()) (void)remove_files(std::span(&anew.temporary_path, 1));
    return verdict;
  }
  if (!path.empty()) (void)data_->close();  // of what had the name before: nothing of it is wanted any more
  for (size_t i = 0; i < places.size(); ++i) catalog_.variables[i].placement = places[i];
  plans_.clear();
  unplaced_ = false;
  return {};
}

// Of a format whose growing variables have one length: all of them are as long as the longest, and so is what their dimension is named by.
void File::grow_as_one() noexcept {
  if (!traits_.grows_as_one) return;
  int64_t records = 0;
  for (const Variable& variable : catalog_.variables)
    if (variable.extendible) records = std::max(records, variable.shape.front());
  for (Variable& variable : catalog_.variables) {
    if (!variable.extendible) continue;
    variable.shape.front() = records;
    variable.placement.bytes = records * row_bytes(variable);
    for (Dimension& dimension : catalog_.dimensions)
      if (!variable.dimensions.empty() && dimension.path == variable.dimensions.front()) dimension.length = records;
  }
}

bool File::wants_records(size_t variable) const noexcept {
  const Variable& each = catalog_.variables[variable];
  return each.placement.stride > 0 && !each.fill.empty() && filled_records_[variable] < each.shape.front();
}

// What this rank is about to write of new records of a variable; 0 where records might be written twice, so that nobody counts on it.
int64_t File::bytes_of_new_records(size_t variable) {
  std::set<int64_t> records;
  const SharedDecomposition* through = nullptr;
  int64_t bytes = 0;
  for (const QueueEntry& entry : queue_) {
    if (!entry.put || static_cast<size_t>(entry.variable) != variable) continue;
    if (through == nullptr) through = entry.decomposition.get();
    if (entry.record < 0 || through != entry.decomposition.get() || !records.insert(entry.record).second) return 0;
    if (entry.record < filled_records_[variable]) continue;
    const Variable& target = catalog_.variables[variable];
    const auto trailing = load(entry.decomposition->local(), std::span<const int64_t>(target.shape).subspan(1));
    if (!trailing.ok()) return 0;
    const auto runs = runs_of(entry, trailing.value() * element_bytes(target.type, target.details), nullptr);
    if (!runs.ok()) return 0;
    bytes += runs.value()->total;
  }
  return bytes;
}

// Collective. Records that nobody has filled are filled, unless this very flush writes all of them.
Status File::fill_records(Status local) {
  bool any = false;
  for (size_t i = 0; i < catalog_.variables.size(); ++i) any = any || wants_records(i);
  if (!any) return agree(*comm_, std::move(local));
  const std::span<int64_t> sums = std::span(pulse_identities_).first(catalog_.variables.size());
  std::fill(sums.begin(), sums.end(), 0);
  if (local.ok()) local = guard([&] {
    for (size_t i = 0; i < catalog_.variables.size(); ++i)
      if (wants_records(i)) sums[i] = bytes_of_new_records(i);
    return Status{};
  });
  if (Status verdict = agree(*comm_, std::move(local), Pulse{.maximum = {}, .sum = sums, .bits = {}}); !verdict.ok()) return verdict;
  local = guard([&] {
    std::vector<std::byte> buffer;
    for (size_t i = 0; i < catalog_.variables.size(); ++i) {
      if (!wants_records(i)) continue;
      const Variable& variable = catalog_.variables[i];
      const int64_t first = filled_records_[i], row = row_bytes(variable), stride = variable.placement.stride;
      const Band band{.to = variable.placement.offset + first * stride, .to_stride = stride, .bytes = row, .count = variable.shape.front() - first};
      if (sums[i] == band.total()) continue;
      constexpr int64_t k_buffer = int64_t{1} << 20;
      buffer.resize(static_cast<size_t>(k_buffer));
      for_each_part(std::span(&band, 1), comm_->rank(), comm_->size(), k_buffer, [&](const Band&, int64_t, int64_t to, int64_t at, int64_t length) {
        const auto part = std::span(buffer).first(static_cast<size_t>(length));
        paint(part, at % static_cast<int64_t>(variable.fill.size()), variable.fill);
        data_->write(to, part);
      });
    }
    return Status{};
  });
  local.update(data_->take_status());
  Status verdict = agree(*comm_, std::move(local));
  for (size_t i = 0; i < catalog_.variables.size() && verdict.ok(); ++i) filled_records_[i] = catalog_.variables[i].extendible ? catalog_.variables[i].shape.front() : 0;
  return verdict;
}

}  // namespace windrow
