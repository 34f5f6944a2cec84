// SPDX-License-Identifier: BSD-3-Clause
#include "storage/layout_probe.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "layout/parse.hpp"
#include "storage/ceph_library.hpp"
#include "storage/descriptor.hpp"
#include "storage/mounts.hpp"
#include "storage/system_error.hpp"

namespace windrow {
namespace {

constexpr size_t k_most_bytes = size_t{64} << 10;  // of an attribute: the kernel's XATTR_SIZE_MAX

// From lustre_user.h. O_LOV_DELAY_CREATE: creates no objects; its first bit is that of old clients. Other file systems
// ignore both bits.
constexpr unsigned long k_lustre_setstripe = _IOW('f', 154, long), k_lustre_getstripe = _IOW('f', 155, long);
constexpr int k_delay_create = 0100000000 | O_NOCTTY | O_ASYNC;
constexpr const char* k_lustre_attribute = "lustre.lov";

// from beegfs_client.h
struct BeegfsStripes {
  uint32_t pattern, chunk;
  uint16_t targets;
};
struct BeegfsTarget {
  uint16_t index, target, node;
  std::array<char, 256> node_name;
};
struct BeegfsTargetOrGroup {
  uint32_t index, target_or_group, primary, secondary, primary_node, secondary_node;
  std::array<char, 256> primary_name, secondary_name;
};
constexpr unsigned long k_beegfs_stripes = _IOR('f', 25, BeegfsStripes), k_beegfs_target = _IOR('f', 26, BeegfsTarget),
                        k_beegfs_target_or_group = _IOR('f', 26, BeegfsTargetOrGroup);
static_assert(sizeof(BeegfsStripes) == 12 && sizeof(BeegfsTarget) == 262 && sizeof(BeegfsTargetOrGroup) == 536);

struct Attribute {
  std::vector<std::byte> value;
  int error = 0;
};

Attribute attribute_of(const std::string& path, const char* name, const SystemCalls& calls) {
  Attribute attribute{.value = std::vector<std::byte>(k_most_bytes)};
  const ssize_t size = calls.getxattr(path.c_str(), name, attribute.value.data(), attribute.value.size());
  if (size < 0)
    attribute.error = errno;
  attribute.value.resize(size < 0 ? 0 : std::min(static_cast<size_t>(size), k_most_bytes));
  return attribute;
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, std::max<size_t>(slash, 1));
}

Result<StorageLayout> ask_lustre_by_ioctl(const std::string& path, const SystemCalls& calls) {
  const Descriptor file(calls.open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0));
  if (file.get() < 0)
    return system_status("open of", path, errno);
  std::vector<std::byte> value(k_most_bytes);  // the call has no length argument: no layout is larger
  // Lustre reads the magic number of the buffer, and old versions return at most the requested number of stripes
  // (struct lov_user_md_v3; LOV_MAX_STRIPE_COUNT).
  constexpr uint32_t k_magic_v3 = 0x0BD30BD0;
  constexpr uint16_t k_most_stripes = 2000;
  std::memcpy(value.data(), &k_magic_v3, sizeof k_magic_v3);
  std::memcpy(value.data() + 28, &k_most_stripes, sizeof k_most_stripes);
  if (calls.ioctl(file.get(), k_lustre_getstripe, value.data()) < 0)
    return system_status("stripes of", path, errno);
  return parse_lustre(value);
}

// A file without objects has no layout yet: it will get that of its folder.
Result<StorageLayout> ask_lustre(const std::string& path, const SystemCalls& calls) {
  Attribute attribute = attribute_of(path, k_lustre_attribute, calls);
  if (attribute.error == ENODATA)
    attribute = attribute_of(folder_of(path), k_lustre_attribute, calls);
  if (attribute.error == 0)
    return parse_lustre(attribute.value);
  const Status refused = system_status("attribute lustre.lov of", path, attribute.error);
  if (attribute.error != EOPNOTSUPP)
    return refused;
  auto layout = ask_lustre_by_ioctl(path, calls);
  if (layout.ok() || layout.status().code() == Code::bad_file)
    return layout;
  return Status{refused.code(), refused.message() + "; " + layout.status().message()};
}

Result<StorageLayout> ask_cephfs(const std::string& path, const SystemCalls& calls) {
  Attribute attribute = attribute_of(path, "ceph.file.layout", calls);
  if (attribute.error != 0)
    attribute = attribute_of(path, "ceph.dir.layout", calls);
  if (attribute.error != 0)
    return system_status("attribute ceph.file.layout of", path, attribute.error);
  return parse_cephfs({reinterpret_cast<const char*>(attribute.value.data()), attribute.value.size()});
}

// The target of one stripe; nullopt: unknown.
std::optional<int64_t> beegfs_target(int descriptor, uint16_t index, const SystemCalls& calls) {
  BeegfsTargetOrGroup newer{};
  newer.index = index;
  if (calls.ioctl(descriptor, k_beegfs_target_or_group, &newer) == 0)
    return newer.target_or_group;
  BeegfsTarget older{};
  older.index = index;
  if (calls.ioctl(descriptor, k_beegfs_target, &older) == 0)
    return older.target;
  return std::nullopt;
}

Result<StorageLayout> ask_beegfs(const std::string& path, const SystemCalls& calls) {
  const Descriptor file(calls.open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0));
  if (file.get() < 0)
    return system_status("open of", path, errno);
  BeegfsStripes stripes{};
  if (calls.ioctl(file.get(), k_beegfs_stripes, &stripes) < 0)
    return system_status("stripes of", path, errno);
  std::vector<int64_t> targets;
  for (uint16_t i = 0; i < stripes.targets; ++i) {
    const auto target = beegfs_target(file.get(), i, calls);
    if (!target)
      break;
    targets.push_back(*target);
  }
  return parse_beegfs(std::as_bytes(std::span(&stripes, 1)), targets);
}

StorageLayout blocks_of(int64_t bytes) {
  constexpr int64_t k_least = 512, k_most = int64_t{64} << 20, k_page = 4096;
  LayoutComponent component{
      .stripe_bytes = bytes < k_least || bytes > k_most ? k_page : bytes, .stripe_count = 1, .targets = {}};
  return {.kind = LayoutKind::blocks, .components = {std::move(component)}};
}

using Query = Result<StorageLayout> (*)(const std::string&, const SystemCalls&);

Query query_of(FileSystem kind) noexcept {
  switch (kind) {
    case FileSystem::lustre:
      return ask_lustre;
    case FileSystem::cephfs:
      return ask_cephfs;
    case FileSystem::beegfs:
      return ask_beegfs;
    case FileSystem::unknown:
    case FileSystem::local:
    case FileSystem::nfs:
    case FileSystem::gpfs:
      break;
  }
  return nullptr;
}

void ask(const std::string& path, ProbedLayout& probed, const SystemCalls& calls) {
  if (probed.file_system == FileSystem::unknown) {
    for (const FileSystem kind : {FileSystem::cephfs, FileSystem::lustre}) {
      auto layout = query_of(kind)(path, calls);
      if (!layout.ok())
        continue;
      probed.layout = std::move(layout).value();
      probed.file_system = kind;
      return;
    }
    probed.reason = "this file system is not known to report stripes";
    return;
  }
  const Query query = query_of(probed.file_system);
  if (query == nullptr)
    return;
  auto layout = query(path, calls);
  if (layout.ok())
    probed.layout = std::move(layout).value();
  else
    probed.reason = layout.status().message();
}

// Values that the storage rejects are an error of the caller.
Status not_set(const std::string& path, int error) {
  Status status = system_status("stripes of", path, error);
  if (error != EINVAL && error != ERANGE)
    return status;
  return {Code::bad_argument, status.message()};
}

Status make_lustre_file(const std::string& path, const std::string& beside, const std::vector<std::byte>& request,
                        const SystemCalls& calls) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0)
    return system_status("stripes of", path, errno);
  const Descriptor file(
      calls.open(beside.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | k_delay_create, about.st_mode & 0777));
  if (file.get() < 0)
    return system_status("stripes of", path, errno);
  std::vector<std::byte> argument = request;
  bool done = calls.ioctl(file.get(), k_lustre_setstripe, argument.data()) == 0;
  // FUSE does not pass on the ioctl; the attribute has the same effect.
  if (!done && (errno == ENOTTY || errno == EOPNOTSUPP))
    done = calls.setxattr(beside.c_str(), k_lustre_attribute, request.data(), request.size()) == 0;
  if (!done)
    return not_set(path, errno);
  if (::fchmod(file.get(), about.st_mode & 07777) != 0)
    return system_status("stripes of", path, errno);
  return ::rename(beside.c_str(), path.c_str()) == 0 ? Status() : system_status("stripes of", path, errno);
}

Status set_on_lustre(const std::string& path, const StripeNumbers& numbers, const SystemCalls& calls) {
  const std::string beside = path + ".stripes";
  Status status = make_lustre_file(path, beside, lustre_request(numbers), calls);
  if (!status.ok())
    ::unlink(beside.c_str());
  return status;
}

Status set_on_cephfs(const std::string& path, const StripeNumbers& numbers, const StorageLayout& now,
                     const SystemCalls& calls) {
  if (numbers.first >= 0 || numbers.count == k_all_targets)
    return {Code::unsupported,
            "cephfs places stripes itself: neither a first target nor a stripe on every target can be set"};
  const std::string request = cephfs_request(numbers, now);
  if (calls.setxattr(path.c_str(), "ceph.file.layout", request.data(), request.size()) != 0)
    return not_set(path, errno);
  return {};
}

}  // namespace

const SystemCalls& system_calls() {
  static const SystemCalls calls{
      .statfs = [](const char* path, struct statfs* about) { return ::statfs(path, about); },
      .getxattr = [](const char* path, const char* name, void* value,
                     size_t size) { return ::getxattr(path, name, value, size); },
      .setxattr = [](const char* path, const char* name, const void* value,
                     size_t size) { return ::setxattr(path, name, value, size, 0); },
      .open = [](const char* path, int flags, mode_t mode) { return ::open(path, flags, mode); },
      .ioctl = [](int descriptor, unsigned long request,
                  void* argument) { return ::ioctl(descriptor, request, argument); },
      .mounts = mounts_of_process,
      .ceph = load_ceph_library};
  return calls;
}

ProbedLayout probe_layout(const std::string& path, FileSystem given, const SystemCalls& calls) {
  ProbedLayout probed{.layout = {}, .file_system = given, .reason = {}};
  struct statfs about {};
  const bool answered = calls.statfs(path.c_str(), &about) == 0;
  if (answered && given == FileSystem::unknown)
    probed.file_system = file_system_of_type(static_cast<uint64_t>(about.f_type));
  ask(path, probed, calls);
  if (probed.layout.known())
    return probed;
  probed.layout = blocks_of(answered ? static_cast<int64_t>(about.f_bsize) : 0);
  return probed;
}

bool folder_has_layout(const std::string& folder, FileSystem kind, const SystemCalls& calls) {
  std::array<std::byte, 1> none;
  const char* name = kind == FileSystem::lustre   ? k_lustre_attribute
                     : kind == FileSystem::cephfs ? "ceph.dir.layout"
                                                  : nullptr;
  if (name == nullptr)
    return false;
  return calls.getxattr(folder.c_str(), name, none.data(), 0) > 0;  // a zero-length buffer returns the size
}

Status set_stripes(const std::string& path, const StripeNumbers& numbers, const ProbedLayout& now,
                   const SystemCalls& calls) {
  return guard([&]() -> Status {
    switch (now.file_system) {
      case FileSystem::lustre:
        return set_on_lustre(path, numbers, calls);
      case FileSystem::cephfs:
        return set_on_cephfs(path, numbers, now.layout, calls);
      case FileSystem::unknown:
      case FileSystem::local:
      case FileSystem::nfs:
      case FileSystem::beegfs:
      case FileSystem::gpfs:
        break;
    }
    return {Code::unsupported,
            fmt::format("stripes cannot be set on {}",
                        now.file_system == FileSystem::unknown ? "this file system" : name_of(now.file_system))};
  });
}

}  // namespace windrow
