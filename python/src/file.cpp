// SPDX-License-Identifier: BSD-3-Clause
#include "file.hpp"

#include <utility>

namespace windrow_python {
namespace {

void raise(const Verdict& verdict) {
  if (verdict.rank < 0) return;
  const int code = verdict.abandoned ? WINDROW_BAD_STATE : WINDROW_BAD_ARGUMENT;
  throw Failure(code, verdict.rank, verdict.message + " (rank " + std::to_string(verdict.rank) + ")");
}

}  // namespace

File::File(const Communicator& comm, const std::string& path, int mode, const Settings& settings,
           const std::string& problem) {
  raise(comm.agree("open", problem));
  const Options options(settings);  // the package has looked at them
  comm_ = comm.duplicate();
  given_ = comm;
  given_is_there_ = comm.watch();
  const int code = mode == k_create ? windrow_create(comm.get(), path.c_str(), options.get(), &file_)
                                    : windrow_open(comm.get(), path.c_str(), mode, options.get(), &file_);
  if (code == WINDROW_OK) return;
  const Failure failure(code, windrow_error_rank(), windrow_error_message());
  comm_.free();
  throw failure;
}

windrow_file* File::get() const {
  if (file_ == nullptr) throw Failure(WINDROW_BAD_STATE, -1, "the file is closed");
  return file_;
}

void File::agree(const std::string& call, const std::string& problem) {
  (void)get();
  const Verdict verdict = comm_.agree(call, problem);
  if (verdict.abandoned) discard();
  raise(verdict);
}

void File::move(bool put, int variable, const Pieces& pieces, Memory memory, const std::string& problem) {
  agree(put ? "write" : "read", problem);
  windrow_variable_info info{};
  info.size = sizeof info;
  check(windrow_inquire_variable(get(), variable, &info));
  const MPI_Comm comm = *given_is_there_ ? given_.get() : comm_.get();
  windrow_decomposition* made = nullptr;
  check(pieces.memory_offsets == nullptr
            ? windrow_blocks(comm, info.ndims, info.shape, pieces.blocks, pieces.starts, pieces.counts, nullptr,
                             nullptr, &made)
            : windrow_strided_blocks(comm, info.ndims, info.shape, pieces.blocks, pieces.starts, pieces.counts,
                                     pieces.memory_offsets, pieces.memory_strides, &made));
  const Decomposition decomposition(made);
  // What is wrong with an entry of the queue, the flush tells all ranks.
  if (put) {
    (void)windrow_put_as(get(), variable, made, memory.type, memory.data);
  } else {
    (void)windrow_get_as(get(), variable, made, memory.type, memory.data);
  }
  check(windrow_flush(get()));
}

void File::close(const std::string& problem) {
  if (file_ == nullptr) return;
  agree("close", problem);
  const int code = windrow_close(std::exchange(file_, nullptr));
  const Failure failure(code, windrow_error_rank(), windrow_error_message());
  comm_.free();
  if (code != WINDROW_OK) throw failure;
}

void File::abandon(const std::string& reason) {
  if (file_ == nullptr) return;
  (void)comm_.agree("abandon", reason, true);
  discard();
}

bool File::abandon_within(double seconds, const std::string& reason) {
  if (file_ == nullptr) return true;
  if (!comm_.agree_within(seconds, "abandon", reason, true)) return false;
  discard();
  return true;
}

void File::discard() {
  (void)windrow_discard(std::exchange(file_, nullptr));
  comm_.free();
}

}  // namespace windrow_python
