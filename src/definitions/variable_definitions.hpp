// SPDX-License-Identifier: BSD-3-Clause
// VariableDefinitions: one collective definition of several variables. All ranks call check(), reserve(), compare() and
// make(), in this order. Between compare() and make() the caller makes the parts of split variables. The object is made
// for one definition.
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
  // All references must outlive this object. Variables that are made move from `definitions` into the metadata.
  VariableDefinitions(const DefineProtocol::Parts& parts, WriteState& write_state,
                      std::span<VariableDefinition> definitions)
      : parts_(parts), write_state_(write_state), definitions_(definitions) {
    made_.fill(std::numeric_limits<int64_t>::min());
  }

  // Local. Checks the definitions, and prepares the change of the metadata.
  Status check();
  // Local. Allocates the memory that entering the change needs. May throw std::bad_alloc.
  void reserve() { parts_.metadata.reserve(added_); }
  // Collective, agreed. Compares the definitions of all ranks. After an error nothing was made, and make() is not
  // called. `at_once`: rank 0 makes the variables within this agreement if they are few. It is the same on all ranks
  // whose `local` is OK.
  Status compare(Status local, bool at_once);
  // Collective, agreed. Makes the variables that compare() has not made. After an error the first variables may have
  // been made; all ranks have entered the same ones.
  Status make();

 private:
  static constexpr size_t k_at_once = 16;     // variables in the agreement of compare()
  static constexpr size_t k_a_message = 200;  // variables in one agreement of make(), which then allocates no memory

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
  // Maxima over the ranks: the numbers of SameArguments, the number of variables that rank 0 has made, and the offset
  // and bytes of each.
  std::array<int64_t, 2 + 1 + 2 * k_at_once> made_;
  Status outcome_;  // status of making the variables in compare()
};

}  // namespace windrow
