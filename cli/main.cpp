// SPDX-License-Identifier: BSD-3-Clause
// The command windrow. Every rank ends with the same exit code, after MPI_Finalize; only rank 0 prints.
#include <mpi.h>

#include <cstdio>
#include <exception>

#include "cli/commands.hpp"

namespace {

int run(const cli::World& world, int argc, const char* const* argv) {
  try {
    const cli::Parsed parsed = cli::parse(argc, argv);
    switch (parsed.arguments.command) {
      case cli::Command::copy:
        return cli::copy(world, parsed.arguments);
      case cli::Command::info:
        return cli::info(world, parsed.arguments);
      case cli::Command::check:
        return cli::check(world, parsed.arguments);
      case cli::Command::references:
        return cli::references(world, parsed.arguments);
      case cli::Command::mpiio_env:
        return cli::mpiio_env(world);
      case cli::Command::report:
        return cli::report(world, parsed.arguments);
      case cli::Command::simulate:
        return cli::simulate(world, parsed.arguments);
      case cli::Command::calibrate:
        return cli::calibrate(world, parsed.arguments);
      case cli::Command::advise:
        return cli::advise(world, parsed.arguments);
      case cli::Command::none:
        break;
    }
    cli::print_line(world, parsed.text);
    return cli::k_exit_ok;
  } catch (const cli::Failure& failure) {
    cli::print_error_line(world, failure.what());
    return failure.exit_code();
  } catch (const windrow::Error& error) {
    cli::print_error_line(world, error.what());
    return cli::k_exit_failed;
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  cli::World world{MPI_COMM_WORLD};
  MPI_Comm_rank(world.comm, &world.rank);
  MPI_Comm_size(world.comm, &world.size);
  int code = cli::k_exit_failed;
  try {
    code = run(world, argc, argv);
  } catch (const std::exception& error) {
    // Out of memory on this rank alone. The others wait in a collective call, so the job is aborted.
    std::fprintf(stderr, "windrow: rank %d: %s\n", world.rank, error.what());
    MPI_Abort(world.comm, cli::k_exit_failed);
  }
  std::fflush(nullptr);
  MPI_Finalize();
  return code;
}
