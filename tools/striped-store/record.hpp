// SPDX-License-Identifier: BSD-3-Clause
// What was asked of the store since its beginning or the last reset: the matrix of clients to targets, locks, writers
// of stripes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "layout.hpp"
#include "locks.hpp"
#include "settings.hpp"

namespace striped_store {

// Of one client at one target.
struct Counts {
  int64_t bytes_written = 0;
  int64_t requests_written = 0;  // as the target sees them
  int64_t pieces_written = 0;    // one for each stripe touched by each request
  int64_t bytes_read = 0;
  int64_t requests_read = 0;
  int64_t pieces_read = 0;
  int64_t lock_grants = 0;
  int64_t lock_hand_overs = 0;   // grants for which others' locks had to go
  int64_t locks_taken_away = 0;  // those others' locks
};

// As the kernel sends them: what a program asks for at once, cut where it is larger than a request may be.
struct ClientCounts {
  int64_t opens = 0;
  int64_t requests_written = 0;
  int64_t requests_read = 0;
  int64_t largest_written = 0;
  int64_t largest_read = 0;
};

// Which clients wrote each stripe of a file. Outlives the file, until a reset.
struct StripeWriters {
  std::string path;                                        // the last one known, below a mount
  std::map<std::pair<int, int64_t>, uint64_t> clients_of;  // component and stripe -> a bit a client
};

class Record {
 public:
  explicit Record(const Settings& settings);

  std::shared_ptr<StripeWriters> add_file(const std::string& path);
  void rename(StripeWriters& file, const std::string& path);

  void opened(int client);
  void asked(int client, Mode mode, int64_t bytes);
  void locked(int client, int target, const ExtentLocks::Grant& grant);
  void served(int client, Mode mode, const ObjectRequest& request, bool is_joined, std::chrono::nanoseconds busy);
  void wrote(int client, StripeWriters& file, const std::vector<Piece>& pieces);

  void reset();
  std::string json();

 private:
  Counts& at(int client, int target) { return matrix_[static_cast<size_t>(client * settings_.targets + target)]; }

  const Settings& settings_;
  std::mutex mutex_;
  std::vector<Counts> matrix_;  // [client][target]
  std::vector<ClientCounts> clients_;
  std::vector<std::chrono::nanoseconds> busy_;  // by target
  std::vector<std::shared_ptr<StripeWriters>> files_;
};

}  // namespace striped_store
