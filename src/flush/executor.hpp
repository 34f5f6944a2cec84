// SPDX-License-Identifier: BSD-3-Clause
// Executor: moves a batch by its prepared plan, between the memory of ranks and a file: through a transfer, or each
// rank its own pieces; in this thread, or the storage's part in the I/O thread.
#pragma once

#include "base/status.hpp"
#include "comm/comm.hpp"
#include "dataio/data_file.hpp"
#include "dataio/io_thread.hpp"
#include "flush/in_flight.hpp"
#include "planning/prepared_plan.hpp"
#include "planning/workspace.hpp"

namespace windrow {

class Executor {
 public:
  // All must outlive it.
  Executor(Comm& comm, Workspace& workspace, Trace& trace) noexcept
      : comm_(comm), workspace_(workspace), trace_(trace) {}

  // Whether the I/O thread works while this rank's thread waits for the batch, and while the program goes on.
  void use_io_thread(bool meanwhile, bool behind) noexcept { meanwhile_ = meanwhile, behind_ = behind; }
  const IoThread& io_thread() const noexcept { return io_thread_; }

  // By every rank, whatever has failed on it: `local` of the batch then says so. Where the program goes on `behind`,
  // the I/O thread may do so with the storage's part.
  void begin(InFlightBatch& batch, PreparedPlan& prepared, const RequestBatch& requests, DataFile& file, bool behind);
  // By every rank, and then an agreement. The status is this rank's own.
  Status end(InFlightBatch& batch);
  // Both, and the agreement. The tuner of a codec learns nothing from it.
  Status run(PreparedPlan& prepared, const RequestBatch& requests, DataFile& file);

  // The same for windows that are not bytes of the file as they are: by every rank, and then an agreement.
  // `background`: has its turns beside this rank's roles, and is begun already.
  struct Ends {
    Sink& sink;
    Fetcher& fetcher;
    Role* background = nullptr;
  };
  Status move(PreparedPlan& prepared, const RequestBatch& requests, DataFile& file, const Ends& ends, double& seconds);

 private:
  void move_directly(InFlightBatch& batch, std::span<const Item> items, bool reading, IoThread* thread);
  IoThread* thread_for(const PreparedPlan& prepared, bool behind, bool any_direct);
  void count(const PreparedPlan& prepared) noexcept;

  Comm& comm_;
  Workspace& workspace_;
  Trace& trace_;
  bool meanwhile_ = false, behind_ = false;
  IoThread io_thread_;  // of a writer or reader; starts when there is something to overlap
};

}  // namespace windrow
