// SPDX-License-Identifier: BSD-3-Clause
// Owns a file descriptor and closes it once; errors of close() are ignored.
#pragma once

#include <unistd.h>

namespace windrow {

class Descriptor {
 public:
  explicit Descriptor(int descriptor) noexcept : descriptor_(descriptor) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (descriptor_ >= 0)
      ::close(descriptor_);
  }
  int get() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

}  // namespace windrow
