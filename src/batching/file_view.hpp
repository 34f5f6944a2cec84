// SPDX-License-Identifier: BSD-3-Clause
// FileView: what it takes of an open file to move its variables.
#pragma once

#include <cstdint>
#include <string>

#include "base/settings.hpp"
#include "batching/part_formats.hpp"
#include "comm/comm.hpp"
#include "dataio/data_file.hpp"
#include "filling/fill_manager.hpp"
#include "format/format.hpp"
#include "metadata/metadata.hpp"
#include "publication/publication.hpp"
#include "storage/striping.hpp"
#include "subfiling/address_space.hpp"
#include "subfiling/subfile_set.hpp"
#include "subfiling/subfiles.hpp"
#include "varstate/write_state.hpp"

namespace windrow {

// Made for one call. What it refers to outlives the call.
struct FileView {
  Comm& comm;
  const OpenFile& identity;  // by which agreements know it
  const std::string& path;
  const Settings& settings;
  Metadata& metadata;
  DataFile& data;
  SubfileSet& set;
  const Subfiles* subfiles;  // of the set; nullptr: the file is one
  Format* format;            // rank 0
  const PartFormats& formats;
  WriteState& write_state;
  Publication& publication;
  const Striping& striping;
  const StripingOptions& striping_options;  // how the files of a set are probed
  const StorageLayout* layout;              // by which domains are cut; nullptr: no stripes
  const std::string& files_reason;          // why there are so many files; "": as requested
  bool is_new = false;                      // the file is being created
  bool is_writable = false;
  bool is_cut_short = false;      // when it was opened it ended before its variables: it is damaged
  bool is_on_local_disk = false;  // as rank 0 sees it
  int64_t metadata_opens = 0;     // of this rank, for metadata

  const Catalog& catalog() const noexcept { return metadata.catalog(); }
  AddressSpace space() const noexcept { return {catalog(), subfiles}; }
  FillManager filling() const noexcept {
    return FillManager({.comm = comm,
                        .space = space(),
                        .write_state = write_state,
                        .file = data,
                        .layout = layout,
                        .publication = publication,
                        .grows_as_one = metadata.traits().grows_as_one});
  }
};

}  // namespace windrow
