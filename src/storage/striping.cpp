// SPDX-License-Identifier: BSD-3-Clause
#include "storage/striping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/units.hpp"
#include "layout/parse.hpp"

namespace windrow {
namespace {

constexpr std::string_view k_mock = "mock:";

ProbedLayout probe(const StripingOptions& options, const std::string& path, const SystemCalls& calls) {
  if (options.mock)
    return {.layout = *options.mock, .file_system = FileSystem::unknown, .reason = {}};
  return probe_layout(path, options.given, calls);
}

// CephFS reports stripes without the OSDs that store them.
Striping with_osds(const StripingOptions& options, const std::string& path, Striping striping,
                   const SystemCalls& calls) {
  if (striping.layout.kind != LayoutKind::cephfs || striping.layout.components.size() != 1)
    return striping;
  std::error_code ignored;
  const auto size = std::filesystem::file_size(path, ignored);
  const int64_t bytes = ignored ? 0 : static_cast<int64_t>(size);
  LayoutComponent& component = striping.layout.components.front();
  Osds found = ask_osds(path, component, {.by = options.osds, .bytes = std::max(options.expected_bytes, bytes)}, calls);
  component.targets = std::move(found.targets);
  if (!found.why.empty())
    striping.why += fmt::format("{}OSDs: {}", striping.why.empty() ? "" : "; ", found.why);
  return striping;
}

struct Wanted {
  std::optional<StripeNumbers> numbers;
  std::string why;
};

// The stripes of the file that will be replaced.
std::optional<StripeNumbers> replaced_stripes(const StripingOptions& options, const TemporaryFile& temporary,
                                              const SystemCalls& calls) {
  std::error_code ignored;
  if (options.mock || !std::filesystem::exists(temporary.final_path, ignored))
    return std::nullopt;
  const auto numbers = numbers_of(probe(options, temporary.final_path, calls).layout);
  return numbers && numbers->count != 0 ? numbers : std::nullopt;
}

Wanted automatically(const StripingOptions& options, const TemporaryFile& temporary, const ProbedLayout& now,
                     const StripingWriters& writers, const SystemCalls& calls) {
  if (!now.layout.is_striped())
    return {};
  const std::string folder = std::filesystem::path(temporary.temporary_path).parent_path().string();
  const bool given = is_chosen(now.layout) ||
                     (!options.mock && folder_has_layout(folder.empty() ? "." : folder, now.file_system, calls));
  // One stripe is the usual default of an existing file; the folder's layout was chosen, possibly later.
  const auto replaced = replaced_stripes(options, temporary, calls);
  if (replaced && !(given && replaced->count == 1)) {
    const bool has_them = replaced == numbers_of(now.layout);
    return {has_them ? std::nullopt : replaced, has_them ? "" : "like those of the replaced file"};
  }
  if (options.expected_bytes == 0)
    return {};
  if (given)
    return {std::nullopt, "stripes are those of the folder"};
  const auto numbers = stripes_for(options.expected_bytes, writers.count, writers.buffer_bytes);
  return {numbers, fmt::format("for {} expected and {}", format_bytes(options.expected_bytes),
                               counted(writers.count, "writer"))};
}

Wanted wanted_stripes(const StripingOptions& options, const TemporaryFile& temporary, const ProbedLayout& now,
                      const StripingWriters& writers, const SystemCalls& calls) {
  switch (options.stripes.kind) {
    case StripeRequest::Kind::site:
      return {};
    case StripeRequest::Kind::numbers:
      return {options.stripes.numbers, "as asked"};
    case StripeRequest::Kind::automatic:
      break;
  }
  return automatically(options, temporary, now, writers, calls);
}

Result<Striping> give_stripes(const StripingOptions& options, const TemporaryFile& temporary,
                              const StripingWriters& writers, const SystemCalls& calls) {
  ProbedLayout now = probe(options, temporary.temporary_path, calls);
  const Wanted wanted = wanted_stripes(options, temporary, now, writers, calls);
  if (!wanted.numbers)
    return Striping{std::move(now.layout), now.reason.empty() ? wanted.why : now.reason};
  const std::string why = fmt::format("{}, {}", text_of(*wanted.numbers), wanted.why);
  if (options.mock)
    return Striping{with_stripes(now.layout, *wanted.numbers), why};
  Status set = set_stripes(temporary.temporary_path, *wanted.numbers, now, calls);
  if (set.ok())
    return Striping{probe(options, temporary.temporary_path, calls).layout, why};
  if (options.stripes.kind == StripeRequest::Kind::numbers && set.code() != Code::unsupported)
    return Status{set.code(), fmt::format("create \"{}\": the requested striping ({}) is not available: {}",
                                          temporary.final_path, text_of(*wanted.numbers), set.message())};
  return Striping{std::move(now.layout), fmt::format("{}: not set: {}", why, set.message())};
}

}  // namespace

Result<StripingOptions> striping_options(const Settings& settings) {
  StripingOptions options;
  const std::string layout = settings.text("layout"), file_system = settings.text("file_system");
  options.asks = layout != "none";
  if (layout.starts_with(k_mock)) {
    auto mock = parse_mock(std::string_view(layout).substr(k_mock.size()));
    if (!mock.ok())
      return mock.status();
    options.mock = std::move(mock).value();
  } else if (layout != "auto" && layout != "none") {
    return Status{
        Code::bad_argument,
        fmt::format("layout cannot be \"{}\"; it is auto, none, or a mock such as mock:stripe=1MiB,count=8", layout)};
  }
  auto stripes = parse_stripes(settings.text("stripe"));
  if (!stripes.ok())
    return stripes.status();
  options.stripes = stripes.value();
  if (!options.asks && options.stripes.kind == StripeRequest::Kind::numbers)
    return Status{Code::bad_argument,
                  fmt::format("stripe=\"{}\" needs the file system's striping, but layout=none disables it",
                              settings.text("stripe"))};
  options.expected_bytes = settings.bytes("expected_bytes");
  const std::string osds = settings.text("ceph_osds");
  options.osds = osds == "off" ? OsdsBy::nobody : osds == "libcephfs" ? OsdsBy::library : OsdsBy::automatic;
  if (file_system != "auto")
    options.given = file_system_called(file_system);
  return options;
}

Striping find_striping(const StripingOptions& options, const std::string& path, const SystemCalls& calls) {
  if (!options.asks)
    return {};
  ProbedLayout probed = probe(options, path, calls);
  return with_osds(options, path, {std::move(probed.layout), std::move(probed.reason)}, calls);
}

Result<Striping> stripe_temporary_file(const StripingOptions& options, const TemporaryFile& temporary,
                                       const StripingWriters& writers, const SystemCalls& calls) {
  if (!options.asks)
    return Striping{};
  auto striped = give_stripes(options, temporary, writers, calls);
  if (!striped.ok())
    return striped;
  return with_osds(options, temporary.temporary_path, std::move(striped).value(), calls);
}

std::shared_ptr<const StorageLayout> without_objects(const StorageLayout& layout) {
  StorageLayout others = layout;
  for (LayoutComponent& component : others.components)
    if (component.object_bytes > 0)
      component.targets.clear();
  return others == layout ? nullptr : std::make_shared<const StorageLayout>(std::move(others));
}

int64_t targets_of(const StorageLayout& layout) noexcept {
  int64_t most = 0;
  for (const LayoutComponent& component : layout.components)
    most = std::max(most, component.stripe_count);
  return layout.is_striped() ? most : 0;
}

void describe_striping(const Striping& striping, std::vector<std::string>& reasons) {
  if (!striping.layout.is_striped() && striping.why.empty())
    return;
  reasons.push_back(
      fmt::format("layout {}{}", layout_text(striping.layout), striping.why.empty() ? "" : "; " + striping.why));
}

}  // namespace windrow
