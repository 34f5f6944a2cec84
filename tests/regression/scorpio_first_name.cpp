// SPDX-License-Identifier: BSD-3-Clause
// A class that writes fields by the library's first names, as Amanzi's output does.
extern "C" {
#include "parallelIO.h"
}

#include <iostream>
#include <string>
#include <vector>

namespace {

class Output {
 public:
  explicit Output(MPI_Comm comm) {
    config_.numIOgroups = 1;
    config_.commIncoming = comm;
    parallelIO_IOgroup_init(&config_, &group_);
  }
  ~Output() {
    if (file_ >= 0)
      parallelIO_close_file(file_, &group_);
    parallelIO_IOgroup_cleanup(&group_);
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  bool open(const std::string& path, file_mode_t mode) {
    return (file_ = parallelIO_open_file(path.c_str(), &group_, mode)) >= 0;
  }
  bool write(const std::string& name, std::vector<double>& values) {
    int global[2] = {static_cast<int>(values.size()) * group_.globalsize, 1},
        local[2] = {static_cast<int>(values.size()), 1};
    return parallelIO_write_dataset(values.data(), PIO_DOUBLE, 2, global, local, file_, const_cast<char*>(name.c_str()),
                                    &group_, NONUNIFORM_CONTIGUOUS_WRITE) == 0;
  }
  bool exists(const std::string& name) const {
    iofile_t* file = group_.file[file_];
    return parallelIO_name_exists(file->fid, name.c_str());
  }
  bool read(const std::string& name, std::vector<double>& values) {
    int ndims = 0, global[2] = {0, 0}, local[2] = {static_cast<int>(values.size()), 1};
    char* path = const_cast<char*>(name.c_str());
    return parallelIO_get_dataset_ndims(&ndims, file_, path, &group_) == 0 && ndims == 2 &&
           parallelIO_get_dataset_dims(global, file_, path, &group_) == 0 &&
           parallelIO_read_dataset(values.data(), PIO_DOUBLE, ndims, global, local, file_, path, &group_,
                                   NONUNIFORM_CONTIGUOUS_READ) == 0;
  }
  bool set_time(double time) {
    return parallelIO_write_simple_attr(const_cast<char*>("time"), &time, PIO_DOUBLE, file_, const_cast<char*>("/"),
                                        &group_) == 0;
  }
  double time() {
    double* value = nullptr;
    if (parallelIO_read_simple_attr(const_cast<char*>("time"), reinterpret_cast<void**>(&value), PIO_DOUBLE, file_,
                                    const_cast<char*>("/"), &group_) != 0)
      return -1;
    const double time = *value;
    free(value);
    return time;
  }
  int rank() const { return group_.globalrank; }

 private:
  iogroup_conf_t config_;
  iogroup_t group_;
  int file_ = -1;
};

bool run(const std::string& path) {
  bool ok = true;
  std::vector<double> values(3), again(3);
  {
    Output output(MPI_COMM_WORLD);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = 3 * output.rank() + static_cast<double>(i);
    ok = output.open(path, FILE_CREATE) && output.write("pressure/0", values) && output.set_time(2.5);
  }
  Output input(MPI_COMM_WORLD);
  ok = ok && input.open(path, FILE_READONLY) && input.exists("pressure/0") && !input.exists("pressure/1") &&
       input.read("pressure/0", again);
  return ok && again == values && input.time() == 2.5;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ok = run(argv[1]) ? 1 : 0, all = 0;
  MPI_Allreduce(&ok, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (ok == 0)
    std::cerr << "a field was not written and read\n";
  MPI_Finalize();
  return all == 1 ? 0 : 1;
}
