// SPDX-License-Identifier: BSD-3-Clause
// Features of the build.
#include <algorithm>
#include <string_view>
#include <vector>

#include "capi/handles.hpp"
#include "plan/strategy.hpp"

namespace windrow {
namespace {

struct BuiltIn {
  std::vector<std::string> names;  // in the form of windrow_has()
  std::string text;                // in the form of windrow_features()

  BuiltIn() {
    std::vector<std::string> lines;
    for (std::string_view format : format_names()) {
      names.emplace_back(format);
      lines.push_back("format " + std::string(format));
      if (format != "hdf5")
        continue;
      names.emplace_back("xdmf");
      lines.push_back("companion xdmf");
    }
    for (std::string_view filter : filter_names()) {
      names.push_back("filter=" + std::string(filter));
      lines.push_back("filter " + std::string(filter));
    }
    for (std::string_view store : store_kinds()) {
      if (!Settings().set("store", store).ok())
        continue;  // for internal tests only: users cannot select it
      names.emplace_back(store);
      lines.push_back("store " + std::string(store));
    }
    for (const Feature& feature : strategy_features()) {
      if (!feature.built)
        continue;
      names.push_back(feature.name);
      if (feature.name.starts_with("strategy=")) {
        names.push_back(feature.name.substr(9));
        lines.push_back("strategy " + feature.name.substr(9));
      } else {
        lines.push_back("choice " + feature.name);
      }
    }
    std::sort(lines.begin(), lines.end());
    for (const std::string& line : lines)
      text += line + '\n';
  }
};

const BuiltIn* built_in() noexcept {
  try {
    static const BuiltIn instance;
    return &instance;
  } catch (...) {
    return nullptr;
  }
}

#define WINDROW_TEXT_OF(value) #value
#define WINDROW_VERSION_TEXT(major, minor, patch) \
  WINDROW_TEXT_OF(major) "." WINDROW_TEXT_OF(minor) "." WINDROW_TEXT_OF(patch)

}  // namespace
}  // namespace windrow

extern "C" {

const char* windrow_version(void) {
  return WINDROW_VERSION_TEXT(WINDROW_VERSION_MAJOR, WINDROW_VERSION_MINOR, WINDROW_VERSION_PATCH);
}

int windrow_has(const char* feature) {
  const auto* all = windrow::built_in();
  if (feature == nullptr || all == nullptr)
    return 0;
  return std::find(all->names.begin(), all->names.end(), std::string_view(feature)) != all->names.end() ? 1 : 0;
}

const char* windrow_features(void) {
  const auto* all = windrow::built_in();
  return all == nullptr ? "" : all->text.c_str();
}

int64_t windrow_type_size(int type) {
  return windrow::type_size(static_cast<windrow::Type>(type));
}
const char* windrow_type_name(int type) {
  return windrow::type_name(static_cast<windrow::Type>(type));
}

}  // extern "C"
