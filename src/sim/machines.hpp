// SPDX-License-Identifier: BSD-3-Clause
// The machines of the papers that the library stands on, as machine files: what is from the papers, what was fitted to
// them, and what was assumed, docs/simulation.md says.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace windrow {

struct NamedMachine {
  std::string_view name;
  std::string_view file;  // a machine file's text
};
std::span<const NamedMachine> known_machines() noexcept;
std::string machine_names();                                       // "franklin, jaguar and ranger"
const NamedMachine* find_machine(std::string_view name) noexcept;  // nullptr: there is none

}  // namespace windrow
