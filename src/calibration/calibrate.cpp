// SPDX-License-Identifier: BSD-3-Clause
#include "calibration/calibrate.hpp"

#include <fmt/format.h>

#include <array>
#include <ctime>
#include <filesystem>

#include "base/units.hpp"
#include "calibration/measure.hpp"
#include "comm/agree.hpp"
#include "comm/same.hpp"
#include "dataio/io_thread.hpp"
#include "storage/file_system.hpp"
#include "storage/publish.hpp"
#include "storage/striping.hpp"

namespace windrow {
namespace {

// The folder of the measurements. It belongs to a temporary file, whose lock shows that the calibration is running.
std::string folder_of(const TemporaryFile& temporary) {
  return temporary.temporary_path + ".files";
}

// On rank 0. Removes the folders and files of killed calibrations.
Status start_on_root(const std::string& directory, const Settings& settings, TemporaryFile& temporary,
                     MeasuredPlace& place, Machine& machine) {
  auto options = striping_options(settings);
  if (!options.ok())
    return options.status();
  std::error_code error;
  if (!std::filesystem::is_directory(directory, error))
    return {Code::not_found, fmt::format("calibrate: there is no folder \"{}\"", directory)};
  auto started = start_temporary_file(directory + "/" + std::string(k_calibration));
  if (!started.ok())
    return started.status();
  temporary = std::move(started).value();
  if (Status made = start_folder(temporary, folder_of(temporary)); !made.ok())
    return made;
  place.path = folder_of(temporary) + "/data";
  auto store = open_store(place.path, StoreMode::create, place.options);
  if (!store.ok())
    return store.status();
  if (Status closed = store.value()->close(); !closed.ok())
    return closed;
  options.value().osds = OsdsBy::nobody;  // measurements use columns of stripes
  place.layout = find_striping(options.value(), place.path).layout;
  const std::string kind = settings.text("file_system");
  machine.storage.kind = kind == "auto" ? std::string(name_of(file_system_of(directory))) : kind;
  return {};
}

// All ranks measure with the same file; its layout assigns stripes to ranks.
Status share_place(const Comm& comm, Status local, MeasuredPlace& place, Machine& machine) {
  std::vector<std::byte> message;
  if (comm.rank() == 0 && local.ok())
    local = guard([&] {
      append_layout(message, place.layout);
      const auto path = std::as_bytes(std::span(place.path));
      message.insert(message.end(), path.begin(), path.end());
      return Status{};
    });
  std::array<int64_t, 3> numbers{comm.host_size(), usable_cores(), static_cast<int64_t>(comm.host_roots().size())};
  local = share_from_root(comm, std::move(local), message, numbers);
  if (local.ok())
    local = guard([&]() -> Status {
      size_t position = 0;
      auto layout = read_layout(message, position);
      if (!layout.ok())
        return layout.status();
      place.layout = std::move(layout).value();
      place.path.assign(reinterpret_cast<const char*>(message.data()) + position, message.size() - position);
      return {};
    });
  machine.ranks_per_host = numbers[0];
  machine.cores_per_host = numbers[1];
  machine.hosts = numbers[2];
  return agree(comm, std::move(local));
}

std::string date_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

// On rank 0: the file gets its name when it is complete.
Status write_on_root(const std::string& path, const Machine& machine) {
  const std::string text = machine_text(machine);
  if (auto sound = parse_machine(text, path); !sound.ok())
    return sound.status();
  auto temporary = start_temporary_file(path);
  if (!temporary.ok())
    return temporary.status();
  const std::string& path_now = temporary.value().temporary_path;
  Status status = [&]() -> Status {
    auto store = open_store(path_now, StoreMode::create, {});
    if (!store.ok())
      return store.status();
    Status written = store.value()->write_at(0, std::as_bytes(std::span(text)));
    written.update(store.value()->close());
    if (!written.ok())
      return written;
    const Rename rename{path_now, temporary.value().final_path, &temporary.value().held};
    return publish(std::span(&rename, 1), false);
  }();
  if (!status.ok())
    remove_temporary_file(temporary.value());
  return status;
}

// Collective. Each step agrees by itself, so after the first failed step no rank begins another.
Status measure_all(MPI_Comm user, Comm& comm, const MeasuredPlace& place, Machine& machine) {
  if (Status status = measure_memory(comm, machine); !status.ok())
    return status;
  if (Status status = measure_network(comm, machine); !status.ok())
    return status;
  if (Status status = measure_codecs(comm, machine); !status.ok())
    return status;
  if (Status status = measure_metadata(comm, place, machine); !status.ok())
    return status;
  if (Status status = measure_flush(user, comm, place, machine); !status.ok())
    return status;
  return measure_storage(comm, place, machine);
}

// Local. `hash`: of all arguments that must be equal on every rank.
Status take_arguments(const std::string& directory, const Settings& program, const std::string& file, uint64_t& hash,
                      StoreOptions& options) {
  auto settings = resolve(program);
  if (!settings.ok())
    return settings.status();
  std::string texts;
  for (const auto& [key, value] : settings.value().values())
    texts += key + '=' + value + '\n';
  hash = hash_of({directory, file, texts});
  if (directory.empty() || file.empty())
    return {Code::bad_argument,
            fmt::format("calibrate: the name of the {} is empty", directory.empty() ? "folder" : "machine file")};
  options.kind = settings.value().text("store");
  options.fault = settings.value().text("fault");
  return check_store_options(options);
}

void name_machine(const Comm& comm, Machine& machine) {
  machine.name = fmt::format("{} with its {} storage", comm.host_name(), machine.storage.kind);
  machine.about = fmt::format("measured by windrow calibrate on {} with {} on {}", date_text(),
                              counted(comm.size(), "rank"), counted(machine.hosts, "host"));
}

}  // namespace

Status calibrate(MPI_Comm user, const std::string& directory, const Settings& program, const std::string& file,
                 Status local) {
  auto made = Comm::of(user);
  if (!made.ok())
    return made.status();
  Comm& comm = *made.value();
  Machine machine;
  MeasuredPlace place;
  uint64_t arguments = 0;
  if (local.ok())
    local = guard([&] {
      place.options.rank = comm.rank();
      return take_arguments(directory, program, file, arguments, place.options);
    });
  if (Status same =
          agree_same(comm, std::move(local), arguments, "the folder, the machine file or the options of a calibration");
      !same.ok())
    return same;
  TemporaryFile temporary;
  local = Status{};
  if (comm.rank() == 0)
    local = guard([&] { return start_on_root(directory, resolve(program).value(), temporary, place, machine); });
  Status verdict = share_place(comm, std::move(local), place, machine);
  if (verdict.ok())
    verdict = measure_all(user, comm, place, machine);
  if (!temporary.temporary_path.empty()) {
    (void)guard([&] { return remove_folder(folder_of(temporary)); });
    remove_temporary_file(temporary);
  }
  local = Status{};
  if (!verdict.ok()) {
    if (verdict.code() != Code::mpi)
      (void)agree(comm, std::move(local));  // no rank continues before the file is removed
    return verdict;
  }
  if (comm.rank() == 0)
    local = guard([&] {
      name_machine(comm, machine);
      return write_on_root(file, machine);
    });
  return agree(comm, std::move(local));
}

}  // namespace windrow
