// SPDX-License-Identifier: BSD-3-Clause
// Losses: what a directory rank tells those that hold points with others, which of them they do not write. By all rules
// at once, since most points are the same holder's to write by several. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "decomposition/grouping.hpp"
#include "decomposition/ownership.hpp"
#include "decomposition/shared_points.hpp"
#include "extent/pieces.hpp"

namespace windrow {

// What has been found for the runs that a directory rank sees.
struct Choices {
  const Partition* partition = nullptr;  // nullptr: nothing is told of partitioner, idg and idg_figure
  std::span<const int> idg;              // [runs] index of a holder, with a partition
  std::span<const int> balanced;         // [runs] index of a holder
};

// [holders] The words for each; nothing for one that holds no point with others here. Of runs of the block by all
// rules, but idg and balanced: those of the segments that begin in it. `view`: what the directory rank sees. May throw
// std::bad_alloc.
std::vector<std::optional<std::vector<std::byte>>> write_losses(const SharedPoints& shared, Extent view,
                                                                const Choices& choices);

using LossBuilders = std::array<PiecesBuilder, k_owner_policies>;
// Adds what a holder is told; memory does not matter. The directory ranks' words come in the order of these. May throw
// std::bad_alloc.
Status read_losses(std::span<const std::byte> words, LossBuilders& lost);

}  // namespace windrow
