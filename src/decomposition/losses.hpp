// SPDX-License-Identifier: BSD-3-Clause
// Losses: the messages of a directory rank to the holders of replicated points, with the points that they do not write.
// A message covers all rules, since the owner of most points is the same under several rules. Pure.
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

// The owners found for the runs that a directory rank sees.
struct Choices {
  const Partition* partition = nullptr;  // nullptr: messages leave out partitioner, idg and idg_figure
  std::span<const int> idg;              // [runs] index of a holder, if there is a partition
  std::span<const int> balanced;         // [runs] index of a holder
};

// [holders] The message for each; nullopt for a holder without replicated points here. Runs of the block are covered by
// all rules except idg and balanced, which cover the segments that begin in the block. `view`: the range that the
// directory rank sees. May throw std::bad_alloc.
std::vector<std::optional<std::vector<std::byte>>> write_losses(const SharedPoints& shared, Extent view,
                                                                const Choices& choices);

using LossBuilders = std::array<PiecesBuilder, k_owner_policies>;
// Adds the losses of a message; memory offsets are unused. Messages must be read in the order of the directory ranks.
// May throw std::bad_alloc.
Status read_losses(std::span<const std::byte> message, LossBuilders& lost);

}  // namespace windrow
