// SPDX-License-Identifier: BSD-3-Clause
#include "format/hdf5/heap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/function_ref.hpp"
#include "base/units.hpp"
#include "extent/extent.hpp"
#include "format/hdf5/driver.hpp"
#include "format/hdf5/handle.hpp"
#include "format/hdf5/superblock.hpp"
#include "format/hdf5/version.hpp"

namespace windrow {
namespace {

// The stored place of an element: number of items, address of the heap, and number of the object in it, all
// little-endian (HDF5 File Format Specification 3.0, section VIII.A "Variable-length").
constexpr size_t k_count_bytes = 4, k_index_bytes = 4, k_most_address_bytes = 8;

uint64_t number_at(std::span<const std::byte> bytes, size_t at, size_t size) noexcept {
  uint64_t number = 0;
  for (size_t i = size; i-- > 0;)
    number = number << 8 | std::to_integer<uint64_t>(bytes[at + i]);
  return number;
}

// Sizes of stored numbers.
struct Sizes {
  size_t address = 0, length = 0;
  int64_t base = 0;                                                                  // base of addresses
  size_t place() const noexcept { return k_count_bytes + address + k_index_bytes; }  // of an element in a heap
};

Result<Sizes> sizes_of(hid_t file) {
  Sizes sizes;
  hsize_t base = 0;
  const Handle creation(H5Fget_create_plist(file), H5Pclose);
  const bool known = creation.valid() && H5Pget_sizes(creation.get(), &sizes.address, &sizes.length) >= 0 &&
                     H5Pget_userblock(creation.get(), &base) >= 0;
  sizes.base = static_cast<int64_t>(base);
  if (known && sizes.address <= k_most_address_bytes && sizes.length <= k_most_address_bytes)
    return sizes;
  return Status(Code::bad_file, "the file has invalid sizes of offsets or lengths");
}

// Reads bytes of the file in larger pieces, because neighbouring object headers are needed next.
class Reader {
 public:
  explicit Reader(size_t bytes) : window_(bytes) {}

  // Valid until the next call.
  Result<std::span<const std::byte>> read(hid_t file, int64_t offset, size_t size) {
    if (offset < at_ || offset + static_cast<int64_t>(size) > at_ + filled_) {
      at_ = offset;
      filled_ = 0;
      if (Status status = read_place(file, offset, window_); !status.ok())
        return status;
      filled_ = static_cast<int64_t>(window_.size());
    }
    return std::span<const std::byte>(window_).subspan(static_cast<size_t>(offset - at_), size);
  }

 private:
  int64_t at_ = 0, filled_ = 0;
  std::vector<std::byte> window_;
};

constexpr uint64_t to_eight(uint64_t bytes) noexcept {
  return (bytes + 7) / 8 * 8;
}

constexpr uint64_t k_none = UINT64_MAX, k_highest_address = uint64_t{1} << 62;

struct Object {
  int64_t begin = 0;        // offset of its bytes in the file
  uint64_t bytes = k_none;  // k_none: there is none
};
using Objects = std::vector<Object>;  // by number

Object object_at(const Objects& objects, uint64_t number) noexcept {
  return number < objects.size() ? objects[static_cast<size_t>(number)] : Object();
}

// The objects of a heap, or why it is invalid (section III.E "Global Heap").
Result<Objects> read_heap(hid_t file, const Sizes& sizes, uint64_t address) {
  constexpr uint64_t k_least_bytes = 4096;
  const auto bad = [&](std::string_view why) {
    return Status(Code::bad_file, fmt::format("the heap at {} {}", address, why));
  };
  if (address > k_highest_address)
    return bad("lies outside the file");
  const auto begin = static_cast<int64_t>(address) + sizes.base;
  Reader reader(k_least_bytes);
  const auto head = reader.read(file, begin, 8 + sizes.length);
  if (!head.ok())
    return head.status();
  constexpr std::array k_signature{std::byte{'G'}, std::byte{'C'}, std::byte{'O'}, std::byte{'L'}, std::byte{1}};
  if (!std::equal(k_signature.begin(), k_signature.end(), head.value().begin()))
    return bad("is none");
  const uint64_t bytes = number_at(head.value(), 8, sizes.length);
  if (bytes < k_least_bytes || bytes > k_highest_address)
    return bad("has an invalid size");
  Objects objects;
  const uint64_t header = 8 + sizes.length;  // also of an object: number, reference count, reserved, size
  for (uint64_t at = to_eight(header); at + header <= bytes;) {
    const auto object = reader.read(file, begin + static_cast<int64_t>(at), header);
    if (!object.ok())
      return object.status();
    const uint64_t number = number_at(object.value(), 0, 2), size = number_at(object.value(), 8, sizes.length);
    if (size > bytes)
      return bad("has an object that is larger than the heap");
    const uint64_t taken =
        number == 0 ? size : to_eight(header) + to_eight(size);  // 0: free space, its header included
    if (taken < header || taken > bytes - at)
      return bad("has an object that exceeds the heap");
    const auto first_byte = begin + static_cast<int64_t>(at + to_eight(header));
    at += taken;
    if (number == 0)
      continue;  // HDF5 also continues after free space
    if (object_at(objects, number).bytes != k_none)
      return bad(fmt::format("has two objects {}", number));
    if (number >= objects.size())
      objects.resize(static_cast<size_t>(number) + 1);
    objects[static_cast<size_t>(number)] = {first_byte, size};
  }
  return objects;
}

// Cache of a file, valid until HDF5 writes to it.
struct HeapCache {
  std::map<uint64_t, Objects> heaps;  // by address
  Reader headers{size_t{64} << 10};   // reads the headers of objects, which are often close together
};

Result<HeapCache*> heap_cache_of(hid_t file) {
  std::shared_ptr<void>* const kept = cache_until_written(file);
  if (kept == nullptr)
    return Status(Code::internal, "a file with another driver");
  if (*kept == nullptr)
    *kept = std::make_shared<HeapCache>();
  return static_cast<HeapCache*>(kept->get());
}

// The same, from the cache.
Result<const Objects*> find_heap(hid_t file, const Sizes& sizes, uint64_t address) {
  constexpr size_t k_most_heaps = 4096;
  const auto heap_cache = heap_cache_of(file);
  if (!heap_cache.ok())
    return heap_cache.status();
  auto& heaps = heap_cache.value()->heaps;
  if (heaps.size() >= k_most_heaps)
    heaps.clear();
  if (const auto known = heaps.find(address); known != heaps.end())
    return &known->second;
  auto read = read_heap(file, sizes, address);
  if (!read.ok())
    return read.status();
  return &heaps.emplace(address, std::move(read).value()).first->second;
}

constexpr const char* k_places = "windrow: places in heaps";

// Returns the stored places: a conversion from any type of variable length to opaque bytes of this name that does
// nothing. HDF5 also offers it the conversions of other code in this process, such as h5py's; these are left alone.
herr_t keep_bytes(hid_t, hid_t to, H5T_cdata_t* about, size_t, size_t, size_t, void*, void*, hid_t) noexcept {
  about->need_bkg = H5T_BKG_NO;
  if (about->command != H5T_CONV_INIT)
    return 0;
  char* const tag = H5Tget_class(to) == H5T_OPAQUE ? H5Tget_tag(to) : nullptr;
  const bool is_ours = tag != nullptr && std::strcmp(tag, k_places) == 0;
  if (tag != nullptr)
    H5free_memory(tag);
  return is_ours ? 0 : -1;
}

Result<std::vector<std::byte>> read_places(size_t elements, size_t place_bytes, const ReadAll& read) {
  const Handle type(H5Tcreate(H5T_OPAQUE, place_bytes), H5Tclose);
  const Handle source(H5Tvlen_create(H5T_NATIVE_UCHAR), H5Tclose);
  std::vector<std::byte> places(elements * place_bytes);
  if (H5Tset_tag(type.get(), k_places) < 0 ||
      H5Tregister(H5T_PERS_SOFT, k_places, source.get(), type.get(), keep_bytes) < 0)
    return hdf5_status(Code::internal, "conversion for", k_places);
  const herr_t result = read(type.get(), places.data());
  Status status = result >= 0 ? Status() : hdf5_status(Code::bad_file, "read of", "places in heaps");
  H5Tunregister(H5T_PERS_SOFT, k_places, source.get(), type.get(), keep_bytes);  // no other code uses it
  if (!status.ok())
    return status;
  return places;
}

}  // namespace

namespace {

// Checks stored places of elements, each with items of `item_bytes`. Code::bad_file gives the reason.
Status check_places(hid_t file, const Sizes& sizes, std::span<const std::byte> places, size_t item_bytes) {
  const size_t place_bytes = sizes.place();
  const auto bad = [](std::string why) { return Status(Code::bad_file, std::move(why)); };
  for (size_t i = 0; i < places.size() / place_bytes; ++i) {
    const std::span<const std::byte> place = places.subspan(i * place_bytes, place_bytes);
    const uint64_t bytes = number_at(place, 0, k_count_bytes) * item_bytes,
                   address = number_at(place, k_count_bytes, sizes.address);
    const uint64_t index = number_at(place, k_count_bytes + sizes.address, k_index_bytes);
    if (address == 0)
      continue;  // an element that was never written
    const auto heap = find_heap(file, sizes, address);
    if (!heap.ok())
      return heap.status();
    const uint64_t found = object_at(*heap.value(), index).bytes;
    if (found == k_none)
      return bad(fmt::format("element {} is object {} of the heap at {}, which has none", i, index, address));
    if (found != bytes)
      return bad(fmt::format("element {} has {} bytes, but {} in the heap at {}", i, bytes, found, address));
  }
  return {};
}

// HDF5 converts items with odd bits outside its memory.
bool has_items_of(hid_t type, size_t bytes) {
  const Handle item(H5Tget_super(type), H5Tclose);
  if (!item.valid() || H5Tget_size(item.get()) != bytes)
    return false;
  return H5Tget_class(item.get()) != H5T_INTEGER ||
         (H5Tget_precision(item.get()) == 8 * bytes && H5Tget_offset(item.get()) == 0);
}

// `"a": why: damaged`, if it is.
Status damaged(const std::string& what, const Status& status) {
  if (status.code() != Code::bad_file)
    return status;
  return {Code::bad_file, fmt::format("{}: {}: damaged", what, status.message())};
}

}  // namespace

Status check_heap_places(hid_t object, hid_t type, size_t elements, size_t item_bytes, const std::string& what,
                         const ReadAll& read) {
  if (elements == 0)
    return {};
  const Handle file(H5Iget_file_id(object), H5Fclose);
  if (!has_items_of(type, item_bytes))
    return damaged(what, {Code::bad_file, "an item of its type is invalid"});
  const Result<Sizes> sizes = sizes_of(file.get());
  if (!sizes.ok())
    return damaged(what, sizes.status());
  const auto places = read_places(elements, sizes.value().place(), read);
  if (!places.ok())
    return places.status();
  return damaged(what, check_places(file.get(), sizes.value(), places.value(), item_bytes));
}

namespace {

struct HeapPlace {
  uint64_t address, index;
};

constexpr uint64_t k_most_block_bytes = uint64_t{1} << 32;

// Location and layout of the messages of an object header (section IV.A).
struct Header {
  bool is_new = false;        // version 2
  int64_t message_bytes = 0;  // before the contents of a message
  Extent messages;
};

std::optional<Header> read_header(hid_t file, Reader& reader, int64_t begin) {
  constexpr size_t k_most_bytes = 34;
  constexpr uint64_t k_times = 0x20, k_limits = 0x10, k_order = 0x04;
  constexpr std::array k_signature{std::byte{'O'}, std::byte{'H'}, std::byte{'D'}, std::byte{'R'}, std::byte{2}};
  const auto read = reader.read(file, begin, k_most_bytes);
  if (!read.ok())
    return std::nullopt;
  const std::span<const std::byte> bytes = read.value();
  Header header;
  header.is_new = std::equal(k_signature.begin(), k_signature.end(), bytes.begin());
  if (!header.is_new && bytes.front() != std::byte{1})
    return std::nullopt;
  const uint64_t flags = header.is_new ? number_at(bytes, 5, 1) : 0;
  const size_t times = (flags & k_times) != 0 ? 16 : 0, limits = (flags & k_limits) != 0 ? 4 : 0;
  const size_t at = header.is_new ? 6 + times + limits : 8;
  const size_t size_bytes = header.is_new ? size_t{1} << (flags & 3) : 4;
  const uint64_t size = number_at(bytes, at, size_bytes);
  if (size > k_most_block_bytes)
    return std::nullopt;
  const int64_t first = begin + static_cast<int64_t>(header.is_new ? at + size_bytes : 16);
  header.messages = {first, first + static_cast<int64_t>(size)};
  header.message_bytes = !header.is_new ? 8 : (flags & k_order) != 0 ? 6 : 4;
  return header;
}

struct Message {
  uint64_t type = 0, bytes = 0;
  bool is_shared = false;              // stored elsewhere; the content is its place
  std::span<const std::byte> content;  // its first bytes, and what follows a short one
};

// Calls `take` for each message of an object header, until it returns false. False: not all were read, because HDF5
// itself will detect that the header is damaged, or because there are too many.
bool take_messages(hid_t file, Reader& reader, const Sizes& sizes, uint64_t address,
                   FunctionRef<bool(const Message&)> take) {
  constexpr size_t k_most_content = 272, k_most_messages = 65536;  // of all that is parsed here
  constexpr uint64_t k_continuation = 16, k_shared = 2;
  constexpr int64_t k_signature_bytes = 4, k_checksum_bytes = 4;
  const auto header = read_header(file, reader, static_cast<int64_t>(address) + sizes.base);
  if (!header)
    return false;
  const int64_t message_bytes = header->message_bytes;
  const size_t type_bytes = header->is_new ? 1 : 2;
  std::vector<Extent> blocks{header->messages};
  size_t messages = 0;
  for (size_t i = 0; i < blocks.size(); ++i)
    for (Extent left = blocks[i]; left.size() >= message_bytes; ++messages) {
      const auto read = reader.read(file, left.begin, static_cast<size_t>(message_bytes) + k_most_content);
      if (!read.ok() || messages == k_most_messages)
        return false;
      const Message message{.type = number_at(read.value(), 0, type_bytes),
                            .bytes = number_at(read.value(), type_bytes, 2),
                            .is_shared = (number_at(read.value(), type_bytes + 2, 1) & k_shared) != 0,
                            .content = read.value().subspan(static_cast<size_t>(message_bytes))};
      left.begin += message_bytes + static_cast<int64_t>(message.bytes);
      if (message.type == k_continuation) {
        const uint64_t next = number_at(message.content, 0, sizes.address);
        const uint64_t length = number_at(message.content, sizes.address, sizes.length);
        if (next > k_highest_address || length > k_most_block_bytes)
          return false;
        Extent block{static_cast<int64_t>(next) + sizes.base, static_cast<int64_t>(next + length) + sizes.base};
        if (header->is_new)
          block = {block.begin + k_signature_bytes, block.end - k_checksum_bytes};
        blocks.push_back(block);
      } else if (!take(message)) {
        return true;
      }
    }
  return true;
}

// What HDF5 trusts of a layout message (section IV.A.2.i "Data Layout").
struct Layout {
  std::optional<HeapPlace> mappings;  // of a virtual dataset
  bool has_empty_chunk = false;       // HDF5 1.10 divides by the lengths of chunks
};

bool has_zero(std::span<const std::byte> content, size_t at, size_t size, uint64_t count) noexcept {
  constexpr uint64_t k_most = H5S_MAX_RANK + 1;  // the last one is the size of an element; HDF5 itself refuses more
  if (size == 0 || size > sizeof(uint64_t) || count > k_most)
    return false;
  for (uint64_t i = 0; i < count; ++i)
    if (number_at(content, at + static_cast<size_t>(i) * size, size) == 0)
      return true;
  return false;
}

Layout parse_layout(std::span<const std::byte> content, const Sizes& sizes) noexcept {
  constexpr uint64_t k_chunked = 2, k_virtual = 3;
  const uint64_t version = number_at(content, 0, 1);
  const uint64_t storage = number_at(content, version < 3 ? 2 : 1, 1);
  Layout layout;
  if (storage == k_chunked && version < 3)
    layout.has_empty_chunk = has_zero(content, 8 + sizes.address, 4, number_at(content, 1, 1));
  else if (storage == k_chunked && version == 3)
    layout.has_empty_chunk = has_zero(content, 3 + sizes.address, 4, number_at(content, 2, 1));
  else if (storage == k_chunked)
    layout.has_empty_chunk =
        has_zero(content, 5, static_cast<size_t>(number_at(content, 4, 1)), number_at(content, 3, 1));
  else if (storage == k_virtual && version > 3)
    layout.mappings = {number_at(content, 2, sizes.address), number_at(content, 2 + sizes.address, k_index_bytes)};
  return layout;
}

Status check_mappings(hid_t file, const Sizes& sizes, const HeapPlace& place) {
  constexpr size_t k_checksum_bytes = 4;
  constexpr uint64_t k_most_bytes = uint64_t{1} << 30;
  const uint64_t undefined = ~uint64_t{0} >> (8 * (k_most_address_bytes - sizes.address));  // there are none
  if (place.address == undefined)
    return {};
  const auto bad = [](std::string_view why) {
    return Status(Code::bad_file, fmt::format("its mappings to other files are damaged: {}", why));
  };
  const auto heap = find_heap(file, sizes, place.address);
  if (!heap.ok())
    return heap.status().code() == Code::bad_file ? bad(heap.status().message()) : heap.status();
  const Object object = object_at(*heap.value(), place.index);
  if (object.bytes <= k_checksum_bytes || object.bytes > k_most_bytes)
    return bad(fmt::format("the heap at {} has no suitable object {}", place.address, place.index));
  std::vector<std::byte> bytes(static_cast<size_t>(object.bytes));
  if (Status status = read_place(file, object.begin, bytes); !status.ok())
    return status;
  const auto content = std::span<const std::byte>(bytes).first(bytes.size() - k_checksum_bytes);
  if (number_at(bytes, content.size(), k_checksum_bytes) == checksum_of_metadata(content))
    return {};
  return bad(fmt::format("object {} of the heap at {} does not match its checksum", place.index, place.address));
}

// Checks the first layout message of an object; other objects than datasets have none. If the header itself is damaged,
// HDF5 detects it.
Status check_layout(hid_t file, const Sizes& sizes, haddr_t header) {
  constexpr uint64_t k_layout = 8;
  if (header > k_highest_address)
    return {};
  const auto heap_cache = heap_cache_of(file);
  if (!heap_cache.ok())
    return heap_cache.status();
  Layout layout;
  take_messages(file, heap_cache.value()->headers, sizes, header, [&](const Message& message) {
    if (message.type == k_layout && !message.is_shared)
      layout = parse_layout(message.content, sizes);
    return message.type != k_layout;
  });
  if (layout.has_empty_chunk)
    return {Code::bad_file, "a length of its chunks is 0: damaged"};
  return layout.mappings ? check_mappings(file, sizes, *layout.mappings) : Status();
}

}  // namespace

Result<Handle> open_checked(hid_t file, hid_t group, const std::string& name, haddr_t header) {
  const Result<Sizes> sizes = sizes_of(file);
  if (!sizes.ok())
    return sizes.status();
  if (Status status = guard([&] { return check_layout(file, sizes.value(), header); }); !status.ok())
    return status;
  return Handle(H5Oopen(group, name.c_str(), H5P_DEFAULT), H5Oclose);
}

namespace {

// The stored bytes of a fill value (sections IV.A.2.e and f, "Fill Value"); nullopt: the message has none.
struct StoredFill {
  size_t at = 0;  // in the message
  uint64_t bytes = 0;
};

constexpr uint64_t k_old_fill = 4, k_fill = 5;

std::optional<StoredFill> find_fill(const Message& message) {
  constexpr uint64_t k_flags_since = 3, k_has_value = 0x20;
  constexpr size_t k_size_bytes = 4;
  const uint64_t version = message.type == k_old_fill ? 0 : number_at(message.content, 0, 1);
  const bool has_value = version == 0               ? true
                         : version >= k_flags_since ? (number_at(message.content, 1, 1) & k_has_value) != 0
                                                    : number_at(message.content, 3, 1) != 0;
  const size_t at = version == 0 ? 0 : version >= k_flags_since ? 2 : 4;
  const uint64_t bytes = has_value ? number_at(message.content, at, k_size_bytes) : 0;
  constexpr uint64_t k_undefined = uint64_t{INT32_MAX} + 1;  // and more: a negative size
  if (bytes == 0 || (bytes >= k_undefined && version < k_flags_since))
    return std::nullopt;
  return StoredFill{at + k_size_bytes, bytes};
}

Status bad_fill(std::string why) {
  return {Code::bad_file, std::move(why)};
}

// Checks what HDF5 trusts of a fill value: its size and, for text of variable length, its place in a heap.
Status check_fill_message(hid_t file, const Sizes& sizes, const Message& message, size_t bytes, bool is_in_heap) {
  if (message.is_shared)
    return is_in_heap ? bad_fill("it is stored with those of other objects, where it cannot be checked") : Status();
  const auto fill = find_fill(message);
  if (!fill)
    return {};
  if (fill->bytes != bytes || fill->at + bytes > message.bytes)
    return bad_fill(fmt::format("{} instead of {}", counted(static_cast<int64_t>(fill->bytes), "byte"), bytes));
  return is_in_heap ? check_places(file, sizes, message.content.subspan(fill->at, bytes), 1) : Status();
}

Status check_fill(hid_t dataset, hid_t type) {
  const Handle file(H5Iget_file_id(dataset), H5Fclose);
  const Result<Sizes> sizes = sizes_of(file.get());
  const auto heap_cache = heap_cache_of(file.get());
  if (!sizes.ok() || !heap_cache.ok())
    return sizes.ok() ? heap_cache.status() : sizes.status();
  const bool is_in_heap = H5Tis_variable_str(type) > 0;
  if (is_in_heap && !has_items_of(type, 1))
    return bad_fill("an item of its type is invalid");
  const size_t bytes = is_in_heap ? sizes.value().place() : H5Tget_size(type);
  Status status;
  const auto take = [&](const Message& message) {
    if (message.type == k_fill || message.type == k_old_fill)
      status = check_fill_message(file.get(), sizes.value(), message, bytes, is_in_heap);
    return status.ok() && message.type != k_fill;  // of several, HDF5 takes the first new one
  };
  if (!take_messages(file.get(), heap_cache.value()->headers, sizes.value(), address_of(dataset), take))
    return bad_fill("its header cannot be read");
  return status;
}

bool has_own_fill(hid_t creation) {
  H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
  return H5Pfill_value_defined(creation, &defined) >= 0 && defined == H5D_FILL_VALUE_USER_DEFINED;
}

}  // namespace

Result<Handle> checked_creation(hid_t dataset, hid_t type, const std::string& path) {
  const auto check = [&] { return damaged(fmt::format("\"{}\": its fill value", path), check_fill(dataset, type)); };
  const bool converts = H5Tis_variable_str(type) > 0 || H5Tget_class(type) == H5T_REFERENCE;
  if (converts)
    if (Status status = check(); !status.ok())
      return status;
  Handle creation(H5Dget_create_plist(dataset), H5Pclose);
  if (!converts && creation.valid() && has_own_fill(creation.get()))
    if (Status status = check(); !status.ok())
      return status;
  return creation;
}

}  // namespace windrow
