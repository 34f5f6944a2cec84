// SPDX-License-Identifier: BSD-3-Clause
// bench-files: a file per process, POSIX. Not one file, so it is listed apart; it shows what sharing costs. System:
// "files".
#include <fcntl.h>
#include <unistd.h>

#include <cstring>

#include "common/system.hpp"

namespace bench {
namespace {

constexpr int64_t k_call = 1 << 20;  // bytes a call: as the limit

class Files : public System {
 public:
  void prepare(const Job& job) override {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    path_ = job.directory + "/part." + std::to_string(rank);
    pieces_.clear();
    for (const Variable& variable : job.data.variables) {
      Pieces pieces = job.data.pieces(variable, false);
      for (Piece& piece : pieces)
        piece = scaled(piece, element_size(variable.type));
      pieces_.push_back(std::move(pieces));
    }
    staging_.resize(static_cast<size_t>(k_call));
  }

  void write(const Job& job) override {
    file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    require(file_ >= 0, "open of \"" + path_ + "\"");
    const auto put_all = [&] {
      require(::lseek(file_, 0, SEEK_SET) == 0, "lseek");
      staged_ = 0;
      for (size_t v = 0; v < pieces_.size(); ++v)
        for (const Piece& piece : pieces_[v])
          put(job.buffers[v].data() + piece.memory, piece.length);
      write_all(staging_.data(), staged_);
    };
    put_all();
    job.rewrite(put_all);
    if (job.durable)
      require(::fdatasync(file_) == 0, "fdatasync");
    require(::close(file_) == 0, "close");
  }

  void read(const Job& job) override {
    file_ = ::open(path_.c_str(), O_RDONLY);
    require(file_ >= 0, "open of \"" + path_ + "\"");
    staged_ = taken_ = 0;
    for (size_t v = 0; v < pieces_.size(); ++v)
      for (const Piece& piece : pieces_[v])
        get(job.buffers[v].data() + piece.memory, piece.length);
    ::close(file_);
  }

  std::vector<Location> locate(const Job& job) override {
    std::vector<Location> locations;
    int64_t offset = 0;
    for (size_t v = 0; v < job.data.variables.size(); ++v) {
      locations.push_back({path_, offset, false, true});
      for (const Piece& piece : pieces_[v])
        offset += piece.length;
    }
    return locations;
  }

  std::string format() const override { return "raw/rank"; }

 private:
  static Piece scaled(Piece piece, int64_t size) {
    return {piece.file * size, piece.memory * size, piece.length * size};
  }

  void write_all(const std::byte* bytes, int64_t count) {
    while (count > 0) {
      const ssize_t done = ::write(file_, bytes, static_cast<size_t>(std::min(count, k_call)));
      require(done > 0, "write");
      bytes += done;
      count -= done;
    }
  }

  // Small pieces are packed into one call; large ones are written from their place in memory.
  void put(const std::byte* bytes, int64_t count) {
    const bool is_large = count >= k_call / 2;
    if (is_large || staged_ + count > k_call) {
      write_all(staging_.data(), staged_);
      staged_ = 0;
    }
    if (is_large)
      return write_all(bytes, count);
    std::memcpy(staging_.data() + staged_, bytes, static_cast<size_t>(count));
    staged_ += count;
  }

  int64_t read_some(std::byte* bytes, int64_t count) {
    const ssize_t done = ::read(file_, bytes, static_cast<size_t>(std::min(count, k_call)));
    require(done > 0, "read");
    return done;
  }

  void get(std::byte* bytes, int64_t count) {
    while (count > 0) {
      int64_t done = 0;
      if (taken_ == staged_ && count >= k_call / 2) {
        done = read_some(bytes, count);
      } else {
        if (taken_ == staged_) {
          staged_ = read_some(staging_.data(), k_call);
          taken_ = 0;
        }
        done = std::min(count, staged_ - taken_);
        std::memcpy(bytes, staging_.data() + taken_, static_cast<size_t>(done));
        taken_ += done;
      }
      bytes += done;
      count -= done;
    }
  }

  std::string path_;
  std::vector<Pieces> pieces_;  // in bytes
  std::vector<std::byte> staging_;
  int64_t staged_ = 0, taken_ = 0;
  int file_ = -1;
};

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::run_program(argc, argv, [](const std::string& name) {
    bench::require(name == "files", "system \"" + name + "\" of bench-files: there is only \"files\"; this");
    return std::make_unique<bench::Files>();
  });
}
