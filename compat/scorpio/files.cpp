// SPDX-License-Identifier: BSD-3-Clause
// Groups of ranks, and opening and closing files.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "state.hpp"

namespace scorpio {
namespace {

// Team size for `groups` equal parts, the last one smaller; otherwise `preferred`.
int team_size(int groups, int preferred, int ranks) {
  if (groups > 0)
    return groups >= ranks ? 1 : (ranks + groups - 1) / groups;
  return preferred >= 1 && preferred <= ranks ? preferred : ranks;
}

// Why a group cannot use the communicator, or nullptr.
const char* fault_of(const iogroup_conf_t* configuration) {
  int begun = 0, ended = 0, inter = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  if (begun == 0 || ended != 0)
    return "MPI is not running";
  if (configuration == nullptr)
    return "the configuration is NULL";
  if (configuration->commIncoming == MPI_COMM_NULL)
    return "commIncoming is MPI_COMM_NULL";
  if (MPI_Comm_test_inter(configuration->commIncoming, &inter) != MPI_SUCCESS || inter != 0)
    return "commIncoming is not an intracommunicator";
  return nullptr;
}

// The environment may select another strategy. Programs cannot, so they get teams.
void choose_teams(Options& options, int team) {
  options.set("format", "hdf5");  // for any file name
  if (std::getenv("WINDROW_STRATEGY") != nullptr)
    return;
  options.set("strategy", "scorpio");
  if (std::getenv("WINDROW_GATHER") == nullptr)
    options.set("gather", "team(" + std::to_string(team) + ")");
}

// The first free number.
int free_number(Group& group) {
  size_t place = 0;
  while (place < group.files.size() && group.files[place] != nullptr)
    ++place;
  if (place == group.files.size())
    group.files.emplace_back();
  return static_cast<int>(place) + 1;
}

// Collective. Returns the first error after all files are closed.
int close_all(Group& group) {
  int first = WINDROW_OK;
  for (auto& file : group.files) {
    if (file == nullptr)
      continue;
    const int code = windrow_close(file->windrow);
    file.reset();
    if (first == WINDROW_OK)
      first = code;
  }
  return first;
}

// Collective over each team, and over the roots.
bool make_team_comms(Group& group) {
  constexpr int k_tag_of_teams = 1, k_tag_of_roots = 2;
  const int first = group.rank / group.team * group.team, last = std::min(first + group.team, group.ranks) - 1;
  MPI_Group all = MPI_GROUP_NULL;
  if (MPI_Comm_group(group.comm, &all) != MPI_SUCCESS)
    return false;
  const auto make = [&](int begin, int end, int stride, int tag, MPI_Comm* made) {
    int range[1][3] = {{begin, end, stride}};
    MPI_Group some = MPI_GROUP_NULL;
    if (MPI_Group_range_incl(all, 1, range, &some) != MPI_SUCCESS)
      return false;
    const bool ok = MPI_Comm_create_group(group.comm, some, tag, made) == MPI_SUCCESS;
    MPI_Group_free(&some);
    return ok;
  };
  bool ok = make(first, last, 1, k_tag_of_teams, &group.team_comm);
  if (group.rank == first)
    ok = make(0, (group.ranks - 1) / group.team * group.team, group.team, k_tag_of_roots, &group.root_comm) && ok;
  MPI_Group_free(&all);
  return ok;
}

void free_comms(Group& group) {
  for (MPI_Comm* comm : {&group.root_comm, &group.team_comm, &group.comm})
    if (*comm != MPI_COMM_NULL)
      MPI_Comm_free(comm);
}

iogroup_t shown_group(const Group& group, int number) {
  const int of_team = group.rank / group.team, first = of_team * group.team;
  iogroup_t shown{};
  shown.localrank = group.rank - first;
  shown.globalrank = group.rank;
  shown.localsize = shown.iogroupSize = std::min(group.team, group.ranks - first);
  shown.globalsize = group.ranks;
  shown.iogroupRank = of_team;
  shown.numIOgroups = (group.ranks + group.team - 1) / group.team;
  shown.preferredGroupSize = group.team;
  shown.localcomm = group.team_comm;
  shown.globalcomm = group.comm;
  shown.iocomm = group.root_comm;
  shown.file = const_cast<iofile_t**>(group.lists.back().data());
  shown.mpi_type = MPI_DATATYPE_NULL;
  shown.hdf_type = FAILURE;
  shown.number = number;
  return shown;
}

// Local, after a file was opened.
void show_file(const Group& group, iogroup_t& handle, int number, const char* path) {
  iofile_t& shown = *group.shown[static_cast<size_t>(number)];
  shown.handle = number;
  std::snprintf(shown.filename, sizeof shown.filename, "%s", path);
  shown.fid = fid_of(handle.number, number);
  handle.file = const_cast<iofile_t**>(group.lists.back().data());
  ++handle.numFiles;
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
  Group* kept = nullptr;
  if (handle == nullptr)
    call.refuse("the group is NULL");
  call.same(fresh.team);
  call.prepare([&] {
    auto group = std::make_unique<Group>();
    group->comm = fresh.comm;
    group->rank = fresh.rank;
    group->ranks = fresh.ranks;
    group->team = fresh.team;
    group->make_room_for(0);
    kept = group.get();
    number = scorpio::add_group(std::move(group));
  });
  // The communicators of teams are created once all ranks are here.
  bool agreed = call.agreed();
  if (agreed) {
    if (!scorpio::make_team_comms(*kept))
      call.refuse("MPI_Comm_create_group has failed");
    agreed = call.agreed();
  }
  if (!agreed) {
    const int result = call.failed();
    const std::unique_ptr<Group> group = number > 0 ? scorpio::remove_group(number) : nullptr;
    scorpio::free_comms(group ? *group : fresh);
    return result;
  }
  *handle = scorpio::shown_group(*kept, number);
  return 0;
}

int scorpio_IOgroup_cleanup(iogroup_t* handle) {
  Call call("scorpio_IOgroup_cleanup", handle);
  if (!call.agreed())
    return call.failed();
  const int result = static_cast<int>(call.end(scorpio::close_all(*call.group())));
  const std::unique_ptr<Group> group = scorpio::remove_group(handle->number);
  handle->number = 0;
  handle->file = nullptr;
  handle->localcomm = handle->globalcomm = handle->iocomm = MPI_COMM_NULL;
  scorpio::free_comms(*group);
  return result;
}

int scorpio_open_file(const char* path, iogroup_t* handle, file_mode_t mode) {
  Call call("scorpio_open_file", handle);
  scorpio::Options options;
  int number = 0;
  if (path == nullptr)
    call.refuse("the path is NULL");
  if (mode != SCORPIO_FILE_CREATE && mode != SCORPIO_FILE_READONLY && mode != SCORPIO_FILE_READWRITE)
    call.refuse("%d is not a mode of files", static_cast<int>(mode));
  call.prepare([&] {
    call.same(path);
    call.same(mode);
    scorpio::choose_teams(options, call.group()->team);
    if (options.code() != WINDROW_OK)
      return call.refuse_as_windrow();
    number = scorpio::free_number(*call.group());
    call.group()->make_room_for(number);
    call.group()->files[static_cast<size_t>(number) - 1] = std::make_unique<scorpio::OpenFile>();
  });
  const bool agreed = call.agreed();
  int code = WINDROW_BAD_ARGUMENT;
  windrow_file* file = nullptr;
  if (agreed && mode == SCORPIO_FILE_CREATE)
    code = windrow_create(call.group()->comm, path, options.get(), &file);
  if (agreed && mode != SCORPIO_FILE_CREATE)
    code = windrow_open(call.group()->comm, path, mode == SCORPIO_FILE_READONLY ? WINDROW_READ : WINDROW_UPDATE,
                        options.get(), &file);
  if (code == WINDROW_OK) {
    call.group()->files[static_cast<size_t>(number) - 1]->windrow = file;
    scorpio::show_file(*call.group(), *handle, number, path);
    return number;
  }
  if (number > 0)
    call.group()->files[static_cast<size_t>(number) - 1].reset();
  return agreed ? static_cast<int>(call.end(code)) : call.failed();
}

int scorpio_close_file(int number, iogroup_t* handle) {
  Call call("scorpio_close_file", handle, number);
  if (!call.agreed())
    return call.failed();
  const int code = windrow_close(call.windrow());
  call.group()->files[static_cast<size_t>(number) - 1].reset();
  call.group()->shown[static_cast<size_t>(number)]->fid = FAILURE;
  return static_cast<int>(call.end(code));
}

}  // extern "C"
