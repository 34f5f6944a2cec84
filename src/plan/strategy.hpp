// SPDX-License-Identifier: BSD-3-Clause
// Strategy: the choices on the six axes, and the presets that name the papers' own points among them. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace windrow {

enum class Owner {
  automatic,
  partitioner,
  first,
  highest,
  idg,
  idg_figure,
  random,
  balanced
};
constexpr bool needs_flags(Owner owner) noexcept {
  return owner == Owner::partitioner || owner == Owner::idg || owner == Owner::idg_figure;
}
enum class Gather {
  automatic,
  none,
  host,
  team
};
enum class Domains {
  automatic,
  none,
  even,
  aligned,
  cyclic,
  target
};
enum class Codec : int {
  automatic,
  off,
  first_compressor
};  // from that on: known_compressors(), in their order
enum class Access {
  automatic,
  contiguous,
  list,
  sieve,
  mapped
};
enum class Files {
  automatic,
  one,
  subfiles,
  per_rank
};

struct Strategy {
  std::string preset = "auto";
  Owner owner = Owner::automatic;
  Gather gather = Gather::automatic;
  int64_t team_write = 0;  // ranks in a team; 0: not a team
  int64_t team_read = 0;
  Domains domains = Domains::automatic;
  Codec codec = Codec::automatic;
  bool codec_shuffle = false;  // bytes ordered by their place in the element first
  int codec_level = 0;         // of zstd; 0: its own
  Codec codec_preferred =
      Codec::automatic;  // while the choice is automatic: taken unless another is clearly faster; automatic: none
  Access access = Access::automatic;
  Files files = Files::automatic;
  friend bool operator==(const Strategy&, const Strategy&) = default;
};

// What the user asked for, as texts: a preset, and axes that override it ("" or "auto": as the preset has it).
struct StrategyRequest {
  std::string preset = "auto";
  std::string owner = {}, gather = {}, domains = {}, codec = {}, access = {}, files = {};
};

// Code::bad_argument: no such choice; the message lists those there are. Code::unsupported: not built yet.
Result<Strategy> parse_strategy(const StrategyRequest& request);

std::string_view name_of(Owner) noexcept;
std::string_view name_of(Gather) noexcept;
std::string_view name_of(Domains) noexcept;
std::string_view name_of(Codec) noexcept;
std::string_view name_of(Access) noexcept;
std::string_view name_of(Files) noexcept;
std::optional<Codec> find_codec(
    std::string_view compressor) noexcept;         // built in or not; nothing: there is no such compressor
std::string codec_text(const Strategy& strategy);  // "zstd+shuffle(3)"

// Every preset, and every "axis=choice", with whether it is built in.
struct Feature {
  std::string name;
  bool built = false;
};
std::vector<Feature> strategy_features();

}  // namespace windrow
