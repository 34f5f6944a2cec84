// SPDX-License-Identifier: BSD-3-Clause
#include "check.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "values.hpp"

namespace bench {
namespace {

Pattern pattern_of(const Case& data, size_t v, int repetition) {
  const Variable& variable = data.variables[v];
  return {variable.type, v, static_cast<uint64_t>(repetition),
          variable.smooth ? data.shape_of(variable) : std::vector<int64_t>()};
}

std::string wrong(const Case& data, size_t v, int64_t element, const std::string& where) {
  return "element " + std::to_string(element) + " of \"" + data.variables[v].name + "\" is wrong in " + where;
}

// A file's bytes, to look at.
class Mapped {
 public:
  explicit Mapped(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY);
    struct stat status {};
    if (file >= 0 && ::fstat(file, &status) == 0 && status.st_size > 0) {
      void* bytes = ::mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ, MAP_SHARED, file, 0);
      if (bytes != MAP_FAILED) {
        bytes_ = static_cast<const std::byte*>(bytes);
        size_ = status.st_size;
      }
    }
    if (file >= 0)
      ::close(file);
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  ~Mapped() {
    if (bytes_)
      ::munmap(const_cast<std::byte*>(bytes_), static_cast<size_t>(size_));
  }
  const std::byte* at(int64_t offset, int64_t bytes) const {
    return offset >= 0 && offset + bytes <= size_ ? bytes_ + offset : nullptr;
  }

 private:
  const std::byte* bytes_ = nullptr;
  int64_t size_ = 0;
};

bool all_never_written(const std::byte* begin, const std::byte* end) {
  return std::all_of(begin, end, [](std::byte value) { return value == k_never_written; });
}

}  // namespace

void fill_buffers(const Case& data, const std::vector<Buffer>& buffers, int repetition) {
  clear_buffers(buffers);
  for (size_t v = 0; v < data.variables.size(); ++v) {
    const int64_t size = element_size(data.variables[v].type);
    for (const Piece& piece : data.pieces(data.variables[v], false))
      fill(pattern_of(data, v, repetition), piece.file, piece.length, buffers[v].data() + piece.memory * size);
  }
}

void clear_buffers(const std::vector<Buffer>& buffers) {
  for (const Buffer& buffer : buffers)
    std::memset(buffer.data(), static_cast<int>(k_never_written), static_cast<size_t>(buffer.size()));
}

std::string check_buffers(const Case& data, const std::vector<Buffer>& buffers, int repetition) {
  for (size_t v = 0; v < data.variables.size(); ++v) {
    const int64_t size = element_size(data.variables[v].type);
    const std::byte* memory = buffers[v].data();
    const bool ascending =
        data.share_of(data.variables[v]).is_block();  // then the bytes between pieces are guard cells
    int64_t end = 0;
    for (const Piece& piece : data.pieces(data.variables[v], false)) {
      const std::byte* bytes = memory + piece.memory * size;
      const int64_t element = first_wrong(pattern_of(data, v, repetition), piece.file, piece.length, bytes, false);
      if (element >= 0)
        return wrong(data, v, element, "memory after reading");
      if (ascending && !all_never_written(memory + end, bytes))
        return "guard cells of \"" + data.variables[v].name + "\" were overwritten";
      end = (piece.memory + piece.length) * size;
    }
    if (ascending && !all_never_written(memory + end, memory + buffers[v].size()))
      return "guard cells of \"" + data.variables[v].name + "\" were overwritten";
  }
  return {};
}

std::string check_file(const Case& data, const std::vector<Location>& locations, int repetition) {
  std::string path;
  std::unique_ptr<Mapped> file;
  for (size_t v = 0; v < data.variables.size(); ++v) {
    const Location& location = locations[v];
    if (location.path.empty())
      continue;
    if (!file || location.path != path) {
      path = location.path;
      file = std::make_unique<Mapped>(path);
    }
    const int64_t size = element_size(data.variables[v].type);
    int64_t packed = 0;
    for (const Piece& piece : data.pieces(data.variables[v], false)) {
      const int64_t offset = location.offset + (location.packed ? packed : piece.file) * size;
      packed += piece.length;
      const std::byte* bytes = file->at(offset, piece.length * size);
      if (!bytes)
        return "\"" + path + "\" ends before \"" + data.variables[v].name + "\" does";
      const int64_t element =
          first_wrong(pattern_of(data, v, repetition), piece.file, piece.length, bytes, location.big_endian);
      if (element >= 0)
        return wrong(data, v, element, "\"" + path + "\"");
    }
  }
  return {};
}

}  // namespace bench
