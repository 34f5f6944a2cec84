// SPDX-License-Identifier: BSD-3-Clause
// The report as a JSON object, for those who make it part of another: without what is each rank's own.
#pragma once

#include <nlohmann/json.hpp>

#include "reporting/report.hpp"

namespace windrow {

nlohmann::ordered_json report_object(const FlushReport& report);

}  // namespace windrow
