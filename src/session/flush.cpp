// SPDX-License-Identifier: BSD-3-Clause
// File: the queue and flushes. A flush allocates space for what is queued, then moves it.
#include <array>
#include <utility>

#include "comm/agree.hpp"
#include "comm/handle.hpp"
#include "comm/same.hpp"
#include "queueing/replicas.hpp"
#include "session/file.hpp"

namespace windrow {

Status File::queue(NewRequest request) {
  if (Status writable = request.put ? guard([&] { return check_writable("put"); }) : Status{}; !writable.ok()) {
    queue_.refuse(writable);
    return writable;
  }
  return queue_.add(std::move(request));
}

FileView File::view() noexcept {
  return {.comm = *comm_,
          .identity = identity_,
          .path = path(),
          .settings = settings_,
          .metadata = metadata_,
          .data = *data_,
          .set = set_,
          .subfiles = set_.map().get(),
          .format = format_.get(),
          .formats = part_formats_,
          .write_state = write_state_,
          .publication = publication_,
          .striping = storage_.striping,
          .striping_options = storage_.striping_options,
          .layout = storage_.layout.get(),
          .files_reason = set_.wanted().why,
          .is_new = mode_ == Mode::create,
          .is_writable = mode_ != Mode::read,
          .is_cut_short = opened_.ends_early,
          .is_on_local_disk = storage_.is_local_disk,
          .metadata_opens = opened_.metadata_opens};
}

// Collective. Checks the queued requests, and allocates space for them. The returned status is agreed. Afterwards
// `local` may be an error of this rank that the next agreement must include.
Status File::prepare_queue(Status& local) {
  local.update(queue_.take_refused());
  if (settings_.boolean("check_replicas"))
    if (Status checked = check_replicas(*comm_, std::exchange(local, Status{}), queue_.list().requests(),
                                        metadata_.catalog().variables);
        !checked.ok())
      return checked;
  if (allocator_.is_unplaced()) {
    const bool is_refused = !local.ok();
    if (Status placed = place_variables(std::exchange(local, Status{})); !placed.ok())
      if (!reads_what_has_places(is_refused))
        return placed;
  }
  if (!may_extend())
    return {};
  if (Status grown = extend_for_queue(std::exchange(local, Status{})); !grown.ok())
    return grown;
  return traits().grows_as_one ? fill_records(Status{}) : Status{};
}

Status File::flush(Status local) {
  const CallScope call(*comm_, Call::flush, &identity_);
  if (Status before = end_pending(); !before.ok()) {
    drop_queue();
    return before;
  }
  flush_.begin(view());
  Status verdict = prepare_queue(local);
  if (verdict.ok())
    verdict = flush_.move(view(), queue_.list(), std::move(local));
  flush_.end(view(), verdict, queue_.list());
  drop_queue();
  return verdict;
}

Status File::flush_begin() {
  const CallScope call(*comm_, Call::flush_begin, &identity_);
  if (Status before = end_pending(); !before.ok()) {
    drop_queue();
    return before;
  }
  flush_.begin(view());
  Status local;
  Status verdict = prepare_queue(local);
  if (verdict.ok())
    verdict = flush_.begin_pending(view(), queue_.list(), std::move(local));
  if (!verdict.ok())
    flush_.cancel(view(), verdict, queue_.list());
  drop_queue();
  return verdict;
}

Status File::flush_end() {
  const CallScope call(*comm_, Call::flush_end, &identity_);
  if (Status status = check_in_step(identity_); !status.ok())
    return status;
  if (!flush_.is_pending())
    return {Code::bad_state, "flush_end: no flush is in progress"};
  return flush_.end_pending(view());
}

// Every collective call on an open file except close() begins here. After the end of MPI rank 0 must not call a format,
// because its library may use MPI.
Status File::end_pending() {
  if (Status status = check_in_step(identity_); !status.ok())
    return status;
  if (!mpi_is_running())
    return agree(*comm_, Status{});  // returns the error that MPI has ended, without communication
  return flush_.is_pending() ? flush_end() : Status{};
}

// Collective. Whether all queued requests are gets of variables that have places, and no rank has an error of its own
// (`is_refused`). They can be read although later definitions could not be placed.
bool File::reads_what_has_places(bool is_refused) {
  const AddressSpace space = view().space();
  const bool moved = set_.map() && set_.map()->moved();  // the other ranks do not have the new places
  const auto requests = queue_.list().requests();
  const bool only =
      !is_refused && !moved && std::all_of(requests.begin(), requests.end(), [&](const QueuedRequest& entry) {
        return !entry.put && space.has_place(static_cast<size_t>(entry.variable));
      });
  std::array<int64_t, 2> found{only ? 0 : 1, requests.empty() ? 0 : 1};
  return agree(*comm_, Status{}, Reduction{.maximum = found, .sum = {}, .bits = {}}).ok() && found[0] == 0 &&
         found[1] == 1;
}

Result<std::string> File::explain(bool json, Status local) {
  const CallScope call(*comm_, Call::explain, &identity_);
  if (Status before = end_pending(); !before.ok())
    return before;  // an explanation may drop plans from the cache, which a pending flush uses
  if (Status verdict = agree_same(*comm_, std::move(local), json ? 4 : 8, "the formats of the explanation");
      !verdict.ok())
    return verdict;
  SpaceBefore before;
  Status verdict = predict_space(queue_.refused(), before);
  std::string text;
  if (verdict.ok()) {
    FileView file = view();
    file.is_explained = true;
    verdict = flush_.explain(file, queue_.list(), Status{}, json, text);
  }
  restore_space(std::move(before));
  if (!verdict.ok())
    return verdict;
  return text;
}

void File::drop_queue() {
  queue_.clear();
}

// Local. Allocates memory for reductions over this number of variables.
Status File::grow_reduction(size_t variables) {
  if (Status status = flush_.grow(variables); !status.ok())
    return status;
  return guard([&] {
    allocator_.reserve(variables);
    write_state_.grow(variables);
    return Status{};
  });
}

std::string File::report(bool json) const {
  return json ? report_json(flush_.report()) : report_text(flush_.report());
}

}  // namespace windrow
