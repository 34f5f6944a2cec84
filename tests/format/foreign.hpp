// SPDX-License-Identifier: BSD-3-Clause
// Runs programs of others: h5py, h5dump, h5diff.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "../temporary_folder.hpp"

namespace windrow::test {

struct Output {
  int exit_code = -1;
  std::string text;  // both streams
};

inline Output run(const std::string& command) {
  Output output;
  std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (!pipe)
    return output;
  char buffer[4096];
  for (size_t size = 0; (size = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    output.text.append(buffer, size);
  output.exit_code = ::pclose(pipe);
  return output;
}

// Runs a script with h5py, which gets `path` as its variable `path`. The interpreter is Debian's by its full path,
// because PATH may have another one first.
inline Output run_h5py(const std::string& script, const std::string& path) {
  TemporaryFolder folder;
  const std::string file = folder.path("script.py");
  std::ofstream(file) << "import sys, h5py, numpy as np\npath = sys.argv[1]\n" << script;
  return run("/usr/bin/python3 '" + file + "' '" + path + "'");
}

}  // namespace windrow::test
