// SPDX-License-Identifier: BSD-3-Clause
// Contents of a file, as needed by a copy.
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
  bool is_hard = false;  // a hard link
};

struct Contents {
  std::vector<windrow_variable_info> variables;  // by number; their texts are valid until the file is closed
  std::vector<Item> items;                       // readable variables that are moved in slices
  std::vector<int> wholes;  // the other readable variables: text of variable length, and null spaces
  std::vector<std::pair<std::string, int64_t>> dimensions;  // dimensions without a variable
  std::vector<Link> links;
  std::vector<std::string> objects;  // paths of groups, then of variables: objects that can have attributes
  int groups = 0;
  int64_t attributes = 0;                // readable ones
  int64_t bytes = 0;                     // size of the readable variables
  std::vector<std::string> unsupported;  // "path: reason", each once
};

// Local: the library has sent the catalog to every rank.
Contents contents_of(const windrow::File& file);

std::vector<int64_t> shape_of(const windrow_variable_info& variable);
std::vector<std::string> dimension_names_of(const windrow_variable_info& variable);

// Collective. From now on only what is stored of the variables is moved: the chunks that were written. `may` selects
// the variables.
void leave_out_unwritten(windrow::File& file, Contents& contents, const std::function<bool(size_t item)>& may);

// Attribute `number` of an object.
windrow_attribute_info attribute_of(const windrow::File& file, const std::string& object, int number);

}  // namespace copying
