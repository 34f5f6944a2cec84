// SPDX-License-Identifier: BSD-3-Clause
#include "format/netcdf/header.hpp"

#include <fmt/format.h>
#include <pnetcdf.h>
#include <sys/statvfs.h>

#include <array>
#include <cerrno>
#include <filesystem>

#include "base/checked.hpp"
#include "base/units.hpp"
#include "storage/store.hpp"
#include "storage/system_error.hpp"

namespace windrow {
namespace {

constexpr const char* k_memory_folder = "/dev/shm";

// A file of this process alone. PnetCDF makes and opens files by name only.
class Scratch {
 public:
  Status make(const std::filesystem::path& parent) {
    std::string name = (parent / "windrow-header-XXXXXX").string();
    if (parent.empty() || ::mkdtemp(name.data()) == nullptr)
      return {Code::io, "no scratch file for a netCDF header can be made in the system's folder for such (TMPDIR)"};
    folder_ = std::move(name);
    return {};
  }
  ~Scratch() {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::string path() const { return folder_ + "/header"; }

 private:
  std::string folder_;
};

// Whether a file of so many bytes finds room in memory, and leaves some: MPI-IO of Open MPI 4.1 says nothing where it does not, but on standard error.
bool fits_in_memory(int64_t bytes) noexcept {
  constexpr int64_t k_left = int64_t{1} << 20;
  struct statvfs info {};
  return statvfs(k_memory_folder, &info) == 0 && static_cast<int64_t>(info.f_bavail) * static_cast<int64_t>(info.f_frsize) >= 2 * bytes + k_left;
}

// What `use` returns that has a scratch file of so many bytes: in memory, where a file takes a tenth of what it takes on a disk, and else in the system's folder.
template <class Use>
auto with_scratch(int64_t bytes, Use&& use) {
  if (Scratch scratch; fits_in_memory(bytes) && scratch.make(k_memory_folder).ok()) return use(scratch.path());
  std::error_code none;
  Scratch scratch;
  const Status made = scratch.make(std::filesystem::temp_directory_path(none));
  return made.ok() ? use(scratch.path()) : decltype(use(scratch.path()))(made);
}

// An open file of PnetCDF, and the first thing that went wrong with it.
class Open {
 public:
  ~Open() { close(); }
  Open() = default;
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;

  // False after the first error, of which `what` is kept.
  bool step(int result, const std::string& what) {
    if (result != NC_NOERR && status_.ok()) status_ = {code_of(result), fmt::format("{}: {}", what, ncmpi_strerror(result))};
    return status_.ok();
  }
  void close() {
    if (is_open_) step(ncmpi_close(id), "netCDF header");
    is_open_ = false;
  }
  void opened() noexcept { is_open_ = true; }
  const Status& status() const noexcept { return status_; }

  int id = -1;

 private:
  static Code code_of(int result) noexcept {
    switch (result) {
      case NC_EVARSIZE:
      case NC_EDIMSIZE:
      case NC_EINTOVERFLOW:
      case NC_EMAXVARS:
      case NC_EMAXDIMS:
      case NC_EMAXATTS:
      case NC_ESTRICTCDF2: return Code::unsupported;
      case NC_EBADNAME:
      case NC_ENAMEINUSE:
      case NC_EBADTYPE:
      case NC_EINVAL:
      case NC_EMAXNAME: return Code::bad_argument;
      case NC_ENOMEM: return Code::out_of_memory;
      default: return Code::io;
    }
  }
  Status status_;
  bool is_open_ = false;
};

void put_attributes(Open& file, int variable, const std::string& object, std::span<const NetcdfAttribute> attributes) {
  for (const NetcdfAttribute& each : attributes) {
    const char nothing = 0;
    const void* data = each.data.empty() ? static_cast<const void*>(&nothing) : each.data.data();
    if (!file.step(ncmpi_put_att(file.id, variable, each.name.c_str(), each.type, each.count, data),
                   fmt::format("attribute \"{}\" of \"{}\"", each.name, object)))
      return;
  }
}

void define(Open& file, const NetcdfContents& contents) {
  for (const NetcdfDimension& each : contents.dimensions) {
    int number = 0;
    file.step(ncmpi_def_dim(file.id, each.name.c_str(), each.unlimited ? NC_UNLIMITED : each.length, &number),
              fmt::format("dimension \"{}\" of length {}", each.name, each.length));
    if (!file.status().ok()) return;
  }
  put_attributes(file, NC_GLOBAL, "/", contents.attributes);
  for (const NetcdfVariable& each : contents.variables) {
    int number = 0;
    if (!file.status().ok()) return;
    if (file.step(ncmpi_def_var(file.id, each.name.c_str(), each.type, static_cast<int>(each.dimensions.size()), each.dimensions.data(), &number),
                  fmt::format("variable \"{}\"", each.name)))
      put_attributes(file, number, "/" + each.name, each.attributes);
  }
}

Result<std::vector<NetcdfAttribute>> get_attributes(Open& file, int variable, int count) {
  std::vector<NetcdfAttribute> list;
  for (int i = 0; i < count; ++i) {
    std::array<char, NC_MAX_NAME + 1> name{};
    MPI_Offset length = 0;
    NetcdfAttribute each;
    if (!file.step(ncmpi_inq_attname(file.id, variable, i, name.data()), "attribute") ||
        !file.step(ncmpi_inq_att(file.id, variable, name.data(), &each.type, &length), name.data()))
      return file.status();
    each.name = name.data();
    each.count = length;
    constexpr size_t k_largest = 8;
    each.data.resize(static_cast<size_t>(length) * k_largest);
    if (length > 0 && !file.step(ncmpi_get_att(file.id, variable, name.data(), each.data.data()), name.data())) return file.status();
    list.push_back(std::move(each));
  }
  return list;
}

Status get_dimensions(Open& file, int count, int unlimited, NetcdfContents& contents) {
  for (int i = 0; i < count; ++i) {
    std::array<char, NC_MAX_NAME + 1> name{};
    MPI_Offset length = 0;
    if (!file.step(ncmpi_inq_dim(file.id, i, name.data(), &length), "dimension")) return file.status();
    contents.dimensions.push_back({name.data(), length, i == unlimited});
    if (i == unlimited) contents.records = length;
  }
  return {};
}

Status get_variable(Open& file, int number, NetcdfContents& contents) {
  std::array<char, NC_MAX_NAME + 1> name{};
  NetcdfVariable each;
  int dimensions = 0, attributes = 0;
  MPI_Offset offset = 0;
  if (!file.step(ncmpi_inq_varndims(file.id, number, &dimensions), "variable")) return file.status();
  each.dimensions.resize(static_cast<size_t>(dimensions));
  if (!file.step(ncmpi_inq_var(file.id, number, name.data(), &each.type, nullptr, each.dimensions.data(), &attributes), "variable") ||
      !file.step(ncmpi_inq_varoffset(file.id, number, &offset), name.data()))
    return file.status();
  each.name = name.data();
  each.offset = offset;
  auto list = get_attributes(file, number, attributes);
  if (!list.ok()) return list.status();
  each.attributes = std::move(list).value();
  contents.variables.push_back(std::move(each));
  return {};
}

Status get_all(Open& file, NetcdfContents& contents) {
  int dimensions = 0, variables = 0, attributes = 0, unlimited = -1;
  MPI_Offset record_bytes = 0;
  if (!file.step(ncmpi_inq(file.id, &dimensions, &variables, &attributes, &unlimited), "netCDF header") ||
      !file.step(ncmpi_inq_recsize(file.id, &record_bytes), "netCDF header"))
    return file.status();
  contents.record_bytes = record_bytes;
  if (Status status = get_dimensions(file, dimensions, unlimited, contents); !status.ok()) return status;
  auto list = get_attributes(file, NC_GLOBAL, attributes);
  if (!list.ok()) return list.status();
  contents.attributes = std::move(list).value();
  Status status;
  for (int i = 0; i < variables && status.ok(); ++i) status = get_variable(file, i, contents);
  return status;
}

Result<std::vector<std::byte>> read_all(const std::string& path, int64_t bytes) {
  auto store = open_store(path, StoreMode::read, {});
  if (!store.ok()) return store.status();
  std::vector<std::byte> read(static_cast<size_t>(bytes));
  if (Status status = store.value()->read_at(0, read); !status.ok()) return status;
  return read;
}

Result<NetcdfHeader> write_header_in(const std::string& path, const NetcdfContents& contents, const NetcdfSpaces& spaces) {
  const int flag = contents.version == 5 ? NC_64BIT_DATA : contents.version == 2 ? NC_64BIT_OFFSET : 0;
  NetcdfHeader header;
  Open file;
  // Its argument aligns the first variable only, and the hint each of them.
  MPI_Info hints = MPI_INFO_NULL;
  if (MPI_Info_create(&hints) != MPI_SUCCESS) return Status(Code::mpi, "MPI_Info_create failed");
  MPI_Info_set(hints, "nc_var_align_size", std::to_string(spaces.alignment).c_str());
  int usual = NC_FORMAT_CLASSIC;  // of files without a flag, as the program may have set it
  ncmpi_set_default_format(NC_FORMAT_CLASSIC, &usual);
  const int created = ncmpi_create(MPI_COMM_SELF, path.c_str(), NC_CLOBBER | flag, hints, &file.id);
  ncmpi_set_default_format(usual, nullptr);
  MPI_Info_free(&hints);
  if (!file.step(created, "netCDF header")) return file.status();
  file.opened();
  define(file, contents);
  if (file.status().ok())
    file.step(ncmpi__enddef(file.id, spaces.behind_header, spaces.alignment, spaces.before_records, spaces.record_alignment),
              "the variables of the file together");
  MPI_Offset bytes = 0, record_bytes = 0;
  if (file.status().ok()) file.step(ncmpi_inq_header_size(file.id, &bytes), "netCDF header");
  if (file.status().ok()) file.step(ncmpi_inq_recsize(file.id, &record_bytes), "netCDF header");
  for (size_t i = 0; i < contents.variables.size() && file.status().ok(); ++i) {
    MPI_Offset offset = 0;
    file.step(ncmpi_inq_varoffset(file.id, static_cast<int>(i), &offset), contents.variables[i].name);
    header.offsets.push_back(offset);
  }
  file.close();
  if (!file.status().ok()) return file.status();
  header.record_bytes = record_bytes;
  std::error_code unknown;
  if (std::filesystem::file_size(path, unknown) < static_cast<uintmax_t>(bytes) && !unknown)  // PnetCDF does not always tell
    return Status(Code::no_space, fmt::format("the header, {}, did not find room in \"{}\"", counted(bytes, "byte"), path));
  auto read = read_all(path, bytes);
  if (!read.ok()) return read.status();
  header.bytes = std::move(read).value();
  return header;
}

Status put_file(const std::string& path, std::span<const std::byte> bytes) {
  auto store = open_store(path, StoreMode::create, {});
  if (!store.ok()) return store.status();
  if (Status status = store.value()->write_at(0, bytes); !status.ok()) return status;
  return store.value()->close();
}

Result<NetcdfContents> read_header_in(const std::string& path, std::span<const std::byte> bytes) {
  if (Status status = put_file(path, bytes); !status.ok()) return status;
  NetcdfContents contents;
  contents.version = static_cast<int>(bytes[3]);
  Open file;
  if (!file.step(ncmpi_open(MPI_COMM_SELF, path.c_str(), NC_NOWRITE, MPI_INFO_NULL, &file.id), "netCDF header"))
    return Status(Code::bad_file, file.status().message());
  file.opened();
  Status status = get_all(file, contents);
  if (status.ok()) return contents;
  return status.code() == Code::out_of_memory ? status : Status(Code::bad_file, status.message());
}

}  // namespace

// What a header takes, as the NetCDF Classic Format Specification has it. A name that PnetCDF puts into Unicode's normal form may get longer or shorter.
int64_t header_bytes_of(const NetcdfContents& contents) {
  const int64_t number = contents.version == 5 ? 8 : 4, offset = contents.version == 1 ? 4 : 8;
  constexpr int64_t k_tag = 4;
  const auto padded = [](int64_t bytes) { return ceil_divide(bytes, 4) * 4; };
  const auto name = [&](const std::string& text) { return number + padded(static_cast<int64_t>(text.size())); };
  const auto attributes = [&](const std::vector<NetcdfAttribute>& list) {
    int64_t bytes = k_tag + number;
    for (const NetcdfAttribute& each : list) bytes += name(each.name) + k_tag + number + padded(static_cast<int64_t>(each.data.size()));
    return bytes;
  };
  int64_t bytes = 4 + number;  // "CDF", the version, and how many records there are
  bytes += k_tag + number;
  for (const NetcdfDimension& each : contents.dimensions) bytes += name(each.name) + number;
  bytes += attributes(contents.attributes);
  bytes += k_tag + number;
  for (const NetcdfVariable& each : contents.variables)
    bytes += name(each.name) + number + number * static_cast<int64_t>(each.dimensions.size()) + attributes(each.attributes) + k_tag + number + offset;
  return bytes;
}

Result<NetcdfHeader> write_header(const NetcdfContents& contents, const NetcdfSpaces& spaces) {
  const int64_t bytes = header_bytes_of(contents);
  if (beyond_file_size_limit(bytes)) return Status(code_of_errno(EFBIG), fmt::format("the header, {}: {}", counted(bytes, "byte"), text_of_errno(EFBIG)));
  return with_scratch(bytes, [&](const std::string& path) { return write_header_in(path, contents, spaces); });
}

Result<std::string> name_in_file(const std::string& name) {
  return with_scratch(0, [&](const std::string& path) -> Result<std::string> {
    Open file;
    int number = 0;
    if (!file.step(ncmpi_create(MPI_COMM_SELF, path.c_str(), NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file.id), "netCDF header")) return file.status();
    file.opened();
    std::array<char, 4 * NC_MAX_NAME + 1> told{};  // PnetCDF measures the name as it comes, and some have three times as many bytes in normal form
    if (file.step(ncmpi_def_dim(file.id, name.c_str(), 1, &number), "name")) file.step(ncmpi_inq_dimname(file.id, number, told.data()), "name");
    file.close();
    if (!file.status().ok()) return file.status();
    return std::string(told.data());
  });
}

Result<NetcdfContents> read_header(std::span<const std::byte> bytes) {
  return with_scratch(std::ssize(bytes), [&](const std::string& path) { return read_header_in(path, bytes); });
}

}  // namespace windrow
