// SPDX-License-Identifier: BSD-3-Clause
// What the parts of the file system have in common: names.cpp, attributes.cpp and data.cpp (open files) answer what
// kernels ask.
#pragma once

#include <fuse_lowlevel.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <new>
#include <optional>
#include <string>

#include "nodes.hpp"
#include "store.hpp"

namespace striped_store {

// Of one mount. Lives as long as the process.
struct Client {
  Store* store = nullptr;
  Nodes* nodes = nullptr;
  int number = 0;
};

struct Handle {
  int descriptor = -1;
  std::shared_ptr<File> file;
  bool appends = false;
  std::string text;  // of the control file: the record when it was opened
  ~Handle() {
    if (descriptor >= 0)
      close(descriptor);
  }
};

constexpr int k_replied = -1;

inline Client& client_of(fuse_req_t request) {
  return *static_cast<Client*>(fuse_req_userdata(request));
}
inline std::shared_ptr<Node> node_of(fuse_req_t request, fuse_ino_t id) {
  return client_of(request).nodes->find(id);
}
inline Handle& handle_of(const fuse_file_info* about) {
  return *reinterpret_cast<Handle*>(about->fh);
}
inline int error_of(int64_t result) {
  return result < 0 ? errno : 0;
}

// Every request gets exactly one answer: what `work` returns, an errno or 0, or k_replied where it has answered itself.
template <class Work>
void answer(fuse_req_t request, Work work) noexcept {
  int error = ENOMEM;
  try {
    error = work();
  } catch (const std::bad_alloc&) {}
  if (error != k_replied)
    fuse_reply_err(request, error);
}

// The layout that the backing folder keeps with a file or folder; nullopt: none.
std::optional<Layout> kept_layout(const Store& store, const Node& node);
int keep_layout(const Node& node, const Layout& layout, uint64_t number);

// The file of a node that is one; where it is new, with what its folder wants.
std::shared_ptr<File> file_of(const Client& client, const Node& node, const Node* folder);

// Enters a name that is there into the nodes, and fills in what the kernel wants to know of it. 0 or errno.
int enter(const Client& client, const Node& folder, const char* name, fuse_entry_param& entry);

void fill_attributes(const Client& client, uint64_t node, struct stat& about);

void add_name_operations(fuse_lowlevel_ops& operations);
void add_attribute_operations(fuse_lowlevel_ops& operations);
void add_data_operations(fuse_lowlevel_ops& operations);

}  // namespace striped_store
