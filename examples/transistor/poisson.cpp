// SPDX-License-Identifier: BSD-3-Clause
#include "poisson.hpp"

#include <string>

namespace transistor {
namespace {

constexpr double k_linear_tolerance = 1e-8;  // of a Newton step's equations, in the preconditioner's norm
constexpr int k_most_iterations = 10000;
constexpr double k_shortest_step = 1e-4;

Place minus(const Place& a, const Place& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
double product(const Place& a, const Place& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
Place cross(const Place& a, const Place& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

}  // namespace

void Seams::sum(std::span<double> values) {
  requests_.clear();
  for (size_t i = 0; i < part_.shared.size(); ++i)
    sent_[i] = values[static_cast<size_t>(part_.shared[i])];
  for (size_t i = 0; i < part_.neighbours.size(); ++i) {
    const int64_t first = part_.starts[i];
    const auto count = static_cast<int>(part_.starts[i + 1] - first), rank = static_cast<int>(part_.neighbours[i]);
    MPI_Irecv(received_.data() + first, count, MPI_DOUBLE, rank, 0, comm_, &requests_.emplace_back());
    MPI_Isend(sent_.data() + first, count, MPI_DOUBLE, rank, 0, comm_, &requests_.emplace_back());
  }
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  // Added in the order of the ranks everywhere, this one's own share among them: so all replicas get the same bits.
  for (int64_t node : part_.shared)
    values[static_cast<size_t>(node)] = 0;
  for (size_t i = 0; i < part_.shared.size(); ++i)
    values[static_cast<size_t>(part_.shared[i])] += received_[i];
}

double Seams::dot(std::span<const double> a, std::span<const double> b) const {
  double sum = 0;
  for (size_t i = 0; i < part_.held(); ++i)
    sum += part_.owned[i] ? a[i] * b[i] : 0;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, comm_);
  return sum;
}

Poisson::Poisson(MPI_Comm comm, const MeshPart& part, const Voltages& voltages)
    : comm_(comm), part_(part), seams_(comm, part), fixed_(part.held(), 0) {
  assemble();
  std::array<int64_t, 3> nodes_at_contact{};
  for (size_t i = 0; i < part.held(); ++i) {
    const Place place = part.place(i);
    // Electrons are those of the emitter in its box, of the collector elsewhere; all holes are those of the base.
    electron_level_.push_back((k_emitter.holds(place) ? voltages[0] : voltages[2]) / k_thermal);
    hole_level_.push_back(voltages[1] / k_thermal);
    fields_.doping.push_back(doping_at(place));
    const int contact = contact_at(place);
    const double level = contact >= 0 ? voltages[static_cast<size_t>(contact)] / k_thermal
                                      : (fields_.doping[i] > 0 ? electron_level_[i] : hole_level_[i]);
    fields_.potential.push_back(level + neutral_potential(fields_.doping[i]));
    if (contact >= 0)
      fixed_[i] = 1, ++nodes_at_contact[static_cast<size_t>(contact)];
  }
  MPI_Allreduce(MPI_IN_PLACE, nodes_at_contact.data(), 3, MPI_INT64_T, MPI_SUM, comm);
  for (size_t contact = 0; contact < 3; ++contact)
    if (nodes_at_contact[contact] == 0)
      throw Failure(std::string("the mesh has no node at the contact of the ") + k_contact_names[contact] +
                    ": it is not the device of transistor.geo in um");
  std::vector<double> charge(part.held());
  for (size_t i = 0; i < part.held(); ++i)
    charge[i] = fields_.doping[i] * volume_[i];
  norm_of_doping_ = std::sqrt(seams_.dot(charge, charge));
  evaluate();
}

// A tetrahedron of volume V with gradients g of its shape functions gives lambda V g_i . g_j, and V/4 to each corner.
void Poisson::assemble() {
  std::vector<std::vector<std::pair<size_t, double>>> rows(part_.held());
  own_volume_.assign(part_.held(), 0);
  int64_t flat = -1;  // the highest tetrahedron without volume
  for (size_t cell = 0; cell < part_.cell_numbers.size(); ++cell) {
    std::array<size_t, 4> corners{};
    std::array<Place, 4> edges{}, gradients{};
    for (size_t i = 0; i < 4; ++i)
      corners[i] = static_cast<size_t>(part_.corners[4 * cell + i]);
    for (size_t i = 1; i < 4; ++i)
      edges[i] = minus(part_.place(corners[i]), part_.place(corners[0]));
    const double determinant = product(edges[1], cross(edges[2], edges[3])), volume = std::abs(determinant) / 6;
    if (!std::isnormal(volume))
      flat = std::max(flat, part_.cell_numbers[cell]);
    for (size_t i = 1; i < 4; ++i) {
      gradients[i] = cross(edges[i % 3 + 1], edges[(i + 1) % 3 + 1]);
      for (double& component : gradients[i])
        component /= determinant;
      gradients[0] = minus(gradients[0], gradients[i]);
    }
    for (size_t i = 0; i < 4; ++i) {
      own_volume_[corners[i]] += volume / 4;
      for (size_t j = 0; j < 4; ++j)
        rows[corners[i]].emplace_back(corners[j], k_lambda * volume * product(gradients[i], gradients[j]));
    }
  }
  for (auto& row : rows) {
    std::ranges::stable_sort(row, {}, &std::pair<size_t, double>::first);
    for (const auto& [column, value] : row) {
      if (columns_.size() == row_starts_.back() || columns_.back() != column)
        columns_.push_back(column), stiffness_.push_back(0);
      stiffness_.back() += value;
    }
    row_starts_.push_back(columns_.size());
  }
  volume_ = own_volume_;
  seams_.sum(volume_);
  MPI_Allreduce(MPI_IN_PLACE, &flat, 1, MPI_INT64_T, MPI_MAX, comm_);
  if (flat >= 0)
    throw Failure("tetrahedron " + std::to_string(flat) + " of the mesh has no volume");
}

void Poisson::set_potential(const std::vector<double>& potential) {
  for (size_t i = 0; i < part_.held(); ++i)
    if (!fixed_[i])
      fields_.potential[i] = potential[i];
  evaluate();
}

// Densities and residuals at the potential as it is now.
void Poisson::evaluate() {
  auto& [doping, potential, electrons, holes, residuals] = fields_;
  electrons.assign(part_.held(), 0);
  holes = residuals = electrons;  // multiply() then is with the stiffness alone
  multiply(potential, residuals);
  for (size_t i = 0; i < part_.held(); ++i) {
    electrons[i] = k_intrinsic * std::exp(potential[i] - electron_level_[i]);
    holes[i] = k_intrinsic * std::exp(hole_level_[i] - potential[i]);
    residuals[i] = fixed_[i] ? 0 : residuals[i] + volume_[i] * (electrons[i] - holes[i] - doping[i]);
  }
  residual_ = std::sqrt(seams_.dot(residuals, residuals)) / norm_of_doping_;
}

// With the Jacobian, which is symmetric and positive definite: the stiffness, and on its diagonal volume * d(n - p)/du.
void Poisson::multiply(const std::vector<double>& in, std::vector<double>& out) {
  for (size_t row = 0; row < part_.held(); ++row) {
    out[row] = own_volume_[row] * (fields_.electrons[row] + fields_.holes[row]) * in[row];
    for (size_t at = row_starts_[row]; at < row_starts_[row + 1]; ++at)
      out[row] += stiffness_[at] * in[columns_[at]];
  }
  seams_.sum(out);
}

// Jacobian * correction = -residuals, 0 at contacts, by conjugate gradients, preconditioned by the diagonal.
int Poisson::solve(std::vector<double>& correction) {
  std::vector<double> scale(part_.held()), rest(part_.held()), image(part_.held()), scaled, direction;
  for (size_t row = 0; row < part_.held(); ++row) {
    scale[row] = own_volume_[row] * (fields_.electrons[row] + fields_.holes[row]);
    for (size_t at = row_starts_[row]; at < row_starts_[row + 1]; ++at)
      if (columns_[at] == row)
        scale[row] += stiffness_[at];
    rest[row] = -fields_.residuals[row];
  }
  seams_.sum(scale);
  for (size_t i = 0; i < part_.held(); ++i)
    scale[i] = fixed_[i] ? 0 : 1 / scale[i];
  correction.assign(part_.held(), 0);
  direction = scaled = correction;
  double first = 0, before = 1;
  for (int iteration = 0; iteration < k_most_iterations; ++iteration) {
    for (size_t i = 0; i < part_.held(); ++i)
      scaled[i] = scale[i] * rest[i];
    const double now = seams_.dot(rest, scaled);
    if (iteration == 0)
      first = now;
    if (now <= k_linear_tolerance * k_linear_tolerance * first)
      return iteration;
    for (size_t i = 0; i < part_.held(); ++i)
      direction[i] = scaled[i] + now / before * direction[i];
    multiply(direction, image);
    const double length = now / seams_.dot(direction, image);
    for (size_t i = 0; i < part_.held(); ++i) {
      correction[i] += length * direction[i];
      rest[i] -= fixed_[i] ? 0 : length * image[i];
    }
    before = now;
  }
  throw Failure("conjugate gradients did not converge in " + std::to_string(k_most_iterations) + " iterations");
}

// A correction that is too long is halved until the residual falls: the carriers are exponentials of the potential.
Step Poisson::advance() {
  std::vector<double> correction;
  Step step{0, 0, solve(correction)};
  const std::vector<double> from = fields_.potential;
  const double before = residual_;
  for (step.length = 1; step.length > k_shortest_step; step.length /= 2) {
    for (size_t i = 0; i < part_.held(); ++i)
      fields_.potential[i] = from[i] + step.length * correction[i];
    evaluate();
    step.residual = residual_;
    if (residual_ < (1 - step.length / 4) * before)
      return step;
  }
  throw Failure("Newton's method came to a halt at the residual " + std::to_string(before));
}

}  // namespace transistor
