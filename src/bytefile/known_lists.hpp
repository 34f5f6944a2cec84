// SPDX-License-Identifier: BSD-3-Clause
// KnownLists: the lists of this rank's last calls. A list gets a number by its content, so that a later call with the
// same list finds its plan. Local.
#pragma once

#include <cstdint>
#include <list>
#include <memory>

#include "extent/byte_runs.hpp"

namespace windrow {

struct KnownList {
  int64_t number = 0;  // of this rank; from 1 on
  std::shared_ptr<const ByteRuns> runs;
};

class KnownLists {
 public:
  static constexpr size_t k_most = 128;
  static constexpr int64_t k_most_bytes = int64_t{64} << 20;  // without the last list

  // Returns the list with these pieces, or adds it. `long_limit`: see ByteRuns. May throw std::bad_alloc.
  const KnownList& find(const Pieces& pieces, int64_t long_limit);

 private:
  std::list<KnownList> lists_;  // the last one that was used first
  int64_t next_number_ = 1;
};

// Pieces of bytes, with what a plan must know about them. May throw std::bad_alloc.
std::shared_ptr<const ByteRuns> byte_runs_of(const Pieces& pieces, int64_t long_limit);

}  // namespace windrow
