// SPDX-License-Identifier: BSD-3-Clause
#include "copy/contents.hpp"

#include <algorithm>
#include <sstream>

namespace copying {

namespace {

void add_once(std::vector<std::string>& list, const std::string& line) {
  if (std::find(list.begin(), list.end(), line) == list.end())
    list.push_back(line);
}

void add_variables(const windrow::File& file, Contents& contents) {
  contents.variables.reserve(static_cast<size_t>(file.variable_count()));
  for (int number = 0; number < file.variable_count(); ++number) {
    const windrow_variable_info& info = contents.variables.emplace_back(file.variable(number));
    contents.objects.emplace_back(info.path);
    if (info.unsupported != nullptr && *info.unsupported != '\0') {
      add_once(contents.unsupported, std::string(info.path) + ": " + info.unsupported);
      continue;
    }
    if (info.is_null != 0 || info.element_bytes == 0) {
      contents.wholes.push_back(number);
      continue;
    }
    Item item{number, shape_of(info), info.element_bytes};
    contents.bytes += element_count(item.shape) * item.element_bytes;
    contents.items.push_back(std::move(item));
  }
}

void add_attributes(const windrow::File& file, Contents& contents) {
  for (const std::string& object : contents.objects) {
    const int count = windrow_attribute_count(file.get(), object.c_str());
    for (int i = 0; i < count; ++i) {
      const windrow_attribute_info info = attribute_of(file, object, i);
      if (info.unsupported != nullptr && *info.unsupported != '\0')
        add_once(contents.unsupported, object + ", attribute " + info.name + ": " + info.unsupported);
      else
        ++contents.attributes;
    }
  }
}

}  // namespace

std::vector<int64_t> shape_of(const windrow_variable_info& variable) {
  return {variable.shape, variable.shape + variable.ndims};
}

std::vector<std::string> dimension_names_of(const windrow_variable_info& variable) {
  return {variable.dimension_names, variable.dimension_names + variable.ndims};
}

Contents contents_of(const windrow::File& file) {
  Contents contents;
  contents.groups = windrow_group_count(file.get());
  for (int group = 0; group < contents.groups; ++group)
    contents.objects.emplace_back(windrow_group_path(file.get(), group));
  std::istringstream lines(windrow_unsupported_objects(file.get()));
  for (std::string line; std::getline(lines, line);)
    if (!line.empty())
      add_once(contents.unsupported, line);
  for (int i = 0; i < windrow_link_count(file.get()); ++i) {
    const char *path = "", *target = "";
    windrow::check(windrow_inquire_link(file.get(), i, &path, &target));
    contents.links.push_back({path, target, windrow_link_is_hard(file.get(), i) == 1});
  }
  for (int i = 0; i < windrow_dimension_count(file.get()); ++i) {
    const char* path = "";
    int64_t length = 0;
    windrow::check(windrow_inquire_dimension(file.get(), i, &path, &length));
    contents.dimensions.emplace_back(path, length);
  }
  add_variables(file, contents);
  add_attributes(file, contents);
  return contents;
}

namespace {

// If what is stored cannot be listed, all is moved, and reading it says what is wrong.
void move_written_only(windrow::File& file, Item& item) {
  int64_t number = 0;
  const int64_t *starts = nullptr, *counts = nullptr;
  const int code = windrow_inquire_written(file.get(), item.variable, &number, &starts, &counts);
  if (code == WINDROW_OUT_OF_MEMORY || code == WINDROW_MPI)
    windrow::check(code);
  if (code != WINDROW_OK)
    return;
  const size_t numbers = static_cast<size_t>(number) * item.shape.size();
  Boxes boxes{{starts, starts + numbers}, {counts, counts + numbers}, number};
  if (number != 1 || boxes.counts != item.shape)
    move_only(item, std::move(boxes));
}

}  // namespace

void leave_out_unwritten(windrow::File& file, Contents& contents, const std::function<bool(size_t item)>& may) {
  contents.bytes = 0;
  for (size_t i = 0; i < contents.items.size(); ++i) {
    Item& item = contents.items[i];
    const windrow_variable_info& info = contents.variables[static_cast<size_t>(item.variable)];
    const bool is_known = info.chunked == 0 && info.offset >= 0;  // all of it has a place in the file
    if (!is_known && may(i))
      move_written_only(file, item);
    contents.bytes += elements_to_move(item) * item.element_bytes;
  }
}

windrow_attribute_info attribute_of(const windrow::File& file, const std::string& object, int number) {
  windrow_attribute_info info{};
  info.size = sizeof info;
  windrow::check(windrow_inquire_attribute(file.get(), object.c_str(), number, &info));
  return info;
}

}  // namespace copying
