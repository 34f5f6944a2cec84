// SPDX-License-Identifier: BSD-3-Clause
// FileView: references to the parts of an open file that move its variables. So batching does not depend on session.
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

// Made for one call. The file outlives it.
struct FileView {
  Comm& comm;
  const OpenFile& identity;  // identifies the file in agreements
  const std::string& path;
  const Settings& settings;
  Metadata& metadata;
  DataFile& data;
  SubfileSet& set;
  const Subfiles* subfiles;  // the map of `set`; nullptr if the file is a single file
  Format* format;            // of rank 0; nullptr on other ranks
  const PartFormats& formats;
  WriteState& write_state;
  Publication& publication;
  const Striping& striping;
  const StripingOptions& striping_options;  // for probing the subfiles
  const StorageLayout* layout;              // domains are cut at its stripes; nullptr if there are no stripes
  const std::string& files_reason;          // why the library chose the number of files; "" if it was requested
  bool is_new = false;                      // the file is being created
  bool is_writable = false;
  bool is_explained = false;  // the plans are only explained: nothing moves, and no file changes
  bool is_cut_short = false;  // rank 0: the file was shorter than its variables when it was opened, so it is damaged
  bool is_on_local_disk = false;  // rank 0 has found a local disk
  int64_t metadata_opens = 0;     // how often this rank has opened files for metadata

  const Catalog& catalog() const noexcept { return metadata.catalog(); }
  AddressSpace space() const noexcept { return {catalog(), subfiles}; }
  FillManager filling() const noexcept {
    return FillManager({.comm = comm,
                        .space = space(),
                        .write_state = write_state,
                        .file = data,
                        .layout = layout,
                        .publication = publication});
  }
};

}  // namespace windrow
