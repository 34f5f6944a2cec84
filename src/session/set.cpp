// SPDX-License-Identifier: BSD-3-Clause
// A file whose variables are split over subfiles: it is started and found, its parts are defined, and it is published as a whole. Each subfile's
// metadata is looked after by one rank.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>

#include "base/checked.hpp"
#include "comm/agree.hpp"
#include "format/check.hpp"
#include "session/file.hpp"

namespace windrow {
namespace {

constexpr std::string_view k_mark = ".subfiles-";
constexpr int64_t k_unknown = std::numeric_limits<int64_t>::min();

bool native_is_big() { return std::endian::native == std::endian::big; }

// How the file's name ends, for its subfiles to end so too.
std::string ending_of(const std::string& path) {
  constexpr size_t k_longest = 16;
  const std::string ending = std::filesystem::path(path).extension().string();
  return ending.size() < 2 || ending.size() > k_longest || !is_plain_name(ending) ? ".h5" : ending;
}

}  // namespace

// The option files, or the names that other libraries have for it.
Result<int64_t> wanted_subfiles(const Settings& settings, int ranks) {
  const Choice files = settings.choice("files");
  int64_t wanted = files.name == "subfiles" ? files.argument : files.name == "per-rank" ? ranks : files.name == "auto" ? 0 : 1;
  const auto take = [&](const char* enabled, const char* number) -> Status {
    if (wanted != 0 || !settings.boolean(enabled)) return {};
    wanted = settings.integer(number);
    return wanted > 0 ? Status() : Status(Code::bad_argument, fmt::format("{} is enabled, and {} does not say how many files there shall be", enabled, number));
  };
  if (Status status = take("pnetcdf_subfiling", "nc_num_subfiles"); !status.ok()) return status;
  if (Status status = take("subfiling", "subfiling_nfiles"); !status.ok()) return status;
  if (wanted == 0 && settings.text("strategy") == "subfiling")
    return Status(Code::bad_argument, "strategy subfiling: the option files does not say how many subfiles there shall be, as subfiles(4)");
  if (wanted > Subfiles::k_most) return Status(Code::bad_argument, fmt::format("files: {} subfiles are more than {}", wanted, Subfiles::k_most));
  return std::max<int64_t>(1, wanted);
}

// Rank 0 alone: identity and folder of a new set.
Status File::make_set_on_root() {
  if (!format_->can_split())
    return {Code::unsupported, fmt::format("\"{}\": files of the format {} cannot be split over subfiles yet", path_, format_name_)};
  const std::string identity = make_identity();
  const std::string folder = folder_name(std::filesystem::path(draft_.final_path).filename().string(), identity);
  const SubfileNames names{draft_.temporary_path + ".subfiles", ending_of(path_), wanted_subfiles_};
  subfiles_ = std::make_unique<Subfiles>(format_name_, identity, folder, names);
  abandoned_folders_ = {names.folder, final_folder(draft_.final_path)};
  if (Status status = start_folder(draft_, names.folder); !status.ok()) return status;
  return subfiles_->sign(*format_, -1);
}

FormatOptions File::format_options() const {
  FormatOptions options;
  options.alignment = std::max<int64_t>(1, settings_.bytes("alignment"));
  if (const std::string version = settings_.text("netcdf_version"); version != "auto") options.netcdf_version = version.front() - '0';
  options.header_room = settings_.bytes("header_room");
  options.record_alignment = std::max<int64_t>(1, settings_.bytes("record_alignment"));
  return options;
}

// Local: `work(number, format)` for each subfile that this rank looks after.
Status File::for_own_subfiles(const std::function<Status(int64_t, Format&)>& work) {
  for (int64_t number = 0; number < subfiles_->count(); ++number) {
    if (subfiles_->owner_of(number, comm_->size()) != comm_->rank()) continue;
    auto format = subfiles_->format(number, mode_ == Mode::create ? FormatMode::create : FormatMode::update, format_options());
    if (!format.ok()) return format.status();
    if (Status status = work(number, *format.value()); !status.ok()) return status;
  }
  return {};
}

bool File::is_split(const std::string& path) const {
  const auto found = variable_numbers_.find(path);
  return subfiles_ && found != variable_numbers_.end() && subfiles_->find(found->second) != nullptr;
}

// Local: what a split variable of this path has in the subfiles that this rank looks after.
Status File::for_own_parts(const std::string& path, const std::function<Status(Format&)>& work) {
  const SplitVariable& split = *subfiles_->find(variable_numbers_.at(path));
  for (int64_t number = 0; number < split.split.parts(); ++number) {
    if (subfiles_->owner_of(number, comm_->size()) != comm_->rank()) continue;
    auto format = subfiles_->format(number, mode_ == Mode::create ? FormatMode::create : FormatMode::update, format_options());
    if (!format.ok()) return format.status();
    if (Status status = work(*format.value()); !status.ok()) return status;
  }
  return {};
}

// Collective. Makes a new set's subfiles, or looks at those that there are.
Status File::start_set() {
  Status named = guard([&] {
    data_->set_subfiles(subfiles_->names(), settings_.boolean("durable"));
    return Status{};
  });
  if (mode_ == Mode::create) {
    Status local = !named.ok() ? std::move(named) : guard([&] {
      return for_own_subfiles([&](int64_t number, Format& format) { return subfiles_->sign(format, number); });
    });
    return agree(*comm_, std::move(local));
  }
  std::vector<int64_t> found;  // of each subfile its fault, and of each variable its parts' offsets
  const auto faults = static_cast<size_t>(subfiles_->count());
  Status local = !named.ok() ? std::move(named) : guard([&] {
    size_t length = faults;
    for (const auto& [variable, split] : subfiles_->variables()) length += split.offsets.size();
    found.assign(length, k_unknown);
    return Status{};
  });
  if (Status verdict = agree(*comm_, std::move(local)); !verdict.ok()) return verdict;
  local = guard([&]() -> Status {
    const int64_t sum = subfiles_->checksum(catalog_);
    for (int64_t number = 0; number < subfiles_->count(); ++number) {
      if (subfiles_->owner_of(number, comm_->size()) != comm_->rank()) continue;
      std::map<int, int64_t> offsets;
      auto fault = subfiles_->examine(number, catalog_, sum, offsets);
      if (!fault.ok()) return fault.status();
      found[static_cast<size_t>(number)] = fault.value();
      ++metadata_opens_;
      size_t at = faults;
      for (const auto& [variable, split] : subfiles_->variables()) {
        if (number < split.split.parts() && offsets.contains(variable)) found[at + static_cast<size_t>(number)] = offsets[variable];
        at += split.offsets.size();
      }
    }
    return {};
  });
  if (Status verdict = agree(*comm_, std::move(local), Pulse{.maximum = found, .sum = {}, .bits = {}}); !verdict.ok()) return verdict;
  for (size_t number = 0; number < faults; ++number) subfiles_->set_fault(static_cast<int64_t>(number), found[number]);
  size_t at = faults;
  for (auto& [variable, split] : subfiles_->variables())
    for (int64_t& offset : split.offsets) {
      const int64_t told = found[at++];
      offset = told == k_unknown ? -1 : told;
    }
  fit_line();
  if (!subfiles_->has_room(0)) return agree(*comm_, guard([] { return Status{Code::bad_file, "the files of the set are larger than a set can be"}; }));
  // What is changed in place must be whole: parts that are at fault could not be told from those that were meant.
  sealed_ = true;
  if (mode_ != Mode::update) return {};
  local = guard([&] {
    Status status;
    for (int64_t number = 0; number < subfiles_->count() && status.ok(); ++number) status = subfiles_->fault_of(number);
    return status;
  });
  return agree(*comm_, std::move(local));
}

// Local, and the same on every rank: plans that were made for another line are for other places.
void File::fit_line() {
  if (!subfiles_->fit_line(catalog_)) return;
  plans_.clear();
  data_->set_line(subfiles_->line());
}

// How a variable is to be split, or not at all. The same on every rank.
Result<std::optional<Split>> File::split_of(const VariableDefinition& definition) const {
  std::optional<Split> none;
  if (!subfiles_ || (definition.split.axes == "none" && definition.split.parts == "auto")) return none;
  const bool whole = definition.null_space || is_moved_whole(definition.type, definition.details) || definition.shape.empty();
  const bool chunked = !definition.chunking.empty() || definition.extendible;
  if (whole || chunked) {
    if (!definition.split_asked) return none;
    return Status(chunked ? Code::unsupported : Code::bad_argument,
                  fmt::format("variable \"{}\": {} cannot be split over subfiles{}", definition.path,
                              chunked ? "what has chunks" : "a scalar, a null space or text of variable length", chunked ? " yet" : ""));
  }
  SplitRequest request = definition.split;
  request.count = subfiles_->count();
  auto split = make_split(request, definition.shape);
  if (!split.ok()) {
    // What only the file's options ask for is for variables that can have it.
    if (!definition.split_asked || split.status().code() == Code::not_found) return none;
    return Status(split.status().code(), fmt::format("variable \"{}\": {}", definition.path, split.status().message()));
  }
  if (split.value().parts() == 1) return none;
  return std::optional<Split>(std::move(split).value());
}

// Local: whether there is an address for every byte of all files with what is to be defined.
Status File::check_room_in_set(std::span<const VariableDefinition> definitions, const std::map<int, SplitVariable>& splits, int first) const {
  constexpr int64_t k_of_metadata = FileLine::k_unit;
  int64_t bytes = 0;
  for (size_t i = 0; subfiles_ && i < definitions.size(); ++i) {
    const auto split = splits.find(first + static_cast<int>(i));
    int64_t elements = split == splits.end() ? checked_product(definitions[i].shape).value_or(0) : 0;
    for (int64_t part = 0; split != splits.end() && part < split->second.split.parts(); ++part)
      elements = std::max(elements, split->second.split.elements(part));
    bytes += elements * element_bytes(definitions[i].type, definitions[i].details) + settings_.bytes("alignment") + k_of_metadata;
    if (bytes < 0 || !subfiles_->has_room(bytes))
      return {Code::bad_argument, fmt::format("variable \"{}\": its set of {} subfiles would be larger than a set can be", definitions[i].path, subfiles_->count())};
  }
  return {};
}

// Collective. Makes the parts of those definitions that are split, from variable number `first` on; `splits` are theirs. Every rank has its memory
// for them already: [variables] offsets that are not known yet.
Status File::define_parts(std::span<VariableDefinition> definitions, std::map<int, SplitVariable>& splits, int first) {
  std::vector<int64_t> offsets;
  Status local = guard([&] {
    size_t length = 0;
    for (const auto& [variable, split] : splits) length += split.offsets.size();
    offsets.assign(length, k_unknown);
    return Status{};
  });
  if (Status verdict = agree(*comm_, std::move(local)); !verdict.ok()) return verdict;
  sealed_ = false;
  local = guard([&] {
    return for_own_subfiles([&](int64_t number, Format& format) -> Status {
      size_t at = 0;
      for (const auto& [variable, split] : splits) {
        const size_t place = at + static_cast<size_t>(number);
        at += split.offsets.size();
        if (number >= split.split.parts()) continue;
        auto offset = subfiles_->define_part(format, definitions[static_cast<size_t>(variable - first)], split.split, number);
        if (!offset.ok()) return offset.status();
        offsets[place] = offset.value();
      }
      return {};
    });
  });
  if (Status verdict = agree(*comm_, std::move(local), Pulse{.maximum = offsets, .sum = {}, .bits = {}}); !verdict.ok()) return verdict;
  size_t at = 0;
  for (auto& [variable, split] : splits)
    for (int64_t& offset : split.offsets) offset = offsets[at++];
  return {};
}

// Rank 0 alone: a variable of the base file whose elements lie in subfiles.
Status File::define_split_on_root(const VariableDefinition& definition, const Split& split) {
  std::vector<Part> parts;
  for (int64_t part = 0; part < split.parts(); ++part) parts.push_back({subfiles_->relative_name(part), split.box(part)});
  if (Status status = format_->define_split(definition, parts); !status.ok()) return status;
  return subfiles_->describe(*format_, definition, split);
}

// Collective. What this rank looks after gets the map's checksum and goes to the system; `ends`: it is closed.
Status File::finish_subfiles(bool ends) {
  const bool durable = settings_.boolean("durable");
  Status local = guard([&] {
    if (sealed_) return Status{};
    const int64_t sum = subfiles_->checksum(catalog_);
    Status status;
    if (comm_->rank() == 0 && format_) status = subfiles_->seal(*format_, sum);
    if (status.ok()) status = for_own_subfiles([&](int64_t, Format& format) { return subfiles_->seal(format, sum); });
    return status;
  });
  local.update(ends ? subfiles_->close_formats() : subfiles_->flush_formats());
  if (durable && local.ok()) local = guard([&]() -> Status {
    for (int64_t number = 0; number < subfiles_->count(); ++number) {
      if (subfiles_->owner_of(number, comm_->size()) != comm_->rank()) continue;
      auto store = open_store(subfiles_->names().path(number), StoreMode::update, StoreOptions{});
      if (!store.ok()) return store.status();
      Status status = store.value()->sync();
      status.update(store.value()->close());
      if (!status.ok()) return status;
    }
    return {};
  });
  Status verdict = agree(*comm_, std::move(local));
  sealed_ = sealed_ || verdict.ok();
  return verdict;
}

// Where the folder will be, beside the file.
std::string File::final_folder(const std::string& final_path) const {
  return (std::filesystem::path(final_path).parent_path() / subfiles_->folder()).string();
}

// Rank 0 alone: the folder of the set that stands where this file will, "" for none. A folder that looks like one of it but that the file there
// does not name belongs to somebody else.
std::string File::replaced_folder() const {
  std::string folder;
  (void)guard([&]() -> Status {
    const auto candidates = folders_beside(draft_.final_path, std::string(k_mark));
    std::error_code ignored;
    if (candidates.empty() || !std::filesystem::exists(draft_.final_path, ignored)) return {};
    auto found = find_format(draft_.final_path, FormatMode::read);
    if (!found.ok()) return found.status();
    auto format = open_format(found.value().name, draft_.final_path, FormatMode::read, {}, std::move(found.value().store));
    if (!format.ok()) return format.status();
    auto catalog = format.value()->catalog();
    (void)format.value()->close();
    if (!catalog.ok()) return catalog.status();
    auto set = Subfiles::take_from(catalog.value(), format_name_, draft_.final_path);
    if (!set.ok() || !set.value()) return set.status();
    const std::string name = set.value()->folder();
    for (const std::string& candidate : candidates)
      if (std::filesystem::path(candidate).filename() == name) folder = candidate;
    return {};
  });
  return folder;
}

// Rank 0 alone, of a file that is not published.
void File::abandon_set() {
  if (subfiles_) (void)subfiles_->close_formats();
  for (const std::string& folder : abandoned_folders_)
    if (!folder.empty()) (void)remove_folder(folder);
}

// Readers of the virtual datasets open every file that they touch, and are told nothing when the system gives them no more.
std::string File::warning_of_files() const {
  constexpr int64_t k_of_others = 32;
  rlimit limit{};
  if (!subfiles_ || ::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
  if (subfiles_->count() + k_of_others <= static_cast<int64_t>(limit.rlim_cur)) return {};
  return fmt::format("warning: {} subfiles are more than a process may have open here ({}): other programs that read all of a variable at once would "
                     "get fill values without an error; Windrow does not", subfiles_->count(), limit.rlim_cur);
}

// Of a contiguous variable of the base file.
int64_t File::place_of(size_t variable) const {
  const int64_t offset = catalog_.variables[variable].placement.offset;
  return subfiles_ && offset >= 0 ? subfiles_->line().place(0, offset) : offset;
}

// Local: a put or get of a variable that is split, as one item for each part that this rank has elements of.
Status File::add_parts(const QueueEntry& entry, const SplitVariable& split, int64_t trailing, Wave& wave) {
  const Variable& variable = catalog_.variables[static_cast<size_t>(entry.variable)];
  const int64_t row = entry.record < 0 ? 0 : checked_product(std::span<const int64_t>(variable.shape).subspan(1)).value_or(0);
  const SharedDecomposition::Cut cut{split.split, trailing, split.element_bytes, std::max<int64_t>(0, entry.record) * row, limits_.direct_bytes};
  auto found = entry.put ? entry.decomposition->write_parts(owner_of(entry), cut) : entry.decomposition->read_parts(cut);
  if (!found.ok())
    return {found.status().code(), fmt::format("{} of \"{}\": {}", entry.put ? "put" : "get", variable.path, found.status().message())};
  const int64_t swap = variable.placement.big_endian != native_is_big() ? component_size(variable.type) : 1;
  for (auto& [part, runs] : found.value()) {
    if (runs->total == 0) continue;
    if (Status fault = subfiles_->fault_of(part); !fault.ok())
      return {fault.code(), fmt::format("{} of \"{}\" in \"{}\": {}", entry.put ? "put" : "get", variable.path, path_, fault.message())};
    const int64_t base = subfiles_->place(split, part);
    wave.items.push_back({.runs = runs->runs, .hull = {runs->hull.begin + base, runs->hull.end + base}, .total = runs->total, .file_base = base,
                          .memory = entry.staged ? entry.staged->bytes.get() : entry.data, .swap_bytes = swap,
                          .element_bytes = static_cast<int>(component_size(variable.type))});
    wave.bytes += runs->total;
    wave.pieces += runs->pieces;
    wave.long_bytes += runs->long_bytes;
    wave.long_pieces += runs->long_pieces;
    wave.runs.push_back(runs);
  }
  return {};
}

// As many writers as files, where nobody asks for others: domains then end where files do, and ranks in line with the parts write their own.
void File::fit_to_subfiles(Strategy& strategy, PlanLimits& limits) const {
  if (limits.writers == 0) limits.writers = std::min<int64_t>(subfiles_->count(), comm_->size());
  if (strategy.access == Access::mapped) strategy.access = Access::automatic;  // a part of the line is not a part of one file
}

void File::describe_files(Plan& plan) const {
  plan.strategy.files = Files::subfiles;
  plan.reasons.push_back(fmt::format("files subfiles({}): {}", subfiles_->count(), mode_ == Mode::create ? "as asked" : "as the file is"));
  if (std::string warning = warning_of_files(); !warning.empty()) plan.reasons.push_back(std::move(warning));
}

// Items in the order of the line, whatever variable they are of; the lists of both go together.
void File::sort_items(Wave& wave) {
  std::vector<size_t> order(wave.items.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return wave.items[a].file_base < wave.items[b].file_base; });
  std::vector<Item> items;
  std::vector<std::shared_ptr<const ByteRuns>> runs;
  for (const size_t i : order) {
    items.push_back(wave.items[i]);
    runs.push_back(std::move(wave.runs[i]));
  }
  wave.items = std::move(items);
  wave.runs = std::move(runs);
}

// Rank 0 alone. What opening has found, what other files the folder has, and whether other programs are led where the map leads.
std::string File::check_set_on_root() const {
  std::string lines;
  for (int64_t number = 0; number < subfiles_->count(); ++number)
    if (Status fault = subfiles_->fault_of(number); !fault.ok()) lines += fault.message() + '\n';
  for (const std::string& line : subfiles_->strangers()) lines += line + '\n';
  for (const auto& [variable, split] : subfiles_->variables()) {
    const std::string& path = catalog_.variables[static_cast<size_t>(variable)].path;
    auto parts = format_->parts_of(path);
    if (!parts.ok()) {
      lines += parts.status().message() + '\n';
      continue;
    }
    bool same = static_cast<int64_t>(parts.value().size()) == split.split.parts();
    for (int64_t part = 0; same && part < split.split.parts(); ++part) {
      const Part& shown = parts.value()[static_cast<size_t>(part)];
      same = shown.file == subfiles_->relative_name(part) && shown.box == split.split.box(part);
    }
    if (!same) lines += fmt::format("\"{}\": its virtual dataset leads other programs elsewhere than the map\n", path);
  }
  return lines;
}

Result<std::string> File::check_subfiles() {
  if (Status before = end_pending(); !before.ok()) return before;
  std::vector<std::byte> bytes;
  Status local;
  if (comm_->rank() == 0 && subfiles_) local = guard([&] {
    const std::string lines = check_set_on_root();
    const auto* text = reinterpret_cast<const std::byte*>(lines.data());
    bytes.assign(text, text + lines.size());
    return Status{};
  });
  local = share_from_root(*comm_, std::move(local), bytes);
  std::string text;
  if (local.ok()) local = guard([&] {
    text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return Status{};
  });
  if (Status verdict = agree(*comm_, std::move(local)); !verdict.ok()) return verdict;
  return text;
}

}  // namespace windrow
