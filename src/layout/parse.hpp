// SPDX-License-Identifier: BSD-3-Clause
// Parsers of layouts as file systems report them. Every parser is safe on any input, and its result passes
// check_layout(). bad_file: malformed; the message names the problem and its position. unsupported: valid, but without
// known stripes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "layout/layout.hpp"

namespace windrow {

// The attribute "lustre.lov" of a file or folder, in either byte order: struct lov_user_md_v1, _v3 or lov_comp_md_v1. A
// default (of a folder, or of a component without objects) has no targets. If it leaves the stripe size open, 4 MiB is
// assumed: both of Lustre's own defaults, 1 and 4 MiB, have boundaries there. Of mirrors, the first is used that is
// neither stale nor parity. An extendable component includes its extension. Source:
// lustre/include/uapi/linux/lustre/lustre_user.h.
Result<StorageLayout> parse_lustre(std::span<const std::byte> bytes);

// The attribute "ceph.file.layout" or "ceph.dir.layout": "stripe_unit=4194304 stripe_count=1 object_size=4194304
// pool=data". Source: docs.ceph.com/en/reef/cephfs/file-layouts; file_layout_t::is_valid() for validity.
Result<StorageLayout> parse_cephfs(std::string_view text);

// struct BeegfsIoctl_GetStripeInfo_Arg, and the targets (buddy mirrors: the groups), which are queried one by one. If
// their number differs from that in the struct, none is used. Source:
// beegfs/client_module/include/uapi/beegfs_client.h.
Result<StorageLayout> parse_beegfs(std::span<const std::byte> bytes, std::span<const int64_t> targets);

// The value of the option layout after "mock:": stripe=SIZE, count=N, first=TARGET and targets=HOW_MANY, separated by
// commas. object=SIZE gives objects as on CephFS; the targets of objects=HOW_MANY of them are known, in whole rows of
// count. until=OFFSET ends a component, and a semicolon begins the next:
// "stripe=64KiB,count=1,until=1MiB;stripe=1MiB,count=4". Errors are bad_argument instead of bad_file.
Result<StorageLayout> parse_mock(std::string_view text);

}  // namespace windrow
