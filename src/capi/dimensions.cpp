// SPDX-License-Identifier: BSD-3-Clause
// Names of dimensions.
#include <fmt/format.h>

#include <optional>

#include "base/units.hpp"

#include "capi/handles.hpp"

using windrow::counted;

namespace {

// `given`: number of names; none: one per dimension of the variable.
int name_dimensions(windrow_file* file, int variable, std::optional<int> given, const char* const* names) {
  return enter([&]() -> Status {
    if (Status status = check_file(file); !status.ok())
      return status;
    std::vector<std::string> copies;
    Status local = guard([&]() -> Status {
      const auto& variables = file->file->catalog().variables;
      if (variable < 0 || variable >= static_cast<int>(variables.size()))
        return {};  // reported below, with the name of the file
      const windrow::Variable& named = variables[static_cast<size_t>(variable)];
      const int dimensions = static_cast<int>(named.shape.size());
      if (given.value_or(dimensions) != dimensions)
        return {Code::bad_argument, fmt::format("name_dimensions: {} for \"{}\", which has {}", counted(*given, "name"),
                                                named.path, counted(dimensions, "dimension"))};
      if (dimensions > 0 && names == nullptr)
        return {Code::bad_argument,
                fmt::format("name_dimensions: no list of {} was given", counted(dimensions, "name"))};
      for (int i = 0; i < dimensions; ++i) {
        if (names[i] == nullptr)
          return null_argument("the name of a dimension");
        copies.emplace_back(names[i]);
      }
      return {};
    });
    return file->file->name_dimensions(variable, copies, std::move(local));
  });
}

}  // namespace

extern "C" {

int windrow_name_dimensions(windrow_file* file, int variable, const char* const* names) {
  return name_dimensions(file, variable, {}, names);
}

int windrow_name_dimensions_counted(windrow_file* file, int variable, int count, const char* const* names) {
  return name_dimensions(file, variable, count, names);
}

int windrow_define_dimension(windrow_file* file, const char* path, int64_t length) {
  return enter([&]() -> Status {
    if (Status status = check_file(file); !status.ok())
      return status;
    std::string name;
    Status local = windrow::copy_text(path, "the path of the dimension", name);
    return file->file->define_dimension(name, length, std::move(local));
  });
}

int windrow_dimension_count(const windrow_file* file) {
  return file == nullptr || file->file == nullptr ? -1 : static_cast<int>(file->file->catalog().dimensions.size());
}

int windrow_inquire_dimension(const windrow_file* file, int dimension, const char** path, int64_t* length) {
  return enter([&]() -> Status {
    if (Status status = check_file(file); !status.ok())
      return status;
    if (path == nullptr || length == nullptr)
      return null_argument("path or length");
    if (dimension < 0 || dimension >= windrow_dimension_count(file))
      return {Code::bad_argument, "there is no dimension number " + std::to_string(dimension)};
    const windrow::Dimension& found = file->file->catalog().dimensions[static_cast<size_t>(dimension)];
    *path = keep(file, found.path);
    *length = found.length;
    return {};
  });
}

}  // extern "C"
