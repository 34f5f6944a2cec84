// SPDX-License-Identifier: BSD-3-Clause
// Groups of ranks, and opening and closing files.
#include <cstdlib>

#include "state.hpp"

namespace scorpio {
namespace {

// Teams of `groups` equal parts, the last one smaller; else of `preferred` ranks.
int team_size(int groups, int preferred, int ranks) {
  if (groups > 0) return groups >= ranks ? 1 : (ranks + groups - 1) / groups;
  return preferred >= 1 && preferred <= ranks ? preferred : ranks;
}

// What is wrong with a communicator that a group is to be made of; nullptr: nothing.
const char* fault_of(const iogroup_conf_t* configuration) {
  int begun = 0, ended = 0, inter = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  if (begun == 0 || ended != 0) return "MPI does not run";
  if (configuration == nullptr) return "the configuration is NULL";
  if (configuration->commIncoming == MPI_COMM_NULL) return "commIncoming is MPI_COMM_NULL";
  if (MPI_Comm_test_inter(configuration->commIncoming, &inter) != MPI_SUCCESS || inter != 0)
    return "commIncoming is no intracommunicator";
  return nullptr;
}

// The environment may ask for another way to move the data; a program cannot, so what it wants is teams.
void choose_teams(Options& options, int team) {
  options.set("format", "hdf5");  // whatever the file is called
  if (std::getenv("WINDROW_STRATEGY") != nullptr) return;
  options.set("strategy", "scorpio");
  if (std::getenv("WINDROW_GATHER") == nullptr) options.set("gather", "team(" + std::to_string(team) + ")");
}

// The first free number.
int free_number(Group& group) {
  size_t place = 0;
  while (place < group.files.size() && group.files[place] != nullptr) ++place;
  if (place == group.files.size()) group.files.emplace_back();
  return static_cast<int>(place) + 1;
}

// Collective. The first error's code, after all are closed.
int close_all(Group& group) {
  int first = WINDROW_OK;
  for (auto& file : group.files) {
    if (file == nullptr) continue;
    const int code = windrow_close(file->windrow);
    file.reset();
    if (first == WINDROW_OK) first = code;
  }
  return first;
}

}  // namespace
}  // namespace scorpio

using scorpio::Call;
using scorpio::Group;

extern "C" {

int scorpio_IOgroup_init(iogroup_conf_t* configuration, iogroup_t* handle) {
  Group fresh;
  Call call("scorpio_IOgroup_init", fresh);
  if (const char* fault = scorpio::fault_of(configuration); fault != nullptr) {
    call.refuse("%s", fault);
    return call.failed();
  }
  if (MPI_Comm_dup(configuration->commIncoming, &fresh.comm) != MPI_SUCCESS) {
    call.refuse("MPI_Comm_dup has failed");
    return call.failed();
  }
  MPI_Comm_set_errhandler(fresh.comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(fresh.comm, &fresh.rank);
  MPI_Comm_size(fresh.comm, &fresh.ranks);
  fresh.team = scorpio::team_size(configuration->numIOgroups, configuration->preferredGroupSize, fresh.ranks);
  int number = 0;
  if (handle == nullptr) call.refuse("the group is NULL");
  call.same(fresh.team);
  call.prepare([&] {
    auto group = std::make_unique<Group>();
    group->comm = fresh.comm;
    group->rank = fresh.rank;
    group->ranks = fresh.ranks;
    group->team = fresh.team;
    number = scorpio::add_group(std::move(group));
  });
  if (!call.agreed()) {
    const int result = call.failed();
    if (number > 0) scorpio::remove_group(number);
    MPI_Comm_free(&fresh.comm);
    return result;
  }
  handle->number = number;
  return 0;
}

int scorpio_IOgroup_cleanup(iogroup_t* handle) {
  Call call("scorpio_IOgroup_cleanup", handle);
  if (!call.agreed()) return call.failed();
  const int result = static_cast<int>(call.end(scorpio::close_all(*call.group())));
  const std::unique_ptr<Group> group = scorpio::remove_group(handle->number);
  handle->number = 0;
  MPI_Comm_free(&group->comm);
  return result;
}

int scorpio_open_file(const char* path, iogroup_t* handle, file_mode_t mode) {
  Call call("scorpio_open_file", handle);
  scorpio::Options options;
  int number = 0;
  if (path == nullptr) call.refuse("the path is NULL");
  if (mode != SCORPIO_FILE_CREATE && mode != SCORPIO_FILE_READONLY && mode != SCORPIO_FILE_READWRITE)
    call.refuse("%d is no mode of files", static_cast<int>(mode));
  call.prepare([&] {
    call.same(path);
    call.same(mode);
    scorpio::choose_teams(options, call.group()->team);
    if (options.code() != WINDROW_OK) return call.refuse_as_windrow();
    number = scorpio::free_number(*call.group());
    call.group()->files[static_cast<size_t>(number) - 1] = std::make_unique<iofile_t>();
  });
  const bool agreed = call.agreed();
  int code = WINDROW_BAD_ARGUMENT;
  windrow_file* file = nullptr;
  if (agreed && mode == SCORPIO_FILE_CREATE) code = windrow_create(call.group()->comm, path, options.get(), &file);
  if (agreed && mode != SCORPIO_FILE_CREATE)
    code = windrow_open(call.group()->comm, path, mode == SCORPIO_FILE_READONLY ? WINDROW_READ : WINDROW_UPDATE,
                        options.get(), &file);
  if (code == WINDROW_OK) {
    call.group()->files[static_cast<size_t>(number) - 1]->windrow = file;
    return number;
  }
  if (number > 0) call.group()->files[static_cast<size_t>(number) - 1].reset();
  return agreed ? static_cast<int>(call.end(code)) : call.failed();
}

int scorpio_close_file(int number, iogroup_t* handle) {
  Call call("scorpio_close_file", handle, number);
  if (!call.agreed()) return call.failed();
  const int code = windrow_close(call.windrow());
  call.group()->files[static_cast<size_t>(number) - 1].reset();
  return static_cast<int>(call.end(code));
}

}  // extern "C"
