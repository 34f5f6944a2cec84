// SPDX-License-Identifier: BSD-3-Clause
// A layout as Lustre's attribute lustre.lov holds it: lov_user_md_v1, or _v3 where a pool is named, or lov_comp_md_v1
// of several. Source: include/uapi/linux/lustre/lustre_user.h of Lustre 2.14.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "layout.hpp"

namespace striped_store {

// `file`: the number by which its objects are called. Of a folder's default layout, not placed, no objects are written.
std::string lov_of(const Layout& layout, uint64_t file);

// nullopt: not such a value, or one of an unknown kind. If stripe or count are left to the file system (0), those of
// `usual` are used. Objects in it only choose the first target. The bytes may be arbitrary: it is not checked whether
// the layout fits the targets.
std::optional<Layout> layout_of_lov(std::string_view lov, const Component& usual);

}  // namespace striped_store
