// SPDX-License-Identifier: BSD-3-Clause
#include "clients.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>

#include <cstring>
#include <vector>

#include "life.hpp"

namespace striped_store {
namespace {

// Requests that sleep take a thread each; more than this of one client wait in its kernel.
constexpr unsigned k_threads = 128;

fuse_lowlevel_ops operations() {
  fuse_lowlevel_ops all{};
  add_name_operations(all);
  add_attribute_operations(all);
  add_data_operations(all);
  return all;
}

// As a value of a mount option: commas and backslashes are escaped.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char each : text) {
    if (each == ',' || each == '\\')
      out += '\\';
    out += each;
  }
  return out;
}

}  // namespace

std::string Clients::mount() {
  for (int number = 0; number < static_cast<int>(store_.settings().mounts.size()); ++number) {
    if (const std::string problem = mount_one(number); !problem.empty()) {
      unmount();
      return problem;
    }
  }
  return "";
}

std::string Clients::mount_one(int number) {
  static const fuse_lowlevel_ops all = operations();
  const std::string& path = store_.settings().mounts[static_cast<size_t>(number)];
  Session& session =
      sessions_.emplace_back(Session{.client = {.store = &store_, .nodes = &nodes_, .number = number}, .mount = path});
  const std::string options =
      fmt::format("fsname={},subtype={},default_permissions{}", escaped(store_.settings().backing), k_subtype,
                  geteuid() == 0 ? ",allow_other" : "");
  std::vector<std::string> words{"striped-store", "-o", options};
  std::vector<char*> pointers;
  for (std::string& word : words)
    pointers.push_back(word.data());
  fuse_args arguments = FUSE_ARGS_INIT(static_cast<int>(pointers.size()), pointers.data());
  session.fuse = fuse_session_new(&arguments, &all, sizeof(all), &session.client);
  fuse_opt_free_args(&arguments);
  if (session.fuse == nullptr)
    return "libfuse refuses the options of " + path;
  if (fuse_session_mount(session.fuse, path.c_str()) == 0)
    return "";
  fuse_session_destroy(session.fuse);
  sessions_.pop_back();
  return fmt::format("\"{}\" cannot be mounted: {}", path, std::strerror(errno));
}

void Clients::serve() {
  std::vector<std::thread> threads;
  for (Session& session : sessions_) {
    threads.emplace_back([&session] {
      prctl(PR_SET_TIMERSLACK, 1UL);  // sleeps end when they should; threads that this one starts have it too
      fuse_loop_config* config = fuse_loop_cfg_create();
      fuse_loop_cfg_set_clone_fd(config, 1);
      fuse_loop_cfg_set_max_threads(config, k_threads);
      fuse_session_loop_mt(session.fuse, config);
      fuse_loop_cfg_destroy(config);
    });
  }
  for (std::thread& thread : threads)
    thread.join();
}

void Clients::unmount() {
  for (const Session& session : sessions_)
    striped_store::unmount(session.mount);
}

}  // namespace striped_store
