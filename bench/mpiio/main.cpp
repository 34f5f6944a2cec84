// SPDX-License-Identifier: BSD-3-Clause
// bench-mpiio: MPI-IO as an expert would call it. Systems: {collective,independent}-{indexed,subarray}[-nosieve].
// indexed: one view of all variables' pieces and one call for everything; subarray: a view and a call for each variable
// (blocks only). nosieve: ROMIO without data sieving on writes. OMPIO or ROMIO is chosen from outside (--mca io).
#include <climits>

#include "common/datatypes.hpp"
#include "common/system.hpp"

namespace bench {
namespace {

// What one collective or independent call moves.
struct Transfer {
  MPI_Offset displacement;
  MPI_Datatype element;
  Datatype file;
  Datatype memory;
  const void* base;
  int count;  // of `memory`
};

class MpiIo : public System {
 public:
  explicit MpiIo(const std::string& name)
      : collective_(name.starts_with("collective")),
        subarray_(name.find("subarray") != std::string::npos),
        sieve_(!name.ends_with("-nosieve")) {
    require(collective_ || name.starts_with("independent"), "system \"" + name + "\": its name");
  }

  void prepare(const Job& job) override {
    path_ = job.directory + "/shared.raw";
    offsets_.clear();
    int64_t offset = 0;
    for (const Variable& variable : job.data.variables) {
      offsets_.push_back(offset);
      offset += job.data.file_bytes(variable);
    }
    writes_.clear();
    reads_.clear();
    if (subarray_) {
      prepare_subarrays(job, writes_);
      prepare_subarrays(job, reads_);
    } else {
      writes_.push_back(indexed_transfer(job, true));
      reads_.push_back(indexed_transfer(job, false));
    }
  }

  void write(const Job& job) override { transfer(writes_, true, &job); }
  void read(const Job&) override { transfer(reads_, false, nullptr); }

  std::vector<Location> locate(const Job&) override {
    std::vector<Location> locations;
    for (int64_t offset : offsets_)
      locations.push_back({path_, offset});
    return locations;
  }

  std::string format() const override { return "raw"; }

 private:
  void prepare_subarrays(const Job& job, std::vector<Transfer>& transfers) {
    for (size_t v = 0; v < job.data.variables.size(); ++v) {
      const Variable& variable = job.data.variables[v];
      if (!job.data.share_of(variable).is_block())
        throw NotApplicable("subarray views describe blocks only");
      transfers.push_back({offsets_[v], element_datatype(variable.type), file_subarray(job.data, variable),
                           memory_subarray(job.data, variable), job.buffers[v].data(), 1});
    }
  }

  Transfer indexed_transfer(const Job& job, bool owned) {
    std::vector<MPI_Aint> in_file, in_memory;
    std::vector<int> lengths;
    for (size_t v = 0; v < job.data.variables.size(); ++v) {
      const int64_t size = element_size(job.data.variables[v].type);
      MPI_Aint base = 0;
      MPI_Get_address(job.buffers[v].data(), &base);
      for (const Piece& piece : job.data.pieces(job.data.variables[v], owned)) {
        require(piece.length * size <= INT_MAX, "a piece within MPI's range");
        in_file.push_back(offsets_[v] + piece.file * size);
        in_memory.push_back(base + piece.memory * size);
        lengths.push_back(static_cast<int>(piece.length * size));
      }
    }
    const int count = lengths.empty() ? 0 : 1;
    return {0, MPI_BYTE, indexed(in_file, lengths), indexed(in_memory, lengths), MPI_BOTTOM, count};
  }

  // `job`: of a write.
  void transfer(const std::vector<Transfer>& transfers, bool write, const Job* job) {
    MPI_Info info = MPI_INFO_NULL;
    if (!sieve_) {
      MPI_Info_create(&info);
      MPI_Info_set(info, "romio_ds_write", "disable");
    }
    MPI_File file = MPI_FILE_NULL;
    const int mode =
        write ? MPI_MODE_CREATE | MPI_MODE_RDWR : MPI_MODE_RDONLY;  // data sieving reads what it writes around
    require(MPI_File_open(MPI_COMM_WORLD, path_.c_str(), mode, info, &file) == MPI_SUCCESS, "MPI_File_open");
    const auto move = [&](bool again) {
      for (const Transfer& next : transfers) {
        if (again && transfers.size() == 1)  // the view is there
          require(MPI_File_seek(file, 0, MPI_SEEK_SET) == MPI_SUCCESS, "MPI_File_seek");
        else
          require(
              MPI_File_set_view(file, next.displacement, next.element, next.file.get(), "native", info) == MPI_SUCCESS,
              "MPI_File_set_view");
        require(call(file, next, write) == MPI_SUCCESS, write ? "MPI_File_write" : "MPI_File_read");
      }
    };
    move(false);
    if (job)
      job->rewrite([&] { move(true); });
    if (job && job->durable)
      require(MPI_File_sync(file) == MPI_SUCCESS, "MPI_File_sync");
    require(MPI_File_close(&file) == MPI_SUCCESS, "MPI_File_close");
    if (info != MPI_INFO_NULL)
      MPI_Info_free(&info);
  }

  int call(MPI_File file, const Transfer& next, bool write) const {
    MPI_Status status;
    void* base = const_cast<void*>(next.base);
    if (collective_)
      return write ? MPI_File_write_all(file, base, next.count, next.memory.get(), &status)
                   : MPI_File_read_all(file, base, next.count, next.memory.get(), &status);
    return write ? MPI_File_write(file, base, next.count, next.memory.get(), &status)
                 : MPI_File_read(file, base, next.count, next.memory.get(), &status);
  }

  bool collective_, subarray_, sieve_;
  std::string path_;
  std::vector<int64_t> offsets_;
  std::vector<Transfer> writes_, reads_;
};

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::run_program(argc, argv, [](const std::string& name) { return std::make_unique<bench::MpiIo>(name); });
}
