// SPDX-License-Identifier: BSD-3-Clause
// A random program of MPI-IO beside a model of its files. Each step calls MPI, compares, and changes the model.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "case.hpp"
#include "comparison.hpp"
#include "file.hpp"

namespace mpiio_test {

// Collective calls are counted by name on rank 0 of each case, for a comparison with what a preloaded library reports.
std::map<std::string, int64_t>& counted_calls();

class Program {
 public:
  Program(int number, MPI_Comm comm, const Arguments& arguments) : case_(number, comm, arguments) {}

  bool run();

 private:
  // program.cpp
  void make_before(File& file);
  MPI_Info some_info(File& file);
  int some_mode(const File& file);
  void open_that_fails(File& file);
  void open(File& file);
  void close(File& file);
  void step(File& file);

  // steps.cpp
  void sync(File& file);
  void look(File& file);
  void set_view(File& file);
  void set_size(File& file);
  void set_atomicity(File& file);
  void seek(File& file);
  void seek_from_end(File& file);
  void seek_anywhere(File& file);
  void wrong(File& file);

  // transfers.cpp
  void collective(File& file, bool writing);
  void independent(File& file, bool may_sync = true);
  void other_step(const File& busy);
  void prepare_for(File& file, const std::vector<Access>& accesses);
  void seek_for(const File& file, const Access& access);
  void apply(File& file, const std::vector<Access>& accesses, uint64_t seed, bool is_collective);
  void move_position(File& file, const Access& access, bool is_collective);

  Case case_;
  Random& random_ = case_.random;
  Comparison compare_{case_};
  std::vector<File> files_;
};

}  // namespace mpiio_test
