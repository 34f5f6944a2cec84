// SPDX-License-Identifier: BSD-3-Clause
#include "record.hpp"

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>

namespace striped_store {
namespace {

using nlohmann::ordered_json;

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

ordered_json json_of(const Settings& settings) {
  return {{"targets", settings.targets},
          {"rate_bytes_per_s", settings.rate},
          {"request_cost_s", seconds(settings.request_cost)},
          {"join", settings.join},
          {"lock_cost_s", seconds(settings.lock_cost)},
          {"write_behind_bytes", settings.write_behind},
          {"layout", text_of(settings.layout)},
          {"backing", settings.backing}};
}

ordered_json json_of(uint64_t clients) {
  ordered_json list = ordered_json::array();
  for (int client = 0; client < k_most_clients; ++client)
    if ((clients >> client & 1) != 0)
      list.push_back(client);
  return list;
}

// Stripes that follow each other and have the same writers are one entry.
ordered_json json_of(const StripeWriters& file) {
  ordered_json stripes = ordered_json::array();
  int64_t shared = 0;
  std::pair<int, int64_t> next{-1, 0};
  uint64_t last = 0;
  for (const auto& [place, clients] : file.clients_of) {
    if (std::popcount(clients) > 1)
      ++shared;
    if (place != next || clients != last)
      stripes.push_back(
          {{"component", place.first}, {"begin", place.second}, {"end", 0}, {"clients", json_of(clients)}});
    stripes.back()["end"] = place.second + 1;
    next = {place.first, place.second + 1};
    last = clients;
  }
  return {{"path", file.path},
          {"stripes_written", file.clients_of.size()},
          {"stripes_with_several_writers", shared},
          {"stripes", std::move(stripes)}};
}

}  // namespace

Record::Record(const Settings& settings)
    : settings_(settings),
      matrix_(settings.mounts.size() * static_cast<size_t>(settings.targets)),
      clients_(settings.mounts.size()),
      busy_(static_cast<size_t>(settings.targets)) {}

std::shared_ptr<StripeWriters> Record::add_file(const std::string& path) {
  auto file = std::make_shared<StripeWriters>();
  file->path = path;
  const std::lock_guard guard(mutex_);
  files_.push_back(file);
  return file;
}

void Record::rename(StripeWriters& file, const std::string& path) {
  const std::lock_guard guard(mutex_);
  file.path = path;
}

void Record::opened(int client) {
  const std::lock_guard guard(mutex_);
  ++clients_[static_cast<size_t>(client)].opens;
}

void Record::asked(int client, Mode mode, int64_t bytes) {
  const std::lock_guard guard(mutex_);
  ClientCounts& counts = clients_[static_cast<size_t>(client)];
  const bool writes = mode == Mode::write;
  ++(writes ? counts.requests_written : counts.requests_read);
  int64_t& largest = writes ? counts.largest_written : counts.largest_read;
  largest = std::max(largest, bytes);
}

void Record::locked(int client, int target, const ExtentLocks::Grant& grant) {
  if (!grant.is_new)
    return;
  const std::lock_guard guard(mutex_);
  Counts& counts = at(client, target);
  ++counts.lock_grants;
  counts.lock_hand_overs += grant.taken_away > 0 ? 1 : 0;
  counts.locks_taken_away += grant.taken_away;
}

void Record::served(int client, Mode mode, const ObjectRequest& request, bool is_joined,
                    std::chrono::nanoseconds busy) {
  const std::lock_guard guard(mutex_);
  Counts& counts = at(client, request.target);
  const bool writes = mode == Mode::write;
  (writes ? counts.bytes_written : counts.bytes_read) += request.bytes;
  (writes ? counts.requests_written : counts.requests_read) += is_joined ? 0 : 1;
  (writes ? counts.pieces_written : counts.pieces_read) += request.pieces;
  busy_[static_cast<size_t>(request.target)] += busy;
}

void Record::wrote(int client, StripeWriters& file, const std::vector<Piece>& pieces) {
  const std::lock_guard guard(mutex_);
  for (const Piece& piece : pieces)
    file.clients_of[{piece.component, piece.stripe}] |= uint64_t{1} << client;
}

void Record::reset() {
  const std::lock_guard guard(mutex_);
  std::fill(matrix_.begin(), matrix_.end(), Counts{});
  std::fill(clients_.begin(), clients_.end(), ClientCounts{});
  std::fill(busy_.begin(), busy_.end(), std::chrono::nanoseconds{0});
  for (const auto& file : files_)
    file->clients_of.clear();
  std::erase_if(files_, [](const auto& file) { return file.use_count() == 1; });  // the file itself was removed
}

std::string Record::json() {
  const std::lock_guard guard(mutex_);
  ordered_json all{{"settings", json_of(settings_)}};
  for (size_t client = 0; client < clients_.size(); ++client) {
    const ClientCounts& counts = clients_[client];
    all["clients"].push_back({{"mount", settings_.mounts[client]},
                              {"opens", counts.opens},
                              {"requests_written", counts.requests_written},
                              {"requests_read", counts.requests_read},
                              {"largest_written", counts.largest_written},
                              {"largest_read", counts.largest_read}});
  }
  for (const std::chrono::nanoseconds busy : busy_)
    all["targets"].push_back({{"busy_s", seconds(busy)}});
  const auto add = [&](const char* name, int64_t Counts::*member) {
    ordered_json& rows = all["matrix"][name];
    for (size_t client = 0; client < clients_.size(); ++client) {
      ordered_json row = ordered_json::array();
      for (int target = 0; target < settings_.targets; ++target)
        row.push_back(at(static_cast<int>(client), target).*member);
      rows.push_back(std::move(row));
    }
  };
  add("bytes_written", &Counts::bytes_written);
  add("requests_written", &Counts::requests_written);
  add("pieces_written", &Counts::pieces_written);
  add("bytes_read", &Counts::bytes_read);
  add("requests_read", &Counts::requests_read);
  add("pieces_read", &Counts::pieces_read);
  add("lock_grants", &Counts::lock_grants);
  add("lock_hand_overs", &Counts::lock_hand_overs);
  add("locks_taken_away", &Counts::locks_taken_away);
  all["files"] = ordered_json::array();
  for (const auto& file : files_)
    if (!file->clients_of.empty())
      all["files"].push_back(json_of(*file));
  return all.dump(1) + "\n";
}

}  // namespace striped_store
