// SPDX-License-Identifier: BSD-3-Clause
// Pure: a trace as lines for a terminal and as a page for a browser.
#pragma once

#include <string>
#include <vector>

#include "cli/trace_file.hpp"

namespace cli {

std::vector<std::string> trace_table(const Trace& trace);

// A self-contained page of XHTML in UTF-8 with pictures. Names are escaped. `source`: the trace's name.
std::string trace_page(const Trace& trace, const std::string& source);

// A page of XHTML with the styles of the pictures. `body` is XHTML.
std::string page_of(const std::string& title, const std::string& body);

// Used by the text and the page.
std::string short_seconds(double seconds);  // "1.24 ms"
std::string rate_text(double bytes, double seconds);
// "a, b and 3 more", with a maximum number of characters
std::string variables_text(const TracedFlush& flush, size_t most);
std::string strategy_text(const TracedFlush& flush);
std::string predicted_text(const TracedFlush& flush);  // seconds, or "-"

}  // namespace cli
