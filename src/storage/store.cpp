// SPDX-License-Identifier: BSD-3-Clause
// The table of stores, and open_store().
#include "storage/store.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>

#include "storage/faulty/fault_plan.hpp"
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
  for (size_t i = 0; i < k_kinds.size(); ++i)
    names[i] = k_kinds[i].name;
  return names;
}();

const Kind* find_kind(std::string_view name) noexcept {
  const auto found = std::find_if(k_kinds.begin(), k_kinds.end(), [&](const Kind& kind) { return kind.name == name; });
  return found == k_kinds.end() ? nullptr : &*found;
}

thread_local int64_t opened = 0;

Status check_options(const StoreOptions& options) {
  if (!find_kind(options.kind))
    return {Code::unsupported,
            fmt::format("unknown store \"{}\"; the stores are {}", options.kind, fmt::join(k_names, ", "))};
  if (options.fault.empty())
    return {};
  if (options.kind == "faulty")
    return parse_fault_plan(options.fault).status();
  // A fault that is not injected would make a test that cannot fail.
  return {Code::bad_argument, fmt::format("store \"{}\": only the store \"faulty\" takes a fault", options.kind)};
}

Result<std::unique_ptr<Store>> open_kind(const std::string& path, StoreMode mode, const StoreOptions& options) {
  if (path.empty() || path.find('\0') != std::string::npos)
    return Status(Code::bad_argument, "open: a path is one or more characters other than NUL");
  if (Status status = check_options(options); !status.ok())
    return status;
  return find_kind(options.kind)->open(path, mode, options);
}

}  // namespace

Status check_store_options(const StoreOptions& options) {
  return guard([&] { return check_options(options); });
}

Result<std::unique_ptr<Store>> open_store(const std::string& path, StoreMode mode, const StoreOptions& options) {
  auto store = guard([&] { return open_kind(path, mode, options); });
  if (store.ok())
    ++opened;
  return store;
}

size_t files_kept_open(size_t most) noexcept {
  constexpr rlim_t k_of_others = 32, k_fewest = 2;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return most;
  const rlim_t left = limit.rlim_cur > k_of_others ? limit.rlim_cur - k_of_others : 0;
  return static_cast<size_t>(std::min<rlim_t>(most, std::max(k_fewest, left / 4)));
}

int64_t stores_opened() noexcept {
  return opened;
}

std::span<const std::string_view> store_kinds() noexcept {
  return k_names;
}

}  // namespace windrow
