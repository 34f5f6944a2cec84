// SPDX-License-Identifier: BSD-3-Clause
#include "store.hpp"

#include <algorithm>
#include <cmath>
#include <thread>

namespace striped_store {
namespace {

void give_locks(File& file) {
  file.locks.clear();
  for (int object = 0; object < objects_of(file.layout); ++object)
    file.locks.push_back(std::make_unique<ExtentLocks>());
}

}  // namespace

Store::Store(Settings settings) : settings_(std::move(settings)), record_(settings_) {
  for (int target = 0; target < settings_.targets; ++target)
    targets_.push_back(std::make_unique<Target>(settings_.mounts.size()));
  for (size_t pair = 0; pair < settings_.mounts.size() * targets_.size(); ++pair)
    backlogs_.push_back(std::make_unique<Backlog>());
}

std::shared_ptr<File> Store::file(uint64_t inode, const Layout& wanted, const std::string& path) {
  const std::lock_guard guard(mutex_);
  std::shared_ptr<File>& file = files_[inode];
  if (file)
    return file;
  file = std::make_shared<File>();
  file->number = inode;
  file->layout = placed(wanted, settings_.targets, next_target_);
  file->writers = record_.add_file(path);
  give_locks(*file);
  return file;
}

std::shared_ptr<File> Store::known_file(uint64_t inode) {
  const std::lock_guard guard(mutex_);
  const auto found = files_.find(inode);
  return found == files_.end() ? nullptr : found->second;
}

void Store::forget_file(uint64_t inode) {
  const std::lock_guard guard(mutex_);
  files_.erase(inode);
}

void Store::set_layout(File& file, const Layout& wanted) {
  const std::unique_lock alone(file.mutex);
  const std::lock_guard guard(mutex_);
  file.layout = placed(wanted, settings_.targets, next_target_);
  give_locks(file);
}

// In the order of objects, so that two requests never wait for each other. Lustre's clients too lock one object after
// the other.
std::vector<Store::Held> Store::lock(File& file, int client, Mode mode, const std::vector<ObjectRequest>& requests) {
  std::vector<Held> held;
  held.reserve(requests.size());
  for (const ObjectRequest& request : requests) {
    ExtentLocks& locks = *file.locks[static_cast<size_t>(request.object)];
    const ExtentLocks::Grant grant =
        locks.acquire(client, mode, request.begin, request.begin + request.bytes, settings_.lock_cost);
    record_.locked(client, request.target, grant);
    held.push_back({.object = request.object, .lock = grant.lock});
  }
  return held;
}

// Targets work side by side: the request is done when the last of them is.
void Store::finish(File& file, int client, Mode mode, const std::vector<Held>& held, const std::vector<Piece>& pieces) {
  if (mode == Mode::write)
    record_.wrote(client, *file.writers, pieces);
  const std::vector<ObjectRequest> requests = by_object(pieces);
  Clock::time_point wait_until{};
  for (const Held& each : held) {
    const auto request = std::find_if(requests.begin(), requests.end(),
                                      [&](const ObjectRequest& one) { return one.object == each.object; });
    Clock::time_point done_at{};  // nothing was moved there
    if (request != requests.end()) {
      done_at = enqueue(file, client, mode, *request);
      const bool is_left_behind = mode == Mode::write && settings_.write_behind > 0;
      wait_until = std::max(wait_until, is_left_behind ? room_behind(client, *request, done_at) : done_at);
    }
    file.locks[static_cast<size_t>(each.object)]->release(each.lock, done_at);
  }
  std::this_thread::sleep_until(wait_until);
}

// A target serves one request after the other, in the order of coming: when it is free again follows from when it was
// free before, so a sleep that ends late delays its own request and no other.
Clock::time_point Store::enqueue(const File& file, int client, Mode mode, const ObjectRequest& request) {
  std::chrono::nanoseconds service{0};
  if (settings_.rate > 0) {
    const double seconds = static_cast<double>(request.bytes) / static_cast<double>(settings_.rate);
    service += std::chrono::nanoseconds(std::llround(seconds * 1e9));
  }
  Target& target = *targets_[static_cast<size_t>(request.target)];
  const std::lock_guard guard(target.mutex);
  const Clock::time_point now = Clock::now();
  const Waiting asked{.file = file.number,
                      .object = request.object,
                      .mode = mode,
                      .begin = request.begin,
                      .end = request.begin + request.bytes,
                      .begins_at = std::max(target.free_at, now)};
  Waiting& waiting = target.waiting[static_cast<size_t>(client)];
  const bool is_joined = waiting.begins_at > now && join(waiting, asked);
  if (!is_joined) {
    waiting = asked;
    service += settings_.request_cost;
  }
  record_.served(client, mode, request, is_joined, service);
  target.free_at = std::max(target.free_at, now) + service;
  return target.free_at;
}

// Lustre's clients make requests of the pages of an object that wait to be sent (osc_cache.c).
bool Store::join(Waiting& waiting, const Waiting& request) const {
  const bool is_near = waiting.file == request.file && waiting.object == request.object && waiting.mode == request.mode;
  const int64_t begin = std::min(waiting.begin, request.begin), end = std::max(waiting.end, request.end);
  if (!is_near || (waiting.end != request.begin && request.end != waiting.begin) || end - begin > settings_.join)
    return false;
  waiting.begin = begin;
  waiting.end = end;
  return true;
}

// When what the client has under way to the target, this request included, will be no more than it may be.
Clock::time_point Store::room_behind(int client, const ObjectRequest& request, Clock::time_point done_at) {
  Backlog& behind = backlog(client, request.target);
  const std::lock_guard guard(behind.mutex);
  behind.requests.push_back({.done_at = done_at, .bytes = request.bytes});
  behind.bytes += request.bytes;
  Clock::time_point room_at{};
  const auto drop_first = [&] {
    behind.bytes -= behind.requests.front().bytes;
    behind.requests.pop_front();
  };
  for (const Clock::time_point now = Clock::now(); !behind.requests.empty() && behind.requests.front().done_at <= now;)
    drop_first();
  while (behind.bytes > settings_.write_behind) {
    room_at = behind.requests.front().done_at;
    drop_first();
  }
  return room_at;
}

void Store::wait_for_all(int client) {
  if (settings_.write_behind == 0)
    return;
  Clock::time_point done_at{};
  for (int target = 0; target < settings_.targets; ++target) {
    Backlog& behind = backlog(client, target);
    const std::lock_guard guard(behind.mutex);
    if (!behind.requests.empty())
      done_at = std::max(done_at, behind.requests.back().done_at);
  }
  std::this_thread::sleep_until(done_at);
}

}  // namespace striped_store
