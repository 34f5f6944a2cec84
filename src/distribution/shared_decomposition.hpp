// SPDX-License-Identifier: BSD-3-Clause
// SharedDecomposition: a decomposition that all ranks have made together. Its creation finds replicated elements and
// chooses their owners, so that the ranks' writes are disjoint with any strategy.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <vector>

#include "base/status.hpp"
#include "comm/comm.hpp"
#include "decomposition/decomposition.hpp"
#include "decomposition/ownership.hpp"
#include "extent/byte_runs.hpp"
#include "extent/chunks.hpp"
#include "extent/pieces.hpp"
#include "extent/split.hpp"
#include "plan/strategy.hpp"

namespace windrow {

inline constexpr Extent k_all_elements{0, INT64_MAX};

struct SparseMessage;

// Parameters of the search for balanced owners.
struct OwnersAsked {
  int64_t imbalance = 0;  // accepted imbalance in per cent; the same on all ranks
  // cost of an interval, in units of 1 / k_weight_of_point of a point (decomposition/balance.hpp); rank 0's value
  // counts
  int64_t interval_weight = 0;
};

class SharedDecomposition {
 public:
  enum class Use {
    reading,
    any
  };

  // Collective; the status is agreed on. `local` is this rank's part, or its error. With Use::reading no owners are
  // found.
  static Result<std::shared_ptr<SharedDecomposition>> make(Comm& comm, Result<Decomposition> local, Use use,
                                                           OwnersAsked asked = {});

  const Decomposition& local() const noexcept { return local_; }
  // Ranks of the communicator that it was made on, which may be freed by now.
  int ranks() const noexcept { return ranks_; }
  int rank() const noexcept { return rank_; }
  // The same on every rank. Unique among the decompositions of these ranks.
  int64_t identity() const noexcept { return identity_; }

  // The owner policy for replicated elements if the strategy of the file requests `asked`.
  OwnerPolicy owner_for(Owner asked) const noexcept;
  bool has_owned_flags() const noexcept { return has_flags_; }
  int64_t holes() const noexcept { return holes_; }  // points that no rank holds
  // Number of ranks with replicated elements; 0: there are none.
  int64_t sharers() const noexcept { return sharers_; }
  bool shares() const noexcept { return shares_elements_; }           // this rank is one of them
  bool is_first_sharer() const noexcept { return is_first_sharer_; }  // this rank is the lowest of them
  bool has_replicas() const noexcept { return has_replicas_; }        // replicated points
  // Whether other ranks write some of the elements that this rank holds.
  bool loses(Owner asked);
  // The elements that this rank writes, in file order; or the error.
  Result<Pieces> written_by(Owner asked);
  // The replicated points that this rank holds, in file order.
  Result<Pieces> replicas();

  // The bytes that this rank reads (all it holds) or writes (what it owns), for elements of `element_bytes`. Cached.
  Result<std::shared_ptr<const ByteRuns>> read_runs(int64_t element_bytes, int64_t long_limit);
  const std::vector<LocalDuplicate>& duplicates() const noexcept { return duplicates_; }
  const Pieces& held() const noexcept { return held_; }
  bool holds_nothing() const noexcept { return held_.empty(); }
  Result<std::shared_ptr<const ByteRuns>> write_runs(OwnerPolicy owner, int64_t element_bytes, int64_t long_limit);

  // The same in the linear space of a variable's chunks.
  struct Line {
    const ChunkGrid& grid;
    int64_t trailing;  // elements of the variable for each element of the decomposition
    int64_t type_bytes;
    // for a decomposition of one row (one index of the first dimension): the row in the first layer of chunks; -1: all
    // rows
    int64_t row = -1;
  };
  Result<std::shared_ptr<const ByteRuns>> read_line(const Line& line);
  Result<std::shared_ptr<const ByteRuns>> write_line(OwnerPolicy owner, const Line& line);

  // The same in the parts of a split variable, relative to the start of each part; only parts with elements of this
  // rank.
  struct Cut {
    const Split& split;
    int64_t trailing;  // as in Line
    int64_t type_bytes;
    int64_t first;  // first element of the variable that the decomposition covers
    int64_t long_limit;
  };
  struct PartRuns {
    int64_t part = 0;
    std::shared_ptr<const ByteRuns> runs;
  };
  Result<std::vector<PartRuns>> read_parts(const Cut& cut) { return parts_of(held_, cut); }
  Result<std::vector<PartRuns>> write_parts(OwnerPolicy owner, const Cut& cut);

 private:
  SharedDecomposition(const Comm& comm, Decomposition local)
      : ranks_(comm.size()), rank_(comm.rank()), local_(std::move(local)) {}
  Status find_owners(Comm& comm);                                                     // collective
  Status refuse_flags(Comm& comm, std::span<const Holding> holdings);                 // collective
  Status share_losses(Comm& comm, Status local, std::span<const SparseMessage> out);  // collective
  Status find_owners_of_points(Comm& comm, const Directory& directory,
                               std::span<const Holding> holdings);                // collective
  Status find_owners_of_elements(Comm& comm, std::span<const Holding> holdings);  // collective
  Status count_sharers(Comm& comm, Status local, bool shares, bool loses);        // collective
  bool loses_any() const noexcept;
  const Pieces& find_share(OwnerPolicy owner);  // what this rank writes
  void forget_lists() noexcept;                 // frees the list of the caller: lists of pieces have the same content
  Result<std::shared_ptr<const ByteRuns>> kept(const Pieces& elements, int64_t element_bytes, int64_t long_limit);

  Result<std::shared_ptr<const ByteRuns>> line_of(const Pieces& elements, const Line& line);
  Result<std::vector<PartRuns>> parts_of(const Pieces& elements, const Cut& cut);

  int ranks_ = 1, rank_ = 0;
  Decomposition local_;
  int64_t identity_ = 0;
  bool has_flags_ = false, has_replicas_ = false;
  OwnersAsked owners_asked_;
  int64_t holes_ = 0;
  int64_t sharers_ = 0;
  bool shares_elements_ = false, is_first_sharer_ = false;
  Pieces held_;                             // all elements that this rank holds
  std::vector<LocalDuplicate> duplicates_;  // elements that this rank holds more than once
  struct Share {
    Pieces lost;   // elements of this rank that others write; usually short or empty
    Pieces owned;  // elements that this rank writes; computed on first use, for the usual policy in advance
    bool is_found = false;
  };
  std::array<Share, k_owner_policies> shares_;         // by owner policy
  std::array<Status, k_owner_policies> owner_status_;  // errors such as a point without an owner; agreed on
  std::map<std::pair<const PieceStore*, int64_t>, std::shared_ptr<const ByteRuns>> bytes_;  // by list and element size
  std::map<std::vector<int64_t>, std::vector<PartRuns>> parts_;  // by list, trailing elements, type, limit and bounds
  std::map<std::vector<int64_t>, std::shared_ptr<const ByteRuns>>
      lines_;  // by list, trailing elements, type, shape and chunk
};

}  // namespace windrow
