// SPDX-License-Identifier: BSD-3-Clause
// The flushes of a file: space is allocated for what is queued, and then it moves.
#include <array>
#include <utility>

#include "comm/agree.hpp"
#include "comm/handle.hpp"
#include "comm/same.hpp"
#include "queueing/replicas.hpp"
#include "session/file.hpp"

namespace windrow {

Status File::queue(bool put, int variable, std::shared_ptr<SharedDecomposition> decomposition, std::byte* data,
                   int64_t record, std::optional<Type> type) {
  if (Status writable = put ? guard([&] { return check_writable("put"); }) : Status{}; !writable.ok()) {
    queue_.refuse(writable);
    return writable;
  }
  return queue_.add(put, variable, std::move(decomposition), data, record, type);
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

// Collective. Checks what is queued, and gives it room. An error that is returned is agreed; `local` may be an error of
// this rank that is not yet.
Status File::prepare_queue(Status& local) {
  local.update(queue_.take_refused());
  if (settings_.boolean("check_replicas"))
    if (Status checked = check_replicas(*comm_, std::exchange(local, Status{}), queue_.list().requests(),
                                        metadata_.catalog().variables);
        !checked.ok())
      return checked;
  if (allocator_.is_unplaced())
    if (Status placed = place_variables(std::exchange(local, Status{})); !placed.ok())
      if (!reads_what_has_places())
        return placed;
  if (!metadata_.may_grow() || mode_ == Mode::read)
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

// Every collective call on an open file begins here, but for close(): after the end of MPI rank 0 must not ask a
// format, whose library may use it.
Status File::end_pending() {
  if (Status status = check_in_step(identity_); !status.ok())
    return status;
  if (!mpi_is_running())
    return agree(*comm_, Status{});  // which says so, without communication
  return flush_.is_pending() ? flush_end() : Status{};
}

// Collective: whether all that is queued are gets of variables that have places. They are there, though what was
// defined since finds no room.
bool File::reads_what_has_places() {
  const auto has_places = [this](const QueuedRequest& entry) {
    const SplitVariable* split = set_.map() ? set_.map()->find(entry.variable) : nullptr;
    if (split == nullptr)
      return metadata_.variable(entry.variable).placement.offset >= 0;
    return std::none_of(split->offsets.begin(), split->offsets.end(), [](int64_t offset) { return offset < 0; });
  };
  const bool moved = set_.map() && set_.map()->moved();  // and the other ranks do not know it
  const auto requests = queue_.list().requests();
  const bool only = !moved && std::all_of(requests.begin(), requests.end(),
                                          [&](const QueuedRequest& entry) { return !entry.put && has_places(entry); });
  std::array<int64_t, 2> found{only ? 0 : 1, requests.empty() ? 0 : 1};
  return agree(*comm_, Status{}, Reduction{.maximum = found, .sum = {}, .bits = {}}).ok() && found[0] == 0 &&
         found[1] == 1;
}

// Where ranks outnumber cores, one that waits for the storage gives its core to the others as it is: a thread was no
// faster there.
bool File::wants_io_thread() const {
  const std::string wish = settings_.text("io_thread");
  if (wish != "auto")
    return wish == "on";
  return usable_cores() > comm_->host_size();
}

Result<std::string> File::explain(bool json, Status local) {
  const CallScope call(*comm_, Call::explain, &identity_);
  if (Status before = end_pending(); !before.ok())
    return before;  // plans may be made, and others dropped from the cache
  if (Status verdict = agree_same(*comm_, std::move(local), json ? 4 : 8, "the formats of the explanation");
      !verdict.ok())
    return verdict;
  local = queue_.refused();
  if (allocator_.is_unplaced())
    if (Status placed = place_variables(std::exchange(local, Status{})); !placed.ok())
      return placed;
  if (metadata_.may_grow() && mode_ != Mode::read)
    if (Status grown = extend_for_queue(std::exchange(local, Status{})); !grown.ok())
      return grown;
  std::string text;
  if (Status verdict = flush_.explain(view(), queue_.list(), std::move(local), json, text); !verdict.ok())
    return verdict;
  return text;
}

void File::drop_queue() {
  queue_.clear();
}

// Local: memory for what ranks tell each other of so many variables.
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
