// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cstring>

#include "base/units.hpp"

#include "layout/parse.hpp"

namespace windrow {

Result<StorageLayout> parse_beegfs(std::span<const std::byte> bytes, std::span<const int64_t> targets) {
  constexpr size_t k_size = 10;  // two numbers of 32 bits and one of 16, in the byte order of this host
  constexpr uint32_t k_raid0 = 1, k_buddy_mirror = 3, k_granule = uint32_t{64} << 10;
  const auto fault = [](std::string what) { return Status(Code::bad_file, "layout of beegfs: " + std::move(what)); };
  if (bytes.size() < k_size)
    return fault(fmt::format("truncated: {} of {}", counted(bytes.size(), "byte"), k_size));
  uint32_t pattern = 0, chunk = 0;
  uint16_t count = 0;
  std::memcpy(&pattern, bytes.data(), sizeof pattern);
  std::memcpy(&chunk, bytes.data() + 4, sizeof chunk);
  std::memcpy(&count, bytes.data() + 8, sizeof count);
  if (pattern < k_raid0 || pattern > k_buddy_mirror)
    return fault(fmt::format("its pattern {} is not known", pattern));
  if (chunk < k_granule || (chunk & (chunk - 1)) != 0)
    return fault(
        fmt::format("its chunks have {}, which is not a power of two of at least 64 KiB", counted(chunk, "byte")));
  if (count == 0)
    return fault("it has no targets");
  LayoutComponent component{.stripe_bytes = chunk, .stripe_count = count, .targets = {}};
  if (targets.size() == count)
    component.targets.assign(targets.begin(), targets.end());
  StorageLayout layout{.kind = LayoutKind::beegfs, .components = {std::move(component)}};
  if (Status status = check_layout(layout); !status.ok())
    return status;
  return layout;
}

}  // namespace windrow
