// SPDX-License-Identifier: BSD-3-Clause
// Pure: the pictures of a trace's page, each an SVG element. Colours are the page's (classes s0 to s5 for stages, w and
// r for writes and reads).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/trace_file.hpp"

namespace cli {

std::string escaped(std::string_view text);  // for XML: also within quotes, and no character that XML cannot have

// A bar of the stages for each flush; of very many, for some of them.
std::string flushes_picture(const std::vector<const TracedFlush*>& flushes);
std::string timeline_picture(const TracedFlush& flush);
std::string matrix_picture(const TracedFlush& flush, const TracedOpening& opening);
std::string alternatives_picture(const TracedPlan& plan);  // with a bar each; "": nothing was predicted
std::string sizes_picture(const TracedFlush& flush);

// Who moved how much of what: cells are drawn the darker the more bytes they have.
struct Matrix {
  std::vector<std::string> rows, columns;
  std::string column;                                    // what a column is: "target"
  std::map<std::pair<int64_t, int64_t>, int64_t> cells;  // by row and column: bytes
};
std::string picture_of(const Matrix& matrix);

// A bar each, by its seconds; colours are those of the stages, in turn.
std::string bars_picture(const std::vector<std::pair<std::string, double>>& bars);

}  // namespace cli
