// SPDX-License-Identifier: BSD-3-Clause
// Contents of a file: dimensions of datasets, groups, links.
#include <algorithm>
#include <climits>
#include <string>

#include "state.hpp"

namespace scorpio {
namespace {

// A local query of the dataset `name`; `answer` receives Windrow's description.
template <class Answer>
int ask(Call& call, const char* name, const void* out, const Answer& answer) {
  if (name == nullptr || out == nullptr)
    call.refuse("an argument is NULL");
  call.prepare([&] {
    int variable = 0;
    windrow_variable_info info{};
    info.size = sizeof info;
    if (windrow_find_variable(call.windrow(), name, &variable) != WINDROW_OK ||
        windrow_inquire_variable(call.windrow(), variable, &info) != WINDROW_OK)
      return call.refuse_as_windrow();
    answer(info);
  });
  return call.refused() ? call.failed() : 0;
}

bool is_group(const OpenFile& file, const char* name) {
  int variable = 0;
  return windrow_attribute_count(file.windrow, name) >= 0 &&
         windrow_find_variable(file.windrow, name, &variable) != WINDROW_OK;
}

}  // namespace
}  // namespace scorpio

using scorpio::Call;

extern "C" {

int scorpio_get_dataset_ndims(int* ndims, int file, char* name, iogroup_t* group) {
  Call call("scorpio_get_dataset_ndims", group, file);
  return scorpio::ask(call, name, ndims, [&](const windrow_variable_info& info) { *ndims = info.ndims; });
}

int scorpio_get_dataset_dims(int* dims, int file, char* name, iogroup_t* group) {
  Call call("scorpio_get_dataset_dims", group, file);
  return scorpio::ask(call, name, dims, [&](const windrow_variable_info& info) {
    for (int i = 0; i < info.ndims; ++i)
      if (info.shape[i] > INT_MAX)
        call.refuse("dimension %d of \"%s\" is %lld, beyond the range of int", i, name,
                    static_cast<long long>(info.shape[i]));
    for (int i = 0; i < info.ndims && !call.refused(); ++i)
      dims[i] = static_cast<int>(info.shape[i]);
  });
}

int scorpio_get_dataset_size(int* size, int file, char* name, iogroup_t* group) {
  Call call("scorpio_get_dataset_size", group, file);
  return scorpio::ask(call, name, size, [&](const windrow_variable_info& info) {
    if (info.elements > INT_MAX)
      return call.refuse("\"%s\" has %lld elements, beyond the range of int", name,
                         static_cast<long long>(info.elements));
    *size = static_cast<int>(info.elements);
  });
}

int64_t scorpio_create_dataset_group(char* name, int number, iogroup_t* group) {
  Call call("scorpio_create_dataset_group", group, number);
  std::string path;
  if (name == nullptr)
    call.refuse("the name is NULL");
  call.prepare([&] {
    call.same(name);
    path = name[0] == '/' ? name : "/" + std::string(name);
    while (path.ends_with('/'))
      path.pop_back();  // "" is the root
    call.file()->groups.reserve(call.file()->groups.size() + 1);
  });
  if (!call.agreed())
    return call.failed();
  const int code = windrow_define_group(call.windrow(), path.empty() ? "/" : path.c_str());
  if (code != WINDROW_OK)
    return call.end(code);
  call.file()->groups.push_back({call.file()->next_group, std::move(path)});
  return call.file()->next_group++;
}

int scorpio_close_dataset_group(int64_t id, int number, iogroup_t* group) {
  Call call("scorpio_close_dataset_group", group, number);
  call.same(id);
  const auto closes = [&](const scorpio::OpenFile::DatasetGroup& open) { return open.number == id; };
  if (!call.refused() && std::ranges::none_of(call.file()->groups, closes))
    call.refuse("%lld is not an open dataset group of the file", static_cast<long long>(id));
  if (!call.agreed())
    return call.failed();
  std::erase_if(call.file()->groups, closes);
  return 0;
}

int scorpio_group_exists(char* name, int file, iogroup_t* group) {
  Call call("scorpio_group_exists", group, file);
  if (name == nullptr)
    call.refuse("the name is NULL");
  if (call.refused())
    return call.failed();
  return scorpio::is_group(*call.file(), name) ? 1 : 0;
}

int scorpio_dataset_exists(char* name, int file, iogroup_t* group) {
  Call call("scorpio_dataset_exists", group, file);
  int variable = 0;
  if (name == nullptr)
    call.refuse("the name is NULL");
  if (call.refused())
    return call.failed();
  return windrow_find_variable(call.windrow(), name, &variable) == WINDROW_OK ? 1 : 0;
}

int scorpio_name_exists(int64_t fid, const char* name) {
  const auto [number, file] = scorpio::group_and_file_of(fid);
  iogroup_t group{};
  group.number = number;
  Call call("scorpio_name_exists", &group, file);
  int variable = 0;
  if (name == nullptr)
    call.refuse("the name is NULL");
  if (call.refused())
    return call.failed();
  return scorpio::is_group(*call.file(), name) || windrow_find_variable(call.windrow(), name, &variable) == WINDROW_OK
             ? 1
             : 0;
}

int scorpio_create_link(char* target, int64_t location, char* name, int file, iogroup_t* group) {
  Call call("scorpio_create_link", group, file);
  std::string path;
  if (target == nullptr || name == nullptr)
    call.refuse("the target or the name is NULL");
  call.prepare([&] {
    call.same(target);
    call.same(location);
    call.same(name);
    path = name;
    if (location == 0 || path.starts_with('/'))
      return;
    for (const auto& open : call.file()->groups)
      if (open.number == location)
        return void(path = open.path + "/" + path);
    call.refuse("%lld is not an open dataset group of the file", static_cast<long long>(location));
  });
  if (!call.agreed())
    return call.failed();
  return static_cast<int>(call.end(windrow_define_link(call.windrow(), path.c_str(), target)));
}

}  // extern "C"
