// SPDX-License-Identifier: BSD-3-Clause
// Pure: the pictures of a trace's page, each an SVG element. Colours are classes of the page (s0 to s5 for stages, w
// and r for writes and reads).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/trace_file.hpp"

namespace cli {

std::string escaped(std::string_view text);  // escapes for XML, also within quotes, and removes invalid characters

// One bar of stages per flush; only some flushes if there are very many.
std::string flushes_picture(const std::vector<const TracedFlush*>& flushes);
std::string timeline_picture(const TracedDetails& flush);
std::string matrix_picture(const TracedDetails& flush, const TracedOpening& opening);
std::string alternatives_picture(const TracedPlan& plan);  // one bar each; "": no predictions
std::string sizes_picture(const TracedDetails& flush);

// Bytes by row and column: cells with more bytes are darker.
struct Matrix {
  std::vector<std::string> rows, columns;
  std::string column;                                    // unit of the columns: "target"
  std::map<std::pair<int64_t, int64_t>, int64_t> cells;  // by row and column: bytes
};
std::string picture_of(const Matrix& matrix);

// One bar each, by seconds, in the colours of the stages.
std::string bars_picture(const std::vector<std::pair<std::string, double>>& bars);

}  // namespace cli
