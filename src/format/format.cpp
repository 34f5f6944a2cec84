// SPDX-License-Identifier: BSD-3-Clause
// The table of formats, functions that open them, and the types.
#include "format/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/checked.hpp"
#include "base/utf8.hpp"
#include "format/check.hpp"
#include "format/hdf5/signature.hpp"
#include "format/netcdf/netcdf_format.hpp"
#include "format/netcdf/signature.hpp"
#include "format/raw/raw_format.hpp"
#include "storage/file_system.hpp"
#include "storage/overwrite.hpp"
#include "storage/publish.hpp"
#include "storage/store.hpp"
#ifdef WINDROW_HAS_HDF5
#include "format/hdf5/hdf5_format.hpp"
#endif

namespace windrow {
namespace {

using Opened = Result<std::unique_ptr<Format>>;

struct Kind {
  std::string_view name;
  std::array<std::string_view, 3> endings;  // endings of file names; "" for none
  bool built_in;
  Opened (*open)(const std::string& path, FormatMode mode, const FormatOptions& options, std::unique_ptr<Store> opened);
  Result<bool> (*recognises)(const std::string& path, Store& file);
  std::vector<std::string> (*sidecars)(const std::string& path);
  Result<std::string> (*write_interim)(const TemporaryFile& temporary);
  Result<int64_t> (*find_mark)(Store& file);  // where other programs are refused (storage/overwrite.hpp); -1: nowhere
};

std::vector<std::string> no_sidecars(const std::string&) {
  return {};
}
Result<std::string> no_interim(const TemporaryFile&) {
  return std::string();
}

Result<int64_t> find_mark_of_netcdf(Store&) {
  return k_mark_of_netcdf;
}
Result<int64_t> find_no_mark(Store&) {
  return k_no_mark;
}

#ifdef WINDROW_HAS_HDF5
constexpr bool k_has_hdf5 = true;
#else
constexpr bool k_has_hdf5 = false;
Opened open_hdf5_format(const std::string& path, FormatMode, const FormatOptions&, std::unique_ptr<Store>) {
  return Status(Code::unsupported,
                fmt::format("\"{}\": this Windrow was built without HDF5 (-DWINDROW_HDF5=OFF)", path));
}
#endif

constexpr std::array k_kinds{
    Kind{"hdf5",
         {".h5", ".hdf5", ".nc4"},
         k_has_hdf5,
         open_hdf5_format,
         recognises_hdf5,
         no_sidecars,
         no_interim,
         find_mark_of_hdf5},
    Kind{"netcdf",
         {".nc", ".cdf"},
         true,
         open_netcdf_format,
         recognises_netcdf,
         no_sidecars,
         no_interim,
         find_mark_of_netcdf},
    Kind{"raw", {".raw"}, true, open_raw_format, recognises_raw, raw_sidecars, write_interim_sidecar, find_no_mark},
};

const std::vector<std::string_view>& built_in_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> list;
    for (const Kind& kind : k_kinds)
      if (kind.built_in)
        list.push_back(kind.name);
    return list;
  }();
  return names;
}

const Kind* find_kind(std::string_view name) {
  const auto found = std::find_if(k_kinds.begin(), k_kinds.end(), [&](const Kind& kind) { return kind.name == name; });
  return found == k_kinds.end() ? nullptr : &*found;
}

Result<FoundFormat> recognise(const std::string& path, FormatMode mode) {
  Result<std::unique_ptr<Store>> file = open_store(path, store_mode(mode), {});
  if (!file.ok())
    return file.status();
  for (const Kind& kind : k_kinds) {
    const Result<bool> is_it = kind.recognises(path, *file.value());
    if (!is_it.ok())
      return is_it.status();
    if (is_it.value())
      return FoundFormat{std::string(kind.name), std::move(file).value()};
  }
  return Status(
      Code::bad_file,
      fmt::format("\"{}\" is neither an HDF5 file, nor netCDF classic, nor a raw file with its sidecar \"{}\"", path,
                  raw_sidecars(path).front()));
}

}  // namespace

namespace {
struct TypeTraits {
  const char* name;
  int8_t size;  // see type_size()
};

// [Type]
constexpr std::array k_type_traits{TypeTraits{"none", 0},    TypeTraits{"int8", 1},      TypeTraits{"uint8", 1},
                                   TypeTraits{"int16", 2},   TypeTraits{"uint16", 2},    TypeTraits{"int32", 4},
                                   TypeTraits{"uint32", 4},  TypeTraits{"int64", 8},     TypeTraits{"uint64", 8},
                                   TypeTraits{"float32", 4}, TypeTraits{"float64", 8},   TypeTraits{"text", 0},
                                   TypeTraits{"bool", 1},    TypeTraits{"complex64", 8}, TypeTraits{"complex128", 16},
                                   TypeTraits{"opaque", 0},  TypeTraits{"reference", 0}, TypeTraits{"float16", 2}};
static_assert(k_type_traits.size() == static_cast<size_t>(k_last_type) + 1);

const TypeTraits& traits_of(Type type) noexcept {
  const auto number = static_cast<size_t>(type);
  return k_type_traits[number < k_type_traits.size() ? number : 0];
}
}  // namespace

int64_t type_size(Type type) noexcept {
  return traits_of(type).size;
}

const char* type_name(Type type) noexcept {
  return traits_of(type).name;
}

int64_t component_size(Type type) noexcept {
  if (type == Type::complex64 || type == Type::complex128)
    return type_size(type) / 2;
  return std::max<int64_t>(type_size(type), 1);
}

int64_t element_bytes(Type type, const Details& details) noexcept {
  return type == Type::text || type == Type::opaque ? details.bytes : type_size(type);
}

bool is_moved_whole(Type type, const Details& details) noexcept {
  return type == Type::reference || (type == Type::text && details.bytes == 0);
}

namespace {
constexpr std::array k_padding_names{"null_terminated", "null_padded", "space_padded"};
}

const char* padding_name(TextPadding padding) noexcept {
  return k_padding_names[static_cast<size_t>(padding)];
}

std::optional<TextPadding> padding_called(std::string_view name) noexcept {
  for (size_t i = 0; i < k_padding_names.size(); ++i)
    if (name == k_padding_names[i])
      return static_cast<TextPadding>(i);
  return std::nullopt;
}

Result<std::unique_ptr<Format>> open_format(std::string_view name, const std::string& path, FormatMode mode,
                                            const FormatOptions& options, std::unique_ptr<Store> opened) {
  return guard([&]() -> Opened {
    Status valid = check_options(options);
    if (!valid.ok())
      return valid;
    if (const Kind* kind = find_kind(name))
      return kind->open(path, mode, options, std::move(opened));
    return Status(Code::unsupported,
                  fmt::format("unknown format \"{}\"; the formats are {}", name, fmt::join(built_in_names(), ", ")));
  });
}

std::string format_of_name(std::string_view path) {
  for (const Kind& kind : k_kinds)
    for (std::string_view ending : kind.endings)
      if (!ending.empty() && has_ending(path, ending))
        return std::string(kind.name);
  return "";
}

Result<std::string> format_of_file(const std::string& path) {
  return guard([&]() -> Result<std::string> {
    auto found = recognise(path, FormatMode::read);
    if (!found.ok())
      return found.status();
    return std::move(found.value().name);
  });
}

Result<FoundFormat> find_format(const std::string& path, FormatMode mode) {
  return guard([&] { return recognise(path, mode); });
}

namespace {

// Calls work(store, place of the mark), if the format has one.
template <class Work>
Status with_mark(std::string_view name, const std::string& path, StoreMode mode, Work&& work) {
  return guard([&]() -> Status {
    const Kind* kind = find_kind(name);
    if (kind == nullptr)
      return {};
    auto store = open_store(path, mode, {});
    if (!store.ok())
      return store.status();
    const Result<int64_t> mark_at = kind->find_mark(*store.value());
    Status status = mark_at.ok() ? work(*store.value(), mark_at.value()) : mark_at.status();
    status.update(store.value()->close());
    return status;
  });
}

}  // namespace

Status refuse_others_at(std::string_view name, const std::string& path, uint64_t number, bool durable) {
  return with_mark(name, path, StoreMode::update, [&](Store& store, int64_t mark_at) {
    if (number != 0 && file_number(store.descriptor()) != number)
      return replaced_by_others(path);
    Status status = set_mark(store, mark_at, true);
    return status.ok() && durable ? store.sync() : status;
  });
}

Result<bool> others_are_refused_at(std::string_view name, const std::string& path) {
  bool are = false;
  Status status = with_mark(name, path, StoreMode::read, [&](Store& store, int64_t mark_at) {
    const Result<bool> found = is_marked(store, mark_at);
    are = found.ok() && found.value();
    return found.status();
  });
  if (!status.ok())
    return status;
  return are;
}

StoreMode store_mode(FormatMode mode) noexcept {
  switch (mode) {
    case FormatMode::read:
      return StoreMode::read;
    case FormatMode::update:
      return StoreMode::update;
    case FormatMode::create:
      break;
  }
  return StoreMode::create;
}

std::vector<std::string> format_sidecars(std::string_view name, const std::string& path) {
  const Kind* kind = find_kind(name);
  return kind ? kind->sidecars(path) : std::vector<std::string>();
}

Result<std::string> write_interim_sidecar_file(std::string_view name, const TemporaryFile& temporary) {
  return guard([&]() -> Result<std::string> {
    const Kind* kind = find_kind(name);
    return kind ? kind->write_interim(temporary) : std::string();
  });
}

std::span<const std::string_view> format_names() noexcept {
  return built_in_names();
}

Status Format::extend(const std::string& path, std::span<const int64_t>) {
  return {Code::unsupported, "\"" + path + "\": this format has no extendible variables"};
}

Status Format::cut(int64_t) {
  return {Code::unsupported, "this format's variables have lengths of their own"};
}

Result<int64_t> Format::give_place(const std::string& path) {
  return Status(Code::unsupported, "\"" + path + "\": this format has no unallocated variables");
}

Status Format::write_inline(const std::string& path, std::span<const std::byte>) {
  return {Code::unsupported, "\"" + path + "\": this format stores no variables in its header"};
}

Result<Layout> Format::lay_out() {
  return Status(Code::internal, "this format allocates variables when they are defined");
}

Status Format::write_anew(std::unique_ptr<Store>) {
  return {Code::internal, "this format allocates variables when they are defined"};
}

Status Format::put_attributes(const std::string& object, std::span<const Attribute> attributes) {
  Status status;
  for (size_t i = 0; i < attributes.size() && status.ok(); ++i)
    status = put_attribute(object, attributes[i]);
  return status;
}

Result<std::vector<Part>> Format::parts_of(const std::string& path) {
  return Status(Code::unsupported, "\"" + path + "\": this format has no split variables");
}

Status Format::define_split(const VariableDefinition& definition, std::span<const Part>) {
  return {Code::unsupported, fmt::format("variable \"{}\": this format has no split variables", definition.path)};
}

Result<PlacedChunk> Format::place_chunk(const std::string& path, std::span<const int64_t>, int64_t, bool) {
  return Status(Code::unsupported, "\"" + path + "\": this format has no chunks");
}

Result<int64_t> Format::reserve_chunk(const std::string& path, std::span<const int64_t>, int64_t) {
  return Status(Code::unsupported, "\"" + path + "\": this format has no chunks");
}

Status Format::restore_chunk(const std::string&, std::span<const int64_t>) {
  return {};
}

Status Format::fill_chunk(const std::string&, std::span<const int64_t>, std::span<const std::byte>) {
  return {};
}

Result<std::vector<int64_t>> Format::stored_chunks(const std::string& path) {
  return Status(Code::unsupported, fmt::format("the chunks of \"{}\" cannot be listed", path));
}

Result<ChunkPlace> Format::find_chunk(const std::string& path, std::span<const int64_t>) {
  return Status(Code::unsupported, "\"" + path + "\": this format has no chunks");
}

Status add_stored_chunks(Format& format, const std::string& path, const Box& box, std::span<const int64_t> chunk,
                         BoxList& boxes) {
  const auto stored = format.stored_chunks(path);
  if (stored.ok())
    boxes.add_chunks(box, chunk, stored.value());
  else if (stored.status().code() == Code::unsupported)
    boxes.add(box);
  else
    return stored.status();
  return {};
}

int64_t row_bytes(const Variable& variable) noexcept {
  const auto elements = checked_product(std::span(variable.shape).subspan(1));
  return elements.value_or(0) * element_bytes(variable.type, variable.details);
}

namespace {

// The end of a variable's last byte.
int64_t end_of(const Variable& variable) noexcept {
  const Placement& place = variable.placement;
  if (!place.has_bytes())
    return 0;
  // A foreign file may say anything.
  return place.stride == 0 ? checked_add(place.offset, place.bytes).value_or(std::numeric_limits<int64_t>::max())
                           : place.offset + (variable.shape.front() - 1) * place.stride + row_bytes(variable);
}

}  // namespace

int64_t end_of(std::span<const Variable> variables) noexcept {
  int64_t end = 0;
  for (const Variable& variable : variables)
    end = std::max(end, end_of(variable));
  return end;
}

}  // namespace windrow
