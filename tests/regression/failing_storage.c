/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "failing_storage.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))
#define REAL(type, name, ...)       \
  static type (*real)(__VA_ARGS__); \
  if (!real)                        \
  *(void **)&real = dlsym(RTLD_NEXT, name)

static char folder[4096];
static size_t folder_length;
static enum failing_kind kind;
static long nth, calls;
static volatile int *frozen;
static int full;

void failing_start(const char *where, enum failing_kind what, long number, volatile int *shared) {
  snprintf(folder, sizeof folder, "%s", where);
  folder_length = strlen(folder);
  frozen = shared;
  nth = number;
  calls = 0;
  full = 0;
  __atomic_store_n((int *)&kind, (int)what, __ATOMIC_SEQ_CST);
}

long failing_stop(void) {
  __atomic_store_n((int *)&kind, (int)FAILING_NOTHING, __ATOMIC_SEQ_CST);
  frozen = NULL;
  return __atomic_load_n(&calls, __ATOMIC_SEQ_CST);
}

static int is_there(const char *path) {
  return folder_length > 0 && strncmp(path, folder, folder_length) == 0;
}

static int is_open_there(int descriptor) {
  char link[64], path[4096];
  const int saved = errno;
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  errno = saved;
  if (length < 0)
    return 0;
  path[length] = '\0';
  return is_there(path);
}

enum verdict {
  GO_ON,
  FAIL,
  HALF,
  NOTHING,
  HALF_AND_NOTHING
};

/* `there`: in the folder. `grows`: needs space. */
static enum verdict on_change(int there, int is_write, int grows) {
  if (!there || kind == FAILING_NOTHING)
    return GO_ON;
  if (frozen && __atomic_load_n(frozen, __ATOMIC_SEQ_CST))
    return NOTHING;
  const int is_change = kind != FAILING_READ && kind != FAILING_OPEN;
  if (!is_change || nth <= 0) {
    if (is_change)
      __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
    return GO_ON;
  }
  const int now = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST) == nth;
  if (now && kind == FAILING_NO_SPACE)
    full = 1;
  if (full && grows) {
    errno = ENOSPC;
    return FAIL;
  }
  if (!now)
    return GO_ON;
  switch (kind) {
    case FAILING_KILL:
      kill(getpid(), SIGKILL);
      return FAIL;
    case FAILING_IO:
      errno = EIO;
      return FAIL;
    case FAILING_SHORT:
      return is_write ? HALF : GO_ON;
    case FAILING_FREEZE:
    case FAILING_TEAR:
      __atomic_store_n(frozen, 1, __ATOMIC_SEQ_CST);
      return kind == FAILING_TEAR && is_write ? HALF_AND_NOTHING : NOTHING;
    default:
      return GO_ON;
  }
}

static int fails_to_read(int descriptor) {
  if (kind != FAILING_READ || !is_open_there(descriptor))
    return 0;
  if (__atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST) != nth)
    return 0;
  errno = EIO;
  return 1;
}

static int fails_to_open(const char *path) {
  if (kind != FAILING_OPEN || !is_there(path))
    return 0;
  if (__atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST) != nth)
    return 0;
  errno = EMFILE;
  return 1;
}

static int is_past_end(int descriptor, off_t end) {
  struct stat about;
  return fstat(descriptor, &about) == 0 && end > about.st_size;
}

static size_t half(size_t bytes) {
  return bytes > 1 ? bytes / 2 : bytes;
}

#define WRITES(name)                                                                       \
  EXPORTED ssize_t name(int descriptor, const void *bytes, size_t size, off_t offset) {    \
    REAL(ssize_t, #name, int, const void *, size_t, off_t);                                \
    const int there = kind != FAILING_NOTHING && is_open_there(descriptor);                \
    switch (on_change(there, 1, there && is_past_end(descriptor, offset + (off_t)size))) { \
      case FAIL:                                                                           \
        return -1;                                                                         \
      case NOTHING:                                                                        \
        return (ssize_t)size;                                                              \
      case HALF:                                                                           \
        return real(descriptor, bytes, half(size), offset);                                \
      case HALF_AND_NOTHING:                                                               \
        if (size > 16)                                                                     \
          (void)!real(descriptor, bytes, half(size), offset); /* fewer are never torn */   \
        return (ssize_t)size;                                                              \
      default:                                                                             \
        return real(descriptor, bytes, size, offset);                                      \
    }                                                                                      \
  }
WRITES(pwrite)
WRITES(pwrite64)

static size_t bytes_of(const struct iovec *parts, int count) {
  size_t bytes = 0;
  for (int i = 0; i < count; ++i)
    bytes += parts[i].iov_len;
  return bytes;
}

/* The first half of the bytes. */
static int cut(const struct iovec *parts, int count, struct iovec *out) {
  size_t left = half(bytes_of(parts, count));
  int used = 0;
  for (int i = 0; i < count && left > 0; ++i) {
    out[used] = parts[i];
    if (out[used].iov_len > left)
      out[used].iov_len = left;
    left -= out[used++].iov_len;
  }
  return used;
}

#define WRITES_PARTS(name)                                                                    \
  EXPORTED ssize_t name(int descriptor, const struct iovec *parts, int count, off_t offset) { \
    REAL(ssize_t, #name, int, const struct iovec *, int, off_t);                              \
    const int there = kind != FAILING_NOTHING && is_open_there(descriptor);                   \
    const size_t size = there ? bytes_of(parts, count) : 0;                                   \
    struct iovec some[1024];                                                                  \
    switch (on_change(there, 1, there && is_past_end(descriptor, offset + (off_t)size))) {    \
      case FAIL:                                                                              \
        return -1;                                                                            \
      case NOTHING:                                                                           \
        return (ssize_t)size;                                                                 \
      case HALF:                                                                              \
        return real(descriptor, some, cut(parts, count, some), offset);                       \
      case HALF_AND_NOTHING:                                                                  \
        if (size > 16)                                                                        \
          (void)!real(descriptor, some, cut(parts, count, some), offset);                     \
        return (ssize_t)size;                                                                 \
      default:                                                                                \
        return real(descriptor, parts, count, offset);                                        \
    }                                                                                         \
  }
WRITES_PARTS(pwritev)
WRITES_PARTS(pwritev64)

#define READS(name)                                                                \
  EXPORTED ssize_t name(int descriptor, void *bytes, size_t size, off_t offset) {  \
    REAL(ssize_t, #name, int, void *, size_t, off_t);                              \
    return fails_to_read(descriptor) ? -1 : real(descriptor, bytes, size, offset); \
  }
READS(pread)
READS(pread64)

#define READS_PARTS(name)                                                                     \
  EXPORTED ssize_t name(int descriptor, const struct iovec *parts, int count, off_t offset) { \
    REAL(ssize_t, #name, int, const struct iovec *, int, off_t);                              \
    return fails_to_read(descriptor) ? -1 : real(descriptor, parts, count, offset);           \
  }
READS_PARTS(preadv)
READS_PARTS(preadv64)

/* A call that is made, or fails, or has no effect. */
#define CHANGES(name, parameters, types, arguments, there, grows) \
  EXPORTED int name parameters {                                  \
    static int(*real) types;                                      \
    if (!real)                                                    \
      *(void **)&real = dlsym(RTLD_NEXT, #name);                  \
    const int is_ours = kind != FAILING_NOTHING && (there);       \
    switch (on_change(is_ours, 0, is_ours && (grows))) {          \
      case FAIL:                                                  \
        return -1;                                                \
      case NOTHING:                                               \
        return 0;                                                 \
      default:                                                    \
        return real arguments;                                    \
    }                                                             \
  }
/* A file that is extended without writing takes no space. */
CHANGES(ftruncate, (int descriptor, off_t size), (int, off_t), (descriptor, size), is_open_there(descriptor), 0)
CHANGES(ftruncate64, (int descriptor, off_t size), (int, off_t), (descriptor, size), is_open_there(descriptor), 0)
CHANGES(truncate, (const char *path, off_t size), (const char *, off_t), (path, size), is_there(path), 0)
CHANGES(truncate64, (const char *path, off_t size), (const char *, off_t), (path, size), is_there(path), 0)
CHANGES(rename, (const char *from, const char *to), (const char *, const char *), (from, to), is_there(to), 0)
CHANGES(unlink, (const char *path), (const char *), (path), is_there(path), 0)
CHANGES(unlinkat, (int parent, const char *name, int flags), (int, const char *, int), (parent, name, flags),
        is_open_there(parent), 0)
CHANGES(rmdir, (const char *path), (const char *), (path), is_there(path), 0)
CHANGES(mkdir, (const char *path, mode_t mode), (const char *, mode_t), (path, mode), is_there(path), 1)
CHANGES(fsync, (int descriptor), (int), (descriptor), is_open_there(descriptor), 0)
CHANGES(fdatasync, (int descriptor), (int), (descriptor), is_open_there(descriptor), 0)
CHANGES(fallocate, (int descriptor, int mode, off_t begin, off_t bytes), (int, int, off_t, off_t),
        (descriptor, mode, begin, bytes), is_open_there(descriptor), 1)

/* What is not made cannot be opened. */
#define OPENS(name)                                                           \
  EXPORTED int name(const char *path, int flags, ...) {                       \
    REAL(int, #name, const char *, int, ...);                                 \
    va_list rest;                                                             \
    va_start(rest, flags);                                                    \
    const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;    \
    va_end(rest);                                                             \
    if (fails_to_open(path))                                                  \
      return -1;                                                              \
    if ((flags & O_CREAT) == 0 || kind == FAILING_NOTHING || !is_there(path)) \
      return real(path, flags, mode);                                         \
    struct stat about;                                                        \
    if (stat(path, &about) == 0)                                              \
      return real(path, flags, mode);                                         \
    switch (on_change(1, 0, 1)) {                                             \
      case NOTHING:                                                           \
      case HALF_AND_NOTHING:                                                  \
        errno = EIO;                                                          \
        return -1;                                                            \
      case FAIL:                                                              \
        return -1;                                                            \
      default:                                                                \
        return real(path, flags, mode);                                       \
    }                                                                         \
  }
OPENS(open)
OPENS(open64)
