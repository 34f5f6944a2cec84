// SPDX-License-Identifier: BSD-3-Clause
#include "session/resolved_options.hpp"

#include <utility>

#include "extent/split.hpp"
#include "plan/limits.hpp"
#include "subfiling/split_policy.hpp"

namespace windrow {

Result<ResolvedOptions> resolve_options(const Comm& comm, const Settings& program, bool creates) {
  ResolvedOptions options;
  auto settings = resolve(program);
  if (!settings.ok())
    return settings.status();
  options.settings = std::move(settings).value();
  options.text = text_of(options.settings);
  auto strategy = parse_strategy(request_of(options.settings));
  if (!strategy.ok())
    return strategy.status();
  options.strategy = std::move(strategy).value();
  auto limits = limits_of(options.settings);
  if (!limits.ok())
    return limits.status();
  options.limits = std::move(limits).value();
  auto striping = striping_options(options.settings);
  if (!striping.ok())
    return striping.status();
  options.striping = std::move(striping).value();
  if (creates) {
    auto subfiles = wanted_subfiles(options.settings, comm.size());
    if (!subfiles.ok())
      return subfiles.status();
    options.subfiles = subfiles.value();
    const SplitRequest split{.axes = options.settings.text("split"), .parts = options.settings.text("split_parts")};
    if (Status status = check_split(split); !status.ok())
      return status;
  }
  options.store = {
      .kind = options.settings.text("store"), .fault = options.settings.text("fault"), .rank = comm.rank()};
  if (Status status = check_store_options(options.store); !status.ok())
    return status;
  return options;
}

std::string text_of(const Settings& settings) {
  std::string text;
  for (const auto& [key, value] : settings.values())
    text += key + '=' + value + '\n';
  return text;
}

}  // namespace windrow
