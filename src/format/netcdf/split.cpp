// SPDX-License-Identifier: BSD-3-Clause
#include "format/netcdf/split.hpp"

#include <algorithm>

#include "format/check.hpp"
#include "format/netcdf/types.hpp"

namespace windrow {
namespace {

constexpr const char* k_split_dimensions =
    "windrow_split_dimensions";  // the names, separated by slashes, which no name can contain

}  // namespace

void make_scalar(NetcdfVariable& variable, size_t rank, const std::vector<NetcdfDimension>& dimensions) {
  std::string names;
  for (size_t i = 0; i < rank; ++i)
    names += (i > 0 ? "/" : "") + dimensions[static_cast<size_t>(variable.dimensions[i])].name;
  const auto* begin = reinterpret_cast<const std::byte*>(names.data());
  variable.attributes.push_back({.name = k_split_dimensions,
                                 .type = netcdf_type(Type::text),
                                 .count = static_cast<int64_t>(names.size()),
                                 .data = {begin, begin + names.size()}});
  variable.dimensions.erase(variable.dimensions.begin(),
                            variable.dimensions.begin() + static_cast<std::ptrdiff_t>(rank));
}

bool take_split(Variable& variable, const NetcdfContents& contents) {
  const auto mark = std::find_if(variable.attributes.begin(), variable.attributes.end(),
                                 [](const Attribute& each) { return each.name == k_split_dimensions; });
  if (mark == variable.attributes.end() || !variable.shape.empty() || mark->texts.size() != 1 ||
      mark->texts.front().empty())
    return false;
  Variable whole = variable;
  const std::string& names = mark->texts.front();
  for (size_t begin = 0; begin <= names.size();) {
    const size_t end = std::min(names.find('/', begin), names.size());
    const auto found = std::find_if(
        contents.dimensions.begin(), contents.dimensions.end(),
        [&](const NetcdfDimension& each) { return each.name == std::string_view(names).substr(begin, end - begin); });
    if (found == contents.dimensions.end() || (found->unlimited && begin > 0) ||
        whole.shape.size() == k_most_dimensions)
      return false;
    whole.extendible = whole.extendible || found->unlimited;
    whole.shape.push_back(found->unlimited ? contents.records : found->length);
    whole.dimensions.push_back("/" + found->name);
    begin = end + 1;
  }
  const int64_t element = element_bytes(whole.type, whole.details);
  const auto elements = element_count(whole.shape);
  if (!elements || element < 1 || *elements > INT64_MAX / 8 / element)
    return false;
  whole.placement = {.offset = -1, .bytes = *elements * element, .big_endian = true};
  whole.unsupported = "its elements are in subfiles, but the map of the subfiles is missing";
  std::erase_if(whole.attributes, [](const Attribute& each) { return each.name == k_split_dimensions; });
  variable = std::move(whole);
  return true;
}

}  // namespace windrow
