// SPDX-License-Identifier: BSD-3-Clause
#include "storage/ceph_library.hpp"

#ifdef WINDROW_HAS_CEPHFS
#include <cephfs/libcephfs.h>
#include <dlfcn.h>
#include <fmt/format.h>
#endif

namespace windrow {

#ifdef WINDROW_HAS_CEPHFS
namespace {

constexpr const char* k_name = "libcephfs.so.2";  // of all releases since Kraken (11)

struct Loaded {
  CephLibrary library;
  std::string problem;
};

// Loads a function with the type of the header; a missing one sets `problem`.
#define WINDROW_CEPH_CALL(name) call_of<decltype(&::name)>(handle, #name, loaded.problem)
template <class Call>
Call call_of(void* handle, const char* name, std::string& problem) {
  void* found = ::dlsym(handle, name);
  if (found == nullptr)
    problem = fmt::format("{} has no {}", k_name, name);
  return reinterpret_cast<Call>(found);
}

Loaded load() {
  Loaded loaded;
  void* handle = ::dlopen(k_name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    const char* why = ::dlerror();
    loaded.problem = fmt::format("{} cannot be loaded: {}", k_name, why == nullptr ? "unknown reason" : why);
    return loaded;
  }
  const auto read_file = WINDROW_CEPH_CALL(ceph_conf_read_file);
  const auto parse_env = WINDROW_CEPH_CALL(ceph_conf_parse_env);
  const auto open = WINDROW_CEPH_CALL(ceph_open);
  const auto layout = WINDROW_CEPH_CALL(ceph_get_file_layout);
  const auto statx = WINDROW_CEPH_CALL(ceph_fstatx);
  const auto copies_in = WINDROW_CEPH_CALL(ceph_get_pool_replication);
  const auto osds_of = WINDROW_CEPH_CALL(ceph_get_file_extent_osds);
  loaded.library = {
      .create = WINDROW_CEPH_CALL(ceph_create),
      .settings =
          [=](ceph_mount_info* client) {
            const int error = read_file(client, nullptr);
            return error < 0 ? error : parse_env(client, nullptr);
          },
      .conf_set = WINDROW_CEPH_CALL(ceph_conf_set),
      .mount = WINDROW_CEPH_CALL(ceph_mount),
      .open = [=](ceph_mount_info* client, const char* path, int flags) { return open(client, path, flags, 0); },
      .about =
          [=](ceph_mount_info* client, int file, CephFile& about) {
            int stripe = 0, count = 0, object = 0, pool = 0;
            if (const int error = layout(client, file, &stripe, &count, &object, &pool); error < 0)
              return error;
            // A query for OSDs of a pool that is not in the client's map yet aborts the process.
            if (const int error = copies_in(client, pool); error < 0)
              return error;
            struct ceph_statx status {};
            if (const int error = statx(client, file, &status, CEPH_STATX_INO, 0); error < 0)
              return error;
            about = {.stripe_bytes = stripe, .stripe_count = count, .object_bytes = object, .inode = status.stx_ino};
            return 0;
          },
      .get_file_extent_osds =
          [=](ceph_mount_info* client, int file, int64_t offset, std::span<int> osds) {
            return osds_of(client, file, offset, nullptr, osds.data(), static_cast<int>(osds.size()));
          },
      .close = WINDROW_CEPH_CALL(ceph_close),
      .unmount = WINDROW_CEPH_CALL(ceph_unmount),
      .release = WINDROW_CEPH_CALL(ceph_release)};
  return loaded;
}
#undef WINDROW_CEPH_CALL

}  // namespace

Result<const CephLibrary*> load_ceph_library() {
  static const Loaded loaded = load();
  if (!loaded.problem.empty())
    return Status{Code::unsupported, loaded.problem};
  return &loaded.library;
}
#else
Result<const CephLibrary*> load_ceph_library() {
  return Status{Code::unsupported, "this library was built without libcephfs"};
}
#endif

}  // namespace windrow
