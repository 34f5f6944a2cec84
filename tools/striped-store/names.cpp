// SPDX-License-Identifier: BSD-3-Clause
// Names: each operation is done on the backing folder. Kernels keep no names and attributes (timeouts of 0), so that
// clients see each other's.
#include <dirent.h>
#include <fcntl.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "operations.hpp"

namespace striped_store {
namespace {

// The control file cannot be made, moved or removed.
bool is_control(fuse_ino_t folder, const char* name) {
  return folder == Nodes::k_root && std::strcmp(name, Nodes::k_control_name) == 0;
}

int reply_entry(fuse_req_t request, const Node& folder, const char* name) {
  fuse_entry_param entry{};
  if (const int error = enter(client_of(request), folder, name, entry); error != 0)
    return error;
  fuse_reply_entry(request, &entry);
  return k_replied;
}

void lookup(fuse_req_t request, fuse_ino_t parent, const char* name) {
  answer(request, [&] {
    if (is_control(parent, name)) {
      fuse_entry_param entry{};
      entry.ino = Nodes::k_control;
      fill_attributes(client_of(request), Nodes::k_control, entry.attr);
      fuse_reply_entry(request, &entry);
      return k_replied;
    }
    const auto folder = node_of(request, parent);
    return folder ? reply_entry(request, *folder, name) : ESTALE;
  });
}

void forget(fuse_req_t request, fuse_ino_t id, uint64_t lookups) {
  client_of(request).nodes->forget(id, lookups);
  fuse_reply_none(request);
}

void forget_multi(fuse_req_t request, size_t count, fuse_forget_data* forgets) {
  for (size_t each = 0; each < count; ++each)
    client_of(request).nodes->forget(forgets[each].ino, forgets[each].nlookup);
  fuse_reply_none(request);
}

// A new file belongs to the caller, if this process may change owners.
void give_to_caller(fuse_req_t request, const Node& folder, const char* name) {
  const fuse_ctx* caller = fuse_req_ctx(request);
  if (geteuid() == 0 && fchownat(folder.descriptor(), name, caller->uid, caller->gid, AT_SYMLINK_NOFOLLOW) != 0)
    return;
}

// Makes something by `make(folder's descriptor)`, which returns as system calls do, and answers with its entry.
template <class Make>
void make_entry(fuse_req_t request, fuse_ino_t parent, const char* name, Make make) {
  answer(request, [&] {
    const auto folder = node_of(request, parent);
    if (!folder)
      return ESTALE;
    if (is_control(parent, name))
      return EEXIST;
    if (make(folder->descriptor()) != 0)
      return errno;
    give_to_caller(request, *folder, name);
    return reply_entry(request, *folder, name);
  });
}

// A new folder wants for its files what its own folder wants.
void inherit_layout(const Client& client, const Node& folder, const char* name) {
  const std::optional<Layout> layout = kept_layout(*client.store, folder);
  if (!layout)
    return;
  fuse_entry_param entry{};
  if (enter(client, folder, name, entry) != 0)
    return;
  if (const auto made = client.nodes->find(entry.ino))
    keep_layout(*made, *layout, made->inode());
  client.nodes->forget(entry.ino, 1);
}

void mkdir(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode) {
  make_entry(request, parent, name, [&](int folder) {
    const int result = mkdirat(folder, name, mode);
    if (result == 0)
      inherit_layout(client_of(request), *node_of(request, parent), name);
    return result;
  });
}

void mknod(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode, dev_t device) {
  make_entry(request, parent, name, [&](int folder) { return mknodat(folder, name, mode, device); });
}

void symlink(fuse_req_t request, const char* link, fuse_ino_t parent, const char* name) {
  make_entry(request, parent, name, [&](int folder) { return symlinkat(link, folder, name); });
}

void link(fuse_req_t request, fuse_ino_t id, fuse_ino_t parent, const char* name) {
  answer(request, [&] {
    const auto node = node_of(request, id), folder = node_of(request, parent);
    if (!node || !folder)
      return ESTALE;
    if (is_control(parent, name))
      return EEXIST;
    if (linkat(AT_FDCWD, node->link().c_str(), folder->descriptor(), name, AT_SYMLINK_FOLLOW) != 0)
      return errno;
    return reply_entry(request, *folder, name);
  });
}

void readlink(fuse_req_t request, fuse_ino_t id) {
  answer(request, [&] {
    const auto node = node_of(request, id);
    if (!node)
      return ESTALE;
    std::vector<char> target(PATH_MAX + 1, '\0');
    if (::readlinkat(node->descriptor(), "", target.data(), target.size() - 1) < 0)
      return errno;
    fuse_reply_readlink(request, target.data());
    return k_replied;
  });
}

// Another client's kernel may hold a removed file for long: its bytes are freed when no client has it open.
class Removal {
 public:
  Removal(Client& client, const Node& folder, const char* name) : client_(client) {
    fuse_entry_param entry{};
    if (enter(client, folder, name, entry) != 0)
      return;
    node_ = client.nodes->find(entry.ino);
    client.nodes->forget(entry.ino, 1);
  }
  void done() {
    struct stat about {};
    if (!node_ || fstat(node_->descriptor(), &about) != 0 || !S_ISREG(about.st_mode) || about.st_nlink > 0)
      return;
    const std::shared_ptr<File> file = client_.store->known_file(node_->inode());
    if (file)
      file->is_removed = true;
    if (!file || file->opens == 0)
      static_cast<void>(::truncate(node_->link().c_str(), 0) == 0);
    client_.store->forget_file(node_->inode());
  }

 private:
  Client& client_;
  std::shared_ptr<Node> node_;
};

void unlink(fuse_req_t request, fuse_ino_t parent, const char* name) {
  answer(request, [&] {
    const auto folder = node_of(request, parent);
    if (!folder)
      return ESTALE;
    if (is_control(parent, name))
      return EPERM;
    Removal removal(client_of(request), *folder, name);
    if (unlinkat(folder->descriptor(), name, 0) != 0)
      return errno;
    removal.done();
    return 0;
  });
}

void rmdir(fuse_req_t request, fuse_ino_t parent, const char* name) {
  answer(request, [&] {
    const auto folder = node_of(request, parent);
    return folder ? error_of(unlinkat(folder->descriptor(), name, AT_REMOVEDIR)) : ESTALE;
  });
}

void rename(fuse_req_t request, fuse_ino_t parent, const char* name, fuse_ino_t new_parent, const char* new_name,
            unsigned flags) {
  answer(request, [&] {
    const Client& client = client_of(request);
    const auto from = node_of(request, parent), to = node_of(request, new_parent);
    if (!from || !to)
      return ESTALE;
    if (is_control(parent, name) || is_control(new_parent, new_name))
      return EPERM;
    Removal removal(client_of(request), *to, new_name);
    if (renameat2(from->descriptor(), name, to->descriptor(), new_name, flags) != 0)
      return errno;
    removal.done();
    fuse_entry_param entry{};
    if (enter(client, *to, new_name, entry) != 0)
      return 0;
    const auto node = client.nodes->find(entry.ino);
    if (const auto file = node ? client.store->known_file(node->inode()) : nullptr)
      client.store->record().rename(*file->writers, client.nodes->path_of(*node));
    client.nodes->forget(entry.ino, 1);
    return 0;
  });
}

void opendir(fuse_req_t request, fuse_ino_t id, fuse_file_info* about) {
  answer(request, [&] {
    const auto node = node_of(request, id);
    if (!node)
      return ESTALE;
    const int descriptor = openat(node->descriptor(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR* folder = descriptor < 0 ? nullptr : fdopendir(descriptor);
    if (folder == nullptr)
      return errno;
    about->fh = reinterpret_cast<uint64_t>(folder);
    fuse_reply_open(request, about);
    return k_replied;
  });
}

void readdir(fuse_req_t request, fuse_ino_t, size_t size, off_t offset, fuse_file_info* about) {
  answer(request, [&] {
    DIR* folder = reinterpret_cast<DIR*>(about->fh);
    offset == 0 ? rewinddir(folder) : seekdir(folder, offset);
    std::vector<char> buffer(size);
    size_t used = 0;
    errno = 0;
    while (const dirent* entry = ::readdir(folder)) {
      struct stat attributes {};
      attributes.st_ino = entry->d_ino;
      attributes.st_mode = static_cast<mode_t>(DTTOIF(entry->d_type));
      const size_t needed =
          fuse_add_direntry(request, buffer.data() + used, size - used, entry->d_name, &attributes, telldir(folder));
      if (needed > size - used)
        break;
      used += needed;
    }
    if (errno != 0 && used == 0)
      return errno;
    fuse_reply_buf(request, buffer.data(), used);
    return k_replied;
  });
}

void releasedir(fuse_req_t request, fuse_ino_t, fuse_file_info* about) {
  answer(request, [&] { return error_of(closedir(reinterpret_cast<DIR*>(about->fh))); });
}

void fsyncdir(fuse_req_t request, fuse_ino_t, int, fuse_file_info*) {
  fuse_reply_err(request, 0);
}

void statfs(fuse_req_t request, fuse_ino_t) {
  answer(request, [&] {
    struct statvfs about {};
    if (fstatvfs(node_of(request, Nodes::k_root)->descriptor(), &about) != 0)
      return errno;
    fuse_reply_statfs(request, &about);
    return k_replied;
  });
}

}  // namespace

void add_name_operations(fuse_lowlevel_ops& operations) {
  operations.lookup = lookup;
  operations.forget = forget;
  operations.forget_multi = forget_multi;
  operations.mkdir = mkdir;
  operations.mknod = mknod;
  operations.symlink = symlink;
  operations.link = link;
  operations.readlink = readlink;
  operations.unlink = unlink;
  operations.rmdir = rmdir;
  operations.rename = rename;
  operations.opendir = opendir;
  operations.readdir = readdir;
  operations.releasedir = releasedir;
  operations.fsyncdir = fsyncdir;
  operations.statfs = statfs;
}

}  // namespace striped_store
