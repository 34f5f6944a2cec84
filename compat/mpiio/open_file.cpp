// SPDX-License-Identifier: BSD-3-Clause
#include "open_file.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <new>
#include <string_view>
#include <utility>

namespace mpiio {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<mpi_word, std::unique_ptr<OpenFile>> files;
};

Registry& registry() {
  static auto* const all = new Registry;
  return *all;
}

bool is_native(std::string_view datarep) {
  return datarep == "native" || datarep == "internal";
}

}  // namespace

bool is_predefined(MPI_Datatype type) {
  int integers = 0;
  int addresses = 0;
  int types = 0;
  int combiner = MPI_COMBINER_NAMED;
  return MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) == MPI_SUCCESS &&
         combiner == MPI_COMBINER_NAMED;
}

void View::free_types() noexcept {
  if (std::exchange(has_types_, false)) {
    MPI_Type_free(&etype_);
    MPI_Type_free(&filetype_);
  }
  etype_ = MPI_BYTE;
  filetype_ = MPI_BYTE;
}

void View::set(int64_t displacement, MPI_Datatype etype, MPI_Datatype filetype, const char* datarep) {
  free_types();
  is_usable_ = false;
  displacement_ = displacement;
  MPI_Count size = 0;
  if (datarep == nullptr || !is_native(datarep) || displacement < 0 || MPI_Type_size_x(etype, &size) != MPI_SUCCESS ||
      size <= 0)
    return;
  etype_size_ = size;
  if (etype == filetype && is_predefined(etype)) {
    // A view without holes, unless it is a pair with holes.
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    if (MPI_Type_get_extent(etype, &lower, &extent) == MPI_SUCCESS && extent == size) {
      etype_ = etype;  // never freed
      filetype_ = filetype;
      is_usable_ = true;
      return;
    }
  }
  // Not MPI_Type_dup(), which would call the program's functions for its attributes.
  if (MPI_Type_contiguous(1, etype, &etype_) != MPI_SUCCESS)
    return;
  if (MPI_Type_contiguous(1, filetype, &filetype_) != MPI_SUCCESS) {
    MPI_Type_free(&etype_);
    return;
  }
  has_types_ = true;
  is_usable_ = true;
}

windrow_byte_view View::as_windrow() const noexcept {
  return {displacement_, etype_, filetype_};
}

void add_file(MPI_File handle, std::unique_ptr<OpenFile> file) {
  const std::lock_guard lock(registry().mutex);
  registry().files[word_of(handle)] = std::move(file);
}

OpenFile* find_file(MPI_File handle) noexcept {
  const std::lock_guard lock(registry().mutex);
  const auto found = registry().files.find(word_of(handle));
  return found != registry().files.end() ? found->second.get() : nullptr;
}

std::unique_ptr<OpenFile> remove_file(MPI_File handle) noexcept {
  const std::lock_guard lock(registry().mutex);
  auto node = registry().files.extract(word_of(handle));
  return node.empty() ? nullptr : std::move(node.mapped());
}

namespace {

// This rank's part of the agreement on a file that MPI has opened.
enum Opened {
  refusal,
  inode,
  no_inode,
  is_cached_by_hosts,
  opened_numbers
};

// Collective over the file's ranks. Returns whether they are on several hosts.
bool are_on_hosts(const Communicator& ranks) {
  MPI_Comm host = MPI_COMM_NULL;
  int size = 0;
  if (MPI_Comm_split_type(ranks.comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host) == MPI_SUCCESS) {
    MPI_Comm_size(host, &size);
    MPI_Comm_free(&host);
  }
  int smallest = 0;
  return MPI_Allreduce(&size, &smallest, 1, MPI_INT, MPI_MIN, ranks.comm) != MPI_SUCCESS || smallest < ranks.ranks;
}

// Collective over the file's ranks. Returns the same on all ranks. `local`: why this rank cannot take the file.
Refusal agree_to_take(const Communicator& ranks, Refusal local, const FileFacts& facts) {
  // Two maxima tell whether all ranks see the same file. Devices have other numbers on other hosts.
  std::array<int64_t, opened_numbers> mine{};
  mine[refusal] = static_cast<int64_t>(local);
  mine[inode] = static_cast<int64_t>(facts.inode);
  mine[no_inode] = ~static_cast<int64_t>(facts.inode);
  mine[is_cached_by_hosts] = facts.is_cached_by_hosts ? 1 : 0;
  std::array<int64_t, opened_numbers> all{};
  if (MPI_Allreduce(mine.data(), all.data(), opened_numbers, MPI_INT64_T, MPI_MAX, ranks.comm) != MPI_SUCCESS)
    return Refusal::no_core;
  const auto verdict = static_cast<Refusal>(all[refusal]);
  if (verdict != Refusal::none)
    return verdict;
  if (all[inode] != ~all[no_inode])
    return Refusal::not_regular;
  return all[is_cached_by_hosts] != 0 && are_on_hosts(ranks) ? Refusal::file_system : Refusal::none;
}

// Local: makes the state of a file that MPI has opened.
Refusal add_opened(MPI_File handle, const char* name, int amode, MPI_Info info, FileFacts& facts) {
  auto file = std::make_unique<OpenFile>();
  const std::string path = path_of(name);
  file->path = path.empty() ? name : path;
  file->amode = amode;
  read_hints(info, file->hints);
  file->view.set(0, MPI_BYTE, MPI_BYTE, "native");
  facts = facts_of(file->path);
  file->device = facts.device;
  file->inode = facts.inode;
  Refusal reason = Refusal::none;
  if (path.empty())
    reason = Refusal::prefix;
  else if ((amode & MPI_MODE_SEQUENTIAL) != 0)
    reason = Refusal::sequential;
  else if (file->hints.is_off)
    reason = Refusal::hint;
  else if (!facts.is_regular)
    reason = Refusal::not_regular;
  add_file(handle, std::move(file));
  return reason;
}

// Whether other ranks take part in a call on `comm`, which may be anything: MPI judges it.
bool has_several_ranks(MPI_Comm comm) {
  int is_inter = 0;
  int ranks = 1;
  return comm != MPI_COMM_NULL && MPI_Comm_test_inter(comm, &is_inter) == MPI_SUCCESS && is_inter == 0 &&
         MPI_Comm_size(comm, &ranks) == MPI_SUCCESS && ranks > 1;
}

// The ranks of an open file. Local.
bool ranks_of(MPI_File handle, int& rank, int& ranks) {
  MPI_Group group = MPI_GROUP_NULL;
  if (MPI_File_get_group(handle, &group) != MPI_SUCCESS)
    return false;
  MPI_Group_rank(group, &rank);
  MPI_Group_size(group, &ranks);
  MPI_Group_free(&group);
  return true;
}

}  // namespace

int open_file(MPI_Comm comm, const char* name, int amode, MPI_Info info, MPI_File* handle) {
  const bool is_shared = has_several_ranks(comm);
  // Made before MPI opens the file, so that a rank takes part for which MPI fails.
  std::shared_ptr<Communicator> ranks = is_shared ? communicator_for(comm) : nullptr;
  mpi_word opened = word_of(*handle);
  const int code = mpi->open(word_of(comm), name, amode, word_of(info), &opened);
  *handle = handle_of<MPI_File>(opened);
  Refusal reason = Refusal::not_opened;
  FileFacts facts;
  if (code == MPI_SUCCESS)
    try {
      reason = add_opened(*handle, name, amode, info, facts);
    } catch (const std::bad_alloc&) {
      reason = Refusal::error;
    }
  OpenFile* const file = code == MPI_SUCCESS ? find_file(*handle) : nullptr;
  if (!ranks)
    reason = std::max(reason, is_shared ? Refusal::no_core : Refusal::one_rank);
  else
    reason = agree_to_take(*ranks, reason, facts);
  if (ranks && reason != Refusal::none)
    leave(ranks);
  if (file == nullptr)
    return code;
  file->refusal = reason;
  file->ranks = std::move(ranks);
  return code;
}

int close_file(MPI_File* handle) {
  if (handle == nullptr)
    return mpi->close(nullptr);
  const std::unique_ptr<OpenFile> file = remove_file(*handle);
  if (file) {
    // Every call has reported its own errors.
    windrow_bytes_close(file->bytes);
    int rank = 0;
    int ranks = 1;
    if (Tally::is_wanted() && ranks_of(*handle, rank, ranks) && rank == 0)
      file->tally.write(file->path, ranks, name_of(file->refusal), file->message);
    if (file->ranks)
      leave(file->ranks);
  }
  mpi_word word = word_of(*handle);
  const int code = mpi->close(&word);
  *handle = handle_of<MPI_File>(word);
  return code;
}

}  // namespace mpiio
