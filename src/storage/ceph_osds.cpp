// SPDX-License-Identifier: BSD-3-Clause
#include "storage/ceph_osds.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <optional>
#include <system_error>

#include "base/checked.hpp"
#include "base/units.hpp"
#include "storage/ceph_library.hpp"
#include "storage/descriptor.hpp"
#include "storage/mounts.hpp"
#include "storage/system_error.hpp"

namespace windrow {
namespace {

// from fs/ceph/ioctl.h
struct DataLocation {
  uint64_t file_offset;  // input
  uint64_t object_offset, object_number, object_bytes;
  std::array<char, 64> object_name;
  uint64_t block_offset, block_bytes;
  int64_t osd;
  sockaddr_storage address;
};
constexpr unsigned long k_location = _IOWR(0x97, 3, DataLocation);
static_assert(sizeof(DataLocation) == 248);

// The OSD of an object; k_no_target: none at present.
using Answer = Result<int64_t>;

Answer osd_number(int64_t osd) {
  constexpr int64_t k_undefined = 0x7ffffffe,
                    k_none = 0x7fffffff;  // CRUSH_ITEM_UNDEF and _NONE: gaps of incomplete sets
  if (osd == k_undefined || osd == k_none)
    return k_no_target;
  if (osd > INT32_MAX)
    return Status{Code::bad_file, fmt::format("there is no OSD {}", osd)};
  return osd < 0 ? k_no_target : osd;
}

Status another_layout() {
  return {Code::bad_file, "its layout differs from the file's attribute"};
}

// Queries row by row, until all are known, a query fails, or the time is over. A failure of one query is taken to apply
// to all.
template <class Ask>
Osds ask_each(const LayoutComponent& component, const OsdQuestion& question, Ask&& ask) {
  using Clock = std::chrono::steady_clock;
  const auto latest =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(question.answer_s));
  const int64_t objects = objects_to_ask(component, question.bytes);
  Osds found;
  for (int64_t object = 0; object < objects; ++object) {
    if (object % component.stripe_count == 0 && Clock::now() >= latest) {
      found.why = fmt::format("only {} of {} had reported their OSDs after {} s", object, counted(objects, "object"),
                              question.answer_s);
      break;
    }
    const Answer osd = ask(object);
    if (!osd.ok())
      return {.targets = {}, .why = osd.status().message()};
    found.targets.push_back(osd.value());
  }
  if (std::all_of(found.targets.begin(), found.targets.end(), [](int64_t target) { return target == k_no_target; }))
    found.targets.clear();
  if (found.targets.empty() && found.why.empty())
    found.why = objects == 0 ? "a row has too many objects to query" : "no OSD has the objects";
  return found;
}

// nullopt: this client does not support the call.
std::optional<Osds> ask_kernel(const std::string& path, const LayoutComponent& component, const OsdQuestion& question,
                               const SystemCalls& calls) {
  const Descriptor file(calls.open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0));
  if (file.get() < 0)
    return Osds{.targets = {}, .why = system_status("open of", path, errno).message()};
  bool has_call = true;
  Osds found = ask_each(component, question, [&](int64_t object) -> Answer {
    DataLocation location{};
    location.file_offset = static_cast<uint64_t>(offset_of_object(component, object));
    if (calls.ioctl(file.get(), k_location, &location) < 0) {
      has_call = object > 0 || (errno != ENOTTY && errno != EINVAL && errno != EOPNOTSUPP && errno != ENOSYS);
      return system_status("OSDs of", path, errno);
    }
    if (location.object_number != static_cast<uint64_t>(object) || location.object_offset != 0 ||
        location.block_offset != 0 || location.object_bytes != static_cast<uint64_t>(component.object_bytes) ||
        location.block_bytes != static_cast<uint64_t>(component.stripe_bytes))
      return another_layout();
    return osd_number(location.osd);
  });
  if (!has_call)
    return std::nullopt;
  return found;
}

// A libcephfs client of our own. Its destructor ends everything that was started.
class Client {
 public:
  explicit Client(const CephLibrary& library) noexcept : library_(library) {}
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() {
    if (file_ >= 0)
      (void)library_.close(client_, file_);
    if (mounted_)
      (void)library_.unmount(client_);
    if (client_ != nullptr)
      (void)library_.release(client_);
  }

  Status start(const CephPlace& place, int64_t mount_s) {
    if (const int error = library_.create(&client_, place.user.empty() ? nullptr : place.user.c_str());
        error < 0 || client_ == nullptr)
      return fault("create", error);
    if (const int error = library_.settings(client_); error < 0)
      return fault("read the settings of Ceph", error);
    const std::string limit = std::to_string(mount_s);
    // The client must not print, log or create files.
    const std::array options{Option{"client_mount_timeout", limit}, Option{"log_to_stderr", "false"},
                             Option{"err_to_stderr", "false"}, Option{"log_file", ""}, Option{"admin_socket", ""}};
    for (const Option& each : options)
      if (const int error = set(each); error < 0)
        return fault(fmt::format("set {}", each.name), error);
    // The option had another name before Nautilus.
    if (!place.file_system.empty() && set({"client_fs", place.file_system}) < 0)
      if (const int error = set({"client_mds_namespace", place.file_system}); error < 0)
        return fault("choose the file system " + place.file_system, error);
    if (const int error = library_.mount(client_, place.root.c_str()); error < 0)
      return fault("mount", error);
    mounted_ = true;
    return {};
  }

  // Opens the file and checks that the path leads to the same file as on this host.
  Status open(const std::string& path, uint64_t inode, const LayoutComponent& component) {
    file_ = library_.open(client_, path.c_str(), O_RDONLY);
    if (file_ < 0)
      return fault(fmt::format("open \"{}\"", path), file_);
    CephFile about;
    if (const int error = library_.about(client_, file_, about); error < 0)
      return fault(fmt::format("look at \"{}\"", path), error);
    if (about.inode != inode)
      return {Code::bad_file,
              fmt::format(
                  "libcephfs finds another file for \"{}\": the mount has another root or file system than it shows",
                  path)};
    if (about.stripe_bytes != component.stripe_bytes || about.stripe_count != component.stripe_count ||
        about.object_bytes != component.object_bytes)
      return another_layout();
    return {};
  }

  Answer osd_at(int64_t offset) {
    constexpr size_t k_most_copies = 64;
    std::array<int, k_most_copies> osds;
    osds.fill(-1);
    const int count = library_.get_file_extent_osds(client_, file_, offset, osds);
    if (count == -EINVAL)
      return k_no_target;  // no OSD has it at present
    if (count < 0)
      return fault("find the OSD", count);
    for (const int osd : std::span(osds).first(std::min(osds.size(), static_cast<size_t>(count))))
      if (const Answer number = osd_number(osd); !number.ok() || number.value() != k_no_target)
        return number;
    return k_no_target;
  }

 private:
  struct Option {
    const char* name;
    std::string value;
  };
  int set(const Option& option) { return library_.conf_set(client_, option.name, option.value.c_str()); }
  static Status fault(std::string_view what, int error) {
    const bool known = error < 0 && error > -1000;  // libcephfs has error numbers of its own from 1000 on
    return {Code::io, fmt::format("cannot {}: {}", what,
                                  known ? std::generic_category().message(-error) : fmt::format("error {}", error))};
  }

  const CephLibrary& library_;
  ceph_mount_info* client_ = nullptr;
  bool mounted_ = false;
  int file_ = -1;
};

Osds ask_library(const std::string& path, const LayoutComponent& component, const OsdQuestion& question,
                 const SystemCalls& calls) {
  const auto without = [](const Status& status) {
    return Osds{.targets = {}, .why = "libcephfs: " + status.message()};
  };
  const auto library = calls.ceph();
  if (!library.ok())
    return without(library.status());
  std::error_code error;
  const std::string real = std::filesystem::canonical(path, error).string();
  struct stat about {};
  if (error || ::stat(real.c_str(), &about) != 0)
    return without(system_status("path of", path, error ? error.value() : errno));
  const std::vector<Mount> mounts = parse_mounts(calls.mounts());
  const auto place = place_in_cephfs(mounts, real);
  if (!place.ok())
    return without(place.status());
  Client client(*library.value());
  if (Status status = client.start(place.value(), question.mount_s); !status.ok())
    return without(status);
  if (Status status = client.open(place.value().path, about.st_ino, component); !status.ok())
    return without(status);
  Osds found =
      ask_each(component, question, [&](int64_t object) { return client.osd_at(offset_of_object(component, object)); });
  if (!found.why.empty())
    found.why = "libcephfs: " + found.why;
  return found;
}

}  // namespace

int64_t objects_to_ask(const LayoutComponent& component, int64_t bytes) noexcept {
  constexpr int64_t k_most_objects = 4096, k_most_stripes_told = 16384, k_unknown = int64_t{1} << 30;
  if (component.object_bytes < 1 || component.stripe_count < 1)
    return 0;
  // Stripes that alternate between objects are listed one by one in a plan; with one object at a time, the object is
  // one entry.
  const int64_t stripes = component.stripe_count == 1 ? 1 : component.object_bytes / component.stripe_bytes;
  const int64_t most = std::min(k_most_objects, k_most_stripes_told / stripes) / component.stripe_count;
  const auto row = checked_multiply(component.object_bytes, component.stripe_count);
  const int64_t wanted = row ? ceil_divide(bytes > 0 ? bytes : k_unknown, *row) : 1;
  return std::min(most, wanted) * component.stripe_count;
}

Osds ask_osds(const std::string& path, const LayoutComponent& component, const OsdQuestion& question,
              const SystemCalls& calls) {
  if (question.by == OsdsBy::nobody)
    return {};
  if (auto found = ask_kernel(path, component, question, calls))
    return std::move(*found);
  if (question.by == OsdsBy::library)
    return ask_library(path, component, question, calls);
  return {.targets = {}, .why = "this CephFS client does not report OSDs; use ceph_osds=libcephfs"};
}

}  // namespace windrow
