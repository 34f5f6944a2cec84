// SPDX-License-Identifier: BSD-3-Clause
// Paths of objects in a file as users write them, and helpers of all definitions.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace windrow {

// "/a/b" for "a/b", "/a/b" and "/a/b/". Errors give the reason.
Result<std::string> clean_path(const std::string& path);

// For new objects only. Objects of foreign files keep their names, even if these are invalid here.
Status check_new_name(std::string_view name);
Status check_new_path(std::string_view path);   // also checks that the depth can be read
Status check_new_group(std::string_view path);  // the same for the path of a group

// The groups above an object, outermost first: "/a", "/a/b" for "/a/b/c".
std::vector<std::string> parents_of(const std::string& path);

// Reserves `more` elements, so that appending them cannot fail; grows like push_back.
template <class T>
void make_room(std::vector<T>& list, size_t more) {
  if (list.capacity() - list.size() < more)
    list.reserve(std::max(list.size() + more, 2 * list.size()));
}

}  // namespace windrow
