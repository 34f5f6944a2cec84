// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as a file with an undo log at its end. A log that is found lies in the file, and rolling it back restores
// its bytes; if the file is damaged, it stays as it is. The checksum is also made right, so that the table of a damaged
// log is read.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "../fuzz/expect.hpp"
#include "storage/overwrite.hpp"

namespace {

using windrow::Code;
using windrow::Status;

class FileInMemory final : public windrow::Store {
 public:
  explicit FileInMemory(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  const std::vector<std::byte>& bytes() const noexcept { return bytes_; }

  Status write_at(int64_t offset, std::span<const std::byte> bytes) override {
    FUZZ_EXPECT(is_inside(offset, bytes.size()));
    std::copy(bytes.begin(), bytes.end(), bytes_.begin() + offset);
    return {};
  }
  Status read_at(int64_t offset, std::span<std::byte> bytes) override {
    if (!is_inside(offset, bytes.size()))
      return {Code::bad_file, "beyond the end"};
    std::copy_n(bytes_.begin() + offset, bytes.size(), bytes.begin());
    return {};
  }
  Status write_slices_at(int64_t, std::span<const windrow::ConstSlice>) override { return {}; }
  Status read_slices_at(int64_t, std::span<const windrow::Slice>) override { return {}; }
  windrow::Result<int64_t> size() override { return std::ssize(bytes_); }
  Status resize(int64_t size) override {
    FUZZ_EXPECT(size >= 0 && size <= std::ssize(bytes_));
    bytes_.resize(static_cast<size_t>(size));
    return {};
  }
  Status sync() override { return {}; }
  Status close() override { return {}; }
  Status lock(int64_t, int64_t) override { return {}; }
  Status lock_shared(int64_t, int64_t) override { return {}; }
  Status unlock(int64_t, int64_t) override { return {}; }

 private:
  bool is_inside(int64_t offset, size_t bytes) const noexcept {
    return offset >= 0 && offset <= std::ssize(bytes_) && bytes <= bytes_.size() - static_cast<size_t>(offset);
  }

  std::vector<std::byte> bytes_;
};

constexpr size_t k_trailer = 48, k_magic = 16, k_number = 8;

// Makes magic and checksum of the trailer right, as far as the length of the log is possible.
void complete(std::vector<std::byte>& bytes) {
  if (bytes.size() < k_trailer)
    return;
  uint64_t length = 0;
  for (size_t i = k_number; i-- > 0;)
    length = length << 8 | std::to_integer<uint64_t>(bytes[bytes.size() - k_trailer + k_number + i]);
  if (length < k_trailer || length > bytes.size())
    return;
  const size_t sum_at = bytes.size() - k_magic - k_number;
  uint64_t sum = 0xcbf29ce484222325;
  for (size_t i = bytes.size() - length; i < sum_at; ++i)
    sum = (sum ^ std::to_integer<uint64_t>(bytes[i])) * 0x100000001b3;
  for (size_t i = 0; i < k_number; ++i)
    bytes[sum_at + i] = static_cast<std::byte>(sum >> (8 * i) & 0xff);
  std::memcpy(bytes.data() + bytes.size() - k_magic, "windrow undo log", k_magic);
}

void look_into(std::vector<std::byte> bytes) {
  FileInMemory file(std::move(bytes));
  const auto log = windrow::find_undo_log(file, "a file");
  std::vector<std::byte> read = file.bytes();
  if (!log.ok()) {
    FUZZ_EXPECT(log.status().code() == Code::bad_file);
    FUZZ_EXPECT(windrow::roll_back(file, "a file", true).code() == Code::bad_file);
    FUZZ_EXPECT(file.bytes() == read);
    return;
  }
  windrow::apply(log.value(), 0, read);
  FUZZ_EXPECT(windrow::roll_back(file, "a file", true).ok());
  if (!log.value().found) {
    FUZZ_EXPECT(file.bytes() == read);
    return;
  }
  FUZZ_EXPECT(log.value().end >= 0 && log.value().end == std::ssize(file.bytes()));
  read.resize(file.bytes().size());
  FUZZ_EXPECT(file.bytes() == read);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<std::byte> bytes(size);
  std::copy_n(data, size, reinterpret_cast<uint8_t*>(bytes.data()));
  look_into(bytes);
  complete(bytes);
  look_into(std::move(bytes));
  return 0;
}
