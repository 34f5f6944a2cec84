// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "base/status.hpp"
#include "comm/comm.hpp"

namespace windrow {

// Collective. As share_from_root(), for a text.
Status share_text_from_root(const Comm& comm, Status local, std::string& text);

}  // namespace windrow
