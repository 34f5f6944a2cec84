// SPDX-License-Identifier: BSD-3-Clause
// The scenarios: make_case(). bench/README.md describes them.
#include <array>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "case.hpp"
#include "mesh/parts.hpp"

namespace bench {
namespace {

// Ranks as a box of three nearly equal edges, the longest first, as MPI_Dims_create cuts them.
std::array<int64_t, 3> cut_ranks(int64_t ranks) {
  std::array<int64_t, 3> best{ranks, 1, 1};
  for (int64_t a = 1; a <= ranks; ++a)
    for (int64_t b = 1; b <= a; ++b) {
      if (ranks % (a * b) != 0)
        continue;
      const int64_t c = ranks / (a * b);
      if (c <= b && a - c < best[0] - best[2])
        best = {a, b, c};
    }
  return best;
}

// A cube of `edge` elements a rank, with `components` of them before or none (0).
Share cubes(int64_t edge, int64_t components, const CaseSettings& settings) {
  const auto dims = cut_ranks(settings.ranks);
  const int64_t rank = settings.rank;
  const std::array<int64_t, 3> place{rank / (dims[1] * dims[2]), rank / dims[2] % dims[1], rank % dims[2]};
  Share share;
  if (components > 0) {
    share.shape.push_back(components);
    share.start.push_back(0);
    share.count.push_back(components);
  }
  for (size_t d = 0; d < 3; ++d) {
    share.shape.push_back(dims[d] * edge);
    share.start.push_back(place[d] * edge);
    share.count.push_back(edge);
  }
  share.memory_shape = share.count;
  share.memory_start.assign(share.count.size(), 0);
  return share;
}

Case grid(int64_t edge, const CaseSettings& settings) {
  return {settings.scenario, {cubes(edge, 0, settings)}, {{"density", ElementType::float32, 0, 1}}};
}

// A million single elements for each rank, dealt in irregular turns: no two of a rank are adjacent if there are several
// ranks.
Case points(const CaseSettings& settings) {
  constexpr int64_t k_each = 1'000'000;
  const int64_t ranks = settings.ranks;
  Share share;
  share.shape = {k_each * ranks};
  share.owned.assign(static_cast<size_t>(k_each), 1);
  uint64_t random = 1;
  for (int64_t turn = 0, shift = 0; turn < k_each; ++turn) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    const int64_t next = static_cast<int64_t>(random >> 33) % ranks;
    shift = next == (shift + 1) % ranks ? (next + 1) % ranks : next;
    share.points.push_back(turn * ranks + (settings.rank + shift) % ranks);
  }
  return {settings.scenario, {std::move(share)}, {{"field", ElementType::float32, 0, 1}}};
}

// S3D's checkpoint: mass fractions and velocities, temperature and pressure.
Case s3d(const CaseSettings& settings) {
  constexpr int64_t k_edge = 50;
  return {settings.scenario,
          {cubes(k_edge, 11, settings), cubes(k_edge, 3, settings), cubes(k_edge, 0, settings)},
          {{"yspecies", ElementType::float64, 0, 1},
           {"velocity", ElementType::float64, 1, 1},
           {"temperature", ElementType::float64, 2, 1},
           {"pressure", ElementType::float64, 2, 1}}};
}

// FLASH's checkpoint: blocks of 16^3 cells; in memory each has 4 guard cells on all sides. `uneven`: every third rank
// has two blocks more, and the next one two fewer.
Case flash(bool uneven, const CaseSettings& settings) {
  constexpr int64_t k_blocks = 80, k_cells = 16, k_guards = 4, k_variables = 24, k_box = k_cells + 2 * k_guards;
  const auto blocks_before = [uneven](int64_t rank) { return k_blocks * rank + (uneven && rank % 3 == 1 ? 2 : 0); };
  const auto most = [&](int64_t rank) { return rank == settings.ranks ? k_blocks * rank : blocks_before(rank); };
  const int64_t begin = most(settings.rank), blocks = most(settings.rank + 1) - begin;
  Share share;
  share.shape = {k_blocks * settings.ranks, k_cells, k_cells, k_cells};
  share.start = {begin, 0, 0, 0};
  share.count = {blocks, k_cells, k_cells, k_cells};
  share.memory_shape = {blocks, k_box, k_box, k_box};
  share.memory_start = {0, k_guards, k_guards, k_guards};
  Case result{settings.scenario, {share}, {}};
  for (int64_t v = 0; v < k_variables; ++v)
    result.variables.push_back({"unknown_" + std::to_string(v), ElementType::float64, 0, 1});
  return result;
}

// Part `which` of `parts` of a length, as even as whole numbers allow: where it begins.
int64_t cut(int64_t length, int64_t which, int64_t parts) {
  return length * which / parts;
}

// A box of `shape` cut among all ranks in three directions.
Share boxes(const std::array<int64_t, 3>& shape, const CaseSettings& settings) {
  const auto dims = cut_ranks(settings.ranks);
  const int64_t rank = settings.rank;
  const std::array<int64_t, 3> place{rank / (dims[1] * dims[2]), rank / dims[2] % dims[1], rank % dims[2]};
  Share share;
  for (size_t d = 0; d < 3; ++d) {
    share.shape.push_back(shape[d]);
    share.start.push_back(cut(shape[d], place[d], dims[d]));
    share.count.push_back(cut(shape[d], place[d] + 1, dims[d]) - share.start.back());
  }
  share.memory_shape = share.count;
  share.memory_start.assign(share.count.size(), 0);
  return share;
}

// Whole rows, consecutive by rank. `uneven`: every third rank has three times as many as the first, the one before it
// twice.
Share rows(std::vector<int64_t> shape, bool uneven, const CaseSettings& settings) {
  const auto weight_before = [uneven](int64_t rank) {
    return uneven ? rank / 3 * 6 + rank % 3 * (rank % 3 + 1) / 2 : rank;
  };
  const int64_t all = weight_before(settings.ranks);
  const int64_t begin = cut(shape[0], weight_before(settings.rank), all),
                end = cut(shape[0], weight_before(settings.rank + 1), all);
  Share share;
  share.start.assign(shape.size(), 0);
  share.start[0] = begin;
  share.count = shape;
  share.count[0] = end - begin;
  share.shape = std::move(shape);
  share.memory_shape = share.count;
  share.memory_start.assign(share.count.size(), 0);
  return share;
}

// SCORPIO, section V: two datasets of one dimension are read and written to another file. The paper's 960 x 960 x 240
// elements (1.7 GB: 4 bytes each), here an eighth. "-rows": the same as uneven rows (its Fig. 7), "-blocks": as blocks
// of three dimensions.
Case scorpio(const CaseSettings& settings) {
  constexpr std::array<int64_t, 3> k_grid{480, 480, 120};
  Share share;
  if (settings.scenario == "scorpio-blocks")
    share = boxes(k_grid, settings);
  else if (settings.scenario == "scorpio-rows")
    share = rows({k_grid[0] * k_grid[1], k_grid[2]}, true, settings);
  else
    share = rows({k_grid[0] * k_grid[1] * k_grid[2]}, false, settings);
  Case result{settings.scenario,
              {std::move(share)},
              {{"cell_ids", ElementType::int32, 0, 1}, {"material_ids", ElementType::int32, 0, 1}}};
  result.copies = true;
  return result;
}

// A smooth field of 128 MiB, the same for any number of ranks.
Case compressed(const CaseSettings& settings) {
  Variable field{"field", ElementType::float64, 0, 1};
  field.smooth = true;
  field.chunk = {64, 64, 64};
  return {settings.scenario, {boxes({256, 256, 256}, settings)}, {field}};
}

Share share_of_part(const std::string& path, const CaseSettings& settings) {
  const auto header = windrow::mesh::read_parts_header(path);
  if (header.parts != settings.ranks)
    throw std::runtime_error("\"" + path + "\" has " + std::to_string(header.parts) + " parts for " +
                             std::to_string(settings.ranks) + " ranks");
  auto part = windrow::mesh::read_part(path, settings.rank);
  Share share;
  share.shape = header.shape;
  share.points = std::move(part.numbers);
  share.owned = std::move(part.owned);
  return share;
}

Case mesh(int64_t load, const std::string& numbering, ElementType type, const CaseSettings& settings) {
  const std::string path = settings.mesh + numbering + "." + std::to_string(settings.ranks) + ".parts";
  return {settings.scenario, {share_of_part(path, settings)}, {{"field", type, 0, load}}};
}

// Of "mesh-LOAD[-cm|-random][-float32]" and "owners-LOAD", whose mesh is always numbered by Cuthill and McKee; nothing
// of another name.
std::optional<Case> mesh_of_name(std::string_view name, const CaseSettings& settings) {
  const auto ends_then_without = [&name](std::string_view ending) {
    const bool ends = name.ends_with(ending);
    if (ends)
      name.remove_suffix(ending.size());
    return ends;
  };
  const bool owners = name.starts_with("owners-");
  if (!owners && !name.starts_with("mesh-"))
    return std::nullopt;
  const ElementType type = !owners && ends_then_without("-float32") ? ElementType::float32 : ElementType::float64;
  std::string numbering = owners ? "-cm" : "";
  for (const char* known : {"-cm", "-random"})
    if (numbering.empty() && ends_then_without(known))
      numbering = known;
  const std::string load(name.substr(name.find('-') + 1));
  if (load.empty() || load.size() > 6 || load.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  return mesh(std::stoll(load), numbering, type, settings);
}

// Held by rank 0 alone.
Share share_of_one(int64_t elements, const CaseSettings& settings) {
  Share share;
  share.shape = {elements};
  for (int64_t i = 0; i < elements && settings.rank == 0; ++i)
    share.points.push_back(i);
  share.owned.assign(share.points.size(), 1);
  return share;
}

// A map of three decompositions is taken for the F case's history file, one record: 27 small variables (here of 73
// doubles, the levels' edges), 1, 323 and 63 variables on D1, D2 and D3; of others, 10 variables each. Source:
// repository Parallel-NetCDF/E3SM-IO, README.md, table of the cases.
Case e3sm(const CaseSettings& settings) {
  Case result{settings.scenario, {}, {}};
  std::vector<std::string> paths;
  for (int k = 1; std::filesystem::exists(settings.map + ".D" + std::to_string(k) + ".parts"); ++k)
    paths.push_back(settings.map + ".D" + std::to_string(k) + ".parts");
  if (paths.empty())
    throw std::runtime_error("no decomposition map \"" + settings.map + ".D1.parts\" (bench-maps makes it)");
  const bool is_f = paths.size() == 3;
  constexpr std::array<int, 3> k_f_variables{1, 323, 63};
  constexpr int k_small = 27, k_small_elements = 73;
  if (is_f) {
    result.shares.push_back(share_of_one(k_small_elements, settings));
    for (int v = 0; v < k_small; ++v)
      result.variables.push_back({"small_" + std::to_string(v), ElementType::float64, 0, 1});
  }
  for (size_t k = 0; k < paths.size(); ++k) {
    const size_t share = result.shares.size();
    result.shares.push_back(share_of_part(paths[k], settings));
    const int variables = is_f ? k_f_variables[k] : 10;
    for (int v = 0; v < variables; ++v)
      result.variables.push_back({"d" + std::to_string(k + 1) + "_" + std::to_string(v),
                                  is_f && k == 0 ? ElementType::float64 : ElementType::float32, share, 1});
  }
  return result;
}

}  // namespace

Case make_case(const CaseSettings& settings) {
  const std::string& name = settings.scenario;
  if (name == "s3d")
    return s3d(settings);
  if (name == "points")
    return points(settings);
  if (name == "flash")
    return flash(false, settings);
  if (name == "subfiling-64" || name == "subfiling-128")
    return grid(std::stoll(name.substr(10)), settings);
  if (name == "subfiling-flash")
    return flash(true, settings);
  if (name == "subfiling-s3d")
    return s3d(settings);
  if (name == "e3sm")
    return e3sm(settings);
  if (name == "scorpio" || name == "scorpio-rows" || name == "scorpio-blocks")
    return scorpio(settings);
  if (name == "compressed")
    return compressed(settings);
  if (name == "grid-64" || name == "grid-128")
    return grid(std::stoll(name.substr(5)), settings);
  if (auto result = mesh_of_name(name, settings))
    return *std::move(result);
  throw std::runtime_error("no scenario \"" + name +
                           "\"; there are grid-64, grid-128, mesh-LOAD[-cm|-random][-float32], owners-LOAD, e3sm, "
                           "flash, s3d, points, scorpio, scorpio-rows, "
                           "scorpio-blocks, compressed, subfiling-64, subfiling-128, subfiling-flash, subfiling-s3d");
}

}  // namespace bench
