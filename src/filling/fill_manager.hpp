// SPDX-License-Identifier: BSD-3-Clause
// FillManager: writes the fill values of contiguous variables, so that elements that nobody writes hold them. Chunks
// are filled as they are encoded. The first batch that writes a variable fills it: its aggregators complete their
// windows, so that each byte is written once. Where there are no windows, and before a read, a sync or the close, all
// ranks write the whole variable.
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

// Whether nothing was written to any of these contiguous variables (bits), and no fill value was either.
bool are_never_written(const Catalog& catalog, const WriteState& write_state,
                       std::span<const int64_t> variables) noexcept;

class FillManager {
 public:
  // What it needs of an open file. References must outlive it.
  struct Parts {
    const Comm& comm;
    AddressSpace space;
    WriteState& write_state;
    DataFile& file;
    const StorageLayout* layout;  // nullptr: the file has no stripes
    Publication& publication;     // a new file that cannot be filled is not published
    bool grows_as_one = false;    // records of all variables lie interleaved: FormatTraits
  };
  explicit FillManager(const Parts& parts) noexcept : parts_(parts) {}

  // Collective. Before a batch moves. Afterwards `fill` is what the sink of the batch needs to complete its windows.
  // `forecast`: gets the requests that filling makes.
  Status fill_before(const BatchSummary& summary, const PreparedPlan& prepared, bool reading, WindowFill& fill,
                     PlanForecast& forecast) const;
  // Collective. The same forecast; nothing is written.
  Status forecast(const BatchSummary& summary, const PreparedPlan& prepared, bool reading,
                  PlanForecast& forecast) const;
  // Collective. Fills all variables that nobody has written yet. They stay unfilled after an error.
  Status fill_rest() const;

  // Interleaved records are filled before a flush moves data, unless the flush writes all bytes of the new ones.
  bool has_unfilled_records(size_t variable) const noexcept;
  bool any_unfilled_records() const noexcept;
  // Collective. `written`: [variables] how many bytes of its unfilled records this rank is about to write; becomes the
  // sum of all ranks.
  Status fill_records(Status local, std::span<int64_t> written) const;

  // Whether the bytes of all ranks are all bytes of the variables.
  bool is_whole(const BatchSummary& summary) const noexcept;
  // Whether a writer that sieves variables which were never written need not read the holes between its pieces: they
  // are zeros. Nobody else may write into its domain, and no request may extend from one variable to another, over
  // bytes that may be anything. If so `map` gets the variables' bytes; it is empty otherwise.
  bool knows_holes(const PreparedPlan& prepared, std::span<const int64_t> variables, FillMap& map) const;

 private:
  // How the variables that a batch is the first to write are filled.
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
  // visit(i) for the variables among `variables` without their fill value.
  template <class Visit>
  void for_each_unfilled(std::span<const int64_t> variables, Visit&& visit) const;

  const Parts parts_;
};

}  // namespace windrow
