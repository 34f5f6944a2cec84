// SPDX-License-Identifier: BSD-3-Clause
// Cost of a flush that moves almost nothing, and of a file with it: agreements, a new plan, shared memory.
#include <algorithm>
#include <array>
#include <vector>

#include "calibration/measure.hpp"
#include "comm/agree.hpp"
#include "decomposition/decomposition.hpp"
#include "session/file.hpp"

namespace windrow {
namespace {

constexpr int64_t k_rows = 8;

// Either every rank has a column, so that all need a writer; or rank 0 has all of them, so that no other rank accesses
// the storage and no lock is passed.
struct Columns {
  std::shared_ptr<SharedDecomposition> held;
  std::vector<double> data;
};

// Collective and agreed.
Result<Columns> make_columns(Comm& comm, bool of_one) {
  Columns columns;
  auto made = guard([&]() -> Result<Decomposition> {
    const int64_t width = !of_one ? 1 : comm.rank() == 0 ? comm.size() : 0;
    const std::array<int64_t, 2> shape{k_rows, comm.size()}, start{0, of_one ? 0 : comm.rank()},
        count{width > 0 ? k_rows : 0, width};
    columns.data.resize(static_cast<size_t>(k_rows * width));
    return make_block(shape, {.starts = start, .counts = count, .memory_shapes = {}, .memory_starts = {}});
  });
  auto shared = SharedDecomposition::make(comm, std::move(made), SharedDecomposition::Use::any);
  if (!shared.ok())
    return shared.status();
  columns.held = std::move(shared).value();
  return columns;
}

struct FlushSeconds {
  double flush = 0, file = 0;
};

// Collective and agreed in each step.
Result<FlushSeconds> flush_once(MPI_Comm user, const Comm& comm, const std::string& path, const Settings& settings,
                                Columns& columns) {
  const double begin = seconds_now();
  auto opened = File::open(user, path, File::Mode::create, settings);
  if (!opened.ok())
    return opened.status();
  File& file = *opened.value();
  std::vector<VariableDefinition> definitions;
  Status local = guard([&] {
    definitions.push_back({.path = "columns", .type = Type::float64, .shape = {k_rows, comm.size()}});
    return Status{};
  });
  auto variable = file.define_variables(definitions, std::move(local));
  local = variable.status();
  if (local.ok())
    local = file.queue({true, variable.value(), columns.held, reinterpret_cast<std::byte*>(columns.data.data())});
  const double before = seconds_now();
  Status verdict = file.flush(std::move(local));
  FlushSeconds seconds{.flush = seconds_now() - before, .file = 0};
  verdict.update(file.close(false));
  seconds.file = seconds_now() - begin;
  if (!verdict.ok())
    return verdict;
  std::array<double, 2> numbers{seconds.flush, seconds.file};
  if (int rc = MPI_Allreduce(MPI_IN_PLACE, numbers.data(), 2, MPI_DOUBLE, MPI_MAX, comm.get()); rc != MPI_SUCCESS)
    return mpi_status(rc, "MPI_Allreduce");
  return FlushSeconds{numbers[0], numbers[1]};
}

// Medians of several runs.
Result<FlushSeconds> median_flush(MPI_Comm user, const Comm& comm, const std::string& path, const Settings& settings,
                                  Columns& columns) {
  constexpr size_t k_times = 7;
  std::array<double, k_times> flushes{}, files{};
  for (size_t i = 0; i < k_times; ++i) {
    auto seconds = flush_once(user, comm, path, settings, columns);
    if (!seconds.ok())
      return seconds.status();
    flushes[i] = seconds.value().flush;
    files[i] = seconds.value().file - seconds.value().flush;
  }
  std::sort(flushes.begin(), flushes.end());
  std::sort(files.begin(), files.end());
  return FlushSeconds{flushes[k_times / 2], files[k_times / 2]};
}

// Few options, because the given settings were already resolved from the environment.
Result<Settings> settings_for(const char* strategy, const MeasuredPlace& place) {
  Settings settings;
  for (const auto& [key, value] : {std::pair{"format", "raw"},
                                   {"strategy", strategy},
                                   {"trace", ""},
                                   {"machine", ""},
                                   {"references", "none"},
                                   {"files", "one"},
                                   {"durable", "false"}})
    if (Status status = settings.set(key, value); !status.ok())
      return status;
  for (const auto& [key, value] : {std::pair{"store", place.options.kind}, {"fault", place.options.fault}})
    if (Status status = settings.set(key, value); !status.ok())
      return status;
  return settings;
}

}  // namespace

Status measure_flush(MPI_Comm user, Comm& comm, const MeasuredPlace& place, Machine& machine) {
  Settings through_writers, direct;
  Status local = guard([&]() -> Status {
    for (auto [settings, strategy] : {std::pair{&through_writers, "two-phase"}, std::pair{&direct, "list"}}) {
      auto found = settings_for(strategy, place);
      if (!found.ok())
        return found.status();
      *settings = std::move(found).value();
    }
    return {};
  });
  if (Status verdict = agree(comm, std::move(local)); !verdict.ok())
    return verdict;
  auto columns = make_columns(comm, false);
  if (!columns.ok())
    return columns.status();
  auto seconds = median_flush(user, comm, place.path + ".raw", through_writers, columns.value());
  if (!seconds.ok())
    return seconds.status();
  auto of_one = make_columns(comm, true);
  if (!of_one.ok())
    return of_one.status();
  auto direct_seconds = median_flush(user, comm, place.path + ".raw", direct, of_one.value());
  if (!direct_seconds.ok())
    return direct_seconds.status();
  machine.metadata.flush_s = std::clamp(seconds.value().flush, 1e-7, 1e3);
  machine.metadata.direct_flush_s = std::clamp(direct_seconds.value().flush, 1e-7, 1e3);
  // The rest of a file's time, without creating it and opening it by its writers.
  machine.metadata.open_s = std::clamp(seconds.value().file - 1 / machine.metadata.creates_per_s, 1e-7, 1e3);
  return {};
}

}  // namespace windrow
