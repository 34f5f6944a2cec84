// SPDX-License-Identifier: BSD-3-Clause
// How the storage spreads the file: asked for when it is opened, and told when it is created. Rank 0 alone; session
// tells the others.
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
  bool asks = true;                   // layout=none does not
  std::optional<StorageLayout> mock;  // instead of what the file system would say
  StripeRequest stripes;
  int64_t expected_bytes = 0;
  FileSystem told = FileSystem::unknown;
  OsdsBy osds = OsdsBy::automatic;
};
Result<StripingOptions> striping_options(const Settings& settings);  // bad_argument

struct Striping {
  StorageLayout layout;
  std::string why;  // it is so, where somebody might wonder; "" else
};

// Of a file that exists.
Striping find_striping(const StripingOptions& options, const std::string& path,
                       const SystemCalls& calls = system_calls());

// Who will write it, for stripe=auto.
struct StripingWriters {
  int64_t count = 1;
  int64_t buffer_bytes = 0;
};

// Gives an empty temporary the stripes that are asked for, and says which it has then. Where a file system has no
// stripes to set, that is said and is no error; that it refuses numbers that were asked for is one, and names them.
Result<Striping> stripe_temporary_file(const StripingOptions& options, const TemporaryFile& temporary,
                                       const StripingWriters& writers, const SystemCalls& calls = system_calls());

// Of a file that was written anew: its objects are others, and on which OSDs nobody has asked. nullptr: nothing of that
// is in the layout.
std::shared_ptr<const StorageLayout> without_objects(const StorageLayout& layout);

// That a file is spread over, where it is known; else 0.
int64_t targets_of(const StorageLayout& layout) noexcept;

void describe_striping(const Striping& striping, std::vector<std::string>& reasons);

}  // namespace windrow
