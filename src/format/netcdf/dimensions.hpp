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
  const std::string& unlimited() const noexcept { return unlimited_; }  // "": none has a name yet

  // Those that the user, or an opened file, has given names. The length of an unlimited one is not looked at.
  void add(const std::string& name, int64_t length, bool unlimited);

  // The name itself, or with a number where it is a dimension of another length.
  std::string fitting(const std::string& name, int64_t length) const;

  // Whether a variable's dimensions can be called so, paths of the root's; and then takes them. Code::unsupported: a
  // second unlimited one.
  Status name(const Variable& variable, const std::vector<std::string>& paths);

  // All that a header has, names made up where there are none; `numbers[i]` are those of variable i.
  std::vector<NetcdfDimension> all(const std::vector<Variable>& variables,
                                   std::vector<std::vector<int>>& numbers) const;

 private:
  std::vector<std::string> order_;
  std::map<std::string, int64_t, std::less<>> lengths_;
  std::set<std::string, std::less<>> fixed_;  // that variables have as one of fixed length
  std::string unlimited_;
};

// Text of n bytes an element has one dimension more in the file, so called.
std::string text_dimension(int64_t bytes);

}  // namespace windrow
