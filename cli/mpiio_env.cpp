// SPDX-License-Identifier: BSD-3-Clause
// windrow mpiio-env: what a shell sets so that programs of MPI-IO go through Windrow.
#include <filesystem>
#include <system_error>

#include "cli/commands.hpp"

namespace cli {
namespace {

namespace fs = std::filesystem;

// Installed, the library is in the folder that CMake chose; in a build, in lib/.
fs::path library_path() {
  constexpr const char* k_name = "libwindrow-mpiio.so";
  std::error_code failed;
  const fs::path folder = fs::read_symlink("/proc/self/exe", failed).parent_path();
  if (failed)
    return {};
  for (const char* const each : {WINDROW_BIN_TO_LIB, "../lib"})
    if (fs::path path = (folder / each / k_name).lexically_normal(); fs::exists(path, failed))
      return path;
  return {};
}

// As a word of a shell.
std::string quoted(const std::string& text) {
  std::string word = "'";
  for (const char c : text)
    word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

}  // namespace

int mpiio_env(const World& world) {
  const fs::path path = library_path();
  if (path.empty())
    throw Failure(k_exit_failed, "libwindrow-mpiio.so is not beside this command: it was built without WINDROW_MPIIO");
  // Other libraries, such as Darshan's, stay in front: they see the program's calls.
  print_line(world, "export LD_PRELOAD=\"${LD_PRELOAD:+$LD_PRELOAD:}\"" + quoted(path.string()));
  return k_exit_ok;
}

}  // namespace cli
