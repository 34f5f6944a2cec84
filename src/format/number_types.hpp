// SPDX-License-Identifier: BSD-3-Clause
// The C++ types of the numbers of a file.
#pragma once

#include <cstdint>

#include "base/half.hpp"
#include "format/format.hpp"

namespace windrow {

// Calls `work` with a value of the C++ type of the integers or floating-point numbers of `type`, and returns its
// result. Any other type: `otherwise`.
template <class Work, class Value>
Value with_number(Type type, const Work& work, Value otherwise) {
  switch (type) {
    case Type::int8:
      return work(int8_t{});
    case Type::uint8:
      return work(uint8_t{});
    case Type::int16:
      return work(int16_t{});
    case Type::uint16:
      return work(uint16_t{});
    case Type::int32:
      return work(int32_t{});
    case Type::uint32:
      return work(uint32_t{});
    case Type::int64:
      return work(int64_t{});
    case Type::uint64:
      return work(uint64_t{});
    case Type::float16:
      return work(Half{});
    case Type::float32:
      return work(float{});
    case Type::float64:
      return work(double{});
    default:
      return otherwise;
  }
}

}  // namespace windrow
