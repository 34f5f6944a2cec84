// SPDX-License-Identifier: BSD-3-Clause
// Steps that move data.
#include "accesses.hpp"
#include "mpi_calls.hpp"
#include "program.hpp"

namespace mpiio_test {

std::map<std::string, int64_t>& counted_calls() {
  static std::map<std::string, int64_t> counts;
  return counts;
}

namespace {

void describe(const Case& the_case, const File& file, const std::vector<Access>& accesses) {
  for (const Access& access : accesses) {
    const std::string places = access.places.empty() ? ""
                                                     : ", bytes " + std::to_string(access.places.front()) + " to " +
                                                           std::to_string(access.places.back()) + " of " +
                                                           std::to_string(file.model.size());
    the_case.tell("    rank " + std::to_string(access.rank) + (access.writing ? " writes " : " reads ") +
                  std::to_string(access.count) + " of " + (access.at_bottom ? "absolute " : "") + access.memory.text +
                  " at " + std::to_string(access.offset) + places);
  }
}

// One of each rank, in the order of ranks. They are made in another order.
std::vector<Access> collective_accesses(Case& the_case, const File& file, bool writing, bool by_pointer) {
  RandomAccesses random(the_case.random, file);
  std::vector<Access> accesses;
  const int first = the_case.random.small(0, the_case.ranks - 1);
  for (int i = 0; i < the_case.ranks; ++i)
    accesses.push_back(random.make((first + i) % the_case.ranks, writing, by_pointer));
  std::sort(accesses.begin(), accesses.end(), [](const Access& a, const Access& b) { return a.rank < b.rank; });
  return accesses;
}

}  // namespace

void Program::collective(File& file, bool writing) {
  const bool by_pointer = random_.one_in(2);
  Call call;
  call.is_large = random_.one_in(3);
  call.is_split = random_.one_in(5);
  const std::string name = std::string(writing ? "write" : "read") + (by_pointer ? "_all" : "_at_all");
  case_.begin_step(file.path, (call.is_split ? "split " : "") + name + (call.is_large ? ", large" : ""));
  const std::vector<Access> accesses = collective_accesses(case_, file, writing, by_pointer);
  const Access& mine = accesses[static_cast<size_t>(case_.rank)];
  prepare_for(file, accesses);
  describe(case_, file, accesses);
  const bool calls_another = call.is_split && files_.size() > 1 && random_.one_in(2);
  // Known: with OMPIO 4.1, the end of a split read past the end of the file does not return.
  const bool is_short = std::any_of(accesses.begin(), accesses.end(),
                                    [&](const Access& access) { return file.model.moved(access) < access.size(); });
  call.is_split = call.is_split && (!is_short || compare_.is_judged(file, true));
  seek_for(file, mine);
  const uint64_t seed = case_.seed();
  Memory memory(mine, seed + static_cast<uint64_t>(case_.rank));
  MPI_Status status;
  if (case_.rank == 0)
    ++counted_calls()[name + (call.is_split ? "_begin" : "")];
  const bool ignores = random_.one_in(10);
  MPI_Status* const given = ignores ? MPI_STATUS_IGNORE : &status;
  case_.expect_success(start_collective(file, mine, memory, call, given), name);
  if (calls_another)
    other_step(file);
  if (call.is_split)
    case_.expect_success(end_collective(file, mine, memory, given), name + "_end");
  compare_.moved(file, mine, memory, ignores ? nullptr : &status, true);
  apply(file, accesses, seed, true);
  compare_.position(file, "after " + name);
}

// While a split call on one file is under way. Known: OMPIO 4.1 then refuses to sync any file.
void Program::other_step(const File& busy) {
  for (File& file : files_)
    if (&file != &busy && file.is_open) {
      independent(file, false);
      return;
    }
}

// Each rank reads or writes by itself, at the same time as the others.
void Program::independent(File& file, bool may_sync) {
  case_.begin_step(file.path, "independent calls");
  RandomAccesses random(random_, file);
  std::vector<Access> accesses;
  bool waits = false;  // this rank
  for (int rank = 0; rank < case_.ranks; ++rank) {
    const bool writing = file.can_write() && (!file.can_read() || random_.one_in(2));
    const bool by_pointer = random_.one_in(2), rank_waits = random_.one_in(4);
    waits = rank == case_.rank ? rank_waits : waits;
    accesses.push_back(random.make(rank, writing, by_pointer));
  }
  if (!may_sync && file.model.needs_sync(accesses))
    return;
  prepare_for(file, accesses);
  describe(case_, file, accesses);
  const Access& mine = accesses[static_cast<size_t>(case_.rank)];
  seek_for(file, mine);
  const uint64_t seed = case_.seed();
  Memory memory(mine, seed + static_cast<uint64_t>(case_.rank));
  if (mine.count > 0) {
    // Other ranks may make the file longer meanwhile, so a short read is not judged.
    const bool is_whole = file.model.moved(mine) == mine.size();
    // Known: with OMPIO 4.1, MPI_Wait does not return from a read past the end.
    MPI_Status status;
    case_.expect_success(move_alone(file, mine, memory, waits && is_whole, &status), "an independent call");
    if (is_whole)
      compare_.moved(file, mine, memory, &status, false);
  }
  apply(file, accesses, seed, false);
  compare_.position(file, "after independent calls");
}

void Program::prepare_for(File& file, const std::vector<Access>& accesses) {
  if (!file.model.needs_sync(accesses))
    return;
  const std::string what = case_.what();
  sync(file);
  case_.begin_step(file.path, what);
}

void Program::seek_for(const File& file, const Access& access) {
  if (access.by_pointer && file.position(access.rank) != access.offset)
    case_.expect_success(MPI_File_seek(file.handle, access.offset, MPI_SEEK_SET), "MPI_File_seek");
}

// The model after the accesses of all ranks. Positions depend on the size of the file before.
void Program::apply(File& file, const std::vector<Access>& accesses, uint64_t seed, bool is_collective) {
  for (const Access& access : accesses)
    if (access.by_pointer)
      move_position(file, access, is_collective);
  for (const Access& access : accesses)
    for (int64_t i = 0; access.writing && i < access.size(); ++i)
      file.model.put(access.places[static_cast<size_t>(i)],
                     Memory::value_of(access, seed + static_cast<uint64_t>(access.rank), i));
  file.model.touch(accesses);
}

// A short read moves the position by what was asked for. MPIs do not all do so in all cases, so the program seeks.
void Program::move_position(File& file, const Access& access, bool is_collective) {
  const int64_t unit = file.view(access.rank).etype.size();
  file.set_position(access.rank, access.offset + access.size() / unit);
  if (file.model.moved(access) == access.size() || access.rank != case_.rank)
    return;
  if (compare_.is_judged(file, is_collective) && access.size() % unit == 0)
    compare_.position(file, "after a read past the end");
  case_.expect_success(MPI_File_seek(file.handle, file.position(access.rank), MPI_SEEK_SET), "MPI_File_seek");
}

}  // namespace mpiio_test
