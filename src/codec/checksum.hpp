// SPDX-License-Identifier: BSD-3-Clause
// XXH32 with seed 0. Source: xxHash fast digest algorithm, version 0.1.1 of its specification.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace windrow {

uint32_t xxh32(std::span<const std::byte> bytes) noexcept;

}  // namespace windrow
