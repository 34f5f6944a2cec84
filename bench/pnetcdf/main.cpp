// SPDX-License-Identifier: BSD-3-Clause
// bench-pnetcdf: PnetCDF, CDF-5. Systems: "blocking" (put_vara_all, put_varn_all), "nonblocking" (iput_vara, iput_varn,
// wait_all).
#include <pnetcdf.h>

#include <algorithm>

#include "common/datatypes.hpp"
#include "common/packing.hpp"
#include "common/system.hpp"

namespace bench {
namespace {

void check(int code, const char* call) {
  if (code != NC_NOERR)
    throw std::runtime_error(std::string(call) + ": " + ncmpi_strerror(code));
}

nc_type file_type(ElementType type) {
  if (type == ElementType::float64)
    return NC_DOUBLE;
  return type == ElementType::float32 ? NC_FLOAT : NC_INT;
}

// What one call moves of one variable: a block through a memory datatype, or boxes of points.
struct Request {
  std::vector<MPI_Offset> start, count;
  std::unique_ptr<Datatype> memory;
  std::unique_ptr<Packing> packing;
  std::vector<std::vector<MPI_Offset>> starts, counts;
  std::vector<MPI_Offset*> start_pointers, count_pointers;
  MPI_Datatype element = MPI_DATATYPE_NULL;
};

Request make_request(const Case& data, const Variable& variable, bool owned) {
  const Share& share = data.share_of(variable);
  Request request;
  request.element = element_datatype(variable.type);
  if (share.is_block()) {
    request.start.assign(share.start.begin(), share.start.end());
    request.count.assign(share.count.begin(), share.count.end());
    request.memory = std::make_unique<Datatype>(memory_subarray(data, variable));
    return request;
  }
  request.packing = std::make_unique<Packing>(data.pieces(variable, owned), element_size(variable.type));
  for (const Box& box : boxes_of(request.packing->pieces(), data.shape_of(variable))) {
    request.starts.emplace_back(box.start.begin(), box.start.end());
    request.counts.emplace_back(box.count.begin(), box.count.end());
  }
  for (auto& start : request.starts)
    request.start_pointers.push_back(start.data());
  for (auto& count : request.counts)
    request.count_pointers.push_back(count.data());
  return request;
}

class Pnetcdf : public System {
 public:
  explicit Pnetcdf(const std::string& name) : blocking_(name == "blocking") {
    require(blocking_ || name == "nonblocking", "system \"" + name + "\": its name");
  }

  void prepare(const Job& job) override {
    path_ = job.directory + "/shared.nc";
    for (const Variable& variable : job.data.variables) {
      writes_.push_back(make_request(job.data, variable, true));
      reads_.push_back(make_request(job.data, variable, false));
    }
  }

  void write(const Job& job) override {
    int file = 0;
    check(ncmpi_create(MPI_COMM_WORLD, path_.c_str(), NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file),
          "ncmpi_create");
    const std::vector<int> variables = define(file, job.data);
    check(ncmpi_enddef(file), "ncmpi_enddef");
    const auto put_all = [&] {
      for (size_t v = 0; v < variables.size(); ++v)
        put(file, variables[v], writes_[v], job.buffers[v]);
      if (!blocking_)
        wait(file);
    };
    put_all();
    job.rewrite(put_all);
    if (job.durable)
      check(ncmpi_sync(file), "ncmpi_sync");
    check(ncmpi_close(file), "ncmpi_close");
  }

  void read(const Job& job) override {
    int file = 0;
    check(ncmpi_open(MPI_COMM_WORLD, path_.c_str(), NC_NOWRITE, MPI_INFO_NULL, &file), "ncmpi_open");
    for (size_t v = 0; v < reads_.size(); ++v) {
      int variable = 0;
      check(ncmpi_inq_varid(file, job.data.variables[v].name.c_str(), &variable), "ncmpi_inq_varid");
      get(file, variable, reads_[v], job.buffers[v]);
    }
    if (!blocking_)
      wait(file);
    for (size_t v = 0; v < reads_.size(); ++v)
      if (reads_[v].packing)
        reads_[v].packing->unpack(job.buffers[v]);
    check(ncmpi_close(file), "ncmpi_close");
  }

  std::vector<Location> locate(const Job& job) override {
    int file = 0;
    std::vector<Location> locations;
    check(ncmpi_open(MPI_COMM_SELF, path_.c_str(), NC_NOWRITE, MPI_INFO_NULL, &file), "ncmpi_open");
    for (const Variable& variable : job.data.variables) {
      int id = 0;
      MPI_Offset offset = 0;
      check(ncmpi_inq_varid(file, variable.name.c_str(), &id), "ncmpi_inq_varid");
      check(ncmpi_inq_varoffset(file, id, &offset), "ncmpi_inq_varoffset");
      locations.push_back({path_, offset, true});
    }
    check(ncmpi_close(file), "ncmpi_close");
    return locations;
  }

  std::string format() const override { return "cdf5"; }

 private:
  // A dimension a length: variables of the same shape share them.
  static std::vector<int> define(int file, const Case& data) {
    std::vector<std::pair<int64_t, int>> dimensions;
    std::vector<int> variables;
    for (const Variable& variable : data.variables) {
      std::vector<int> ids;
      for (int64_t extent : data.shape_of(variable)) {
        auto known =
            std::find_if(dimensions.begin(), dimensions.end(), [&](const auto& d) { return d.first == extent; });
        if (known == dimensions.end()) {
          int id = 0;
          check(ncmpi_def_dim(file, ("n" + std::to_string(extent)).c_str(), extent, &id), "ncmpi_def_dim");
          known = dimensions.insert(dimensions.end(), {extent, id});
        }
        ids.push_back(known->second);
      }
      int id = 0;
      check(ncmpi_def_var(file, variable.name.c_str(), file_type(variable.type), static_cast<int>(ids.size()),
                          ids.data(), &id),
            "ncmpi_def_var");
      variables.push_back(id);
    }
    return variables;
  }

  void put(int file, int variable, Request& request, const Buffer& buffer) const {
    int ignored = 0;
    if (!request.packing) {
      const MPI_Offset *start = request.start.data(), *count = request.count.data();
      check(blocking_
                ? ncmpi_put_vara_all(file, variable, start, count, buffer.data(), 1, request.memory->get())
                : ncmpi_iput_vara(file, variable, start, count, buffer.data(), 1, request.memory->get(), &ignored),
            "ncmpi_put_vara");
      return;
    }
    const auto pieces = static_cast<int>(request.start_pointers.size());
    MPI_Offset *const *starts = request.start_pointers.data(), *const *counts = request.count_pointers.data();
    const void* bytes = request.packing->pack(buffer);
    check(blocking_ ? ncmpi_put_varn_all(file, variable, pieces, starts, counts, bytes, request.packing->elements(),
                                         request.element)
                    : ncmpi_iput_varn(file, variable, pieces, starts, counts, bytes, request.packing->elements(),
                                      request.element, &ignored),
          "ncmpi_put_varn");
  }

  void get(int file, int variable, Request& request, const Buffer& buffer) const {
    int ignored = 0;
    if (!request.packing) {
      const MPI_Offset *start = request.start.data(), *count = request.count.data();
      check(blocking_
                ? ncmpi_get_vara_all(file, variable, start, count, buffer.data(), 1, request.memory->get())
                : ncmpi_iget_vara(file, variable, start, count, buffer.data(), 1, request.memory->get(), &ignored),
            "ncmpi_get_vara");
      return;
    }
    const auto pieces = static_cast<int>(request.start_pointers.size());
    MPI_Offset *const *starts = request.start_pointers.data(), *const *counts = request.count_pointers.data();
    void* bytes = request.packing->target(buffer);
    check(blocking_ ? ncmpi_get_varn_all(file, variable, pieces, starts, counts, bytes, request.packing->elements(),
                                         request.element)
                    : ncmpi_iget_varn(file, variable, pieces, starts, counts, bytes, request.packing->elements(),
                                      request.element, &ignored),
          "ncmpi_get_varn");
  }

  static void wait(int file) { check(ncmpi_wait_all(file, NC_REQ_ALL, nullptr, nullptr), "ncmpi_wait_all"); }

  bool blocking_;
  std::string path_;
  std::vector<Request> writes_, reads_;
};

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::run_program(argc, argv, [](const std::string& name) { return std::make_unique<bench::Pnetcdf>(name); });
}
