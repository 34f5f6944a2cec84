// SPDX-License-Identifier: BSD-3-Clause
// The subcommands. Each is collective, and returns an exit code or throws Failure, the same on every rank.
#pragma once

#include "cli/arguments.hpp"
#include "cli/console.hpp"

namespace cli {

int copy(const World& world, const Arguments& arguments);
int info(const World& world, const Arguments& arguments);
int check(const World& world, const Arguments& arguments);
int references(const World& world, const Arguments& arguments);
int calibrate(const World& world, const Arguments& arguments);
int advise(const World& world, const Arguments& arguments);
int mpiio_env(const World& world);
int report(const World& world, const Arguments& arguments);
int simulate(const World& world, const Arguments& arguments);

}  // namespace cli
