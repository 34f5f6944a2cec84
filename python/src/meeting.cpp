// SPDX-License-Identifier: BSD-3-Clause
#include "meeting.hpp"

#include <windrow/windrow.h>

#include <chrono>
#include <thread>

#include "failure.hpp"

namespace windrow_python {
namespace {

// How many communicators of several ranks have a meeting.
int meetings = 0;

// Whether a request ends in time. Waiting is counted in steps, so that a process that was stopped for a while has not
// been impatient.
bool ends(MPI_Request* request, double seconds) {
  using namespace std::chrono_literals;
  if (seconds == Meeting::k_forever) {
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

// The same text has the same number on every rank, whatever its library.
int64_t number_of(const std::string& text) {
  uint64_t hash = 14695981039346656037U;  // FNV-1a
  for (const char c : text)
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return static_cast<int64_t>(hash >> 2U);  // so that it can be negated
}

// A call and the file it is on, which is named only where another rank's is another.
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

std::shared_ptr<Meeting> Meeting::of(const Communicator& comm, double seconds) {
  if (is_finalized())
    throw Failure(WINDROW_BAD_STATE, -1, "a call after MPI has been finalized");
  // One process needs none, and may call from several threads.
  if (comm.size() == 1)
    return std::shared_ptr<Meeting>(new Meeting(MPI_COMM_SELF, 0, 1));
  std::shared_ptr<Meeting>& kept = comm.kept().meeting;
  if (kept != nullptr)
    return kept;
  // Not MPI_Comm_dup, since a rank that does not wait for ever must meet those that do; MPI may go on writing to it
  // where it has waited long enough.
  auto copy = std::make_unique<MPI_Comm>(MPI_COMM_NULL);
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Comm_idup(comm.get(), copy.get(), &request), "MPI_Comm_idup");
  if (!ends(&request, seconds)) {
    (void)copy.release();
    return nullptr;
  }
  MPI_Comm_set_errhandler(*copy, MPI_ERRORS_RETURN);
  kept.reset(new Meeting(*copy, comm.rank(), comm.size()));
  ++meetings;
  return kept;
}

bool Meeting::is_only_one() {
  return meetings <= 1;
}

std::optional<Verdict> Meeting::agree_within(double seconds, const Call& call) {
  if (is_finalized())
    throw Failure(WINDROW_BAD_STATE, -1, call.name + " after MPI has been finalized");
  if (!settle(seconds))
    return std::nullopt;
  const int64_t number = number_of(key_of(call));
  const int64_t none = std::numeric_limits<int64_t>::max();
  auto words = std::make_unique<Words>();
  words->call = call;
  // Who has a problem, the first and the last file that is abandoned, and the smallest and largest call: one minimum
  // for all.
  words->mine = {call.abandon           ? rank_ - size_
                 : call.problem.empty() ? size_
                                        : rank_,
                 call.abandon ? call.file : none, call.abandon ? -call.file : none, number, -number};
  words->all = words->mine;
  if (size_ > 1) {
    // Not MPI_Allreduce, since a rank that does not wait for ever must meet those that do.
    check_mpi(MPI_Iallreduce(words->mine.data(), words->all.data(), static_cast<int>(words->mine.size()), MPI_INT64_T,
                             MPI_MIN, comm_, &words->request),
              call.name.c_str());
    if (!ends(&words->request, seconds)) {
      pending_ = std::move(words);
      return std::nullopt;
    }
  }
  return verdict_of(*words);
}

bool Meeting::settle(double seconds) {
  if (pending_ == nullptr)
    return true;
  if (!ends(&pending_->request, seconds))
    return false;
  const std::unique_ptr<Words> words = std::move(pending_);
  (void)verdict_of(*words);
  return true;
}

Verdict Meeting::verdict_of(const Words& words) {
  const auto& all = words.all;
  Verdict verdict;
  if (all[0] < size_) {
    verdict.abandoned = all[0] < 0;
    verdict.rank = static_cast<int>(verdict.abandoned ? all[0] + size_ : all[0]);
    verdict.message = from_rank(verdict.rank, words.call.problem) + " (rank " + std::to_string(verdict.rank);
    // A file with the calls on it is gone; of another file this one has to be told.
    if (verdict.abandoned) {
      const std::string left = discard(all[1], -all[2]);
      if (words.call.file < all[1] || words.call.file > -all[2])
        verdict.message += ", which has left " + left;
    }
    verdict.message += ")";
  } else if (all[3] != -all[4]) {
    verdict.message = difference(words.call, verdict.rank);
  }
  return verdict;
}

std::string Meeting::key_of(const Call& call) const {
  if (call.file == 0)
    return call.name + "\n";
  // The number tells apart a file that is open twice.
  return call.name + "\n\"" + files_.at(call.file).path + "\", the file number " + std::to_string(call.file);
}

// Collective, with the ranks in different calls. The lowest rank that is in another than rank 0, and what to say.
std::string Meeting::difference(const Call& call, int& culprit) const {
  const std::string mine = key_of(call);
  const std::string key = from_rank(0, mine);
  const int other = mine == key ? size_ : rank_;
  check_mpi(MPI_Allreduce(&other, &culprit, 1, MPI_INT, MPI_MIN, comm_), call.name.c_str());
  const Named first = named(key);
  const Named second = named(from_rank(culprit, mine));
  const auto told = [&](const Named& one) {
    if (first.file == second.file || one.file.empty())
      return one.call;
    const std::string path = one.file.substr(0, one.file.rfind(", the file number"));
    const bool is_twice = first.file.starts_with(path + ",") && second.file.starts_with(path + ",");
    return one.call + " of " + (is_twice ? one.file : path);
  };
  return "the ranks are in different calls: rank 0 in " + told(first) + ", rank " + std::to_string(culprit) + " in " +
         told(second) + " (rank " + std::to_string(culprit) + ")";
}

// Collective. Ranks that abandon different files at once lose those between, too: then all have the same ones.
std::string Meeting::discard(int64_t first, int64_t last) {
  std::string names;
  for (auto file = files_.lower_bound(first); file != files_.end() && file->first <= last;) {
    const Open open = file->second;
    names += (names.empty() ? "\"" : ", \"") + open.path + "\"";
    ++file;  // it removes itself
    open.discard();
  }
  return names;
}

int64_t Meeting::add(const std::string& path, std::function<void()> discard) {
  files_[++opened_] = {path, std::move(discard)};
  return opened_;
}

void Meeting::remove(int64_t file) {
  files_.erase(file);
  free_unused();
}

void Meeting::lose_owner() {
  has_owner_ = false;
  if (size_ > 1)
    --meetings;
  free_unused();
}

void Meeting::free_unused() {
  if (has_owner_ || !files_.empty() || size_ == 1 || comm_ == MPI_COMM_NULL || is_finalized())
    return;
  MPI_Comm_free(&comm_);
}

std::string Meeting::from_rank(int root, const std::string& text) const {
  int length = static_cast<int>(text.size());
  check_mpi(MPI_Bcast(&length, 1, MPI_INT, root, comm_), "MPI_Bcast");
  std::string result = rank_ == root ? text : std::string(static_cast<size_t>(length), ' ');
  check_mpi(MPI_Bcast(result.data(), length, MPI_CHAR, root, comm_), "MPI_Bcast");
  return result;
}

std::string Meeting::first(const std::string& text) {
  raise(agree({.name = "first"}));
  const int mine = text.empty() ? size_ : rank_;
  int lowest = mine;
  check_mpi(MPI_Allreduce(&mine, &lowest, 1, MPI_INT, MPI_MIN, comm_), "MPI_Allreduce");
  return lowest == size_ ? "" : from_rank(lowest, text);
}

bool Meeting::any(bool mine) {
  raise(agree({.name = "any"}));
  const int local = mine ? 1 : 0;
  int all = local;
  check_mpi(MPI_Allreduce(&local, &all, 1, MPI_INT, MPI_MAX, comm_), "MPI_Allreduce");
  return all != 0;
}

std::pair<int64_t, int64_t> Meeting::place(int64_t count) {
  raise(agree({.name = "place"}));
  int64_t up_to_here = count;
  int64_t all = count;
  check_mpi(MPI_Scan(&count, &up_to_here, 1, MPI_INT64_T, MPI_SUM, comm_), "MPI_Scan");
  check_mpi(MPI_Allreduce(&count, &all, 1, MPI_INT64_T, MPI_SUM, comm_), "MPI_Allreduce");
  return {up_to_here - count, all};
}

}  // namespace windrow_python
