// SPDX-License-Identifier: BSD-3-Clause
#include "meshio.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace windrow::mesh {
namespace {

constexpr int k_no_meshio = 3;
constexpr char k_convert[] = R"(
import sys
try:
    import meshio
except ImportError:
    sys.exit(3)
try:
    mesh = meshio.read(sys.argv[1])
    cells = [("tetra", cells.data) for cells in mesh.cells if cells.type == "tetra"]
    if not cells:
        sys.exit("no tetrahedra of four nodes found")
    meshio.write(sys.argv[2], meshio.Mesh(mesh.points, cells), file_format="gmsh", binary=False)
except Exception as error:
    sys.exit(str(error) or type(error).__name__)
)";

// Removed with its contents at the end of the scope.
struct TemporaryFolder {
  std::string path = (std::filesystem::temp_directory_path() / "windrow-mesh-XXXXXX").string();
  TemporaryFolder() {
    if (!mkdtemp(path.data()))
      throw std::runtime_error("cannot make a folder \"" + path + "\"");
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

// What the program exits with, 127 if there is none; what it says goes to the file `said`.
int run(const std::string& python, const std::string& input, const std::string& output, const std::string& said) {
  std::string words[] = {python, "-c", k_convert, input, output};
  char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), words[4].data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, said.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0)
    return 127;
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return 127;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

std::string last_line(const std::string& path) {
  std::ifstream file(path);
  std::string line, last = "it failed";
  while (std::getline(file, line))
    if (!line.empty())
      last = line;
  return last;
}

}  // namespace

TetrahedralMesh read_by_meshio(const std::string& path) {
  if (!std::ifstream(path))
    throw std::runtime_error("cannot open \"" + path + "\"");
  const TemporaryFolder folder;
  const std::string converted = folder.path + "/mesh.msh", said = folder.path + "/said";
  for (const char* python : {"python3", "/usr/bin/python3"}) {  // the second is the one that Debian's meshio belongs to
    const int code = run(python, std::filesystem::absolute(path), converted, said);
    if (code == 127 || code == k_no_meshio)
      continue;
    if (code != 0)
      throw std::runtime_error("\"" + path + "\": meshio: " + last_line(said));
    return read_msh(converted);
  }
  throw std::runtime_error("\"" + path +
                           "\" is neither gmsh's .msh (ASCII, format 2 or 4.1) nor METIS's .mesh; meshio may read it, "
                           "but no python3 has it (Debian: python3-meshio)");
}

}  // namespace windrow::mesh
