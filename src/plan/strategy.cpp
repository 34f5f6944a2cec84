// SPDX-License-Identifier: BSD-3-Clause
#include "plan/strategy.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>

#include "codec/codec.hpp"

namespace windrow {
namespace {

template <class Choice>
struct Named {
  std::string_view name;
  Choice choice;
};
template <class Choice>
Named(std::string_view, Choice) -> Named<Choice>;  // Clang 14 has no implicit deduction guide for aggregates

constexpr std::array k_owners{Named{"auto", Owner::automatic}, Named{"partitioner", Owner::partitioner},
                              Named{"first", Owner::first},    Named{"highest", Owner::highest},
                              Named{"idg", Owner::idg},        Named{"idg_figure", Owner::idg_figure},
                              Named{"random", Owner::random},  Named{"balanced", Owner::balanced}};
constexpr std::array k_gathers{Named{"auto", Gather::automatic}, Named{"none", Gather::none},
                               Named{"host", Gather::host}, Named{"team", Gather::team}};
constexpr std::array k_domains{Named{"auto", Domains::automatic}, Named{"none", Domains::none},
                               Named{"even", Domains::even},      Named{"aligned", Domains::aligned},
                               Named{"cyclic", Domains::cyclic},  Named{"target", Domains::target}};
constexpr std::array k_accesses{Named{"auto", Access::automatic}, Named{"contiguous", Access::contiguous},
                                Named{"list", Access::list}, Named{"sieve", Access::sieve},
                                Named{"mapped", Access::mapped}};
constexpr std::array k_files{Named{"auto", Files::automatic}, Named{"one", Files::one}, Named{"shared", Files::one},
                             Named{"subfiles", Files::subfiles}, Named{"per-rank", Files::per_rank}};

std::vector<Named<Codec>> codecs() {
  std::vector<Named<Codec>> all{{"auto", Codec::automatic}, {"off", Codec::off}};
  for (const Compressor* compressor : known_compressors())
    all.push_back({compressor->name(), static_cast<Codec>(all.size())});
  return all;
}

// The papers' strategies, as in the table of concepts.md; an empty field is the automatic choice on that axis.
struct Preset {
  std::string_view name, owner, gather, domains, codec, access, files;
};
constexpr std::array k_presets{
    Preset{"auto", "", "", "", "", "", ""},
    Preset{"scorpio", "", "team(16,1024)", "", "off", "contiguous", "one"},  // see choose_domains()
    Preset{"two-phase", "first", "none", "even", "off", "contiguous", "one"},
    Preset{"tpc", "first", "none", "even", "auto", "contiguous", "one"},  // lzo preferred
    Preset{"list", "partitioner", "none", "none", "off", "list", "one"},
    Preset{"idg", "idg", "none", "none", "off", "list", "one"},
    Preset{"subfiling", "", "none", "even", "off", "contiguous", "subfiles"},
    Preset{"ylib", "", "none", "target", "off", "list", "one"},
    Preset{"bips3d-tree", "idg", "none", "", "off", "", "one"},  // see choose_by_tree()
};

template <class Table>
std::string list_of(const Table& table) {
  std::string text;
  for (const auto& entry : table)
    text += (text.empty() ? "" : ", ") + std::string(entry.name);
  return text;
}

template <class Choice, size_t n>
std::string_view find_name(const std::array<Named<Choice>, n>& table, Choice choice) noexcept {
  for (const auto& entry : table)
    if (entry.choice == choice)
      return entry.name;
  return "";
}

template <class Table, class Choice>
Status choose_named(const Table& table, std::string_view axis, std::string_view text, Choice& choice) {
  if (text.empty())
    return {};
  for (const auto& entry : table) {
    if (entry.name != text)
      continue;
    choice = entry.choice;
    return {};
  }
  return {Code::bad_argument, fmt::format("{} cannot be \"{}\"; it is one of {}", axis, text, list_of(table))};
}

std::optional<int64_t> positive(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1)
    return std::nullopt;
  return value;
}

// "team(16)" or "team(16,1024)": ranks of a team for writes, and for reads.
Status parse_gather(std::string_view text, Strategy& strategy) {
  if (text == "team")
    return {Code::bad_argument, "gather=team needs its size: team(16), or team(16,1024) to write and to read"};
  if (!text.starts_with("team(") || !text.ends_with(")"))
    return choose_named(k_gathers, "gather", text, strategy.gather);
  const std::string_view inside = text.substr(5, text.size() - 6);
  const size_t comma = inside.find(',');
  const auto write = positive(inside.substr(0, comma));
  const auto read = comma == std::string_view::npos ? write : positive(inside.substr(comma + 1));
  if (!write || !read)
    return {Code::bad_argument, fmt::format("gather cannot be \"{}\"; a team's size is a whole number from 1", text)};
  strategy.gather = Gather::team;
  strategy.team_write = *write;
  strategy.team_read = *read;
  return {};
}

// nullptr: automatic or off.
const Compressor* compressor_of(Codec codec) noexcept {
  return codec < Codec::first_compressor
             ? nullptr
             : known_compressors()[static_cast<size_t>(codec) - static_cast<size_t>(Codec::first_compressor)];
}

bool is_built(Codec codec) noexcept {
  return codec < Codec::first_compressor || compressor_of(codec)->is_built_in();
}

// The text of a codec in its parts: "zstd+shuffle(3)".
struct CodecText {
  std::string_view name;
  bool shuffles = false;
  bool has_level = false;
  std::optional<int64_t> level;  // nullopt: none, or not a whole number from 1
};

CodecText split_codec(std::string_view text) {
  constexpr std::string_view k_shuffle = "+shuffle";
  CodecText parts;
  parts.name = text.substr(0, text.find('('));
  parts.has_level = parts.name.size() < text.size();
  if (parts.has_level && text.ends_with(')'))
    parts.level = positive(text.substr(parts.name.size() + 1, text.size() - parts.name.size() - 2));
  parts.shuffles = parts.name.ends_with(k_shuffle);
  if (parts.shuffles)
    parts.name.remove_suffix(k_shuffle.size());
  return parts;
}

bool can_shuffle(const Compressor* compressor) noexcept {
  return compressor != nullptr && compressor->shuffles();
}

// The largest level of a compressor that has any; otherwise 0.
int largest_level_of(const Compressor* compressor) noexcept {
  return compressor != nullptr && compressor->largest_level() > 1 ? compressor->largest_level() : 0;
}

// Parses "lz4", "lz4+shuffle", "zstd(3)", "zstd+shuffle(3)".
Status parse_codec(std::string_view text, Strategy& strategy) {
  if (text.empty())
    return {};
  const CodecText parts = split_codec(text);
  Codec codec = Codec::automatic;
  if (Status status = choose_named(codecs(), "codec", parts.name, codec); !status.ok())
    return status;
  if (!is_built(codec))
    return {Code::unsupported, fmt::format("codec={} is not built into this library", parts.name)};
  const Compressor* compressor = compressor_of(codec);
  if (parts.shuffles && !can_shuffle(compressor))
    return {Code::bad_argument, fmt::format("codec cannot be \"{}\": {} does not shuffle", text, parts.name)};
  const int largest_level = largest_level_of(compressor);
  if (parts.has_level && (!parts.level || *parts.level > largest_level))
    return {Code::bad_argument,
            fmt::format("codec cannot be \"{}\": {}", text,
                        largest_level > 0 ? fmt::format("levels of {} go from 1 to {}", parts.name, largest_level)
                                          : fmt::format("{} has no levels", parts.name))};
  strategy.codec = codec;
  strategy.codec_shuffle = parts.shuffles;
  strategy.codec_level = parts.has_level ? static_cast<int>(*parts.level) : 0;
  return {};
}

Status apply(const StrategyRequest& axes, Strategy& strategy) {
  const auto base = [](const std::string& text) { return std::string_view(text).substr(0, text.find('(')); };
  if (Status status = choose_named(k_owners, "owner", axes.owner, strategy.owner); !status.ok())
    return status;
  if (Status status = parse_gather(axes.gather, strategy); !status.ok())
    return status;
  if (Status status = choose_named(k_domains, "domains", axes.domains, strategy.domains); !status.ok())
    return status;
  if (Status status = parse_codec(axes.codec, strategy); !status.ok())
    return status;
  if (Status status = choose_named(k_accesses, "access", axes.access, strategy.access); !status.ok())
    return status;
  return choose_named(k_files, "files", base(axes.files), strategy.files);
}

StrategyRequest request_of(const Preset& preset) {
  return {std::string(preset.name),    std::string(preset.owner), std::string(preset.gather),
          std::string(preset.domains), std::string(preset.codec), std::string(preset.access),
          std::string(preset.files)};
}

}  // namespace

std::string codec_text(const Strategy& strategy) {
  std::string text(name_of(strategy.codec));
  if (strategy.codec_shuffle)
    text += "+shuffle";
  if (strategy.codec_level > 0)
    text += fmt::format("({})", strategy.codec_level);
  return text;
}

std::string_view name_of(Owner choice) noexcept {
  return find_name(k_owners, choice);
}
std::string_view name_of(Gather choice) noexcept {
  return find_name(k_gathers, choice);
}
std::string_view name_of(Domains choice) noexcept {
  return find_name(k_domains, choice);
}
std::string_view name_of(Codec choice) noexcept {
  const Compressor* compressor = compressor_of(choice);
  return compressor != nullptr ? compressor->name() : choice == Codec::off ? "off" : "auto";
}
std::string_view name_of(Access choice) noexcept {
  return find_name(k_accesses, choice);
}
std::string_view name_of(Files choice) noexcept {
  return find_name(k_files, choice);
}

std::optional<Codec> find_codec(std::string_view compressor) noexcept {
  const auto known = known_compressors();
  for (size_t place = 0; place < known.size(); ++place)
    if (known[place]->name() == compressor)
      return static_cast<Codec>(static_cast<size_t>(Codec::first_compressor) + place);
  return std::nullopt;
}

Result<Strategy> parse_strategy(const StrategyRequest& request) {
  Strategy strategy;
  const Preset* preset = nullptr;
  for (const Preset& candidate : k_presets)
    if (candidate.name == request.preset)
      preset = &candidate;
  if (preset == nullptr)
    return Status{Code::bad_argument,
                  fmt::format("strategy cannot be \"{}\"; it is one of {}", request.preset, list_of(k_presets))};
  strategy.preset = request.preset;
  if (preset->name == "tpc" && find_compressor("lzo") != nullptr)
    strategy.codec_preferred = *find_codec("lzo");  // the choice of the paper
  if (Status status = apply(request_of(*preset), strategy); !status.ok())
    return Status{status.code(), fmt::format("strategy {}: {}", request.preset, status.message())};
  const auto given = [](const std::string& text) { return text == "auto" ? std::string() : text; };
  const StrategyRequest axes{"",
                             given(request.owner),
                             given(request.gather),
                             given(request.domains),
                             given(request.codec),
                             given(request.access),
                             given(request.files)};
  if (Status status = apply(axes, strategy); !status.ok())
    return status;
  return strategy;
}

std::vector<Feature> strategy_features() {
  std::vector<Feature> features;
  for (const Preset& preset : k_presets) {
    Strategy strategy;
    features.push_back({fmt::format("strategy={}", preset.name), apply(request_of(preset), strategy).ok()});
  }
  const auto add = [&features](std::string_view axis, const auto& table) {
    for (const auto& entry : table)
      features.push_back({fmt::format("{}={}", axis, entry.name), true});
  };
  add("owner", k_owners);
  add("gather", k_gathers);
  add("domains", k_domains);
  for (const auto& entry : codecs())
    features.push_back({fmt::format("codec={}", entry.name), is_built(entry.choice)});
  add("access", k_accesses);
  add("files", k_files);
  return features;
}

}  // namespace windrow
