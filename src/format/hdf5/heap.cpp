// SPDX-License-Identifier: BSD-3-Clause
#include "format/hdf5/heap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "extent/extent.hpp"
#include "format/hdf5/driver.hpp"
#include "format/hdf5/handle.hpp"
#include "format/hdf5/superblock.hpp"

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
  int64_t base = 0;  // base of addresses
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

Status check_heap_places(hid_t object, hid_t type, size_t elements, size_t item_bytes, const std::string& what,
                         const ReadAll& read) {
  if (elements == 0)
    return {};
  const Handle file(H5Iget_file_id(object), H5Fclose);
  const auto damaged = [&](std::string_view why) {
    return Status(Code::bad_file, fmt::format("{}: {}: damaged", what, why));
  };
  const Handle item(H5Tget_super(type), H5Tclose);
  if (!item.valid() || H5Tget_size(item.get()) != item_bytes)
    return damaged("an item of its type has an invalid size");
  const Result<Sizes> sizes = sizes_of(file.get());
  if (!sizes.ok())
    return damaged(sizes.status().message());
  const size_t address_bytes = sizes.value().address, place_bytes = k_count_bytes + address_bytes + k_index_bytes;
  const auto places = read_places(elements, place_bytes, read);
  if (!places.ok())
    return places.status();
  for (size_t i = 0; i < elements; ++i) {
    const std::span<const std::byte> place = std::span(places.value()).subspan(i * place_bytes, place_bytes);
    const uint64_t bytes = number_at(place, 0, k_count_bytes) * item_bytes,
                   address = number_at(place, k_count_bytes, address_bytes);
    const uint64_t index = number_at(place, k_count_bytes + address_bytes, k_index_bytes);
    if (address == 0)
      continue;  // an element that was never written
    const auto heap = find_heap(file.get(), sizes.value(), address);
    if (!heap.ok())
      return heap.status().code() == Code::bad_file ? damaged(heap.status().message()) : heap.status();
    const uint64_t found = object_at(*heap.value(), index).bytes;
    if (found == k_none)
      return damaged(fmt::format("element {} is object {} of the heap at {}, which has none", i, index, address));
    if (found != bytes)
      return damaged(fmt::format("element {} has {} bytes, but {} in the heap at {}", i, bytes, found, address));
  }
  return {};
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

// Returns the place of the mappings of a virtual dataset. nullopt for other objects, and if HDF5 itself will detect
// that the header is damaged.
std::optional<HeapPlace> place_of_mappings(hid_t file, Reader& reader, const Sizes& sizes, uint64_t address) {
  constexpr size_t k_most_content = 16, k_most_messages = 65536;
  constexpr uint64_t k_layout = 8, k_continuation = 16, k_first_version = 4, k_virtual = 3;
  constexpr int64_t k_signature_bytes = 4, k_checksum_bytes = 4;
  const int64_t begin = static_cast<int64_t>(address) + sizes.base;
  const auto header = read_header(file, reader, begin);
  if (!header)
    return std::nullopt;
  const int64_t message_bytes = header->message_bytes;
  std::vector<Extent> blocks{header->messages};
  size_t messages = 0;
  for (size_t i = 0; i < blocks.size(); ++i)
    for (Extent left = blocks[i]; left.size() >= message_bytes && messages < k_most_messages; ++messages) {
      const auto read = reader.read(file, left.begin, static_cast<size_t>(message_bytes) + k_most_content);
      if (!read.ok())
        return std::nullopt;
      const size_t type_bytes = header->is_new ? 1 : 2;
      const uint64_t type = number_at(read.value(), 0, type_bytes), size = number_at(read.value(), type_bytes, 2);
      const std::span<const std::byte> content = read.value().subspan(static_cast<size_t>(message_bytes));
      if (type == k_layout) {
        const bool is_virtual = number_at(content, 0, 1) >= k_first_version && number_at(content, 1, 1) == k_virtual;
        if (!is_virtual)
          return std::nullopt;
        return HeapPlace{number_at(content, 2, sizes.address), number_at(content, 2 + sizes.address, k_index_bytes)};
      }
      if (type == k_continuation) {
        const uint64_t next = number_at(content, 0, sizes.address);
        const uint64_t length = number_at(content, sizes.address, sizes.length);
        if (next > k_highest_address || length > k_most_block_bytes)
          return std::nullopt;
        Extent block{static_cast<int64_t>(next) + sizes.base, static_cast<int64_t>(next + length) + sizes.base};
        if (header->is_new)
          block = {block.begin + k_signature_bytes, block.end - k_checksum_bytes};
        blocks.push_back(block);
      }
      left.begin += message_bytes + static_cast<int64_t>(size);
    }
  return std::nullopt;
}

Status check_mappings(hid_t file, const Sizes& sizes, haddr_t header) {
  constexpr size_t k_checksum_bytes = 4;
  constexpr uint64_t k_most_bytes = uint64_t{1} << 30;
  if (header > k_highest_address)
    return {};
  const auto heap_cache = heap_cache_of(file);
  if (!heap_cache.ok())
    return heap_cache.status();
  const auto place = place_of_mappings(file, heap_cache.value()->headers, sizes, header);
  const uint64_t undefined = ~uint64_t{0} >> (8 * (k_most_address_bytes - sizes.address));  // there are none
  if (!place || place->address == undefined)
    return {};
  const auto damaged = [](std::string_view why) {
    return Status(Code::bad_file, fmt::format("its mappings to other files are damaged: {}", why));
  };
  const auto heap = find_heap(file, sizes, place->address);
  if (!heap.ok())
    return heap.status().code() == Code::bad_file ? damaged(heap.status().message()) : heap.status();
  const Object object = object_at(*heap.value(), place->index);
  if (object.bytes <= k_checksum_bytes || object.bytes > k_most_bytes)
    return damaged(fmt::format("the heap at {} has no suitable object {}", place->address, place->index));
  std::vector<std::byte> bytes(static_cast<size_t>(object.bytes));
  if (Status status = read_place(file, object.begin, bytes); !status.ok())
    return status;
  const auto content = std::span<const std::byte>(bytes).first(bytes.size() - k_checksum_bytes);
  if (number_at(bytes, content.size(), k_checksum_bytes) == checksum_of_metadata(content))
    return {};
  return damaged(fmt::format("object {} of the heap at {} does not match its checksum", place->index, place->address));
}

}  // namespace

Result<Handle> open_checked(hid_t file, hid_t group, const std::string& name, haddr_t header) {
  const Result<Sizes> sizes = sizes_of(file);
  if (!sizes.ok())
    return sizes.status();
  Status status;
  const std::function<bool()> admit = [&] {
    status = guard([&] { return check_mappings(file, sizes.value(), header); });
    return status.ok();
  };
  if (has_read_heaps(file) && !admit())
    return status;
  const GuardedHeaps guarded(file, admit);
  Handle object(H5Oopen(group, name.c_str(), H5P_DEFAULT), H5Oclose);
  if (!status.ok())
    return status;
  return object;
}

}  // namespace windrow
