// SPDX-License-Identifier: BSD-3-Clause
// The raw format: one file with only the variables' bytes, and a JSON sidecar that describes it (FORMAT.md).
#pragma once

#include "format/format.hpp"
#include "storage/store.hpp"

namespace windrow {

Result<std::unique_ptr<Format>> open_raw_format(const std::string& path, FormatMode mode, const FormatOptions& options,
                                                std::unique_ptr<Store> opened);
Result<bool> recognises_raw(const std::string& path, Store& file);
std::vector<std::string> raw_sidecars(const std::string& path);
Result<std::string> write_interim_sidecar(const TemporaryFile& temporary);

}  // namespace windrow
