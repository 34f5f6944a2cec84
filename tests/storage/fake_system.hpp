// SPDX-License-Identifier: BSD-3-Clause
// Simulates the system calls that query layouts.
#pragma once

#include <fcntl.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "storage/ceph_library.hpp"
#include "storage/layout_probe.hpp"

namespace windrow::test {

inline constexpr unsigned long k_lustre_setstripe = _IOW('f', 154, long), k_lustre_getstripe = _IOW('f', 155, long);
inline constexpr uint32_t k_ext4 = 0xef53, k_lustre = 0x0bd00bd0, k_beegfs = 0x19830326, k_cephfs = 0x00c36400,
                          k_fuse = 0x65735546;

// A file system with these answers. Other requests fail as in a kernel.
struct FakeSystem {
  uint32_t type = k_ext4;
  int64_t block = 4096;
  std::map<std::string, std::vector<std::byte>> attributes;   // "PATH NAME"
  int missing = ENODATA;                                      // the error for other attributes
  std::map<unsigned long, std::function<int(void*)>> ioctls;  // negative: an error
  std::vector<std::string> set;                               // "NAME=VALUE"
  std::vector<int> flags;                                     // of opens
  std::string mounts;                                         // as in /proc/self/mountinfo
  const CephLibrary* ceph = nullptr;

  SystemCalls calls() {
    return {.statfs =
                [this](const char*, struct statfs* about) {
                  about->f_type = static_cast<decltype(about->f_type)>(type);
                  about->f_bsize = block;
                  return 0;
                },
            .getxattr = [this](const char* path, const char* name, void* value, size_t size) -> ssize_t {
              const auto found = attributes.find(std::string(path) + " " + name);
              if (found == attributes.end())
                return errno = missing, -1;
              if (size == 0)
                return static_cast<ssize_t>(found->second.size());
              if (size < found->second.size())
                return errno = ERANGE, -1;
              std::memcpy(value, found->second.data(), found->second.size());
              return static_cast<ssize_t>(found->second.size());
            },
            .setxattr =
                [this](const char*, const char* name, const void* value, size_t size) {
                  set.push_back(std::string(name) + "=" + std::string(static_cast<const char*>(value), size));
                  return 0;
                },
            .open =
                [this](const char* path, int how, mode_t mode) {
                  flags.push_back(how);
                  return ::open(path, how, mode);
                },
            .ioctl =
                [this](int, unsigned long request, void* argument) {
                  const auto found = ioctls.find(request);
                  const int result = found == ioctls.end() ? -ENOTTY : found->second(argument);
                  if (result < 0)
                    errno = -result;
                  return result < 0 ? -1 : 0;
                },
            .mounts = [this] { return mounts; },
            .ceph = [this]() -> Result<const CephLibrary*> {
              if (ceph == nullptr)
                return Status{Code::unsupported, "there is none here"};
              return ceph;
            }};
  }
};

inline std::vector<std::byte> bytes_of(const std::string& text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

}  // namespace windrow::test
