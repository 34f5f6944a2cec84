// SPDX-License-Identifier: BSD-3-Clause
// Layouts as file systems tell them. Every parser is safe on any input, and what it gives passes check_layout(); else
// bad_file says what is wrong where, or unsupported names what is sound but has no stripes that we know of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "layout/layout.hpp"

namespace windrow {

// The attribute "lustre.lov" of a file or folder, in either byte order: struct lov_user_md_v1, _v3 or lov_comp_md_v1. A
// default (of a folder, or of a component that has no objects yet) has no targets, and where it leaves the stripe size
// open 4 MiB: both of Lustre's own defaults, 1 and 4 MiB, have boundaries there. Of mirrors the first that is neither
// stale nor parity is taken; a component that is to be extended goes as far as its extension. Source:
// lustre/include/uapi/linux/lustre/lustre_user.h.
Result<StorageLayout> parse_lustre(std::span<const std::byte> bytes);

// The attribute "ceph.file.layout" or "ceph.dir.layout": "stripe_unit=4194304 stripe_count=1 object_size=4194304
// pool=data". Source: docs.ceph.com/en/reef/cephfs/file-layouts; file_layout_t::is_valid() for what is sound.
Result<StorageLayout> parse_cephfs(std::string_view text);

// struct BeegfsIoctl_GetStripeInfo_Arg, and the targets (of buddy mirrors: the groups) that were found one by one.
// Where they are not as many as it says, none of them is taken. Source:
// beegfs/client_module/include/uapi/beegfs_client.h.
Result<StorageLayout> parse_beegfs(std::span<const std::byte> bytes, std::span<const int64_t> targets);

// What the option layout has behind "mock:": stripe=SIZE, count=N, first=TARGET and targets=HOW_MANY with commas
// between them; object=SIZE for objects as CephFS has them, of which objects=HOW_MANY lie on known targets, whole rows
// of count; until=OFFSET ends a component, and a semicolon begins the next:
// "stripe=64KiB,count=1,until=1MiB;stripe=1MiB,count=4". bad_argument instead of bad_file.
Result<StorageLayout> parse_mock(std::string_view text);

}  // namespace windrow
