// SPDX-License-Identifier: BSD-3-Clause
#include "reporting/recorder.hpp"

#include <algorithm>

#include "base/varint.hpp"
#include "distribution/shared_decomposition.hpp"
#include "extent/encode.hpp"

namespace windrow {
namespace {

void append(std::vector<std::byte>& out, int64_t value) {
  append_varint(out, static_cast<uint64_t>(value));
}

// A moment before the file was opened cannot be, but clocks of hosts are off by a little.
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

constexpr double k_longest_wait_s = 1;  // of lines for others

int64_t share_of(int rank, int ranks) noexcept {
  return ranks <= k_most_ranks || is_sampled_rank(rank, ranks) ? k_share : k_small_share;
}

}  // namespace

Recorder::Recorder(const Comm& comm, std::optional<AppendedText> text, bool tells_all)
    : gatherer_(comm, [&](int rank) { return share_of(rank, comm.size()); }),
      text_(std::move(text)),
      tells_all_(tells_all),
      samples_all_(comm.size() <= k_most_ranks),
      is_sampled_(is_sampled_rank(comm.rank(), comm.size())) {
  message_.reserve(static_cast<size_t>(share_of(comm.rank(), comm.size())));
}

Status Recorder::start(const Comm& comm, TracedOpening opening) {
  auto clock = measure_clock(comm);
  if (clock.ok())
    clock_ = clock.value();
  // Which host each rank runs on: rank 0 knows hosts by their lowest rank.
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
  double opened = seconds_now();  // rank 0's own, for all: times are told from there on
  Status status = gatherer_.run(comm, message_);
  status.update(mpi_status(MPI_Bcast(&opened, 1, MPI_DOUBLE, 0, comm.get()), "MPI_Bcast"));
  opened_ = opened - clock_.seconds;
  if (!status.ok() || comm.rank() != 0)
    return status;
  write(
      [&] {
        opening.ranks = comm.size();
        for (int rank = 0; rank < comm.size(); ++rank) {
          const std::span<const std::byte> told = gatherer_.from(rank);
          size_t position = 0;
          const auto root = static_cast<int>(read_varint(told, position).value_or(0));
          const double accuracy = static_cast<double>(read_varint(told, position).value_or(0)) * 1e-9;
          opening.clock_accuracy = std::max(opening.clock_accuracy, accuracy);
          const auto& roots = comm.host_roots();
          opening.host_of.push_back(
              static_cast<int>(std::lower_bound(roots.begin(), roots.end(), root) - roots.begin()));
          if (root == rank)
            opening.hosts.emplace_back(reinterpret_cast<const char*>(told.data() + position), told.size() - position);
        }
        opening_ = std::move(opening);
        return opening_line(opening_);
      },
      true);
  return status;
}

void Recorder::begin(double now) noexcept {
  recording_.clear();
  queue_.clear();
  decompositions_.clear();
  describing_.clear();
  queued_ = left_out_ = described_ = 0;
  began_ = now;
}

void Recorder::take(const TracedRequest& request) {
  if (!samples_all_ && !is_sampled_)
    return;
  if (static_cast<size_t>(queued_) == k_most_queued) {
    ++left_out_;
    return;
  }
  const int64_t identity = request.decomposition.identity();
  append(queue_, request.variable);
  append(queue_, request.put ? 1 : 0);
  append(queue_, request.record + 1);
  append(queue_, request.ordinal);
  append(queue_, identity);
  append(queue_, request.type ? static_cast<int>(*request.type) + 1 : 0);
  ++queued_;
  if (told_.contains(identity) || std::find(describing_.begin(), describing_.end(), identity) != describing_.end())
    return;
  describe(request.decomposition);
}

// As small as it can be told: a box by its corners, a list of few runs as it is, and of a long one how many runs of
// which length there are.
void Recorder::describe(const SharedDecomposition& decomposition) {
  if (decompositions_.size() > static_cast<size_t>(k_share) / 2)
    return;  // with a later flush
  const Decomposition& local = decomposition.local();
  append(decompositions_, decomposition.identity());
  append(decompositions_, static_cast<int>(local.kind));
  append(decompositions_, (decomposition.has_owned_flags() ? 1 : 0) + (decomposition.has_replicas() ? 2 : 0));
  append(decompositions_, static_cast<int64_t>(local.shape.size()));
  for (const int64_t length : local.shape)
    append(decompositions_, length);
  const PieceView held(decomposition.held());
  append(decompositions_, total_bytes(held));
  append(decompositions_, extent_count(held));
  if (local.starts.size() == local.shape.size() && local.counts.size() == local.shape.size()) {
    append(decompositions_, static_cast<int64_t>(HeldForm::boxes));
    for (const int64_t start : local.starts)
      append(decompositions_, start);
    for (const int64_t count : local.counts)
      append(decompositions_, count);
  } else if (held.empty() || held.store().records <= static_cast<int64_t>(k_most_records)) {
    append(decompositions_, static_cast<int64_t>(HeldForm::runs));
    encode(held, {0, hull(held).end}, decompositions_);
  } else {
    append(decompositions_, static_cast<int64_t>(HeldForm::lengths));
    RequestSizes lengths;
    Nest nest;
    for (RecordReader reader(held); reader.take(nest);)
      lengths.add(nest.pieces(), nest.bytes());
    append_counts(decompositions_, lengths.counts());
  }
  ++described_;
  describing_.push_back(decomposition.identity());
}

// A section that is left out is told as one of nothing.
void Recorder::add_section(size_t share) {
  const bool fits = message_.size() + section_.size() + 1 <= share;
  append(message_, fits ? 1 : 0);
  if (fits)
    message_.insert(message_.end(), section_.begin(), section_.end());
  section_.clear();
}

void Recorder::pack(const Comm& comm, const Trace& trace, std::span<const SentTo> sent) {
  const auto share = static_cast<size_t>(share_of(comm.rank(), comm.size())) - 8;  // room to say what is left out
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
    append(section_, static_cast<int64_t>(std::min(sent.size(), k_most_sent)));
    append(section_, static_cast<int64_t>(sent.size() - std::min(sent.size(), k_most_sent)));
    for (const SentTo& each : sent.first(std::min(sent.size(), k_most_sent)))
      for (const int64_t number : {int64_t{each.rank}, each.messages, each.bytes, each.bytes_sent})
        append(section_, number);
    add_section(share);
  }
  if (!samples_all_ && !is_sampled_)
    return;
  append(section_, queued_);
  append(section_, left_out_);
  section_.insert(section_.end(), queue_.begin(), queue_.end());
  add_section(share);
  append(section_, described_);
  section_.insert(section_.end(), decompositions_.begin(), decompositions_.end());
  const bool fits = message_.size() + section_.size() + 1 <= share;
  add_section(share);
  if (!fits)
    return;
  constexpr size_t k_most_told = 4096;  // then all are told anew
  if (told_.size() > k_most_told)
    told_.clear();
  told_.insert(describing_.begin(), describing_.end());
}

// Programs that make a decomposition for every call have a new plan for every flush: of those the first few are told
// for sure. Others not before two hundred times what a whole line takes the rank that it takes longest has gone by: the
// rest of 1 % is what a line costs beside, as caches that it empties.
bool Recorder::is_told_whole(const TracedFlush& flush, const BriefReport& brief) {
  constexpr double k_lines = 200;
  constexpr int k_most_whole = 4;
  brief_seconds_ += static_cast<double>(brief.nanoseconds[0]) * 1e-9;
  const bool whole = tells_all_ || flushes_ == 1 || (brief.planned && plans_told_ < k_most_whole) ||
                     !flush.verdict.ok() || brief_seconds_ >= k_lines * brief.line_seconds;
  if (whole)
    brief_seconds_ = 0;
  if (whole && brief.planned)
    ++plans_told_;
  return whole;
}

// The mean of the last few; one in which the rank had no core does not count for many flushes to come.
void Recorder::take_line_seconds(double seconds) noexcept {
  line_seconds_ = line_seconds_ > 0 ? (line_seconds_ + std::min(seconds, 2 * line_seconds_)) / 2 : seconds;
}

void Recorder::keep_brief(const BriefReport& brief) {
  constexpr size_t k_most_brief = 1024;
  if (!problem_.empty() || !text_)
    return;
  if (brief_.size() == k_most_brief)
    write_brief();
  const double now = seconds_now();
  const auto ended = static_cast<int64_t>(std::max(0.0, now - opened_) * 1e9);
  const bool kept =
      guard([&] { return brief_.push_back({.number = flushes_, .ended = ended, .report = brief}), Status{}; }).ok();
  if (!kept || now > added_ + k_longest_wait_s)
    write_brief();
}

void Recorder::write_brief() {
  if (!brief_.empty())
    write([&] { return brief_line(opening_, brief_); }, false);
  brief_.clear();
}

Status Recorder::end(const Comm& comm, const Trace& trace, const TracedFlush& flush) {
  ++flushes_;
  const BriefReport brief = brief_report(flush.report);
  if (!is_told_whole(flush, brief)) {
    if (comm.rank() == 0)
      keep_brief(brief);
    return {};
  }
  const double begin = seconds_now();
  message_.clear();
  section_.clear();
  // A rank that has no memory for it tells nothing.
  if (!guard([&] { return pack(comm, trace, flush.report.sent), Status{}; }).ok())
    message_.clear();
  Status status = gatherer_.run(comm, message_);
  if (comm.rank() == 0)
    write_brief();
  if (status.ok() && comm.rank() == 0)
    write([&] { return flush_line(opening_, flushes_, flush, [this](int rank) { return gatherer_.from(rank); }); },
          !flush.verdict.ok());
  take_line_seconds(seconds_now() - begin);
  return status;
}

// Of a killed program the last second is lost at most, and no more than fills a few pages; a flush that failed may be
// the last.
void Recorder::write(const std::function<std::string()>& line, bool now) {
  constexpr size_t k_most_waiting = size_t{64} << 10;
  if (!problem_.empty() || !text_)
    return;
  if (!guard([&] { return waiting_ += line(), Status{}; }).ok()) {
    add_waiting();
    text_.reset();
    if (problem_.empty())
      problem_ = "out of memory";
  } else if (now || waiting_.size() >= k_most_waiting || seconds_now() > added_ + k_longest_wait_s) {
    add_waiting();
  }
}

void Recorder::add_waiting() {
  if (!text_ || waiting_.empty())
    return;
  const Status status = guard([&] { return text_->append(waiting_); });
  waiting_.clear();
  added_ = seconds_now();
  if (status.ok())
    return;
  text_.reset();
  (void)guard([&] { return problem_ = status.message(), Status{}; });
  if (problem_.empty())
    problem_ = "out of memory";
}

Recorder::~Recorder() {
  write_brief();
  add_waiting();
}

}  // namespace windrow
