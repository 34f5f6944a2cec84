// SPDX-License-Identifier: BSD-3-Clause
// Plans that are kept: found again by later flushes of the file, and left to the next file of the communicator. All ranks keep the same ones in the same order.
#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "plan/experience.hpp"
#include "session/file.hpp"
#include "session/left_plans.hpp"
#include "session/same.hpp"
#include "session/wave_numbers.hpp"

namespace windrow {
namespace {

std::array<int64_t, 7> numbers_of(const Wave& wave) noexcept {
  return {wave.owned_flags, wave.shared_reads, wave.in_memory, wave.replicas, wave.points, wave.load, wave.holes};
}

// Another file may have decompositions of its own, with the same pieces.
bool is_key_of(const KeptPlan& kept, const Wave& wave) noexcept {
  if (!kept.subject.is_foreign) return kept.key == wave.key;
  const auto are_alike = [](const std::array<int64_t, 3>& a, const std::array<int64_t, 3>& b) { return a[0] == b[0] && a[2] == b[2]; };
  return std::equal(kept.key.begin(), kept.key.end(), wave.key.begin(), wave.key.end(), are_alike);
}

// Variables share few lists: what was compared lately is not compared again.
class RunsComparison {
 public:
  bool are_alike(const ByteRuns* a, const ByteRuns* b) noexcept {
    if (a == b || std::find(known_.begin(), known_.end(), std::pair(a, b)) != known_.end()) return true;
    if (a->limit != b->limit || !are_told_alike(a->runs, b->runs) || !are_told_alike(a->long_runs, b->long_runs) || !are_told_alike(a->short_runs, b->short_runs)) return false;
    known_[next_++ % known_.size()] = {a, b};
    return true;
  }

 private:
  std::array<std::pair<const ByteRuns*, const ByteRuns*>, 8> known_{};
  size_t next_ = 0;
};

}  // namespace

std::shared_ptr<LeftPlans> LeftPlans::of(Comm& comm) {
  std::shared_ptr<void>& kept = comm.attachment(Comm::Remembered::left_plans);
  if (kept == nullptr) {
    auto made = std::make_shared<LeftPlans>();
    made->plans.reserve(2 * (k_most_plans + 1));
    kept = std::move(made);
  }
  return std::static_pointer_cast<LeftPlans>(kept);
}

bool File::fits(const KeptPlan& kept, const Wave& wave) const noexcept {
  if (kept.plan.reading != wave.reading || !is_key_of(kept, wave) || kept.asked != strategy_ || !are_alike(kept.limits, limits_) || kept.outdated) return false;
  return !kept.subject.is_foreign || suits(kept, wave);
}

// Bits: `unfit`, of those that are not of this wave on this rank: several may be where a rank moves nothing, and the other ranks know which is meant; `changed`, of those that are, through
// other decompositions than they were made for.
PlanBits File::plan_bits(const Wave& wave) const noexcept {
  PlanBits bits;
  for (size_t i = 0; i < plans_.size(); ++i) {
    const int64_t bit = int64_t{1} << i;
    if (!fits(*plans_[i], wave)) bits.unfit |= bit;
    else if (plans_[i]->key != wave.key) bits.changed |= bit;
  }
  return bits;
}

// Whether somebody will ask what messages to other hosts shrink to: a plan may have to be made, or another file's was made for what it knew of that.
bool File::may_compress(const Wave& wave) const noexcept {
  if (strategy_.codec == Codec::off || !limits_.machine_measured || comm_->host_roots().size() < 2) return false;
  return std::none_of(plans_.begin(), plans_.end(), [&](const auto& kept) { return !kept->subject.is_foreign && fits(*kept, wave); });
}

// To be combined as maxima: a number of the decompositions of a wave of puts, and the same negated; of who puts nothing they do not count. Where decompositions have changed all ranks must have
// the same ones: one that puts a variable through another than the rest does something wrong, and hears of it where a plan is made.
std::array<int64_t, 2> File::number_of_decompositions(const Wave& wave) noexcept {
  if (wave.key.empty() || wave.reading) return {PlanBits::k_none, PlanBits::k_none};
  uint64_t hash = 0;
  for (const auto& [variable, identity, view] : wave.key) {
    const std::array<uint64_t, 3> entry{hash, static_cast<uint64_t>(variable), static_cast<uint64_t>(identity)};
    hash = hash_of({{reinterpret_cast<const char*>(entry.data()), sizeof entry}});
  }
  const auto number = static_cast<int64_t>(hash >> 2);
  return {number, -number};
}

int64_t File::kept_id(PlanBits combined, std::span<const int64_t> decompositions) const noexcept {
  const bool all_alike = decompositions[0] == PlanBits::k_none || decompositions[0] == -decompositions[1];
  const int64_t unfit = all_alike ? combined.unfit : combined.unfit | combined.changed;
  for (size_t i = 0; i < plans_.size(); ++i)
    if ((unfit >> i & 1) == 0) return plans_[i]->id;
  return 0;
}

// The plan becomes the last one that was used: those that were not used for the longest time go first.
KeptPlan* File::use_plan(int64_t id, const Wave& wave) noexcept {
  const auto found = std::find_if(plans_.begin(), plans_.end(), [id](const auto& kept) { return kept->id == id; });
  if (found == plans_.end()) return nullptr;
  std::rotate(found, found + 1, plans_.end());
  KeptPlan& kept = *plans_.back();
  if (std::exchange(kept.subject.is_foreign, false)) {
    ++trace_.plans_taken_over;
    std::copy(wave.key.begin(), wave.key.end(), kept.key.begin());  // as long: see is_key_of()
  }
  return &kept;
}

// What is certain within a file, and has to be looked at in another.
PlanSubject File::subject_of(const Wave& wave, const WaveNumbers& numbers) const {
  PlanSubject subject;
  for (size_t i = 0; i < catalog_.variables.size(); ++i)
    if (is_among(i, numbers.variables)) subject.variables.push_back(part_of_subject(i));
  for (const Item& item : wave.items) subject.items.push_back({item.file_base, item.swap_bytes, item.element_bytes});
  subject.numbers = numbers_of(wave);
  subject.shrinks_to_of_64 = wave.shrinkage.of_64();
  subject.flushes_learned = experience_ ? experience_->flushes() : 0;
  subject.shares_memory = settings_.boolean("shared_memory");
  subject.checks_messages = settings_.boolean("check_messages");
  subject.why_striped = striping_.why;
  return subject;
}

PlanSubject::Variable File::part_of_subject(size_t variable) const noexcept {
  const Variable& what = catalog_.variables[variable];
  return {static_cast<int>(variable), what.type, what.placement, untouched_[variable] != 0, unfilled_[variable] != 0};
}

// Local. Whether a plan of another file does for this one as if it had been made for it: each rank looks at what it holds itself, and all look at the
// variables, so that the numbers of all ranks would be the same again.
bool File::suits(const KeptPlan& kept, const Wave& wave) const noexcept {
  const PlanSubject& subject = kept.subject;
  // Such a plan may need bytes behind the end of the file: see make_ready().
  if (mode_ != Mode::read && (kept.plan.reading || kept.plan.strategy.access == Access::sieve)) return false;
  // Memory of the file that made it.
  if (kept.beside > 0 || (kept.transfer && kept.transfer->buffer_bytes() > arena_.bytes())) return false;
  if (subject.shares_memory != settings_.boolean("shared_memory") || subject.checks_messages != settings_.boolean("check_messages") || subject.numbers != numbers_of(wave) || subject.shrinks_to_of_64 != wave.shrinkage.of_64() ||
      subject.flushes_learned != (experience_ ? experience_->flushes() : 0) || subject.why_striped != striping_.why)
    return false;
  const auto is_here = [this](const PlanSubject::Variable& each) {
    const auto i = static_cast<size_t>(each.number);
    return i < catalog_.variables.size() && part_of_subject(i) == each;
  };
  if (!std::all_of(subject.variables.begin(), subject.variables.end(), is_here)) return false;
  const auto is_alike = [](const Item& item, const std::array<int64_t, 3>& kept_item) {
    return std::array<int64_t, 3>{item.file_base, item.swap_bytes, item.element_bytes} == kept_item;
  };
  RunsComparison runs;
  return std::equal(kept.runs.begin(), kept.runs.end(), wave.runs.begin(), wave.runs.end(), [&](const auto& a, const auto& b) { return runs.are_alike(a.get(), b.get()); }) &&
         std::equal(wave.items.begin(), wave.items.end(), subject.items.begin(), subject.items.end(), is_alike);
}

// Of this rank: what the plan alone keeps, where pieces that plans share count for the first of them; and with these.
std::array<int64_t, 2> File::memory_of(const KeptPlan& made) const {
  std::set<const ByteRuns*> known, own;
  for (const auto& kept : plans_)
    for (const auto& runs : kept->runs) known.insert(runs.get());
  const int64_t transfer = made.transfer ? made.transfer->description_bytes() + made.transfer->coder().bytes() : 0;
  std::array<int64_t, 2> bytes{transfer, transfer};
  for (const auto& runs : made.runs) {
    if (!runs || !own.insert(runs.get()).second) continue;
    const int64_t lists = runs->elements.memory_bytes() + runs->long_elements.memory_bytes() + runs->short_elements.memory_bytes();
    if (!known.contains(runs.get())) bytes[0] += lists;
    bytes[1] += lists;
  }
  return bytes;
}

void File::forget_oldest_plans(std::vector<std::unique_ptr<KeptPlan>>& plans, int64_t most_bytes, size_t least, bool shared) noexcept {
  const size_t which = shared ? 1 : 0;
  int64_t memory = 0;
  for (const auto& kept : plans) memory += kept->memory[which];
  while (plans.size() > least && (plans.size() > k_most_plans || memory > most_bytes)) {
    memory -= plans.front()->memory[which];
    plans.erase(plans.begin());
  }
}

// Those of this file; of another file's it is not known yet whether they are for places that are none any more.
void File::forget_plans() noexcept {
  std::erase_if(plans_, [](const auto& kept) { return !kept->subject.is_foreign; });
}

// A set of files keeps its own: places in it are none in a file. Nor where a plan would say something of this file alone.
void File::take_plans() noexcept {
  if (left_plans_ == nullptr || subfiles_ || !files_reason_.empty() || plan_memory_ == 0 || left_plans_->plans.empty()) return;
  arena_.take_from(*comm_);
  std::swap(plans_, left_plans_->plans);
  forget_oldest_plans(plans_, plan_memory_, 0, true);
  for (auto& kept : plans_) kept->subject.is_foreign = true;
  next_plan_ = left_plans_->next_id;
}

// The same the other way, and not those with lines of chunks.
void File::leave_plans() noexcept {
  if (left_plans_ == nullptr || subfiles_ || !files_reason_.empty() || plan_memory_ == 0) return;
  std::erase_if(plans_, [](const auto& kept) { return kept->layout != nullptr; });
  auto& left = left_plans_->plans;
  if (left.empty()) {
    std::swap(left, plans_);
  } else {
    // Another file was closed while this one was open: its numbers may be among these.
    for (auto& kept : plans_) left.push_back(std::move(kept));
    plans_.clear();
    next_plan_ = std::max(next_plan_, left_plans_->next_id);
    for (auto& kept : left) kept->id = next_plan_++;
  }
  left_plans_->next_id = next_plan_;
  forget_oldest_plans(left, std::min(plan_memory_, LeftPlans::k_most_bytes), 0, true);
}

}  // namespace windrow
