// SPDX-License-Identifier: BSD-3-Clause
// windrow check --clean: what runs that were killed, and sets that were replaced, have left beside a file.
#pragma once

#include <string>
#include <vector>

namespace cli {

struct Cleaned {
  std::vector<std::string> removed;  // names
  std::vector<std::string> kept;     // "name: why"
};

// Local, for rank 0. Removes what nobody uses any more: folders of subfiles that have the file's name, which no file in
// its folder names, and which no program reads or writes.
Cleaned clean_beside(const std::string& path);

}  // namespace cli
