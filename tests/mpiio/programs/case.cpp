// SPDX-License-Identifier: BSD-3-Clause
#include "case.hpp"

#include <cstdio>

namespace mpiio_test {

void print(const std::string& line) {
  std::fputs((line + "\n").c_str(), stdout);
  std::fflush(stdout);
}

int class_of(int code) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  return error_class;
}

Case::Case(int given_number, MPI_Comm given_comm, const Arguments& given_arguments)
    : number(given_number),
      comm(given_comm),
      arguments(given_arguments),
      random(static_cast<uint64_t>(given_number) * 7919 + 13) {
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
}

void Case::begin_step(const std::string& path, const std::string& what) {
  ++step_;
  what_ = what;
  tell("case " + std::to_string(number) + " step " + std::to_string(step_) + " " + path + ": " + what);
}

void Case::fault(const std::string& text) {
  failed_ = true;
  if (++faults_ <= 2)
    print("FAULT case " + std::to_string(number) + " (" + std::to_string(ranks) + " ranks) step " +
          std::to_string(step_) + " rank " + std::to_string(rank) + " " + what_ + ": " + text);
}

void Case::expect(int64_t given, int64_t expected, const std::string& text) {
  if (given != expected)
    fault(text + " is " + std::to_string(given) + ", not " + std::to_string(expected));
}

void Case::expect_success(int code, const std::string& text) {
  if (code == MPI_SUCCESS)
    return;
  char message[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, message, &length);
  fault(text + " fails: " + message);
}

void Case::result(const std::string& text) const {
  if (rank == 0)
    print("result case " + std::to_string(number) + " step " + std::to_string(step_) + ": " + text);
}

void Case::tell(const std::string& text) const {
  if (arguments.verbose && rank == 0)
    print(text);
}

}  // namespace mpiio_test
