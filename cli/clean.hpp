// SPDX-License-Identifier: BSD-3-Clause
// windrow check --clean: removes what killed runs and replaced sets left beside a file.
#pragma once

#include <string>
#include <vector>

namespace cli {

struct Cleaned {
  std::vector<std::string> removed;  // names
  std::vector<std::string> kept;     // "name: why"
};

// Local, for rank 0. Removes folders of subfiles with the file's name that no file in its folder refers to and that no
// program uses. A folder of a name that the library does not make, or with files that are not of a set, is kept.
Cleaned clean_beside(const std::string& path);

}  // namespace cli
