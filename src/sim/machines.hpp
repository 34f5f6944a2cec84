// SPDX-License-Identifier: BSD-3-Clause
// The machines of the papers that the library is based on, as machine files. docs/simulation.md says which numbers are
// from the papers, fitted to them, or assumed.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace windrow {

struct NamedMachine {
  std::string_view name;
  std::string_view file;  // text of a machine file
};
std::span<const NamedMachine> known_machines() noexcept;
std::string machine_names();                                       // "franklin, jaguar and ranger"
const NamedMachine* find_machine(std::string_view name) noexcept;  // nullptr: unknown

}  // namespace windrow
