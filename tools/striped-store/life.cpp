// SPDX-License-Identifier: BSD-3-Clause
#include "life.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <mntent.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "clients.hpp"

namespace striped_store {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr int k_failed = 1;
constexpr int k_cannot_run_here = 77;  // as the tools and tests of this project say it
constexpr const char* k_process_file = "striped-store.pid";
constexpr const char* k_memory_mark = "striped-store.memory";  // a folder that goes with its store

int fail(const std::string& problem, int code = k_failed) {
  std::fprintf(stderr, "striped-store: %s\n", problem.c_str());
  return code;
}

std::string file_in(const std::string& folder, const char* name) {
  return (fs::path(folder) / name).string();
}

// The number of the process that holds the lock of a backing folder; nullopt: none does.
std::optional<pid_t> process_of(const std::string& backing) {
  const int descriptor = open(file_in(backing, k_process_file).c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0)
    return std::nullopt;
  std::optional<pid_t> process;
  std::array<char, 16> text{};
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && pread(descriptor, text.data(), text.size() - 1, 0) > 0)
    process = static_cast<pid_t>(std::atol(text.data()));
  close(descriptor);
  return process;
}

struct Mount {
  std::string path;
  std::string backing;
};

std::vector<Mount> mounts_of_stores() {
  std::vector<Mount> mounts;
  FILE* table = setmntent("/proc/self/mounts", "r");
  if (table == nullptr)
    return mounts;
  mntent entry{};
  std::array<char, 16384> room{};
  while (getmntent_r(table, &entry, room.data(), static_cast<int>(room.size())) != nullptr)
    if (std::strcmp(entry.mnt_type, "fuse.striped-store") == 0)
      mounts.push_back({.path = entry.mnt_dir, .backing = entry.mnt_fsname});
  endmntent(table);
  return mounts;
}

bool is_mounted(const std::string& path) {
  const std::vector<Mount> mounts = mounts_of_stores();
  return std::any_of(mounts.begin(), mounts.end(), [&](const Mount& each) { return each.path == path; });
}

// As in the table of mounts. The last name is not accessed: a mount whose process has ended does not answer.
std::string full_path(const std::string& path) {
  fs::path whole = fs::absolute(path).lexically_normal();
  if (!whole.has_filename())
    whole = whole.parent_path();
  std::error_code ignored;
  const fs::path folder = fs::canonical(whole.parent_path(), ignored);
  return (ignored ? whole : folder / whole.filename()).string();
}

// Empty, or why there is no store in the folder; else it is this process's, until it ends.
std::string claim(const Settings& settings) {
  const int descriptor = open(file_in(settings.backing, k_process_file).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor < 0)
    return fmt::format("\"{}\": {}", settings.backing, std::strerror(errno));
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0)
    return fmt::format("a store is up already on \"{}\"; striped-store down ends it", settings.backing);
  const std::string number = fmt::format("{}\n", getpid());
  if (ftruncate(descriptor, 0) != 0 || pwrite(descriptor, number.data(), number.size(), 0) < 0)
    return fmt::format("\"{}\": {}", settings.backing, std::strerror(errno));
  return "";  // the descriptor stays open: it holds the lock
}

bool is_within(const fs::path& inner, const fs::path& outer) {
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

// Empty, or two of the folders that conflict: a mount hides the content of its folder, and an access to it in between
// waits for the store.
std::string nested(const Settings& settings) {
  std::vector<fs::path> folders{settings.backing};
  folders.insert(folders.end(), settings.mounts.begin(), settings.mounts.end());
  for (size_t i = 0; i < folders.size(); ++i)
    for (size_t other = 0; other < folders.size(); ++other)
      if (i != other && is_within(folders[i], folders[other]))
        return fmt::format("\"{}\" is {} \"{}\": each mount and the backing folder have to be beside each other",
                           folders[i].string(), folders[i] == folders[other] ? "the same folder as" : "within",
                           folders[other].string());
  return "";
}

std::string make_folders(Settings& settings) {
  std::error_code error;
  if (settings.backing.empty()) {
    std::string name = "/dev/shm/striped-store-XXXXXX";
    if (mkdtemp(name.data()) == nullptr)
      return fmt::format("\"{}\": {}", name, std::strerror(errno));
    settings.backing = name;
    settings.is_in_memory = true;
    const int mark = creat(file_in(name, k_memory_mark).c_str(), 0644);
    if (mark >= 0)
      close(mark);
  }
  settings.backing = full_path(settings.backing);
  fs::create_directories(file_in(settings.backing, "files"), error);
  if (error)
    return fmt::format("\"{}\": {}", settings.backing, error.message());
  for (std::string& mount : settings.mounts) {
    mount = full_path(mount);
    if (is_mounted(mount))
      return fmt::format("a store is mounted on \"{}\" already, or was; striped-store down ends it", mount);
    fs::create_directories(mount, error);
    if (error)
      return fmt::format("\"{}\": {}", mount, error.message());
    const fs::path folder = fs::canonical(mount, error);  // it may be a link
    if (error)
      return fmt::format("\"{}\": {}", mount, error.message());
    mount = folder.string();
    if (is_mounted(mount))
      return fmt::format("a store is mounted on \"{}\" already, or was; striped-store down ends it", mount);
  }
  return nested(settings);
}

// The store's process and a `down` may do this at the same time: each continues if the other has removed something.
void remove_if_in_memory(const std::string& backing) {
  std::error_code ignored;
  if (!fs::exists(file_in(backing, k_memory_mark), ignored))
    return;
  for (int tries = 0; tries < 1000 && fs::exists(backing, ignored); ++tries)
    fs::remove_all(backing, ignored);
}

sigset_t ending_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP})
    sigaddset(&signals, signal);
  return signals;
}

// Ends the process at once, in any state of its threads: the kernel aborts a sleeping request when the process has
// ended. A signal and the last unmount may come together: the second waits for the end by the first.
[[noreturn]] void end(Clients& clients, const std::string& backing) {
  static std::mutex once;
  once.lock();
  clients.unmount();
  remove_if_in_memory(backing);
  _exit(0);
}

// `tell(problem)` is called once: mounted without an error (empty), or not mounted.
template <class Tell>
int serve(const Settings& settings, Tell tell) {
  const sigset_t signals = ending_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  umask(0);
  std::string problem = claim(settings);
  if (!problem.empty()) {
    tell(problem);
    return k_failed;
  }
  Store store(settings);
  Nodes nodes(file_in(settings.backing, "files"));
  Clients clients(store, nodes);
  problem = clients.mount();
  tell(problem);
  if (!problem.empty()) {
    remove_if_in_memory(settings.backing);
    return k_failed;
  }
  std::thread([&] {
    int signal = 0;
    sigwait(&signals, &signal);
    end(clients, settings.backing);
  }).detach();
  clients.serve();
  end(clients, settings.backing);
}

// Returns when the store can be used, or cannot be.
int serve_in_background(const Settings& settings) {
  std::array<int, 2> channel{};
  if (pipe2(channel.data(), O_CLOEXEC) != 0)
    return fail(std::strerror(errno));
  const pid_t child = fork();
  if (child < 0)
    return fail(std::strerror(errno));
  if (child == 0) {
    close(channel[0]);
    setsid();
    const int nothing = open("/dev/null", O_RDWR);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
      dup2(nothing, stream);
    static_cast<void>(chdir("/") == 0);
    _exit(serve(settings, [&](const std::string& problem) {
      const std::string word = problem.empty() ? "up" : problem;
      static_cast<void>(write(channel[1], word.data(), word.size()) == 0);
      close(channel[1]);
    }));
  }
  close(channel[1]);
  std::string word;
  std::array<char, 4096> part{};
  for (ssize_t got = 0; (got = read(channel[0], part.data(), part.size())) > 0;)
    word.append(part.data(), static_cast<size_t>(got));
  if (word == "up")
    return 0;
  waitpid(child, nullptr, 0);
  return fail(word.empty() ? "its process ended while it began" : word);
}

bool ends_within(const std::string& backing, std::chrono::milliseconds limit) {
  for (const auto stop = Clock::now() + limit; process_of(backing).has_value(); std::this_thread::sleep_for(10ms))
    if (Clock::now() > stop)
      return false;
  return true;
}

// Mounts first: programs get errors at once, and nothing new comes in.
bool end_store(const std::string& backing) {
  for (const Mount& mount : mounts_of_stores())
    if (mount.backing == backing)
      unmount(mount.path);
  for (const int signal : {SIGTERM, SIGKILL}) {
    const std::optional<pid_t> process = process_of(backing);
    if (!process)
      break;
    kill(*process, signal);
    if (ends_within(backing, 5s))
      break;
  }
  remove_if_in_memory(backing);
  return !process_of(backing).has_value();
}

}  // namespace

void unmount(const std::string& path) {
  if (geteuid() == 0) {
    umount2(path.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
    return;
  }
  const pid_t child = fork();
  if (child == 0) {
    execlp("fusermount3", "fusermount3", "-u", "-z", "-q", "--", path.c_str(), nullptr);
    _exit(127);
  }
  if (child > 0)
    waitpid(child, nullptr, 0);
}

int up(Settings settings) {
  if (access("/dev/fuse", R_OK | W_OK) != 0)
    return fail(fmt::format("cannot run here: /dev/fuse: {}", std::strerror(errno)), k_cannot_run_here);
  if (const std::string problem = make_folders(settings); !problem.empty()) {
    remove_if_in_memory(settings.backing);
    return fail(problem);
  }
  if (!settings.stays_in_foreground)
    return serve_in_background(settings);
  return serve(settings, [](const std::string& problem) {
    if (!problem.empty())
      fail(problem);
  });
}

int down(const std::vector<std::string>& paths) {
  int code = 0;
  for (const std::string& given : paths) {
    const std::string path = full_path(given);
    std::string backing = path;
    for (const Mount& mount : mounts_of_stores())
      if (mount.path == path)
        backing = mount.backing;
    if (!end_store(backing))
      code = fail(fmt::format("the store on \"{}\" does not end", backing));
  }
  return code;
}

}  // namespace striped_store
