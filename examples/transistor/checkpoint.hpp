// SPDX-License-Identifier: BSD-3-Clause
// Newton steps in one HDF5 file, through Windrow: the mesh and the doping once, each step in its own group, and the
// text for ParaView next to it. Variables have the numbering of the whole mesh, for any ranks and parts.
#pragma once

#include <string>
#include <windrow/windrow.hpp>

#include "poisson.hpp"

namespace transistor {

// All calls are collective and throw windrow::Error, on every rank.
class Checkpoint {
 public:
  // Creates the file and writes what all steps share. `part` and `poisson` must live as long.
  Checkpoint(MPI_Comm comm, const std::string& path, const windrow::Options& options, const MeshPart& part,
             const Poisson& poisson, const Voltages& voltages);
  // Writes the step, and then the attribute last_step. From then on the file can be read, also if an error occurs later
  // and closes it. Returns Windrow's plan and report of it, or "".
  std::string write(int number, const Step& step, bool with_report);
  void close() { file_.close(); }

 private:
  const MeshPart& part_;
  const Poisson& poisson_;
  windrow::File file_;
  windrow::Decomposition nodes_, tetrahedra_;
  int coordinates_ = -1, corners_ = -1, doping_ = -1;
};

struct Saved {
  MeshPart part;
  Voltages voltages{};
  int step = 0;
  std::vector<double> potential;  // at the nodes held
};
// Reads a step by any number of ranks, which partition the mesh again; -1: the last complete one. Throws Failure too.
Saved read_checkpoint(MPI_Comm comm, const std::string& path, int step);

}  // namespace transistor
