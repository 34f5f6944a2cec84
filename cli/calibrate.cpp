// SPDX-License-Identifier: BSD-3-Clause
// windrow calibrate: measures in a folder of its own, which is gone afterwards, however it ends.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "cli/commands.hpp"

namespace cli {

namespace {

// What a signal's handler may use: nothing that allocates.
std::array<char, 4096> g_folder{};

// The machine file was not begun yet, or has its name already: only the folder is to go, with whatever is in it. Nothing here but what a handler may call.
extern "C" void clear_away(int signal) {
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/rm", "rm", "-rf", "--", g_folder.data(), static_cast<char*>(nullptr));
    _exit(1);
  }
  if (child > 0) waitpid(child, nullptr, 0);
  _exit(128 + signal);
}

// Rank 0 alone: "" or what is wrong.
std::string make_folder(const std::string& directory) {
  const std::string pattern = directory + "/.windrow-calibrate-XXXXXX";
  if (pattern.size() >= g_folder.size()) return fmt::format("the name of the folder \"{}\" is too long", directory);
  pattern.copy(g_folder.data(), pattern.size());
  if (mkdtemp(g_folder.data()) == nullptr) return fmt::format("\"{}\": {}", directory, std::strerror(errno));
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, clear_away);
  return "";
}

void remove_folder() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_DFL);
  rmdir(g_folder.data());
}

}  // namespace

int calibrate(const World& world, const Arguments& arguments) {
  const windrow::Options options = options_from(arguments.settings);
  require_on_rank_0(world, [&] { return make_folder(arguments.input); });
  MPI_Bcast(g_folder.data(), static_cast<int>(g_folder.size()), MPI_CHAR, 0, world.comm);
  const int code = windrow_calibrate(world.comm, g_folder.data(), options.get(), arguments.output.c_str());
  const std::string message = windrow_error_message();
  if (world.rank == 0) remove_folder();
  if (code != WINDROW_OK) throw Failure(code == WINDROW_NOT_FOUND || code == WINDROW_NO_PERMISSION || code == WINDROW_BAD_ARGUMENT ? k_exit_mistake : k_exit_failed, message);
  if (!arguments.quiet) print_line(world, fmt::format("wrote {}: WINDROW_MACHINE={} lets auto choose by it", arguments.output, arguments.output));
  return k_exit_ok;
}

}  // namespace cli
