// SPDX-License-Identifier: BSD-3-Clause
// Simulates the queries for CephFS's OSDs: the kernel's call, and libcephfs.
#pragma once

#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "storage/ceph_library.hpp"

namespace windrow::test {

// The kernel's answer for one byte. It computes file and stripe offsets independently of the library.
struct CephLocation {
  uint64_t file_offset, object_offset, object_number, object_bytes;
  std::array<char, 64> object_name;
  uint64_t block_offset, block_bytes;
  int64_t osd;
  sockaddr_storage address;
};
inline constexpr unsigned long k_ceph_location = _IOWR(0x97, 3, CephLocation);

struct FakeCephKernel {
  uint64_t stripe_bytes = 1 << 20, stripe_count = 1, object_bytes = 4 << 20;
  std::function<int64_t(uint64_t object)> osd = [](uint64_t object) { return static_cast<int64_t>(object * 7 % 5); };
  std::function<void(CephLocation&)> spoil = [](CephLocation&) {};
  int64_t asked = 0;

  int operator()(void* argument) {
    auto& location = *static_cast<CephLocation*>(argument);
    const uint64_t block = location.file_offset / stripe_bytes, row = block / stripe_count,
                   per_object = object_bytes / stripe_bytes;
    location.object_number = row / per_object * stripe_count + block % stripe_count;
    location.block_offset = location.file_offset % stripe_bytes;
    location.object_offset = row % per_object * stripe_bytes + location.block_offset;
    location.object_bytes = object_bytes;
    location.block_bytes = stripe_bytes;
    location.osd = osd(location.object_number);
    spoil(location);
    ++asked;
    return 0;
  }
};

// Counts the open clients, mounts and files. `errors`: by the names of the calls.
struct FakeCephLibrary {
  std::map<std::string, int> errors;
  std::vector<std::string> calls;
  CephFile file{.stripe_bytes = 1 << 20, .stripe_count = 1, .object_bytes = 4 << 20, .inode = 0};
  std::function<std::vector<int>(int64_t offset)> osds = [](int64_t offset) {
    return std::vector<int>{static_cast<int>(offset >> 22) % 3, 9};
  };
  int clients = 0, mounts = 0, files = 0, most_files = 0;

  int answer(const std::string& call, const std::string& what = {}) {
    calls.push_back(what.empty() ? call : call + " " + what);
    const auto found = errors.find(call);
    return found == errors.end() ? 0 : found->second;
  }
  CephLibrary library() {
    return {.create =
                [this](ceph_mount_info** client, const char* user) {
                  const int error = answer("create", user == nullptr ? "" : user);
                  if (error < 0)
                    return error;
                  *client = reinterpret_cast<ceph_mount_info*>(this);
                  ++clients;
                  return 0;
                },
            .settings = [this](ceph_mount_info*) { return answer("settings"); },
            .conf_set = [this](ceph_mount_info*, const char* option,
                               const char* value) { return answer(std::string("set ") + option, value); },
            .mount =
                [this](ceph_mount_info*, const char* root) {
                  const int error = answer("mount", root);
                  mounts += error < 0 ? 0 : 1;
                  return error;
                },
            .open =
                [this](ceph_mount_info*, const char* path, int) {
                  const int error = answer("open", path);
                  if (error < 0)
                    return error;
                  most_files = std::max(most_files, ++files);
                  return 3;
                },
            .about =
                [this](ceph_mount_info*, int, CephFile& about) {
                  about = file;
                  return answer("about");
                },
            .get_file_extent_osds =
                [this](ceph_mount_info*, int, int64_t offset, std::span<int> out) {
                  if (const int error = answer("osds"); error < 0)
                    return error;
                  const std::vector<int> found = osds(offset);
                  if (found.empty())
                    return -EINVAL;  // as Client::get_file_extent_osds() does
                  std::copy(found.begin(), found.end(), out.begin());
                  return static_cast<int>(found.size());
                },
            .close = [this](ceph_mount_info*, int) { return --files, answer("close"); },
            .unmount = [this](ceph_mount_info*) { return --mounts, answer("unmount"); },
            .release = [this](ceph_mount_info*) { return --clients, answer("release"); }};
  }
};

}  // namespace windrow::test
