// SPDX-License-Identifier: BSD-3-Clause
// Paths of objects in a file, as users write them; and what calls that define have in common.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace windrow {

// "/a/b" for "a/b", "/a/b" and "/a/b/"; an error names what is wrong with it.
Result<std::string> clean_path(const std::string& path);

// Of what is new in a file. What others have put there keeps its name, whatever it is.
Status check_new_name(std::string_view name);
Status check_new_path(std::string_view path);  // the same, and that it is no deeper than any format is read

// The groups above an object, outermost first: "/a", "/a/b" for "/a/b/c".
std::vector<std::string> parents_of(const std::string& path);

// Room for `more` elements, so that appending them cannot fail; grows as push_back does.
template <class T>
void make_room(std::vector<T>& list, size_t more) {
  if (list.capacity() - list.size() < more)
    list.reserve(std::max(list.size() + more, 2 * list.size()));
}

}  // namespace windrow
