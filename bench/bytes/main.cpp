// SPDX-License-Identifier: BSD-3-Clause
// bench-bytes: Windrow's files of plain bytes (bytes.h): the bytes of all variables in one call. Systems: a strategy,
// as the option "strategy" takes it.
#include <windrow/windrow.h>

#include "common/system.hpp"

namespace bench {
namespace {

void check(int code) {
  if (code != WINDROW_OK)
    throw std::runtime_error(windrow_error_message());
}

class Bytes : public System {
 public:
  explicit Bytes(const std::string& strategy) {
    check(windrow_options_create(&options_));
    check(windrow_options_set(options_, "strategy", strategy.c_str()));
  }
  ~Bytes() override {
    windrow_byte_list_free(writes_);
    if (reads_ != writes_)
      windrow_byte_list_free(reads_);
    windrow_options_free(options_);
  }

  void prepare(const Job& job) override {
    path_ = job.directory + "/shared.raw";
    offsets_.clear();
    int64_t offset = 0;
    for (const Variable& variable : job.data.variables) {
      offsets_.push_back(offset);
      offset += job.data.file_bytes(variable);
    }
    written_ = pieces_of(job, true);
    read_ = pieces_of(job, false);
  }

  void describe(const Job&) override {
    writes_ = list_of(written_);
    reads_ = read_ == written_ ? writes_ : list_of(read_);
  }

  void write(const Job& job) override {
    windrow_bytes* file = nullptr;
    check(windrow_bytes_open(MPI_COMM_WORLD, path_.c_str(), WINDROW_UPDATE_OR_CREATE, options_, &file));
    const auto put = [&] { check(windrow_bytes_write(file, writes_, nullptr)); };
    put();
    job.rewrite(put);
    if (job.durable)
      check(windrow_bytes_sync(file));
    check(windrow_bytes_close(file));
  }

  void read(const Job&) override {
    windrow_bytes* file = nullptr;
    check(windrow_bytes_open(MPI_COMM_WORLD, path_.c_str(), WINDROW_READ, options_, &file));
    check(windrow_bytes_read(file, reads_, nullptr, nullptr));
    check(windrow_bytes_close(file));
  }

  std::vector<Location> locate(const Job&) override {
    std::vector<Location> locations;
    for (int64_t offset : offsets_)
      locations.push_back({path_, offset});
    return locations;
  }

  std::string format() const override { return "raw"; }

 private:
  struct Offsets {
    std::vector<int64_t> in_file, in_memory, lengths;
    friend bool operator==(const Offsets&, const Offsets&) = default;
  };

  // Places in memory are addresses.
  Offsets pieces_of(const Job& job, bool owned) const {
    Offsets all;
    for (size_t v = 0; v < job.data.variables.size(); ++v) {
      const int64_t size = element_size(job.data.variables[v].type);
      const auto base = static_cast<int64_t>(reinterpret_cast<uintptr_t>(job.buffers[v].data()));
      for (const Piece& piece : job.data.pieces(job.data.variables[v], owned)) {
        all.in_file.push_back(offsets_[v] + piece.file * size);
        all.in_memory.push_back(base + piece.memory * size);
        all.lengths.push_back(piece.length * size);
      }
    }
    return all;
  }

  static windrow_byte_list* list_of(const Offsets& all) {
    windrow_byte_list* list = nullptr;
    check(windrow_byte_list_pieces(static_cast<int64_t>(all.in_file.size()), all.in_file.data(), all.in_memory.data(),
                                   all.lengths.data(), &list));
    return list;
  }

  windrow_options* options_ = nullptr;
  windrow_byte_list *writes_ = nullptr, *reads_ = nullptr;
  std::string path_;
  std::vector<int64_t> offsets_;
  Offsets written_, read_;
};

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::run_program(argc, argv, [](const std::string& name) { return std::make_unique<bench::Bytes>(name); });
}
