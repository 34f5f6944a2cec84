// SPDX-License-Identifier: BSD-3-Clause
// windrow-transistor: the potential in a transistor, solved in parallel, each Newton step written to one HDF5 file from
// which any number of ranks can go on.   mpirun -n 4 windrow-transistor --mesh device.msh; docs/transistor.md
#include <CLI/CLI.hpp>
#include <cinttypes>
#include <cstdio>
#include <sstream>

#include "checkpoint.hpp"
#include "mesh/read.hpp"

namespace {

struct Settings {
  std::string mesh = "box", coordinates, restart, output = "transistor.h5";
  std::vector<std::string> options;
  std::vector<double> voltages;  // of base and collector; none: as in the checkpoint, or 0
  double tolerance = 1e-10;
  int from = -1, steps = 50;
  bool report = false;
};

// -1: continue; otherwise the program's exit code. Every rank reads the same arguments, and rank 0 prints.
int parse(int argc, char** argv, int rank, Settings& settings) {
  CLI::App app{"The electrostatic potential in a bipolar transistor, checkpointed through Windrow"};
  const auto positive = [](const std::string& word) {
    return std::strtold(word.c_str(), nullptr) > 0 ? "" : "it must be larger than 0";
  };  // nan is not
  app.option_defaults()->always_capture_default();
  app.add_option("--mesh", settings.mesh,
                 "FILE.msh of gmsh, FILE.mesh of METIS, what meshio reads, or box: a built-in mesh");
  app.add_option("--coordinates", settings.coordinates, "For a .mesh: a text of three numbers a node, in um");
  app.add_option("--restart", settings.restart, "Go on from this checkpoint, whose mesh is taken");
  app.add_option("--from", settings.from, "From this step of it; else from its last")
      ->needs("--restart")
      ->check(CLI::Range(0, 1 << 30));
  app.add_option("--output", settings.output, "The checkpoint to write");
  app.add_option("--steps", settings.steps, "Newton steps at most")->check(CLI::Range(0, 1000));
  app.add_option("--tolerance", settings.tolerance, "Of the residual, against the doping's charge")
      ->check(CLI::Number)
      ->check(positive);
  app.add_option("--voltages", settings.voltages, "V of base and collector against the emitter; else 0 0")->expected(2);
  app.add_option("--option", settings.options, "An option of Windrow, KEY=VALUE; may be repeated");
  app.add_flag("--report", settings.report, "Show Windrow's plan and report of the last step");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream silence;
    return (rank == 0 ? app.exit(error) : app.exit(error, silence, silence)) == 0 ? 0 : 2;
  }
  return -1;
}

void solve(const Settings& settings, int rank) {
  windrow::Options options;
  for (const std::string& option : settings.options) {
    const size_t equals = std::min(option.find('='), option.size());
    options.set(option.substr(0, equals), option.substr(std::min(equals + 1, option.size())));
  }
  transistor::Saved start;
  if (settings.restart.empty())
    start.part = windrow::mesh::distribute(MPI_COMM_WORLD, [&] {
      if (windrow::mesh::is_metis_mesh(settings.mesh) && settings.coordinates.empty())
        throw std::runtime_error("a mesh of METIS has no places of the nodes: give them by --coordinates");
      return windrow::mesh::read_mesh(settings.mesh, settings.coordinates);
    });
  else
    start = transistor::read_checkpoint(MPI_COMM_WORLD, settings.restart, settings.from);
  std::copy(settings.voltages.begin(), settings.voltages.end(), start.voltages.begin() + 1);
  transistor::Poisson poisson(MPI_COMM_WORLD, start.part, start.voltages);
  if (!settings.restart.empty())
    poisson.set_potential(start.potential);
  transistor::Checkpoint checkpoint(MPI_COMM_WORLD, settings.output, options, start.part, poisson, start.voltages);

  if (rank == 0)
    std::printf("%" PRId64 " nodes, %" PRId64
                " tetrahedra; base %g V, collector %g V\n"
                "step     residual   length     CG  computing s  writing s     MB/s\n",
                start.part.totals[0], start.part.totals[1], start.voltages[1], start.voltages[2]);
  transistor::Step step{poisson.residual(), 0, 0};
  double computing = 0, megabytes = static_cast<double>(start.part.totals[0] * 4 * 8) / 1e6;
  for (int number = start.step;; ++number) {
    const bool solved = step.residual <= settings.tolerance, last = solved || number - start.step == settings.steps;
    const double begin = MPI_Wtime();
    const std::string report = checkpoint.write(number, step, settings.report && last);
    const double written = MPI_Wtime(), writing = written - begin;
    if (rank == 0)
      std::printf("%4d %12.3e %8.4g %6d %12.3f %10.3f %8.0f\n", number, step.residual, step.length, step.iterations,
                  computing, writing, megabytes / writing);
    if (rank == 0 && last)
      std::printf("%s\n%s", solved ? "solved" : "not solved yet: go on by --restart", report.c_str());
    if (last)
      break;
    try {
      step = poisson.advance();
    } catch (const windrow::mesh::Failure&) {  // on every rank; the steps so far stay
      checkpoint.close();
      throw;
    }
    computing = MPI_Wtime() - written;
  }
  checkpoint.close();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Settings settings;
  int code = parse(argc, argv, rank, settings);
  try {
    if (code < 0)
      solve(settings, rank), code = 0;
  } catch (const std::exception& error) {
    // Failures and Windrow's errors are the same on every rank, which all come here. Others end the job for all.
    const bool shared = dynamic_cast<const windrow::Error*>(&error) || dynamic_cast<const transistor::Failure*>(&error);
    if (rank == 0 || !shared)
      std::fprintf(stderr, "windrow-transistor: %s\n", error.what());
    if (!shared)
      MPI_Abort(MPI_COMM_WORLD, 1);
    code = 1;
  }
  MPI_Finalize();
  return code;
}
