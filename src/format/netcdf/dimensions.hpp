// SPDX-License-Identifier: BSD-3-Clause
// Dimensions of a netCDF classic file: every dimension of every variable has a name there, and one may be unlimited.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "format/format.hpp"
#include "format/netcdf/header.hpp"

namespace windrow {

class NetcdfDimensions {
 public:
  bool has(const std::string& name) const { return lengths_.contains(name); }
  const std::string& unlimited() const noexcept { return unlimited_; }  // "": it has no name yet

  // Adds a dimension whose name the user or an opened file has given. The length of an unlimited one is ignored.
  void add(const std::string& name, int64_t length, bool unlimited);

  using Lengths = std::map<std::string, int64_t, std::less<>>;  // by name
  // The name itself, or with a number appended if a dimension of another length has it: one of these, or of `more`.
  std::string fitting(const std::string& name, int64_t length, const Lengths& more) const;

  // Checks whether a variable's dimensions can have these names (paths in the root), and names them. Code::unsupported:
  // a second unlimited dimension.
  Status name(const Variable& variable, const std::vector<std::string>& paths);

  // All dimensions of a header, with generated names where there are none; `numbers[i]` are those of variable i.
  std::vector<NetcdfDimension> all(const std::vector<Variable>& variables,
                                   std::vector<std::vector<int>>& numbers) const;

 private:
  std::vector<std::string> order_;
  Lengths lengths_;
  std::set<std::string, std::less<>> fixed_;  // used as dimensions of fixed length
  std::string unlimited_;
};

// Name of the additional dimension of text with n bytes per element.
std::string text_dimension(int64_t bytes);

}  // namespace windrow
