// SPDX-License-Identifier: BSD-3-Clause
// The stripes of a new file: from the option stripe or from the file's size, and in the formats of file systems.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "layout/layout.hpp"

namespace windrow {

// Values that are not set are left to the file system.
struct StripeNumbers {
  int64_t bytes = 0;
  int64_t count = 0;   // k_all_targets: all targets
  int64_t first = -1;  // the target of the first stripe
  // Copied from another file, never set by a user.
  int64_t object_bytes = 0;  // on CephFS
  bool overstriped = false;  // Lustre: several stripes may be on one target
  friend bool operator==(const StripeNumbers&, const StripeNumbers&) = default;
};
inline constexpr int64_t k_all_targets = -1;

// The option stripe. automatic: from the file's size, unless the site has set striping; site: the folder's striping.
struct StripeRequest {
  enum class Kind {
    automatic,
    site,
    numbers
  } kind = Kind::automatic;
  StripeNumbers numbers;
};

// bad_argument: neither "auto" nor "site" nor numbers such as "size=4MiB,count=8,first=3", each at most once. Sizes are
// multiples of 64 KiB below 4 GiB, as on Lustre and CephFS; count is 1 to 2000 or "all".
Result<StripeRequest> parse_stripes(std::string_view text);

// For a file of `expected_bytes` that `writers` write through buffers of `buffer_bytes`. A stripe has the size of a
// buffer, so that one request goes to one target. One target for every GiB, but no more targets than writers, since
// each writer would then access several. nullopt: one stripe suffices.
std::optional<StripeNumbers> stripes_for(int64_t expected_bytes, int64_t writers, int64_t buffer_bytes) noexcept;

// Whether a site has chosen this layout of a new file for large files: it has more than one stripe or component.
bool is_chosen(const StorageLayout& layout) noexcept;

// The numbers for another file with this layout; nullopt: it has more than one component, or is on a metadata server.
std::optional<StripeNumbers> numbers_of(const StorageLayout& layout) noexcept;

// Applies striping to a mock layout. The number of targets stays unless more stripes or another first target are
// requested. The object size stays if it is a multiple of the stripe size.
StorageLayout with_stripes(const StorageLayout& mock, const StripeNumbers& numbers);

// The argument of Lustre's LL_IOC_LOV_SETSTRIPE and the value of its attribute: struct lov_user_md_v1.
std::vector<std::byte> lustre_request(const StripeNumbers& numbers);

// The value of the attribute ceph.file.layout. The object size of `given` stays if it is a multiple of the stripe size.
std::string cephfs_request(const StripeNumbers& numbers, const StorageLayout& given);

std::string text_of(const StripeNumbers& numbers);  // "stripe size 4 MiB, stripe count 8"

}  // namespace windrow
