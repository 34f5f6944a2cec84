// SPDX-License-Identifier: BSD-3-Clause
// windrow calibrate: measures in a folder of its own, which is gone afterwards, however it ends; but for an end that nobody can catch, whose folder
// the next calibration removes.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "cli/commands.hpp"

namespace cli {

namespace {

// What a signal's handler may use: nothing that allocates. g_gone: what the folder is called while it is cleared away.
std::array<char, 4096> g_folder{}, g_gone{}, g_file{};
int g_held = -1;  // the folder, as long as this program uses it

// The machine file was not begun yet, or has its name already: only the folder is to go. MPI has threads of its own that may be the ones to run this, and
// then the program goes on meanwhile: under another name nothing new comes into the folder but what was on its way. Whoever ends a job waits a second, and
// then ends it for good, so the usual case is first. Nothing here but what a handler may call.
extern "C" void clear_away(int signal) {
  constexpr int k_attempts = 100;
  (void)rename(g_folder.data(), g_gone.data());
  for (int i = 0; i < k_attempts; ++i) {
    unlink(g_file.data());
    if (rmdir(g_gone.data()) == 0) _exit(128 + signal);
  }
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/rm", "rm", "-rf", "--", g_gone.data(), static_cast<char*>(nullptr));
    _exit(1);
  }
  if (child > 0) waitpid(child, nullptr, 0);
  constexpr std::string_view k_said = "windrow: calibration was interrupted\n";
  (void)!write(STDERR_FILENO, k_said.data(), k_said.size());
  _exit(128 + signal);
}

constexpr std::string_view k_begins = ".windrow-calibrate-", k_file_begins = ".windrow-calibration";

// A folder that is held is locked for as long as its program lives, where the file system has locks; -1: another holds it, or it cannot be opened.
int hold(const char* folder) {
  const int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close(descriptor);
    return -1;
  }
  return descriptor;
}

// What calibrations left that were killed: their folders are older than any calibration takes, and nobody holds them. What cannot be removed stays.
void remove_stale(const std::string& directory) {
  namespace fs = std::filesystem;
  constexpr auto k_old = std::chrono::hours(1);
  std::error_code error;
  for (fs::directory_iterator each(directory, error), end; !error && each != end; each.increment(error)) {
    std::error_code ignored;
    if (!each->path().filename().native().starts_with(k_begins) || !fs::is_directory(each->symlink_status(ignored))) continue;
    const auto changed = fs::last_write_time(each->path(), ignored);
    if (ignored || fs::file_time_type::clock::now() - changed < k_old) continue;
    const int descriptor = hold(each->path().c_str());
    if (descriptor < 0) continue;
    for (fs::directory_iterator file(each->path(), ignored), last; !ignored && file != last; file.increment(ignored))
      if (file->path().filename().native().starts_with(k_file_begins)) unlink(file->path().c_str());
    rmdir(each->path().c_str());  // what has anything else in it is somebody else's, and stays
    close(descriptor);
  }
}

// Rank 0 alone: "" or what is wrong.
std::string make_folder(const std::string& directory) {
  const std::string pattern = fmt::format("{}/{}XXXXXX", directory, k_begins);
  constexpr std::string_view k_gone = "-gone";
  if (pattern.size() + k_gone.size() + 1 + k_file_begins.size() >= g_file.size()) return fmt::format("the name of the folder \"{}\" is too long", directory);
  pattern.copy(g_folder.data(), pattern.size());
  remove_stale(directory);
  if (mkdtemp(g_folder.data()) == nullptr) return fmt::format("\"{}\": {}", directory, std::strerror(errno));
  g_held = hold(g_folder.data());
  const std::string gone = g_folder.data() + std::string(k_gone);
  gone.copy(g_gone.data(), g_gone.size() - 1);
  (gone + "/" + std::string(k_file_begins)).copy(g_file.data(), g_file.size() - 1);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, clear_away);
  return "";
}

void remove_folder() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_DFL);
  rmdir(g_folder.data());
  if (g_held >= 0) close(g_held);
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
