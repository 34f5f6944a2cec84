// SPDX-License-Identifier: BSD-3-Clause
#include "plan/limits.hpp"

#include <fmt/format.h>

#include "base/units.hpp"

namespace windrow {

Result<PlanLimits> limits_of(const Settings& settings) {
  PlanLimits limits;
  limits.buffer_bytes = settings.bytes("buffer");
  limits.unit = settings.bytes("align");
  limits.direct_bytes = limits.direct_read_bytes = settings.bytes("direct_bytes");
  limits.direct_asked = settings.is_set("direct_bytes");
  if (limits.direct_asked)
    limits.direct_row_bytes = limits.direct_bytes;
  limits.writers = settings.integer("writers");
  limits.buffers = settings.integer("buffers");
  limits.hole_bytes = settings.bytes("sieve_hole");
  if (limits.unit == 0)
    limits.unit = int64_t{1} << 20;  // without a layout: a common stripe size, and many pages
  // Message lengths are 32-bit integers in MPI, and a message is at most a window.
  if (limits.buffer_bytes < 4096 || limits.buffer_bytes > (int64_t{1} << 30))
    return Status{Code::bad_argument, fmt::format("buffer is {}; it must be from 4096 bytes to 1 GiB",
                                                  counted(limits.buffer_bytes, "byte"))};
  if (limits.buffers != 0 && (limits.buffers < 2 || limits.buffers > 64))
    return Status{Code::bad_argument, fmt::format("buffers is {}; it must be from 2 to 64, or 0", limits.buffers)};
  if (limits.writers < 0)
    return Status{Code::bad_argument, fmt::format("writers is {}; it must not be negative", limits.writers)};
  return limits;
}

StrategyRequest request_of(const Settings& settings) {
  return {settings.text("strategy"), settings.text("owner"),  settings.text("gather"), settings.text("domains"),
          settings.text("codec"),    settings.text("access"), settings.text("files")};
}

}  // namespace windrow
