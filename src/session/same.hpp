// SPDX-License-Identifier: BSD-3-Clause
// Arguments that must be the same on every rank: their hash travels in an agreement that takes place anyway.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "base/status.hpp"
#include "comm/comm.hpp"

namespace windrow {

// FNV-1a over the texts and their lengths. Fowler, Noll, Vo, IETF draft-eastlake-fnv.
uint64_t hash_of(std::initializer_list<std::string_view> texts) noexcept;

// Collective. As agree(); ranks whose arguments differ make it Code::bad_argument: "<what> differs between the ranks". A rank whose
// `local` has failed does not count: its own error is the better message.
Status agree_same(const Comm& comm, Status local, uint64_t arguments, std::string_view what);

}  // namespace windrow
