// SPDX-License-Identifier: BSD-3-Clause
#include "sim/turns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "base/checked.hpp"

namespace windrow {
namespace {

constexpr size_t k_most_cells = size_t{4} << 20;    // limit of sums by phase and target, or by phase and aggregator
constexpr size_t k_most_windows = size_t{8} << 20;  // limit for message counts of single windows
constexpr size_t k_most_phases = 4096, k_most_rows = 64;

std::vector<int> roots_of(const Plan& plan) {
  std::vector<int> roots;
  if (plan.team == 0)
    return plan.host_roots;
  for (int64_t root = 0; root < plan.ranks; root += plan.team)
    roots.push_back(static_cast<int>(root));
  return roots;
}

std::vector<int> writers_of(const Plan& plan) {
  return plan.has_domains() ? plan.writers : std::vector<int>{};
}

std::vector<Windows> windows_of_all(const Plan& plan) {
  std::vector<Windows> windows;
  for (size_t i = 0; i < plan.domains.size(); ++i)
    windows.push_back(windows_of(plan, i));
  return windows;
}

// Long and short pieces are moved in different ways.
HeldElements of_length(const HeldElements& holding, int64_t limit, bool longer) {
  PiecesBuilder builder;
  for (NestCursor cursor(holding.elements); !cursor.done(); cursor.next())
    if ((cursor.nest().run.length * holding.element_bytes >= limit) == longer)
      builder.add(cursor.nest());
  return {builder.take(), holding.element_bytes};
}

}  // namespace

RankTurns::RankTurns(const SimulationRequest& request, const Plan& plan, const Places& places, const PlanLimits& limits,
                     Simulation& counts)
    : request_(request),
      plan_(plan),
      places_(places),
      rule_{
          .access = plan.strategy.access, .hole_bytes = limits.hole_bytes, .read_before_bytes = plan.read_before_bytes},
      counts_(counts),
      windows_(windows_of_all(plan)),
      deal_bytes_(limits.layout ? places.stripes().bytes : limits.unit),
      phasing_(choose_phases()),
      storage_(request.machine, plan.reading, places.files(), phasing_.phases,
               static_cast<size_t>(std::min<int64_t>(k_most_rows, clients()))),
      memory_(static_cast<size_t>(plan.ranks)) {
  add_codings();
  find_groups();
  descriptions_to_.resize(std::max(plan.domains.size(), roots_of(plan).size()));
  counts_.rows.resize(storage_.matrix().size(), TargetRow{.first_rank = -1, .last_rank = -1, .bytes = {}});
  first_window_.push_back(0);
  for (const Windows& windows : windows_)
    first_window_.push_back(first_window_.back() + static_cast<size_t>(windows.count()));
  if (first_window_.back() <= k_most_windows)
    remote_of_window_.resize(first_window_.back());
}

bool RankTurns::is_direct() const noexcept {
  const Access access = plan_.strategy.access;
  return !plan_.has_domains() && !plan_.gathers() && !plan_.broadcast &&
         (access == Access::list || access == Access::mapped);
}

int RankTurns::team_end(int root) const {
  if (plan_.team > 0)
    return static_cast<int>(std::min<int64_t>(plan_.ranks, root + plan_.team));
  const auto next = std::upper_bound(plan_.host_roots.begin(), plan_.host_roots.end(), root);
  return next == plan_.host_roots.end() ? plan_.ranks : *next;
}

int64_t RankTurns::clients() const {
  if (plan_.broadcast)
    return 1;
  if (plan_.direct_bytes > 0)
    return plan_.ranks;
  if (plan_.has_domains())
    return static_cast<int64_t>(plan_.writers.size());
  return plan_.gathers() ? static_cast<int64_t>(roots_of(plan_).size()) : plan_.ranks;
}

// Without domains no rank waits for rounds of another: there is one phase.
RankTurns::Phasing RankTurns::choose_phases() const {
  int64_t rounds = 1;
  for (const Windows& windows : windows_)
    rounds = std::max(rounds, windows.count());
  const size_t servers =
      std::max({roots_of(plan_).size(), plan_.writers.size(), static_cast<size_t>(request_.machine.storage.targets)});
  const auto most = static_cast<int64_t>(std::clamp<size_t>(k_most_cells / servers, 1, k_most_phases));
  const LibraryModel& library = request_.library;
  const int64_t wanted = library.at_once ? rounds : library.in_step ? 1 : plan_.slots;
  const int64_t at_once = std::max(wanted, ceil_divide(rounds, most));
  return {.phases = static_cast<size_t>(ceil_divide(rounds, at_once)), .rounds = at_once};
}

// The group of each column of stripes of each file, if stripes are assigned.
void RankTurns::find_groups() {
  if (!plan_.deal)
    return;
  const bool by_file = plan_.strategy.domains == Domains::target;
  const int64_t groups = plan_.deal->groups(), files = by_file ? places_.files() : 1;
  columns_ = by_file ? places_.stripes().count : groups;
  group_of_column_.resize(static_cast<size_t>(files * columns_));
  for (int64_t file = 0; file < files; ++file) {
    const int64_t begin = by_file ? places_.begin_of(file) : 0;
    const Extent period{begin, begin + columns_ * deal_bytes_};
    for (int group = 0; group < groups; ++group)
      for (int64_t index = 0; index < plan_.deal->cells(period, group); ++index) {
        const Extent cell = intersect(plan_.deal->cell(period, group, index), period);
        for (int64_t offset = cell.begin; offset < cell.end; offset += deal_bytes_)
          group_of_column_[column_at(offset)] = static_cast<size_t>(group * plan_.sharers);
      }
  }
}

// Index among the columns of all files, if stripes are assigned.
size_t RankTurns::column_at(int64_t offset) const {
  const bool by_file = plan_.strategy.domains == Domains::target;
  const int64_t file = by_file ? places_.file_of(offset) : 0, begin = by_file ? places_.begin_of(file) : 0;
  return static_cast<size_t>(file * columns_ + (offset - begin) / deal_bytes_ % columns_);
}

size_t RankTurns::domain_at(int64_t offset) const {
  const auto ends_before = [offset](const Extent& domain) { return domain.end <= offset; };
  const auto begin = plan_.domains.begin();
  if (!plan_.deal)
    return static_cast<size_t>(std::partition_point(begin, plan_.domains.end(), ends_before) - begin);
  const auto range = static_cast<size_t>(
      std::partition_point(begin, begin + static_cast<std::ptrdiff_t>(plan_.sharers), ends_before) - begin);
  return group_of_column_[column_at(offset)] + range;
}

// The windows with some of the bytes: in file order within a domain, and over all domains unless stripes are assigned.
template <class Visit>
void RankTurns::for_each_window(const PlacedBytes& held, Visit&& visit) {
  if (held.empty())
    return;
  const int64_t end = held.hull().end;
  std::vector<size_t> opened;
  if (plan_.deal)
    open_.resize(windows_.size());
  for (int64_t offset = held.hull().begin; offset < end;) {
    const size_t domain = domain_at(offset);
    if (domain >= windows_.size())
      return;
    const int64_t index = windows_[domain].index_of(offset);
    const Extent part = plan_.deal ? windows_[domain].next_part(offset) : windows_[domain].window(index).bytes;
    offset = std::max(offset + 1, part.end);
    const int64_t bytes = held.bytes_in(part);
    offset = held.next_offset(offset);
    if (bytes == 0)
      continue;
    if (!plan_.deal) {
      visit(OverlappedWindow{domain, index, bytes});
      continue;
    }
    OverlappedWindow& open = open_[domain];
    if (open.bytes == 0)
      opened.push_back(domain);
    if (open.bytes > 0 && open.index != index)
      visit(std::exchange(open, {}));
    open = {domain, index, open.bytes + bytes};
  }
  for (const size_t domain : opened)
    visit(std::exchange(open_[domain], {}));
}

void RankTurns::count_message(int64_t bytes) {
  counts_.messages += ceil_divide(bytes, plan_.message_bytes);
  counts_.message_bytes += bytes;
}

void RankTurns::send_to_domains(int rank, const PlacedBytes& held) {
  int64_t largest = 0, descriptions = 0;
  std::vector<bool> marked;
  const bool fills = plan_.whole && !plan_.reading && !plan_.gathers();
  for_each_window(held, [&](const OverlappedWindow& overlapped) {
    const int writer = plan_.writers[overlapped.domain];
    const bool copies = shares_memory() && host_of(writer) == host_of(rank);
    for (Coding& coding : codings_)
      coding.to_domains.add({rank, writer, overlapped.domain, phase_of(overlapped.index), overlapped.bytes, copies});
    counts_.copied_bytes += overlapped.bytes;
    const bool own = writer == rank && !plan_.gathers();
    if (!own && !(copies && fills)) {
      if (marked.empty())
        marked.resize(windows_.size());
      if (!marked[overlapped.domain])
        ++descriptions, ++descriptions_to_[overlapped.domain], marked[overlapped.domain] = true;
    }
    if (writer == rank || copies)
      return;
    count_message(overlapped.bytes);
    largest = std::max(largest, overlapped.bytes);
    if (!remote_of_window_.empty())
      remote_of_window_[first_window_[overlapped.domain] + static_cast<size_t>(overlapped.index)] += overlapped.bytes;
  });
  counts_.descriptions += descriptions;
  most_descriptions_from_ = std::max(most_descriptions_from_, descriptions);
  keep_message_buffers(rank, largest);
}

void RankTurns::send_to_root(int rank, const PlacedBytes& held) {
  if (held.empty())
    return;
  const int root = team_root(
      plan_, rank, plan_.host_roots.empty() ? rank : host_of(rank) * static_cast<int>(request_.machine.ranks_per_host));
  const auto server = static_cast<size_t>(plan_.team > 0 ? root / plan_.team : host_of(rank));
  const bool copies = shares_memory() && host_of(root) == host_of(rank);
  int64_t largest = 0;
  const auto pass = [&](int64_t index, int64_t bytes) {
    for (Coding& coding : codings_)
      coding.to_roots.add({rank, root, server, phase_of(index), bytes, copies});
    counts_.copied_bytes += bytes;
    if (copies || rank == root)
      return;
    count_message(bytes);
    largest = std::max(largest, bytes);
  };
  if (rank != root)
    ++counts_.descriptions, ++descriptions_to_[server];
  if (plan_.has_domains()) {
    for_each_window(held, [&](const OverlappedWindow& overlapped) { pass(overlapped.index, overlapped.bytes); });
  } else {
    const Windows cells = cells_of_file();
    for (int64_t offset = held.hull().begin; offset < held.hull().end;) {
      const int64_t index = cells.index_of(offset);
      if (const int64_t bytes = held.bytes_in(cells.window(index).bytes); bytes > 0)
        pass(index - team_first_, bytes);
      offset = held.next_offset(cells.window(index).bytes.end);
    }
  }
  keep_message_buffers(rank, largest);
}

void RankTurns::take_turn(int rank) {
  const Workload& workload = request_.workload;
  HeldElements holding = held_by(workload, rank);
  if (plan_.direct_bytes > 0) {
    const PlacedBytes direct = places_.place(of_length(holding, plan_.direct_bytes, true));
    if (!direct.empty()) {
      begin_client(rank);
      access_directly(direct);
    }
    holding = of_length(holding, plan_.direct_bytes, false);
  }
  const PlacedBytes held = places_.place(holding);
  if (is_direct()) {
    if (!held.empty())
      begin_client(rank);
    access_directly(held);
  } else if (plan_.gathers()) {
    if (team_root(plan_, rank, host_of(rank) * static_cast<int>(request_.machine.ranks_per_host)) == rank)
      serve_team(rank);
    send_to_root(rank, held);
  } else if (plan_.has_domains()) {
    send_to_domains(rank, held);
  } else {
    serve_alone(rank, held);
  }
}

void RankTurns::run() {
  if (plan_.has_domains() || plan_.broadcast)
    covered_ = places_.place(held_by_all(request_.workload, 0, plan_.ranks)).pieces();
  if (plan_.broadcast)
    broadcast();
  for (int rank = 0; rank < plan_.ranks && !plan_.broadcast; ++rank) {
    take_turn(rank);
    if (next_domain_ < plan_.writers.size() && plan_.writers[next_domain_] == rank)
      serve_domain(rank);
    storage_.end_client();
    for (Coding& coding : codings_)
      coding.to_roots.end_rank(rank), coding.to_domains.end_rank(rank);
  }
  for (Coding& coding : codings_)
    coding.to_roots.finish(), coding.to_domains.finish();
  choose_codings();
  storage_.cut_stripes(plan_.stripes_cut.value_or(0));
  storage_.finish();
  const auto largest = std::max_element(memory_.begin(), memory_.end());
  counts_.most_memory = *largest;
  int64_t sum = 0;
  for (const int64_t bytes : memory_)
    sum += bytes;
  counts_.mean_memory = sum / plan_.ranks;
  counts_.data_opens = counts_.clients;
  for (size_t row = 0; row < counts_.rows.size(); ++row)
    counts_.rows[row].bytes = storage_.matrix()[row];
  counts_.storage_waits_for = storage_.bound_of(0, phasing_.phases).what;
}

double RankTurns::phases_ahead() const {
  const double of_phase = storage_.host_bytes_of_phase();
  const auto cache = static_cast<double>(request_.machine.storage.cache_bytes);
  return plan_.reading || of_phase <= 0 ? 1 : std::max(1.0, cache / of_phase);
}

// Without compression, if allowed, and with each codec that the plan allows and the machine has a speed for.
void RankTurns::add_codings() {
  const Codec asked = plan_.strategy.codec;
  const auto add = [&](const Compression& compression) {
    codings_.push_back({ExchangeLoads(request_.machine, plan_.ranks, roots_of(plan_), phasing_.phases, compression),
                        ExchangeLoads(request_.machine, plan_.ranks, writers_of(plan_), phasing_.phases, compression)});
  };
  if (asked == Codec::automatic || asked == Codec::off)
    add({});
  for (const MachineCodec& known : request_.machine.codecs) {
    const auto codec = find_codec(known.name);
    if (!codec || (asked != Codec::automatic && asked != *codec))
      continue;
    const double encode_s = 1 / known.encode_bytes_per_s, decode_s = 1 / known.decode_bytes_per_s;
    add({.codec = name_of(*codec),
         .shrinks_to = request_.shrinks_to,
         .rank_s = plan_.reading ? decode_s : encode_s,
         .server_s = plan_.reading ? encode_s : decode_s});
  }
  if (!codings_.empty())
    return;
  add({});
  counts_.codec = fmt::format("{} is ignored: its speed is not in the machine file", name_of(asked));
}

// Each phase uses the fastest codec, like the exchange after measuring its messages.
void RankTurns::choose_codings() {
  exchange_.assign(phasing_.phases, 0.0);
  if (plan_.broadcast)
    exchange_.front() = broadcast_seconds();
  std::map<std::string_view, size_t> phases_of;
  Bound longest;
  for (size_t phase = 0; phase < phasing_.phases && !plan_.broadcast; ++phase) {
    const auto seconds = [phase](const Coding& coding) {
      return coding.to_roots.bound_of(phase).seconds + coding.to_domains.bound_of(phase).seconds;
    };
    const auto fastest = std::min_element(codings_.begin(), codings_.end(),
                                          [&](const Coding& a, const Coding& b) { return seconds(a) < seconds(b); });
    exchange_[phase] = seconds(*fastest);
    for (const ExchangeLoads* loads : {&fastest->to_roots, &fastest->to_domains})
      longest.take(loads->bound_of(phase).seconds, loads->bound_of(phase).what);
    if (const std::string_view codec = fastest->to_domains.codec(); !codec.empty())
      ++phases_of[codec];
  }
  counts_.exchange_waits_for = longest.what;
  if (counts_.message_bytes == 0)
    return;
  for (const auto& [codec, phases] : phases_of)
    counts_.codec += fmt::format("{}{}, to {} of the bytes, in {} of {} phases", counts_.codec.empty() ? "" : "; ",
                                 codec, request_.shrinks_to, phases, phasing_.phases);
}

// Through a tree whose links work concurrently.
double RankTurns::broadcast_seconds() const {
  const double all = static_cast<double>(counts_.bytes) / plan_.ranks;
  return 2 * all / request_.machine.network.bytes_per_s + all / request_.machine.memory.copy_bytes_per_s;
}

double RankTurns::describe_seconds() const {
  const MachineNetwork& network = request_.machine.network;
  const int64_t most =
      descriptions_to_.empty() ? 0 : *std::max_element(descriptions_to_.begin(), descriptions_to_.end());
  const int64_t descriptions = std::max(most, most_descriptions_from_);
  return descriptions == 0 ? 0 : static_cast<double>(descriptions) * network.message_s + network.latency_s;
}

}  // namespace windrow
