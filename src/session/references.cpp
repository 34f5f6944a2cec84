// SPDX-License-Identifier: BSD-3-Clause
// The reference file for Zarr's readers: rank 0 finds where the chunks of all variables lie, and writes the text beside
// the file once that has its name.
#include "publication/references.hpp"

#include <fmt/format.h>

#include "comm/agree.hpp"
#include "comm/same.hpp"
#include "comm/share_text.hpp"
#include "session/file.hpp"

namespace windrow {

// By default those of netCDF sets, since their base files show other programs no array.
bool File::wants_references() const {
  const std::string wish = settings_.text("references");
  return wish == "kerchunk" || (wish == "auto" && subfiles_ && traits().grows_as_one);
}

ReferenceSources File::reference_sources(const PartChunks& chunks) const noexcept {
  return {catalog_, subfiles_.get(), chunks, *format_};
}

// Collective. The text anew for a file that is changed in place.
Status File::renew_references() {
  PartChunks chunks;
  if (Status verdict = collect_part_chunks(chunks); !verdict.ok())
    return verdict;
  const Status local = comm_->rank() != 0 ? Status{} : guard([&] {
    Status status = references_->make(reference_sources(chunks));
    return status.ok() ? references_->publish(settings_.boolean("durable")) : status;
  });
  return agree(*comm_, local);
}

Result<std::string> File::write_references(const std::string& path, const std::string& prefix, Status local) {
  const CallScope call(*comm_, Call::write_references, &identity_);
  if (Status before = end_pending(); !before.ok())
    return before;
  uint64_t arguments = 0;
  if (local.ok())
    local = guard([&]() -> Status {
      arguments = hash_of({path, prefix});
      if (mode_ != Mode::read)
        return {Code::bad_state, fmt::format("references: \"{}\" is not open for reading only; to write references of "
                                             "a new file, use the option references",
                                             path_)};
      return {};
    });
  if (Status verdict = agree_same(*comm_, std::move(local), arguments, "path or prefix of the references",
                                  [&] {
                                    return quoted({path, prefix});
                                  });
      !verdict.ok())
    return verdict;
  PartChunks chunks;
  if (Status verdict = collect_part_chunks(chunks); !verdict.ok())
    return verdict;
  std::string lines;
  local = comm_->rank() != 0 ? Status{} : guard([&] {
    auto found =
        write_reference_file(reference_sources(chunks), data_->path(), path, prefix, settings_.boolean("durable"));
    if (found.ok())
      lines = std::move(found).value();
    return found.status();
  });
  local = share_text_from_root(*comm_, std::move(local), lines);
  if (Status verdict = agree(*comm_, std::move(local)); !verdict.ok())
    return verdict;
  return lines;
}

}  // namespace windrow
