// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint.hpp"

namespace transistor {
namespace {

std::vector<double> in_units(std::vector<double> values, double unit) {
  for (double& value : values)
    value *= unit;
  return values;
}

std::string group_of(int step) {
  return "step " + std::to_string(step);
}

}  // namespace

Checkpoint::Checkpoint(MPI_Comm comm, const std::string& path, const windrow::Options& options, const MeshPart& part,
                       const Poisson& poisson, const Voltages& voltages)
    : part_(part),
      poisson_(poisson),
      file_(windrow::File::create(comm, path, options)),
      // Replicas need not be left out: the flags say which rank's value counts. A tetrahedron is on one rank only.
      nodes_(windrow::Decomposition::points(comm, part.totals[0], part.numbers, part.owned)),
      tetrahedra_(windrow::Decomposition::points(comm, part.totals[1], part.cell_numbers)) {
  try {
    coordinates_ = file_.define_variable<double>("mesh/coordinates", {part.totals[0], 3});
    corners_ = file_.define_variable<int64_t>("mesh/tetrahedra", {part.totals[1], 4});
    doping_ = file_.define_variable<double>("mesh/doping", {part.totals[0]});
    const std::vector<double> doping = in_units(poisson.fields().doping, k_density);
    std::vector<int64_t> corners;
    for (int64_t corner : part.corners)
      corners.push_back(part.numbers[static_cast<size_t>(corner)]);
    file_.put(coordinates_, nodes_, part.places);
    file_.put(corners_, tetrahedra_, corners);
    file_.put(doping_, nodes_, doping);
    file_.put_attribute("mesh/coordinates", "units", "um");
    file_.put_attribute("mesh/doping", "units", "cm^-3");
    file_.put_attribute("/", "voltages", std::vector<double>(voltages.begin(), voltages.end()));
    file_.flush();
  } catch (const windrow::Error&) {  // on every rank
    file_.discard();
    throw;
  }
}

std::string Checkpoint::write(int number, const Step& step, bool with_report) try {
  const Fields& fields = poisson_.fields();
  const std::array<std::vector<double>, 4> values{
      in_units(fields.potential, k_thermal), in_units(fields.electrons, k_density), in_units(fields.holes, k_density),
      in_units(fields.residuals, k_density)};
  constexpr std::array k_names{"potential", "electrons", "holes", "residual"},
      k_units{"V", "cm^-3", "cm^-3", "um^3 cm^-3"};
  const std::string group = group_of(number);
  const int mesh = file_.xdmf_mesh("transistor", number, windrow::Cell::tetrahedron, corners_, coordinates_);
  file_.xdmf_field(mesh, "doping", windrow::Center::nodes, doping_);
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string path = group + "/" + k_names[i];
    const int variable = file_.define_variable<double>(path, {part_.totals[0]});
    file_.put_attribute(path, "units", k_units[i]);
    file_.xdmf_field(mesh, k_names[i], windrow::Center::nodes, variable);
    file_.put(variable, nodes_, values[i]);
  }
  file_.flush();  // the four fields move together
  const std::string report = with_report ? file_.explain() + "\n" + file_.report() : "";
  file_.put_attribute(group, "residual", step.residual);
  file_.put_attribute("/", "last_step", number);
  file_.sync();
  return report;
} catch (const windrow::Error&) {
  file_.discard();
  throw;
}

Saved read_checkpoint(MPI_Comm comm, const std::string& path, int step) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  auto file = windrow::File::open(comm, path);
  Saved saved;
  saved.step = step >= 0 ? step : file.attribute<int>("/", "last_step").at(0);
  const std::vector<double> voltages = file.attribute<double>("/", "voltages");
  const int coordinates = file.find_variable("mesh/coordinates"), corners = file.find_variable("mesh/tetrahedra");
  const int potential = file.find_variable(group_of(saved.step) + "/potential");
  const std::vector<int64_t> of_nodes = file.shape(coordinates), of_cells = file.shape(corners),
                             of_field = file.shape(potential);
  if (voltages.size() != 3 || of_nodes.size() != 2 || of_nodes[1] != 3 || of_cells.size() != 2 || of_cells[1] != 4 ||
      of_field.size() != 1 || of_field[0] != of_nodes[0])
    throw Failure("\"" + path + "\" is no checkpoint of this program");
  std::copy_n(voltages.begin(), 3, saved.voltages.begin());
  // Rank 0 alone holds something here: the whole mesh, until it is dealt out.
  const int64_t nodes = of_nodes[0], tetrahedra = of_cells[0], share = rank == 0 ? 1 : 0;
  const auto all_nodes = windrow::Decomposition::block(comm, {nodes}, {0}, {share * nodes});
  const auto all_tetrahedra = windrow::Decomposition::block(comm, {tetrahedra}, {0}, {share * tetrahedra});
  std::vector<double> places(static_cast<size_t>(share * nodes) * 3);
  std::vector<int64_t> numbers(static_cast<size_t>(share * tetrahedra) * 4);
  file.get(coordinates, all_nodes, places);
  file.get(corners, all_tetrahedra, numbers);
  file.flush();
  saved.part = windrow::mesh::distribute(comm, [&] {
    windrow::mesh::TetrahedralMesh mesh;
    for (size_t i = 0; i < places.size(); i += 3)
      mesh.nodes.push_back({places[i], places[i + 1], places[i + 2]});
    for (int64_t number : numbers)
      if (number < 0 || number >= nodes)
        throw std::runtime_error("\"" + path + "\" is damaged: it has no such node");
    for (size_t i = 0; i < numbers.size(); i += 4)
      mesh.tetrahedra.push_back({numbers[i], numbers[i + 1], numbers[i + 2], numbers[i + 3]});
    return mesh;
  });

  saved.potential.resize(saved.part.held());
  const auto mine = windrow::Decomposition::points(comm, nodes, saved.part.numbers);
  file.read(potential, mine, saved.potential);  // replicas get their copies
  file.close();
  for (double& value : saved.potential)
    value /= k_thermal;
  return saved;
}

}  // namespace transistor
