// SPDX-License-Identifier: BSD-3-Clause
#include "format/hdf5/texts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.hpp"
#include "format/check.hpp"
#include "format/hdf5/heap.hpp"
#include "format/hdf5/types.hpp"
#include "format/hdf5/version.hpp"

namespace windrow {

namespace {

// An open variable of texts or references.
struct OpenVariable {
  Handle dataset, type, space;
  TypeDescription description;
  SpaceDescription extent;
};

Result<OpenVariable> open_variable(hid_t file, const std::string& path) {
  OpenVariable variable;
  variable.dataset = Handle(H5Dopen2(file, path.c_str(), H5P_DEFAULT), H5Dclose);
  if (!variable.dataset.valid())
    return Status(Code::not_found, fmt::format("there is no variable \"{}\"", path));
  variable.type = Handle(H5Dget_type(variable.dataset.get()), H5Tclose);
  variable.space = Handle(H5Dget_space(variable.dataset.get()), H5Sclose);
  if (!variable.type.valid() || !variable.space.valid())
    return hdf5_status(Code::bad_file, "variable", path);
  variable.description = describe_type(variable.type.get());
  Result<SpaceDescription> extent = describe_space(variable.space.get(), path);
  if (!extent.ok())
    return extent.status();
  variable.extent = std::move(extent).value();
  if (is_moved_whole(variable.description.type, variable.description.details))
    return variable;
  return Status(Code::bad_argument, fmt::format("\"{}\" has no texts of variable length", path));
}

ReadAll reader_of(const OpenVariable& variable) {
  return [dataset = variable.dataset.get()](hid_t type, void* data) {
    return H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
  };
}

bool is_writable(hid_t file) {
  unsigned intent = H5F_ACC_RDONLY;
  return H5Fget_intent(file, &intent) >= 0 && (intent & H5F_ACC_RDWR) != 0;
}

// HDF5 may have newer heaps in its memory than the file has. It even adds objects when it reads missing chunks with a
// fill value. So what the file does not confirm is checked again after a flush.
Status check_text_places(hid_t file, const OpenVariable& variable, const std::string& path) {
  const ReadAll read = reader_of(variable);
  const ReadAll read_and_flush = [&](hid_t type, void* data) {
    const herr_t result = read(type, data);
    return result < 0 || H5Fflush(file, H5F_SCOPE_LOCAL) < 0 ? -1 : result;
  };
  const auto check = [&](const ReadAll& places) {
    return check_heap_places(variable.dataset.get(), variable.type.get(), static_cast<size_t>(variable.extent.elements),
                             1, fmt::format("\"{}\"", path), places);
  };
  Status status = check(read);
  return status.code() == Code::bad_file && is_writable(file) ? check(read_and_flush) : status;
}

}  // namespace

Result<std::vector<std::string>> read_variable_texts(hid_t space, size_t elements, bool ascii, const std::string& path,
                                                     const ReadAll& read) {
  const Handle type = make_text_type(H5T_VARIABLE, TextPadding::null_terminated, ascii);
  std::vector<char*> pointers(elements);
  std::vector<std::string> texts;
  if (elements == 0)
    return texts;
  if (!type.valid() || read(type.get(), pointers.data()) < 0)
    return hdf5_status(Code::bad_file, "read of", path);
  // HDF5 owns the texts until they are returned, also if copying them runs out of memory.
  Status status = guard([&] {
    texts.reserve(elements);
    for (const char* pointer : pointers)
      texts.emplace_back(pointer ? pointer : "");
    return Status();
  });
  reclaim_texts(type.get(), space, pointers.data());
  if (!status.ok())
    return status;
  return texts;
}

namespace {

// Resolving the name of one object makes HDF5 walk the file.
Result<std::vector<std::string>> read_references(size_t elements, const std::string& path, const ReadAll& read,
                                                 const ObjectPaths& paths) {
  std::vector<hobj_ref_t> references(elements);
  std::vector<std::string> texts;
  if (elements > 0 && read(H5T_STD_REF_OBJ, references.data()) < 0)
    return hdf5_status(Code::bad_file, "read of", path);
  texts.reserve(elements);
  for (const hobj_ref_t& reference : references) {
    const auto found = paths.find(reference);
    texts.push_back(found == paths.end() ? "" : found->second);
  }
  return texts;
}

std::string file_of(hid_t object) {
  const ssize_t length = H5Fget_name(object, nullptr, 0);
  std::string name(static_cast<size_t>(std::max<ssize_t>(length, 0)) + 1, '\0');
  if (length <= 0 || H5Fget_name(object, name.data(), name.size()) < 0)
    return "";
  return name;
}

}  // namespace

Result<std::vector<hobj_ref_t>> make_references(hid_t object, const std::string& what,
                                                const std::vector<std::string>& paths) {
  std::vector<hobj_ref_t> references;
  references.reserve(paths.size());
  const std::string own_file = file_of(object);
  for (const std::string& path : paths) {
    hobj_ref_t& reference = references.emplace_back(0);
    if (path.empty())
      continue;
    const auto refused = [&](Code code, std::string_view why) {
      return Status(code, fmt::format("{}: its reference to \"{}\" {}", what, path, why));
    };
    if (!path.starts_with('/'))
      return refused(Code::bad_argument, "does not begin with a slash");
    const Handle target(H5Oopen(object, path.c_str(), H5P_DEFAULT), H5Oclose);
    if (!target.valid())
      return refused(Code::not_found, "refers to nothing");
    if (file_of(target.get()) != own_file)
      return refused(Code::bad_argument, "refers to another file");
    if (H5Rcreate(&reference, object, path.c_str(), H5R_OBJECT, -1) < 0)
      return hdf5_status(Code::io, "reference to", path);
  }
  return references;
}

Result<std::vector<std::string>> read_variable(hid_t file, const std::string& path,
                                               const std::function<ObjectPaths()>& paths) {
  Result<OpenVariable> opened = open_variable(file, path);
  if (!opened.ok())
    return opened.status();
  const OpenVariable& variable = opened.value();
  if (Status status = check_texts_fit(path, variable.extent.elements, 0); !status.ok())
    return status;
  const auto elements = static_cast<size_t>(variable.extent.elements);
  const ReadAll read = reader_of(variable);
  if (variable.description.type == Type::reference)
    return read_references(elements, path, read, paths());
  if (Status status = check_text_places(file, variable, path); !status.ok())
    return status;
  return read_variable_texts(variable.space.get(), elements, variable.description.details.text_ascii, path, read);
}

Status write_variable(hid_t file, const std::string& path, const std::vector<std::string>& texts,
                      const std::function<std::vector<std::string>(const std::vector<std::string>&)>& stored) {
  Result<OpenVariable> opened = open_variable(file, path);
  if (!opened.ok())
    return opened.status();
  const OpenVariable& variable = opened.value();
  if (std::cmp_not_equal(texts.size(), variable.extent.elements))
    return {Code::bad_argument,
            fmt::format("\"{}\" has {}, not {}", path, counted(variable.extent.elements, "text"), texts.size())};
  if (texts.empty())
    return {};
  const hid_t dataset = variable.dataset.get();
  if (variable.description.type == Type::reference) {
    const Result<std::vector<hobj_ref_t>> references =
        make_references(dataset, fmt::format("\"{}\"", path), stored(texts));
    if (!references.ok())
      return references.status();
    if (H5Dwrite(dataset, H5T_STD_REF_OBJ, H5S_ALL, H5S_ALL, H5P_DEFAULT, references.value().data()) >= 0)
      return {};
    return hdf5_status(Code::io, "write of", path);
  }
  // HDF5 frees the texts that it replaces.
  if (H5Dget_storage_size(dataset) > 0)
    if (Status status = check_text_places(file, variable, path); !status.ok())
      return status;
  std::vector<const char*> pointers;
  pointers.reserve(texts.size());
  for (const std::string& text : texts)
    pointers.push_back(text.c_str());
  const Handle type =
      make_text_type(H5T_VARIABLE, TextPadding::null_terminated, variable.description.details.text_ascii);
  if (H5Dwrite(dataset, type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, pointers.data()) >= 0)
    return {};
  return hdf5_status(Code::io, "write of", path);
}

}  // namespace windrow
