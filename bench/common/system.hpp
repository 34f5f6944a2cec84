// SPDX-License-Identifier: BSD-3-Clause
// A system under measurement: one way to write and read a case. Each program makes its own and hands it to
// run_program().
#pragma once

#include <mpi.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "case.hpp"
#include "command.hpp"

namespace bench {

// A buffer that was not touched yet, at a page boundary.
class Buffer {
 public:
  explicit Buffer(int64_t bytes);
  std::byte* data() const { return data_.get(); }
  int64_t size() const { return size_; }

 private:
  int64_t size_;
  std::unique_ptr<std::byte, void (*)(void*)> data_;
};

// The offset of a variable when the file is closed, for the independent check.
struct Location {
  std::string path;  // empty: by no other means, but it is read back
  int64_t offset = 0;
  bool big_endian = false;
  bool packed = false;  // only this rank's pieces, replicas included, one after the other
};

// What a system is given: all of it known before the clock starts.
struct Job {
  const Case& data;
  const std::vector<Buffer>& buffers;  // one a variable
  std::string directory;               // its own; empty before a write
  bool durable = false;
  int rewrites = 0;  // how often rewrite() will call
  // Each write() calls it once, when its data are written and the file is still open, and hands over what writes the
  // same variables again, in place, from the buffers, which then hold other values.
  std::function<void(const std::function<void()>& again)> rewrite = [](const auto&) {};
  bool explain = false;  // a run that is not counted: the place to ask for reports
};

// This way to write does not exist here (not built, or not for this scenario): no failure, and the same on all ranks.
class NotApplicable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Anything else that is thrown ends the program: ranks cannot be trusted to be in step after it.
class System {
 public:
  virtual ~System() = default;
  virtual void prepare(const Job& job) = 0;  // datatypes, selections, arrays of offsets: made once, not on the clock
  virtual void describe(const Job&) {}       // Windrow's decompositions and lists: made once, on a clock of their own
  virtual void write(const Job& job) = 0;    // from before open to after close
  virtual void read(const Job& job) = 0;     // the same
  virtual std::vector<Location> locate(const Job& job) = 0;
  virtual std::string format() const = 0;            // what it writes: raw, hdf5, cdf5, raw/rank
  virtual std::string report() const { return {}; }  // JSON about the last write and read, if the system reports it
};

using SystemFactory = std::function<std::unique_ptr<System>(const std::string& name)>;

// main() of a program whose ranks measure together: sets MPI up, runs the commands, prints a line of JSON for each.
int run_program(int argc, char** argv, const SystemFactory& make_system);

// For calls of peers that return codes.
inline void require(bool good, const std::string& what) {
  if (!good)
    throw std::runtime_error(what + " failed");
}

// fsync of one file from one rank, for peers whose own flush stops at the operating system.
void sync_from_rank_0(const std::string& path);

}  // namespace bench
