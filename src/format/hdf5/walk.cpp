// SPDX-License-Identifier: BSD-3-Clause
#include "format/hdf5/walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "base/checked.hpp"
#include "base/units.hpp"
#include "format/check.hpp"
#include "format/hdf5/attributes.hpp"
#include "format/hdf5/dimensions.hpp"
#include "format/hdf5/heap.hpp"
#include "format/hdf5/types.hpp"
#include "format/hdf5/version.hpp"
#include "format/hdf5/virtual.hpp"

namespace windrow {
namespace {

struct Link {
  std::string name;
  H5L_type_t type = H5L_TYPE_ERROR;
  size_t target_bytes = 0;        // of a soft link, including its NUL
  haddr_t address = HADDR_UNDEF;  // of a hard link: address of its object's header
};

H5_index_t attribute_index(hid_t object) {
  return (header_flags_of(object) & H5O_HDR_ATTR_CRT_ORDER_TRACKED) != 0 ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
}

H5_index_t link_index(hid_t creation) {
  unsigned order = 0;
  const bool is_known = H5Pget_link_creation_order(creation, &order) >= 0;
  return is_known && (order & H5P_CRT_ORDER_TRACKED) != 0 ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
}

// The user-defined fill value; empty: none, or zeros, which is the default.
std::vector<std::byte> fill_value(hid_t creation, hid_t type) {
  H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
  constexpr size_t k_most_bytes = 65536;  // maximum size of an HDF5 message, as which a fill value is stored
  if (H5Pfill_value_defined(creation, &defined) < 0 || defined != H5D_FILL_VALUE_USER_DEFINED ||
      H5Tget_size(type) > k_most_bytes)
    return {};
  std::vector<std::byte> value(H5Tget_size(type));
  const bool known = H5Pget_fill_value(creation, type, value.data()) >= 0;
  const bool counts =
      known && std::any_of(value.begin(), value.end(), [](std::byte each) { return each != std::byte{0}; });
  return counts ? value : std::vector<std::byte>();
}

Filter read_filter(hid_t creation, unsigned number) {
  Filter filter;
  char name[128] = "";
  unsigned flags = 0;
  size_t values = 0;
  filter.id = H5Pget_filter2(creation, number, &flags, &values, nullptr, sizeof name, name, nullptr);
  name[sizeof name - 1] = '\0';
  filter.name = name[0] != '\0' ? name : fmt::format("filter {}", filter.id);
  filter.values.resize(values);
  if (values > 0)
    H5Pget_filter2(creation, number, &flags, &values, filter.values.data(), 0, nullptr, nullptr);
  return filter;
}

// Whether the first dimension is unlimited.
bool can_grow(hid_t space) {
  std::array<hsize_t, k_most_dimensions> most{};
  return H5Sget_simple_extent_ndims(space) > 0 && H5Sget_simple_extent_dims(space, nullptr, most.data()) > 0 &&
         most[0] == H5S_UNLIMITED;
}

// Chunking of a dataset, or why it cannot be read.
Status read_chunking(hid_t creation, hid_t type, hid_t space, Variable& variable) {
  constexpr int64_t k_most_bytes = int64_t{1} << 30;  // a chunk is moved between ranks as a whole
  std::array<hsize_t, k_most_dimensions> shape{};
  const int dimensions = H5Pget_chunk(creation, static_cast<int>(shape.size()), shape.data());
  if (dimensions != static_cast<int>(variable.shape.size()))
    return {Code::bad_file, "its chunks have another number of dimensions"};
  Chunking& chunking = variable.chunking;
  for (int i = 0; i < dimensions; ++i)
    chunking.shape.push_back(static_cast<int64_t>(std::min<hsize_t>(shape[static_cast<size_t>(i)], INT64_MAX)));
  const auto elements = element_count(chunking.shape);
  const auto bytes = elements ? checked_multiply(*elements, static_cast<int64_t>(H5Tget_size(type))) : std::nullopt;
  if (!bytes || *bytes == 0)
    return {Code::bad_file, "its chunks are too large, or empty"};
  variable.extendible = can_grow(space);
  const int filters = H5Pget_nfilters(creation);
  for (int i = 0; i < filters; ++i)
    chunking.filters.push_back(read_filter(creation, static_cast<unsigned>(i)));
  unsigned choices = 0;
  chunking.edges_unfiltered = filters > 0 && H5Pget_chunk_opts(creation, &choices) >= 0 &&
                              (choices & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) != 0;
  if (const std::string missing = missing_filter(chunking.filters); !missing.empty())
    variable.unsupported = fmt::format("filtered with {}, which is not built in", missing);
  else if (*bytes > k_most_bytes)
    variable.unsupported = fmt::format("chunks of {}", format_bytes(*bytes));
  return {};
}

// "" if the elements are contiguous, chunked, or in the header.
std::string layout_reason(hid_t creation) {
  switch (H5Pget_layout(creation)) {
    case H5D_CONTIGUOUS:
      return H5Pget_external_count(creation) > 0 ? "external file storage" : "";
    case H5D_CHUNKED:
      return "";
    case H5D_COMPACT:
      return "";
    case H5D_VIRTUAL:
      return "virtual dataset";
    default:
      return "unknown HDF5 layout";
  }
}

// The same for data that HDF5 reads, which handles any layout, but must not open other files.
std::string whole_layout_reason(hid_t creation) {
  return H5Pget_layout(creation) == H5D_VIRTUAL || H5Pget_external_count(creation) > 0 ? layout_reason(creation) : "";
}

// A dataset with its properties, while its handles are open.
struct OpenDataset {
  hid_t id, type, creation, space;
  H5D_layout_t layout;
};

class Walk {
 public:
  Walk(hid_t file, const std::string& path, int64_t file_bytes, Scales& scales) noexcept
      : file_(file), path_(path), file_bytes_(file_bytes), scales_(scales) {}

  Status run();
  Catalog take() { return std::move(catalog_); }

 private:
  Status damaged(const std::string& object) const {
    return hdf5_status(Code::bad_file, "\"" + path_ + "\": object", object);
  }
  Status visit_group(const std::string& group_path);
  Status visit_link(hid_t group, const std::string& group_path, const Link& link);
  Status visit_dataset(hid_t dataset, haddr_t address, const std::string& object_path);
  Status describe(const OpenDataset& dataset, Variable& variable) const;
  Status locate(const OpenDataset& dataset, Variable& variable) const;
  Status place(hid_t dataset, bool is_compact, Variable& variable) const;
  Status read_compact(hid_t dataset, Variable& variable) const;
  void skip(const std::string& object_path, std::string_view reason) {
    catalog_.unsupported.push_back(fmt::format("{}: {}", object_path, reason));
  }
  Status skip_bad(const std::string& object_path, Status status);
  Result<std::vector<Attribute>> take_attributes(hid_t object, const std::string& object_path);
  void resolve_references(std::vector<Attribute>& attributes) const;

  hid_t file_;
  const std::string& path_;
  int64_t file_bytes_;
  Scales& scales_;
  Catalog catalog_;
  ObjectPaths seen_;                  // and the path under which each was seen
  std::vector<std::string> pending_;  // groups, the next one last; a list, because recursion could become too deep
};

herr_t take_link(hid_t group, const char* name, const LinkInfo* info, void* data) noexcept {
  return static_cast<Collected<Link>*>(data)->add([&] {
    const bool is_hard = info->type == H5L_TYPE_HARD;
    return Link{name, info->type, info->type == H5L_TYPE_SOFT ? info->u.val_size : 0,
                is_hard ? address_of(group, *info) : HADDR_UNDEF};
  });
}

Status Walk::run() {
  const Handle root(H5Gopen2(file_, "/", H5P_DEFAULT), H5Gclose);
  const haddr_t address = root.valid() ? address_of(root.get()) : HADDR_UNDEF;
  if (address == HADDR_UNDEF)
    return damaged("/");
  seen_.emplace(address, "/");
  pending_.emplace_back("/");
  Status status;
  while (status.ok() && !pending_.empty()) {
    const std::string group_path = std::move(pending_.back());
    pending_.pop_back();
    status = visit_group(group_path);
  }
  if (!status.ok())
    return status;
  scales_.resolve(catalog_, seen_);
  for (Group& group : catalog_.groups)
    resolve_references(group.attributes);
  for (Variable& variable : catalog_.variables)
    resolve_references(variable.attributes);
  return status;
}

// Resolving the name of one object makes HDF5 walk the file. A reference to nothing or to a removed object is "".
void Walk::resolve_references(std::vector<Attribute>& attributes) const {
  for (Attribute& attribute : attributes) {
    if (attribute.type != Type::reference)
      continue;
    for (size_t at = 0; at + sizeof(hobj_ref_t) <= attribute.data.size(); at += sizeof(hobj_ref_t)) {
      hobj_ref_t reference = 0;
      std::memcpy(&reference, &attribute.data[at], sizeof reference);
      const auto found = seen_.find(reference);
      attribute.texts.push_back(found == seen_.end() ? "" : found->second);
    }
    attribute.data.clear();
  }
}

constexpr std::string_view k_newer = "written by a newer HDF5 version than this library uses";

bool is_newer(const Status& status) {
  return status.message().find("bad version number") != std::string::npos;
}

// An error of one object does not affect the rest of the file.
Status Walk::skip_bad(const std::string& object_path, Status status) {
  if (status.code() != Code::bad_file)
    return status;
  skip(object_path, is_newer(status) ? std::string(k_newer) : "damaged: " + status.message());
  return {};
}

// HDF5 lists the attributes of an object only if it knows all their types.
Result<std::vector<Attribute>> Walk::take_attributes(hid_t object, const std::string& object_path) {
  Result<std::vector<Attribute>> attributes =
      read_attributes(object, attribute_index(object), object_path, file_bytes_);
  if (attributes.ok() || attributes.status().code() != Code::bad_file || !is_newer(attributes.status()))
    return attributes;
  skip(object_path, fmt::format("its attributes, one of them {}", k_newer));
  return std::vector<Attribute>();
}

Status Walk::visit_group(const std::string& group_path) {
  const Handle group(H5Gopen2(file_, group_path.c_str(), H5P_DEFAULT), H5Gclose);
  const Handle creation(group.valid() ? H5Gget_create_plist(group.get()) : H5I_INVALID_HID, H5Pclose);
  if (!creation.valid())
    return damaged(group_path);
  Result<std::vector<Attribute>> attributes = take_attributes(group.get(), group_path);
  if (!attributes.ok())
    return attributes.status();
  catalog_.groups.push_back({group_path, std::move(attributes).value()});
  Collected<Link> links;
  if (iterate_links(group.get(), link_index(creation.get()), take_link, &links) < 0)
    return links.status.ok() ? damaged(group_path) : links.status;
  const size_t first_child = pending_.size();
  for (const Link& link : links.list) {
    Status status = visit_link(group.get(), group_path, link);
    if (!status.ok())
      return status;
  }
  std::reverse(pending_.begin() + static_cast<std::ptrdiff_t>(first_child),
               pending_.end());  // in their order: the last is the next
  return {};
}

Status Walk::visit_link(hid_t group, const std::string& group_path, const Link& link) {
  const std::string object_path = (group_path == "/" ? "" : group_path) + "/" + link.name;
  if (link.type == H5L_TYPE_SOFT) {
    std::string target(link.target_bytes, '\0');
    if (H5Lget_val(group, link.name.c_str(), target.data(), target.size(), H5P_DEFAULT) < 0)
      return damaged(object_path);
    catalog_.links.push_back({object_path, target.c_str()});
    return {};
  }
  if (link.type != H5L_TYPE_HARD) {
    skip(object_path, link.type == H5L_TYPE_EXTERNAL ? "external link" : "user-defined link");
    return {};
  }
  const Result<Handle> opened = open_checked(file_, group, link.name, link.address);
  if (!opened.ok()) {
    const std::string& why = opened.status().message();
    return skip_bad(object_path,
                    {opened.status().code(), fmt::format("\"{}\": object \"{}\": {}", path_, object_path, why)});
  }
  const Handle& object = opened.value();
  const haddr_t address = object.valid() ? address_of(object.get()) : HADDR_UNDEF;
  if (address == HADDR_UNDEF)
    return skip_bad(object_path, damaged(object_path));
  const auto [seen, is_new] = seen_.emplace(address, object_path);
  if (!is_new) {
    catalog_.links.push_back({object_path, seen->second, true});  // an alias of the first
    return {};
  }
  switch (H5Iget_type(object.get())) {
    case H5I_DATASET:
      return skip_bad(object_path, visit_dataset(object.get(), address, object_path));
    case H5I_DATATYPE:
      skip(object_path, "named datatype");
      return {};
    case H5I_GROUP:
      break;
    default:
      skip(object_path, "an object of an unknown kind");
      return {};
  }
  if (std::count(object_path.begin(), object_path.end(), '/') > k_most_groups)
    skip(object_path, fmt::format("nested deeper than {} groups", k_most_groups));
  else
    pending_.push_back(object_path);
  return {};
}

// The elements as stored in the dataset's header.
Status Walk::read_compact(hid_t dataset, Variable& variable) const {
  constexpr int64_t k_most_bytes = 65536;  // maximum size of a header message
  if (variable.placement.bytes > k_most_bytes ||
      H5Dget_storage_size(dataset) != static_cast<hsize_t>(variable.placement.bytes))
    return {Code::bad_file,
            fmt::format("\"{}\": the data of \"{}\" does not fill its shape: damaged", path_, variable.path)};
  variable.is_inline = true;
  variable.content.resize(static_cast<size_t>(variable.placement.bytes));
  const Handle type(H5Dget_type(dataset), H5Tclose);
  if (H5Dread(dataset, type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, variable.content.data()) < 0)
    return damaged(variable.path);
  return {};
}

// Where a contiguous dataset's bytes are.
Status Walk::place(hid_t dataset, bool is_compact, Variable& variable) const {
  Placement& placement = variable.placement;
  if (placement.bytes == 0)
    return {};
  if (is_compact)
    return read_compact(dataset, variable);
  const haddr_t offset = H5Dget_offset(dataset);  // from the file's start, a user block included
  // HDF5 allocates space at the first write. In a file with a user block the offset of an unallocated dataset is not
  // HADDR_UNDEF (HDF5 1.10), because it adds the block.
  variable.is_inline = offset == HADDR_UNDEF || H5Dget_storage_size(dataset) == 0;
  if (variable.is_inline)
    return {};
  const bool inside = offset <= static_cast<haddr_t>(file_bytes_) &&
                      placement.bytes <= file_bytes_ - static_cast<int64_t>(offset) &&
                      H5Dget_storage_size(dataset) == static_cast<hsize_t>(placement.bytes);
  if (!inside)
    return {Code::bad_file, fmt::format("\"{}\": the data of \"{}\" lies outside the file: truncated or damaged", path_,
                                        variable.path)};
  placement.offset = static_cast<int64_t>(offset);
  return {};
}

void set_type(TypeDescription description, Variable& variable) {
  variable.type = description.type;
  variable.placement.big_endian = description.big_endian;
  variable.unsupported = std::move(description.unsupported);
  variable.details = std::move(description.details);
}

// The shape, the size and the fill value.
Status Walk::describe(const OpenDataset& dataset, Variable& variable) const {
  Result<SpaceDescription> extent = describe_space(dataset.space, "\"" + path_ + "\": " + variable.path);
  if (!extent.ok())
    return extent.status();
  variable.shape = std::move(extent.value().shape);
  variable.null_space = extent.value().is_null;
  const bool moved_whole = is_moved_whole(variable.type, variable.details);
  if (variable.unsupported.empty() && !variable.null_space)
    variable.unsupported = moved_whole ? whole_layout_reason(dataset.creation) : layout_reason(dataset.creation);
  const bool is_readable = variable.unsupported.empty();
  const int64_t element = moved_whole ? 0 : static_cast<int64_t>(H5Tget_size(dataset.type));
  const auto bytes = checked_multiply(extent.value().elements, element);
  if (is_readable && !bytes)
    return {Code::bad_file, fmt::format("\"{}\": \"{}\" is too large", path_, variable.path)};
  variable.placement.bytes = bytes.value_or(0);
  if (is_readable && !moved_whole)
    variable.fill = fill_value(dataset.creation, dataset.type);
  return {};
}

// Where the elements of a readable variable are.
Status Walk::locate(const OpenDataset& dataset, Variable& variable) const {
  const bool has_chunks = dataset.layout == H5D_CHUNKED && !is_moved_whole(variable.type, variable.details);
  if (!has_chunks || variable.null_space)
    return place(dataset.id, dataset.layout == H5D_COMPACT, variable);
  Status status = read_chunking(dataset.creation, dataset.type, dataset.space, variable);
  if (!status.ok())
    status = {status.code(), fmt::format("\"{}\": \"{}\": {}", path_, variable.path, status.message())};
  return status;
}

// The creation properties of a dataset of an unsupported type are not needed, and HDF5 would convert its fill value.
Status Walk::visit_dataset(hid_t dataset, haddr_t address, const std::string& object_path) {
  const Handle type(H5Dget_type(dataset), H5Tclose);
  if (!type.valid())
    return damaged(object_path);
  Variable variable;
  variable.path = object_path;
  set_type(describe_type(type.get()), variable);
  const bool is_known = variable.unsupported.empty();
  const Result<Handle> creation = is_known ? checked_creation(dataset, type.get(), object_path) : Handle();
  if (!creation.ok())
    return {creation.status().code(), fmt::format("\"{}\": {}", path_, creation.status().message())};
  if (is_known && !creation.value().valid())
    return damaged(object_path);
  const H5D_layout_t layout = is_known ? H5Pget_layout(creation.value().get()) : H5D_LAYOUT_ERROR;
  const std::vector<int64_t> current = layout == H5D_VIRTUAL ? read_current_shape(dataset) : std::vector<int64_t>();
  const Handle space = current.empty() ? Handle(H5Dget_space(dataset), H5Sclose) : make_space(current, true);
  if (!space.valid())
    return damaged(object_path);
  const OpenDataset opened{dataset, type.get(), creation.value().get(), space.get(), layout};
  variable.extendible = !current.empty();
  Status status = describe(opened, variable);
  if (status.ok() && variable.unsupported.empty())
    status = locate(opened, variable);
  if (!status.ok())
    return status;
  Result<std::vector<Attribute>> attributes = take_attributes(dataset, object_path);
  if (!attributes.ok())
    return attributes.status();
  variable.attributes = std::move(attributes).value();
  if (scales_.take(dataset, address, variable, catalog_.variables.size()))
    catalog_.dimensions.push_back({object_path, variable.shape.front()});
  else
    catalog_.variables.push_back(std::move(variable));
  return {};
}

}  // namespace

namespace {

// netCDF-4 stores no length of an unlimited dimension without a variable: it is that of the longest variable along it.
void lengthen_dimensions(Catalog& catalog) {
  std::map<std::string_view, int64_t> longest;
  for (const Variable& variable : catalog.variables)
    for (size_t i = 0; i < variable.dimensions.size(); ++i) {
      int64_t& length = longest[variable.dimensions[i]];
      length = std::max(length, variable.shape[i]);
    }
  for (Dimension& dimension : catalog.dimensions)
    if (const auto found = longest.find(dimension.path); found != longest.end())
      dimension.length = std::max(dimension.length, found->second);
}

}  // namespace

Result<Catalog> walk_file(hid_t file, const std::string& path, int64_t file_bytes, Scales& scales) {
  Walk walk(file, path, file_bytes, scales);
  Status status = walk.run();
  if (!status.ok())
    return status;
  Catalog catalog = walk.take();
  lengthen_dimensions(catalog);
  return catalog;
}

ObjectPaths paths_of_objects(hid_t file) {
  ObjectPaths paths;
  std::vector<std::string> pending{"/"};
  while (!pending.empty()) {
    const std::string path = std::move(pending.back());
    pending.pop_back();
    const Handle group(H5Gopen2(file, path.c_str(), H5P_DEFAULT), H5Gclose);
    Collected<Link> links;
    if (!group.valid() || iterate_links(group.get(), H5_INDEX_NAME, take_link, &links) < 0)
      continue;
    if (path == "/")
      paths.emplace(address_of(group.get()), path);
    for (const Link& link : links.list) {
      if (link.type != H5L_TYPE_HARD)
        continue;
      const Result<Handle> opened = open_checked(file, group.get(), link.name, link.address);
      if (!opened.ok())
        continue;
      const Handle& object = opened.value();
      const haddr_t address = object.valid() ? address_of(object.get()) : HADDR_UNDEF;
      const std::string place = (path == "/" ? "" : path) + "/" + link.name;
      if (address == HADDR_UNDEF || !paths.emplace(address, place).second || H5Iget_type(object.get()) != H5I_GROUP)
        continue;
      if (std::count(place.begin(), place.end(), '/') <= k_most_groups)
        pending.push_back(place);
    }
  }
  return paths;
}

}  // namespace windrow
