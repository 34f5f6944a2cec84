// SPDX-License-Identifier: BSD-3-Clause
#include "program.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>

namespace mpiio_test {

bool Program::run() {
  const int files = random_.one_in(3) ? random_.small(2, 3) : 1;
  const int64_t base = random_.one_in(6) ? (int64_t{1} << 32) - 5000 : 0;  // across 4 GiB
  for (int i = 0; i < files; ++i) {
    File& file = files_.emplace_back(base);
    file.path = case_.arguments.folder + "/case " + std::to_string(case_.number) + "." + std::to_string(i);
    make_before(file);
    open(file);
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
    compare_.bytes(file, "at the end");
    if (case_.rank == 0 && file.exists)
      unlink(file.path.c_str());
  }
  MPI_Barrier(case_.comm);
  return !case_.has_failed();
}

void Program::make_before(File& file) {
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
  if (case_.rank == 0) {
    const int descriptor = ::open(file.path.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0644);
    if (pwrite(descriptor, bytes.data(), bytes.size(), base) < 0 || ftruncate(descriptor, size) != 0)
      case_.fault("the file before cannot be made");
    ::close(descriptor);
  }
  MPI_Barrier(case_.comm);
}

MPI_Info Program::some_info(File& file) {
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

int Program::some_mode(const File& file) {
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

void Program::open_that_fails(File& file) {
  const int mode = file.exists ? MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR : MPI_MODE_RDONLY;
  case_.begin_step(file.path, "open that must fail, mode " + std::to_string(mode));
  const int code = MPI_File_open(case_.comm, file.path.c_str(), mode, MPI_INFO_NULL, &file.handle);
  case_.result("error class of opening " + std::to_string(class_of(code)));
  case_.expect(code != MPI_SUCCESS, true, "failure of opening");
  MPI_Barrier(case_.comm);
}

void Program::open(File& file) {
  if (random_.one_in(8))
    open_that_fails(file);
  file.mode = some_mode(file);
  MPI_Info info = some_info(file);
  case_.begin_step(file.path, "open, mode " + std::to_string(file.mode) + (file.is_passed ? ", passed" : ""));
  case_.expect_success(MPI_File_open(case_.comm, file.path.c_str(), file.mode, info, &file.handle), "MPI_File_open");
  if (info != MPI_INFO_NULL)
    MPI_Info_free(&info);
  file.is_open = file.exists = true;
  file.is_atomic = false;
  file.views = RandomViews::initial(case_.ranks);
  file.positions.assign(static_cast<size_t>(case_.ranks), (file.mode & MPI_MODE_APPEND) != 0 ? file.model.size() : 0);
  compare_.position(file, "at opening");
  int mode = 0;
  MPI_File_get_amode(file.handle, &mode);
  case_.expect(mode, file.mode, "the mode");
  if (random_.one_in(2))
    set_view(file);
}

void Program::close(File& file) {
  case_.begin_step(file.path, "close");
  case_.expect_success(MPI_File_close(&file.handle), "MPI_File_close");
  case_.expect(file.handle == MPI_FILE_NULL, true, "a null handle after MPI_File_close");
  MPI_Barrier(case_.comm);
  file.is_open = false;
  if ((file.mode & MPI_MODE_DELETE_ON_CLOSE) != 0) {
    file.exists = false;
    file.model.clear();
  }
  file.model.synced();
}

void Program::step(File& file) {
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

}  // namespace mpiio_test
