// SPDX-License-Identifier: BSD-3-Clause
#include "publication/text_file.hpp"

#include <span>

#include "storage/store.hpp"

namespace windrow {

Status write_text_file(const std::string& path, std::string_view text) {
  auto store = open_store(path, StoreMode::create, {});
  if (!store.ok())
    return store.status();
  Status status = store.value()->write_at(0, std::as_bytes(std::span(text)));
  status.update(store.value()->close());
  return status;
}

}  // namespace windrow
