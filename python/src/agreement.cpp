// SPDX-License-Identifier: BSD-3-Clause
#include "agreement.hpp"

#include <windrow/windrow.h>

#include <chrono>
#include <thread>

#include "failure.hpp"

namespace windrow_python {
namespace {

// The number of communicators of several ranks that have an AgreementComm.
int agreement_comms = 0;

// Whether a request ends in time. The time is counted in steps of waiting, so the time in which a process was stopped
// does not count.
bool ends(MPI_Request* request, double seconds) {
  using namespace std::chrono_literals;
  if (seconds == AgreementComm::k_forever) {
    check_mpi(MPI_Wait(request, MPI_STATUS_IGNORE), "MPI_Wait");
    return true;
  }
  int done = 0;
  for (auto left = static_cast<int64_t>(seconds * 1000); done == 0 && left >= 0; --left) {
    check_mpi(MPI_Test(request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done == 0)
      std::this_thread::sleep_for(1ms);
  }
  return done != 0;
}

// A hash of a text. std::hash may differ between the standard libraries of the ranks.
int64_t number_of(const std::string& text) {
  uint64_t hash = 14695981039346656037U;  // FNV-1a
  for (const char c : text)
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return static_cast<int64_t>(hash >> 2U);  // so that it can be negated
}

// A call and its file. The file is only named if the ranks have different ones.
struct Named {
  std::string call;
  std::string file;
};

Named named(const std::string& key) {
  const size_t end = key.find_last_of('\n');
  return {key.substr(0, end), key.substr(end + 1)};
}

}  // namespace

void raise(const Verdict& verdict) {
  if (verdict.rank < 0)
    return;
  throw Failure(verdict.abandoned ? WINDROW_BAD_STATE : WINDROW_BAD_ARGUMENT, verdict.rank, verdict.message);
}

std::shared_ptr<AgreementComm> AgreementComm::of(const Communicator& comm, double seconds) {
  if (is_finalized())
    throw Failure(WINDROW_BAD_STATE, -1, "a call after MPI has been finalized");
  // A single process needs no communicator, and may call from several threads.
  if (comm.size() == 1)
    return std::shared_ptr<AgreementComm>(new AgreementComm(MPI_COMM_SELF, 0, 1));
  std::shared_ptr<AgreementComm>& kept = comm.kept().agreements;
  if (kept != nullptr)
    return kept;
  // Not MPI_Comm_dup, which does not match MPI_Comm_idup: ranks with and without a time limit must make the same call.
  // After a timeout MPI may still write to `copy`, so it is not freed.
  auto copy = std::make_unique<MPI_Comm>(MPI_COMM_NULL);
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Comm_idup(comm.get(), copy.get(), &request), "MPI_Comm_idup");
  if (!ends(&request, seconds)) {
    (void)copy.release();
    return nullptr;
  }
  MPI_Comm_set_errhandler(*copy, MPI_ERRORS_RETURN);
  kept.reset(new AgreementComm(*copy, comm.rank(), comm.size()));
  ++agreement_comms;
  return kept;
}

bool AgreementComm::is_only_one() {
  return agreement_comms <= 1;
}

std::optional<Verdict> AgreementComm::agree_within(double seconds, const Call& call) {
  if (is_finalized())
    throw Failure(WINDROW_BAD_STATE, -1, call.name + " after MPI has been finalized");
  if (!settle(seconds))
    return std::nullopt;
  const int64_t number = number_of(key_of(call));
  const int64_t none = std::numeric_limits<int64_t>::max();
  auto reduction = std::make_unique<Reduction>();
  reduction->call = call;
  // One minimum for all: the lowest rank with a problem, the first and the last abandoned file, and the smallest and
  // largest hash of a call.
  reduction->mine = {call.abandon           ? rank_ - size_
                     : call.problem.empty() ? size_
                                            : rank_,
                     call.abandon ? call.file : none, call.abandon ? -call.file : none, number, -number};
  reduction->all = reduction->mine;
  if (size_ > 1) {
    // Not MPI_Allreduce, because ranks with and without a time limit must make the same call.
    check_mpi(MPI_Iallreduce(reduction->mine.data(), reduction->all.data(), static_cast<int>(reduction->mine.size()),
                             MPI_INT64_T, MPI_MIN, comm_, &reduction->request),
              call.name.c_str());
    if (!ends(&reduction->request, seconds)) {
      pending_ = std::move(reduction);
      return std::nullopt;
    }
  }
  return verdict_of(*reduction);
}

bool AgreementComm::settle(double seconds) {
  if (pending_ == nullptr)
    return true;
  if (!ends(&pending_->request, seconds))
    return false;
  const std::unique_ptr<Reduction> reduction = std::move(pending_);
  (void)verdict_of(*reduction);
  return true;
}

Verdict AgreementComm::verdict_of(const Reduction& reduction) {
  const auto& all = reduction.all;
  Verdict verdict;
  if (all[0] < size_) {
    verdict.abandoned = all[0] < 0;
    verdict.rank = static_cast<int>(verdict.abandoned ? all[0] + size_ : all[0]);
    verdict.message = from_rank(verdict.rank, reduction.call.problem) + " (rank " + std::to_string(verdict.rank);
    // This call may be on another file than the abandoned ones; then the message names them.
    if (verdict.abandoned) {
      const std::string left = discard(all[1], -all[2]);
      if (reduction.call.file < all[1] || reduction.call.file > -all[2])
        verdict.message += ", which has left " + left;
    }
    verdict.message += ")";
  } else if (all[3] != -all[4]) {
    verdict.message = difference(reduction.call, verdict.rank);
  }
  return verdict;
}

std::string AgreementComm::key_of(const Call& call) const {
  if (call.file == 0)
    return call.name + "\n";
  // The number distinguishes two openings of one file.
  return call.name + "\n\"" + files_.at(call.file).path + "\", the file number " + std::to_string(call.file);
}

// Collective, if the ranks are in different calls. Returns the message; `culprit`: the lowest rank whose call is not
// that of rank 0.
std::string AgreementComm::difference(const Call& call, int& culprit) const {
  const std::string mine = key_of(call);
  const std::string key = from_rank(0, mine);
  const int other = mine == key ? size_ : rank_;
  check_mpi(MPI_Allreduce(&other, &culprit, 1, MPI_INT, MPI_MIN, comm_), call.name.c_str());
  const Named first = named(key);
  const Named second = named(from_rank(culprit, mine));
  const auto text = [&](const Named& one) {
    if (first.file == second.file || one.file.empty())
      return one.call;
    const std::string path = one.file.substr(0, one.file.rfind(", the file number"));
    const bool is_twice = first.file.starts_with(path + ",") && second.file.starts_with(path + ",");
    return one.call + " of " + (is_twice ? one.file : path);
  };
  return "the ranks are in different calls: rank 0 in " + text(first) + ", rank " + std::to_string(culprit) + " in " +
         text(second) + " (rank " + std::to_string(culprit) + ")";
}

// Collective. If ranks abandon different files at once, all files between these are discarded too, so that all ranks
// have the same open files.
std::string AgreementComm::discard(int64_t first, int64_t last) {
  std::string names;
  for (auto file = files_.lower_bound(first); file != files_.end() && file->first <= last;) {
    const Open open = file->second;
    names += (names.empty() ? "\"" : ", \"") + open.path + "\"";
    ++file;  // before discard(), which erases the entry
    open.discard();
  }
  return names;
}

int64_t AgreementComm::add(const std::string& path, std::function<void()> discard) {
  files_[++opened_] = {path, std::move(discard)};
  return opened_;
}

void AgreementComm::remove(int64_t file) {
  files_.erase(file);
  free_unused();
}

void AgreementComm::lose_owner() {
  has_owner_ = false;
  if (size_ > 1)
    --agreement_comms;
  free_unused();
}

void AgreementComm::free_unused() {
  if (has_owner_ || !files_.empty() || size_ == 1 || comm_ == MPI_COMM_NULL || is_finalized())
    return;
  MPI_Comm_free(&comm_);
}

std::string AgreementComm::from_rank(int root, const std::string& text) const {
  int length = static_cast<int>(text.size());
  check_mpi(MPI_Bcast(&length, 1, MPI_INT, root, comm_), "MPI_Bcast");
  std::string result = rank_ == root ? text : std::string(static_cast<size_t>(length), ' ');
  check_mpi(MPI_Bcast(result.data(), length, MPI_CHAR, root, comm_), "MPI_Bcast");
  return result;
}

std::string AgreementComm::first(const std::string& text) {
  raise(agree({.name = "first"}));
  const int mine = text.empty() ? size_ : rank_;
  int lowest = mine;
  check_mpi(MPI_Allreduce(&mine, &lowest, 1, MPI_INT, MPI_MIN, comm_), "MPI_Allreduce");
  return lowest == size_ ? "" : from_rank(lowest, text);
}

bool AgreementComm::any(bool mine) {
  raise(agree({.name = "any"}));
  const int local = mine ? 1 : 0;
  int all = local;
  check_mpi(MPI_Allreduce(&local, &all, 1, MPI_INT, MPI_MAX, comm_), "MPI_Allreduce");
  return all != 0;
}

std::pair<int64_t, int64_t> AgreementComm::place(int64_t count) {
  raise(agree({.name = "place"}));
  int64_t up_to_here = count;
  int64_t all = count;
  check_mpi(MPI_Scan(&count, &up_to_here, 1, MPI_INT64_T, MPI_SUM, comm_), "MPI_Scan");
  check_mpi(MPI_Allreduce(&count, &all, 1, MPI_INT64_T, MPI_SUM, comm_), "MPI_Allreduce");
  return {up_to_here - count, all};
}

}  // namespace windrow_python
