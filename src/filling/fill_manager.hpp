// SPDX-License-Identifier: BSD-3-Clause
// FillManager: writes the fill values of contiguous variables into elements that no rank writes. Chunks do not need it:
// they are filled when they are encoded.
//
// Fill values are written as late as possible, so that most bytes are written once. The first batch that writes a
// variable also fills it, by one of these methods:
//
//   by_data     the batch writes every byte of the variables: no fill value is needed
//   in_windows  each aggregator completes its windows with fill values before it writes them
//   whole       all ranks write fill values into the whole variables, before the batch moves
//
// `whole` is used if the plan has no windows, and before a read. A sync and the close fill the variables that remain
// (fill_rest()). Interleaved records are different: fill_records() fills new records before the flush moves data.
//
// The object has no state of its own: WriteState says which variables need their fill value. It is made for one call.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "comm/comm.hpp"
#include "dataio/data_file.hpp"
#include "dataio/fill_map.hpp"
#include "layout/layout.hpp"
#include "plan/forecast.hpp"
#include "planning/batch_summary.hpp"
#include "planning/prepared_plan.hpp"
#include "publication/publication.hpp"
#include "subfiling/address_space.hpp"
#include "subfiling/strided_rows.hpp"
#include "varstate/write_state.hpp"

namespace windrow {

// Whether neither elements nor fill values have been written to any contiguous one of these variables. `variables`: a
// bit for each variable. Pure.
bool are_never_written(const Catalog& catalog, const WriteState& write_state,
                       std::span<const int64_t> variables) noexcept;

class FillManager {
 public:
  // The parts of an open file that filling uses. The caller owns them; they must outlive this object.
  struct Parts {
    const Comm& comm;
    AddressSpace space;
    WriteState& write_state;
    DataFile& file;
    const StorageLayout* layout;  // nullptr if the file has no stripes
    Publication& publication;     // a new file that cannot be filled is not published
  };
  explicit FillManager(const Parts& parts) noexcept : parts_(parts) {}

  // Collective, agreed. Called before a batch moves. With method `whole` it writes the fill values; with `in_windows`
  // it sets `fill`, by which the sink of the batch completes its windows. Adds the requests of filling to `forecast`.
  // Marks the variables as being filled.
  Status fill_before(const BatchSummary& summary, const PreparedPlan& prepared, bool reading, WindowFill& fill,
                     PlanForecast& forecast) const;
  // Collective, agreed. Adds the same requests to `forecast`, and writes nothing.
  Status forecast(const BatchSummary& summary, const PreparedPlan& prepared, bool reading,
                  PlanForecast& forecast) const;
  // Collective, agreed. Fills all variables that have not been written. After an error they remain unfilled, the status
  // names them, and a new file cannot be published any more.
  Status fill_rest() const;

  // Whether a variable, or any, has interleaved records without fill values. Local; the same on all ranks.
  bool has_unfilled_records(size_t variable) const noexcept;
  bool any_unfilled_records() const noexcept;
  // Collective, agreed. Fills the new records of each variable, unless the flush writes all their bytes. `written`: for
  // each variable the bytes of its unfilled records that this rank will write; afterwards the sums over all ranks.
  Status fill_records(Status local, std::span<int64_t> written) const;

  // Whether the ranks together write as many bytes as the contiguous variables of the batch have.
  bool is_whole(const BatchSummary& summary) const noexcept;
  // Whether a writer with access `sieve` knows the bytes in the holes between its pieces, so that it need not read
  // them. They are zeros if the variables have never been written, no other rank writes into its domain, and no request
  // extends from one variable to another. If true, `map` gets the bytes of the variables; otherwise `map` is empty.
  bool knows_holes(const PreparedPlan& prepared, std::span<const int64_t> variables, FillMap& map) const;

 private:
  // How a batch fills the variables that it is the first to write or read: see above.
  enum class Method {
    none,
    by_data,
    in_windows,
    whole
  };

  Method method_of(const BatchSummary& summary, const PreparedPlan& prepared, bool reading) const noexcept;
  Status prepare(const BatchSummary& summary, const PreparedPlan& prepared, Method method, WindowFill& fill,
                 PlanForecast& forecast) const;
  int64_t prepare_windows(const PreparedPlan& prepared, size_t writer, WindowFill& fill) const;
  Status fill_whole(std::span<const int64_t> variables, const FillMap& map) const;
  void add_unfilled(std::span<const int64_t> variables, FillMap& map) const;
  int64_t requests_to_fill(std::span<const int64_t> variables, const FillMap& map) const noexcept;
  std::vector<StridedRows> unfilled_records(size_t variable) const;
  Status write_records(std::span<const int64_t> written) const;
  Extent share_of(int64_t part, Extent bytes, int rank) const;
  // Calls visit(i) for each of `variables` that needs its fill value.
  template <class Visit>
  void for_each_unfilled(std::span<const int64_t> variables, Visit&& visit) const;

  const Parts parts_;
};

}  // namespace windrow
