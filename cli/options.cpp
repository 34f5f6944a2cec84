// SPDX-License-Identifier: BSD-3-Clause
#include "cli/options.hpp"

namespace cli {

windrow::Options options_from(const Settings& settings) {
  windrow::Options options;
  try {
    // The library's buffers need not be larger than ours; above their default they are unchanged.
    if (settings.buffer_bytes < Settings{}.buffer_bytes)
      options.set("buffer", std::to_string(settings.buffer_bytes));
    if (!settings.strategy.empty())
      options.set("strategy", settings.strategy);
    for (const std::string& pair : settings.pairs) {
      const size_t equals = pair.find('=');
      if (equals == 0 || equals == std::string::npos)
        throw Failure(k_exit_mistake, "--set takes key=value, not \"" + pair + "\"");
      options.set(pair.substr(0, equals), pair.substr(equals + 1));
    }
  } catch (const windrow::Error& error) {
    throw Failure(k_exit_mistake, error.what());
  }
  return options;
}

}  // namespace cli
