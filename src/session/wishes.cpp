// SPDX-License-Identifier: BSD-3-Clause
#include "session/wishes.hpp"

#include <array>
#include <utility>

#include "extent/split.hpp"
#include "plan/limits.hpp"
#include "session/file.hpp"

namespace windrow {
namespace {

Result<std::shared_ptr<const Wishes>> make(const Comm& comm, Wishes wishes) {
  auto settings = resolve(wishes.program);
  if (!settings.ok()) return settings.status();
  wishes.settings = std::move(settings).value();
  wishes.text = text_of(wishes.settings);
  auto strategy = parse_strategy(request_of(wishes.settings));
  if (!strategy.ok()) return strategy.status();
  wishes.strategy = std::move(strategy).value();
  wishes.plan_memory = wishes.settings.bytes("plan_memory");
  auto limits = limits_of(wishes.settings);
  if (!limits.ok()) return limits.status();
  wishes.limits = std::move(limits).value();
  auto striping = striping_options(wishes.settings);
  if (!striping.ok()) return striping.status();
  wishes.striping = std::move(striping).value();
  if (wishes.creates) {
    auto subfiles = wanted_subfiles(wishes.settings, comm.size());
    if (!subfiles.ok()) return subfiles.status();
    wishes.subfiles = subfiles.value();
    if (Status split = check_split({.axes = wishes.settings.text("split"), .parts = wishes.settings.text("split_parts")}); !split.ok()) return split;
  }
  wishes.store = {.kind = wishes.settings.text("store"), .fault = wishes.settings.text("fault"), .rank = comm.rank()};
  if (Status status = check_store_options(wishes.store); !status.ok()) return status;
  return std::shared_ptr<const Wishes>(std::make_shared<Wishes>(std::move(wishes)));
}

// A program that writes files of two kinds and reads them again goes from one to the other.
struct KeptWishes {
  std::array<std::shared_ptr<const Wishes>, 4> last;
  size_t next = 0;
};

}  // namespace

Result<std::shared_ptr<const Wishes>> Wishes::of(Comm& comm, const Settings& program, bool creates) {
  std::string environment = environment_text();
  std::shared_ptr<void>& attachment = comm.attachment(Comm::Remembered::wishes);
  auto kept = std::static_pointer_cast<KeptWishes>(attachment);
  if (kept == nullptr) attachment = kept = std::make_shared<KeptWishes>();
  for (const auto& each : kept->last)
    if (each != nullptr && each->creates == creates && each->program.values() == program.values() && each->environment == environment) return each;
  auto made = make(comm, {.program = program, .environment = std::move(environment), .creates = creates, .settings = {}, .text = {}, .strategy = {}, .limits = {}, .striping = {}, .store = {}});
  if (made.ok()) kept->last[kept->next++ % kept->last.size()] = made.value();
  return made;
}

std::string text_of(const Settings& settings) {
  std::string text;
  for (const auto& [key, value] : settings.values()) text += key + '=' + value + '\n';
  return text;
}

}  // namespace windrow
