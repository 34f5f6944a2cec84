// SPDX-License-Identifier: BSD-3-Clause
// Builds a transfer for a plan: the descriptions between ranks, and the roles of this rank.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/units.hpp"
#include "codec/checksum.hpp"
#include "comm/sparse.hpp"
#include "exchange/engine.hpp"

namespace windrow {

namespace {
constexpr Extent k_everywhere{0, INT64_MAX / 4};
// Trailer of a description: its kind, and the element size.
constexpr std::byte k_runs{0}, k_counts{1}, k_framed{2};
constexpr size_t k_description_end = 2;
// Checksum behind the trailer. Without it, ranks that read a damaged description would wait forever for messages.
constexpr size_t k_sum_bytes = sizeof(uint32_t);
}  // namespace

namespace {

// Whether all windows become full. An aggregator then knows what ranks of its host will copy without descriptions.
bool fills(const Plan& plan) {
  return plan.whole && !plan.reading && plan.has_domains() && !plan.gathers();
}

// Whether the host's ranks share enough memory already. The same on all ranks of the host.
bool has_slots(const Comm& comm, const Plan& plan) {
  for (size_t i = 0; i < plan.domains.size(); ++i) {
    const int host_rank = comm.host_rank_of(plan.writers[i]);
    if (host_rank >= 0 && !comm.shared().holds(host_rank, SharedSlots::bytes_needed(plan, i)))
      return false;
  }
  return true;
}

}  // namespace

bool Transfer::communicates(const Comm& comm, const Plan& plan, bool share) {
  if (!plan.has_domains() && !plan.gathers())
    return plan.broadcast && compresses(plan, comm);  // the link may be measured
  return !(share && fills(plan) && comm.host_size() > 1 && comm.host_size() == comm.size() && has_slots(comm, plan));
}

class TransferBuilder {
 public:
  TransferBuilder(Comm& comm, const Plan& plan, std::span<const Item> items, TransferOptions options,
                  TransferResources resources)
      : comm_(comm),
        plan_(plan),
        items_(items),
        share_(options.share),
        checks_(options.check_messages),
        moved_bytes_(options.moved_bytes),
        arena_(resources.arena),
        trace_(resources.trace),
        root_(team_root(plan, comm.rank(), comm.host_root())) {}

  Result<std::unique_ptr<Transfer>> build() {
    comm_.wait_for_holder();
    Status local = probe_link(comm_, plan_, moved_bytes_, trace_);
    local.update(guard([&] {
      transfer_.reset(new Transfer(comm_));
      transfer_->coder_ = std::make_unique<Coder>(comm_, plan_, checks_, transfer_->trace_);
      return Status{};
    }));
    if (plan_.gathers())
      local = gather_descriptions(std::move(local));
    // With teams and domains, roots send their windows as messages.
    if (plan_.has_domains() != plan_.gathers() && share_ && comm_.host_size() > 1)
      local.update(reserve_slots());
    if (plan_.has_domains())
      local = exchange_with_domains(std::move(local));
    if (local.ok())
      local = guard([&] { return give_roles(); });
    if (local.ok())
      local = coder().prepare();
    if (local.ok())
      arena_.take_from(comm_);
    if (local.ok())
      local = guard([&] { return arena_.reserve(transfer_->buffer_bytes(), trace_); });
    if (!local.ok())
      return local;
    return std::move(transfer_);
  }

 private:
  bool is_root() const { return root_ == comm_.rank(); }

  // Collective. Members send descriptions to their root, which merges them.
  Status gather_descriptions(Status local) {
    std::vector<SparseMessage> out;
    if (local.ok())
      local = guard([&] {
        if (!is_root() && !items_.empty()) {
          out.push_back({.peer = root_, .bytes = {}});
          describe(items_, k_everywhere, out.back().bytes);
          close(out.back(), k_runs, element_bytes_of(items_, k_everywhere));
        }
        return Status{};
      });
    local = exchange(std::move(local), out, members_);
    if (local.ok() && is_root())
      local = guard([&] { return unite_team(); });
    return local;
  }

  Status unite_team() {
    transfer_->route_ = std::make_unique<RelayRoute>();
    transfer_->route_->team = view_of(covered_by(members_, items_));
    transfer_->route_->element_bytes = element_bytes_of(items_, k_everywhere);
    for (const Peer& member : members_)
      if (transfer_->route_->element_bytes == 1)
        transfer_->route_->element_bytes = member.element_bytes;
    return {};
  }

  // What this rank describes to aggregators: its own items, or those of its team, of which it is the root.
  std::span<const Item> described_items() {
    if (!plan_.gathers())
      return items_;
    const RelayRoute& route = *transfer_->route_;
    for (const ViewPart& part : route.team.parts)
      team_items_.push_back(make_item(part.runs, part.file_base, nullptr, 1, route.element_bytes));
    return team_items_;
  }

  // Describes what is held in one domain, if its aggregator does not know that otherwise.
  void describe_domain(size_t domain, std::span<const Item> held, std::vector<SparseMessage>& out) {
    const int writer = plan_.writers[domain];
    const bool is_own = writer == comm_.rank() && !plan_.gathers();
    const Windows windows = windows_of(plan_, domain);
    if (is_own || !reaches(held, windows))
      return;
    const bool shared = static_cast<bool>(slots_at(writer, domain));
    if (shared && fills(plan_))
      return;
    const bool counts = plan_.whole && shared;
    out.push_back({.peer = writer, .bytes = {}});
    if (counts)
      describe_counts(counts_of(held, windows), out.back().bytes);
    else
      describe_to(windows, held, out.back().bytes);
    close(out.back(), counts ? k_counts : k_runs, element_bytes_of(held, plan_.domains[domain]));
  }

  // Collective. Sources (all ranks, or the roots of teams) describe to the aggregators what they hold in their domains.
  Status exchange_with_domains(Status local) {
    std::vector<SparseMessage> out;
    const bool is_source = !plan_.gathers() || is_root();
    if (local.ok() && is_source)  // a root has its route only without an error
      local = guard([&] {
        const StageTimer timer(trace_, Stage::routes);
        const std::span<const Item> held = described_items();
        for (size_t i = 0; i < plan_.domains.size(); ++i)
          describe_domain(i, held, out);
        return Status{};
      });
    if (sharing_ && fills(plan_) && comm_.host_size() == comm_.size())
      return local;  // all ranks know that there are no descriptions
    // With many ranks on each of several hosts, bundles their descriptions for an aggregator.
    constexpr int k_oversubscribed = 16;
    const auto hosts = static_cast<int>(comm_.host_roots().size());
    return exchange(std::move(local), out, sources_, hosts > 1 && comm_.size() / hosts >= k_oversubscribed);
  }

  Coder& coder() noexcept { return *transfer_->coder_; }
  TransferContext context() noexcept { return {comm_, transfer_->trace_, coder()}; }

  void close(SparseMessage& description, std::byte kind, int element_bytes) {
    trace_.description_bytes_before_codec +=
        static_cast<int64_t>(description.bytes.size() + k_description_end + k_sum_bytes);
    const StageTimer timer(trace_, Stage::descriptions);
    const bool framed = coder().shrink(description.peer, description.bytes, trace_.codec_description_seconds);
    description.bytes.push_back(framed ? kind | k_framed : kind);
    description.bytes.push_back(static_cast<std::byte>(std::clamp(element_bytes, 1, 255)));
    const uint32_t sum = xxh32(description.bytes);
    description.bytes.resize(description.bytes.size() + k_sum_bytes);
    std::memcpy(description.bytes.data() + description.bytes.size() - k_sum_bytes, &sum, k_sum_bytes);
  }

  // The kind of a description from `from`; removes its trailer from `bytes`.
  Result<std::byte> open(int from, std::span<const std::byte>& bytes, int& element_bytes) {
    uint32_t sum = 0;
    const bool has_sum = bytes.size() >= k_sum_bytes;
    if (has_sum)
      std::memcpy(&sum, bytes.data() + bytes.size() - k_sum_bytes, k_sum_bytes);
    bytes = bytes.first(bytes.size() - (has_sum ? k_sum_bytes : 0));
    if (!has_sum || xxh32(bytes) != sum)
      return Status{Code::internal,
                    fmt::format("a description from rank {} was damaged in transit: its checksum is wrong", from)};
    if (bytes.size() < k_description_end)
      return Status{Code::internal, fmt::format("internal error: a description from rank {} is incomplete", from)};
    const std::byte kind = bytes[bytes.size() - 2];
    element_bytes = std::to_integer<int>(bytes.back());
    bytes = bytes.first(bytes.size() - k_description_end);
    // Only a rank that copies into shared memory may send counts alone.
    const bool known = (kind & ~(k_counts | k_framed)) == std::byte{0} &&
                       ((kind & k_counts) == std::byte{0} || comm_.host_rank_of(from) >= 0);
    if (!known || element_bytes < 1)
      return Status{Code::internal,
                    fmt::format("internal error: malformed description from rank {}: kind {}, elements of {}", from,
                                std::to_integer<int>(kind), counted(element_bytes, "byte"))};
    return kind;
  }

  // Collective.
  Status exchange(Status local, std::span<const SparseMessage> out, std::vector<Peer>& peers, bool by_host = false) {
    const StageTimer timer(trace_, Stage::descriptions);
    std::vector<SparseMessage> in;
    MessageCounters counters;
    const auto deliver = by_host ? sparse_exchange_by_host : share_ ? sparse_exchange : sparse_exchange_by_messages;
    Status status = deliver(comm_, std::move(local), out, in, counters);
    trace_.description_messages += counters.messages;
    trace_.description_bytes += counters.bytes;
    if (!status.ok())
      return status;
    return guard([&] {
      for (const SparseMessage& description : in) {
        std::span<const std::byte> bytes = description.bytes;
        std::vector<std::byte> grown;
        Peer peer{.rank = description.peer, .view = {}, .shared = false, .counts = {}, .element_bytes = 1};
        const auto opened = open(description.peer, bytes, peer.element_bytes);
        if (!opened.ok())
          return opened.status();
        const std::byte kind = opened.value();
        if ((kind & k_framed) != std::byte{0}) {
          auto decoded = coder().grow(bytes, trace_.codec_description_seconds);
          if (!decoded.ok())
            return decoded.status();
          grown = std::move(decoded).value();
          bytes = grown;
        }
        if ((kind & ~k_framed) == k_counts) {
          auto counts = parse_counts(bytes);
          if (!counts.ok())
            return counts.status();
          peer.counts = std::move(counts).value();
        } else {
          auto view = parse_description(bytes);
          if (!view.ok())
            return view.status();
          peer.view = std::move(view).value();
        }
        if (transfer_)
          transfer_->description_bytes_ +=
              peer.view.memory_bytes() + static_cast<int64_t>(peer.counts.size() * sizeof(WindowBytes));
        peers.push_back(std::move(peer));
      }
      return Status{};
    });
  }

  static bool reaches(std::span<const Item> held, const Windows& windows) {
    Channel channel{.rank = 0, .grid = Grid{{windows}}};
    advance(held, channel);
    return channel.step < channel.grid.steps();
  }

  // If stripes are assigned, describes the intersection with the domain's stripes: at most one run for each stripe that
  // is accessed, fewer if these are at regular distances.
  static void describe_to(const Windows& windows, std::span<const Item> held, std::vector<std::byte>& out) {
    if (!windows.deal)
      return describe(held, windows.domain, out);
    for (const Item& item : held) {
      PiecesBuilder builder;
      for_each_held_part(windows.whole(), item.runs, item.hull, item.file_base, [&](const Window::Part& part) {
        for_each_nest(item.runs, {part.bytes.begin - item.file_base, part.bytes.end - item.file_base},
                      [&](const Nest& nest) { builder.add(nest); });
      });
      const Pieces pieces = builder.take();
      if (!pieces.empty())
        describe(std::array{make_item(pieces, item.file_base, nullptr, 1)}, k_everywhere, out);
    }
  }

  std::vector<WindowBytes> counts_of(std::span<const Item> held, const Windows& windows) const {
    std::vector<WindowBytes> counts;
    Channel channel{.rank = 0, .grid = Grid{{windows}}};
    for (advance(held, channel); channel.step < channel.grid.steps(); ++channel.step, advance(held, channel))
      counts.push_back({channel.step, bytes_in(held, channel.grid.window(channel.step))});
    return counts;
  }

  Grid domains_grid() const {
    Grid grid;
    for (size_t i = 0; i < plan_.domains.size(); ++i)
      grid.domains.push_back(windows_of(plan_, i));
    return grid;
  }

  // The grid between a member and its root: the windows of all domains, or of the whole file.
  Grid team_grid() const {
    return plan_.has_domains() ? domains_grid() : whole_file_grid(plan_.window_bytes, plan_.message_bytes);
  }

  // Collective over the host. Reserves shared memory for the slots of this rank's domain or team.
  Status reserve_slots() {
    int64_t bytes = plan_.gathers() && is_root() ? SharedSlots::bytes_needed(plan_) : 0;
    for (size_t i = 0; i < plan_.domains.size(); ++i)
      if (plan_.writers[i] == comm_.rank())
        bytes = SharedSlots::bytes_needed(plan_, i);
    const bool grows = bytes > 0 && !comm_.shared().holds(comm_.host_rank_of(comm_.rank()), bytes);
    const auto reserved =
        !plan_.gathers() && has_slots(comm_, plan_) ? Result<bool>(true) : comm_.shared().reserve(comm_.host(), bytes);
    sharing_ = reserved.ok() && reserved.value();
    if (sharing_ && grows)
      ++trace_.allocations;
    if (sharing_ && transfer_)
      transfer_->shared_bytes_ = bytes;  // a rank without memory has no transfer, but also reaches this point
    if (!sharing_ && transfer_)
      transfer_->shared_refused_ = true;
    return reserved.status();
  }

  // The plan's regions within a domain if its sources may hold all of them. Otherwise empty; a sparse file would make
  // this expensive.
  Pieces regions_in(const Windows& windows, std::span<const Peer> peers, std::span<const Item> own) const {
    int64_t missing = 0;
    for (const Extent& region : plan_.pattern.regions)
      missing += windows.bytes_in(region);
    for (const Peer& peer : peers)
      for (const ViewPart& part : peer.view.parts)
        missing -= part.total;
    missing -= bytes_in(own, windows.whole());
    if (!plan_.whole && missing > 0)
      return {};
    PiecesBuilder inside;
    int64_t place = 0;
    for (const Extent& region : plan_.pattern.regions)
      windows.for_each_part(region, [&](Extent part) {
        inside.add(Piece{part.begin, place, part.size()});
        place += part.size();
      });
    return inside.take();
  }

  SharedSlots slots_at(int writer, size_t domain) const {
    const int host_rank = sharing_ ? comm_.host_rank_of(writer) : -1;
    return host_rank < 0 ? SharedSlots() : SharedSlots(comm_.shared(), host_rank, plan_, domain);
  }

  SharedSlots slots_of_team() const {
    const int host_rank = sharing_ ? comm_.host_rank_of(root_) : -1;
    return host_rank < 0 ? SharedSlots() : SharedSlots(comm_.shared(), host_rank, plan_);
  }

  // Roles between a member and the root of its team.
  Status join_team() {
    Channel channel{.rank = root_, .grid = team_grid()};
    const SharedSlots slots = slots_of_team();
    if (!slots)
      return add_channels({std::move(channel)}, k_tag_relay);
    transfer_->roles_.push_back(std::make_unique<Copier>(
        comm_, transfer_->trace_, items_, std::vector<SharedChannel>{{std::move(channel), slots}}, plan_.reading));
    return {};
  }

  Status give_roles() {
    const StageTimer timer(trace_, Stage::routes);
    if (plan_.broadcast)
      return broadcast();
    if (!plan_.gathers()) {
      if (plan_.has_domains())
        return give_domain_roles(items_);
      // Each rank is its own aggregator, through a buffer.
      return items_.empty() ? Status{} : serve({whole_file_grid(plan_.window_bytes), {}, items_, k_tag_data}, false);
    }
    if (!is_root()) {
      if (!items_.empty())
        if (Status status = join_team(); !status.ok())
          return status;
      return plan_.has_domains() ? give_domain_roles({}) : Status{};
    }
    const bool forward = plan_.has_domains();
    transfer_->route_->grid = team_grid();
    transfer_->route_->ranks = plan_.writers;
    const SharedSlots slots = slots_of_team();
    for (Peer& peer : members_)
      peer.shared = slots && comm_.host_rank_of(peer.rank) >= 0;
    if (Status status = serve({team_grid(), std::move(members_), items_, k_tag_relay}, forward, slots); !status.ok())
      return status;
    return forward ? give_domain_roles({}) : Status{};
  }

  // `own`: the items that this rank contributes to domains itself; empty if the root of its team does.
  Status give_domain_roles(std::span<const Item> own) {
    std::vector<Channel> channels;
    std::vector<SharedChannel> shared_channels;
    const Windows* mine = nullptr;
    SharedSlots slots;
    const Grid grid = domains_grid();
    for (size_t i = 0; i < plan_.domains.size(); ++i) {
      const int writer = plan_.writers[i];
      if (writer == comm_.rank()) {
        mine = &grid.domains[i];
        slots = slots_at(writer, i);
      } else if (reaches(own, grid.domains[i])) {
        Channel channel{.rank = writer, .grid = Grid{{grid.domains[i]}}};
        if (const SharedSlots there = slots_at(writer, i))
          shared_channels.push_back({std::move(channel), there});
        else
          channels.push_back(std::move(channel));
      }
    }
    if (!shared_channels.empty())
      transfer_->roles_.push_back(
          std::make_unique<Copier>(comm_, transfer_->trace_, items_, std::move(shared_channels), plan_.reading));
    if (!channels.empty()) {
      // Ranks send to aggregators in different orders, so that not all start with the first. Reads must not do this:
      // see receiver.hpp.
      if (!plan_.reading)
        std::rotate(channels.begin(), channels.begin() + comm_.rank() % static_cast<int>(channels.size()),
                    channels.end());
      if (Status status = add_channels(std::move(channels), k_tag_data); !status.ok())
        return status;
    }
    if (mine == nullptr)
      return {};
    for (Peer& peer : sources_)
      peer.shared = slots && comm_.host_rank_of(peer.rank) >= 0;
    return serve({Grid{{*mine}}, std::move(sources_), own, k_tag_data}, false, slots);
  }

  Status broadcast() {
    auto role = std::make_unique<Broadcaster>(context(), items_, 0, plan_.window_bytes);
    if (Status status = role->prepare(); !status.ok())
      return status;
    transfer_->broadcasting_ = role.get();
    transfer_->expected_messages_ += role->expected_messages();
    if (role->is_root())
      set_storage(role->grid(), role->covered());
    transfer_->roles_.push_back(std::move(role));
    return {};
  }

  Status add_channels(std::vector<Channel> channels, int tag) {
    if (plan_.reading)
      transfer_->roles_.push_back(std::make_unique<Receiver>(context(), items_, std::move(channels), tag));
    else
      transfer_->roles_.push_back(std::make_unique<Sender>(context(), items_, std::move(channels), tag));
    return transfer_->roles_.back()->prepare();
  }

  int64_t whole_window(const Grid& grid) const { return plan_.whole_windows ? grid.domains.front().slot_bytes() : 0; }

  // This rank serves the windows of a grid. Their other side is the storage or, if `forward`, the aggregators of the
  // domains.
  Status serve(ServedGrid served, bool forward, SharedSlots slots = {}) {
    return plan_.reading ? distribute(std::move(served), forward, slots) : collect(std::move(served), forward, slots);
  }

  // The role of an aggregator, prepared.
  template <class AnyRole>
  Result<std::unique_ptr<AnyRole>> make_server(ServedGrid served, SharedSlots slots) {
    const int64_t with_self = messages_with_self(served.grid, served.peers),
                  slots_without_sharing = served.peers.empty() ? plan_.slots : plan_.slots_of_messages;
    const bool is_relay = served.tag == k_tag_relay, is_domain = !is_relay && plan_.has_domains();
    Pieces regions = is_domain ? regions_in(served.grid.domains.front(), served.peers, served.own) : Pieces{};
    auto role = std::make_unique<AnyRole>(context(), std::move(served));
    role->set_slots(slots_without_sharing, slots, whole_window(role->grid()));
    if (is_domain)
      role->set_regions(std::move(regions), plan_.whole);
    if (is_relay)
      role->set_regions(transfer_->route_->team.lists.front(), true);  // computed already: the union of the team
    if (Status status = role->prepare(); !status.ok())
      return status;
    transfer_->expected_messages_ += role->expected().messages - with_self;
    return role;
  }

  Status collect(ServedGrid served, bool forward, SharedSlots slots) {
    auto made = make_server<Collector>(std::move(served), slots);
    if (!made.ok())
      return made.status();
    auto role = std::move(made).value();
    if (forward) {
      transfer_->forward_sink_ = std::make_unique<ForwardSink>(context(), *transfer_->route_);
      transfer_->forward_sink_->prepare(std::min(plan_.message_bytes, role->expected().largest_window));
      role->set_sink(transfer_->forward_sink_.get());
    } else {
      transfer_->storing_.push_back(role.get());
      set_storage(role->grid(), role->covered());
    }
    transfer_->roles_.push_back(std::move(role));
    return {};
  }

  Status distribute(ServedGrid served, bool forward, SharedSlots slots) {
    auto made = make_server<Distributor>(std::move(served), slots);
    if (!made.ok())
      return made.status();
    auto role = std::move(made).value();
    if (forward) {
      transfer_->forward_fetcher_ = std::make_unique<ForwardFetcher>(context(), *transfer_->route_);
      transfer_->forward_fetcher_->prepare(std::min(plan_.message_bytes, role->expected().largest_window));
      role->set_fetcher(transfer_->forward_fetcher_.get());
    } else {
      transfer_->fetching_.push_back(role.get());
      set_storage(role->grid(), role->covered());
    }
    transfer_->roles_.push_back(std::move(role));
    return {};
  }

  void set_storage(const Grid& grid, PieceView covered) {
    transfer_->storage_grid_ = &grid;
    transfer_->storage_covered_ = covered;
  }

  // A root that is also an aggregator sends its team's windows to itself through MPI, but not as messages to another
  // rank.
  int64_t messages_with_self(const Grid& grid, std::span<const Peer> peers) const {
    for (const Peer& peer : peers)
      if (peer.rank == comm_.rank()) {
        const auto covered = covered_by(std::span(&peer, 1), {});
        return forecast(grid, std::span(&peer, 1), {}, covered).messages;
      }
    return 0;
  }

  Comm& comm_;
  const Plan& plan_;
  std::span<const Item> items_;
  bool share_, checks_;
  int64_t moved_bytes_;
  bool sharing_ = false;
  Arena& arena_;
  Trace& trace_;
  int root_;
  std::unique_ptr<Transfer> transfer_;
  std::vector<Peer> members_;  // members of a root's team without the root
  std::vector<Peer> sources_;  // of this rank's domain
  std::vector<Item> team_items_;
};

Result<std::unique_ptr<Transfer>> Transfer::prepare(Comm& comm, const Plan& plan, std::span<const Item> items,
                                                    TransferOptions options, TransferResources resources) {
  return TransferBuilder(comm, plan, items, options, resources).build();
}

}  // namespace windrow
