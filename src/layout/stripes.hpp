// SPDX-License-Identifier: BSD-3-Clause
// The stripes that a new file is to have: as the option stripe asks, or from its size; and in the words of a file
// system.
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

// What is not said is left to the file system.
struct StripeNumbers {
  int64_t bytes = 0;
  int64_t count = 0;   // k_all_targets: as many as there are
  int64_t first = -1;  // the target of the first stripe
  // Of a file that another is made like; nobody asks for them.
  int64_t object_bytes = 0;  // on CephFS
  bool overstriped = false;  // on Lustre: several stripes may lie on one target
  friend bool operator==(const StripeNumbers&, const StripeNumbers&) = default;
};
inline constexpr int64_t k_all_targets = -1;

// The option stripe. automatic: from the file's size, where the site has set nothing; site: as the folder has it.
struct StripeRequest {
  enum class Kind {
    automatic,
    site,
    numbers
  } kind = Kind::automatic;
  StripeNumbers numbers;
};

// bad_argument: neither "auto" nor "site" nor numbers such as "size=4MiB,count=8,first=3", each said once; sizes are
// multiples of 64 KiB below 4 GiB, as Lustre and CephFS have them; count is 1 to 2000 or "all".
Result<StripeRequest> parse_stripes(std::string_view text);

// For a file of `expected_bytes` that `writers` write through buffers of `buffer_bytes`: a stripe is what a buffer
// holds, so that one request goes to one target; a target for every GiB, and no more of them than writers, who else
// would each go to several. nullopt: one stripe is enough.
std::optional<StripeNumbers> stripes_for(int64_t expected_bytes, int64_t writers, int64_t buffer_bytes) noexcept;

// Whether who gave a new file this layout has thought of large files: it has more than one stripe, or more than one
// component.
bool is_chosen(const StorageLayout& layout) noexcept;

// The numbers that would make a file like that one; nullopt: it has more than one component, or lies on a metadata
// server.
std::optional<StripeNumbers> numbers_of(const StorageLayout& layout) noexcept;

// What a mock does when it is told to: targets stay as many as they are, unless more stripes or another first one are
// asked for; objects stay as long where whole stripes fit into them.
StorageLayout with_stripes(const StorageLayout& mock, const StripeNumbers& numbers);

// The argument of Lustre's LL_IOC_LOV_SETSTRIPE, and the value of its attribute: struct lov_user_md_v1.
std::vector<std::byte> lustre_request(const StripeNumbers& numbers);

// The value of the attribute ceph.file.layout. Objects stay as `given` has them where whole stripes fit into them.
std::string cephfs_request(const StripeNumbers& numbers, const StorageLayout& given);

std::string text_of(const StripeNumbers& numbers);  // "stripe size 4 MiB, stripe count 8"

}  // namespace windrow
