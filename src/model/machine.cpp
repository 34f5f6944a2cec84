// SPDX-License-Identifier: BSD-3-Clause
#include "model/machine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <type_traits>

#include "base/nesting.hpp"
#include "base/units.hpp"

namespace windrow {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* k_head = "windrow machine";
constexpr std::array<std::string_view, 4> k_sections{"memory", "network", "storage", "metadata"};
constexpr std::array<std::string_view, k_sharing_count> k_sharings{"apart", "interleaved", "targets", "mapped",
                                                                   "sieved"};
constexpr size_t k_most_text = size_t{1} << 20, k_most_listed = 10'000;

// Reads a machine file and keeps the first error.
class Reader {
 public:
  explicit Reader(std::string_view file) : file_(file) {}
  Status take_status() { return std::move(status_); }
  bool ok() const noexcept { return status_.ok(); }

  void fail(std::string_view field, std::string_view what) {
    if (status_.ok())
      status_ = Status{Code::bad_file,
                       fmt::format("machine file \"{}\": {}{}{}", file_, field, field.empty() ? "" : " ", what)};
  }

  void text(const Json& object, const char* key, std::string_view field, std::string& out) {
    const auto found = object.find(key);
    if (found == object.end())
      return;
    if (!found->is_string())
      return fail(field, fmt::format("cannot be {}: it must be a string", shown(*found)));
    out = found->get<std::string>();
  }

  template <class Number>
  void number(const Json& object, const std::string& key, std::string_view field, Number& out, Number least,
              Number most) {
    const auto found = object.find(key);
    if (found == object.end())
      return;
    double value = 0;
    const std::string* written = found->get_ptr<const std::string*>();
    const std::optional<int64_t> bytes =
        written && field.find("bytes") != std::string_view::npos ? parse_bytes(*written) : std::nullopt;
    if (found->is_number())
      value = found->template get<double>();
    else if (bytes)
      value = static_cast<double>(*bytes);
    else
      return fail(field, fmt::format("cannot be {}: it must be a number", shown(*found)));
    if (bytes && is_of_bits(*written))
      return fail(field, fmt::format("cannot be {}: this means bits; use GB, MB or kB for bytes", shown(*found)));
    if (!(value >= static_cast<double>(least) && value <= static_cast<double>(most)))
      return fail(field, fmt::format("cannot be {}: it must be from {:g} to {:g}", shown(*found),
                                     static_cast<double>(least), static_cast<double>(most)));
    if constexpr (std::is_integral_v<Number>) {
      if (value != std::floor(value))
        return fail(field, fmt::format("cannot be {}: it must be a whole number", shown(*found)));
      out = found->is_number_integer() ? found->template get<Number>() : static_cast<Number>(value);
    } else {
      out = value;
    }
  }

  static bool is_of_bits(const std::string& text) {
    return text.size() > 1 && text.back() == 'b' &&
           std::isupper(static_cast<unsigned char>(text[text.size() - 2])) != 0;
  }

  static std::string shown(const Json& value) {
    constexpr size_t k_most = 40;
    std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
    if (text.size() > k_most)
      text = text.substr(0, k_most) + "...";
    return text;
  }

 private:
  std::string file_;
  Status status_;
};

struct Place {
  std::string section;  // "": the top level
  std::string key;
};

Place place_of(std::string_view name) {
  const size_t dot = name.find('.');
  return dot == std::string_view::npos ? Place{"", std::string(name)}
                                       : Place{std::string(name.substr(0, dot)), std::string(name.substr(dot + 1))};
}

// Unknown names are errors: most are misspellings, and skipping one would silently replace the given value by a
// default.
void check_names(Reader& reader, const Json& object, std::string_view section, const std::vector<std::string>& known) {
  for (const auto& [key, value] : object.items())
    if (std::find(known.begin(), known.end(), key) == known.end())
      return reader.fail(fmt::format("{}{}{}", section, section.empty() ? "" : ".", key.substr(0, 64)),
                         "is an unknown name");
}

std::map<std::string, std::vector<std::string>> known_names() {
  std::map<std::string, std::vector<std::string>> names;
  names[""] = {k_head, "name", "about", "codecs", "writes", "reads"};
  for (const std::string_view section : k_sections)
    names[""].emplace_back(section);
  names["storage"] = {"kind"};
  const Machine machine;
  for_each_number(machine, [&](std::string_view name, auto, auto, auto) {
    const Place place = place_of(name);
    names[place.section].push_back(place.key);
  });
  return names;
}

void read_numbers(Reader& reader, const Json& file, Machine& machine) {
  const auto names = known_names();
  check_names(reader, file, "", names.at(""));
  for (const std::string_view section : k_sections) {
    const auto found = file.find(section);
    if (found == file.end())
      continue;
    if (!found->is_object())
      return reader.fail(section, fmt::format("cannot be {}: it must be an object", Reader::shown(*found)));
    check_names(reader, *found, section, names.at(std::string(section)));
  }
  if (!reader.ok())
    return;
  for_each_number(machine, [&](std::string_view name, auto& number, auto least, auto most) {
    const Place place = place_of(name);
    const auto section = place.section.empty() ? file.end() : file.find(place.section);
    if (!place.section.empty() && section == file.end())
      return;
    reader.number(place.section.empty() ? file : *section, place.key, name, number, least, most);
  });
}

// Calls `read(entry, "codecs[2]")` for each entry of an optional list.
template <class Read>
void read_list(Reader& reader, const Json& file, const char* key, const std::vector<std::string>& known, Read&& read) {
  const auto found = file.find(key);
  if (found == file.end())
    return;
  if (!found->is_array() || found->size() > k_most_listed)
    return reader.fail(key, fmt::format("must be a list of at most {}", k_most_listed));
  for (size_t i = 0; i < found->size() && reader.ok(); ++i) {
    const std::string name = fmt::format("{}[{}]", key, i);
    const Json& entry = (*found)[i];
    if (!entry.is_object())
      return reader.fail(name, fmt::format("cannot be {}: it must be an object", Reader::shown(entry)));
    check_names(reader, entry, name, known);
    read(entry, name);
  }
}

// Reports missing keys of a list entry. These keys have no defaults.
void require(Reader& reader, const Json& entry, const std::string& name, const std::vector<std::string>& keys) {
  for (const std::string& key : keys)
    if (!entry.contains(key))
      reader.fail(name + "." + key, "is missing");
}

void read_codecs(Reader& reader, const Json& file, Machine& machine) {
  const std::vector<std::string> known{"name", "encode_bytes_per_s", "decode_bytes_per_s"};
  read_list(reader, file, "codecs", known, [&](const Json& entry, const std::string& name) {
    MachineCodec codec;
    require(reader, entry, name, known);
    reader.text(entry, "name", name + ".name", codec.name);
    reader.number(entry, "encode_bytes_per_s", name + ".encode_bytes_per_s", codec.encode_bytes_per_s, 1.0, 1e18);
    reader.number(entry, "decode_bytes_per_s", name + ".decode_bytes_per_s", codec.decode_bytes_per_s, 1.0, 1e18);
    for (const MachineCodec& other : machine.codecs)
      if (other.name == codec.name)
        reader.fail(name + ".name", fmt::format("is \"{}\", like another one", codec.name));
    machine.codecs.push_back(std::move(codec));
  });
}

void read_rates(Reader& reader, const Json& file, const char* key, std::vector<MeasuredRate>& rates) {
  const std::vector<std::string> known{"request_bytes", "ranks", "bytes_per_s", "sharing"};
  read_list(reader, file, key, known, [&](const Json& entry, const std::string& name) {
    MeasuredRate rate;
    require(reader, entry, name, {"request_bytes", "ranks", "bytes_per_s"});
    std::string sharing(name_of(rate.sharing));
    reader.text(entry, "sharing", name + ".sharing", sharing);
    const auto found = std::find(k_sharings.begin(), k_sharings.end(), sharing);
    if (found == k_sharings.end())
      return reader.fail(name + ".sharing", fmt::format("cannot be \"{}\": it must be one of {}", sharing.substr(0, 64),
                                                        fmt::join(k_sharings, ", ")));
    rate.sharing = static_cast<Sharing>(found - k_sharings.begin());
    reader.number(entry, "request_bytes", name + ".request_bytes", rate.request_bytes, int64_t{1}, int64_t{1} << 60);
    reader.number(entry, "ranks", name + ".ranks", rate.ranks, int64_t{1}, int64_t{100'000});
    reader.number(entry, "bytes_per_s", name + ".bytes_per_s", rate.bytes_per_s, 1.0, 1e18);
    const auto same = std::find_if(rates.begin(), rates.end(), [&](const MeasuredRate& other) {
      return other.request_bytes == rate.request_bytes && other.ranks == rate.ranks && other.sharing == rate.sharing;
    });
    if (same != rates.end())
      return reader.fail(
          name, fmt::format("has the same request_bytes, ranks and sharing as {}[{}]", key, same - rates.begin()));
    rates.push_back(rate);
  });
}

// Checks numbers that are valid alone but contradict each other.
void check_together(Reader& reader, const Machine& machine) {
  const MachineStorage& storage = machine.storage;
  if (storage.stripe_count > storage.targets)
    reader.fail("storage.stripe_count",
                fmt::format("cannot be {}: there are {}", storage.stripe_count, counted(storage.targets, "target")));
  if (storage.targets_per_server > storage.targets)
    reader.fail("storage.targets_per_server", fmt::format("cannot be {}: there are {}", storage.targets_per_server,
                                                          counted(storage.targets, "target")));
  if (machine.hosts > INT32_MAX / machine.ranks_per_host)
    reader.fail("hosts", "times ranks_per_host is more ranks than MPI allows");
}

double logarithm(int64_t number) {
  return std::log(static_cast<double>(number));
}

// The measured rates of one number of ranks next to a request size: the largest size below it, and the smallest size
// from it on. A rate of 0: nothing measured on that side. Rates ascend by size.
struct Neighbours {
  int64_t below = 0, above = 0;
  double below_rate = 0, above_rate = 0;

  void take(int64_t place, int64_t at, double rate) noexcept {
    if (place < at && place >= below)
      below = place, below_rate = rate;
    if (place >= at && (above == 0 || place <= above))
      above = place, above_rate = rate;
  }
  // Interpolates; constant beyond the measured range.
  double rate(int64_t at) const noexcept {
    if (above == 0)
      return below_rate;
    if (below == 0 || above == at)
      return above_rate;
    const double part = (logarithm(at) - logarithm(below)) / (logarithm(above) - logarithm(below));
    return std::exp(std::log(below_rate) * (1 - part) + std::log(above_rate) * part);
  }
};

int64_t smallest_request(std::span<const MeasuredRate> rates, int64_t ranks, Sharing sharing) noexcept {
  int64_t smallest = 0;
  for (const MeasuredRate& rate : rates)
    if (rate.sharing == sharing && rate.ranks == ranks && (smallest == 0 || rate.request_bytes < smallest))
      smallest = rate.request_bytes;
  return smallest;
}

// For exactly this number of ranks. Below their smallest measured request the rate falls like that of one rank. Below
// the smallest request of one rank, a request costs the same time as the smallest.
double rate_of(std::span<const MeasuredRate> rates, int64_t request_bytes, int64_t ranks, Sharing sharing) noexcept {
  Neighbours sizes;
  for (const MeasuredRate& rate : rates)
    if (rate.sharing == sharing && rate.ranks == ranks)
      sizes.take(rate.request_bytes, request_bytes, rate.bytes_per_s);
  const double rate = sizes.rate(request_bytes);
  const int64_t smallest = smallest_request(rates, ranks, sharing);
  if (request_bytes >= smallest)
    return rate;
  const int64_t alone = ranks > 1 ? smallest_request(rates, 1, sharing) : 0;
  if (alone == 0 || alone >= smallest)
    return rate * static_cast<double>(request_bytes) / static_cast<double>(smallest);
  return rate * std::min(1.0, rate_of(rates, request_bytes, 1, sharing) / rate_of(rates, smallest, 1, sharing));
}

// A JSON parser keeps the last of duplicate names without an error. `twice` receives the first duplicate name.
Json parse_watched(std::string_view text, std::string& twice) {
  std::vector<std::set<std::string>> names;  // of the enclosing objects
  const auto watch = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start)
      names.emplace_back();
    if (event == Json::parse_event_t::object_end)
      names.pop_back();
    if (event == Json::parse_event_t::key && !names.back().insert(parsed.get<std::string>()).second && twice.empty())
      twice = parsed.get<std::string>().substr(0, 64);
    return true;
  };
  return Json::parse(text, watch, false);
}

Json rates_json(const std::vector<MeasuredRate>& rates) {
  Json list = Json::array();
  for (const MeasuredRate& rate : rates)
    list.push_back({{"sharing", name_of(rate.sharing)},
                    {"request_bytes", rate.request_bytes},
                    {"ranks", rate.ranks},
                    {"bytes_per_s", rate.bytes_per_s}});
  return list;
}

}  // namespace

Result<Machine> parse_machine(std::string_view text, std::string_view file) {
  Reader reader(file);
  Machine machine;
  const bool is_sane = text.size() <= k_most_text && !is_nested_too_deep(text);
  std::string twice;
  const Json json = is_sane ? parse_watched(text, twice) : Json(Json::value_t::discarded);
  if (text.size() > k_most_text) {
    reader.fail("", "is longer than 1 MiB");
  } else if (!is_sane) {
    reader.fail("", fmt::format("has lists nested more than {} deep", k_most_nesting));
  } else if (json.is_discarded()) {
    reader.fail("", "is not JSON, or has a number out of range");
  } else if (!twice.empty()) {
    reader.fail(twice, "is repeated");
  } else if (!json.is_object() || !json.contains(k_head)) {
    reader.fail("", fmt::format("is not a machine file: \"{}\" is missing", k_head));
  } else if (json[k_head] != k_machine_version) {
    reader.fail("", fmt::format("has version {}; this library reads version {}", Reader::shown(json[k_head]),
                                k_machine_version));
  } else {
    reader.text(json, "name", "name", machine.name);
    reader.text(json, "about", "about", machine.about);
    read_numbers(reader, json, machine);
    if (reader.ok() && json.contains("storage"))
      reader.text(json["storage"], "kind", "storage.kind", machine.storage.kind);
    read_codecs(reader, json, machine);
    read_rates(reader, json, "writes", machine.writes);
    read_rates(reader, json, "reads", machine.reads);
    check_together(reader, machine);
  }
  if (!reader.ok())
    return reader.take_status();
  return machine;
}

std::string machine_text(const Machine& machine) {
  Json file{{k_head, k_machine_version}, {"name", machine.name}, {"about", machine.about}};
  for_each_number(machine, [&](std::string_view name, auto number, auto, auto) {
    const Place place = place_of(name);
    (place.section.empty() ? file : file[place.section])[place.key] = number;
  });
  file["storage"]["kind"] = machine.storage.kind;
  file["codecs"] = Json::array();
  for (const MachineCodec& codec : machine.codecs)
    file["codecs"].push_back({{"name", codec.name},
                              {"encode_bytes_per_s", codec.encode_bytes_per_s},
                              {"decode_bytes_per_s", codec.decode_bytes_per_s}});
  file["writes"] = rates_json(machine.writes);
  file["reads"] = rates_json(machine.reads);
  return file.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string_view name_of(Sharing sharing) noexcept {
  return k_sharings[static_cast<size_t>(sharing)];
}

double rate_at(std::span<const MeasuredRate> rates, int64_t request_bytes, int64_t ranks, Sharing sharing) {
  Neighbours counts;
  for (const MeasuredRate& rate : rates)
    if (rate.sharing == sharing)
      counts.take(rate.ranks, ranks, 0);
  if (counts.below > 0)
    counts.below_rate = rate_of(rates, request_bytes, counts.below, sharing);
  if (counts.above > 0)
    counts.above_rate = rate_of(rates, request_bytes, counts.above, sharing);
  return counts.rate(ranks);
}

}  // namespace windrow
