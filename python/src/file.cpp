// SPDX-License-Identifier: BSD-3-Clause
#include "file.hpp"

#include <utility>

namespace windrow_python {

OpenFile::OpenFile(const Communicator& comm, const std::string& problem) : agreements_(AgreementComm::of(comm)) {
  raise(agreements_->agree({.name = "open", .problem = problem}));
}

OpenFile::~OpenFile() {
  if (is_open() && agreements_->size() == 1)
    closed();
}

void OpenFile::opened(const std::string& path) {
  number_ = agreements_->add(path, [this] {
    (void)discard_handle();
    closed();
  });
}

void OpenFile::closed() {
  agreements_->remove(std::exchange(number_, 0));
}

void OpenFile::check_open() const {
  if (!is_open())
    throw Failure(WINDROW_BAD_STATE, -1, "the file is closed");
}

void OpenFile::agree(const std::string& call, const std::string& problem) {
  check_open();
  (void)agreements_->settle(AgreementComm::k_forever);
  check_open();
  raise(agreements_->agree({.name = call, .problem = problem, .file = number_}));
}

void OpenFile::close(const std::string& problem) {
  if (!is_open())
    return;
  agree("close", problem);
  const int code = close_handle();
  const Failure failure(code, windrow_error_rank(), windrow_error_message());
  closed();
  if (code != WINDROW_OK)
    throw failure;
}

void OpenFile::abandon(const std::string& reason) {
  (void)abandon_within(AgreementComm::k_forever, reason);
}

bool OpenFile::abandon_within(double seconds, const std::string& reason) {
  if (!is_open())
    return true;
  if (!agreements_->settle(seconds))
    return false;
  if (!is_open())
    return true;  // the pending agreement has discarded this file
  return agreements_->agree_within(seconds, {.name = "abandon", .problem = reason, .file = number_, .abandon = true})
      .has_value();
}

File::File(const Communicator& comm, const std::string& path, int mode, const Settings& settings,
           const std::string& problem)
    : OpenFile(comm, problem), given_(comm), given_is_there_(comm.kept().is_there) {
  const Options options(settings);  // checked by the package
  check(mode == k_create ? windrow_create(comm.get(), path.c_str(), options.get(), &file_)
                         : windrow_open(comm.get(), path.c_str(), mode, options.get(), &file_));
  opened(path);
}

windrow_file* File::get() const {
  check_open();
  return file_;
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

}  // namespace windrow_python
