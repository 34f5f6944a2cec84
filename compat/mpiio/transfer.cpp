// SPDX-License-Identifier: BSD-3-Clause
#include "transfer.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <system_error>

#include "choice.hpp"
#include "errors.hpp"
#include "open_file.hpp"

namespace mpiio {
namespace {

struct FreeList {
  void operator()(windrow_byte_list* list) const noexcept { windrow_byte_list_free(list); }
};
using ByteList = std::unique_ptr<windrow_byte_list, FreeList>;

struct FreeOptions {
  void operator()(windrow_options* options) const noexcept { windrow_options_free(options); }
};
using Options = std::unique_ptr<windrow_options, FreeOptions>;

// Calls that move fewer bytes in all go to MPI, until there are many of them: MPI's function has less to agree on. A
// power of two, because Choice knows sizes by their power of two.
int64_t small_bytes() {
  static const int64_t bytes = [] {
    int64_t value = int64_t{256} << 10;
    int64_t asked = 0;
    if (const char* const text = std::getenv("WINDROW_MPIIO_SMALL"); text != nullptr) {
      const char* const end = text + std::strlen(text);
      if (const auto [next, error] = std::from_chars(text, end, asked); error == std::errc() && next == end)
        value = asked;
    }
    return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(value, 1))));
  }();
  return bytes;
}

// Times of all files of this rank. Rank 0 of each file chooses for all its ranks. Any thread.
class SharedChoice {
 public:
  static SharedChoice& instance() {
    static auto* const only = new SharedChoice;
    return *only;
  }
  Choice::Ways ways(bool writes, bool is_contiguous, int64_t least) {
    const std::lock_guard lock(mutex_);
    return choice_.ways(writes, is_contiguous, least);
  }
  void add(bool writes, bool is_contiguous, int64_t bytes, bool passed, double seconds) {
    const std::lock_guard lock(mutex_);
    choice_.add(writes, is_contiguous, bytes, passed, seconds);
  }

 private:
  std::mutex mutex_;
  Choice choice_;
};

// With fewer small calls in a file Windrow does not open it for them.
constexpr int64_t k_many_small_in_file = 16;

bool may_choose() {
  const char* const wish = std::getenv("WINDROW_MPIIO_CHOICE");
  return wish == nullptr || std::string_view(wish) != "take";
}

// What this rank adds to the agreement of a call; the ranks' numbers are summed up.
enum Number {
  bytes,
  refusals,        // ranks whose arguments only MPI can judge
  other_datareps,  // ranks with a view that is not of bytes
  changes,         // rank 0: another file has the name
  scattered,       // ranks that move pieces
  atomic,          // ranks in atomic mode
  unwanted,        // ranks with a hint to leave such calls to MPI
  least,           // rank 0's bound for small calls
  // rank 0's choice for each size of a call with pieces, and of one without
  pass_scattered,
  pass_contiguous,
  time_scattered,
  time_contiguous,
  numbers
};
using Numbers = std::array<int64_t, numbers>;

// This rank's part of a call.
struct Part {
  int64_t position = 0;  // in etypes
  int64_t bytes = 0;
};

// Whether a call may use the type: it exists and is committed. MPI has no such question, but packs no other type. The
// errors of questions about types would end the program; those on our communicator are returned.
bool is_committed(MPI_Datatype type, MPI_Comm comm) {
  char nothing = 0;
  int position = 0;
  return MPI_Pack(&nothing, 0, type, &nothing, 1, &position, comm) == MPI_SUCCESS;
}

// Local and cheap: most calls may be small. Whether this rank can take part; otherwise MPI judges the arguments, on all
// ranks.
bool look_at(const OpenFile& file, MPI_File handle, const mpiio_call& call, Part& part) {
  const auto datatype = handle_of<MPI_Datatype>(call.datatype);
  part.position = call.offset;
  if (call.has_offset == 0) {
    MPI_Offset position = 0;
    if (MPI_File_get_position(handle, &position) != MPI_SUCCESS)
      return false;
    part.position = position;
  }
  if (call.count < 0 || part.position < 0 || !is_committed(datatype, file.ranks->comm) ||
      !(call.writes != 0 ? file.may_write() : file.may_read()))
    return false;
  MPI_Count size = 0;
  if (MPI_Type_size_x(datatype, &size) != MPI_SUCCESS || __builtin_mul_overflow(size, call.count, &part.bytes))
    return false;
  return part.bytes % file.view.etype_size() == 0;
}

// Rank 0, local: whether the path still leads to the file that MPI has opened. Parallel file systems need not be asked
// for its size.
bool is_in_place(const OpenFile& file) {
  struct statx now {};
  return ::statx(AT_FDCWD, file.path.c_str(), AT_STATX_DONT_SYNC, STATX_INO, &now) == 0 &&
         makedev(now.stx_dev_major, now.stx_dev_minor) == file.device && now.stx_ino == file.inode;
}

// Rank 0, local: its choice for each size of calls.
Choice::Ways choose(const OpenFile& file, bool writes, bool is_contiguous, int64_t least) {
  const int64_t small = least - 1;  // the bits of all smaller sizes
  if (!may_choose())
    return {.passed = small, .timed = 0};
  Choice::Ways ways = SharedChoice::instance().ways(writes, is_contiguous, least);
  if (file.bytes == nullptr && file.small_calls < k_many_small_in_file)
    ways.passed |= small;
  return ways;
}

// Collective. Sums up the numbers of all ranks. Returns whether that was possible, the same on all ranks.
bool sum(const OpenFile& file, const Numbers& mine, Numbers& all) {
  if (file.bytes == nullptr)
    return MPI_Allreduce(mine.data(), all.data(), numbers, MPI_INT64_T, MPI_SUM, file.ranks->comm) == MPI_SUCCESS;
  all = mine;
  return windrow_bytes_sum(file.bytes, numbers, all.data()) == WINDROW_OK;
}

bool has_size(int64_t sizes, int64_t bytes) {
  return (sizes >> Choice::size_of(bytes) & 1) != 0;
}

// Collective. Returns why the call goes to MPI, the same on all ranks; empty: Windrow moves the bytes.
const char* agree_to_move(const OpenFile& file, const mpiio_call& call, bool can, const Part& part, Numbers& all) {
  const bool writes = call.writes != 0;
  Numbers mine{};
  mine[bytes] = can ? part.bytes : 0;
  mine[refusals] = can ? 0 : 1;
  mine[other_datareps] = file.view.is_usable() ? 0 : 1;
  mine[scattered] = can && file.view.is_plain() && is_predefined(handle_of<MPI_Datatype>(call.datatype)) ? 0 : 1;
  mine[atomic] = file.is_atomic ? 1 : 0;
  mine[unwanted] = (writes ? file.hints.writes_are_off : file.hints.reads_are_off) ? 1 : 0;
  if (file.ranks->rank == 0) {
    mine[least] = small_bytes();
    mine[changes] = is_in_place(file) ? 0 : 1;
    const Choice::Ways with_pieces = choose(file, writes, false, mine[least]);
    const Choice::Ways contiguous = choose(file, writes, true, mine[least]);
    mine[pass_scattered] = with_pieces.passed;
    mine[time_scattered] = with_pieces.timed;
    mine[pass_contiguous] = contiguous.passed;
    mine[time_contiguous] = contiguous.timed;
  }
  if (!sum(file, mine, all))
    return "error";
  if (all[atomic] != 0)
    return "atomic";
  if (all[unwanted] != 0)
    return "hint";
  if (all[other_datareps] != 0)
    return "datarep";
  if (all[refusals] != 0)
    return "arguments";
  if (all[changes] != 0)
    return "file changed";
  if (all[bytes] == 0)
    return "small";
  if (!has_size(all[all[scattered] != 0 ? pass_scattered : pass_contiguous], all[bytes]))
    return "";
  return all[bytes] < all[least] ? "small" : "slower";
}

// Local. nullptr: out of memory, or an option is refused.
Options options_of(const OpenFile& file) {
  windrow_options* made = nullptr;
  if (windrow_options_create(&made) != WINDROW_OK)
    return nullptr;
  Options options(made);
  const auto set = [&](const char* key, const std::string& value) {
    return value.empty() || windrow_options_set(made, key, value.c_str()) == WINDROW_OK;
  };
  // The program may write into gaps at the same time by other calls of MPI, which respect no lock of ours. So gaps are
  // not read and written over, unless the user asks for it.
  const bool may_sieve = !file.may_write() || (file.may_read() && std::getenv("WINDROW_SIEVE_HOLE") != nullptr);
  const bool is_set =
      set("writers", file.hints.writers) && set("buffer", file.hints.buffer) && set("sieve_hole", may_sieve ? "" : "0");
  return is_set ? std::move(options) : nullptr;
}

// Collective, at the first call that is taken. Returns a code of Windrow.
int open_bytes(OpenFile& file) {
  const Options options = options_of(file);
  // Without options no path is passed: then the call fails on all ranks.
  return windrow_bytes_open(file.ranks->comm, options ? file.path.c_str() : nullptr,
                            file.may_write() ? WINDROW_UPDATE : WINDROW_READ, options.get(), &file.bytes);
}

// Local. nullptr: no bytes. If the list cannot be made, the next call with it moves nothing, on all ranks.
ByteList list_of(const OpenFile& file, const mpiio_call& call, const Part& part) {
  if (part.bytes == 0)
    return nullptr;
  const windrow_byte_view view = file.view.as_windrow();
  windrow_byte_list* made = nullptr;
  const int code =
      windrow_byte_list_types(&view, part.position, call.count, handle_of<MPI_Datatype>(call.datatype), &made);
  ByteList list(made);
  if (code != WINDROW_OK)
    windrow_bytes_refuse(file.bytes, "unusable types");  // so short that it needs no memory
  return list;
}

// Collective. Returns a code of Windrow, the same on all ranks. `moved`: bytes of this rank.
int move_bytes(OpenFile& file, const mpiio_call& call, const Part& part, int64_t& moved) {
  if (file.bytes == nullptr)
    if (const int code = open_bytes(file); code != WINDROW_OK) {
      file.refusal = Refusal::error;
      try {
        file.message = windrow_error_message();
      } catch (const std::bad_alloc&) {
        file.message.clear();  // only the report lacks it
      }
      return WINDROW_UNSUPPORTED;
    }
  moved = part.bytes;
  const ByteList list = list_of(file, call, part);
  return call.writes != 0 ? windrow_bytes_write(file.bytes, list.get(), call.memory)
                          : windrow_bytes_read(file.bytes, list.get(), call.memory, &moved);
}

// Local. After a call that was taken: the status, and the individual file pointer.
void end_call(const OpenFile& file, MPI_File handle, const mpiio_call& call, const Part& part, int64_t moved) {
  if (call.has_offset == 0)
    MPI_File_seek(handle, part.position + part.bytes / file.view.etype_size(), MPI_SEEK_SET);
  auto* const status = static_cast<MPI_Status*>(call.status);
  if (call.is_begin != 0 || status == MPI_STATUS_IGNORE)
    return;
  MPI_Status_set_elements_x(status, MPI_BYTE, moved);
  MPI_Status_set_cancelled(status, 0);
}

int pass(OpenFile& file, const mpiio_call& call, const char* because, int64_t all_bytes) {
  const double start = MPI_Wtime();
  const int code = mpi->move(&call);
  file.tally.add(call, because, all_bytes, MPI_Wtime() - start);
  return code;
}

// Bytes that this rank asks for, where nothing is known of the others.
int64_t own_bytes(const mpiio_call& call) {
  const auto datatype = handle_of<MPI_Datatype>(call.datatype);
  MPI_Count size = 0;
  int64_t total = 0;
  if (!Tally::is_wanted() || call.count < 0 || datatype == MPI_DATATYPE_NULL ||
      MPI_Type_size_x(datatype, &size) != MPI_SUCCESS || __builtin_mul_overflow(size, call.count, &total))
    return 0;
  return total;
}

// Local, but on all ranks: a collective call while a split one is not ended, or the wrong end of it.
int fail_split(MPI_File handle) {
  MPI_File_call_errhandler(handle, MPI_ERR_OTHER);
  return MPI_ERR_OTHER;
}

// Collective after a call that MPI has made. `start`: of the call; negative if it failed on this rank.
void end_passed(OpenFile& file, const mpiio_call& call, std::string_view because, const Numbers& all, double start) {
  const bool is_small = because == "small";
  if (all[bytes] == 0 || (!is_small && because != "slower"))
    return;
  file.small_calls += is_small ? 1 : 0;
  const bool is_contiguous = all[scattered] == 0;
  double seconds = -1;
  if (has_size(all[is_contiguous ? time_contiguous : time_scattered], all[bytes]) && file.bytes != nullptr) {
    // Windrow's time is that of all ranks, so MPI's is too.
    windrow_bytes_sum(file.bytes, 0, nullptr);
    seconds = start < 0 ? -1 : MPI_Wtime() - start;
  }
  if (file.ranks->rank == 0)
    SharedChoice::instance().add(call.writes != 0, is_contiguous, all[bytes], true, seconds);
}

int agree_and_move(OpenFile& file, MPI_File handle, const mpiio_call& call) {
  Part part;
  const bool can = look_at(file, handle, call, part);
  Numbers all{};
  const char* because = agree_to_move(file, call, can, part, all);
  const bool is_contiguous = all[scattered] == 0;
  const double start = MPI_Wtime();
  if (*because == '\0') {
    int64_t moved = 0;
    const int code = move_bytes(file, call, part, moved);
    const double seconds = MPI_Wtime() - start;
    if (!moved_nothing(code)) {
      if (file.ranks->rank == 0)
        SharedChoice::instance().add(call.writes != 0, is_contiguous, all[bytes], false, seconds);
      file.tally.add(call, "", all[bytes], seconds);
      file.split = {.is_taken = call.is_begin != 0 && code == WINDROW_OK,
                    .writes = call.writes != 0,
                    .has_offset = call.has_offset != 0,
                    .bytes = moved};
      if (code != WINDROW_OK)
        return fail(handle, code);
      end_call(file, handle, call, part, moved);
      return MPI_SUCCESS;
    }
    because = code == WINDROW_BAD_ARGUMENT ? "arguments" : "error";
  }
  const int code = pass(file, call, because, all[bytes]);
  end_passed(file, call, because, all, code == MPI_SUCCESS ? start : -1);
  return code;
}

}  // namespace

int move(const mpiio_call& call) {
  const auto handle = handle_of<MPI_File>(call.file);
  OpenFile* const file = find_file(handle);
  if (file == nullptr)
    return mpi->move(&call);
  if (file->split.is_taken)
    return fail_split(handle);
  if (file->refusal != Refusal::none)
    return pass(*file, call, name_of(file->refusal), own_bytes(call));
  return agree_and_move(*file, handle, call);
}

int end_split(const mpiio_call& call) {
  OpenFile* const file = find_file(handle_of<MPI_File>(call.file));
  if (file == nullptr || !file->split.is_taken)
    return mpi->end(&call);
  if (file->split.writes != (call.writes != 0) || file->split.has_offset != (call.has_offset != 0))
    return fail_split(handle_of<MPI_File>(call.file));
  const int64_t moved = file->split.bytes;
  file->split = {};
  auto* const status = static_cast<MPI_Status*>(call.status);
  if (status != MPI_STATUS_IGNORE) {
    MPI_Status_set_elements_x(status, MPI_BYTE, moved);
    MPI_Status_set_cancelled(status, 0);
  }
  return MPI_SUCCESS;
}

}  // namespace mpiio
