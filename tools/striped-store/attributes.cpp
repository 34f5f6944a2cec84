// SPDX-License-Identifier: BSD-3-Clause
// Attributes: those of stat and the extended ones. lustre.lov and similar ones are the layout.
#include <fcntl.h>
#include <sys/xattr.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "lov.hpp"
#include "operations.hpp"

namespace striped_store {
namespace {

constexpr const char* k_text_name = "user.striped_store.layout";

bool is_layout(std::string_view name) {
  return name == "lustre.lov" || name == "trusted.lov" || name == "user.lov";
}

// Where the backing folder keeps a layout: not every file system has attributes of users, but every one has root's.
const char* kept_name() {
  return geteuid() == 0 ? "trusted.lov" : "user.lov";
}

bool is_of_backing(std::string_view name) {
  return name.starts_with("user.") && !is_layout(name) && name != k_text_name;
}

void getattr(fuse_req_t request, fuse_ino_t id, fuse_file_info*) {
  answer(request, [&] {
    struct stat about {};
    const auto node = id == Nodes::k_control ? nullptr : node_of(request, id);
    if (node && fstatat(node->descriptor(), "", &about, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) != 0)
      return errno;
    if (!node && id != Nodes::k_control)
      return ESTALE;
    fill_attributes(client_of(request), id, about);
    fuse_reply_attr(request, &about, 0);
    return k_replied;
  });
}

int set_times(const Node& node, const struct stat& wanted, int what) {
  const timespec leave{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, now{.tv_sec = 0, .tv_nsec = UTIME_NOW};
  const auto time = [&](int given, int is_now, const timespec& value) {
    return (what & is_now) != 0 ? now : (what & given) != 0 ? value : leave;
  };
  const std::array times{time(FUSE_SET_ATTR_ATIME, FUSE_SET_ATTR_ATIME_NOW, wanted.st_atim),
                         time(FUSE_SET_ATTR_MTIME, FUSE_SET_ATTR_MTIME_NOW, wanted.st_mtim)};
  if (times[0].tv_nsec == UTIME_OMIT && times[1].tv_nsec == UTIME_OMIT)
    return 0;
  return error_of(utimensat(AT_FDCWD, node.link().c_str(), times.data(), 0));
}

int set_attributes(const Node& node, const struct stat& wanted, int what, const fuse_file_info* opened) {
  if ((what & FUSE_SET_ATTR_MODE) != 0 && chmod(node.link().c_str(), wanted.st_mode) != 0)
    return errno;
  if ((what & (FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID)) != 0) {
    const uid_t user = (what & FUSE_SET_ATTR_UID) != 0 ? wanted.st_uid : static_cast<uid_t>(-1);
    const gid_t group = (what & FUSE_SET_ATTR_GID) != 0 ? wanted.st_gid : static_cast<gid_t>(-1);
    if (fchownat(node.descriptor(), "", user, group, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) != 0)
      return errno;
  }
  if ((what & FUSE_SET_ATTR_SIZE) != 0) {
    const int result = opened != nullptr ? ftruncate(handle_of(opened).descriptor, wanted.st_size)
                                         : truncate(node.link().c_str(), wanted.st_size);
    if (result != 0)
      return errno;
  }
  return set_times(node, wanted, what);
}

void setattr(fuse_req_t request, fuse_ino_t id, struct stat* wanted, int what, fuse_file_info* opened) {
  if (id != Nodes::k_control) {
    const auto node = node_of(request, id);
    const int error = node ? set_attributes(*node, *wanted, what, opened) : ESTALE;
    if (error != 0) {
      fuse_reply_err(request, error);
      return;
    }
  }
  getattr(request, id, opened);
}

// The layout of a file, or what a folder gives to its new files.
Layout layout_of(const Client& client, const Node& node, const struct stat& about) {
  if (S_ISDIR(about.st_mode))
    return kept_layout(*client.store, node).value_or(client.store->settings().layout);
  const auto file = file_of(client, node, nullptr);
  const std::shared_lock guard(file->mutex);
  return file->layout;
}

int reply_value(fuse_req_t request, const std::string& value, size_t size) {
  if (size == 0) {
    fuse_reply_xattr(request, value.size());
  } else if (size < value.size()) {
    return ERANGE;
  } else {
    fuse_reply_buf(request, value.data(), value.size());
  }
  return k_replied;
}

// What a system call fills in: `get(buffer, size)`, asked for the size first.
template <class Get>
int value_of(std::string& value, Get get) {
  for (;;) {
    const ssize_t size = get(nullptr, 0);
    if (size < 0)
      return errno;
    value.resize(static_cast<size_t>(size));
    const ssize_t got = size == 0 ? 0 : get(value.data(), value.size());
    if (got < 0 && errno == ERANGE)
      continue;  // it grew meanwhile
    if (got < 0)
      return errno;
    value.resize(static_cast<size_t>(got));
    return 0;
  }
}

void getxattr(fuse_req_t request, fuse_ino_t id, const char* name, size_t size) {
  answer(request, [&] {
    const auto node = node_of(request, id);
    if (!node)
      return ENODATA;
    std::string value;
    if (is_of_backing(name)) {
      const std::string link = node->link();
      const int error =
          value_of(value, [&](char* to, size_t room) { return ::getxattr(link.c_str(), name, to, room); });
      return error != 0 ? error : reply_value(request, value, size);
    }
    struct stat about {};
    if (fstat(node->descriptor(), &about) != 0)
      return errno;
    const bool is_text = std::string_view(name) == k_text_name;
    if ((!is_text && !is_layout(name)) || !(S_ISREG(about.st_mode) || S_ISDIR(about.st_mode)))
      return ENODATA;
    const Layout layout = layout_of(client_of(request), *node, about);
    return reply_value(request, is_text ? text_of(layout) : lov_of(layout, node->inode()), size);
  });
}

int set_layout(const Client& client, const Node& node, std::string_view value) {
  const Store& store = *client.store;
  const std::optional<Layout> wanted = layout_of_lov(value, store.settings().layout.components.front());
  if (!wanted || !mistake_in(*wanted, store.settings().targets).empty())
    return EINVAL;
  struct stat about {};
  if (fstat(node.descriptor(), &about) != 0)
    return errno;
  if (S_ISDIR(about.st_mode))
    return keep_layout(node, *wanted, node.inode());
  if (!S_ISREG(about.st_mode))
    return EINVAL;
  if (about.st_size > 0)
    return EEXIST;
  const auto file = file_of(client, node, nullptr);
  client.store->set_layout(*file, *wanted);
  keep_layout(node, file->layout, node.inode());
  return 0;
}

void setxattr(fuse_req_t request, fuse_ino_t id, const char* name, const char* value, size_t size, int flags) {
  answer(request, [&] {
    const auto node = node_of(request, id);
    if (!node)
      return EPERM;
    if (is_layout(name))
      return set_layout(client_of(request), *node, {value, size});
    return is_of_backing(name) ? error_of(::setxattr(node->link().c_str(), name, value, size, flags)) : EOPNOTSUPP;
  });
}

void removexattr(fuse_req_t request, fuse_ino_t id, const char* name) {
  answer(request, [&] {
    const auto node = node_of(request, id);
    if (!node || !is_of_backing(name))
      return EPERM;
    return error_of(::removexattr(node->link().c_str(), name));
  });
}

void listxattr(fuse_req_t request, fuse_ino_t id, size_t size) {
  answer(request, [&] {
    std::string all, kept;
    if (const auto node = node_of(request, id)) {
      all.append("lustre.lov", sizeof("lustre.lov"));
      const std::string link = node->link();
      static_cast<void>(value_of(kept, [&](char* to, size_t room) { return ::listxattr(link.c_str(), to, room); }));
    }
    for (size_t begin = 0; begin < kept.size();) {
      const std::string_view name(kept.c_str() + begin);
      if (is_of_backing(name))
        all.append(name).push_back('\0');
      begin += name.size() + 1;
    }
    return reply_value(request, all, size);
  });
}

}  // namespace

std::optional<Layout> kept_layout(const Store& store, const Node& node) {
  std::string lov;
  const std::string link = node.link();
  if (value_of(lov, [&](char* to, size_t room) { return ::getxattr(link.c_str(), kept_name(), to, room); }) != 0)
    return std::nullopt;
  std::optional<Layout> layout = layout_of_lov(lov, store.settings().layout.components.front());
  if (layout && !mistake_in(*layout, store.settings().targets).empty())
    layout.reset();  // of a store with more targets
  return layout;
}

int keep_layout(const Node& node, const Layout& layout, uint64_t number) {
  const std::string lov = lov_of(layout, number);
  return error_of(::setxattr(node.link().c_str(), kept_name(), lov.data(), lov.size(), 0));
}

std::shared_ptr<File> file_of(const Client& client, const Node& node, const Node* folder) {
  Store& store = *client.store;
  if (auto file = store.known_file(node.inode()))
    return file;
  std::optional<Layout> wanted = kept_layout(store, node);
  const bool is_new =
      ::getxattr(node.link().c_str(), kept_name(), nullptr, 0) < 0;  // and not of a store with more targets
  if (!wanted && folder != nullptr)
    wanted = kept_layout(store, *folder);
  auto file = store.file(node.inode(), wanted.value_or(store.settings().layout), client.nodes->path_of(node));
  // Where it cannot be kept, it is known as long as this store runs.
  if (is_new)
    static_cast<void>(keep_layout(node, file->layout, node.inode()));
  return file;
}

int enter(const Client& client, const Node& folder, const char* name, fuse_entry_param& entry) {
  const auto node = client.nodes->enter(folder, name, entry.attr);
  if (!node)
    return errno;
  entry.ino = node->id();
  if (S_ISREG(entry.attr.st_mode))
    file_of(client, *node, &folder);
  fill_attributes(client, entry.ino, entry.attr);
  return 0;
}

void fill_attributes(const Client& client, uint64_t node, struct stat& about) {
  if (node == Nodes::k_control) {
    about.st_ino = Nodes::k_control;
    about.st_mode = S_IFREG | 0666;
    about.st_nlink = 1;
  } else if (S_ISREG(about.st_mode)) {
    if (const auto file = client.store->known_file(about.st_ino)) {
      const std::shared_lock guard(file->mutex);
      about.st_blksize = file->layout.components.front().stripe;
    }
  }
}

void add_attribute_operations(fuse_lowlevel_ops& operations) {
  operations.getattr = getattr;
  operations.setattr = setattr;
  operations.getxattr = getxattr;
  operations.setxattr = setxattr;
  operations.listxattr = listxattr;
  operations.removexattr = removexattr;
}

}  // namespace striped_store
