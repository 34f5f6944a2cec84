// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "cli/commands.hpp"

namespace cli {

int calibrate(const World& world, const Arguments& arguments) {
  const windrow::Options options = options_from(arguments.settings);
  const int code = windrow_calibrate(world.comm, arguments.input.c_str(), options.get(), arguments.output.c_str());
  if (code == WINDROW_NOT_FOUND || code == WINDROW_NO_PERMISSION || code == WINDROW_BAD_ARGUMENT)
    throw Failure(k_exit_mistake, windrow_error_message());
  if (code != WINDROW_OK)
    throw Failure(k_exit_failed, windrow_error_message());
  if (!arguments.quiet)
    print_line(world, fmt::format("wrote {0}; set WINDROW_MACHINE={0} to let auto use it", arguments.output));
  return k_exit_ok;
}

}  // namespace cli
