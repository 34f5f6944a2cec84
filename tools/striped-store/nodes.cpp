// SPDX-License-Identifier: BSD-3-Clause
#include "nodes.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <system_error>

namespace striped_store {
namespace {

// What /proc says of an open file.
std::string path_behind(const std::string& link) {
  std::array<char, PATH_MAX> path{};
  const ssize_t size = readlink(link.c_str(), path.data(), path.size());
  return size < 0 ? std::string() : std::string(path.data(), static_cast<size_t>(size));
}

}  // namespace

Node::~Node() {
  close(descriptor_);
}

Nodes::Nodes(const std::string& root) {
  const int descriptor = open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    throw std::system_error(errno, std::generic_category(), root);
  struct stat about {};
  fstat(descriptor, &about);
  auto node = std::make_shared<Node>(k_root, about.st_ino, descriptor);
  root_ = path_behind(node->link());
  id_of_[about.st_ino] = k_root;
  by_id_[k_root] = std::move(node);
}

std::shared_ptr<Node> Nodes::find(uint64_t id) {
  const std::lock_guard guard(mutex_);
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

std::shared_ptr<Node> Nodes::enter(const Node& folder, const char* name, struct stat& about) {
  const int descriptor = openat(folder.descriptor(), name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0)
    return nullptr;
  fstat(descriptor, &about);
  const std::lock_guard guard(mutex_);
  if (const auto known = id_of_.find(about.st_ino); known != id_of_.end()) {
    close(descriptor);
    const std::shared_ptr<Node>& node = by_id_[known->second];
    ++node->lookups_;
    return node;
  }
  auto node = std::make_shared<Node>(next_id_++, about.st_ino, descriptor);
  node->lookups_ = 1;
  id_of_[about.st_ino] = node->id();
  by_id_[node->id()] = node;
  return node;
}

void Nodes::forget(uint64_t id, uint64_t lookups) {
  const std::lock_guard guard(mutex_);
  const auto found = by_id_.find(id);
  if (found == by_id_.end() || id == k_root)
    return;
  Node& node = *found->second;
  node.lookups_ -= lookups < node.lookups_ ? lookups : node.lookups_;
  if (node.lookups_ > 0)
    return;
  id_of_.erase(node.inode());
  by_id_.erase(found);
}

std::string Nodes::path_of(const Node& node) const {
  const std::string path = path_behind(node.link());
  return path.starts_with(root_) ? path.substr(root_.size()) : path;
}

}  // namespace striped_store
