// SPDX-License-Identifier: BSD-3-Clause
#include "tools.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>

namespace bench {
namespace {

// For the shell.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char letter : text)
    result += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return result + "'";
}

// The first line that a command says, or "" when it ends well.
std::string complaint_of(const std::string& command) {
  std::FILE* output = ::popen((command + " 2>&1").c_str(), "r");
  if (output == nullptr)
    return "\"" + command + "\" could not be started";
  std::array<char, 512> line{}, rest{};
  const bool said = std::fgets(line.data(), static_cast<int>(line.size()), output) != nullptr;
  while (std::fgets(rest.data(), static_cast<int>(rest.size()), output) != nullptr) {}
  if (::pclose(output) == 0)
    return {};
  return "\"" + command + "\" fails" + (said ? std::string(": ") + line.data() : "");
}

}  // namespace

namespace {

std::vector<Location> elements_of(std::vector<Location> locations, const Job& job, bool all) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (size_t v = 0; v < locations.size(); ++v) {
    const Variable& variable = job.data.variables[v];
    if (variable.chunk.empty() && !all)
      continue;
    const std::string elements = job.directory + "/" + variable.name + ".elements";
    if (rank == 0) {
      const std::string wrong = complaint_of("h5dump -d " + quoted("/" + variable.name) + " -b LE -o " +
                                             quoted(elements) + " " + quoted(locations[v].path));
      require(wrong.empty(), wrong);
    }
    locations[v] = {elements, 0};
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return locations;
}

}  // namespace

std::vector<Location> decoded(std::vector<Location> locations, const Job& job) {
  return elements_of(std::move(locations), job, false);
}
std::vector<Location> dumped(std::vector<Location> locations, const Job& job) {
  return elements_of(std::move(locations), job, true);
}

std::string difference(const std::string& one, const std::string& other) {
  return complaint_of("h5diff " + quoted(one) + " " + quoted(other));
}

}  // namespace bench
