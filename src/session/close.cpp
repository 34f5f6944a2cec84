// SPDX-License-Identifier: BSD-3-Clause
// File: sync and close. All data is stored, then rank 0 publishes the file, with its references for Zarr's readers.
#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "comm/agree.hpp"
#include "comm/handle.hpp"
#include "comm/share_text.hpp"
#include "session/file.hpp"

namespace windrow {
// Rank 0. Removes everything of a new file that has no final name.
void File::abandon() noexcept {
  (void)guard([&] { return format_ ? format_->close() : Status{}; });
  format_.reset();
  if (set_.map() && is_temporary_file() && !publication_.temporary().temporary_path.empty())
    (void)guard([&] { return set_.map()->close_formats(); });
  publication_.abandon();
}

PublishInputs File::publish_inputs() const {
  return {metadata_.catalog(), format_.get(), settings_.boolean("durable"), storage_.store_options};
}

// Rank 0. All data is in place, and every rank has closed its store or, at a sync, stored it.
Status File::publish_on_root(FolderLock& turn) {
  references_.decide();
  return publication_.publish(publish_inputs(), turn);
}

Status File::sync() {
  const CallScope call(*comm_, Call::sync, &identity_);
  if (Status before = end_pending(); !before.ok())
    return before;
  if (Status status = check_writable("sync"); !status.ok())
    return agree(*comm_, std::move(status));
  if (Status status = flush(); !status.ok())
    return status;
  if (publication_.has_failed())
    return publication_.failure();
  if (Status status = filling().fill_rest(); !status.ok())
    return status;
  Status stored = undefined().end_sync(store_all());
  return is_temporary_file() ? publish_first(std::move(stored)) : publish_changes(std::move(stored));
}

// Collective, agreed. Afterwards the operating system has all data and metadata. With `durable` they are on stable
// storage, except for the metadata of a new file, which are synced when it is published.
Status File::store_all() {
  const bool durable = settings_.boolean("durable");
  Status local = durable ? data_->sync() : Status{};
  if (set_.map())
    local = agree(*comm_, std::move(local));
  if (set_.map() && local.ok())
    local = finish_subfiles(false);
  if (comm_->rank() == 0) {
    const Status named = guard([&] { return publication_.check_name(data_->path()); });
    // The subfiles come first: the base file must not refer to anything that they do not have.
    const bool has_subfiles = local.ok() && set_.map();
    if (named.ok() && (local.ok() || !set_.map()))
      local.update(guard([&] { return format_->flush(); }));
    local.update(named);
    if (has_subfiles && !local.ok())
      (void)set_.accept_others(*format_);
    if (durable && !is_temporary_file())
      local.update(data_sync_on_root());
  }
  return agree(*comm_, std::move(local));
}

// Collective, after a sync of a file that is changed in place.
Status File::publish_changes(Status stored) {
  if (stored.ok())
    stored = references_.renew();
  if (!stored.ok() || !grids_.changed)
    return stored;
  const auto publish = [&] { return publication_.publish_sidecars(publish_inputs()); };
  if (Status verdict = agree(*comm_, comm_->rank() == 0 ? guard(publish) : Status{}); !verdict.ok())
    return verdict;
  grids_.changed = false;
  return {};
}

// Collective, agreed. All ranks get the final path of a new file before it is renamed, since nothing may fail
// afterwards.
Status File::share_final_path(std::string& path) {
  Status local = comm_->rank() != 0 ? Status{} : guard([&] {
    path = publication_.temporary().final_path;
    return Status{};
  });
  local = share_text_from_root(*comm_, std::move(local), path);
  if (set_.map() && local.ok())
    local = guard([&] {
      set_.prepare_move(path);
      return Status{};
    });
  return agree(*comm_, std::move(local));
}

// Collective, after the first sync of a new file. The file gets its final name.
Status File::publish_first(Status stored) {
  // After a failed sync the system may have dropped the data from its memory. A second sync would then succeed although
  // the data is lost (Rebello et al., "Can Applications Recover from fsync Failures?", USENIX ATC 2020, section 3).
  if (!stored.ok() && stored.code() != Code::out_of_memory)
    publication_.fail(stored);
  if (!stored.ok())
    return stored;
  std::string final_path;
  if (Status verdict = share_final_path(final_path); !verdict.ok())
    return verdict;
  Status local = comm_->rank() != 0 ? Status{} : guard([&] {
    FolderLock turn;
    return publish_on_root(turn);
  });
  int64_t named = is_temporary_file() ? 0 : 1;
  Status verdict = agree(*comm_, std::move(local), Reduction{.maximum = std::span(&named, 1), .sum = {}, .bits = {}});
  if (named == 0)
    return verdict;
  // From here on the file is changed in place, also if the rename could not be synced.
  publication_.set_published();
  grids_.changed = false;
  if (set_.map())
    set_.move();
  data_->rename(std::move(final_path));
  return verdict.ok() ? references_.renew() : verdict;
}

// Local. Closes the store of this rank, if it is open.
Status File::close_data(bool durable) {
  Status status = durable ? data_->sync() : Status{};
  status.update(data_->close());
  return status;
}

// Local. Closes what this rank has open; rank 0 also removes a new file. For a close without the other ranks.
void File::close_alone() noexcept {
  flush_.drop_pending();
  drop_queue();
  if (data_)
    (void)data_->close();
  if (format_ && set_.map())
    format_->drop_changes();  // the base file must not refer to anything that its subfiles do not have
  if (comm_->rank() == 0)
    abandon();
}

// Collective, agreed, before the base file is closed. `verdict`: the agreed status of the close so far. `local`: the
// status of closing this rank's data. Sets `chunks` to the chunks in the subfiles, for the references.
Status File::close_subfiles(Status verdict, Status local, bool publish, PartChunks& chunks) {
  Status finished = agree(*comm_, std::move(local));
  if (verdict.ok() && finished.ok() && publish && references_.are_wanted())
    verdict = references_.collect(chunks);
  if (finished.ok())
    finished = finish_subfiles(true);
  if (!finished.ok() && format_)
    format_->drop_changes();  // the base file must not refer to anything that its subfiles do not have
  verdict.update(std::move(finished));
  return verdict;
}

// Collective. Moves the queued requests, and fills what was never written, unless the file is discarded.
Status File::move_rest(bool publish) {
  Status verdict = publish ? end_pending() : Status{};
  flush_.drop_pending();
  if (publish && verdict.ok())
    verdict = flush();
  if ((publish || !is_temporary_file()) && verdict.ok())
    verdict = filling().fill_rest();
  drop_queue();
  if (publish && publication_.has_failed())
    verdict.update(publication_.failure());
  return verdict;
}

// Collective. The last agreement of the file, in which rank 0 finishes the file after all ranks have stored their data.
Status File::finish(Status local, bool publish, const PartChunks& chunks) {
  // 0 on all ranks if no other file uses the communicator, and the user may have freed it.
  int64_t stays_open = Comm::is_last(comm_) ? 0 : 1;
  const Reduction reduction{.maximum = {}, .sum = {}, .bits = std::span(&stays_open, 1)};
  Status verdict = agree_and_work(*comm_, std::move(local), reduction, [&](const Reduction&) {
    Status finished = finish_on_root(publish, chunks);
    if (!format_)
      publication_.let_go();  // another rank may open the file at once
    return finished;
  });
  if (comm_->rank() == 0)
    abandon();
  if (stays_open == 0 && verdict.code() != Code::mpi)
    Comm::end(comm_);
  return verdict;
}

Status File::close(bool publish) {
  const CallScope call(*comm_, publish ? Call::close : Call::discard, &identity_);
  // The ranks are not in step: the other ranks do not make this call, or do not wait in it.
  if (Status lost = check_in_step(identity_); !lost.ok()) {
    close_alone();
    return publish ? lost : Status{};
  }
  if (!mpi_is_running()) {
    flush_.drop_pending();
    if (data_)
      (void)data_->close();
    return {Code::bad_state, fmt::format("\"{}\" is closed after MPI_Finalize: {}", path(),
                                         is_temporary_file() ? "it is not published" : "queued requests are lost")};
  }
  const bool changes = mode_ != Mode::read, remains = publish || !is_temporary_file(),
             in_place = changes && !is_temporary_file();
  Status verdict = move_rest(publish);
  const bool moved = verdict.ok();
  Status local = close_data(publish && changes && settings_.boolean("durable"));
  PartChunks chunks;
  if (set_.map() && changes && remains)
    verdict = close_subfiles(std::move(verdict), std::exchange(local, Status{}), publish, chunks);
  Status last = finish(publish ? std::move(local) : Status{}, publish && verdict.ok(), chunks);
  verdict.update(std::move(last));
  return moved && in_place ? undefined().end_sync(std::move(verdict)) : verdict;
}

// Rank 0. `publish`: all data is in place, and the file is to be published.
Status File::finish_on_root(bool publish, const PartChunks& chunks) {
  const bool changes = mode_ != Mode::read, refers = publish && changes && references_.are_wanted();
  if (Status status = changes ? publication_.check_name(data_->path()) : Status(); !status.ok()) {
    if (format_) {
      format_->drop_changes();
      if (set_.map())
        (void)set_.accept_others(*format_);
    }
    (void)close_format_on_root();
    return publish ? status : Status{};
  }
  if (refers)
    if (Status status = references_.make(chunks); !status.ok())
      return status;
  if (publish || mode_ != Mode::create)
    if (Status status = close_format_on_root(); !status.ok())
      return publish ? status : Status{};
  return publish && changes ? publish_closed_on_root(refers) : Status{};
}

// Rank 0. The format is closed. `refers`: references_ has made the text.
Status File::publish_closed_on_root(bool refers) {
  FolderLock turn;  // locked until the references are published too: another program might replace the file before
  if (is_temporary_file()) {
    if (Status status = publish_on_root(turn); !status.ok())
      return status;
  } else {
    if (settings_.boolean("durable"))
      if (Status status = data_sync_on_root(); !status.ok())
        return status;
    if (Status status = publication_.publish_sidecars(publish_inputs()); !status.ok())
      return status;
  }
  // A new file without split variables is a single file. Nothing refers to its folder, which is empty.
  if (mode_ == Mode::create && set_.map() && set_.map()->used() == 0)
    (void)guard([&] {
      std::error_code ignored;
      std::filesystem::remove(set_.final_folder(publication_.temporary().final_path), ignored);
      return Status{};
    });
  return refers ? references_.publish() : Status{};
}

// Rank 0.
Status File::close_format_on_root() {
  Status status = guard([&] { return format_->close(); });
  format_.reset();
  return status;
}

// Rank 0. Writes the metadata of a file that is changed in place to stable storage.
Status File::data_sync_on_root() {
  return guard([&]() -> Status {
    auto store = open_store(data_->path(), StoreMode::update, StoreOptions{});
    if (!store.ok())
      return store.status();
    Status status = store.value()->sync();
    status.update(store.value()->close());
    return status;
  });
}

Result<std::string> File::write_references(const std::string& path, const std::string& prefix, Status local) {
  const CallScope call(*comm_, Call::write_references, &identity_);
  if (Status before = end_pending(); !before.ok())
    return before;
  if (local.ok() && mode_ != Mode::read)
    local = guard([&] {
      return Status(Code::bad_state, fmt::format("references: \"{}\" is not open for reading only; to write references "
                                                 "of a new file, use the option references",
                                                 metadata_.path()));
    });
  return references_.write(data_->path(), path, prefix, std::move(local));
}

}  // namespace windrow
