// SPDX-License-Identifier: BSD-3-Clause
#include "engine/engine_options.hpp"

#include <utility>

#include "plan/limits.hpp"

namespace windrow {

Result<EngineOptions> resolve_engine_options(const Settings& program, int rank) {
  EngineOptions options;
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
  options.store = {.kind = options.settings.text("store"), .fault = options.settings.text("fault"), .rank = rank};
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

std::vector<std::string> texts_of(const Settings& settings) {
  std::vector<std::string> texts;
  for (const auto& [key, value] : settings.values())
    texts.push_back(key + '=' + value);
  return texts;
}

}  // namespace windrow
