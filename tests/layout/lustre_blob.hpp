// SPDX-License-Identifier: BSD-3-Clause
// Lustre's attribute, written field by field as in lustre_user.h, to test the parser.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace windrow::test {

class LustreBlob {
 public:
  explicit LustreBlob(bool swapped = false) : swapped_(swapped) {}
  LustreBlob& u16(uint64_t value) { return number(value, 2); }
  LustreBlob& u32(uint64_t value) { return number(value, 4); }
  LustreBlob& u64(uint64_t value) { return number(value, 8); }
  LustreBlob& text(const std::string& value, size_t size) {
    for (size_t i = 0; i < size; ++i)
      bytes_.push_back(i < value.size() ? static_cast<std::byte>(value[i]) : std::byte{0});
    return *this;
  }
  LustreBlob& append(const std::vector<std::byte>& more) {
    bytes_.insert(bytes_.end(), more.begin(), more.end());
    return *this;
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  LustreBlob& number(uint64_t value, int size) {
    for (int i = 0; i < size; ++i)
      bytes_.push_back(static_cast<std::byte>(value >> 8 * (swapped_ ? size - 1 - i : i)));
    return *this;
  }
  bool swapped_;
  std::vector<std::byte> bytes_;
};

struct LustreStripes {
  uint32_t pattern = 1;
  uint32_t stripe_bytes = 1 << 20;
  uint32_t count = 0;
  std::vector<uint32_t> targets;
  bool with_pool = false;  // version 3
  bool swapped = false;

  std::vector<std::byte> bytes() const {
    LustreBlob blob(swapped);
    blob.u32(with_pool ? 0x0BD30BD0 : 0x0BD10BD0)
        .u32(pattern)
        .u64(0x1234)
        .u64(0x200000401)
        .u32(stripe_bytes)
        .u16(count)
        .u16(7);
    if (with_pool)
      blob.text("flash", 16);
    for (const uint32_t target : targets)
      blob.u64(0xabc).u64(0x100000000).u32(0).u32(target);
    return blob.bytes();
  }
};

struct LustreComponent {
  uint64_t begin, end;
  uint32_t flags;  // 0x10: it has objects
  std::vector<std::byte> stripes;
  uint32_t mirror = 0;
};

inline std::vector<std::byte> composite(const std::vector<LustreComponent>& components, bool swapped = false,
                                        int size_error = 0) {
  size_t offset = 32 + 48 * components.size(), size = offset;
  for (const LustreComponent& each : components)
    size += each.stripes.size();
  LustreBlob blob(swapped);
  blob.u32(0x0BD60BD0)
      .u32(size + static_cast<size_t>(size_error))
      .u32(3)
      .u16(0)
      .u16(components.size())
      .u16(0)
      .u16(0)
      .u16(0)
      .u16(0)
      .u64(0);
  uint32_t number = 1;
  for (const LustreComponent& each : components) {
    blob.u32(each.mirror << 16 | number++)
        .u32(each.flags)
        .u64(each.begin)
        .u64(each.end)
        .u32(offset)
        .u32(each.stripes.size());
    blob.u32(0).u64(0).u32(0);
    offset += each.stripes.size();
  }
  for (const LustreComponent& each : components)
    blob.append(each.stripes);
  return blob.bytes();
}

}  // namespace windrow::test
