// SPDX-License-Identifier: BSD-3-Clause
#include "file.hpp"

#include <utility>

namespace windrow_python {
File::File(const Communicator& comm, const std::string& path, int mode, const Settings& settings,
           const std::string& problem)
    : agreements_(AgreementComm::of(comm)), given_(comm), given_is_there_(comm.kept().is_there) {
  raise(agreements_->agree({.name = "open", .problem = problem}));
  const Options options(settings);  // checked by the package
  check(mode == k_create ? windrow_create(comm.get(), path.c_str(), options.get(), &file_)
                         : windrow_open(comm.get(), path.c_str(), mode, options.get(), &file_));
  number_ = agreements_->add(path, [this] { discard(); });
}

File::~File() {
  if (file_ != nullptr && agreements_->size() == 1)
    agreements_->remove(number_);
}

windrow_file* File::get() const {
  if (file_ == nullptr)
    throw Failure(WINDROW_BAD_STATE, -1, "the file is closed");
  return file_;
}

void File::agree(const std::string& call, const std::string& problem) {
  (void)get();
  (void)agreements_->settle(AgreementComm::k_forever);
  (void)get();
  raise(agreements_->agree({.name = call, .problem = problem, .file = number_}));
}

void File::move(bool put, int variable, const Pieces& pieces, Memory memory, const std::string& problem) {
  agree(put ? "write" : "read", problem);
  windrow_variable_info info{};
  info.size = sizeof info;
  check(windrow_inquire_variable(get(), variable, &info));
  const MPI_Comm comm = *given_is_there_ ? given_.get() : agreements_->get();
  windrow_decomposition* made = nullptr;
  check(pieces.memory_offsets == nullptr
            ? windrow_blocks(comm, info.ndims, info.shape, pieces.blocks, pieces.starts, pieces.counts, nullptr,
                             nullptr, &made)
            : windrow_strided_blocks(comm, info.ndims, info.shape, pieces.blocks, pieces.starts, pieces.counts,
                                     pieces.memory_offsets, pieces.memory_strides, &made));
  const Decomposition decomposition(made);
  // The flush reports errors of queued requests on all ranks.
  if (put) {
    (void)windrow_put_as(get(), variable, made, memory.type, memory.data);
  } else {
    (void)windrow_get_as(get(), variable, made, memory.type, memory.data);
  }
  check(windrow_flush(get()));
}

void File::close(const std::string& problem) {
  if (file_ == nullptr)
    return;
  agree("close", problem);
  const int code = windrow_close(std::exchange(file_, nullptr));
  const Failure failure(code, windrow_error_rank(), windrow_error_message());
  agreements_->remove(number_);
  if (code != WINDROW_OK)
    throw failure;
}

void File::abandon(const std::string& reason) {
  (void)abandon_within(AgreementComm::k_forever, reason);
}

bool File::abandon_within(double seconds, const std::string& reason) {
  if (file_ == nullptr)
    return true;
  if (!agreements_->settle(seconds))
    return false;
  if (file_ == nullptr)
    return true;  // the pending agreement has discarded this file
  return agreements_->agree_within(seconds, {.name = "abandon", .problem = reason, .file = number_, .abandon = true})
      .has_value();
}

void File::discard() {
  (void)windrow_discard(std::exchange(file_, nullptr));
  agreements_->remove(number_);
}

}  // namespace windrow_python
