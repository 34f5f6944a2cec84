// SPDX-License-Identifier: BSD-3-Clause
// The storage that all clients share: layouts and locks of files, targets that serve one request at a time, and the
// record. It computes the time that a target needs; the bytes themselves are in plain files in the backing folder.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "layout.hpp"
#include "locks.hpp"
#include "record.hpp"
#include "settings.hpp"

namespace striped_store {

// A regular file, by its inode, with any names.
struct File {
  uint64_t number = 0;
  std::shared_mutex mutex;  // shared: requests under way; alone: another layout
  Layout layout;
  std::vector<std::unique_ptr<ExtentLocks>> locks;  // by object
  std::shared_ptr<StripeWriters> writers;
  std::atomic<int> opens = 0;
  std::atomic<bool> is_removed = false;
};

class Store {
 public:
  explicit Store(Settings settings);

  const Settings& settings() const { return settings_; }
  Record& record() { return record_; }

  // `wanted`: what a new one's folder wants of it, or what was kept of an old one.
  std::shared_ptr<File> file(uint64_t inode, const Layout& wanted, const std::string& path);
  std::shared_ptr<File> known_file(uint64_t inode);  // nullptr: not known
  void forget_file(uint64_t inode);
  void set_layout(File& file, const Layout& wanted);  // of an empty file

  // Waits for the locks of a request, calls `move` to move its bytes (it returns their number, or -errno), and waits as
  // long as the targets need for them. With delayed writes it only waits until there is space for them.
  template <class Move>
  int64_t serve(File& file, int client, Mode mode, int64_t offset, int64_t bytes, Move move) {
    record_.asked(client, mode, bytes);
    const std::shared_lock layout(file.mutex);
    const std::vector<Held> held = lock(file, client, mode, by_object(cut(file.layout, offset, bytes)));
    const int64_t moved = move();
    finish(file, client, mode, held, moved > 0 ? cut(file.layout, offset, moved) : std::vector<Piece>{});
    return moved;
  }

  // Waits until the targets have done all delayed writes of the client.
  void wait_for_all(int client);

 private:
  struct Held {
    int object = 0;
    Lock* lock = nullptr;
  };
  // The last request that a client has made of a target: while it waits, it may grow.
  struct Waiting {
    uint64_t file = 0;
    int object = 0;
    Mode mode = Mode::read;
    int64_t begin = 0, end = 0;
    Clock::time_point begins_at{};
  };
  struct Target {
    explicit Target(size_t clients) : waiting(clients) {}
    std::mutex mutex;
    Clock::time_point free_at{};
    std::vector<Waiting> waiting;  // [clients]
  };
  struct Behind {
    Clock::time_point done_at;
    int64_t bytes;
  };
  // What one client has under way to one target.
  struct Backlog {
    std::mutex mutex;
    std::deque<Behind> requests;
    int64_t bytes = 0;
  };

  std::vector<Held> lock(File& file, int client, Mode mode, const std::vector<ObjectRequest>& requests);
  void finish(File& file, int client, Mode mode, const std::vector<Held>& held, const std::vector<Piece>& pieces);
  Clock::time_point enqueue(const File& file, int client, Mode mode, const ObjectRequest& request);
  bool join(Waiting& waiting, const Waiting& request) const;
  Clock::time_point room_behind(int client, const ObjectRequest& request, Clock::time_point done_at);
  Backlog& backlog(int client, int target) {
    return *backlogs_[static_cast<size_t>(client * settings_.targets + target)];
  }

  const Settings settings_;
  Record record_;
  std::vector<std::unique_ptr<Target>> targets_;
  std::vector<std::unique_ptr<Backlog>> backlogs_;  // [client][target]
  std::mutex mutex_;                                // of what follows
  std::unordered_map<uint64_t, std::shared_ptr<File>> files_;
  uint64_t next_target_ = 0;
};

}  // namespace striped_store
