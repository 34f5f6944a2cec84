// SPDX-License-Identifier: BSD-3-Clause
// windrow-mesh: from a mesh or graph file to parts files, which list the nodes of each rank for a number of ranks.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <stdexcept>

#include "partition.hpp"
#include "read.hpp"

namespace {

void write(const std::string& output, int64_t nodes, int64_t components,
           const std::vector<windrow::mesh::Part>& pieces) {
  const std::string path = output + "." + std::to_string(pieces.size()) + ".parts";
  windrow::mesh::write_parts(path, {nodes}, components, pieces);
  size_t held = 0;
  for (const auto& piece : pieces)
    held += piece.numbers.size();
  std::printf("%s: %lld nodes, %zu parts that hold %zu nodes (%.1f %% replicas)\n", path.c_str(),
              static_cast<long long>(nodes), pieces.size(), held,
              100.0 * (static_cast<double>(held) / static_cast<double>(nodes) - 1));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Cut a tetrahedral mesh, or a graph, into parts, one a rank, by METIS"};
  std::string input, coordinates, output, numbering = "generator";
  std::vector<int> parts{4};
  app.add_option("mesh", input,
                 "gmsh's .msh, METIS's .mesh or .graph, a file that meshio reads, or box: a built-in mesh")
      ->required();
  app.add_option("output", output, "Parts files are OUTPUT.PARTS.parts")->required();
  app.add_option("--coordinates", coordinates, "For a .mesh: a text of three numbers a node");
  app.add_option("--parts", parts, "How many parts; several numbers make several files")
      ->delimiter(',')
      ->check(CLI::Range(1, 100000));
  app.add_option("--numbering", numbering,
                 "Of the nodes: as the generator gave them, by Cuthill and McKee, or without any order")
      ->check(CLI::IsMember({"generator", "cuthill-mckee", "random"}));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    if (input.ends_with(".graph")) {
      if (numbering != "generator")
        throw std::runtime_error("a graph keeps its numbering");
      const auto graph = windrow::mesh::read_metis_graph(input);
      const auto nodes = static_cast<int64_t>(graph.starts.size()) - 1;
      for (int count : parts)
        write(output, nodes, 0, windrow::mesh::partition(graph, count));
      return 0;
    }
    auto mesh = windrow::mesh::read_mesh(input, coordinates);
    if (numbering == "cuthill-mckee")
      windrow::mesh::renumber_cuthill_mckee(mesh);
    if (numbering == "random")
      windrow::mesh::renumber_randomly(mesh);
    for (int count : parts)
      write(output, static_cast<int64_t>(mesh.nodes.size()), 3, windrow::mesh::partition(mesh, count));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "windrow-mesh: %s\n", error.what());
    return 1;
  }
  return 0;
}
