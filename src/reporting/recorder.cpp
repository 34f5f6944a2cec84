// SPDX-License-Identifier: BSD-3-Clause
#include "reporting/recorder.hpp"

#include <algorithm>
#include <map>

#include "base/varint.hpp"
#include "distribution/shared_decomposition.hpp"
#include "extent/encode.hpp"

namespace windrow {
namespace {

void append(std::vector<std::byte>& out, int64_t value) {
  append_varint(out, static_cast<uint64_t>(value));
}

// Not negative: by the clock of another host a time may be slightly before the opening.
void append_time(std::vector<std::byte>& out, double seconds) {
  append(out, static_cast<int64_t>(std::max(0.0, seconds) * 1e9));
}

void append_counts(std::vector<std::byte>& out, std::span<const int64_t> counts) {
  append(out, std::count_if(counts.begin(), counts.end(), [](int64_t count) { return count != 0; }));
  for (size_t power = 0; power < counts.size(); ++power) {
    if (counts[power] == 0)
      continue;
    append(out, static_cast<int64_t>(power));
    append(out, counts[power]);
  }
}

int64_t share_of(int rank, int ranks) noexcept {
  return ranks <= k_most_ranks || is_sampled_rank(rank, ranks) ? k_share : k_small_share;
}

}  // namespace

Recorder::Recorder(const Comm& comm, std::optional<AppendedText> text)
    : gatherer_(comm, [&](int rank) { return share_of(rank, comm.size()); }),
      text_(std::move(text)),
      samples_all_(comm.size() <= k_most_ranks),
      is_sampled_(is_sampled_rank(comm.rank(), comm.size())) {
  detailed_flushes_.reserve(k_most_details);
  message_.reserve(static_cast<size_t>(share_of(comm.rank(), comm.size())));
}

Status Recorder::start(const Comm& comm, TracedOpening opening) {
  auto clock = measure_clock(comm);
  if (clock.ok())
    clock_ = clock.value();
  // Each rank sends its host; rank 0 identifies hosts by their lowest rank.
  (void)guard([&] {
    append(message_, comm.host_root());
    append_time(message_, clock_.accuracy);
    if (comm.host_rank() == 0) {
      const auto name = std::as_bytes(std::span(comm.host_name()));
      message_.insert(message_.end(), name.begin(),
                      name.begin() + static_cast<std::ptrdiff_t>(std::min<size_t>(name.size(), 256)));
    }
    return Status{};
  });
  double opened = seconds_now();  // rank 0's value is the origin of all times
  Status status = gatherer_.run(comm, message_);
  status.update(mpi_status(MPI_Bcast(&opened, 1, MPI_DOUBLE, 0, comm.get()), "MPI_Bcast"));
  opened_ = opened - clock_.seconds;
  if (!status.ok() || comm.rank() != 0)
    return status;
  write(
      [&] {
        opening.ranks = comm.size();
        for (int rank = 0; rank < comm.size(); ++rank) {
          const std::span<const std::byte> message = gatherer_.from(rank);
          size_t position = 0;
          const auto root = static_cast<int>(read_varint(message, position).value_or(0));
          const double accuracy = static_cast<double>(read_varint(message, position).value_or(0)) * 1e-9;
          opening.clock_accuracy = std::max(opening.clock_accuracy, accuracy);
          const auto& roots = comm.host_roots();
          opening.host_of.push_back(
              static_cast<int>(std::lower_bound(roots.begin(), roots.end(), root) - roots.begin()));
          if (root == rank)
            opening.hosts.emplace_back(reinterpret_cast<const char*>(message.data() + position),
                                       message.size() - position);
        }
        opening_ = std::move(opening);
        return opening_line(opening_);
      },
      true);
  return status;
}

void Recorder::begin(double now) noexcept {
  recording_.clear();
  began_ = now;
}

// A box by its start and count, which is the shortest form.
void Recorder::describe(const SharedDecomposition& decomposition) {
  const Decomposition& local = decomposition.local();
  append(section_, decomposition.identity());
  append(section_, static_cast<int>(local.kind));
  append(section_, (decomposition.has_owned_flags() ? 1 : 0) + (decomposition.has_replicas() ? 2 : 0));
  append(section_, static_cast<int64_t>(local.shape.size()));
  for (const int64_t length : local.shape)
    append(section_, length);
  const PieceView held(decomposition.held());
  append(section_, total_bytes(held));
  append(section_, extent_count(held));
  if (local.starts.size() == local.shape.size() && local.counts.size() == local.shape.size()) {
    append(section_, static_cast<int64_t>(HeldForm::boxes));
    for (const int64_t start : local.starts)
      append(section_, start);
    for (const int64_t count : local.counts)
      append(section_, count);
  } else {
    add_elements(held);
  }
}

void Recorder::describe_list(const TracedList& list) {
  const PieceView moved(*list.moved);
  append(section_, list.writes ? 1 : 0);
  append(section_, hull(moved).end);
  append(section_, total_bytes(moved));
  append(section_, extent_count(moved));
  add_elements(moved);
}

// A short list as its runs, a long list as the number of runs of each length.
void Recorder::add_elements(PieceView held) {
  if (held.empty() || held.store().records <= static_cast<int64_t>(k_most_records)) {
    append(section_, static_cast<int64_t>(HeldForm::runs));
    encode(held, {0, hull(held).end}, section_);
  } else {
    append(section_, static_cast<int64_t>(HeldForm::lengths));
    RequestSizes lengths;
    Nest nest;
    for (RecordReader reader(held); reader.take(nest);)
      lengths.add(nest.pieces(), nest.bytes());
    append_counts(section_, lengths.counts());
  }
}

// A section that does not fit is replaced by a zero.
bool Recorder::add_section(size_t share) {
  const bool fits = message_.size() + section_.size() + 1 <= share;
  append(message_, fits ? 1 : 0);
  if (fits)
    message_.insert(message_.end(), section_.begin(), section_.end());
  section_.clear();
  return fits;
}

void Recorder::pack(const Comm& comm, const Trace& trace, const TracedFlush& flush) {
  const auto share = static_cast<size_t>(share_of(comm.rank(), comm.size())) - 8;  // for the zeros of omitted sections
  append_time(message_, began_ - opened_);
  append_time(message_, seconds_now() - opened_);
  for (const double seconds : trace.seconds)
    append_time(message_, seconds);
  for (const int64_t counter : rank_counters(trace))
    append(message_, counter);
  append_counts(section_, recording_.writes.counts());
  append_counts(section_, recording_.reads.counts());
  add_section(share);
  append(section_, static_cast<int64_t>(recording_.targets.parts().size()));
  for (const TargetBytes::Part& part : recording_.targets.parts()) {
    append(section_, part.target + 1);
    append(section_, part.bytes);
  }
  add_section(share);
  if (is_sampled_) {
    for (const Timeline* timeline : {&recording_.program, &recording_.storage}) {
      append(section_, static_cast<int64_t>(timeline->intervals().size()));
      append(section_, timeline->left_out());
      for (const Interval& interval : timeline->intervals()) {
        append(section_, static_cast<int>(interval.stage));
        append_time(section_, interval.begin - opened_);
        append_time(section_, interval.end - interval.begin);
        append_time(section_, interval.busy);
      }
    }
    add_section(share);
    const std::span<const SentTo> sent = flush.report.sent;
    append(section_, static_cast<int64_t>(std::min(sent.size(), k_most_sent)));
    append(section_, static_cast<int64_t>(sent.size() - std::min(sent.size(), k_most_sent)));
    for (const SentTo& each : sent.first(std::min(sent.size(), k_most_sent)))
      for (const int64_t number : {int64_t{each.rank}, each.messages, each.bytes, each.bytes_sent})
        append(section_, number);
    add_section(share);
  }
  if (!samples_all_ && !is_sampled_)
    return;
  if (flush.list.moved == nullptr) {
    append(message_, 0);
  } else {
    describe_list(flush.list);
    add_section(share);
  }
  pack_queue(flush.queue, share);
}

// Packs the queue, then the decompositions that it names, as many as fit.
void Recorder::pack_queue(std::span<const TracedRequest> queue, size_t share) {
  const auto packed = queue.first(std::min(queue.size(), k_most_queued));
  append(section_, static_cast<int64_t>(packed.size()));
  append(section_, static_cast<int64_t>(queue.size() - packed.size()));
  std::map<int64_t, const SharedDecomposition*> decompositions;
  for (const TracedRequest& request : packed) {
    const int64_t identity = request.decomposition.identity();
    for (const int64_t number :
         {int64_t{request.variable}, int64_t{request.put ? 1 : 0}, request.record + 1, request.ordinal, identity,
          int64_t{request.type ? static_cast<int>(*request.type) + 1 : 0}})
      append(section_, number);
    decompositions.emplace(identity, &request.decomposition);
  }
  if (!add_section(share))
    return;
  for (const auto& [identity, decomposition] : decompositions) {
    describe(*decomposition);
    if (!add_section(share))
      return;
  }
}

// The number of flushes with details is bounded, because a program that makes a decomposition for every call has a new
// plan for every flush.
bool Recorder::needs_details(const FlushReport& report, const Status& verdict) noexcept {
  ++flushes_;
  uint64_t plans = 0;
  if (verdict.ok())
    for (const PlanReport& plan : report.plans)
      plans = (plans ^ static_cast<uint64_t>(plan.id)) * 0x9e3779b97f4a7c15;
  const auto known = std::ranges::find(detailed_flushes_, plans, &DetailedFlush::plans);
  if (plans != 0 && known != detailed_flushes_.end()) {
    details_ = known->flush;
    return false;
  }
  const bool has_room = detailed_flushes_.size() < k_most_details;
  if (has_room)
    detailed_flushes_.push_back({plans, flushes_});
  details_ = has_room ? flushes_ : 0;
  return has_room;
}

Status Recorder::end(const Comm& comm, const Trace& trace, const TracedFlush& flush) {
  const auto ended = static_cast<int64_t>(std::max(0.0, seconds_now() - opened_) * 1e9);
  Status status;
  if (details_ == flushes_) {
    message_.clear();
    section_.clear();
    // A rank that is out of memory sends an empty message.
    if (!guard([&] { return pack(comm, trace, flush), Status{}; }).ok())
      message_.clear();
    status = gatherer_.run(comm, message_);
  }
  if (!status.ok() || comm.rank() != 0)
    return status;
  write(
      [&] {
        std::string lines;
        if (details_ == flushes_)
          lines = details_line(opening_, flushes_, flush, [this](int rank) { return gatherer_.from(rank); });
        return lines + flush_line(opening_, {.flush = flushes_, .details = details_, .ended = ended}, flush);
      },
      !flush.verdict.ok());
  return status;
}

// A killed program loses the buffered lines, at most k_most_waiting bytes. `now` is set for a failed flush, because it
// may be the last.
void Recorder::write(const std::function<std::string()>& line, bool now) {
  constexpr size_t k_most_waiting = size_t{64} << 10;
  if (!problem_.empty() || !text_)
    return;
  if (!guard([&] { return waiting_ += line(), Status{}; }).ok()) {
    add_waiting();
    text_.reset();
    if (problem_.empty())
      problem_ = "out of memory";
  } else if (now || waiting_.size() >= k_most_waiting) {
    add_waiting();
  }
}

void Recorder::add_waiting() {
  if (!text_ || waiting_.empty())
    return;
  const Status status = guard([&] { return text_->append(waiting_); });
  waiting_.clear();
  if (status.ok())
    return;
  text_.reset();
  (void)guard([&] { return problem_ = status.message(), Status{}; });
  if (problem_.empty())
    problem_ = "out of memory";
}

Recorder::~Recorder() {
  add_waiting();
}

}  // namespace windrow
