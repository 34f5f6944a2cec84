// SPDX-License-Identifier: BSD-3-Clause
// What a file holds, as far as a copy needs it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>
#include <windrow/windrow.hpp>

#include "copy/slices.hpp"

namespace copying {

struct Link {
  std::string path, target;
  bool is_hard = false;  // a second name of the target
};

struct Contents {
  std::vector<Item> items;  // readable variables that are moved in slices
  std::vector<int> wholes;  // numbers of the others: texts of variable length, and null spaces
  std::vector<std::pair<std::string, int64_t>> dimensions;  // that no variable has the name of
  std::vector<Link> links;
  std::vector<std::string> objects;  // paths of the groups, then of the variables: what can carry attributes
  int groups = 0;
  int64_t attributes = 0;                // readable ones
  int64_t bytes = 0;                     // of the readable variables
  std::vector<std::string> unsupported;  // "path: reason", each once
};

// Local: the library has handed the description of the file to every rank.
Contents contents_of(const windrow::File& file);

// Collective. Of variables that nobody has written as a whole, only what is stored is moved from now on; `may` says for
// which.
void leave_out_unwritten(windrow::File& file, Contents& contents, const std::function<bool(size_t item)>& may);

// Attribute `number` of an object, described.
windrow_attribute_info attribute_of(const windrow::File& file, const std::string& object, int number);

}  // namespace copying
