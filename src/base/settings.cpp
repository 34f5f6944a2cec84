// SPDX-License-Identifier: BSD-3-Clause
#include "base/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>
#include <optional>
#include <vector>

#include "base/environment.hpp"
#include "base/units.hpp"

namespace windrow {

namespace {

using enum SettingKind;

// Reasons for the defaults:
//  buffer        4 MiB: a few stripes, and small enough to stay in cache between the copies and the write
//  sieve_hole    64 KiB: at 1 GB/s the read takes about as long as one more request to a parallel file system
//  direct_bytes  1 MiB: the default stripe and RPC size of Lustre
constexpr std::array k_registry{
    SettingInfo{"strategy", choice, "auto", "auto|scorpio|two-phase|tpc|list|idg|subfiling|ylib|bips3d-tree", "", 0,
                "Preset for all axes. `auto` chooses each axis from the data. An axis that is set overrides the "
                "preset."},
    SettingInfo{"owner", choice, "auto", "auto|partitioner|first|highest|idg|idg_figure|random|balanced", "", 0,
                "Which rank writes a point that several ranks hold. `auto`: by ownership flags if the program gave "
                "any, else `balanced`."},
    SettingInfo{"gather", choice, "auto", "auto|none|host|team(N)|team(N,M)", "", 0,
                "Whether ranks first send their data to one rank of their host (`host`), or of every N consecutive "
                "ranks (`team`; M when reading)."},
    SettingInfo{"domains", choice, "auto", "auto|none|even|aligned|cyclic|target", "", 0,
                "How the file is divided among the writers: contiguous parts (`even`, `aligned`), stripes of a "
                "target (`target`), or stripes in turn (`cyclic`)."},
    SettingInfo{"codec", choice, "auto",
                "auto|off|delta|lzo|lzo+shuffle|lz4|lz4+shuffle|zstd|zstd+shuffle|zstd(N)|zstd+shuffle(N)", "", 0,
                "Compression of messages between hosts. N is the level, 1 to 19. `auto`: compress where "
                "measurements show a gain."},
    SettingInfo{"access", choice, "auto", "auto|contiguous|list|sieve|mapped", "", 0,
                "How a writer or reader accesses the file. `mapped` is for reading only."},
    SettingInfo{"files", choice, "auto", "auto|one|shared|subfiles(N)|per-rank", "", 0,
                "Number of files that hold the data; one if the option is not set. `shared` is `one`; `per-rank` "
                "makes as many subfiles as ranks."},
    SettingInfo{"file_system", choice, "auto", "auto|local|nfs|lustre|beegfs|cephfs|gpfs|unknown", "", 0,
                "Type of the file system, if the system's answer is not to be used. `local`: a disk or the memory "
                "of this host."},
    SettingInfo{"layout", text, "auto", "", "", 0,
                "How the storage stripes the file. `auto`: ask the file system; `none`: do not ask; `mock:...`: "
                "simulate: see layouts.md."},
    SettingInfo{"stripe", text, "auto", "", "", 0,
                "Striping of a new file: `auto`, `site` (the folder's), or numbers such as "
                "size=4MiB,count=8,first=3: see layouts.md."},
    SettingInfo{"ceph_osds", choice, "off", "off|auto|libcephfs", "", 0,
                "How to find the OSD of each object of a CephFS file: not at all, from the kernel's client, or "
                "also by libcephfs: see layouts.md."},
    SettingInfo{"expected_bytes", bytes, "0", "", "bytes", 0,
                "Expected size of a new file, for stripe=auto and files=auto; 0: unknown."},
    SettingInfo{"checksum", boolean, "false", "", "", 0,
                "Store a checksum of each part of a split variable at close. `windrow check` verifies it."},
    SettingInfo{"split", text, "auto", "", "", 0,
                "Dimensions along which variables are split over subfiles, such as 0 or 0,2 (0 is the slowest). "
                "`none`: do not split."},
    SettingInfo{"split_parts", text, "auto", "", "", 0,
                "Number of parts along each dimension, \"4x1x2\", or their lengths, \"3+5+2x1x2\". At most as many "
                "parts as subfiles."},
    SettingInfo{"pnetcdf_subfiling", boolean, "false", "", "", 0, "PnetCDF's name: create nc_num_subfiles subfiles."},
    SettingInfo{"nc_num_subfiles", integer, "0", "", "subfiles", 0, "Number of subfiles for pnetcdf_subfiling."},
    SettingInfo{"subfiling", boolean, "false", "", "", 0, "Create subfiling_nfiles subfiles."},
    SettingInfo{"subfiling_enabled", boolean, "false", "", "", 0, "Another name for subfiling."},
    SettingInfo{"subfiling_nfiles", integer, "0", "", "subfiles", 0, "Number of subfiles for subfiling."},
    SettingInfo{"subfile_bytes", bytes, "0", "", "bytes", 0,
                "Maximum size of each file. Windrow creates enough subfiles to respect it. 0: no limit."},
    SettingInfo{"writers", integer, "0", "", "ranks", 0, "Number of aggregators that write; 0: chosen automatically."},
    SettingInfo{"buffer", bytes, "4MiB", "", "bytes", 4096,
                "Maximum size of one buffer of an aggregator; it holds the data of one round."},
    SettingInfo{"buffers", integer, "0", "", "buffers, 2 to 64", 0,
                "Maximum number of buffers per aggregator; 0: 4 or 2, see below."},
    SettingInfo{"align", bytes, "0", "", "bytes", 0,
                "Unit for domains=aligned and domains=cyclic; 0: the stripe size, or 1 MiB without stripes."},
    SettingInfo{"sieve_hole", bytes, "64KiB", "", "bytes", 0,
                "Largest gap between two pieces that data sieving reads across. The default is 4 KiB on a local "
                "disk."},
    SettingInfo{"direct_bytes", bytes, "1MiB", "", "bytes", 0,
                "Pieces of at least this length are moved by the rank that holds them, without an exchange. Other "
                "defaults: see below."},
    SettingInfo{"shared_memory", boolean, "true", "", "", 0,
                "Ranks of one host exchange data and descriptions through shared memory instead of messages."},
    SettingInfo{"check_messages", boolean, "false", "", "", 0,
                "Add a checksum to each data message. A mismatch is an error on all ranks."},
    SettingInfo{"check_replicas", boolean, "false", "", "", 0,
                "Compare the replicas of an element before writing. Different values are an error on all ranks."},
    SettingInfo{"io_thread", choice, "auto", "auto|on|off", "", 0,
                "Make storage requests in a separate thread. `auto`: if the host has more cores than ranks. The "
                "thread does not call MPI."},
    SettingInfo{"format", choice, "auto", "auto|hdf5|netcdf|raw", "", 0,
                "Format of a new file; `auto`: from its name."},
    SettingInfo{"byte_order", choice, "native", "native|little|big", "", 0,
                "Byte order of new variables in the file. netCDF classic is always big-endian."},
    SettingInfo{"element_bytes", bytes, "0", "", "bytes", 0,
                "Bytes per element of a text or opaque variable or attribute; 0: text of variable length."},
    SettingInfo{"text_characters", choice, "utf8", "utf8|ascii", "", 0,
                "Character set recorded for a text variable or attribute."},
    SettingInfo{"text_padding", choice, "null_padded", "null_padded|null_terminated|space_padded", "", 0,
                "Padding of fixed-length text in the file."},
    SettingInfo{"text_in_memory", choice, "as_stored", "as_stored|blanks", "", 0,
                "Padding of fixed-length text in the program's memory: as in the file, or blanks as in Fortran."},
    SettingInfo{"opaque_tag", text, "", "", "", 0,
                "Tag of an opaque variable or attribute: a description of its bytes."},
    SettingInfo{"enumeration", text, "", "", "", 0,
                "Names of the values of an integer variable or attribute: NAME=value, one per line."},
    SettingInfo{"imbalance", integer, "5", "", "per cent", 0,
                "Tolerated load difference between ranks, of a decomposition by points with owner=balanced, in per "
                "cent of the mean."},
    SettingInfo{"point_bytes", bytes, "8", "", "bytes", 1,
                "Typical number of bytes per point, of a decomposition by points. Used by owner=balanced."},
    SettingInfo{"fill_value", text, "", "", "", 0,
                "Value of elements that were never written: a number, nan, true, 1.5,-2 for complex, text, or "
                "0xfffe for opaque. Default: zero."},
    SettingInfo{"null_space", boolean, "false", "", "", 0,
                "The variable or attribute has neither elements nor a shape."},
    SettingInfo{"conversion", choice, "clamp", "clamp|error", "", 0,
                "What happens to out-of-range values in conversions: store the nearest representable value and "
                "count it, or fail."},
    SettingInfo{"alignment", bytes, "1", "", "bytes", 1,
                "Variables begin at a multiple of this: those of 64 KiB or more in HDF5, those without records in "
                "netCDF classic."},
    SettingInfo{"chunks", text, "auto", "", "elements", 0,
                "Chunk shape of new HDF5 variables, such as \"64x64x64\". `none`: contiguous. `auto`: contiguous "
                "without filters, else 1 to 2 MiB."},
    SettingInfo{"filters", text, "none", "", "", 0,
                "Filters of chunks in the file, in order, such as \"shuffle,deflate:1\": see filters.md."},
    SettingInfo{"extendible", boolean, "false", "", "", 0,
                "The first dimension of the new variable can grow, record by record."},
    SettingInfo{"netcdf_version", choice, "auto", "auto|1|2|5", "", 0,
                "Version of a netCDF classic file. `auto`: the smallest that can hold the data; an existing file "
                "keeps its version."},
    SettingInfo{"header_room", bytes, "0", "", "bytes", 0,
                "Minimum free space after the header of a new netCDF classic file, for later definitions. Rounded "
                "up to 4 KiB with the header."},
    SettingInfo{"record_alignment", bytes, "4", "", "bytes", 1,
                "The first record of a netCDF classic file begins at a multiple of this."},
    SettingInfo{"references", choice, "auto", "auto|none|kerchunk", "", 0,
                "`kerchunk`: write FILE.kerchunk.json, a reference file for xarray and zarr. `auto`: for netCDF "
                "files with subfiles."},
    SettingInfo{"trace", text, "", "", "", 0,
                "File to which a record of each flush is appended, as JSON lines for `windrow report`: see "
                "traces.md."},
    SettingInfo{"machine", text, "", "", "", 0,
                "Machine file of `windrow calibrate`. `auto` uses it to predict times and choose a plan: see "
                "machine-model.md."},
    SettingInfo{"durable", boolean, "false", "", "", 0,
                "Data is on stable storage before a file gets its final name, and after each sync."},
    SettingInfo{"store", choice, "posix", "posix|faulty", "", 0,
                "Storage backend. `faulty` fails on request, for tests."},
    SettingInfo{"fault", text, "", "", "", 0,
                "Fault of the faulty store, such as \"rank=1,operation=write,after=3,error=no_space\"."},
};

// Options that there were. A program that still sets one gets a message with the replacement.
struct RemovedSetting {
  std::string_view key, reason;
};
constexpr std::array k_removed{
    RemovedSetting{"learn", "measured times do not correct predictions; `windrow calibrate` measures the machine"},
    RemovedSetting{"plan_memory",
                   "a file keeps up to 128 plans in up to 64 MiB on a rank, and no plan outlives its file"},
    RemovedSetting{"trace_detail",
                   "a trace has the numbers of every flush, and all details of the first flush with each plan"},
};

const RemovedSetting* find_removed(std::string_view key) noexcept {
  const auto* const found = std::ranges::find(k_removed, key, &RemovedSetting::key);
  return found == k_removed.end() ? nullptr : found;
}

std::vector<std::string_view> split(std::string_view list, char separator) {
  std::vector<std::string_view> parts;
  while (!list.empty()) {
    const size_t end = std::min(list.find(separator), list.size());
    parts.push_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return parts;
}

// Parses "team(16)" or "team(16,1024)" into name and numbers. nullopt: the parentheses hold something other than
// numbers >= 1.
std::optional<Choice> parse_choice(std::string_view text) {
  const size_t open = text.find('(');
  if (open == std::string_view::npos)
    return Choice{std::string(text), 0, 0};
  if (text.back() != ')')
    return std::nullopt;
  const std::string_view inside = text.substr(open + 1, text.size() - open - 2);
  const size_t comma = inside.find(',');
  const auto first = parse_integer(inside.substr(0, comma));
  const auto second =
      comma == std::string_view::npos ? std::optional<int64_t>(0) : parse_integer(inside.substr(comma + 1));
  if (!first || *first < 1 || !second || (comma != std::string_view::npos && *second < 1))
    return std::nullopt;
  return Choice{std::string(text.substr(0, open)), *first, *second};
}

bool is_choice(std::string_view text, std::string_view values) {
  const auto given = parse_choice(text);
  if (!given)
    return false;
  return std::ranges::any_of(split(values, '|'), [&](std::string_view value) {
    const bool takes_one = value.ends_with("(N)"), takes_two = value.ends_with("(N,M)");
    return given->name == value.substr(0, value.find('(')) && (given->argument > 0) == (takes_one || takes_two) &&
           (given->second > 0) == takes_two;
  });
}

// Case does not matter: MPI hints are written in either case, and Python writes True.
std::optional<bool> parse_boolean(std::string_view value) noexcept {
  const auto is = [value](std::string_view word) {
    return std::ranges::equal(
        value, word, [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b; });
  };
  for (const std::string_view yes : {"true", "1", "yes", "on", "enable"})
    if (is(yes))
      return true;
  for (const std::string_view no : {"false", "0", "no", "off", "disable"})
    if (is(no))
      return false;
  return std::nullopt;
}

// The values that a setting accepts, as text.
std::string allowed(const SettingInfo& info) {
  switch (info.kind) {
    case choice:
      return fmt::format("one of {}", fmt::join(split(info.values, '|'), ", "));
    case integer:
      return fmt::format("a whole number, {} or more", info.least);
    case bytes:
      return fmt::format("a number of bytes such as 4096, 64k or 16MiB, {} or more", info.least);
    case boolean:
      return "true or false";
    case text:
      break;
  }
  return "any text";
}

bool is_valid(const SettingInfo& info, std::string_view value) {
  switch (info.kind) {
    case choice:
      return is_choice(value, info.values);
    case integer: {
      const auto number = parse_integer(value);
      return number && *number >= info.least;
    }
    case bytes: {
      const auto number = parse_bytes(value);
      return number && *number >= info.least;
    }
    case boolean:
      return parse_boolean(value).has_value();
    case text:
      break;
  }
  return true;
}

// The Levenshtein distance: insertions, deletions and replacements that turn one string into the other.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t k = 0; k < b.size(); ++k)
      diagonal = std::exchange(row[k + 1], std::min({row[k] + 1, row[k + 1] + 1, diagonal + (a[i] == b[k] ? 0 : 1)}));
  }
  return row.back();
}

Status unknown_key(std::string_view key) {
  if (const RemovedSetting* const removed = find_removed(key); removed != nullptr)
    return {Code::bad_argument, fmt::format("the option \"{}\" was removed: {}", key, removed->reason)};
  std::vector<std::string_view> all;
  for (const SettingInfo& info : k_registry)
    all.push_back(info.key);
  if (const auto similar = similar_settings(key); !similar.empty())
    return {Code::bad_argument,
            fmt::format("there is no option \"{}\"; did you mean {}?", key, fmt::join(similar, " or "))};
  return {Code::bad_argument, fmt::format("there is no option \"{}\"; there are {}", key, fmt::join(all, ", "))};
}

}  // namespace

std::span<const SettingInfo> setting_registry() noexcept {
  return k_registry;
}

std::vector<std::string_view> similar_settings(std::string_view key) {
  std::vector<std::string_view> similar;
  for (const SettingInfo& info : k_registry)
    if (distance(key, info.key) <= 2 || (key.size() >= 3 && info.key.starts_with(key)))
      similar.push_back(info.key);
  return similar;
}

const SettingInfo* find_setting(std::string_view key) noexcept {
  // Each file that is opened and written looks settings up some hundred times. Hence a hash table: an index into the
  // registry for each hash value, with the number of following entries that have the same hash.
  constexpr size_t k_places = 256;
  static_assert(k_registry.size() <= k_places / 2);
  constexpr auto place_of = [](std::string_view text) {
    size_t hash = text.size();
    for (const char c : text)
      hash = hash * 31 + static_cast<unsigned char>(c);
    return (hash ^ hash >> 8) % k_places;
  };
  static constexpr auto k_by_place = [place_of] {
    std::array<const SettingInfo*, k_places> table{};
    for (const SettingInfo& info : k_registry) {
      size_t place = place_of(info.key);
      while (table[place] != nullptr)
        place = (place + 1) % k_places;
      table[place] = &info;
    }
    return table;
  }();
  for (size_t place = place_of(key); k_by_place[place] != nullptr; place = (place + 1) % k_places)
    if (k_by_place[place]->key == key)
      return k_by_place[place];
  return nullptr;
}

namespace {
constexpr std::string_view k_environment = "WINDROW_";
}

std::string environment_name(std::string_view key) {
  std::string name(k_environment);
  for (const char c : key)
    name += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

Status Settings::set(std::string_view key, std::string_view value) {
  const SettingInfo* info = find_setting(key);
  if (info == nullptr)
    return unknown_key(key);
  if (!is_valid(*info, value))
    return {Code::bad_argument, fmt::format("option \"{}\" cannot be \"{}\": it takes {}", key, value, allowed(*info))};
  values_.insert_or_assign(std::string(key), std::string(value));
  return {};
}

std::string_view Settings::lookup(std::string_view key) const noexcept {
  if (const auto at = values_.find(key); at != values_.end())
    return at->second;
  const SettingInfo* info = find_setting(key);
  return info == nullptr ? std::string_view{} : info->default_text;
}

std::string Settings::text(std::string_view key) const {
  return std::string(lookup(key));
}
Choice Settings::choice(std::string_view key) const {
  return parse_choice(lookup(key)).value_or(Choice{});
}
int64_t Settings::integer(std::string_view key) const noexcept {
  return parse_integer(lookup(key)).value_or(0);
}
int64_t Settings::bytes(std::string_view key) const noexcept {
  return parse_bytes(lookup(key)).value_or(0);
}
bool Settings::boolean(std::string_view key) const noexcept {
  return parse_boolean(lookup(key)).value_or(false);
}

namespace {

// "": no setting has or had this name; environment_warnings() reports it.
std::string key_of_environment(std::string_view name) {
  std::string key(name.substr(k_environment.size()));
  for (char& c : key)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const bool known = find_setting(key) != nullptr || find_removed(key) != nullptr;
  return known && environment_name(key) == name ? key : "";
}

}  // namespace

Result<Settings> resolve(const Settings& program) {
  Settings resolved;
  for (const EnvironmentVariable& variable : own_environment()) {
    const std::string key = key_of_environment(variable.name);
    // If a name occurs twice in the environment, the first counts, as for getenv().
    if (key.empty() || program.is_set(key) || resolved.is_set(key))
      continue;
    if (const Status status = resolved.set(key, variable.value); !status.ok())
      return Status(status.code(), fmt::format("environment variable {}: {}", variable.name, status.message()));
  }
  for (const auto& [key, value] : program.values())
    if (Status status = resolved.set(key, value); !status.ok())
      return status;
  return resolved;
}

std::string settings_table_markdown() {
  std::string table = "| key | default | values | what it does |\n| --- | --- | --- | --- |\n";
  for (const SettingInfo& info : k_registry) {
    std::string values;
    switch (info.kind) {
      case choice:
        values = fmt::format("`{}`", fmt::join(split(info.values, '|'), "` `"));
        break;
      case integer:
        values = fmt::format("a number of {}", info.unit);
        break;
      case bytes:
        values = info.unit;
        break;
      case boolean:
        values = "`true` `false`";
        break;
      case text:
        values = "text";
        break;
    }
    const std::string default_text = info.default_text.empty() ? "" : fmt::format("`{}`", info.default_text);
    table += fmt::format("| `{}` | {} | {} | {} |\n", info.key, default_text, values, info.documentation);
  }
  return table;
}

}  // namespace windrow
