// SPDX-License-Identifier: BSD-3-Clause
// HDF5 marks files with a superblock of version 3 as open for writing, and opens none that is marked: that of a job
// that was killed needs h5clear. What lies in a file here is whole all the time (driver.cpp), as in files with older
// superblocks, which have no mark.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace windrow {

// Whether the bytes begin with a superblock of version 3 (HDF5 File Format Specification 3.0, II.A).
bool has_write_mark(std::span<const std::byte> bytes) noexcept;

// Of such a one, at its place in what is to be written: it is not open for writing, and its checksum says so. One whose
// checksum is wrong stays as it is.
void clear_write_mark(std::span<std::byte> bytes) noexcept;

// The checksum of HDF5's metadata: Bob Jenkins, lookup3, hashlittle() with 0 (2006).
uint32_t checksum_of_metadata(std::span<const std::byte> bytes) noexcept;

}  // namespace windrow
