// SPDX-License-Identifier: BSD-3-Clause
#include "format/hdf5/hdf5_format.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdint>

#include "base/checked.hpp"
#include "base/utf8.hpp"
#include "format/check.hpp"
#include "format/hdf5/attributes.hpp"
#include "format/hdf5/chunk_places.hpp"
#include "format/hdf5/creation.hpp"
#include "format/hdf5/dimensions.hpp"
#include "format/hdf5/driver.hpp"
#include "format/hdf5/signature.hpp"
#include "format/hdf5/texts.hpp"
#include "format/hdf5/types.hpp"
#include "format/hdf5/verify.hpp"
#include "format/hdf5/version.hpp"
#include "format/hdf5/virtual.hpp"
#include "format/hdf5/walk.hpp"
#include "storage/store.hpp"
#include "storage/system_error.hpp"

namespace windrow {
namespace {

class Hdf5Format final : public Format {
 public:
  Hdf5Format(std::string path, FormatMode mode, const FormatOptions& options, hid_t file)
      : path_(std::move(path)),
        mode_(mode),
        options_(options),
        file_(file),
        scales_(file),
        chunks_(file, path_, scales_),
        published_(mode == FormatMode::update),
        failure_(driver_failure(file)) {}
  ~Hdf5Format() override;
  Hdf5Format(const Hdf5Format&) = delete;
  Hdf5Format& operator=(const Hdf5Format&) = delete;

  Status define_group(const std::string& path) override;
  Result<Placement> define_variable(const VariableDefinition& definition) override;
  Status undefine(const std::string& path, int64_t records) override;
  bool can_split() const noexcept override { return true; }
  Status define_split(const VariableDefinition& definition, std::span<const Part> parts) override;
  Result<std::vector<Part>> parts_of(const std::string& path) override;
  Status put_attribute(const std::string& object, const Attribute& attribute) override {
    return put_attributes(object, std::span(&attribute, 1));
  }
  Status put_attributes(const std::string& object, std::span<const Attribute> attributes) override;
  Status delete_attribute(const std::string& object, const std::string& name) override;
  Status define_link(const SoftLink& link) override;
  Status define_dimension(const Dimension& dimension) override;
  Status name_dimensions(const std::string& variable, const std::vector<std::string>& dimensions) override;
  Result<std::vector<std::string>> read_texts(const std::string& path) override;
  Status write_texts(const std::string& path, const std::vector<std::string>& texts) override;
  Result<Catalog> catalog() override;
  Status extend(const std::string& path, std::span<const int64_t> shape) override;
  Result<int64_t> give_place(const std::string& path) override;
  Status write_held(const std::string& path, std::span<const std::byte> content) override;
  Result<PlacedChunk> place_chunk(const std::string& path, std::span<const int64_t> first, int64_t bytes,
                                  bool keep_old) override;
  Result<int64_t> reserve_chunk(const std::string& path, std::span<const int64_t> first, int64_t bytes) override;
  Status restore_chunk(const std::string& path, std::span<const int64_t> first) override;
  Status fill_chunk(const std::string& path, std::span<const int64_t> first, std::span<const std::byte> bytes) override;
  void forget_moved_chunks() noexcept override;
  Result<ChunkPlace> find_chunk(const std::string& path, std::span<const int64_t> first) override;
  Result<std::vector<int64_t>> stored_chunks(const std::string& path) override;
  void drop_changes() noexcept override;
  Status flush() override;
  Status close() override;

 private:
  Status writable(const char* what, const std::string& path) const;
  Result<int64_t> file_bytes() const;
  Status check_room(int64_t bytes) const;
  Status explain_refusal(const std::string& path) const;
  std::vector<std::string> stored_paths(const std::vector<std::string>& paths) const;
  Status create_dataset(const VariableDefinition& definition, const std::string& place, Placement& placement) const;
  Status outcome(herr_t result, const char* what) const;
  Status verify();
  // `ahead`: for a chunk that is not encoded yet.
  Result<PlacedChunk> find_room(const std::string& path, std::span<const int64_t> first, const ChunkRoom& room,
                                bool ahead);
  // Flushes what only HDF5's memory has, for check_heap_places(), which reads the file.
  void hand_over() const noexcept {
    if (changed_)
      (void)H5Fflush(file_, H5F_SCOPE_LOCAL);
  }
  // Runs a call that changes metadata.
  template <class Work>
  Status change(Work&& work) {
    changed_ = true;
    Status status = guard(std::forward<Work>(work));
    refused_ = refused_ || !status.ok();
    return status;
  }

  std::string path_;
  FormatMode mode_;
  FormatOptions options_;
  hid_t file_;  // invalid when closed
  Scales scales_;
  struct {
    std::string path;
    Handle handle;
  } last_group_;  // the last group that was created: the next object is often in it, which saves HDF5 a path lookup
  ChunkPlaces chunks_;
  bool published_ = false;  // others may have the file, so places in its index must stay valid
  bool changed_ = false;    // since the file was opened
  bool refused_ = false;    // a call since the last verify() failed, and HDF5 may have completed a part of it
  std::shared_ptr<const Status> failure_;  // of the driver: a storage error, which is permanent
};

Hdf5Format::~Hdf5Format() {
  if (file_ < 0)
    return;
  const Quiet quiet;
  last_group_ = {};
  chunks_.close();
  H5Fclose(file_);
}

Status Hdf5Format::writable(const char* what, const std::string& path) const {
  if (file_ >= 0 && mode_ != FormatMode::read)
    return *failure_;
  return {Code::bad_state,
          fmt::format("{} \"{}\": the file is {}", what, path, file_ < 0 ? "closed" : "open for reading only")};
}

Status Hdf5Format::outcome(herr_t result, const char* what) const {
  if (!failure_->ok() || result >= 0)
    return *failure_;
  return hdf5_status(Code::io, what, path_);
}

// Called before a new file gets its name: a failed call of HDF5 can leave objects that HDF5 itself cannot read. If no
// call failed, nothing is read.
Status Hdf5Format::verify() {
  if (mode_ != FormatMode::create || published_ || !refused_)
    return {};
  Status status = read_all_headers(path_);
  refused_ = !status.ok();
  return status;
}

Result<int64_t> Hdf5Format::file_bytes() const {
  hsize_t bytes = 0;
  if (H5Fget_filesize(file_, &bytes) < 0)
    return hdf5_status(Code::io, "size of", path_);
  return static_cast<int64_t>(bytes);
}

// HDF5 extends the file to its variables when it flushes. Beyond the process's limit that would be a fatal signal.
Status Hdf5Format::check_room(int64_t bytes) const {
  const Result<int64_t> now = file_bytes();
  if (!now.ok())
    return now.status();
  const auto aligned = checked_add(now.value(), options_.alignment);
  const auto end = aligned ? checked_add(*aligned, bytes) : std::nullopt;
  if (!end)
    return {Code::bad_argument, fmt::format("\"{}\" would be larger than 2^63 bytes", path_)};
  return beyond_file_size_limit(*end) ? system_status("growing of", path_, EFBIG) : Status();
}

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
    Status valid = writable("variable", definition.path);
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
    Status status = writable("dimension", dimension.path);
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

Result<std::vector<std::string>> Hdf5Format::read_texts(const std::string& path) {
  return guard([&]() -> Result<std::vector<std::string>> {
    const Quiet quiet;
    if (file_ < 0)
      return Status(Code::bad_state, fmt::format("\"{}\" is closed", path_));
    hand_over();
    auto texts = read_variable(file_, scales_.stored(path), [&] {
      ObjectPaths paths = paths_of_objects(file_);
      scales_.give_own_names(paths);
      return paths;
    });
    if (!texts.ok() && !failure_->ok())
      return *failure_;
    return texts;
  });
}

Status Hdf5Format::write_texts(const std::string& path, const std::vector<std::string>& texts) {
  return change([&] {
    const Quiet quiet;
    Status status = writable("texts of", path);
    if (!status.ok())
      return status;
    const DeferredElements held(file_);
    status =
        write_variable(file_, scales_.stored(path), texts, [this](const auto& paths) { return stored_paths(paths); });
    status.update(*failure_);
    return status;
  });
}

Result<Catalog> Hdf5Format::catalog() {
  return guard([&]() -> Result<Catalog> {
    const Quiet quiet;
    if (file_ < 0)
      return Status(Code::bad_state, fmt::format("\"{}\" is closed", path_));
    hand_over();
    const Result<int64_t> bytes = file_bytes();
    if (!bytes.ok())
      return bytes.status();
    scales_ = Scales(file_);
    auto catalog = walk_file(file_, path_, bytes.value(), scales_);
    if (!failure_->ok())
      return *failure_;  // the storage error is the reason for HDF5's result
    return catalog;
  });
}

bool is_virtual(hid_t dataset) {
  const Handle creation(H5Dget_create_plist(dataset), H5Pclose);
  return creation.valid() && H5Pget_layout(creation.get()) == H5D_VIRTUAL;
}

Status Hdf5Format::extend(const std::string& path, std::span<const int64_t> shape) {
  return change([&] {
    const Quiet quiet;
    if (Status ready = writable("variable", path); !ready.ok())
      return ready;
    const Result<hid_t> dataset = chunks_.dataset(path);
    if (!dataset.ok())
      return dataset.status();
    const auto extents = coordinates(shape);
    if (H5Dset_extent(dataset.value(), extents.data()) >= 0) {
      Status status = is_virtual(dataset.value()) ? write_current_shape(dataset.value(), path, shape) : Status();
      status.update(*failure_);
      return status;
    }
    Status status = hdf5_status(Code::io, "extension of", path);
    chunks_.forget(path);  // HDF5 believes that the dataset has the requested length already
    return status;
  });
}

// HDF5 allocates a dataset when something is written, and then fills it if the dataset has a fill value. So one element
// is written, with its old value.
Status write_one_unwritten(hid_t dataset, bool painted, const std::string& path) {
  const auto failed = [&path] { return hdf5_status(Code::io, "place of", path); };
  const Handle type(H5Dget_type(dataset), H5Tclose), creation(H5Dget_create_plist(dataset), H5Pclose);
  const Handle one(H5Screate(H5S_SCALAR), H5Sclose), all(H5Dget_space(dataset), H5Sclose);
  if (!type.valid() || !creation.valid() || !one.valid() || !all.valid())
    return failed();
  const std::array<hsize_t, k_most_dimensions> first{};
  if (H5Sget_simple_extent_ndims(all.get()) > 0 && H5Sselect_elements(all.get(), H5S_SELECT_SET, 1, first.data()) < 0)
    return failed();
  std::vector<std::byte> element(H5Tget_size(type.get()));
  if (painted && H5Pget_fill_value(creation.get(), type.get(), element.data()) < 0)
    return failed();
  return H5Dwrite(dataset, type.get(), one.get(), all.get(), H5P_DEFAULT, element.data()) >= 0 ? Status() : failed();
}

bool has_fill_value(hid_t dataset) {
  const Handle creation(H5Dget_create_plist(dataset), H5Pclose);
  H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
  return creation.valid() && H5Pfill_value_defined(creation.get(), &defined) >= 0 &&
         defined == H5D_FILL_VALUE_USER_DEFINED;
}

// Without a fill value the place may be freed space with old contents.
Result<int64_t> Hdf5Format::give_place(const std::string& path) {
  Extent place;
  Status status = change([&]() -> Status {
    const Quiet quiet;
    if (Status ready = writable("variable", path); !ready.ok())
      return ready;
    Handle dataset(H5Dopen2(file_, scales_.stored(path).c_str(), H5P_DEFAULT), H5Dclose);
    if (!dataset.valid())
      return hdf5_status(Code::io, "open of", path);
    const bool is_new = H5Dget_storage_size(dataset.get()) == 0, painted = has_fill_value(dataset.get());
    if (is_new)
      if (Status written = write_one_unwritten(dataset.get(), painted, path); !written.ok())
        return written;
    const auto bytes = static_cast<int64_t>(H5Dget_storage_size(dataset.get()));
    const haddr_t found = H5Dget_offset(dataset.get());
    if (bytes == 0 || found > static_cast<haddr_t>(INT64_MAX - bytes))
      return hdf5_status(Code::io, "place of", path);
    place = {static_cast<int64_t>(found), static_cast<int64_t>(found) + bytes};
    dataset = Handle();  // HDF5 has written the element from its cache
    return take_place(file_, place, is_new && !painted);
  });
  status.update(*failure_);
  if (!status.ok())
    return status;
  return place.begin;
}

Status Hdf5Format::write_held(const std::string& path, std::span<const std::byte> content) {
  Status status = change([&]() -> Status {
    const Quiet quiet;
    if (Status ready = writable("variable", path); !ready.ok())
      return ready;
    const Handle dataset(H5Dopen2(file_, scales_.stored(path).c_str(), H5P_DEFAULT), H5Dclose);
    if (!dataset.valid())
      return hdf5_status(Code::io, "open of", path);
    if (H5Dget_storage_size(dataset.get()) != content.size())
      return {Code::internal, "\"" + path + "\" has another size than before"};
    const Handle type(H5Dget_type(dataset.get()), H5Tclose);
    if (!type.valid() || H5Dwrite(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, content.data()) < 0)
      return hdf5_status(Code::io, "write of", path);
    return {};
  });
  status.update(*failure_);
  return status;
}

Result<PlacedChunk> Hdf5Format::find_room(const std::string& path, std::span<const int64_t> first,
                                          const ChunkRoom& room, bool ahead) {
  PlacedChunk chunk;
  Status status = guard([&] {
    const Quiet quiet;
    if (Status ready = writable("chunk of", path); !ready.ok())
      return ready;
    if (Status enough = check_room(room.bytes); !enough.ok())
      return enough;
    const Result<PlacedChunk> placed = ahead ? chunks_.reserve(path, first, room) : chunks_.place(path, first, room);
    if (!placed.ok())
      return placed.status();
    chunk = placed.value();
    return *failure_;
  });
  if (!status.ok())
    return status;
  return chunk;
}

Result<PlacedChunk> Hdf5Format::place_chunk(const std::string& path, std::span<const int64_t> first, int64_t bytes,
                                            bool keep_old) {
  return find_room(
      path, first,
      {.bytes = bytes, .keeps_old = keep_old, .published = published_, .made_here = mode_ != FormatMode::update},
      false);
}

Result<int64_t> Hdf5Format::reserve_chunk(const std::string& path, std::span<const int64_t> first, int64_t bytes) {
  const auto placed =
      find_room(path, first, {.bytes = bytes, .published = published_, .made_here = mode_ != FormatMode::update}, true);
  if (!placed.ok())
    return placed.status();
  return placed.value().offset;
}

Status Hdf5Format::restore_chunk(const std::string& path, std::span<const int64_t> first) {
  return guard([&] {
    const Quiet quiet;
    Status status = writable("chunk of", path);
    return status.ok() ? chunks_.restore(path, first) : status;
  });
}

Status Hdf5Format::fill_chunk(const std::string& path, std::span<const int64_t> first,
                              std::span<const std::byte> bytes) {
  return guard([&] {
    const Quiet quiet;
    Status status = writable("chunk of", path);
    return status.ok() ? chunks_.fill(path, first, bytes) : status;
  });
}

void Hdf5Format::forget_moved_chunks() noexcept {
  const Quiet quiet;
  chunks_.forget_moved();
}

Result<ChunkPlace> Hdf5Format::find_chunk(const std::string& path, std::span<const int64_t> first) {
  ChunkPlace place;
  Status status = guard([&] {
    const Quiet quiet;
    if (file_ < 0)
      return Status(Code::bad_state, fmt::format("\"{}\" is closed", path_));
    const Result<ChunkPlace> found = chunks_.find(path, first);
    if (!found.ok())
      return found.status();
    place = found.value();
    const Result<int64_t> end = file_bytes();
    if (!end.ok())
      return end.status();
    if (place.bytes <= 0 || (place.offset >= 0 && place.bytes <= end.value() - place.offset))
      return Status();
    return Status(Code::bad_file,
                  fmt::format("\"{}\": a chunk of \"{}\" lies outside the file: truncated or damaged", path_, path));
  });
  if (!status.ok())
    return status;
  return place;
}

Result<std::vector<int64_t>> Hdf5Format::stored_chunks(const std::string& path) {
  return guard([&]() -> Result<std::vector<int64_t>> {
    const Quiet quiet;
    if (file_ < 0)
      return Status(Code::bad_state, fmt::format("\"{}\" is closed", path_));
    auto chunks = chunks_.stored(path);
    if (!chunks.ok() && !failure_->ok())
      return *failure_;
    return chunks;
  });
}

void Hdf5Format::drop_changes() noexcept {
  if (file_ >= 0)
    windrow::drop_changes(file_);
}

Status Hdf5Format::flush() {
  return guard([&] {
    const Quiet quiet;
    if (file_ < 0)
      return Status(Code::bad_state, fmt::format("flush: \"{}\" is closed", path_));
    Status status = scales_.write_lists();
    status.update(outcome(H5Fflush(file_, H5F_SCOPE_LOCAL), "flush of"));
    if (status.ok())
      status = verify();
    if (status.ok())
      status = publish(file_);
    if (status.ok())
      status = chunks_.let_go();
    published_ = true;
    return status;
  });
}

Status Hdf5Format::close() {
  return guard([&] {
    const Quiet quiet;
    if (file_ < 0)
      return Status(Code::bad_state, fmt::format("close: \"{}\" is closed", path_));
    last_group_ = {};
    Status status = mode_ == FormatMode::read ? Status() : guard([&] { return scales_.write_lists(); });
    chunks_.forget_all();
    if (chunks_.index_held()) {  // HDF5 may reuse these places for what it writes while closing the file
      if (outcome(H5Fflush(file_, H5F_SCOPE_LOCAL), "flush of").ok())
        (void)publish(file_);
      (void)chunks_.let_go();
    }
    status.update(outcome(H5Fclose(std::exchange(file_, H5I_INVALID_HID)), "close of"));
    return status.ok() ? verify() : status;
  });
}

Handle access_list(FormatMode mode, const FormatOptions& options, Opening& opening) {
  Handle list(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  // The driver accesses plain files, whatever HDF5_DRIVER is, because others write at offsets of this file. The
  // earliest format version lets old HDF5 read it (HDF5 2.0 has another default). A new file is not locked: its
  // temporary name is unknown to others, and once a sync publishes it, others may read it. Aggregation of small data is
  // off, because HDF5 would add freed space to its blocks unseen by kept_.
  const bool ok = set_driver(list.get(), opening) >= 0 && H5Pset_fclose_degree(list.get(), H5F_CLOSE_STRONG) >= 0 &&
                  H5Pset_small_data_block_size(list.get(), 0) >= 0 &&
                  H5Pset_libver_bounds(list.get(), H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST) >= 0 &&
                  H5Pset_alignment(list.get(), static_cast<hsize_t>(options.alignment_threshold),
                                   static_cast<hsize_t>(options.alignment)) >= 0;
  if (!ok)
    return {};
  set_file_locking(list.get(), mode != FormatMode::create);
  return list;
}

Handle creation_list() {
  Handle list(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  set_group_creation(list.get());
  return list;
}

// HDF5 allocates 512 KiB for the cache of each file that it opens, and by default frees them with each file that it
// closes, which costs page faults in every file. With this limit it keeps those of the last two. The other limits are
// HDF5's own.
void keep_memory_of_cache() {
  constexpr int k_kib = 1024, k_mib = 1024 * k_kib;
  [[maybe_unused]] static const herr_t once =
      H5set_free_list_limits(4 * k_mib, k_mib + k_mib / 4, 4 * k_mib, 256 * k_kib, 16 * k_mib, k_mib);
}

// Makes no HDF5 call after one that may fail, because that would clear HDF5's error stack.
Handle open_file(const std::string& path, FormatMode mode, hid_t creation, hid_t access) {
  if (mode != FormatMode::create)
    return {H5Fopen(path.c_str(), mode == FormatMode::read ? H5F_ACC_RDONLY : H5F_ACC_RDWR, access), H5Fclose};
  // Truncated, not created again, because a temporary keeps its mode.
  return {H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, access), H5Fclose};
}

// The file is locked by another program, the file system has no locks, or this process has it open without locks (HDF5
// requires all handles to agree).
bool is_about_locks(const Hdf5Error& error) {
  return error.text.find("lock") != std::string::npos;
}

// Reports missing files, missing permission and other formats before HDF5 does.
Result<std::unique_ptr<Store>> open_path(const std::string& path, FormatMode mode) {
  Result<std::unique_ptr<Store>> store = open_store(path, store_mode(mode), {});
  if (!store.ok() || mode == FormatMode::create)
    return store;
  const Result<bool> is_hdf5 = recognises_hdf5(path, *store.value());
  if (!is_hdf5.ok())
    return is_hdf5.status();
  if (!is_hdf5.value())
    return Status(Code::bad_file, fmt::format("\"{}\" is not an HDF5 file", path));
  return store;
}

Result<std::unique_ptr<Format>> make_format(const std::string& path, FormatMode mode, const FormatOptions& options,
                                            Opening opening) {
  const Quiet quiet;
  keep_memory_of_cache();
  const Handle creation = creation_list();
  const Handle access = access_list(mode, options, opening);
  if (!access.valid())
    return hdf5_status(Code::bad_argument, "settings of", path);
  Handle file = open_file(path, mode, creation.get(), access.get());
  Hdf5Error error = file.valid() ? Hdf5Error() : last_error();
  if (!file.valid() && is_about_locks(error)) {
    if (error.system_error == EAGAIN || error.system_error == EWOULDBLOCK)
      return Status(Code::bad_state,
                    fmt::format("\"{}\" is open in another program and locked by it (HDF5 file locking; "
                                "the environment variable HDF5_USE_FILE_LOCKING=FALSE turns it off)",
                                path));
    set_file_locking(access.get(), false);
    file = open_file(path, mode, creation.get(), access.get());
    if (!file.valid())
      error = last_error();
  }
  if (!file.valid() && mode == FormatMode::update &&
      error.text.find("read-only") != std::string::npos)  // HDF5 has one state per file for all its handles
    return Status(Code::bad_state,
                  fmt::format("\"{}\" is open for reading in this program; close it before changing it", path));
  if (!file.valid())
    return hdf5_status(mode == FormatMode::create ? Code::io : Code::bad_file, "open of", path, error);
  auto format = std::make_unique<Hdf5Format>(path, mode, options, file.get());
  file.release();
  return std::unique_ptr<Format>(std::move(format));
}

}  // namespace

Result<std::unique_ptr<Format>> open_hdf5_format(const std::string& path, FormatMode mode, const FormatOptions& options,
                                                 std::unique_ptr<Store> opened) {
  if (!opened) {
    Result<std::unique_ptr<Store>> store = open_path(path, mode);
    if (!store.ok())
      return store.status();
    opened = std::move(store).value();
  }
  return make_format(path, mode, options, {std::move(opened), mode == FormatMode::create, options.durable});
}

}  // namespace windrow
