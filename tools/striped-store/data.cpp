// SPDX-License-Identifier: BSD-3-Clause
// Open files. Their bytes never stay in a kernel (direct_io): every read and write of a program comes here, as large as
// the kernel lets it be.
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>
#include <vector>

#include "operations.hpp"

namespace striped_store {
namespace {

void reply_opened(fuse_req_t request, std::unique_ptr<Handle> handle, const fuse_entry_param* created,
                  fuse_file_info* about) {
  about->direct_io = 1;
#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 15)
  about->parallel_direct_writes = 1;
#endif
  if (handle->file) {
    ++handle->file->opens;
    client_of(request).store->record().opened(client_of(request).number);
  }
  about->fh = reinterpret_cast<uint64_t>(handle.get());
  // Refused: the program was interrupted, and no release will come.
  const int result = created != nullptr ? fuse_reply_create(request, created, about) : fuse_reply_open(request, about);
  if (result == 0) {
    handle.release();
  } else if (handle->file) {
    --handle->file->opens;
  }
}

int flags_for_backing(int flags) {
  return (flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW | O_DIRECT)) | O_CLOEXEC;
}

void open(fuse_req_t request, fuse_ino_t id, fuse_file_info* about) {
  answer(request, [&] {
    auto handle = std::make_unique<Handle>();
    if (id == Nodes::k_control) {
      handle->text = client_of(request).store->record().json();
    } else {
      const auto node = node_of(request, id);
      if (!node)
        return ESTALE;
      handle->descriptor = ::open(node->link().c_str(), flags_for_backing(about->flags));
      if (handle->descriptor < 0)
        return errno;
      handle->file = file_of(client_of(request), *node, nullptr);
      handle->appends = (about->flags & O_APPEND) != 0;
    }
    reply_opened(request, std::move(handle), nullptr, about);
    return k_replied;
  });
}

void create(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode, fuse_file_info* about) {
  answer(request, [&] {
    Client& client = client_of(request);
    const auto folder = node_of(request, parent);
    if (!folder)
      return ESTALE;
    auto handle = std::make_unique<Handle>();
    const int exclusive = about->flags & O_EXCL;
    handle->descriptor =
        openat(folder->descriptor(), name, flags_for_backing(about->flags) | O_CREAT | O_NOFOLLOW | exclusive, mode);
    if (handle->descriptor < 0)
      return errno;
    const fuse_ctx* caller = fuse_req_ctx(request);
    if (geteuid() == 0 && fchown(handle->descriptor, caller->uid, caller->gid) != 0)
      return errno;
    fuse_entry_param entry{};
    if (const int error = enter(client, *folder, name, entry); error != 0)
      return error;
    const auto node = client.nodes->find(entry.ino);
    handle->file = file_of(client, *node, folder.get());
    handle->appends = (about->flags & O_APPEND) != 0;
    reply_opened(request, std::move(handle), &entry, about);
    return k_replied;
  });
}

void read(fuse_req_t request, fuse_ino_t, size_t size, off_t offset, fuse_file_info* about) {
  answer(request, [&] {
    Handle& handle = handle_of(about);
    if (!handle.file) {
      // A copy: as soon as the program has the answer it may close the file, and the handle ends.
      const std::string part = handle.text.substr(std::min(static_cast<size_t>(offset), handle.text.size()), size);
      fuse_reply_buf(request, part.data(), part.size());
      return k_replied;
    }
    thread_local std::vector<char> buffer;
    buffer.resize(std::max(buffer.size(), size));
    const Client& client = client_of(request);
    const int64_t got = client.store->serve(
        *handle.file, client.number, Mode::read, offset, static_cast<int64_t>(size), [&]() -> int64_t {
          const ssize_t result = pread(handle.descriptor, buffer.data(), size, offset);
          return result < 0 ? -errno : result;
        });
    if (got < 0)
      return static_cast<int>(-got);
    fuse_reply_buf(request, buffer.data(), static_cast<size_t>(got));
    return k_replied;
  });
}

int control(fuse_req_t request, std::string_view command) {
  while (command.ends_with('\n'))
    command.remove_suffix(1);
  if (command != "reset")
    return EINVAL;
  client_of(request).store->record().reset();
  return 0;
}

void write(fuse_req_t request, fuse_ino_t, const char* bytes, size_t size, off_t offset, fuse_file_info* about) {
  answer(request, [&] {
    Handle& handle = handle_of(about);
    if (!handle.file) {
      if (const int error = control(request, {bytes, size}); error != 0)
        return error;
      fuse_reply_write(request, size);
      return k_replied;
    }
    struct stat now {};
    if (handle.appends && fstat(handle.descriptor, &now) == 0)
      offset = now.st_size;  // as the backing file will
    const Client& client = client_of(request);
    const int64_t put = client.store->serve(*handle.file, client.number, Mode::write, offset,
                                            static_cast<int64_t>(size), [&]() -> int64_t {
                                              const ssize_t result = pwrite(handle.descriptor, bytes, size, offset);
                                              return result < 0 ? -errno : result;
                                            });
    if (put < 0)
      return static_cast<int>(-put);
    fuse_reply_write(request, static_cast<size_t>(put));
    return k_replied;
  });
}

// At each close and fsync, first does the delayed writes. Nothing is made durable: it is a simulation.
void flush(fuse_req_t request, fuse_ino_t, fuse_file_info*) {
  client_of(request).store->wait_for_all(client_of(request).number);
  fuse_reply_err(request, 0);
}

void fsync(fuse_req_t request, fuse_ino_t id, int, fuse_file_info* about) {
  flush(request, id, about);
}

void release(fuse_req_t request, fuse_ino_t, fuse_file_info* about) {
  const std::unique_ptr<Handle> handle(&handle_of(about));
  if (handle->file && --handle->file->opens == 0 && handle->file->is_removed) {
    // The descriptor may be for reading only.
    const std::string link = "/proc/self/fd/" + std::to_string(handle->descriptor);
    static_cast<void>(truncate(link.c_str(), 0) == 0);
  }
  fuse_reply_err(request, 0);
}

void fallocate(fuse_req_t request, fuse_ino_t, int mode, off_t offset, off_t length, fuse_file_info* about) {
  answer(request, [&] {
    const Handle& handle = handle_of(about);
    return handle.file ? error_of(::fallocate(handle.descriptor, mode, offset, length)) : EOPNOTSUPP;
  });
}

void lseek(fuse_req_t request, fuse_ino_t, off_t offset, int whence, fuse_file_info* about) {
  answer(request, [&] {
    const Handle& handle = handle_of(about);
    const off_t found = handle.file ? ::lseek(handle.descriptor, offset, whence) : -1;
    if (!handle.file)
      return EINVAL;
    if (found < 0)
      return errno;
    fuse_reply_lseek(request, found);
    return k_replied;
  });
}

}  // namespace

void add_data_operations(fuse_lowlevel_ops& operations) {
  operations.open = open;
  operations.create = create;
  operations.read = read;
  operations.write = write;
  operations.flush = flush;
  operations.fsync = fsync;
  operations.release = release;
  operations.fallocate = fallocate;
  operations.lseek = lseek;
}

}  // namespace striped_store
