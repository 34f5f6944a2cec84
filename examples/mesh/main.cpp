// SPDX-License-Identifier: BSD-3-Clause
// windrow-mesh: from a mesh file of gmsh to parts files: who holds which node when the mesh is cut for so many ranks.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "msh.hpp"
#include "partition.hpp"

int main(int argc, char** argv) {
  CLI::App app{"Cut a tetrahedral mesh of gmsh into parts, one a rank, by METIS"};
  std::string mesh_path, output, numbering = "generator";
  std::vector<int> parts{4};
  app.add_option("mesh", mesh_path, "MSH file, ASCII, format 2 or 4.1")->required();
  app.add_option("output", output, "Parts files are OUTPUT.PARTS.parts")->required();
  app.add_option("--parts", parts, "How many parts; several numbers make several files")
      ->delimiter(',')
      ->check(CLI::Range(1, 100000));
  app.add_option("--numbering", numbering, "Of the nodes: as the generator gave them, or by Cuthill and McKee")
      ->check(CLI::IsMember({"generator", "cuthill-mckee"}));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    auto mesh = windrow::mesh::read_msh(mesh_path);
    if (numbering == "cuthill-mckee") windrow::mesh::renumber_cuthill_mckee(mesh);
    for (int count : parts) {
      const std::string path = output + "." + std::to_string(count) + ".parts";
      const auto pieces = windrow::mesh::partition(mesh, count);
      windrow::mesh::write_parts(path, {static_cast<int64_t>(mesh.nodes.size())}, 3, pieces);
      size_t held = 0;
      for (const auto& piece : pieces) held += piece.numbers.size();
      std::printf("%s: %zu nodes, %zu tetrahedra, %d parts that hold %zu nodes (%.1f %% replicas)\n", path.c_str(),
                  mesh.nodes.size(), mesh.tetrahedra.size(), count, held,
                  100.0 * (static_cast<double>(held) / static_cast<double>(mesh.nodes.size()) - 1));
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "windrow-mesh: %s\n", error.what());
    return 1;
  }
  return 0;
}
