// SPDX-License-Identifier: BSD-3-Clause
#include "comm/share_text.hpp"

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "comm/agree.hpp"

namespace windrow {

Status share_text_from_root(const Comm& comm, Status local, std::string& text) {
  std::vector<std::byte> bytes;
  local.update(guard([&] {
    if (comm.rank() == 0) {
      const auto characters = std::as_bytes(std::span(text));
      bytes.assign(characters.begin(), characters.end());
    }
    return Status{};
  }));
  if (Status status = share_from_root(comm, std::move(local), bytes); !status.ok())
    return status;
  return guard([&] {
    text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return Status{};
  });
}

}  // namespace windrow
