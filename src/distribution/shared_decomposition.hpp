// SPDX-License-Identifier: BSD-3-Clause
// SharedDecomposition: a decomposition that all ranks have made together. Elements held twice are found and given to
// one owner when it is made, so that what ranks write is disjoint from then on, whatever the strategy.
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

// What balanced owners of points are looked for with.
struct OwnersAsked {
  int64_t imbalance = 0;  // per cent, that is good enough; the same on all ranks
  int64_t interval_weight =
      0;  // what an interval costs, in parts of k_weight_of_point (decomposition/balance.hpp); rank 0's counts
};

class SharedDecomposition {
 public:
  enum class Use {
    reading,
    any
  };

  // Collective; the status is agreed. `local` is this rank's part or why it is wrong. With Use::reading nobody asks who
  // writes.
  static Result<std::shared_ptr<SharedDecomposition>> make(Comm& comm, Result<Decomposition> local, Use use,
                                                           OwnersAsked asked = {});

  const Decomposition& local() const noexcept { return local_; }
  // Of the communicator that it was made on, which may be gone by now.
  int ranks() const noexcept { return ranks_; }
  int rank() const noexcept { return rank_; }
  // Unlike that of any other on this communicator; the same on every rank.
  int64_t identity() const noexcept {
    return identity_;
  }  // the same on every rank; unlike that of any other of these ranks

  // The owner that writes elements held twice, when the file's strategy asks for `asked`.
  OwnerPolicy owner_for(Owner asked) const noexcept;
  bool has_owned_flags() const noexcept { return has_flags_; }
  int64_t holes() const noexcept { return holes_; }  // points that no rank holds
  // How many ranks hold elements that others hold too; 0: there are no such elements.
  int64_t sharers() const noexcept { return sharers_; }
  bool shares() const noexcept { return shares_elements_; }           // this rank is one of them
  bool is_first_sharer() const noexcept { return is_first_sharer_; }  // the lowest
  bool has_replicas() const noexcept { return has_replicas_; }        // points that several ranks hold
  // Whether others write some of what this rank holds.
  bool loses(Owner asked);
  // What this rank writes, as elements in file order; or why it cannot be told.
  Result<Pieces> written_by(Owner asked);
  // Of the points that this rank holds those that others hold too: as many lists as it may take, in file order each.
  Result<Pieces> replicas();

  // What this rank reads (all it holds), or writes (what it owns), in bytes for elements of `element_bytes`. Kept for
  // the next time.
  Result<std::shared_ptr<const ByteRuns>> read_runs(int64_t element_bytes, int64_t long_limit);
  const std::vector<LocalDuplicate>& duplicates() const noexcept { return duplicates_; }
  const Pieces& held() const noexcept { return held_; }
  bool holds_nothing() const noexcept { return held_.empty(); }
  Result<std::shared_ptr<const ByteRuns>> write_runs(OwnerPolicy owner, int64_t element_bytes, int64_t long_limit);

  // The same in the line of a variable's chunks.
  struct Line {
    const ChunkGrid& grid;
    int64_t trailing;  // elements of the variable that each element of the decomposition stands for
    int64_t type_bytes;
    int64_t row = -1;  // of the first layer of chunks, if the decomposition is of one row (one index of the first
                       // dimension); -1: of all
  };
  Result<std::shared_ptr<const ByteRuns>> read_line(const Line& line);
  Result<std::shared_ptr<const ByteRuns>> write_line(OwnerPolicy owner, const Line& line);

  // The same in the parts of a variable that is split, from each part's first byte; of the parts that this rank has
  // elements of.
  struct Cut {
    const Split& split;
    int64_t trailing;  // as in Line
    int64_t type_bytes;
    int64_t first;  // element of the variable that the decomposition begins at
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
  Status find_owners(Comm& comm);  // collective
  Status find_owners_of_points(Comm& comm, const Directory& directory,
                               std::span<const Holding> holdings);                // collective
  Status find_owners_of_elements(Comm& comm, std::span<const Holding> holdings);  // collective
  Status count_sharers(Comm& comm, Status local, bool shares, bool loses);        // collective
  bool loses_any() const noexcept;
  const Pieces& find_share(OwnerPolicy owner);  // what this rank writes
  void forget_lists() noexcept;                 // of the local part: what the lists of pieces say too
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
  Pieces held_;                             // elements, all that this rank holds
  std::vector<LocalDuplicate> duplicates_;  // of what this rank holds more than once
  struct Share {
    Pieces lost;   // what others write of what this rank holds; mostly short, or nothing
    Pieces owned;  // what this rank writes: found when it is first asked for, of the usual policy beforehand
    bool is_found = false;
  };
  std::array<Share, k_owner_policies> shares_;         // by ownership
  std::array<Status, k_owner_policies> owner_status_;  // e.g. a point that nobody owns; agreed
  std::map<std::pair<const PieceStore*, int64_t>, std::shared_ptr<const ByteRuns>>
      bytes_;                                                    // by list and size of an element
  std::map<std::vector<int64_t>, std::vector<PartRuns>> parts_;  // by list, trailing elements, type, limit and bounds
  std::map<std::vector<int64_t>, std::shared_ptr<const ByteRuns>>
      lines_;  // by list, trailing elements, type, shape and chunk
};

}  // namespace windrow
