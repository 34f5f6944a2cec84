// SPDX-License-Identifier: BSD-3-Clause
// The report as a JSON object, to be a part of another one. It has no numbers of single ranks.
#pragma once

#include <nlohmann/json.hpp>

#include "reporting/report.hpp"

namespace windrow {

nlohmann::ordered_json report_object(const FlushReport& report);

}  // namespace windrow
