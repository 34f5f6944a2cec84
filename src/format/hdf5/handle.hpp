// SPDX-License-Identifier: BSD-3-Clause
// Owners of HDF5 identifiers, and conversion of HDF5's errors to statuses.
#pragma once

#include <hdf5.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.hpp"

namespace windrow {

// Owns one identifier; closes it once.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle() noexcept = default;
  Handle(hid_t id, Close close) noexcept : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle() {
    if (valid())
      close_(id_);
  }
  hid_t get() const noexcept { return id_; }
  bool valid() const noexcept { return id_ >= 0; }
  hid_t release() noexcept { return std::exchange(id_, H5I_INVALID_HID); }

 private:
  hid_t id_ = H5I_INVALID_HID;
  Close close_ = nullptr;
};

// While one exists, HDF5 prints nothing; afterwards the application's error handler is restored. Used around every call
// of HDF5.
class Quiet {
 public:
  Quiet() noexcept;
  ~Quiet();
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  unsigned is_second_ = 1;  // the handler was set with H5Eset_auto2
  H5E_auto2_t second_ = nullptr;
#ifndef H5_NO_DEPRECATED_SYMBOLS
  H5E_auto1_t first_ = nullptr;
#endif
  void* data_ = nullptr;
};

// Result of an HDF5 iteration. A C callback must not throw, and HDF5 only knows that it failed, so the reason is stored
// here.
template <class T>
struct Collected {
  std::vector<T> list;
  Status status;

  template <class Add>
  herr_t add(Add&& make) noexcept {
    status = guard([&] {
      list.push_back(make());
      return Status();
    });
    return status.ok() ? 0 : -1;
  }
};

// The innermost error of the last failed call: the system's error number (0: none), and HDF5's text. Must be taken
// before any other call, which clears HDF5's error stack.
struct Hdf5Error {
  int system_error = 0;
  std::string text;
};
Hdf5Error last_error();

// `flush of "a.h5": no space left on device`. `otherwise`: the code if there is no system error number.
Status hdf5_status(Code otherwise, std::string_view what, std::string_view path);
Status hdf5_status(Code otherwise, std::string_view what, std::string_view path, const Hdf5Error& error);

}  // namespace windrow
