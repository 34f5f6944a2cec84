// SPDX-License-Identifier: BSD-3-Clause
// Pure: a trace for people, as lines for a terminal and as a page for a browser.
#pragma once

#include <string>
#include <vector>

#include "cli/trace_file.hpp"

namespace cli {

std::vector<std::string> trace_table(const Trace& trace);

// One page of XHTML in UTF-8 with pictures in it, that needs nothing beside itself. Names are escaped. `source`: the
// trace's name.
std::string trace_page(const Trace& trace, const std::string& source);

// A page of XHTML with the styles that the pictures have. `body` is XHTML.
std::string page_of(const std::string& title, const std::string& body);

// What both say alike.
std::string short_seconds(double seconds);  // "1.24 ms"
std::string rate_text(double bytes, double seconds);
std::string variables_text(const TracedFlush& flush, size_t most);  // "a, b and 3 more", of at most so many characters
std::string strategy_text(const TracedFlush& flush);
std::string predicted_text(const TracedFlush& flush);  // seconds, "-" where none were

}  // namespace cli
