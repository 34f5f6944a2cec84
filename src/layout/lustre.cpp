// SPDX-License-Identifier: BSD-3-Clause
// Constants are from lustre/include/uapi/linux/lustre/lustre_user.h.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>
#include <vector>

#include "base/units.hpp"
#include "layout/parse.hpp"

namespace windrow {
namespace {

constexpr uint32_t k_magic_v1 = 0x0BD10BD0, k_magic_v3 = 0x0BD30BD0, k_magic_specific = 0x0BD50BD0,
                   k_magic_composite = 0x0BD60BD0, k_magic_foreign = 0x0BD70BD0;
constexpr uint32_t k_raid0 = 0x001, k_parity = 0x004, k_mdt = 0x100, k_overstriping = 0x200, k_foreign = 0x400,
                   k_compressed = 0x800;
constexpr uint32_t k_pattern_mask = 0xffff, k_released = 0x80000000, k_as_default = 0xffffffff;
constexpr uint32_t k_stale = 0x01, k_offline = 0x08, k_instantiated = 0x10, k_extension = 0x40,
                   k_parity_component = 0x80;
constexpr size_t k_header_v1 = 32, k_header_v3 = 48, k_object = 24, k_object_target = 20;
constexpr size_t k_header_composite = 32, k_entry = 48;
constexpr int64_t k_stripe_granule = int64_t{64} << 10;
constexpr int64_t k_open_stripe = int64_t{4} << 20;  // see parse_lustre()
constexpr uint32_t k_most_known_count = 0xffdf;      // larger values: all targets, or a multiple of all

template <class... Values>
Status fault(fmt::format_string<Values...> text, Values&&... values) {
  return {Code::bad_file, "layout of lustre: " + fmt::format(text, std::forward<Values>(values)...)};
}

// Reads numbers from a range of bytes in the byte order that its magic number shows. The caller has checked the size.
class Blob {
 public:
  explicit Blob(std::span<const std::byte> bytes) : bytes_(bytes) {
    if (bytes.size() < sizeof(uint32_t))
      return;
    uint32_t magic = number<uint32_t>(0);
    swapped_ = (magic & 0xffff) != 0x0BD0;
  }
  Blob part(size_t offset, size_t size) const { return {bytes_.subspan(offset, size), swapped_}; }
  size_t size() const noexcept { return bytes_.size(); }
  uint16_t u16(size_t at) const noexcept { return number<uint16_t>(at); }
  uint32_t u32(size_t at) const noexcept { return number<uint32_t>(at); }
  uint64_t u64(size_t at) const noexcept { return number<uint64_t>(at); }

 private:
  Blob(std::span<const std::byte> bytes, bool swapped) : bytes_(bytes), swapped_(swapped) {}
  template <class Number>
  Number number(size_t at) const noexcept {
    std::array<std::byte, sizeof(Number)> raw;
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(at), raw.size(), raw.begin());
    if (swapped_)
      std::reverse(raw.begin(), raw.end());
    Number value;
    std::memcpy(&value, raw.data(), sizeof value);
    return value;
  }

  std::span<const std::byte> bytes_;
  bool swapped_ = false;
};

struct Stripes {
  uint32_t pattern = 0;
  int64_t bytes = 0;
  uint32_t count = 0;
  size_t header = 0;
};

Status check_pattern(uint32_t pattern) {
  const uint32_t kind = pattern & k_pattern_mask;
  if ((kind & k_foreign) != 0)
    return {Code::unsupported, "layout of lustre: the file's data lies in another storage (foreign)"};
  const uint32_t unknown = kind & ~(k_raid0 | k_parity | k_mdt | k_overstriping | k_compressed);
  if (unknown != 0 && pattern != k_as_default)
    return fault("its pattern {:#x} is not known", pattern);
  return {};
}

// Targets of stripes with allocated objects.
void take_targets(const Blob& blob, const Stripes& stripes, LayoutComponent& component) {
  std::set<int64_t> seen;
  for (uint32_t i = 0; i < stripes.count; ++i) {
    const uint32_t target = blob.u32(stripes.header + i * k_object + k_object_target);
    component.targets.push_back(target == UINT32_MAX ? k_no_target : static_cast<int64_t>(target));
    if (target != UINT32_MAX && !seen.insert(target).second)
      component.overstriped = true;
  }
}

// The header of one lov_user_md_v1 or _v3.
Result<Stripes> read_header(const Blob& blob) {
  if (blob.size() < k_header_v1)
    return fault("truncated: {}, but stripes need at least {}", counted(blob.size(), "byte"), k_header_v1);
  const uint32_t magic = blob.u32(0);
  if (magic != k_magic_v1 && magic != k_magic_v3 && magic != k_magic_specific)
    return fault("unknown magic number {:#x}", magic);
  const Stripes stripes{.pattern = blob.u32(4),
                        .bytes = blob.u32(24),
                        .count = blob.u16(28),
                        .header = magic == k_magic_v1 ? k_header_v1 : k_header_v3};
  if (blob.size() < stripes.header)
    return fault("truncated: {}, but its header has {}", counted(blob.size(), "byte"), stripes.header);
  if (Status status = check_pattern(stripes.pattern); !status.ok())
    return status;
  return stripes;
}

Status take_objects(const Blob& blob, const Stripes& stripes, LayoutComponent& component) {
  if (stripes.count == 0)
    return fault("it has objects but no stripes");
  if ((blob.size() - stripes.header) / k_object < stripes.count)
    return fault("truncated: {}, but {} need {}", counted(blob.size(), "byte"), counted(stripes.count, "stripe"),
                 stripes.header + stripes.count * k_object);
  component.stripe_count = stripes.count;
  take_targets(blob, stripes, component);
  return {};
}

// One lov_user_md_v1 or _v3. `instantiated`: it has objects, unless it ends after its header.
Result<LayoutComponent> read_stripes(const Blob& blob, bool instantiated) {
  const Result<Stripes> header = read_header(blob);
  if (!header.ok())
    return header.status();
  const Stripes& stripes = header.value();
  const uint32_t flags = stripes.pattern == k_as_default ? 0 : stripes.pattern;
  LayoutComponent component;
  component.on_metadata_server = (flags & k_mdt) != 0;
  component.overstriped = (flags & k_overstriping) != 0;
  const bool is_released = (stripes.pattern & k_released) != 0;
  const bool has_objects =
      instantiated && !component.on_metadata_server && !is_released && blob.size() > stripes.header;
  if (stripes.bytes == 0 && has_objects)
    return fault("its stripes have 0 bytes");
  component.stripe_bytes = stripes.bytes == 0 ? k_open_stripe : stripes.bytes;
  if (component.stripe_bytes % k_stripe_granule != 0)
    return fault("its stripes have {} bytes, which is not a multiple of 64 KiB", stripes.bytes);
  if (component.on_metadata_server)
    component.stripe_count = 1;
  else if (!has_objects)
    component.stripe_count = stripes.count > k_most_known_count ? 0 : stripes.count;
  else if (Status status = take_objects(blob, stripes, component); !status.ok())
    return status;
  return component;
}

struct Mirror {
  std::vector<LayoutComponent> components;
  bool usable = true;
};

struct Entry {
  uint32_t mirror, flags;
  uint64_t begin, end;
  size_t offset, size;
};

Result<Entry> read_entry(const Blob& blob, size_t number, size_t count) {
  const size_t at = k_header_composite + number * k_entry;
  Entry entry{.mirror = blob.u32(at) >> 16 & 0x7fff,
              .flags = blob.u32(at + 4),
              .begin = blob.u64(at + 8),
              .end = blob.u64(at + 16),
              .offset = blob.u32(at + 24),
              .size = blob.u32(at + 28)};
  const size_t least = k_header_composite + count * k_entry;
  if (entry.offset < least || entry.offset > blob.size() || entry.size > blob.size() - entry.offset)
    return fault("component {} has {} bytes at {}, outside {} to {}", number + 1, entry.size, entry.offset, least,
                 blob.size());
  if (entry.begin > static_cast<uint64_t>(INT64_MAX))
    return fault("component {} begins at {}, beyond the maximum size of a file", number + 1, entry.begin);
  entry.end = std::min(entry.end, static_cast<uint64_t>(k_no_end));
  return entry;
}

// An extension component reserves the range into which the previous component grows while its targets have room. After
// that, another component follows.
Status extend(Mirror& mirror, Extent bytes, size_t number) {
  if (mirror.components.empty() || mirror.components.back().bytes.end != bytes.begin)
    return fault("component {} is an extension, but no component ends where it begins", number + 1);
  mirror.components.back().bytes.end = std::max(bytes.begin, bytes.end);
  return {};
}

Status add_entry(const Blob& blob, const Entry& entry, size_t number, std::map<uint32_t, Mirror>& mirrors) {
  Mirror& mirror = mirrors[entry.mirror];
  if ((entry.flags & (k_stale | k_offline | k_parity_component)) != 0)
    mirror.usable = false;
  const Extent bytes{static_cast<int64_t>(entry.begin), static_cast<int64_t>(entry.end)};
  if ((entry.flags & k_extension) != 0)
    return extend(mirror, bytes, number);
  const Blob part = blob.part(entry.offset, entry.size);
  if (part.size() >= sizeof(uint32_t) && part.u32(0) == k_magic_foreign) {  // on other storage
    mirror.usable = false;
    return {};
  }
  auto component = read_stripes(part, (entry.flags & k_instantiated) != 0);
  if (!component.ok() && component.status().code() == Code::unsupported) {
    mirror.usable = false;
    return {};
  }
  if (!component.ok())
    return component.status();
  component.value().bytes = bytes;
  mirror.components.push_back(std::move(component).value());
  return {};
}

Result<StorageLayout> parse_composite(const Blob& whole) {
  if (whole.size() < k_header_composite)
    return fault("truncated: {}, but its header has {}", counted(whole.size(), "byte"), k_header_composite);
  const size_t size = whole.u32(4), count = whole.u16(14);
  if (size > whole.size())
    return fault("truncated: {} of {}", counted(whole.size(), "byte"), size);
  if (count == 0)
    return fault("it has no component");
  if (size < k_header_composite || (size - k_header_composite) / k_entry < count)
    return fault("{} do not fit into {} bytes", counted(count, "component"), size);
  const Blob blob = whole.part(0, size);
  std::map<uint32_t, Mirror> mirrors;
  for (size_t i = 0; i < count; ++i) {
    const auto entry = read_entry(blob, i, count);
    if (!entry.ok())
      return entry.status();
    if (Status status = add_entry(blob, entry.value(), i, mirrors); !status.ok())
      return status;
  }
  const auto found = std::find_if(mirrors.begin(), mirrors.end(), [](const auto& each) { return each.second.usable; });
  if (found == mirrors.end())
    return fault("none of its {} mirrors can be used: all are stale, offline, parity or in another storage",
                 mirrors.size());
  StorageLayout layout{.kind = LayoutKind::lustre, .components = std::move(found->second.components)};
  if (Status status = check_layout(layout); !status.ok())
    return status;
  return layout;
}

}  // namespace

Result<StorageLayout> parse_lustre(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(uint32_t))
    return fault("truncated: {}", counted(bytes.size(), "byte"));
  const Blob blob(bytes);
  if (blob.u32(0) == k_magic_foreign)
    return Status{Code::unsupported, "layout of lustre: the file's data lies in another storage (foreign)"};
  if (blob.u32(0) == k_magic_composite)
    return parse_composite(blob);
  auto component = read_stripes(blob, true);
  if (!component.ok())
    return component.status();
  StorageLayout layout{.kind = LayoutKind::lustre, .components = {std::move(component).value()}};
  if (Status status = check_layout(layout); !status.ok())
    return status;
  return layout;
}

}  // namespace windrow
