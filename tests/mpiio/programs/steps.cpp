// SPDX-License-Identifier: BSD-3-Clause
// Steps that move no data.
#include "accesses.hpp"
#include "program.hpp"

namespace mpiio_test {

namespace {

// Known: OMPIO has no "internal".
#ifdef OPEN_MPI
constexpr const char* k_other_representation = "native";
#else
constexpr const char* k_other_representation = "internal";
#endif

}  // namespace

void Program::sync(File& file) {
  case_.begin_step(file.path, "sync");
  // Known: ROMIO refuses it for files that are read only.
  const int first = MPI_File_sync(file.handle);
  MPI_Barrier(case_.comm);
  const int second = MPI_File_sync(file.handle);
  if (file.can_write()) {
    case_.expect_success(first, "MPI_File_sync");
    case_.expect_success(second, "MPI_File_sync");
  }
  file.model.synced();
}

void Program::look(File& file) {
  sync(file);
  case_.begin_step(file.path, "look");
  MPI_Offset size = -1;
  case_.expect_success(MPI_File_get_size(file.handle, &size), "MPI_File_get_size");
  case_.expect(size, file.model.size(), "MPI_File_get_size");
  compare_.position(file, "between calls");
  compare_.bytes(file, "after a sync");
}

void Program::set_view(File& file) {
  file.views = RandomViews(random_, case_.ranks, file.model.base()).make();
  case_.begin_step(file.path, "set view, " + file.views.text);
  for (const View& view : file.views.of)
    case_.tell("    from " + std::to_string(view.displacement) + " etype " + view.etype.text + " filetype " +
               view.filetype.text);
  const View& mine = file.view(case_.rank);
  const char* representation = random_.one_in(8) ? k_other_representation : "native";
  case_.expect_success(MPI_File_set_view(file.handle, mine.displacement, mine.etype.get(), mine.filetype.get(),
                                         representation, MPI_INFO_NULL),
                       "MPI_File_set_view");
  file.positions.assign(static_cast<size_t>(case_.ranks), 0);
  compare_.position(file, "after MPI_File_set_view");
}

void Program::set_size(File& file) {
  if (!file.can_write())
    return;
  sync(file);
  const int64_t size = file.model.base() + random_(0, 20'000);
  case_.begin_step(file.path, "set size " + std::to_string(size));
  case_.expect_success(MPI_File_set_size(file.handle, size), "MPI_File_set_size");
  file.model.set_size(size);
  sync(file);
}

void Program::set_atomicity(File& file) {
  case_.begin_step(file.path, "set atomicity");
  const int flag = file.is_atomic ? 0 : 1;
  const int code = MPI_File_set_atomicity(file.handle, flag);
  case_.result("error class of set_atomicity " + std::to_string(class_of(code)));
  if (code == MPI_SUCCESS)
    file.is_atomic = flag == 1;
}

void Program::seek(File& file) {
  const View& first = file.view(0);
  // Known: OMPIO 4.1 finds another end, or none, where the etype is derived.
  const bool is_plain = file.views.text == "plain" && first.etype.text.find('(') == std::string::npos;
  const int64_t bytes = file.model.size() - first.displacement;
  if (is_plain && bytes >= 0 && bytes % first.etype.size() == 0 && random_.one_in(2))
    seek_from_end(file);
  else
    seek_anywhere(file);
  compare_.position(file, "after MPI_File_seek");
}

void Program::seek_from_end(File& file) {
  sync(file);
  const View& view = file.view(0);
  const int64_t end = (file.model.size() - view.displacement) / view.etype.size();
  const int64_t back = random_(0, std::min<int64_t>(5, end));
  case_.begin_step(file.path, "seek from the end");
  case_.expect_success(MPI_File_seek(file.handle, -back, MPI_SEEK_END), "MPI_File_seek");
  MPI_Barrier(case_.comm);  // the next write of another rank may move the end
  file.positions.assign(static_cast<size_t>(case_.ranks), end - back);
}

void Program::seek_anywhere(File& file) {
  case_.begin_step(file.path, "seek");
  for (int rank = 0; rank < case_.ranks; ++rank) {
    const int64_t to = random_offset(random_, file, rank);
    const bool relative = random_.one_in(2);
    if (rank == case_.rank)
      case_.expect_success(relative ? MPI_File_seek(file.handle, to - file.position(rank), MPI_SEEK_CUR)
                                    : MPI_File_seek(file.handle, to, MPI_SEEK_SET),
                           "MPI_File_seek");
    file.set_position(rank, to);
  }
}

// Arguments that are wrong on all ranks. On one rank alone they make the MPIs hang.
void Program::wrong(File& file) {
  int code = MPI_SUCCESS;
  int number = 0;
  MPI_Status status;
  switch (random_(0, 4)) {
    case 0:
      case_.begin_step(file.path, "negative count");
      code = MPI_File_write_at_all(file.handle, 0, &number, -1, MPI_INT, &status);
      break;
    case 1:
#ifdef OPEN_MPI
      return;  // Known: OMPIO 4.1 does not look at the offset
#else
      case_.begin_step(file.path, "negative offset");
      code = MPI_File_read_at_all(file.handle, -5, &number, 1, MPI_BYTE, &status);
      break;
#endif
    case 2:
      case_.begin_step(file.path, "null type");
      code = MPI_File_read_all(file.handle, &number, 1, MPI_DATATYPE_NULL, &status);
      break;
    case 3:
      case_.begin_step(file.path, "other mode");
      if (!file.can_write())
        code = MPI_File_write_all(file.handle, &number, 1, MPI_BYTE, &status);
      else if (!file.can_read())
        code = MPI_File_read_all(file.handle, &number, 1, MPI_BYTE, &status);
      else
        return;
      break;
    default:
      case_.begin_step(file.path, "negative count, split");
      code = MPI_File_read_at_all_begin(file.handle, 0, &number, -1, MPI_INT);
  }
  case_.result(case_.what() + ": error class " + std::to_string(class_of(code)));
  case_.expect(code != MPI_SUCCESS, true, "failure of a call with wrong arguments");
  case_.expect(number, 0, "the memory");
  compare_.position(file, "after a failed call");
}

}  // namespace mpiio_test
