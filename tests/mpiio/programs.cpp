// SPDX-License-Identifier: BSD-3-Clause
// Random programs of MPI-IO beside a model of their files: programs FOLDER [--cases N] [--first N] [--strict]
// [--verbose]. It knows MPI alone. The model finds faults of MPI too. Shapes in which the MPIs have faults are left out
// or not judged: "Known" in comments says which.
//
// Known: collective buffering moves other bytes with some views, in OMPIO 4.1 and in ROMIO of MPICH 4.0. compare.py
// tells both to let each rank move its own.
//
// A case is a program of a few ranks. Each launch runs many, some at the same time on different ranks. Faults begin
// with "FAULT". Lines that begin with "result" are what the standard leaves to MPI: they must be the same with and
// without another library.
//
// --strict: reads past the end of the file are judged. Known: ROMIO of MPICH 4.0 and Open MPI's OMPIO 4.1 tell more
// bytes than the file has where the view or the memory has holes, and some fill the rest of the memory.
#include <fcntl.h>
#include <mpi.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <numeric>

#include "model.hpp"

namespace {

using namespace mpiio_test;

struct Arguments {
  std::string folder;
  int first = 0, cases = 100;
  bool strict = false, verbose = false;
};

// Written at once, so that lines of several ranks do not mix.
void print(const std::string& line) {
  std::fputs((line + "\n").c_str(), stdout);
  std::fflush(stdout);
}

// Known: OMPIO has no "internal".
#ifdef OPEN_MPI
constexpr const char* k_other_representation = "native";
#else
constexpr const char* k_other_representation = "internal";
#endif

int class_of(int code) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  return error_class;
}

// Collective calls are counted by name on rank 0 of each case, for a comparison with what a preloaded library reports.
std::map<std::string, int64_t>& calls() {
  static std::map<std::string, int64_t> counts;
  return counts;
}

struct File {
  explicit File(int64_t base) : model(base) {}
  std::string path;
  MPI_File handle = MPI_FILE_NULL;
  bool is_open = false, exists = false, is_atomic = false, is_passed = false;
  int mode = 0;
  Model model;
  Views views;
  std::vector<int64_t> positions;  // of each rank, in etypes

  bool can_write() const { return (mode & (MPI_MODE_RDWR | MPI_MODE_WRONLY)) != 0; }
  bool can_read() const { return (mode & (MPI_MODE_RDWR | MPI_MODE_RDONLY)) != 0; }
};

// The memory of an access on the rank that moves it.
class Memory {
 public:
  Memory(const Access& access, uint64_t seed) : access_(access), lowest_(0) {
    const Type& type = access.memory;
    const int64_t reach = std::max<int64_t>(0, access.count - 1) * type.extent;
    lowest_ = type.begin() + std::min<int64_t>(0, reach);
    const int64_t highest = type.end() + std::max<int64_t>(0, reach);
    bytes_.resize(static_cast<size_t>(highest - lowest_ + 2 * k_guard));
    for (size_t i = 0; i < bytes_.size(); ++i)
      bytes_[i] = value(seed, static_cast<int64_t>(i));
    expected_ = bytes_;
    if (access.at_bottom) {
      const auto address = reinterpret_cast<MPI_Aint>(origin());
      MPI_Datatype absolute = MPI_DATATYPE_NULL;
      MPI_Type_create_hindexed_block(1, 1, &address, type.get(), &absolute);
      absolute_ = made(absolute, {}, 1, "absolute");
    }
  }

  void* buffer() { return access_.at_bottom ? MPI_BOTTOM : origin(); }
  MPI_Datatype type() const { return access_.at_bottom ? absolute_.get() : access_.memory.get(); }
  unsigned char& expected(int64_t number) { return expected_[index(number)]; }
  // Of the access's byte `number`, for a writer on another rank too: contents do not depend on addresses.
  static unsigned char value_of(const Access& access, uint64_t seed, int64_t number) {
    const Type& type = access.memory;
    const int64_t reach = std::max<int64_t>(0, access.count - 1) * type.extent;
    return value(seed, place(access, number) - type.begin() - std::min<int64_t>(0, reach) + k_guard);
  }
  int64_t difference() const {
    const auto found = std::mismatch(bytes_.begin(), bytes_.end(), expected_.begin());
    return found.first == bytes_.end() ? -1 : found.first - bytes_.begin();
  }
  // Of data bytes below `count` alone.
  int64_t difference_below(int64_t count) const {
    for (int64_t i = 0; i < count; ++i)
      if (bytes_[index(i)] != expected_[index(i)])
        return static_cast<int64_t>(index(i));
    return -1;
  }
  std::string values_at(int64_t place) const {
    const auto at = static_cast<size_t>(place);
    return "byte " + std::to_string(place) + " of " + std::to_string(bytes_.size()) + " in memory is " +
           std::to_string(bytes_[at]) + ", not " + std::to_string(expected_[at]);
  }

 private:
  static constexpr int64_t k_guard = 32;
  static unsigned char value(uint64_t seed, int64_t place) {
    return static_cast<unsigned char>(((static_cast<uint64_t>(place) + seed * 77) * 2654435761u) >> 9);
  }
  static int64_t place(const Access& access, int64_t number) {
    const int64_t size = access.memory.size();
    return access.memory.places[static_cast<size_t>(number % size)] + number / size * access.memory.extent;
  }
  size_t index(int64_t number) const { return static_cast<size_t>(place(access_, number) - lowest_ + k_guard); }
  void* origin() {
    return reinterpret_cast<void*>(reinterpret_cast<intptr_t>(bytes_.data()) + static_cast<intptr_t>(k_guard) -
                                   static_cast<intptr_t>(lowest_));
  }

  const Access& access_;
  int64_t lowest_;
  std::vector<unsigned char> bytes_, expected_;
  Type absolute_;
};

class Program {
 public:
  Program(int number, MPI_Comm comm, const Arguments& arguments)
      : number_(number), comm_(comm), arguments_(arguments), random_(static_cast<uint64_t>(number) * 7919 + 13) {
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &ranks_);
  }

  bool run() {
    const int files = random_.one_in(3) ? random_.small(2, 3) : 1;
    const int64_t base = random_.one_in(6) ? (int64_t{1} << 32) - 5000 : 0;  // across 4 GiB
    for (int i = 0; i < files; ++i) {
      files_.emplace_back(base);
      files_.back().path = arguments_.folder + "/case " + std::to_string(number_) + "." + std::to_string(i);
      make_before(files_.back());
      open(files_.back());
    }
    for (int left = random_.small(5, 16); left > 0; --left) {
      File& file = files_[static_cast<size_t>(random_(0, files - 1))];
      if (file.is_open)
        step(file);
      else
        open(file);
    }
    for (File& file : files_) {
      if (file.is_open)
        close(file);
      expect_bytes(file, "at the end");
      if (rank_ == 0 && file.exists)
        unlink(file.path.c_str());
    }
    MPI_Barrier(comm_);
    return !failed_;
  }

 private:
  // -------------------------------------------------------------------------------------------- messages

  void fault(const std::string& text) {
    failed_ = true;
    if (++faults_ <= 2)
      print("FAULT case " + std::to_string(number_) + " (" + std::to_string(ranks_) + " ranks) step " +
            std::to_string(step_) + " rank " + std::to_string(rank_) + " " + what_ + ": " + text);
  }
  void expect(int64_t given, int64_t expected, const std::string& text) {
    if (given != expected)
      fault(text + " is " + std::to_string(given) + ", not " + std::to_string(expected));
  }
  void expect_success(int code, const std::string& text) {
    if (code == MPI_SUCCESS)
      return;
    char message[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, message, &length);
    fault(text + " fails: " + message);
  }
  void result(const std::string& text) {
    if (rank_ == 0)
      print("result case " + std::to_string(number_) + " step " + std::to_string(step_) + ": " + text);
  }
  void begin_step(const File& file, const std::string& what) {
    ++step_;
    what_ = what;
    if (arguments_.verbose && rank_ == 0)
      print("case " + std::to_string(number_) + " step " + std::to_string(step_) + " " + file.path + ": " + what);
  }
  void describe(const File& file, const std::vector<Access>& accesses) const {
    if (!arguments_.verbose || rank_ != 0)
      return;
    for (const Access& access : accesses)
      print("    rank " + std::to_string(access.rank) + (access.writing ? " writes " : " reads ") +
            std::to_string(access.count) + " of " + (access.at_bottom ? "absolute " : "") + access.memory.text +
            " at " + std::to_string(access.offset) +
            (access.places.empty()
                 ? ""
                 : ", bytes " + std::to_string(access.places.front()) + " to " + std::to_string(access.places.back()) +
                       " of " + std::to_string(file.model.size())));
  }

  // -------------------------------------------------------------------------------------------- open and close

  void make_before(File& file) {
    if (random_.one_in(2))
      return;
    const int64_t base = file.model.base(), size = base + random_(0, 20'000);
    std::vector<unsigned char> bytes;
    for (int64_t place = base; place < size; ++place) {
      bytes.push_back(static_cast<unsigned char>(place * 31 >> 3));
      file.model.put(place, bytes.back());
    }
    file.model.set_size(size);
    file.model.synced();
    file.exists = true;
    if (rank_ == 0) {
      const int descriptor = ::open(file.path.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0644);
      if (pwrite(descriptor, bytes.data(), bytes.size(), base) < 0 || ftruncate(descriptor, size) != 0)
        fault("the file before cannot be made");
      ::close(descriptor);
    }
    MPI_Barrier(comm_);
  }

  MPI_Info some_info(File& file) {
    static constexpr std::pair<const char*, const char*> k_hints[] = {{"cb_nodes", "2"},
                                                                      {"cb_buffer_size", "4096"},
                                                                      {"striping_unit", "65536"},
                                                                      {"windrow", "off"},
                                                                      {"romio_cb_read", "disable"},
                                                                      {"ind_wr_buffer_size", "4096"},
                                                                      {"nobody_knows_this", "really"}};
    file.is_passed = false;
    if (!random_.one_in(4))
      return MPI_INFO_NULL;
    const auto& hint = k_hints[random_(0, 6)];
    file.is_passed = std::strcmp(hint.second, "off") == 0 || std::strcmp(hint.second, "disable") == 0;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, hint.first, hint.second);
    return info;
  }

  int some_mode(const File& file) {
    static constexpr int k_update[] = {MPI_MODE_RDWR, MPI_MODE_RDWR, MPI_MODE_RDWR, MPI_MODE_WRONLY, MPI_MODE_RDONLY};
    int mode = file.exists ? k_update[random_(0, 4)] : random_.one_in(4) ? MPI_MODE_WRONLY : MPI_MODE_RDWR;
    if (mode != MPI_MODE_RDONLY && (!file.exists || random_.one_in(2)))
      mode |= MPI_MODE_CREATE;
    if (!file.exists && random_.one_in(3))
      mode |= MPI_MODE_EXCL;
    if (mode != MPI_MODE_RDONLY && random_.one_in(5))
      mode |= MPI_MODE_APPEND;
    if (random_.one_in(12))
      mode |= MPI_MODE_DELETE_ON_CLOSE;
    return mode;
  }

  void open(File& file) {
    // Sometimes first in a mode that must fail.
    if (random_.one_in(8)) {
      const int mode = file.exists ? MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR : MPI_MODE_RDONLY;
      begin_step(file, "open that must fail, mode " + std::to_string(mode));
      const int code = MPI_File_open(comm_, file.path.c_str(), mode, MPI_INFO_NULL, &file.handle);
      result("error class of opening " + std::to_string(class_of(code)));
      expect(code != MPI_SUCCESS, true, "failure of opening");
      MPI_Barrier(comm_);
    }
    file.mode = some_mode(file);
    MPI_Info info = some_info(file);
    begin_step(file, "open, mode " + std::to_string(file.mode) + (file.is_passed ? ", passed" : ""));
    expect_success(MPI_File_open(comm_, file.path.c_str(), file.mode, info, &file.handle), "MPI_File_open");
    if (info != MPI_INFO_NULL)
      MPI_Info_free(&info);
    file.is_open = file.exists = true;
    file.is_atomic = false;
    file.views = RandomViews::initial(ranks_);
    file.positions.assign(static_cast<size_t>(ranks_), (file.mode & MPI_MODE_APPEND) != 0 ? file.model.size() : 0);
    expect_position(file, "at opening");
    int mode = 0;
    MPI_File_get_amode(file.handle, &mode);
    expect(mode, file.mode, "the mode");
    if (random_.one_in(2))
      set_view(file);
  }

  void close(File& file) {
    begin_step(file, "close");
    expect_success(MPI_File_close(&file.handle), "MPI_File_close");
    expect(file.handle == MPI_FILE_NULL, true, "a null handle after MPI_File_close");
    MPI_Barrier(comm_);
    file.is_open = false;
    if ((file.mode & MPI_MODE_DELETE_ON_CLOSE) != 0) {
      file.exists = false;
      file.model.clear();
    }
    file.model.synced();
  }

  // -------------------------------------------------------------------------------------------- steps

  void step(File& file) {
    const int64_t kind = random_(0, 23);
    if (kind <= 7)
      collective(file, file.can_write() && (!file.can_read() || random_.one_in(2)));
    else if (kind <= 9)
      collective(file, file.can_write());
    else if (kind <= 11)
      independent(file);
    else if (kind <= 14)
      set_view(file);
    else if (kind == 15)
      seek(file);
    else if (kind == 16)
      sync(file);
    else if (kind == 17)
      set_size(file);
    else if (kind == 18)
      set_atomicity(file);
    else if (kind == 19)
      wrong(file);
    else if (kind <= 21)
      look(file);
    else
      close(file);
  }

  void sync(File& file) {
    begin_step(file, "sync");
    // Known: ROMIO refuses it for files that are read only.
    const int first = MPI_File_sync(file.handle);
    MPI_Barrier(comm_);
    const int second = MPI_File_sync(file.handle);
    if (file.can_write()) {
      expect_success(first, "MPI_File_sync");
      expect_success(second, "MPI_File_sync");
    }
    file.model.synced();
  }

  void look(File& file) {
    sync(file);
    begin_step(file, "look");
    MPI_Offset size = -1;
    expect_success(MPI_File_get_size(file.handle, &size), "MPI_File_get_size");
    expect(size, file.model.size(), "MPI_File_get_size");
    expect_position(file, "between calls");
    expect_bytes(file, "after a sync");
  }

  void set_view(File& file) {
    Views views = RandomViews(random_, ranks_, file.model.base()).make();
    begin_step(file, "set view, " + views.text);
    for (const View& view : views.of)
      if (arguments_.verbose && rank_ == 0)
        print("    from " + std::to_string(view.displacement) + " etype " + view.etype.text + " filetype " +
              view.filetype.text);
    const View& mine = views.of[static_cast<size_t>(rank_)];
    expect_success(MPI_File_set_view(file.handle, mine.displacement, mine.etype.get(), mine.filetype.get(),
                                     random_.one_in(8) ? k_other_representation : "native", MPI_INFO_NULL),
                   "MPI_File_set_view");
    file.views = std::move(views);
    file.positions.assign(static_cast<size_t>(ranks_), 0);
    expect_position(file, "after MPI_File_set_view");
  }

  void set_size(File& file) {
    if (!file.can_write())
      return;
    sync(file);
    const int64_t size = file.model.base() + random_(0, 20'000);
    begin_step(file, "set size " + std::to_string(size));
    expect_success(MPI_File_set_size(file.handle, size), "MPI_File_set_size");
    file.model.set_size(size);
    sync(file);
  }

  void set_atomicity(File& file) {
    begin_step(file, "set atomicity");
    const int flag = file.is_atomic ? 0 : 1;
    const int code = MPI_File_set_atomicity(file.handle, flag);
    result("error class of set_atomicity " + std::to_string(class_of(code)));
    if (code == MPI_SUCCESS)
      file.is_atomic = flag == 1;
  }

  void seek(File& file) {
    // Known: OMPIO 4.1 finds another end, or none, where the etype is derived.
    const bool is_plain = file.views.text == "plain" && file.views.of[0].etype.text.find('(') == std::string::npos;
    const View& first = file.views.of[0];
    const int64_t bytes = file.model.size() - first.displacement;
    if (is_plain && bytes >= 0 && bytes % first.etype.size() == 0 && random_.one_in(2)) {
      sync(file);
      const int64_t back = random_(0, std::min<int64_t>(5, bytes / first.etype.size()));
      begin_step(file, "seek from the end");
      expect_success(MPI_File_seek(file.handle, -back, MPI_SEEK_END), "MPI_File_seek");
      file.positions.assign(static_cast<size_t>(ranks_), bytes / first.etype.size() - back);
    } else {
      begin_step(file, "seek");
      for (int rank = 0; rank < ranks_; ++rank) {
        int64_t& position = file.positions[static_cast<size_t>(rank)];
        const int64_t to = some_offset(file, rank);
        const bool relative = random_.one_in(2);
        if (rank == rank_)
          expect_success(relative ? MPI_File_seek(file.handle, to - position, MPI_SEEK_CUR)
                                  : MPI_File_seek(file.handle, to, MPI_SEEK_SET),
                         "MPI_File_seek");
        position = to;
      }
    }
    expect_position(file, "after MPI_File_seek");
  }

  // Arguments that are wrong on all ranks. On one rank alone they make the MPIs hang.
  void wrong(File& file) {
    int code = MPI_SUCCESS;
    int number = 0;
    MPI_Status status;
    switch (random_(0, 4)) {
      case 0:
        begin_step(file, "negative count");
        code = MPI_File_write_at_all(file.handle, 0, &number, -1, MPI_INT, &status);
        break;
      case 1:
#ifdef OPEN_MPI
        return;  // Known: OMPIO 4.1 does not look at the offset
#else
        begin_step(file, "negative offset");
        code = MPI_File_read_at_all(file.handle, -5, &number, 1, MPI_BYTE, &status);
        break;
#endif
      case 2:
        begin_step(file, "null type");
        code = MPI_File_read_all(file.handle, &number, 1, MPI_DATATYPE_NULL, &status);
        break;
      case 3:
        begin_step(file, "other mode");
        if (!file.can_write())
          code = MPI_File_write_all(file.handle, &number, 1, MPI_BYTE, &status);
        else if (!file.can_read())
          code = MPI_File_read_all(file.handle, &number, 1, MPI_BYTE, &status);
        else
          return;
        break;
      default:
        begin_step(file, "negative count, split");
        code = MPI_File_read_at_all_begin(file.handle, 0, &number, -1, MPI_INT);
    }
    result(what_ + ": error class " + std::to_string(class_of(code)));
    expect(code != MPI_SUCCESS, true, "failure of a call with wrong arguments");
    expect(number, 0, "the memory");
    expect_position(file, "after a failed call");
  }

  // -------------------------------------------------------------------------------------------- data

  int64_t some_offset(const File& file, int rank) {
    const View& view = file.views.of[static_cast<size_t>(rank)];
    if (view.is_empty())
      return 0;  // Known: OMPIO 4.1 knows no other position in a view without data
    // The view at opening begins at 0, which may be far below the base.
    const int64_t low =
        view.displacement < file.model.base() ? (file.model.base() - view.displacement) / view.etype.size() : 0;
    const int64_t tiles = (file.model.end() - std::max(view.displacement, file.model.base())) / view.filetype.extent;
    const int64_t all = tiles * view.filetype.size() / view.etype.size();
    switch (random_(0, 3)) {
      case 0:
        return low;
      case 1:
        return low + random_(0, 20);
      default:
        return low + random_(0, std::max<int64_t>(1, std::min<int64_t>(all / 2, 5000 / view.etype.size())));
    }
  }

  void set_places(const File& file, Access& access) {
    const View& view = file.views.of[static_cast<size_t>(access.rank)];
    access.places.clear();
    const int64_t first = access.offset * view.etype.size(), bytes = access.count * access.memory.size();
    for (int64_t i = 0; i < bytes; ++i)
      access.places.push_back(view.place(first + i));
  }

  void set_memory(const View& view, Access& access) {
    const Type byte = named(MPI_BYTE, "BYTE");
    const int64_t unit = view.etype.size();
    access.at_bottom = random_.one_in(8);
    if (random_.one_in(5)) {
      access.memory = view.etype;
      access.count = random_(1, std::max<int64_t>(1, 4000 / unit));
    } else if (random_.one_in(4)) {
      access.memory = RandomTypes(random_, false).make(random_.small(0, 3), byte);
      access.count = unit / std::gcd(unit, access.memory.size()) * random_(1, 3);
      if (access.count * access.memory.size() > 8000) {
        access.memory = byte;
        access.count = unit;
      }
    } else {
      access.memory = RandomTypes(random_, false).make(random_.small(0, 4), view.etype);
      access.count = random_(1, 4);
    }
  }

  // For `by_pointer` the access is at the rank's position if possible. The caller must seek for others.
  Access some_access(const File& file, int rank, bool writing, bool by_pointer, Claims& claims) {
    const View& view = file.views.of[static_cast<size_t>(rank)];
    const int64_t position = file.positions[static_cast<size_t>(rank)];
    Access access;
    access.rank = rank;
    access.writing = writing;
    access.offset = position;
    set_memory(view, access);
    const bool nothing = random_.one_in(7) || view.is_empty();
    for (int attempt = 0; attempt < 5 && !nothing; ++attempt) {
      const int64_t other = random_.one_in(2) ? next_offset_ + random_(0, 2) : some_offset(file, rank);
      access.offset = by_pointer && attempt == 0 ? position : other;
      const int64_t unit = view.etype.size();
      const int64_t last = access.offset * unit + access.count * access.memory.size() - 1;
      if (view.place(access.offset * unit) < file.model.base() || view.place(last) >= file.model.end())
        continue;
      set_places(file, access);
      if (claims.claim(access)) {
        next_offset_ = (last + 1) / unit;
        return access;
      }
    }
    access.places.clear();
    access.offset = position;
    access.count = 0;
    return access;
  }

  // Applies the write of any rank to the model.
  void apply(File& file, const Access& access, uint64_t seed) {
    for (size_t i = 0; i < access.places.size(); ++i)
      file.model.put(access.places[i], Memory::value_of(access, seed, static_cast<int64_t>(i)));
  }

  uint64_t seed_of(int rank) const {
    return static_cast<uint64_t>(step_ * 31 + rank + 1000 * number_);
  }

  void prepare_for(File& file, const std::vector<Access>& accesses) {
    if (!file.model.needs_sync(accesses))
      return;
    const std::string what = what_;
    sync(file);
    begin_step(file, what);
  }

  // Whether what a short read tells and fills is judged: only calls that a library takes.
  bool is_judged(const File& file, bool is_collective) const {
    return arguments_.strict && is_collective && ranks_ > 1 && !file.is_atomic && !file.is_passed;
  }

  void expect_moved(const File& file, const Access& access, Memory& memory, const MPI_Status* status,
                    bool is_collective) {
    const int64_t all = static_cast<int64_t>(access.places.size());
    const int64_t bytes = access.writing ? all : file.model.available(access);
    if (!access.writing)
      for (int64_t i = 0; i < bytes; ++i)
        memory.expected(i) = file.model.at(access.places[static_cast<size_t>(i)]);
    const bool is_short = bytes < all;
    const int64_t different =
        is_short && !is_judged(file, is_collective) ? memory.difference_below(bytes) : memory.difference();
    if (different >= 0)
      fault(memory.values_at(different));
    if (status == nullptr || (is_short && !is_judged(file, is_collective)))
      return;
    int count = -1;
    MPI_Get_count(status, MPI_BYTE, &count);
    expect(count, bytes, "MPI_Get_count of MPI_BYTE");
    MPI_Get_count(status, access.memory.get(), &count);
    expect(count, bytes % access.memory.size() == 0 ? bytes / access.memory.size() : MPI_UNDEFINED, "MPI_Get_count");
    if (access.memory.unit > 0 && bytes % access.memory.unit == 0) {
      MPI_Get_elements(status, access.memory.get(), &count);
      expect(count, bytes / access.memory.unit, "MPI_Get_elements");
    }
    if (is_judged(file, is_collective) && bytes > 0) {  // Known: OMPIO 4.1 leaves it as it was
      int cancelled = 1;
      MPI_Test_cancelled(status, &cancelled);
      expect(cancelled, 0, "MPI_Test_cancelled");
    }
  }

  // A short read moves the position by what was asked for. MPIs do not all do so in all cases, so the program seeks.
  void move_position(File& file, const Access& access, bool is_collective) {
    const int64_t unit = file.views.of[static_cast<size_t>(access.rank)].etype.size();
    const int64_t all = static_cast<int64_t>(access.places.size());
    const int64_t bytes = access.writing ? all : file.model.available(access);
    int64_t& position = file.positions[static_cast<size_t>(access.rank)];
    position += all / unit;
    if (bytes == all || access.rank != rank_)
      return;
    if (is_judged(file, is_collective) && all % unit == 0)
      expect_position(file, "after a read past the end");
    expect_success(MPI_File_seek(file.handle, position, MPI_SEEK_SET), "MPI_File_seek");
  }

  void expect_position(const File& file, const std::string& when) {
    MPI_Offset position = -1;
    expect_success(MPI_File_get_position(file.handle, &position), "MPI_File_get_position");
    expect(position, file.positions[static_cast<size_t>(rank_)], "the position " + when);
  }

  int start(const File& file, const Access& access, Memory& memory, bool by_pointer, bool is_split, bool is_large,
            MPI_Status* status) {
    MPI_File handle = file.handle;
    void* buffer = memory.buffer();
    const MPI_Datatype type = memory.type();
    const auto count = static_cast<int>(access.count);
    const MPI_Offset offset = access.offset;
#if MPI_VERSION >= 4
    if (is_large && is_split) {
      if (access.writing)
        return by_pointer ? MPI_File_write_all_begin_c(handle, buffer, count, type)
                          : MPI_File_write_at_all_begin_c(handle, offset, buffer, count, type);
      return by_pointer ? MPI_File_read_all_begin_c(handle, buffer, count, type)
                        : MPI_File_read_at_all_begin_c(handle, offset, buffer, count, type);
    }
    if (is_large) {
      if (access.writing)
        return by_pointer ? MPI_File_write_all_c(handle, buffer, count, type, status)
                          : MPI_File_write_at_all_c(handle, offset, buffer, count, type, status);
      return by_pointer ? MPI_File_read_all_c(handle, buffer, count, type, status)
                        : MPI_File_read_at_all_c(handle, offset, buffer, count, type, status);
    }
#else
    (void)is_large;
#endif
    if (is_split) {
      if (access.writing)
        return by_pointer ? MPI_File_write_all_begin(handle, buffer, count, type)
                          : MPI_File_write_at_all_begin(handle, offset, buffer, count, type);
      return by_pointer ? MPI_File_read_all_begin(handle, buffer, count, type)
                        : MPI_File_read_at_all_begin(handle, offset, buffer, count, type);
    }
    if (access.writing)
      return by_pointer ? MPI_File_write_all(handle, buffer, count, type, status)
                        : MPI_File_write_at_all(handle, offset, buffer, count, type, status);
    return by_pointer ? MPI_File_read_all(handle, buffer, count, type, status)
                      : MPI_File_read_at_all(handle, offset, buffer, count, type, status);
  }

  static int finish(const File& file, bool writing, bool by_pointer, Memory& memory, MPI_Status* status) {
    MPI_File handle = file.handle;
    void* buffer = memory.buffer();
    if (writing)
      return by_pointer ? MPI_File_write_all_end(handle, buffer, status)
                        : MPI_File_write_at_all_end(handle, buffer, status);
    return by_pointer ? MPI_File_read_all_end(handle, buffer, status)
                      : MPI_File_read_at_all_end(handle, buffer, status);
  }

  void collective(File& file, bool writing) {
    const bool by_pointer = random_.one_in(2), is_large = random_.one_in(3);
    bool is_split = random_.one_in(5);
    begin_step(file, std::string(is_split ? "split " : "") + (writing ? "write" : "read") +
                         (by_pointer ? "_all" : "_at_all") + (is_large ? ", large" : ""));
    Claims claims(file.model);
    std::vector<Access> accesses;
    next_offset_ = 0;
    const int first = random_.small(0, ranks_ - 1);
    for (int i = 0; i < ranks_; ++i)
      accesses.push_back(some_access(file, (first + i) % ranks_, writing, by_pointer, claims));
    std::sort(accesses.begin(), accesses.end(), [](const Access& a, const Access& b) { return a.rank < b.rank; });
    prepare_for(file, accesses);
    describe(file, accesses);
    // Known: with OMPIO 4.1, the end of a split read past the end of the file does not return.
    bool is_short = false;
    for (const Access& access : accesses)
      is_short = is_short || (!writing && file.model.available(access) < static_cast<int64_t>(access.places.size()));
    const bool calls_another = is_split && files_.size() > 1 && random_.one_in(2);
    is_split = is_split && !(is_short && !is_judged(file, true));
    const Access& mine = accesses[static_cast<size_t>(rank_)];
    if (by_pointer)
      for (const Access& access : accesses) {
        int64_t& position = file.positions[static_cast<size_t>(access.rank)];
        if (access.rank == rank_ && position != access.offset)
          expect_success(MPI_File_seek(file.handle, access.offset, MPI_SEEK_SET), "MPI_File_seek");
        position = access.offset;
      }
    Memory memory(mine, seed_of(rank_));
    MPI_Status status;
    const std::string name = std::string(writing ? "write" : "read") + (by_pointer ? "_all" : "_at_all");
    if (rank_ == 0)
      ++calls()[name + (is_split ? "_begin" : "")];
    const int64_t step = step_;
    const bool ignores = random_.one_in(10);
    MPI_Status* const given = ignores ? MPI_STATUS_IGNORE : &status;
    expect_success(start(file, mine, memory, by_pointer, is_split, is_large, given), name);
    if (calls_another)
      other_step(file);
    if (is_split) {
      const std::string what = what_;
      what_ = name + " (split)";
      expect_success(finish(file, writing, by_pointer, memory, given), name + "_end");
      what_ = what;
    }
    for (const Access& access : accesses) {
      if (writing)
        apply(file, access, static_cast<uint64_t>(step * 31 + access.rank + 1000 * number_));
      if (by_pointer)
        move_position(file, access, true);
    }
    expect_moved(file, mine, memory, ignores ? nullptr : &status, true);
    file.model.touch(accesses);
    expect_position(file, "after " + name);
  }

  // While a split call on one file is under way. Known: OMPIO 4.1 then refuses to sync any file.
  void other_step(const File& busy) {
    for (File& file : files_)
      if (&file != &busy && file.is_open) {
        independent(file, false);
        return;
      }
  }

  // Each rank reads or writes by itself, at the same time as the others.
  void independent(File& file, bool may_sync = true) {
    begin_step(file, "independent calls");
    Claims claims(file.model);
    std::vector<Access> accesses;
    std::vector<bool> by_pointer, waits;
    next_offset_ = 0;
    for (int rank = 0; rank < ranks_; ++rank) {
      const bool writing = file.can_write() && (!file.can_read() || random_.one_in(2));
      by_pointer.push_back(random_.one_in(2));
      waits.push_back(random_.one_in(4));
      accesses.push_back(some_access(file, rank, writing, by_pointer.back(), claims));
    }
    if (!may_sync && file.model.needs_sync(accesses))
      return;
    prepare_for(file, accesses);
    describe(file, accesses);
    const Access& mine = accesses[static_cast<size_t>(rank_)];
    const auto me = static_cast<size_t>(rank_);
    if (by_pointer[me] && file.positions[me] != mine.offset)
      expect_success(MPI_File_seek(file.handle, mine.offset, MPI_SEEK_SET), "MPI_File_seek");
    Memory memory(mine, seed_of(rank_));
    MPI_Status status;
    if (mine.count > 0) {
      // Other ranks may make the file longer meanwhile, so a short read is not judged.
      const bool is_whole = mine.writing || file.model.available(mine) == static_cast<int64_t>(mine.places.size());
      // Known: with OMPIO 4.1, MPI_Wait does not return from a read past the end.
      const bool waits_here = waits[me] && is_whole;
      expect_success(move_alone(file, mine, memory, by_pointer[me], waits_here, status), "an independent call");
      if (is_whole)
        expect_moved(file, mine, memory, &status, false);
    }
    for (const Access& access : accesses) {
      if (by_pointer[static_cast<size_t>(access.rank)])
        file.positions[static_cast<size_t>(access.rank)] = access.offset;
      if (by_pointer[static_cast<size_t>(access.rank)])
        move_position(file, access, false);
    }
    for (const Access& access : accesses)
      if (access.writing)
        apply(file, access, seed_of(access.rank));
    file.model.touch(accesses);
    expect_position(file, "after independent calls");
  }

  static int move_alone(const File& file, const Access& access, Memory& memory, bool by_pointer, bool waits,
                        MPI_Status& status) {
    MPI_File handle = file.handle;
    void* buffer = memory.buffer();
    const MPI_Datatype type = memory.type();
    const auto count = static_cast<int>(access.count);
    const MPI_Offset offset = access.offset;
    if (waits) {
      MPI_Request request = MPI_REQUEST_NULL;
      int code = MPI_SUCCESS;
      if (access.writing)
        code = by_pointer ? MPI_File_iwrite(handle, buffer, count, type, &request)
                          : MPI_File_iwrite_at(handle, offset, buffer, count, type, &request);
      else
        code = by_pointer ? MPI_File_iread(handle, buffer, count, type, &request)
                          : MPI_File_iread_at(handle, offset, buffer, count, type, &request);
      const int waited = MPI_Wait(&request, &status);
      return code != MPI_SUCCESS ? code : waited;
    }
    if (access.writing)
      return by_pointer ? MPI_File_write(handle, buffer, count, type, &status)
                        : MPI_File_write_at(handle, offset, buffer, count, type, &status);
    return by_pointer ? MPI_File_read(handle, buffer, count, type, &status)
                      : MPI_File_read_at(handle, offset, buffer, count, type, &status);
  }

  // -------------------------------------------------------------------------------------------- the file itself

  void expect_bytes(const File& file, const std::string& when) {
    MPI_Barrier(comm_);
    if (rank_ == 0) {
      struct stat facts {};
      const bool found = stat(file.path.c_str(), &facts) == 0;
      expect(found, file.exists, "existence of " + file.path + " " + when);
      if (found && file.exists) {
        expect(facts.st_size, file.model.size(), "the size " + when);
        compare_bytes(file, when);
      }
    }
    MPI_Barrier(comm_);
  }

  void compare_bytes(const File& file, const std::string& when) {
    const int descriptor = ::open(file.path.c_str(), O_RDONLY);
    std::vector<unsigned char> bytes(static_cast<size_t>(Model::k_limit), 0);
    if (pread(descriptor, bytes.data(), bytes.size(), file.model.base()) < 0)
      fault("the file cannot be read");
    ::close(descriptor);
    for (int64_t i = 0; i < Model::k_limit; ++i)
      if (bytes[static_cast<size_t>(i)] != file.model.at(file.model.base() + i)) {
        fault("byte " + std::to_string(file.model.base() + i) + " of " + file.path + " " + when + " is " +
              std::to_string(bytes[static_cast<size_t>(i)]) + ", not " +
              std::to_string(file.model.at(file.model.base() + i)));
        return;
      }
  }

  int number_;
  MPI_Comm comm_;
  const Arguments& arguments_;
  Random random_;
  int rank_ = 0, ranks_ = 1, step_ = 0, faults_ = 0;
  bool failed_ = false;
  int64_t next_offset_ = 0;
  std::string what_;
  std::vector<File> files_;
};

// The cases of a round are on all ranks together, as far as there are as many. Sizes of cases follow a table, so that a
// case is the same in every launch that has enough ranks.
constexpr int k_rounds[][4] = {{9}, {4, 5}, {2, 3, 4}, {8, 1}, {6, 3}, {7, 2}, {2, 2, 2, 3}, {5, 4}, {3, 3, 3}};

bool run_round(int round, int first_case, const Arguments& arguments) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  // The order of ranks in a case is not that of the launch.
  std::vector<int> order(static_cast<size_t>(ranks));
  std::iota(order.begin(), order.end(), 0);
  Random random(static_cast<uint64_t>(round) + 5);
  for (size_t i = order.size(); i-- > 1;)
    std::swap(order[i], order[static_cast<size_t>(random(0, static_cast<int64_t>(i)))]);
  const auto place = std::find(order.begin(), order.end(), rank) - order.begin();
  int number = -1, begin = 0, next = first_case;
  for (const int size : k_rounds[static_cast<size_t>(round) % std::size(k_rounds)]) {
    if (size == 0)
      break;
    const bool wanted = next >= arguments.first && next < arguments.first + arguments.cases && begin + size <= ranks;
    if (wanted && place >= begin && place < begin + size)
      number = next;
    begin += wanted ? size : 0;
    ++next;
  }
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, number < 0 ? MPI_UNDEFINED : number, static_cast<int>(place), &comm);
  if (comm == MPI_COMM_NULL)
    return true;
  const bool good = Program(number, comm, arguments).run();
  MPI_Comm_free(&comm);
  return good;
}

Arguments read_arguments(int count, char** values) {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    const std::string word = values[i];
    if (word == "--cases" && i + 1 < count)
      arguments.cases = std::atoi(values[++i]);
    else if (word == "--first" && i + 1 < count)
      arguments.first = std::atoi(values[++i]);
    else if (word == "--strict")
      arguments.strict = true;
    else if (word == "--verbose")
      arguments.verbose = true;
    else
      arguments.folder = word;
  }
  return arguments;
}

}  // namespace

int main(int count, char** values) {
  MPI_Init(&count, &values);
  const Arguments arguments = read_arguments(count, values);
  int rank = 0, good = 1, all_good = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int next = 0;
  for (int round = 0; next < arguments.first + arguments.cases; ++round) {
    const auto& sizes = k_rounds[static_cast<size_t>(round) % std::size(k_rounds)];
    const int cases = static_cast<int>(std::count_if(std::begin(sizes), std::end(sizes), [](int n) { return n > 0; }));
    if (next + cases > arguments.first)
      good = run_round(round, next, arguments) && good == 1 ? 1 : 0;
    next += cases;
  }
  MPI_Allreduce(&good, &all_good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  for (const auto& [name, number] : calls())
    print("calls " + name + " " + std::to_string(number));
  if (rank == 0)
    print(all_good == 1 ? "all cases are right" : "there are faults");
  MPI_Finalize();
  return all_good == 1 ? 0 : 1;
}
