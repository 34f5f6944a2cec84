// SPDX-License-Identifier: BSD-3-Clause
// File: allocation of space before a flush moves data. File calls SpaceAllocator and LatePlacement in the right order:
// subfiles before the base file that refers to them. Then it drops what was derived from the old places.
#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "allocation/late_placement.hpp"
#include "batching/record_requests.hpp"
#include "comm/agree.hpp"
#include "session/file.hpp"

namespace windrow {

LatePlacement File::late_placement() noexcept {
  return LatePlacement({.comm = *comm_,
                        .metadata = metadata_,
                        .publication = publication_,
                        .format = format_.get(),
                        .file = *data_,
                        .striping = storage_.striping,
                        .striping_options = storage_.striping_options,
                        .buffer_bytes = flush_.planner().limits().buffer_bytes,
                        .durable = settings_.boolean("durable")});
}

// Collective, agreed. After an error the file and the places are as before, unless the rewritten file already has the
// name.
Status File::place_variables(Status local) {
  if (local.ok())
    local = guard([&] { return allocator_.cut_leftovers(formats()); });
  if (set_.map())  // subfiles come first, since the base file refers to them
    if (Status placed = place_subfiles(std::exchange(local, Status{})); !placed.ok())
      return placed;
  if (comm_->rank() == 0 && local.ok())
    local = guard([&] { return set_.map() ? set_.write_checksum(*format_) : Status{}; });
  LatePlacement placement = late_placement();
  const auto complete_subfiles = [&]() -> Status {
    Status status = set_.map() ? set_.lengthen() : Status{};
    return set_.map() && status.ok() ? set_.map()->flush_formats() : status;
  };
  Status verdict = placement.place(std::move(local), complete_subfiles);
  if (placement.is_laid_out())
    allocator_.mark_cut();
  if (!placement.is_in_force())
    return verdict;
  flush_.forget_plans();
  if (placement.new_layout() && *placement.new_layout() != storage_.striping.layout)
    take_layout(placement.new_layout());
  if (set_.map())
    fit_line();
  allocator_.mark_placed();
  return verdict;
}

// Collective. One agreement, and one more if a variable gets a place or grows.
Status File::extend_for_queue(Status local) {
  const std::span<int64_t> wanted = allocator_.start_wanted();
  if (local.ok())
    local = guard([&] { return count_wanted(queue_.list(), view(), wanted); });
  if (Status verdict = allocator_.agree_on_wanted(std::move(local)); !verdict.ok())
    return verdict;
  if (Status verdict =
          InlineVariables(view(), queue_.run_options(), flush_.engine().trace).write(queue_.list(), wanted);
      !verdict.ok())
    return verdict;
  if (Status verdict = allocator_.give_places(format_.get()); !verdict.ok())
    return verdict;
  if (!allocator_.any_grows())
    return {};
  // The caches know the old lengths.
  const auto forget = [&](int variable) { flush_.forget_chunks_of(variable, metadata_.variable(variable).path); };
  if (Status verdict = allocator_.extend(formats(), forget); !verdict.ok())
    return verdict;
  update_set();
  return {};
}

// Collective.
Status File::fill_records(Status local) {
  if (!filling().any_unfilled_records())
    return agree(*comm_, std::move(local));
  const std::span<int64_t> written = allocator_.start_sums();
  if (local.ok())
    local = guard([&] { return count_new_records(queue_.list(), view(), queue_.run_options(), written); });
  return filling().fill_records(std::move(local), written);
}

// Collective, agreed. Enters the places and the lengths that the next flush would give to variables into the metadata,
// so that it can be planned. No file changes. The caller calls restore_space(before), also after an error.
Status File::predict_space(Status local, SpaceBefore& before) {
  const bool is_needed = allocator_.is_unplaced() || may_extend();
  if (local.ok() && is_needed)
    local = guard([&] {
      before.space = metadata_.space();
      if (set_.map())
        before.parts = set_.map()->places();
      return Status{};
    });
  if (Status verdict = agree(*comm_, std::move(local)); !verdict.ok() || !is_needed)
    return verdict;
  if (allocator_.is_unplaced()) {
    before.is_changed = true;
    flush_.forget_plans();  // they refer to the places before
    if (Status placed = predict_places(); !placed.ok())
      if (!reads_what_has_places(false))
        return placed;
  }
  if (!may_extend())
    return {};
  bool grows = false;
  Status verdict = predict_growth(grows);
  if (grows && !before.is_changed)
    flush_.forget_plans();
  before.is_changed = before.is_changed || grows;
  return verdict;
}

// Collective, agreed.
Status File::predict_places() {
  if (set_.map())
    if (Status placed = set_.predict_places(); !placed.ok())
      return placed;
  Status verdict = late_placement().predict(Status{});
  if (set_.map())
    (void)set_.fit_line(line_unit());
  return verdict;
}

// Collective, agreed. `grows`: the metadata have changed.
Status File::predict_growth(bool& grows) {
  const std::span<int64_t> wanted = allocator_.start_wanted();
  std::array<int64_t, 1> end{};
  FormatOptions options;
  Status local = guard([&] {
    std::error_code unknown;
    const auto bytes = comm_->rank() == 0 ? std::filesystem::file_size(data_->path(), unknown) : 0;
    end[0] = unknown ? 0 : static_cast<int64_t>(bytes);
    options = format_options();
    return count_wanted(queue_.list(), view(), wanted);
  });
  if (Status verdict = allocator_.agree_on_wanted(std::move(local), end); !verdict.ok())
    return verdict;
  grows = allocator_.predict(end[0], options);
  if (grows && set_.map()) {
    set_.predict_records();
    (void)set_.fit_line(line_unit());
  }
  return {};
}

void File::restore_space(SpaceBefore before) noexcept {
  if (!before.is_changed)
    return;
  metadata_.restore(*before.space);
  if (before.parts)
    set_.restore(std::move(*before.parts));
  flush_.forget_plans();
}

SpaceAllocator::Formats File::formats() noexcept {
  return {.base = format_.get(), .set = set_, .file = *data_};
}

// Local; all ranks call it. Only the text for the report needs memory, so nothing else can fail.
void File::take_layout(std::shared_ptr<const StorageLayout> layout) noexcept {
  (void)guard([&] {
    storage_.striping.layout = *layout;
    flush_.report().layout = layout_text(*layout);
    return Status{};
  });
  storage_.striping.why.clear();  // the reason was that of the old stripes
  storage_.layout = layout->is_striped() ? std::move(layout) : nullptr;
  if (flush_.planner().limits().layout) {
    flush_.planner().limits().layout = storage_.layout;
    if (storage_.layout)
      flush_.planner().limits().unit = lock_unit(*storage_.layout);
  }
  data_->tally_by(storage_.layout);
  record_data();
}

// Rank 0. Most data of a set is in its subfiles, so its base file is striped as a small file.
Status File::stripe_on_root() {
  if (set_.wanted().files > 1)
    storage_.striping_options.expected_bytes = 0;
  const int64_t writers = flush_.planner().limits().writers > 0 ? flush_.planner().limits().writers
                                                                : static_cast<int64_t>(comm_->host_roots().size());
  auto striped = stripe_temporary_file(storage_.striping_options, publication_.temporary(),
                                       {.count = writers, .buffer_bytes = flush_.planner().limits().buffer_bytes});
  if (!striped.ok())
    return striped.status();
  storage_.striping = std::move(striped).value();
  return publication_.follow_temporary();  // setting stripes may have replaced the temporary file
}

}  // namespace windrow
