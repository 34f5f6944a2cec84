// SPDX-License-Identifier: BSD-3-Clause
// Strategy: the choices on the six axes, and presets with the papers' strategies. Pure.
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
};  // from here on: known_compressors(), in their order
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
  int64_t team_write = 0;  // ranks of a team; 0: no team
  int64_t team_read = 0;
  Domains domains = Domains::automatic;
  Codec codec = Codec::automatic;
  bool codec_shuffle = false;  // with byte shuffle
  int codec_level = 0;         // level of zstd; 0: its default
  // preferred while the choice is automatic, unless another is clearly faster; automatic: none
  Codec codec_preferred = Codec::automatic;
  Access access = Access::automatic;
  Files files = Files::automatic;
  friend bool operator==(const Strategy&, const Strategy&) = default;
};

// The user's request as texts: a preset, and axes that override it ("" or "auto": as in the preset).
struct StrategyRequest {
  std::string preset = "auto";
  std::string owner = {}, gather = {}, domains = {}, codec = {}, access = {}, files = {};
};

// Code::bad_argument: no such choice; the message lists the choices. Code::unsupported: not built in.
Result<Strategy> parse_strategy(const StrategyRequest& request);

std::string_view name_of(Owner) noexcept;
std::string_view name_of(Gather) noexcept;
std::string_view name_of(Domains) noexcept;
std::string_view name_of(Codec) noexcept;
std::string_view name_of(Access) noexcept;
std::string_view name_of(Files) noexcept;
std::optional<Codec> find_codec(std::string_view compressor) noexcept;  // built in or not; nullopt: no such compressor
std::string codec_text(const Strategy& strategy);                       // "zstd+shuffle(3)"

// All presets and all "axis=choice", with whether they are built in.
struct Feature {
  std::string name;
  bool built = false;
};
std::vector<Feature> strategy_features();

}  // namespace windrow
