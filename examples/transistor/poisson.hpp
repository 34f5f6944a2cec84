// SPDX-License-Identifier: BSD-3-Clause
// The nonlinear Poisson equation of device.hpp on linear tetrahedra, charge lumped at the nodes, solved by damped
// Newton steps. Each rank has the matrix of its own tetrahedra; a product with it is finished by Seams::sum(), so that
// vectors have the same values in all replicas.
#pragma once

#include <mpi.h>

#include <span>

#include "device.hpp"
#include "mesh/distribute.hpp"

namespace transistor {

using windrow::mesh::Failure, windrow::mesh::MeshPart;

// Sums over the ranks of `comm`. The calls are collective.
class Seams {
 public:
  Seams(MPI_Comm comm, const MeshPart& part)
      : comm_(comm), part_(part), sent_(part.shared.size()), received_(part.shared.size()) {}
  // Each replica becomes the sum of what all holders of its node have: the same bits on all of them.
  void sum(std::span<double> values);
  // Over the nodes of the whole mesh, each counted once.
  double dot(std::span<const double> a, std::span<const double> b) const;

 private:
  MPI_Comm comm_;
  const MeshPart& part_;
  std::vector<double> sent_, received_;
  std::vector<MPI_Request> requests_;
};

// At the nodes that a rank holds, in the units of device.hpp; residuals are charges.
struct Fields {
  std::vector<double> doping, potential, electrons, holes, residuals;
};

struct Step {
  double residual = 0;  // afterwards
  double length = 0;    // the part of Newton's correction that was taken
  int iterations = 0;   // of conjugate gradients
};

// Constructor, set_potential() and advance() are collective. The part must live as long.
class Poisson {
 public:
  // Begins with the neutral potential. Throws Failure: a contact without nodes, a tetrahedron without volume.
  Poisson(MPI_Comm comm, const MeshPart& part, const Voltages& voltages);
  void set_potential(const std::vector<double>& potential);  // at contacts it stays

  // One Newton step. Throws Failure where it makes the residual no smaller.
  Step advance();

  const Fields& fields() const { return fields_; }
  // The 2-norm of the residuals over that of the doping's charge.
  double residual() const { return residual_; }

 private:
  void assemble();
  void evaluate();
  void multiply(const std::vector<double>& in, std::vector<double>& out);
  int solve(std::vector<double>& correction);

  MPI_Comm comm_;
  const MeshPart& part_;
  Seams seams_;
  Fields fields_;
  std::vector<size_t> row_starts_{0}, columns_;  // the stiffness of this rank's tetrahedra, by rows, columns ascending
  std::vector<double> stiffness_;
  std::vector<double> own_volume_, volume_;  // of a node: a fourth of its tetrahedra here, and on all ranks
  std::vector<double> electron_level_, hole_level_;
  std::vector<char> fixed_;  // nodes at contacts
  double norm_of_doping_ = 0, residual_ = 0;
};

}  // namespace transistor
