// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/coder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/checked.hpp"
#include "base/units.hpp"
#include "comm/arrivals.hpp"
#include "comm/link.hpp"
#include "comm/wait.hpp"

namespace windrow {

static_assert(k_most_arms == k_codec_constant, "the trace has a counter for each codec candidate, and one more");

namespace {

constexpr int64_t k_least_message = 256;  // shorter messages are not sampled
// bytes that measure_link() sends with messages long enough for an accurate result
constexpr int64_t k_long_probe = 3 * (1 + (int64_t{64} << 10));
constexpr int64_t k_least_timed = 8 << 10;  // the time of shorter messages is mostly latency
constexpr int64_t k_left_alone = 16;        // messages that are not sampled after one that would not shrink
constexpr int k_first_looks = 3;            // for the first message
constexpr double k_sampling_share = 0.003;  // of the seconds of all runs
constexpr double k_congestion = 4;          // upper bound of a measured link time, relative to that of a quiet link
// the same if ranks outnumber cores: messages then wait for ranks that do not run
constexpr double k_congestion_oversubscribed = 1.5;

bool shows_speed(std::span<const std::byte> raw) noexcept {
  return static_cast<int64_t>(raw.size()) >= k_least_timed;
}

// The fastest arm for these elements; off: none.
size_t first_arm(int element_bytes) noexcept {
  for (size_t arm = 1; arm < arm_count(); ++arm)
    if (compressor_of(arm)->does(element_bytes))
      return arm;
  return k_arm_off;
}

// May throw std::bad_alloc.
CodecMemory& memory_of(Comm& comm) {
  std::shared_ptr<void>& kept = comm.attachment(Comm::Remembered::codecs);
  if (kept == nullptr)
    kept = std::make_shared<CodecMemory>();
  return *static_cast<CodecMemory*>(kept.get());
}

}  // namespace

bool compresses(const Plan& plan, const Comm& comm) noexcept {
  return plan.strategy.codec != Codec::off && comm.host_roots().size() > 1;
}

int64_t probe_allowance(const Comm& comm, int64_t moved_bytes) noexcept {
  constexpr int64_t k_share = 10;
  return moved_bytes / k_share / static_cast<int64_t>(comm.host_roots().size());
}

bool probes(const Plan& plan, Comm& comm, int64_t moved_bytes) noexcept {
  const bool sends = plan.has_domains() || plan.gathers() || plan.broadcast;
  if (plan.strategy.codec != Codec::automatic || !sends || !compresses(plan, comm))
    return false;
  if (!comm.link_measured())
    return true;
  const auto* memory = static_cast<const CodecMemory*>(comm.attachment(Comm::Remembered::codecs).get());
  return memory != nullptr && memory->rough_link && probe_allowance(comm, moved_bytes) >= k_long_probe;
}

Status probe_link(Comm& comm, const Plan& plan, int64_t moved_bytes, Trace& trace) {
  if (!probes(plan, comm, moved_bytes))
    return {};
  const auto probe = measure_link(comm, probe_allowance(comm, moved_bytes));
  if (!probe.ok())
    return probe.status();
  trace.probe_bytes += probe.value().sent;
  if (probe.value().seconds_per_byte == 0)
    return {};  // messages give the link's speed until enough bytes are moved for a measurement
  comm.set_link(probe.value().seconds_per_byte);
  return guard([&] {
    memory_of(comm).rough_link = probe.value().rough;
    return Status{};
  });
}

std::shared_ptr<CodecTuner> make_tuner(Comm& comm, const Plan& plan) {
  if (plan.strategy.codec != Codec::automatic || !compresses(plan, comm))
    return nullptr;
  (void)memory_of(comm);  // allocates the memory that keeps it
  const Codec preferred = plan.strategy.codec_preferred;
  return std::make_shared<CodecTuner>(preferred == Codec::automatic ? k_arm_off : find_arm(name_of(preferred), false));
}

std::shared_ptr<CodecTuner> keep_tuner(Comm& comm, const Plan& plan, int64_t bytes, int64_t pieces, bool split_flush,
                                       std::shared_ptr<CodecTuner> made) noexcept {
  if (!made)
    return nullptr;
  CodecMemory& memory = *static_cast<CodecMemory*>(comm.attachment(Comm::Remembered::codecs).get());
  const int64_t way = (plan.broadcast ? 2 : plan.reading ? 1 : 0) + (split_flush ? 4 : 0);
  const std::array<int64_t, 4> key{way, static_cast<int64_t>(plan.strategy.codec_preferred), bytes, pieces};
  for (const CodecMemory::KnownTuner& known : memory.tuners)
    if (known.tuner && known.key == key)
      return known.tuner;
  memory.tuners[memory.next_tuner++ % memory.tuners.size()] = {key, made};
  return made;
}

namespace {

// Ranks of this host that send to other hosts concurrently: readers, roots of teams, or all ranks.
int64_t senders_of_host(const Comm& comm, const Plan& plan) noexcept {
  if (plan.broadcast)
    return 1;
  if (plan.gathers()) {
    const bool is_of_hosts = plan.team == 0;  // members pass their data to the root through shared memory
    if (is_of_hosts || (plan.reading && !plan.has_domains()))
      return 1;
    return plan.reading ? ceil_divide(comm.host_size(), plan.team)
                        : comm.host_size();  // all ranks send if a team is larger than a host
  }
  if (!plan.reading)
    return comm.host_size();
  return std::max<int64_t>(1, std::count_if(plan.writers.begin(), plan.writers.end(),
                                            [&](int reader) { return comm.host_rank_of(reader) >= 0; }));
}

}  // namespace

Coder::Coder(Comm& comm, const Plan& plan, bool checks, Trace& trace)
    : comm_(comm),
      trace_(trace),
      compresses_(compresses(plan, comm)),
      automatic_(plan.strategy.codec == Codec::automatic),
      checks_(checks),
      level_(plan.strategy.codec_level) {
  sharers_ = senders_of_host(comm, plan);
  int64_t at_work = comm.machine_size();
  if (plan.broadcast)
    at_work = std::max(1, comm.machine_size() / comm.host_size());  // one rank of each host has messages
  const double senders =
      plan.writers.empty() ? 1
                           : std::max(1.0, static_cast<double>(comm.size()) / static_cast<double>(plan.writers.size()));
  (plan.reading ? work_.encodes : work_.decodes) = senders;
  work_.ranks_a_core = static_cast<double>(at_work) / static_cast<double>(online_cores());
  if (!compresses_ && !checks_)
    return;
  memory_ = &memory_of(comm);
  if (!compresses_)
    return;
  if (!automatic_)
    fixed_arm_ = find_arm(name_of(plan.strategy.codec), plan.strategy.codec_shuffle);
}

void Coder::add(Traffic& traffic) {
  traffic.coded = codes(traffic.rank);
  if (traffic.coded && measures() && comm_.host_rank_of(traffic.rank) < 0)
    traffic.link = &memory_->links[comm_.host_index_of(traffic.rank)];
}

Status Coder::reserve(int64_t largest) {
  CodecMemory& memory = *memory_;
  const int level = std::max(level_, memory.level);
  if (memory.workspace == nullptr || memory.workspace->largest() < largest || level > memory.level) {
    largest = std::max(largest, memory.workspace == nullptr ? 0 : memory.workspace->largest());
    // All compressors: each sender chooses its own.
    auto made = CodecWorkspace::make(largest, compressors(), level);
    if (!made.ok())
      return made.status();
    memory.workspace = std::move(made).value();
    memory.level = level;
  }
  if (memory.scratch_bytes >= largest)
    return {};
  return guard([&] {
    // Includes room for a header even if this coder has no checksums: the next one may have them.
    memory.scratch = std::make_unique_for_overwrite<std::byte[]>(static_cast<size_t>(largest + k_frame_header));
    memory.scratch_bytes = largest;
    return Status{};
  });
}

Status Coder::prepare() {
  return memory_ == nullptr ? Status{} : reserve(largest_);
}

void Coder::begin(const CodecOrder& order) noexcept {
  order_ = order;
  if (!automatic_)
    order_ = {.arm = fixed_arm_};
  if (measures() && order_.looks && order_.notes != nullptr)
    order_.notes->own_arms = false;
  passive_ = is_off() && !has_own_arms();
  tally_ = {};
  if (order_.arm == CodecTuner::k_by_message)
    ratios_ = {};  // from earlier messages with possibly other data
  run_began_ = seconds_now();
  status_ = Status{};
}

void Coder::end() noexcept {
  run_seconds_ = measures() && run_began_ > 0 ? seconds_now() - run_began_ : 0;
  if (measures())
    memory_->run_seconds += run_seconds_;
  run_began_ = 0;
}

// Limits the time of samples to a small share of the time of all runs.
bool Coder::may_sample() const noexcept {
  const double run = run_began_ > 0 ? seconds_now() - run_began_ : 0;
  return memory_->sampling_seconds < k_sampling_share * (memory_->run_seconds + run);
}

CodecChoice Coder::choice(size_t arm, int element_bytes) const noexcept {
  const Compressor* compressor = compresses_ ? compressor_of(arm) : nullptr;
  return {.compressor = compressor,
          .level = automatic_ ? 0 : level_,
          .shuffle = shuffles(arm),
          .element_bytes = element_bytes};
}

// The link of this host without other traffic, shared by the ranks of this host. If it was measured only roughly, the
// times of messages are used.
double Coder::quiet_link(const Traffic& traffic) const noexcept {
  if (has_rough_link() && traffic.link != nullptr && traffic.link->known())
    return traffic.link->value();
  return comm_.link() * static_cast<double>(sharers_);
}

// The measured time, bounded by those of a quiet and of an oversubscribed link.
double Coder::link_of(const Traffic& traffic) const noexcept {
  const double quiet = comm_.link();
  const double shared = quiet * static_cast<double>(sharers_);
  if (traffic.link == nullptr || !traffic.link->known())
    return shared;
  if (has_rough_link())
    return traffic.link->value();
  return std::clamp(traffic.link->value(), quiet,
                    (work_.ranks_a_core > 1 ? k_congestion_oversubscribed : k_congestion) * shared);
}

// False for a sample of equal elements, which has no information; the previous values stay. A later sample finds the
// rest.
bool Coder::sample(Traffic& traffic, std::span<const std::byte> raw) noexcept {
  const double begin = working_seconds_now();
  const ArmSpeeds& speeds = memory_->model.encode(traffic.element_bytes);
  const auto bytes = static_cast<double>(std::min(raw.size(), CodecWorkspace::k_sample_bytes));
  ArmNumbers ratios{};
  ratios[k_arm_off] = 1;
  bool tells = true;
  for (size_t arm = 1; arm < arm_count() && tells; ++arm) {
    const CodecChoice chosen = choice(arm, traffic.element_bytes);
    sampled_[arm] = ratios[arm] = 1;
    if (!chosen.compressor->does(traffic.element_bytes))
      continue;
    SampledFrame sampled;
    // First uses are slow, and preemption can make one sample look a hundred times slower. So until messages have been
    // timed, the fastest of several samples is used.
    const int looks = speeds[arm].known() ? 1 : k_first_looks;
    for (int look = 0; look < looks && tells; ++look) {
      const double before = working_seconds_now();
      sampled = sample_frame(raw, chosen, *memory_->workspace);
      tells = !sampled.equal_elements;
      if (!tells || !shows_speed(raw))
        break;
      memory_->model.guess(arm, traffic.element_bytes, (working_seconds_now() - before) / bytes);
    }
    sampled_[arm] = static_cast<double>(sampled.bytes) / static_cast<double>(raw.size());
    ratios[arm] = memory_->model.corrected(arm, traffic.element_bytes, sampled_[arm]);
  }
  if (tells)
    traffic.ratios = ratios_[element_kind(traffic.element_bytes)] = ratios;
  fresh_ = tells;
  memory_->sampling_seconds += working_seconds_now() - begin;
  return tells;
}

bool Coder::knows_speeds(int element_bytes) const noexcept {
  const ArmSpeeds& speeds = memory_->model.encode(element_bytes);
  for (size_t arm = 1; arm < arm_count(); ++arm)
    if (compressor_of(arm)->does(element_bytes) && !speeds[arm].known())
      return false;
  return true;
}

// Whether the data of a message may differ from what was sampled last, or was never sampled.
bool Coder::needs_sample(const Traffic& traffic, std::span<const std::byte> raw) const noexcept {
  const bool is_unseen = ratios_[element_kind(traffic.element_bytes)][k_arm_off] == 0;
  if (is_unseen || (shows_speed(raw) && !knows_speeds(traffic.element_bytes)))
    return true;
  constexpr int64_t k_messages_of_sample = 8;
  const bool is_old = is_first_look(traffic) || traffic.ratios[k_arm_off] == 0;
  return (is_old || traffic.messages % k_messages_of_sample == 0) && may_sample();
}

// The arm with the least cost, which is clearly less than that of the link alone.
size_t Coder::cheapest(const ArmNumbers& costs, double link) const noexcept {
  size_t best = k_arm_off;
  for (size_t arm = 1; arm < arm_count(); ++arm)
    if (costs[arm] < (best == k_arm_off ? k_worth * link : costs[best]))
      best = arm;
  return best;
}

// The arm that the run orders, unless another is far better for this message.
size_t Coder::ordered_arm(const ArmNumbers& costs, size_t best) noexcept {
  const size_t arm = own_arm(order_, costs, best);
  if (arm == order_.arm)
    return arm;
  if (order_.notes != nullptr)
    order_.notes->own_arms = true;
  ++trace_.messages_own_arm;
  return arm;
}

// Chooses the arm for one message by the model, and sets what it predicts for all arms.
size_t Coder::choose(Traffic& traffic, std::span<const std::byte> raw) noexcept {
  if (!automatic_)
    return traffic.leave_alone > 0 ? k_arm_off : fixed_arm_;
  const int element_bytes = traffic.element_bytes;
  const auto bytes = static_cast<double>(raw.size());
  const CodecModel& model = memory_->model;
  const double link = link_of(traffic), quiet = quiet_link(traffic);
  const bool by_message = order_.arm == CodecTuner::k_by_message;
  const bool may_be_off = by_message || order_.arm == k_arm_off;
  if (may_be_off && link <= model.least_work(element_bytes, work_)) {
    ArmNumbers ratios{};  // whatever the data, no compressor gains
    ratios.fill(1);
    tally_.add(bytes, ratios, link, quiet, element_bytes);
    return k_arm_off;
  }
  if (by_message && is_first_look(traffic))
    traffic.ratios.fill(0);
  // Equal elements are detected without a compressor. If only part of the message is equal, any compressor shrinks it.
  if (needs_sample(traffic, raw) && !sample(traffic, raw))
    return may_be_off ? first_arm(element_bytes) : order_.arm;
  const bool has_own_ratios = traffic.ratios[k_arm_off] > 0;
  const ArmNumbers& ratios = has_own_ratios ? traffic.ratios : ratios_[element_kind(element_bytes)];
  ArmNumbers costs{};
  for (size_t arm = 0; arm < arm_count(); ++arm)
    costs[arm] = model.cost(arm, ratios[arm], link, element_bytes, work_);
  const size_t best = cheapest(costs, link);
  tally_.add(bytes, ratios, link, quiet, element_bytes);
  if (by_message)
    return best;
  const size_t arm = ordered_arm(costs, best);
  return ratios[arm] < k_worth ? arm : k_arm_off;
}

int64_t Coder::pass(Traffic& traffic, std::span<std::byte> message) noexcept {
  const auto size = static_cast<int64_t>(message.size());
  const int64_t frame =
      traffic.coded && size >= k_least_message ? frame_equal_elements(message, traffic.element_bytes) : 0;
  const int64_t length = frame > 0 ? frame : size;
  ++traffic.messages;
  traffic.raw_bytes += size;
  traffic.wire_bytes += length;
  if (!traffic.coded)
    return length;
  CodecCount& count = trace_.codecs[frame > 0 ? k_codec_constant : k_arm_off];
  ++count.messages;
  count.bytes_in += size;
  count.bytes_out += length;
  return length;
}

void Coder::count(Traffic& traffic, const EncodedMessage& message, double seconds) noexcept {
  const size_t arm = message.equal_elements ? k_codec_constant : message.is_shorter() ? message.arm : k_arm_off;
  CodecCount& count = trace_.codecs[arm];
  ++count.messages;
  count.bytes_in += message.size;
  count.bytes_out += message.wire_bytes();
  count.encode_seconds += seconds;
  traffic.wire_bytes += message.wire_bytes();
}

// `began`: in working seconds.
void Coder::learn(Traffic& traffic, std::span<const std::byte> raw, const EncodedMessage& message,
                  double began) noexcept {
  const auto size = static_cast<double>(message.size);
  const double ratio = static_cast<double>(message.is_shorter() ? message.frame : message.size) / size;
  if (measures() && shows_speed(raw))
    memory_->model.made(message.arm, traffic.element_bytes, (working_seconds_now() - began) / size);
  if (fresh_)
    memory_->model.compare(message.arm, traffic.element_bytes, sampled_[message.arm], ratio);
  if (!message.is_shorter() || static_cast<double>(message.frame) > k_worth * size)
    traffic.leave_alone = k_left_alone;
}

std::span<const std::byte> Coder::encode(Traffic& traffic, std::span<const std::byte> raw, std::byte* frame) noexcept {
  const auto size = static_cast<int64_t>(raw.size());
  ++traffic.messages;
  traffic.raw_bytes += size;
  fresh_ = false;
  const bool may_shrink = compresses_ && comm_.host_rank_of(traffic.rank) < 0;
  const bool worth = may_shrink && size >= k_least_message;
  EncodedMessage message{.arm = worth && !passive_ ? choose(traffic, raw) : k_arm_off, .size = size};
  if (traffic.leave_alone > 0)
    --traffic.leave_alone;
  const CodecChoice chosen = choice(message.arm, traffic.element_bytes);
  const std::span<std::byte> to(frame, static_cast<size_t>(room(size)));
  const double begin = seconds_now(), begin_work = measures() ? working_seconds_now() : 0;
  if (checks_)
    message.frame = may_shrink ? encode_checked_frame(raw, chosen, *memory_->workspace, to) : frame_as_it_is(raw, to);
  else if (worth)
    message.frame = encode_frame(raw, chosen, false, *memory_->workspace, to);
  const double seconds = seconds_now() - begin;
  const auto sent = to.first(static_cast<size_t>(message.frame));
  message.equal_elements = message.is_shorter() && kind_of_frame(sent).equal_elements;
  count(traffic, message, seconds);
  if (message.arm != k_arm_off && !message.equal_elements)
    learn(traffic, raw, message, begin_work);
  return message.frame == 0 ? raw : std::span<const std::byte>(sent);
}

void Coder::count_again(Traffic& traffic, std::span<const std::byte> sent, int64_t raw) noexcept {
  const auto size = static_cast<int64_t>(sent.size());
  ++traffic.messages;
  traffic.raw_bytes += raw;
  traffic.wire_bytes += size;
  const FrameKind kind = size < raw ? kind_of_frame(sent) : FrameKind{};
  CodecCount& count = trace_.codecs[kind.equal_elements ? k_codec_constant : arm_of(kind)];
  ++count.messages;
  count.bytes_in += raw;
  count.bytes_out += size;
}

void Coder::refuse(int from, const Status& status) noexcept {
  Status named = status;
  (void)guard([&] {
    named = Status{status.code(), fmt::format("message from rank {}: {}", from, status.message())};
    return Status{};
  });
  status_.update(std::move(named));
}

void Coder::check_length(int from, int64_t count, int64_t raw) noexcept {
  if (count == raw)
    return;
  refuse(from, guard([&]() -> Status {
           if (count == k_too_long)
             return {Code::internal, fmt::format("it is longer than the expected {}", counted(raw, "byte"))};
           return {Code::internal, fmt::format("it has {} instead of the expected {}", counted(count, "byte"), raw)};
         }));
}

void Coder::undo(int from, std::span<const std::byte> frame, std::span<std::byte> raw) noexcept {
  const double begin = seconds_now(), begin_work = measures() ? working_seconds_now() : 0;
  Status status = decode_frame(frame, raw, *memory_->workspace);
  const double seconds = seconds_now() - begin;
  if (!status.ok()) {
    std::fill(raw.begin(), raw.end(), std::byte{0});
    refuse(from, status);
    return;
  }
  const FrameKind kind = kind_of_frame(frame);
  const size_t arm = arm_of(kind);
  trace_.codecs[kind.equal_elements ? k_codec_constant : arm].decode_seconds += seconds;
  if (measures() && arm != k_arm_off && shows_speed(raw))
    memory_->model.decoded(arm, (working_seconds_now() - begin_work) / static_cast<double>(raw.size()));
}

const std::byte* Coder::decode(int from, const std::byte* got, int64_t count, int64_t raw) noexcept {
  if (count == raw && !checks_)
    return got;
  if (count == k_too_long) {
    check_length(from, count, raw);
    return got;
  }
  undo(from, {got, static_cast<size_t>(count)}, {memory_->scratch.get(), static_cast<size_t>(raw)});
  return memory_->scratch.get();
}

void Coder::decode_to(int from, const std::byte* got, int64_t count, std::byte* place, int64_t raw) noexcept {
  if (count == k_too_long)
    return check_length(from, count, raw);
  const std::span<const std::byte> arrived(got, static_cast<size_t>(count));
  const std::span<std::byte> whole(place, static_cast<size_t>(raw));
  if (count != raw || checks_)
    return undo(from, arrived, whole);
  std::copy(arrived.begin(), arrived.end(), whole.begin());
  trace_.bytes_copied += raw;
}

void Coder::decode_in_place(int from, std::byte* place, int64_t count, int64_t raw) noexcept {
  if (count == raw && !checks_)
    return;
  if (count == k_too_long)
    return check_length(from, count, raw);
  std::memcpy(memory_->scratch.get(), place, static_cast<size_t>(count));
  trace_.bytes_copied += count;
  undo(from, {memory_->scratch.get(), static_cast<size_t>(count)}, {place, static_cast<size_t>(raw)});
}

void Coder::took(Traffic& traffic, int64_t bytes, double seconds) noexcept {
  if (traffic.link != nullptr)
    traffic.link->add(seconds / static_cast<double>(bytes));
}

namespace {

// The largest accepted decoded size of a frame of `frame` bytes: a damaged header must not cause a huge allocation.
int64_t most_grown(int64_t frame) noexcept {
  constexpr int64_t k_always = int64_t{1} << 20, k_times = 4096;
  return frame > k_longest_message / k_times ? k_longest_message : std::max(k_always, frame * k_times);
}

}  // namespace

// Prepends the original length, which the receiver does not know.
bool Coder::shrink(int to, std::vector<std::byte>& description, double& seconds) {
  if (!compresses_ || comm_.host_rank_of(to) >= 0 || static_cast<int64_t>(description.size()) < k_least_message)
    return false;
  const auto size = static_cast<int64_t>(description.size());
  if (size > k_longest_message || !reserve(size).ok())
    return false;
  size_t arm = compressor_of(fixed_arm_) != nullptr && !compressor_of(fixed_arm_)->does(1)
                   ? first_arm(1)
                   : fixed_arm_;  // delta is for numbers only
  if (automatic_) {
    Traffic traffic{.rank = to, .coded = true};
    const double samples = memory_->sampling_seconds;
    arm = choose(traffic, description);
    memory_->sampling_seconds = samples;  // once for each plan; sampling during runs has a budget of its own
    tally_ = {};
    ratios_ = {};  // data differs from descriptions
  }
  constexpr auto prefix = sizeof(int64_t);
  std::vector<std::byte> frame(prefix + description.size());
  const double begin = seconds_now();
  const int64_t length =
      encode_frame(description, choice(arm, 1), false, *memory_->workspace, std::span(frame).subspan(prefix));
  seconds += seconds_now() - begin;
  if (length == 0 || static_cast<size_t>(length) + prefix >= description.size() || size > most_grown(length))
    return false;
  std::memcpy(frame.data(), &size, prefix);
  frame.resize(prefix + static_cast<size_t>(length));
  description = std::move(frame);
  return true;
}

Result<std::vector<std::byte>> Coder::grow(std::span<const std::byte> description, double& seconds) {
  constexpr auto prefix = sizeof(int64_t);
  int64_t size = 0;
  if (description.size() >= prefix)
    std::memcpy(&size, description.data(), prefix);
  const std::span<const std::byte> frame = description.subspan(std::min(prefix, description.size()));
  const bool fits =
      size >= 1 && size == raw_bytes_of_frame(frame) && size <= most_grown(static_cast<int64_t>(frame.size()));
  if (memory_ == nullptr || !fits)
    return Status{
        Code::internal,
        fmt::format("internal error: malformed compressed description of {} from another rank: it claims to contain {}",
                    counted(description.size(), "byte"), counted(size, "byte"))};
  if (Status status = reserve(size); !status.ok())
    return status;
  std::vector<std::byte> raw(static_cast<size_t>(size));
  const double begin = seconds_now();
  if (Status status = decode_frame(frame, raw, *memory_->workspace); !status.ok())
    return status;
  seconds += seconds_now() - begin;
  return raw;
}

}  // namespace windrow
