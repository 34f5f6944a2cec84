// SPDX-License-Identifier: BSD-3-Clause
// HDF5 marks files with a superblock of version 3 as open for writing, and refuses marked files: that of a killed job
// would need h5clear. Here a file is consistent at all times (driver.cpp), like files with older superblocks, which
// have no mark.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace windrow {

// Whether the bytes begin with a superblock of version 3 (HDF5 File Format Specification 3.0, II.A).
bool has_write_mark(std::span<const std::byte> bytes) noexcept;

// Clears the mark in such a superblock, and updates its checksum. A superblock with a wrong checksum stays as it is.
void clear_write_mark(std::span<std::byte> bytes) noexcept;

// The checksum of HDF5's metadata: Bob Jenkins, lookup3, hashlittle() with 0 (2006).
uint32_t checksum_of_metadata(std::span<const std::byte> bytes) noexcept;

}  // namespace windrow
