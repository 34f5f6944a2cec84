// SPDX-License-Identifier: BSD-3-Clause
// The inodes of the backing folder that the clients' kernels know. Each has a node that is held open, so that its
// number is not reused, for any changes of its names. All clients have the same nodes.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

namespace striped_store {

class Node {
 public:
  Node(uint64_t id, uint64_t inode, int descriptor) : id_(id), inode_(inode), descriptor_(descriptor) {}
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  ~Node();

  uint64_t id() const { return id_; }
  uint64_t inode() const { return inode_; }
  int descriptor() const { return descriptor_; }                                       // O_PATH
  std::string link() const { return "/proc/self/fd/" + std::to_string(descriptor_); }  // a path to the inode itself

 private:
  friend class Nodes;
  uint64_t id_;
  uint64_t inode_;
  int descriptor_;
  uint64_t lookups_ = 0;
};

class Nodes {
 public:
  static constexpr uint64_t k_root = 1;     // FUSE_ROOT_ID
  static constexpr uint64_t k_control = 2;  // the control file, which has no inode
  static constexpr const char* k_control_name = ".striped-store";

  explicit Nodes(const std::string& root);  // throws std::system_error where it cannot be opened

  std::shared_ptr<Node> find(uint64_t id);  // nullptr: not known

  // The node of `name` in a folder, one lookup more, and its attributes. nullptr, with errno: there is no such name.
  std::shared_ptr<Node> enter(const Node& folder, const char* name, struct stat& about);
  void forget(uint64_t id, uint64_t lookups);

  // Below the root, "/a/b"; of something removed the last one, marked.
  std::string path_of(const Node& node) const;

 private:
  std::string root_;
  std::mutex mutex_;
  std::unordered_map<uint64_t, std::shared_ptr<Node>> by_id_;
  std::unordered_map<uint64_t, uint64_t> id_of_;  // by inode: the backing folder is of one file system
  uint64_t next_id_ = 16;
};

}  // namespace striped_store
