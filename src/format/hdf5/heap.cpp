// SPDX-License-Identifier: BSD-3-Clause
#include "format/hdf5/heap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "format/hdf5/driver.hpp"
#include "format/hdf5/handle.hpp"

namespace windrow {
namespace {

// Of a place: the number of items, the heap's address and the object's number in it, all little-endian (HDF5 File
// Format Specification 3.0, section
// VIII.A "Variable-length").
constexpr size_t k_count_bytes = 4, k_index_bytes = 4, k_most_address_bytes = 8;

uint64_t number_at(std::span<const std::byte> bytes, size_t at, size_t size) noexcept {
  uint64_t number = 0;
  for (size_t i = size; i-- > 0;) number = number << 8 | std::to_integer<uint64_t>(bytes[at + i]);
  return number;
}

// How numbers are stored in a file.
struct Sizes {
  size_t address = 0, length = 0;
  int64_t base = 0;  // of addresses
};

Result<Sizes> sizes_of(hid_t file) {
  Sizes sizes;
  hsize_t base = 0;
  const Handle creation(H5Fget_create_plist(file), H5Pclose);
  const bool known = creation.valid() && H5Pget_sizes(creation.get(), &sizes.address, &sizes.length) >= 0 &&
                     H5Pget_userblock(creation.get(), &base) >= 0;
  sizes.base = static_cast<int64_t>(base);
  if (known && sizes.address <= k_most_address_bytes && sizes.length <= k_most_address_bytes) return sizes;
  return Status(Code::bad_file, "numbers of the file have sizes that cannot be");
}

// Bytes of the file, some at a time: the headers of objects are what is wanted.
class Reader {
 public:
  Reader(hid_t file, int64_t begin) noexcept : file_(file), at_(begin) {}

  // Valid until the next call.
  Result<std::span<const std::byte>> read(int64_t offset, size_t size) {
    if (offset < at_ || offset + static_cast<int64_t>(size) > at_ + filled_) {
      at_ = offset;
      filled_ = 0;
      if (Status status = read_place(file_, offset, window_); !status.ok()) return status;
      filled_ = static_cast<int64_t>(window_.size());
    }
    return std::span<const std::byte>(window_).subspan(static_cast<size_t>(offset - at_), size);
  }

 private:
  hid_t file_;
  int64_t at_, filled_ = 0;
  std::array<std::byte, 4096> window_;
};

constexpr uint64_t to_eight(uint64_t bytes) noexcept { return (bytes + 7) / 8 * 8; }

constexpr uint64_t k_none = UINT64_MAX;
using Objects = std::vector<uint64_t>;  // bytes of each object, by its number; k_none: there is none

uint64_t bytes_of(const Objects& objects, uint64_t number) noexcept {
  return number < objects.size() ? objects[static_cast<size_t>(number)] : k_none;
}

// A heap's objects, or why it is none (section III.E "Global Heap").
Result<Objects> read_heap(hid_t file, const Sizes& sizes, uint64_t address) {
  constexpr uint64_t k_least_bytes = 4096, k_most_bytes = uint64_t{1} << 62;
  const auto bad = [&](std::string_view why) {
    return Status(Code::bad_file, fmt::format("the heap at {} {}", address, why));
  };
  if (address > k_most_bytes) return bad("lies outside the file");
  const auto begin = static_cast<int64_t>(address) + sizes.base;
  Reader reader(file, begin);
  const auto head = reader.read(begin, 8 + sizes.length);
  if (!head.ok()) return head.status();
  constexpr std::array k_signature{std::byte{'G'}, std::byte{'C'}, std::byte{'O'}, std::byte{'L'}, std::byte{1}};
  if (!std::equal(k_signature.begin(), k_signature.end(), head.value().begin())) return bad("is none");
  const uint64_t bytes = number_at(head.value(), 8, sizes.length);
  if (bytes < k_least_bytes || bytes > k_most_bytes) return bad("has a size that cannot be");
  Objects objects;
  const uint64_t header = 8 + sizes.length;  // of an object too: its number, its references, nothing, its bytes
  for (uint64_t at = to_eight(header); at + header <= bytes;) {
    const auto object = reader.read(begin + static_cast<int64_t>(at), header);
    if (!object.ok()) return object.status();
    const uint64_t number = number_at(object.value(), 0, 2), size = number_at(object.value(), 8, sizes.length);
    if (size > bytes) return bad("has an object that is larger than the heap");
    const uint64_t taken =
        number == 0 ? size : to_eight(header) + to_eight(size);  // 0: what is free, its header included
    if (taken < header || taken > bytes - at) return bad("has an object that leaves the heap");
    if (number == 0) break;  // the last
    if (bytes_of(objects, number) != k_none) return bad(fmt::format("has two objects {}", number));
    if (number >= objects.size()) objects.resize(static_cast<size_t>(number) + 1, k_none);
    objects[static_cast<size_t>(number)] = size;
    at += taken;
  }
  return objects;
}

// The same, read once as long as HDF5 writes nothing to the file.
Result<const Objects*> find_heap(hid_t file, const Sizes& sizes, uint64_t address) {
  constexpr size_t k_most_heaps = 4096;
  using Heaps = std::map<uint64_t, Objects>;
  std::shared_ptr<void>* const kept = kept_until_written(file);
  if (kept == nullptr) return Status(Code::internal, "a file with another driver");
  if (*kept == nullptr || static_cast<Heaps*>(kept->get())->size() >= k_most_heaps) *kept = std::make_shared<Heaps>();
  Heaps& heaps = *static_cast<Heaps*>(kept->get());
  if (const auto known = heaps.find(address); known != heaps.end()) return &known->second;
  auto read = read_heap(file, sizes, address);
  if (!read.ok()) return read.status();
  return &heaps.emplace(address, std::move(read).value()).first->second;
}

constexpr const char* k_places = "windrow: places in heaps";

// Hands out the places as they are stored: a way from any type of variable length to opaque bytes of this name, in which
// nothing is done. HDF5 offers it the conversions of others in this process too, such as h5py's: these stay theirs.
herr_t keep_bytes(hid_t, hid_t to, H5T_cdata_t* about, size_t, size_t, size_t, void*, void*, hid_t) noexcept {
  about->need_bkg = H5T_BKG_NO;
  if (about->command != H5T_CONV_INIT) return 0;
  char* const tag = H5Tget_class(to) == H5T_OPAQUE ? H5Tget_tag(to) : nullptr;
  const bool is_ours = tag != nullptr && std::strcmp(tag, k_places) == 0;
  if (tag != nullptr) H5free_memory(tag);
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
  H5Tunregister(H5T_PERS_SOFT, k_places, source.get(), type.get(), keep_bytes);  // nobody else asks for it
  if (!status.ok()) return status;
  return places;
}

}  // namespace

Status check_heap_places(hid_t object, hid_t type, size_t elements, size_t item_bytes, const std::string& what,
                         const ReadAll& read) {
  if (elements == 0) return {};
  const Handle file(H5Iget_file_id(object), H5Fclose);
  const auto damaged = [&](std::string_view why) {
    return Status(Code::bad_file, fmt::format("{}: {}: damaged", what, why));
  };
  const Handle item(H5Tget_super(type), H5Tclose);
  if (!item.valid() || H5Tget_size(item.get()) != item_bytes)
    return damaged("an item of its type has a size that cannot be");
  const Result<Sizes> sizes = sizes_of(file.get());
  if (!sizes.ok()) return damaged(sizes.status().message());
  const size_t address_bytes = sizes.value().address, place_bytes = k_count_bytes + address_bytes + k_index_bytes;
  const auto places = read_places(elements, place_bytes, read);
  if (!places.ok()) return places.status();
  for (size_t i = 0; i < elements; ++i) {
    const std::span<const std::byte> place = std::span(places.value()).subspan(i * place_bytes, place_bytes);
    const uint64_t bytes = number_at(place, 0, k_count_bytes) * item_bytes,
                   address = number_at(place, k_count_bytes, address_bytes);
    const uint64_t index = number_at(place, k_count_bytes + address_bytes, k_index_bytes);
    if (address == 0) continue;  // an element that nobody has written
    const auto heap = find_heap(file.get(), sizes.value(), address);
    if (!heap.ok()) return heap.status().code() == Code::bad_file ? damaged(heap.status().message()) : heap.status();
    const uint64_t found = bytes_of(*heap.value(), index);
    if (found == k_none)
      return damaged(fmt::format("element {} is object {} of the heap at {}, which has none", i, index, address));
    if (found != bytes)
      return damaged(fmt::format("element {} has {} bytes, and {} in the heap at {}", i, bytes, found, address));
  }
  return {};
}

}  // namespace windrow
