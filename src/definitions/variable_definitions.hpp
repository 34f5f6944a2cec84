// SPDX-License-Identifier: BSD-3-Clause
// VariableDefinitions: one collective definition of variables, in steps: check, compare, make. All ranks take the same
// steps. Between compare and make the parts of split variables are made.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "base/function_ref.hpp"
#include "base/status.hpp"
#include "definitions/define_protocol.hpp"
#include "metadata/metadata.hpp"
#include "varstate/write_state.hpp"

namespace windrow {

class VariableDefinitions {
 public:
  // The definitions are entered into the metadata, and empty afterwards. All must outlive it.
  VariableDefinitions(const DefineProtocol::Parts& parts, WriteState& write_state,
                      std::span<VariableDefinition> definitions)
      : parts_(parts), write_state_(write_state), definitions_(definitions) {
    made_.fill(std::numeric_limits<int64_t>::min());
  }

  // Local: what is wrong with the definitions. Prepares what is to be entered.
  Status check();
  // Local: memory to enter them.
  void reserve() { parts_.metadata.reserve(added_); }
  // Collective. An error ends the call on all ranks, and nothing was made. `at_once`: rank 0 makes the variables in
  // this agreement, if they are few; the same on all ranks whose `local` is OK.
  Status compare(Status local, bool at_once);
  // Collective. Makes those that compare() has not made. Those that the format has made are entered on all ranks, also
  // after an error: a prefix of the definitions.
  Status make();

 private:
  static constexpr size_t k_at_once = 16;     // variables in the agreement of compare()
  static constexpr size_t k_a_message = 200;  // in one agreement of make(), which needs no memory of its own

  Status make_some(std::span<VariableDefinition> some, std::span<const std::string> groups);
  Status make_on_root(std::span<const VariableDefinition> some, std::span<const std::string> groups,
                      std::span<int64_t> places) const;
  Result<Placement> make_one_on_root(const VariableDefinition& definition, size_t number) const;
  void enter(std::span<VariableDefinition> made, std::span<const int64_t> places) noexcept;
  std::vector<std::string> describe() const;

  const DefineProtocol::Parts parts_;
  WriteState& write_state_;
  const std::span<VariableDefinition> definitions_;
  Additions added_;
  uint64_t arguments_ = 0;
  // Maxima over the ranks: the numbers of SameArguments; how many variables rank 0 has made, the offset and bytes of
  // each.
  std::array<int64_t, 2 + 1 + 2 * k_at_once> made_;
  Status outcome_;  // of the variables that compare() has made
};

}  // namespace windrow
