// SPDX-License-Identifier: BSD-3-Clause
// The driver through which HDF5 reaches a file: the bytes of a store, and what went wrong with them. HDF5 itself is never
// told of a write that failed: it would leave the file half closed (see driver.cpp).
#pragma once

#include <hdf5.h>

#include <memory>

#include "base/status.hpp"

namespace windrow {

// Makes a list of file access settings use the driver.
herr_t set_driver(hid_t access);

// The first thing that the storage refused to an open file; outlives the file. After it nothing more is written. To be looked at
// after every call that may write, H5Fclose included. Null: the file has another driver.
std::shared_ptr<const Status> driver_failure(hid_t file);

}  // namespace windrow
