// SPDX-License-Identifier: BSD-3-Clause
// The table of stores, and the door to them.
#include "storage/store.hpp"

#include <fmt/format.h>

#include <array>

#include "storage/faulty/faulty_store.hpp"
#include "storage/memory/memory_store.hpp"
#include "storage/posix/posix_store.hpp"

namespace windrow {
namespace {

struct Kind {
  std::string_view name;
  Result<std::unique_ptr<Store>> (*open)(const std::string& path, StoreMode mode, const StoreOptions& options);
};

constexpr std::array k_kinds{
    Kind{"posix", open_posix_store},
    Kind{"memory", open_memory_store},
    Kind{"faulty", open_faulty_store},
};

constexpr auto k_names = [] {
  std::array<std::string_view, k_kinds.size()> names;
  for (size_t i = 0; i < k_kinds.size(); ++i) names[i] = k_kinds[i].name;
  return names;
}();

Result<std::unique_ptr<Store>> open_kind(const std::string& path, StoreMode mode, const StoreOptions& options) {
  if (path.empty() || path.find('\0') != std::string::npos)
    return Status(Code::bad_argument, "open: a path is one or more characters other than NUL");
  // A fault that nobody injects would make a test that cannot fail.
  if (!options.fault.empty() && options.kind != "faulty")
    return Status(Code::bad_argument, fmt::format("store \"{}\": only the store \"faulty\" takes a fault", options.kind));
  for (const Kind& kind : k_kinds)
    if (kind.name == options.kind) return kind.open(path, mode, options);
  return Status(Code::unsupported,
                fmt::format("no store is called \"{}\"; there are: {}", options.kind, fmt::join(k_names, ", ")));
}

}  // namespace

Result<std::unique_ptr<Store>> open_store(const std::string& path, StoreMode mode, const StoreOptions& options) {
  Result<std::unique_ptr<Store>> store = Status(Code::internal, "");
  Status status = guard([&] {
    store = open_kind(path, mode, options);
    return Status();
  });
  if (!status.ok()) return status;
  return store;
}

std::span<const std::string_view> store_kinds() noexcept { return k_names; }

}  // namespace windrow
