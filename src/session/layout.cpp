// SPDX-License-Identifier: BSD-3-Clause
// Variables of a format that finds their places late: once all is defined, before anything moves. Where variables that
// are in the file already have to go elsewhere, all ranks copy them into a new file beside it, which then takes its
// name: no byte is moved over another, and a job that is killed leaves one whole file or the other.
#include <algorithm>
#include <set>
#include <utility>

#include "base/checked.hpp"
#include "base/paint.hpp"
#include "comm/agree.hpp"
#include "format/fill.hpp"
#include "metadata/broadcasts.hpp"
#include "session/file.hpp"
#include "storage/file_system.hpp"
#include "subfiling/copy.hpp"
#include "subfiling/strided_rows.hpp"

namespace windrow {

// Rank 0 alone: the stripes that the file has, one alone too, whatever its folder has been given since. Where they
// cannot be had they are the folder's, and nothing is set that the folder gives by itself. A mock's are what they were.
// Which OSDs have the objects is not asked again.
Result<Striping> File::stripe_as_before(const TemporaryFile& anew) const {
  if (striping_options_.mock) {
    const auto others = without_objects(striping_.layout);
    return Striping{others ? *others : striping_.layout, {}};
  }
  StripingOptions options = striping_options_;
  options.expected_bytes = 0;
  options.osds = OsdsBy::nobody;
  options.stripes = {StripeRequest::Kind::site, {}};
  auto given = stripe_temporary_file(options, anew, {});
  if (!given.ok())
    return given;
  const auto before = numbers_of(find_striping(options, data_->path()).layout);
  if (!before || before->count == 0 || before == numbers_of(given.value().layout))
    return given;
  options.stripes = {StripeRequest::Kind::numbers, *before};
  auto striped = stripe_temporary_file(options, anew, {});
  return striped.ok() ? striped : given;
}

// Rank 0 alone: the new places, and where the file has to be written anew the path of that, for all ranks.
Status File::lay_out_on_root(LayoutBroadcast& told, TemporaryFile& anew) {
  auto layout = format_->lay_out();
  if (!layout.ok())
    return layout.status();
  if (layout.value().moves) {
    auto temporary = start_temporary_file(is_temporary_file() ? publication_.temporary().final_path : data_->path());
    if (!temporary.ok())
      return temporary.status();
    anew = std::move(temporary).value();
    if (is_temporary_file())
      anew.final_path = data_->path();
    auto striped = stripe_as_before(anew);
    if (!striped.ok())
      return striped.status();
    told.layout = std::move(striped).value().layout;
    if (Status status = anew.held.follow(anew.temporary_path); !status.ok())
      return status;
    auto store = open_store(anew.temporary_path, StoreMode::update, {});
    if (!store.ok())
      return store.status();
    if (Status status = format_->write_anew(std::move(store).value()); !status.ok())
      return status;
    // A file of others may end before variables that nobody has written.
    const std::array whole{Extent{0, end_of(catalog_.variables)}};
    if (Status status = data_->extend(whole); !status.ok())
      return status;
    told.path = anew.temporary_path;
    told.file_number = file_number(anew.temporary_path);
  }
  told.placements = std::move(layout.value().placements);
  return {};
}

// Local.
Status File::learn_layout(std::span<const std::byte> bytes, LayoutBroadcast& layout) const {
  auto decoded = LayoutBroadcast::decode(bytes);
  if (!decoded.ok())
    return decoded.status();
  layout = std::move(decoded).value();
  if (layout.placements.size() != catalog_.variables.size())
    return {Code::internal, "internal error: a layout of other variables"};
  for (size_t i = 0; i < layout.placements.size(); ++i)
    layout.placements[i].big_endian = catalog_.variables[i].placement.big_endian;
  return {};
}

// Collective, agreed. Afterwards the places are in force on all ranks; after an error the file and they are as before,
// unless the file that was written anew has the name already.
Status File::place_variables(Status local) {
  std::vector<std::byte> told;
  LayoutBroadcast layout;
  std::shared_ptr<const StorageLayout> anew_layout;  // of the file that is written anew
  TemporaryFile anew;                                // rank 0
  if (local.ok())
    local = guard([&] { return cut_leftovers(); });
  if (subfiles_) {  // what the base file is going to know of is there before
    if (Status placed = place_subfiles(std::exchange(local, Status{})); !placed.ok())
      return placed;
  }
  if (comm_->rank() == 0 && local.ok())
    local = guard([&] { return subfiles_ ? set_.seal(*format_) : Status{}; });
  if (comm_->rank() == 0 && local.ok())
    local = guard([&] {
      Status status = lay_out_on_root(layout, anew);
      if (status.ok())
        told = layout.encode();
      return status;
    });
  local = share_from_root(*comm_, std::move(local), told);
  if (local.ok())
    local = guard([&] {
      Status status = learn_layout(told, layout);
      if (status.ok() && !layout.path.empty())
        anew_layout = std::make_shared<const StorageLayout>(layout.layout);
      return status;
    });
  Status verdict = agree(*comm_, std::move(local));
  is_cut_ = is_cut_ || verdict.ok();
  int64_t in_force = verdict.ok() && layout.path.empty() ? 1 : 0;
  if (verdict.ok() && !layout.path.empty()) {
    local = guard([&] {
      DataFile to(layout.path, true, data_->options());
      copy_variables(
          {catalog_.variables, layout.placements, comm_->rank(), comm_->size(), planner_.limits().buffer_bytes}, *data_,
          to);
      Status status = data_->take_status();
      status.update(to.take_status());
      if (settings_.boolean("durable") && !is_temporary_file())
        status.update(to.sync());
      status.update(to.close());
      if (subfiles_ && !is_temporary_file() && status.ok())
        status = set_.lengthen();
      if (subfiles_ && !is_temporary_file() && status.ok())
        status = subfiles_->flush_formats();
      return status;
    });
    Trace of_no_flush;
    data_->take_counters(of_no_flush);
    verdict = agree(*comm_, std::move(local));
    if (verdict.ok()) {
      bool named = false;
      local = comm_->rank() == 0 ? guard([&]() -> Status {
        const std::array renames{Rename{anew.temporary_path, anew.final_path, &anew.held}};
        if (Status status = publication_.check_replaceable(data_->path()); !status.ok())
          return status;
        Status status = publish(renames, settings_.boolean("durable") && !is_temporary_file(), {}, &named);
        if (named)
          format_->take_layout();
        if (named)
          publication_.take_over(std::move(anew.held));
        return status;
      })
                                 : Status{};
      in_force = named ? 1 : 0;
      verdict = agree(*comm_, std::move(local), Reduction{.maximum = std::span(&in_force, 1), .sum = {}, .bits = {}});
    }
  }
  if (in_force == 0) {
    if (!anew.temporary_path.empty())
      remove_temporary_file(anew);
    return verdict;
  }
  if (!layout.path.empty()) {
    (void)data_->close();  // of what had the name before: nothing of it is wanted any more
    data_->set_number(0, layout.file_number);
  }
  for (size_t i = 0; i < layout.placements.size(); ++i)
    metadata_.place(static_cast<int>(i), layout.placements[i]);
  planner_.cache().clear();
  if (anew_layout && *anew_layout != striping_.layout)
    take_layout(std::move(anew_layout));
  if (subfiles_)
    fit_line();
  unplaced_ = false;
  return verdict;
}

// What a job that was killed has put behind the last record that the file tells of would come back as records that
// nobody has written.
Status File::cut_leftovers() {
  if (!traits().grows_as_one || mode_ != Mode::update || is_cut_)
    return {};
  Status status = comm_->rank() == 0 ? format_->cut(first_records_) : Status{};
  return status.ok() && subfiles_ ? set_.cut(first_records_) : status;
}

void File::grow_as_one(size_t first) noexcept {
  count_bytes(metadata_.grow_as_one(first));
}

bool File::wants_records(size_t variable) const noexcept {
  const Variable& each = catalog_.variables[variable];
  return each.extendible && traits().grows_as_one && !each.fill.empty() &&
         write_state_[variable].filled_records < each.shape.front();
}

// Where the records lie that nobody has filled: in the file, or in those of a set.
std::vector<StridedRows> File::strided_rows_of_records(size_t variable) const {
  const Variable& each = catalog_.variables[variable];
  const int64_t first = write_state_[variable].filled_records, count = each.shape.front() - first;
  const auto rows_band = [&](int64_t offset, int64_t stride, int64_t row) {
    return StridedRows{.to = offset + first * stride, .to_stride = stride, .bytes = row, .count = count};
  };
  const SplitVariable* split = subfiles_ ? subfiles_->find(static_cast<int>(variable)) : nullptr;
  if (split == nullptr)
    return {rows_band(place_of(variable), each.placement.stride, row_bytes(each))};
  std::vector<StridedRows> strided_rows;
  for (int64_t part = 0; part < split->split.parts(); ++part)
    strided_rows.push_back(
        rows_band(subfiles_->place(*split, part), split->strides[static_cast<size_t>(part)], split->row_bytes(part)));
  return strided_rows;
}

// What this rank is about to write of new records of the variable of these puts; 0 where records might be written
// twice, so that nobody counts on it.
int64_t File::bytes_of_new_records(std::span<const QueuedRequest* const> puts) {
  std::set<int64_t> records;
  const SharedDecomposition* through = puts.front()->decomposition.get();
  const auto variable = static_cast<size_t>(puts.front()->variable);
  const Variable& target = catalog_.variables[variable];
  int64_t bytes = 0;
  for (const QueuedRequest* put : puts) {
    const QueuedRequest& entry = *put;
    if (entry.record < 0 || through != entry.decomposition.get() || !records.insert(entry.record).second)
      return 0;
    if (entry.record < write_state_[variable].filled_records)
      continue;
    const auto trailing = load(entry.decomposition->local(), std::span<const int64_t>(target.shape).subspan(1));
    if (!trailing.ok())
      return 0;
    const auto runs = runs_of(entry, trailing.value() * element_bytes(target.type, target.details), nullptr);
    if (!runs.ok())
      return 0;
    bytes += runs.value()->total;
  }
  return bytes;
}

// Collective. Records that nobody has filled are filled, unless this very flush writes all of them.
Status File::fill_records(Status local) {
  bool any = false;
  for (size_t i = 0; i < catalog_.variables.size(); ++i)
    any = any || wants_records(i);
  if (!any)
    return agree(*comm_, std::move(local));
  const std::span<int64_t> sums = std::span(places_).first(catalog_.variables.size());
  std::fill(sums.begin(), sums.end(), 0);
  if (local.ok())
    local = guard([&] {
      std::vector<const QueuedRequest*> puts;
      for (const QueuedRequest& entry : queue_)
        if (entry.put && wants_records(static_cast<size_t>(entry.variable)))
          puts.push_back(&entry);
      std::stable_sort(puts.begin(), puts.end(),
                       [](const QueuedRequest* a, const QueuedRequest* b) { return a->variable < b->variable; });
      for (auto begin = puts.begin(); begin != puts.end();) {
        const int variable = (*begin)->variable;
        const auto end =
            std::find_if(begin, puts.end(), [&](const QueuedRequest* each) { return each->variable != variable; });
        sums[static_cast<size_t>(variable)] = bytes_of_new_records({begin, end});
        begin = end;
      }
      return Status{};
    });
  if (Status verdict = agree(*comm_, std::move(local), Reduction{.maximum = {}, .sum = sums, .bits = {}});
      !verdict.ok())
    return verdict;
  local = guard([&] {
    std::vector<std::byte> buffer;
    for (size_t i = 0; i < catalog_.variables.size(); ++i) {
      if (!wants_records(i))
        continue;
      const Variable& variable = catalog_.variables[i];
      const std::vector<StridedRows> strided_rows = strided_rows_of_records(i);
      if (sums[i] == row_bytes(variable) * (variable.shape.front() - write_state_[i].filled_records))
        continue;
      constexpr int64_t k_buffer = int64_t{1} << 20;
      buffer.resize(static_cast<size_t>(k_buffer));
      for_each_part(strided_rows, comm_->rank(), comm_->size(), k_buffer,
                    [&](const StridedRows&, int64_t, int64_t to, int64_t at, int64_t length) {
                      const auto part = std::span(buffer).first(static_cast<size_t>(length));
                      paint(part, at % static_cast<int64_t>(variable.fill.size()), variable.fill);
                      data_->write(to, part);
                    });
    }
    return Status{};
  });
  local.update(data_->take_status());
  Status verdict = agree(*comm_, std::move(local));
  if (verdict.code() == Code::out_of_memory)
    return verdict;
  if (!verdict.ok()) {
    write_state_.set_moving([this](size_t i) { return i < catalog_.variables.size() && wants_records(i); });
    return undefined().add_names(std::move(verdict), &VariableState::moving);
  }
  for (size_t i = 0; i < catalog_.variables.size(); ++i)
    write_state_[i].filled_records = catalog_.variables[i].extendible ? catalog_.variables[i].shape.front() : 0;
  return verdict;
}

// On all ranks, or on none. What memory is wanted for is the report.
void File::take_layout(std::shared_ptr<const StorageLayout> layout) noexcept {
  (void)guard([&] {
    striping_.layout = *layout;
    report_.layout = layout_text(*layout);
    return Status{};
  });
  striping_.why.clear();  // of other stripes
  layout_ = layout->is_striped() ? std::move(layout) : nullptr;
  if (planner_.limits().layout) {
    planner_.limits().layout = layout_;
    if (layout_)
      planner_.limits().unit = lock_unit(*layout_);
  }
  data_->tally_by(layout_);
  if (recorder_)
    data_->record(&recorder_->recording(), subfiles_ ? nullptr : layout_);
}

// A set's base file has hardly anything but metadata.
Status File::stripe_on_root() {
  if (set_.wanted().files > 1)
    striping_options_.expected_bytes = 0;
  const int64_t writers =
      planner_.limits().writers > 0 ? planner_.limits().writers : static_cast<int64_t>(comm_->host_roots().size());
  auto striped = stripe_temporary_file(striping_options_, publication_.temporary(),
                                       {.count = writers, .buffer_bytes = planner_.limits().buffer_bytes});
  if (!striped.ok())
    return striped.status();
  striping_ = std::move(striped).value();
  return publication_.follow_temporary();  // to get other stripes may have been to become another file
}

}  // namespace windrow
