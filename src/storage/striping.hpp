// SPDX-License-Identifier: BSD-3-Clause
// Striping of files: queried when a file is opened, set when it is created. Only rank 0 calls it; src/session sends the
// result to the other ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/settings.hpp"
#include "base/status.hpp"
#include "layout/layout.hpp"
#include "layout/stripes.hpp"
#include "storage/ceph_osds.hpp"
#include "storage/layout_probe.hpp"
#include "storage/publish.hpp"

namespace windrow {

// The options layout, stripe, expected_bytes, file_system and ceph_osds.
struct StripingOptions {
  bool asks = true;                   // false for layout=none
  std::optional<StorageLayout> mock;  // replaces the answer of the file system
  StripeRequest stripes;
  int64_t expected_bytes = 0;
  FileSystem given = FileSystem::unknown;
  OsdsBy osds = OsdsBy::automatic;
};
Result<StripingOptions> striping_options(const Settings& settings);  // bad_argument

struct Striping {
  StorageLayout layout;
  std::string why;  // the reason, if the result may surprise; otherwise ""
};

// For an existing file.
Striping find_striping(const StripingOptions& options, const std::string& path,
                       const SystemCalls& calls = system_calls());

// The writers of a file, for stripe=auto.
struct StripingWriters {
  int64_t count = 1;
  int64_t buffer_bytes = 0;
};

// Sets the requested stripes of an empty temporary file and returns the actual ones. A file system without striping is
// noted in the result and is no error; rejected values are an error that names them.
Result<Striping> stripe_temporary_file(const StripingOptions& options, const TemporaryFile& temporary,
                                       const StripingWriters& writers, const SystemCalls& calls = system_calls());

// For a file that was recreated: its objects are new, and their OSDs unknown. nullptr: the layout has no objects.
std::shared_ptr<const StorageLayout> without_objects(const StorageLayout& layout);

// Number of targets of a file if known, otherwise 0.
int64_t targets_of(const StorageLayout& layout) noexcept;

void describe_striping(const Striping& striping, std::vector<std::string>& reasons);

}  // namespace windrow
