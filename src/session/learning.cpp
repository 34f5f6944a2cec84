// SPDX-License-Identifier: BSD-3-Clause
// What flushes took beside what was foretold of them, kept with the communicator: later plans, of this file and others, are foretold better. All ranks learn
// from the same numbers, those that they have agreed on anyway, so they know the same and choose the same.
#include <algorithm>
#include <utility>

#include "plan/candidates.hpp"
#include "plan/experience.hpp"
#include "planning/machine.hpp"
#include "session/file.hpp"

namespace windrow {
namespace {

struct Remembered {
  Experience experience;
  uint64_t machine = 0;  // what it is of
};

bool is_power_of_two(int64_t number) noexcept { return number > 0 && (number & (number - 1)) == 0; }

}  // namespace

// Local. Whether anything is learned is the same on all ranks, as options and the machine file are.
void File::find_experience(uint64_t machine) {
  const std::string wish = settings_.text("learn");
  if (wish == "off" || (wish == "auto" && !limits_.machine_measured)) return;
  std::shared_ptr<void>& kept = comm_->attachment(Comm::Remembered::flushes);
  if (kept == nullptr) kept = std::make_shared<Remembered>();
  experience_ = std::shared_ptr<Experience>(kept, &std::static_pointer_cast<Remembered>(kept)->experience);
  experience_of_ = machine;
}

// When all ranks have found it: another machine's is forgotten, by all of them.
void File::begin_experience() noexcept {
  if (!experience_) return;
  auto& kept = *static_cast<Remembered*>(comm_->attachment(Comm::Remembered::flushes).get());
  if (kept.machine != experience_of_) kept.experience.clear();
  kept.machine = experience_of_;
}

// The first wave of a file finds pages and connections new. Numbers are the same on all ranks, and what is learned from them allocates nothing: a rank
// without memory would know less than others. Only to think again may throw.
void File::learn_seconds(KeptPlan& kept, double wave_seconds, double storage_seconds) {
  ++kept.moved;
  const bool first = std::exchange(moved_, true) == false;
  if (first || !experience_ || !kept.plan.weighing || !(wave_seconds > 0)) return;
  const Weighing& weighing = *kept.plan.weighing;
  const double storage = std::min(storage_seconds, wave_seconds);
  experience_->learn(weighing.work, weighing.foretold, wave_seconds - storage, storage);
  if (kept.moved < 2 || !is_power_of_two(kept.moved)) return;
  const Topology topology{.ranks = comm_->size(), .host_roots = comm_->host_roots(), .link_seconds = comm_->link()};
  PlanLimits limits = weighing.limits;
  limits.experience = experience_;
  // One rank's word is enough for all of them to make another: see unfit_plans().
  kept.outdated = is_clearly_better(weigh(weighing.asked, weighing.rule, weighing.pattern, topology, limits), weighing);
}

// Rank 0 alone. What is wrong with it is said before anything is opened.
Status File::read_machine_on_root() {
  const std::string path = settings_.text("machine");
  if (path.empty()) return {};
  auto text = read_machine_file(path);
  if (!text.ok()) return text.status();
  if (auto machine = machine_of(text.value(), path); !machine.ok()) return machine.status();
  machine_text_ = std::move(text).value();
  return {};
}

// Without a machine file, what is usual where rank 0 found the file to lie: it is told, and decides nothing.
Status File::learn_machine(FileSystem kind, int64_t cores) {
  limits_.machine_measured = !machine_text_.empty();
  KnownMachine known;
  if (machine_text_.empty()) {
    known = usual_machine(kind, cores);
  } else {
    auto machine = machine_of(machine_text_, settings_.text("machine"));
    if (!machine.ok()) return machine.status();
    known = std::move(machine).value();
  }
  limits_.machine = std::move(known.machine);
  find_experience(known.number);
  return {};
}

}  // namespace windrow
