// SPDX-License-Identifier: BSD-3-Clause
// Executor: moves a batch by its prepared plan, between the memory of the ranks and a file. Pieces go through the
// exchange, or each rank moves its own pieces directly. Requests to the storage are made by this thread or by the I/O
// thread. A batch is begun and ended by all ranks; the caller agrees on the status afterwards.
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
  // All references must outlive this object.
  Executor(Comm& comm, Workspace& workspace, Trace& trace) noexcept
      : comm_(comm), workspace_(workspace), trace_(trace) {}

  // Local. Whether the I/O thread is used while this rank waits for the batch (`while_waiting`), and while the program
  // continues between the two parts of a flush (`in_background`).
  void use_io_thread(bool while_waiting, bool in_background) noexcept {
    while_waiting_ = while_waiting, in_background_ = in_background;
  }
  const IoThread& io_thread() const noexcept { return io_thread_; }

  // Collective, called by every rank, also after an error: batch.local then has the error. `in_background`: the I/O
  // thread may continue with the requests to the storage after the call.
  void begin(InFlightBatch& batch, PreparedPlan& prepared, const RequestBatch& requests, DataFile& file,
             bool in_background);
  // Collective, called by every rank after begin(). The status is of this rank; the caller agrees on it.
  Status end(InFlightBatch& batch);
  // Collective, agreed. begin(), end() and the agreement. Measurements of it are not used to tune the codec.
  Status run(PreparedPlan& prepared, const RequestBatch& requests, DataFile& file);

  // Collective, called by every rank; the status is of this rank. The same for windows that are not bytes of the file:
  // `ends` writes or reads them.
  Status move(PreparedPlan& prepared, const RequestBatch& requests, DataFile& file, const Transfer::Ends& ends,
              double& seconds);

 private:
  void move_directly(InFlightBatch& batch, std::span<const Item> items, bool reading, IoThread* thread);
  IoThread* thread_for(const PreparedPlan& prepared, bool in_background, bool any_direct);
  void count(const PreparedPlan& prepared) noexcept;

  Comm& comm_;
  Workspace& workspace_;
  Trace& trace_;
  bool while_waiting_ = false, in_background_ = false;
  IoThread io_thread_;  // on writers and readers; started by the first batch that overlaps
};

}  // namespace windrow
