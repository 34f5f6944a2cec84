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

// The defaults that are numbers:
//  buffer      4 MiB: a few stripes, and small enough to stay in a cache between the ranks' copies and the write (16 MiB, ROMIO's
//  cb_buffer_size, took 1.3 times as long for 64 MiB on one host). sieve_hole  64 KiB: reading it at 1 GB/s takes 66 microseconds, about one more request to a parallel
//  file system. direct_bytes 1 MiB: the default stripe and RPC size of Lustre: such a piece is already one good
//  request.
constexpr std::array k_registry{
    SettingInfo{"strategy", choice, "auto", "auto|scorpio|two-phase|tpc|list|idg|subfiling|ylib|bips3d-tree", "", 0,
                "Preset for all axes; `auto` chooses each from what is written. An axis that is set itself wins over "
                "the preset."},
    SettingInfo{"owner", choice, "auto", "auto|partitioner|first|highest|idg|idg_figure|random|balanced", "", 0,
                "Who writes a point that several ranks hold. `balanced`: long rows, and not many more for one than for another; `auto`: by flags of who owns it, where there are any, else balanced."},
    SettingInfo{"gather", choice, "auto", "auto|none|host|team(N)|team(N,M)", "", 0,
                "Whether ranks first hand their data to one rank of their host, or of every N consecutive ranks (M when reading). Variables with chunks are not gathered: each chunk goes to the rank that encodes it."},
    SettingInfo{"domains", choice, "auto", "auto|none|even|aligned|cyclic|target", "", 0,
                "How the file is cut among the writers: `even` and `aligned` parts, or stripes: `target` gives a writer those of one target or several, `cyclic` deals them in turn."},
    SettingInfo{"codec", choice, "auto", "auto|off|delta|lzo|lzo+shuffle|lz4|lz4+shuffle|zstd|zstd+shuffle|zstd(N)|zstd+shuffle(N)", "", 0,
                "Compression of the messages between hosts; N is a level, 1 to 19; `delta`: differences of neighbours in as few bits as they need. `auto`: where it pays, from what is measured."},
    SettingInfo{"access", choice, "auto", "auto|contiguous|list|sieve|mapped", "", 0, "How a writer or reader touches the file; mapped is for reading."},
    SettingInfo{"files", choice, "auto", "auto|one|shared|subfiles(N)|per-rank", "", 0,
                "Into how many files the data goes; `shared` is `one`, and per-rank as many subfiles as there are ranks. `auto`: one, unless it is set: then by the "
                "machine file, or else the file system, the ranks and the hosts, and the plan says why."},
    SettingInfo{"file_system", choice, "auto", "auto|local|nfs|lustre|beegfs|cephfs|gpfs|unknown", "", 0,
                "What the files lie on, where that is not to be asked of the system; `local`: a disk of this host or its memory."},
    SettingInfo{"layout", text, "auto", "", "", 0,
                "How the storage spreads the file: `auto` asks the file system, `none` asks nobody, and `mock:stripe=1MiB,count=8` stands for any: see layouts.md."},
    SettingInfo{"stripe", text, "auto", "", "", 0,
                "Stripes of a file that is created: `site` leaves them as its folder has them, numbers such as size=4MiB,count=8,first=3 are set where the file system can; "
                "`auto`: as the file that is replaced has them, else from expected_bytes, but never against what the folder was given."},
    SettingInfo{"ceph_osds", choice, "off", "off|auto|libcephfs", "", 0,
                "Who is asked which OSD of a CephFS has each object of a file: `auto`, the kernel's client, where it is one; `libcephfs`, where it is not, another client that is made for it; "
                "`off`, nobody: see layouts.md."},
    SettingInfo{"expected_bytes", bytes, "0", "", "bytes", 0, "How large a file that is created will be, for stripe=auto and files=auto; 0: not known."},
    SettingInfo{"checksum", boolean, "false", "", "", 0,
                "Each part of a split variable gets a checksum of its elements when the file is closed, which `windrow check` compares."},
    SettingInfo{"split", text, "auto", "", "", 0,
                "Of a file with subfiles or of one variable: the dimensions that are cut, the slowest being 0, as 0 or 0,2; `none`: it is not split; "
                "`auto`: the slowest that is long enough, or several, into parts of 64 bytes or more."},
    SettingInfo{"split_parts", text, "auto", "", "", 0,
                "The same as numbers of parts of each dimension, \"4x1x2\", or as their lengths, \"3+5+2x1x2\"; no more parts than subfiles."},
    SettingInfo{"pnetcdf_subfiling", boolean, "false", "", "", 0,
                "PnetCDF's name for a file with as many subfiles as nc_num_subfiles says; `enable` and `disable` are understood."},
    SettingInfo{"nc_num_subfiles", integer, "0", "", "subfiles", 0, "See pnetcdf_subfiling."},
    SettingInfo{"subfiling", boolean, "false", "", "", 0, "The same, with as many subfiles as subfiling_nfiles says."},
    SettingInfo{"subfiling_enabled", boolean, "false", "", "", 0, "Another name of subfiling."},
    SettingInfo{"subfiling_nfiles", integer, "0", "", "subfiles", 0, "See subfiling."},
    SettingInfo{"subfile_bytes", bytes, "0", "", "bytes", 0,
                "Largest size of a file, as an archive has one: variables are split over so many subfiles that none is larger; 0: no limit. The number is chosen when the first "
                "variables that need it are defined, and no smaller than expected_bytes asks for. Records behind the first are not counted."},
    SettingInfo{"writers", integer, "0", "", "ranks", 0, "How many ranks write to the file; 0: chosen automatically."},
    SettingInfo{"buffer", bytes, "4MiB", "", "bytes", 4096,
                "Largest buffer of one writer or reader for one round; see buffers. Beside them there is no more than a tenth, where they are 2 MiB in all or more. A rank that sends messages, as between hosts, has two of a 36th, 64 to 512 KiB, three where they may be compressed."},
    SettingInfo{"buffers", integer, "0", "", "buffers, 2 to 64", 0,
                "Most buffers of one writer or reader; 0: 4 where there are several hosts, or rank 0's has more cores than ranks, else 2; on a disk of one host's own, where a rank moves 64 MiB and more of a file in one stretch, 4 times as many of 1 MiB unless `buffer` is set (not of stripes, teams and chunks). Where messages come in they lie in half of them. More of them let more of a flush that was begun be written while the program goes on."},
    SettingInfo{"align", bytes, "0", "", "bytes", 0, "Unit at which domains=aligned cuts and which domains=cyclic deals; 0: stripes, or 1 MiB where there are none."},
    SettingInfo{"sieve_hole", bytes, "64KiB", "", "bytes", 0,
                "Largest hole between two pieces that sieving reads over. Unless it is set, 4 KiB on a local disk."},
    SettingInfo{"direct_bytes", bytes, "1MiB", "", "bytes", 0,
                "Pieces of at least this length are moved by the rank that holds them, without an exchange. Unless it is set, rows are from "
                "64 KiB on; on a local disk from 4 KiB on, and all are read so when their mean length is 16 KiB; and none are where as many hosts as a striped file has targets, or more, have a writer for each (domains=target)."},
    SettingInfo{"shared_memory", boolean, "true", "", "", 0,
                "Ranks of one host copy data, and tell what they hold of them, through shared memory instead of sending messages."},
    SettingInfo{"check_messages", boolean, "false", "", "", 0,
                "Messages that carry data carry a checksum too, and a wrong one is an error on all ranks."},
    SettingInfo{"check_replicas", boolean, "false", "", "", 0,
                "Points that several ranks hold, or one rank more than once, are compared before they are written, and where the values differ it is an error on all ranks."},
    SettingInfo{"io_thread", choice, "auto", "auto|on|off", "", 0,
                "Whether a writer or reader makes its storage requests in a thread of its own while the ranks go on copying; `auto`: where its "
                "host has more cores than ranks. The thread makes no call of MPI. It lets up to four requests to read be under way at the same time, of 1 MiB each where they are longer, where the storage is slow."},
    SettingInfo{"format", choice, "auto", "auto|hdf5|netcdf|raw", "", 0,
                "Format of a file that is created; `auto`: from its name."},
    SettingInfo{"byte_order", choice, "native", "native|little|big", "", 0, "Byte order of new variables in the file; netCDF classic has big."},
    SettingInfo{"element_bytes", bytes, "0", "", "bytes", 0,
                "Of one variable or attribute: bytes of one element of text or opaque; 0: text of variable length."},
    SettingInfo{"text_characters", choice, "utf8", "utf8|ascii", "", 0, "Of one variable or attribute: the character set that its text is marked with."},
    SettingInfo{"text_padding", choice, "null_padded", "null_padded|null_terminated|space_padded", "", 0,
                "Of one variable or attribute: how text of fixed length is filled up."},
    SettingInfo{"text_in_memory", choice, "as_stored", "as_stored|blanks", "", 0,
                "How text of fixed length is filled up in the program's memory: as in the file, or with blanks, as in Fortran; then a copy of it is "
                "queued where text_padding is another."},
    SettingInfo{"opaque_tag", text, "", "", "", 0, "Of one variable or attribute: what its opaque bytes are."},
    SettingInfo{"enumeration", text, "", "", "", 0,
                "Of one variable or attribute of integers: names of their values, NAME=value, one a line."},
    SettingInfo{"imbalance", integer, "5", "", "per cent", 0,
                "Of one decomposition by points: how much more the rank that has most to do may have than the one that has least, in parts of the mean, before "
                "owner=balanced makes shorter rows for it."},
    SettingInfo{"point_bytes", bytes, "8", "", "bytes", 1,
                "Of one decomposition by points: how long a point is in the variables that are mostly written by it, all values of it; with the machine's numbers it tells how many points "
                "an interval of them costs as much as, when owner=balanced weighs ranks against each other. Rank 0's counts."},
    SettingInfo{"fill_value", text, "", "", "", 0,
                "Of one variable: what elements hold that nobody has written: a number, nan, true, a complex number as 1.5,-2, text, or opaque bytes "
                "as 0xfffe; zeros else."},
    SettingInfo{"null_space", boolean, "false", "", "", 0, "Of one variable or attribute: it has neither elements nor a shape."},
    SettingInfo{"conversion", choice, "clamp", "clamp|error", "", 0,
                "What becomes of values that do not fit when windrow_put_as() or windrow_get_as() converts: the nearest value that fits, counted in "
                "the report, or an error."},
    SettingInfo{"alignment", bytes, "1", "", "bytes", 1,
                "Variables of 64 KiB and more begin at a multiple of this in an HDF5 file; all that do not grow in one of netCDF classic."},
    SettingInfo{"chunks", text, "auto", "", "elements", 0,
                "Shape of the chunks of new variables in an HDF5 file, as \"64x64x64\"; `none`: contiguous; `auto`: none without filters, else "
                "1 to 2 MiB, as near to a cube as halving makes it."},
    SettingInfo{"filters", text, "none", "", "", 0,
                "What becomes of a chunk's bytes in the file, in this order, as \"shuffle,deflate:1\": `shuffle`, `deflate:0..9`, `zstd:1..22`, "
                "`lz4`, `blosc:CODEC:0..9`, `fletcher32`."},
    SettingInfo{"extendible", boolean, "false", "", "", 0,
                "Of one new variable: its first dimension may grow, by records that are put behind its end. Chunks then hold 64 KiB of records or "
                "more, unless `chunks` is given; netCDF classic has none."},
    SettingInfo{"netcdf_version", choice, "auto", "auto|1|2|5", "", 0,
                "Version of a netCDF classic file; `auto`: the smallest that holds it, and of a file that exists its own."},
    SettingInfo{"header_room", bytes, "0", "", "bytes", 0,
                "Bytes left free at least behind the header of a new netCDF classic file, for what is defined later; it is rounded up to 4 KiB together with the "
                "header."},
    SettingInfo{"record_alignment", bytes, "4", "", "bytes", 1, "The first record of a netCDF classic file begins at a multiple of this."},
    SettingInfo{"references", choice, "auto", "auto|none|kerchunk", "", 0,
                "`kerchunk`: beside the file a text FILE.kerchunk.json that says where the chunks of all variables lie, in subfiles too, by which xarray and zarr open "
                "them as one. `auto`: for netCDF files with subfiles, whose base file shows other programs no array."},
    SettingInfo{"trace", text, "", "", "", 0,
                "A file that what each flush did is added to, in lines of JSON, for `windrow report`: see traces.md. Where it cannot be written, the report says so."},
    SettingInfo{"trace_detail", choice, "auto", "auto|full", "", 0,
                "What a trace tells of flushes that together are shorter than two hundred times what a whole line takes. auto: numbers of all ranks, many flushes in a line; full: all of each, at whatever cost."},
    SettingInfo{"machine", text, "", "", "", 0,
                "A machine file, as `windrow calibrate` writes it: by its numbers auto foretells seconds and chooses: see machine-model.md. Rank 0 reads it; one that cannot be read is an error."},
    SettingInfo{"learn", choice, "auto", "auto|on|off", "", 0,
                "Whether what flushes took corrects what is foretold of the next: `auto` where there is a machine file; `on` also without one, then what is usual for the file system decides once it is corrected."},
    SettingInfo{"durable", boolean, "false", "", "", 0,
                "Data is on stable storage before a file takes its name, and after a sync."},
    SettingInfo{"store", choice, "posix", "posix|faulty", "", 0,
                "Where the bytes go; `faulty` fails on command, for tests."},
    SettingInfo{"fault", text, "", "", "", 0,
                "What the faulty store does, as \"rank=1,operation=write,after=3,error=no_space\"."},
};

// Options of earlier versions. Whoever still gives one hears what has become of it.
struct RemovedSetting {
  std::string_view key, reason;
};
constexpr std::array k_removed{
    RemovedSetting{"plan_memory", "a file keeps up to 128 plans in up to 64 MiB on a rank, and no plan outlives its file"},
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

// "team(16)" or "team(16,1024)" as name and numbers; nullopt: brackets without numbers >= 1 in them.
std::optional<Choice> parse_choice(std::string_view text) {
  const size_t open = text.find('(');
  if (open == std::string_view::npos) return Choice{std::string(text), 0, 0};
  if (text.back() != ')') return std::nullopt;
  const std::string_view inside = text.substr(open + 1, text.size() - open - 2);
  const size_t comma = inside.find(',');
  const auto first = parse_integer(inside.substr(0, comma));
  const auto second = comma == std::string_view::npos ? std::optional<int64_t>(0) : parse_integer(inside.substr(comma + 1));
  if (!first || *first < 1 || !second || (comma != std::string_view::npos && *second < 1)) return std::nullopt;
  return Choice{std::string(text.substr(0, open)), *first, *second};
}

bool is_choice(std::string_view text, std::string_view values) {
  const auto given = parse_choice(text);
  if (!given) return false;
  return std::ranges::any_of(split(values, '|'), [&](std::string_view value) {
    const bool takes_one = value.ends_with("(N)"), takes_two = value.ends_with("(N,M)");
    return given->name == value.substr(0, value.find('(')) && (given->argument > 0) == (takes_one || takes_two) &&
           (given->second > 0) == takes_two;
  });
}

// Capitals count as small letters: MPI's hints are written either way, and Python's True.
std::optional<bool> parse_boolean(std::string_view value) noexcept {
  const auto is = [value](std::string_view word) {
    return std::ranges::equal(value, word, [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b; });
  };
  for (const std::string_view yes : {"true", "1", "yes", "on", "enable"})
    if (is(yes)) return true;
  for (const std::string_view no : {"false", "0", "no", "off", "disable"})
    if (is(no)) return false;
  return std::nullopt;
}

// What a setting takes, in words.
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

// Insertions, deletions and replacements from one word to the other (Levenshtein's distance).
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
  for (const SettingInfo& info : k_registry) all.push_back(info.key);
  if (const auto similar = similar_settings(key); !similar.empty())
    return {Code::bad_argument,
            fmt::format("there is no option \"{}\"; did you mean {}?", key, fmt::join(similar, " or "))};
  return {Code::bad_argument, fmt::format("there is no option \"{}\"; there are {}", key, fmt::join(all, ", "))};
}

}  // namespace

std::span<const SettingInfo> setting_registry() noexcept { return k_registry; }

std::vector<std::string_view> similar_settings(std::string_view key) {
  std::vector<std::string_view> similar;
  for (const SettingInfo& info : k_registry)
    if (distance(key, info.key) <= 2 || (key.size() >= 3 && info.key.starts_with(key))) similar.push_back(info.key);
  return similar;
}

const SettingInfo* find_setting(std::string_view key) noexcept {
  // Asked for some hundred times by each file that is opened and written: a table of places by a hash, each with as many that follow it as have the same.
  constexpr size_t k_places = 256;
  static_assert(k_registry.size() <= k_places / 2);
  constexpr auto place_of = [](std::string_view text) {
    size_t hash = text.size();
    for (const char c : text) hash = hash * 31 + static_cast<unsigned char>(c);
    return (hash ^ hash >> 8) % k_places;
  };
  static constexpr auto k_by_place = [place_of] {
    std::array<const SettingInfo*, k_places> table{};
    for (const SettingInfo& info : k_registry) {
      size_t place = place_of(info.key);
      while (table[place] != nullptr) place = (place + 1) % k_places;
      table[place] = &info;
    }
    return table;
  }();
  for (size_t place = place_of(key); k_by_place[place] != nullptr; place = (place + 1) % k_places)
    if (k_by_place[place]->key == key) return k_by_place[place];
  return nullptr;
}

namespace {
constexpr std::string_view k_environment = "WINDROW_";
}

std::string environment_name(std::string_view key) {
  std::string name(k_environment);
  for (const char c : key) name += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

Status Settings::set(std::string_view key, std::string_view value) {
  const SettingInfo* info = find_setting(key);
  if (info == nullptr) return unknown_key(key);
  if (!is_valid(*info, value))
    return {Code::bad_argument, fmt::format("option \"{}\" cannot be \"{}\": it takes {}", key, value, allowed(*info))};
  values_.insert_or_assign(std::string(key), std::string(value));
  return {};
}

std::string_view Settings::lookup(std::string_view key) const noexcept {
  if (const auto at = values_.find(key); at != values_.end()) return at->second;
  const SettingInfo* info = find_setting(key);
  return info == nullptr ? std::string_view{} : info->default_text;
}

std::string Settings::text(std::string_view key) const { return std::string(lookup(key)); }
Choice Settings::choice(std::string_view key) const { return parse_choice(lookup(key)).value_or(Choice{}); }
int64_t Settings::integer(std::string_view key) const noexcept { return parse_integer(lookup(key)).value_or(0); }
int64_t Settings::bytes(std::string_view key) const noexcept { return parse_bytes(lookup(key)).value_or(0); }
bool Settings::boolean(std::string_view key) const noexcept { return parse_boolean(lookup(key)).value_or(false); }

namespace {

// "": no setting is called so, and none was: environment_warnings().
std::string key_of_environment(std::string_view name) {
  std::string key(name.substr(k_environment.size()));
  for (char& c : key) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const bool known = find_setting(key) != nullptr || find_removed(key) != nullptr;
  return known && environment_name(key) == name ? key : "";
}

}  // namespace

Result<Settings> resolve(const Settings& program) {
  Settings resolved;
  for (const EnvironmentVariable& variable : own_environment()) {
    const std::string key = key_of_environment(variable.name);
    // Of two variables of one name the first counts, as for getenv().
    if (key.empty() || program.is_set(key) || resolved.is_set(key)) continue;
    if (const Status status = resolved.set(key, variable.value); !status.ok())
      return Status(status.code(), fmt::format("environment variable {}: {}", variable.name, status.message()));
  }
  for (const auto& [key, value] : program.values())
    if (Status status = resolved.set(key, value); !status.ok()) return status;
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
