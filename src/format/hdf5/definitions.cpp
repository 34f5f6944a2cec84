// SPDX-License-Identifier: BSD-3-Clause
// Definitions of objects and attributes.
#include <fmt/format.h>

#include <cstdint>

#include "base/utf8.hpp"
#include "format/check.hpp"
#include "format/hdf5/attributes.hpp"
#include "format/hdf5/creation.hpp"
#include "format/hdf5/hdf5_class.hpp"
#include "format/hdf5/types.hpp"
#include "format/hdf5/virtual.hpp"

namespace windrow {

// After a failed creation: one of two usage errors, or HDF5's error.
Status Hdf5Format::explain_refusal(const std::string& path) const {
  Status status = hdf5_status(Code::io, "creation of", path);  // before other calls change HDF5's error
  const std::string parent = parent_of(path);
  const Handle group(H5Gopen2(file_, parent.c_str(), H5P_DEFAULT), H5Gclose);
  if (!group.valid())
    return {Code::not_found, fmt::format("\"{}\": there is no group \"{}\"", path, parent)};
  if (H5Lexists(file_, scales_.stored(path).c_str(), H5P_DEFAULT) > 0)
    return {Code::exists, fmt::format("\"{}\" exists already", path)};
  return status;
}

// The stored paths of these objects.
std::vector<std::string> Hdf5Format::stored_paths(const std::vector<std::string>& paths) const {
  std::vector<std::string> stored;
  for (const std::string& path : paths)
    stored.push_back(scales_.stored(path));
  return stored;
}

Status Hdf5Format::define_group(const std::string& path) {
  return change([&] {
    const Quiet quiet;
    Status status = writable("group", path);
    status.update(check_object_path(path));
    if (status.ok() && path == "/")
      status = {Code::exists, "\"/\" exists already"};
    if (!status.ok())
      return status;
    const Handle creation(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
    set_group_creation(creation.get());
    const Handle links = link_creation(path);
    const bool is_inside = last_group_.handle.valid() && parent_of(path) == last_group_.path;
    const std::string name = is_inside ? path.substr(path.rfind('/') + 1) : path;
    Handle group(H5Gcreate2(is_inside ? last_group_.handle.get() : file_, name.c_str(), links.get(), creation.get(),
                            H5P_DEFAULT),
                 H5Gclose);
    if (!group.valid())
      return explain_refusal(path);
    last_group_ = {path, std::move(group)};
    return Status();
  });
}

namespace {

// Filters that only Windrow runs need not be available to HDF5, which allocates space but never encodes. Readers need
// them.
bool set_chunks(hid_t creation, const Chunking& chunking) {
  const std::vector<hsize_t> shape(chunking.shape.begin(), chunking.shape.end());
  if (H5Pset_chunk(creation, static_cast<int>(shape.size()), shape.data()) < 0 ||
      H5Pset_alloc_time(creation, H5D_ALLOC_TIME_INCR) < 0)
    return false;
  for (const Filter& filter : chunking.filters) {
    const unsigned flag = filter.id == static_cast<int>(FilterId::fletcher32) ? H5Z_FLAG_MANDATORY : H5Z_FLAG_OPTIONAL;
    if (H5Pset_filter(creation, filter.id, flag, filter.values.size(), filter.values.data()) < 0)
      return false;
  }
  return !chunking.edges_unfiltered || H5Pset_chunk_opts(creation, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) >= 0;
}

}  // namespace

Status Hdf5Format::create_dataset(const VariableDefinition& definition, const std::string& place,
                                  Placement& placement) const {
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  // What goes through HDF5 keeps HDF5's defaults: its elements are places in a heap, and must not be undefined.
  const bool set =
      is_moved_whole(definition.type, definition.details) ||
      (definition.chunking.empty() ? set_contiguous(creation.get()) : set_chunks(creation.get(), definition.chunking));
  if (!set || set_object_creation(creation.get()) < 0)
    return hdf5_status(Code::bad_argument, "settings of", definition.path);
  const Handle links = link_creation(place);
  const Handle space = definition.null_space ? make_null_space() : make_space(definition.shape, definition.extendible);
  const Handle type = make_type(definition.type, definition.big_endian, definition.details);
  if (!type.valid())
    return hdf5_status(Code::bad_argument, "type of", definition.path);
  if (!definition.fill.empty() && H5Pset_fill_value(creation.get(), type.get(), definition.fill.data()) < 0)
    return hdf5_status(Code::bad_argument, "fill value of", definition.path);
  const Handle dataset(
      H5Dcreate2(file_, place.c_str(), type.get(), space.get(), links.get(), creation.get(), H5P_DEFAULT), H5Dclose);
  if (!dataset.valid())
    return explain_refusal(definition.path);
  if (placement.bytes == 0 || !definition.chunking.empty())
    return {};
  const haddr_t offset = H5Dget_offset(dataset.get());
  if (offset == HADDR_UNDEF)
    return hdf5_status(Code::internal, "place of", definition.path);
  placement.offset = static_cast<int64_t>(offset);
  return take_place(file_, {placement.offset, placement.offset + placement.bytes}, definition.fill.empty());
}

Result<Placement> Hdf5Format::define_variable(const VariableDefinition& definition) {
  Placement placement{.big_endian = definition.big_endian};
  Status status = change([&] {
    const Quiet quiet;
    Status valid = can_place("variable", definition.path);
    const Result<int64_t> bytes = check_definition(definition, References::some);
    valid.update(bytes.status());
    if (valid.ok() && definition.chunking.empty())
      valid = check_room(bytes.value());
    if (!valid.ok())
      return valid;
    placement.bytes = bytes.value();
    valid = create_dataset(definition, scales_.place_of_new(definition.path), placement);
    if (!valid.ok() && valid.code() != Code::exists)
      scales_.forget(definition.path);
    return valid;
  });
  if (!status.ok())
    return status;
  return placement;
}

Status Hdf5Format::undefine(const std::string& path, int64_t) {
  return change([&] {
    const Quiet quiet;
    if (Status status = writable("definition of", path); !status.ok())
      return status;
    const std::string place_in_file = scales_.stored(path);
    last_group_ = {};
    if (const Handle group(H5Gopen2(file_, path.c_str(), H5P_DEFAULT), H5Gclose); group.valid()) {
      H5G_info_t about{};
      if (H5Gget_info(group.get(), &about) < 0 || about.nlinks > 0)
        return Status(Code::bad_state, fmt::format("group \"{}\" has members", path));
    }
    if (H5Lexists(file_, place_in_file.c_str(), H5P_DEFAULT) <= 0)
      return Status(Code::not_found, fmt::format("there is no \"{}\"", path));
    Extent place;
    if (const Handle dataset(H5Dopen2(file_, place_in_file.c_str(), H5P_DEFAULT), H5Dclose); dataset.valid())
      if (const haddr_t offset = H5Dget_offset(dataset.get()); offset != HADDR_UNDEF)
        place = {static_cast<int64_t>(offset), static_cast<int64_t>(offset + H5Dget_storage_size(dataset.get()))};
    chunks_.forget(path);
    Status status = outcome(H5Ldelete(file_, place_in_file.c_str(), H5P_DEFAULT), "definitions in");
    if (status.ok())
      scales_.forget(path);
    if (status.ok() && !place.empty())
      give_place_back(file_, place);
    return status;
  });
}

Result<std::vector<Part>> Hdf5Format::parts_of(const std::string& path) {
  return guard([&]() -> Result<std::vector<Part>> {
    const Quiet quiet;
    if (file_ < 0)
      return Status(Code::bad_state, fmt::format("\"{}\" is closed", path_));
    hand_over();
    auto parts = read_virtual(file_, scales_.stored(path), path);
    if (parts.ok() && !failure_->ok())
      return *failure_;
    return parts;
  });
}

Status Hdf5Format::define_split(const VariableDefinition& definition, std::span<const Part> parts) {
  return change([&] {
    const Quiet quiet;
    Status status = writable("variable", definition.path);
    status.update(check_definition(definition, References::some).status());
    if (!status.ok())
      return status;
    const std::string place = scales_.place_of_new(definition.path);
    if (H5Lexists(file_, place.c_str(), H5P_DEFAULT) > 0)
      return Status(Code::exists, fmt::format("\"{}\" exists already", definition.path));
    status = create_virtual(file_, place, definition, parts);
    if (!status.ok())
      scales_.forget(definition.path);
    status.update(*failure_);
    return status;
  });
}

// Opening an object takes HDF5 longer than writing an attribute of it.
Status Hdf5Format::put_attributes(const std::string& object, std::span<const Attribute> attributes) {
  return change([&] {
    const Quiet quiet;
    Status status = writable("attribute of", object);
    status.update(check_object_path(object));
    if (!attributes.empty())
      status.update(check_attribute(object, attributes.front(), References::some));
    if (!status.ok() || attributes.empty())
      return status;
    const Handle handle(H5Oopen(file_, scales_.stored(object).c_str(), H5P_DEFAULT), H5Oclose);
    if (!handle.valid())
      return Status(Code::not_found, fmt::format("there is no \"{}\"", object));
    for (const Attribute& attribute : attributes) {
      status = check_attribute(object, attribute, References::some);
      if (status.ok() && attribute.type == Type::reference) {
        Attribute stored = attribute;
        stored.texts = stored_paths(attribute.texts);
        status = write_attribute(handle.get(), object, stored);
      } else if (status.ok()) {
        status = write_attribute(handle.get(), object, attribute);
      }
      if (!status.ok())
        return status;
    }
    return status;
  });
}

Status Hdf5Format::delete_attribute(const std::string& object, const std::string& name) {
  return change([&] {
    const Quiet quiet;
    if (Status status = writable("attribute of", object); !status.ok())
      return status;
    const Handle handle(H5Oopen(file_, scales_.stored(object).c_str(), H5P_DEFAULT), H5Oclose);
    if (!handle.valid())
      return Status(Code::not_found, fmt::format("there is no \"{}\"", object));
    if (H5Aexists(handle.get(), name.c_str()) <= 0)
      return Status(Code::not_found, fmt::format("\"{}\" has no attribute \"{}\"", object, name));
    return outcome(H5Adelete(handle.get(), name.c_str()), "attribute of");
  });
}

// HDF5 stores the length in 16 bits and silently truncates longer targets; readers of such a file may crash.
constexpr size_t k_longest_target = UINT16_MAX;

Status Hdf5Format::define_link(const SoftLink& link) {
  return change([&] {
    const Quiet quiet;
    Status status = writable("link", link.path);
    status.update(check_link(link));
    const std::string& target = scales_.stored(link.target);
    if (status.ok() && target.size() > k_longest_target)
      status = {Code::bad_argument,
                fmt::format("link \"{}\": its target \"{}...\" has {} bytes; the maximum in HDF5 is {}", link.path,
                            readable(target.substr(0, 40)), target.size(), k_longest_target)};
    if (!status.ok())
      return status;
    const Handle links = link_creation(link.path);
    const herr_t result = H5Lcreate_soft(target.c_str(), file_, link.path.c_str(), links.get(), H5P_DEFAULT);
    return result >= 0 ? *failure_ : explain_refusal(link.path);
  });
}

Status Hdf5Format::define_dimension(const Dimension& dimension) {
  return change([&] {
    const Quiet quiet;
    Status status = can_place("dimension", dimension.path);
    status.update(check_dimension(dimension));
    if (!status.ok())
      return status;
    status = scales_.define_dimension(dimension);
    status.update(*failure_);
    return status;
  });
}

Status Hdf5Format::name_dimensions(const std::string& variable, const std::vector<std::string>& dimensions) {
  return change([&] {
    const Quiet quiet;
    Status status = writable("dimensions of", variable);
    if (status.ok())
      status = scales_.name_dimensions(variable, dimensions);
    status.update(*failure_);
    return status;
  });
}

}  // namespace windrow
