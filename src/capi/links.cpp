// SPDX-License-Identifier: BSD-3-Clause
// Kinds of objects, soft links, deletion of attributes.
#include "capi/handles.hpp"

namespace {

// Copies two texts that a collective call needs, or reports which is NULL.
Status take(const char* first, const char* second, const char* what, std::string& first_copy,
            std::string& second_copy) {
  return guard([&]() -> Status {
    if (first == nullptr || second == nullptr)
      return null_argument(what);
    first_copy = first;
    second_copy = second;
    return {};
  });
}

}  // namespace

extern "C" {

int windrow_inquire_object(const windrow_file* file, const char* path, int* kind) {
  return enter([&]() -> Status {
    if (Status status = check_file(file); !status.ok())
      return status;
    if (path == nullptr || kind == nullptr)
      return null_argument(path == nullptr ? "the path" : "kind");
    *kind = static_cast<int>(file->file->kind_of(path));
    return {};
  });
}

int windrow_define_link(windrow_file* file, const char* path, const char* target) {
  return enter([&]() -> Status {
    if (Status status = check_file(file); !status.ok())
      return status;
    std::string name, leads_to;
    Status local = take(path, target, "the path or the target of the link", name, leads_to);
    return file->file->define_link(name, leads_to, std::move(local));
  });
}

int windrow_link_count(const windrow_file* file) {
  return file == nullptr || file->file == nullptr ? -1 : static_cast<int>(file->file->catalog().links.size());
}

int windrow_inquire_link(const windrow_file* file, int link, const char** path, const char** target) {
  return enter([&]() -> Status {
    if (Status status = check_file(file); !status.ok())
      return status;
    if (path == nullptr || target == nullptr)
      return null_argument("path or target");
    if (link < 0 || link >= windrow_link_count(file))
      return {Code::bad_argument, "there is no link number " + std::to_string(link)};
    const windrow::SoftLink& found = file->file->catalog().links[static_cast<size_t>(link)];
    *path = keep(file, found.path);
    *target = keep(file, found.target);
    return {};
  });
}

int windrow_link_is_hard(const windrow_file* file, int link) {
  if (link < 0 || link >= windrow_link_count(file))
    return -1;
  return file->file->catalog().links[static_cast<size_t>(link)].is_hard ? 1 : 0;
}

int windrow_delete_attribute(windrow_file* file, const char* object, const char* name) {
  return enter([&]() -> Status {
    if (Status status = check_file(file); !status.ok())
      return status;
    std::string owner, attribute;
    Status local = take(object, name, "the object or name of the attribute", owner, attribute);
    return file->file->delete_attribute(owner, attribute, std::move(local));
  });
}

}  // extern "C"
