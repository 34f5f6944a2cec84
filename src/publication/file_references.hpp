// SPDX-License-Identifier: BSD-3-Clause
// FileReferences: the references of an open file for Zarr's readers. Decides whether the file has references, and
// collects the chunks of all ranks for them. KerchunkSidecar, which the publication owns, has the text on rank 0.
#pragma once

#include <memory>
#include <string>

#include "base/settings.hpp"
#include "base/status.hpp"
#include "comm/comm.hpp"
#include "publication/kerchunk_sidecar.hpp"
#include "publication/publication.hpp"
#include "subfiling/subfile_set.hpp"

namespace windrow {

class FileReferences {
 public:
  // All must outlive this object.
  struct Parts {
    Comm& comm;
    const Settings& settings;
    const Catalog& catalog;
    const FormatTraits& traits;
    SubfileSet& set;
    const std::unique_ptr<Format>& format;  // of rank 0
  };
  explicit FileReferences(const Parts& parts) noexcept : parts_(parts) {}

  // Called on all ranks, with the same result.

  // By default netCDF sets have references, since other programs do not see the split variables in their base files.
  bool are_wanted() const;
  // Collective, agreed. Sets `chunks` on rank 0 to the chunks in the subfiles.
  Status collect(PartChunks& chunks);
  // Collective, agreed. Makes and publishes the references of a file that is changed in place again, if it has some.
  Status renew();
  // Collective, agreed. Writes the references of the file at `file` to `path`: see write_reference_file(). The lines
  // are returned on all ranks.
  Result<std::string> write(const std::string& file, const std::string& path, const std::string& prefix, Status local);

  // Called on rank 0, for a file that is written.

  // Adds the sidecar. `shown`, `path`, `is_new`: see KerchunkSidecar.
  void add_to(Publication& publication, const std::string& shown, const std::string& path, bool is_new) {
    sidecar_ = &publication.add<KerchunkSidecar>(shown, path, is_new);
  }
  // If they are wanted, makes the temporary file of a new file's references.
  Status start(const TemporaryFile& file) { return are_wanted() ? sidecar_->start(file) : Status{}; }
  // Before the file is published. Afterwards it is certain whether they are wanted.
  void decide() { sidecar_->want(are_wanted()); }
  // The two steps of KerchunkSidecar.
  Status make(const PartChunks& chunks) { return sidecar_->make(sources(chunks)); }
  Status publish() { return sidecar_->publish(parts_.settings.boolean("durable")); }

 private:
  ReferenceSources sources(const PartChunks& chunks) const noexcept {
    return {parts_.catalog, parts_.set.map().get(), chunks, *parts_.format};
  }

  Parts parts_;
  KerchunkSidecar* sidecar_ = nullptr;  // rank 0; the publication owns it
};

}  // namespace windrow
