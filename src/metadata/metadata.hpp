// SPDX-License-Identifier: BSD-3-Clause
// Metadata: the catalog of an open file with its indexes. Every rank has a copy; all copies change alike.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "format/format.hpp"

namespace windrow {

// The numbers are those of enum windrow_kind (windrow.h).
enum class ObjectKind : int {
  nothing = 0,
  group = 1,
  variable = 2,
  link = 3,
  other = 4,
  dimension = 5
};

// What a call that defines adds to the catalog. It is made before the ranks agree, so that entering it cannot fail.
struct Additions {
  std::vector<std::string> groups;  // outermost first
  std::map<std::string, int, std::less<>> group_numbers, variables;
};

struct LinkAddition {
  Additions groups;
  SoftLink link;
  std::map<std::string, std::string, std::less<>> target;  // by path: the entry of the index
};

struct DimensionAdditions {
  Additions groups;
  std::vector<Dimension> dimensions;
  std::map<std::string, int, std::less<>> numbers;  // of these
  // Variables with the paths of what their dimensions are named by; the last is the one that the call is for.
  std::vector<std::pair<int, std::vector<std::string>>> named;
};

class Metadata {
 public:
  explicit Metadata(std::string path);  // of an empty file, which has its root group; `path` is for messages

  void take(Catalog catalog);  // of a file that was opened
  void set_traits(const FormatTraits& traits) noexcept { traits_ = traits; }

  const std::string& path() const noexcept { return path_; }
  const Catalog& catalog() const noexcept { return catalog_; }
  const FormatTraits& traits() const noexcept { return traits_; }
  const Variable& variable(int number) const noexcept { return catalog_.variables[static_cast<size_t>(number)]; }
  bool may_grow() const noexcept { return may_grow_; }  // some variable can grow, or may lack a place
  int64_t records() const noexcept;                     // of the longest variable that can grow
  int64_t element_count_of(int variable) const;

  // Look-ups of paths as users write them.
  Result<int> find_variable(std::string_view path) const;
  const Group* find_group(std::string_view path) const noexcept;
  ObjectKind kind_of(const std::string& path) const;
  const std::vector<Attribute>* attributes_of(std::string_view object) const;
  Result<std::string> resolve(const std::string& path) const;  // the full path, links followed
  // Look-ups of full paths; links are not followed.
  std::optional<int> variable_at(std::string_view path) const noexcept;
  const Dimension* dimension_at(const std::string& path, std::span<const Dimension> added = {}) const;
  // Paths where a name would mean another dimension.
  std::vector<std::string> dimension_names(const Variable& variable) const;

  // What is wrong with what a call wants to define; all ranks find the same. The catalog stays as it is, and gets the
  // memory that entering needs.
  Status check_group(const std::string& path, Additions& added);
  Status check_definition(VariableDefinition& definition, Additions& added) const;
  Status check_link(const std::string& path, const std::string& target, LinkAddition& added);
  Status check_dimension(const std::string& path, int64_t length, DimensionAdditions& added);
  Status check_names(int variable, const std::vector<std::string>& names, DimensionAdditions& added);
  Status check_put(const std::string& object);  // of an attribute; `object`: a full path
  // `place`: gets the full path of the object.
  Status check_delete(const std::string& object, const std::string& name, std::string& place) const;
  Status check_whole(std::string_view verb, int variable) const;  // it is one that is moved as a whole
  void reserve(const Additions& added);                           // memory for groups and variables

  void enter_groups(Additions& added) noexcept;
  const Variable& enter_variable(VariableDefinition definition, const Placement& placement) noexcept;
  void enter_index(Additions& added) noexcept;  // of those variables that were entered, with their groups
  void enter_link(LinkAddition& added) noexcept;
  void enter_dimensions(DimensionAdditions& added) noexcept;
  void put_attribute(const std::string& object, Attribute value) noexcept;  // replaces
  void delete_attribute(const std::string& object, const std::string& name) noexcept;

  void place(int variable, const Placement& placement) noexcept;
  void give_place(int variable, int64_t offset) noexcept;  // to one that lacked it
  void set_content(int variable, std::vector<std::byte> content) noexcept;
  void lengthen(int variable, int64_t records) noexcept;
  // Where the format asks for it, all variables become as long as the longest; those before `first` are so already,
  // among themselves. Returns the bytes that were added.
  int64_t grow_as_one(size_t first) noexcept;

 private:
  bool is_taken(std::string_view path) const;  // by anything but a dimension that no variable has the name of
  std::string follow(std::string path) const;  // where soft links lead; a path that they do not end, as it is
  std::vector<Attribute>* find_attributes(std::string_view object) noexcept;
  Status missing_groups(const std::string& path, bool itself, Additions& added) const;
  Status check_namable(int variable, size_t names) const;
  bool grows(const Dimension& dimension) const noexcept;
  bool fits_dimension(const Variable& variable, size_t number, int64_t length) const noexcept;
  Result<bool> names_dimension(const Variable& other, const Variable& variable, size_t number, bool own_first) const;
  Result<bool> can_be_called(const Dimension& dimension, const Variable& variable, size_t number) const;
  Result<bool> is_named_by(const std::string& path, const Variable& variable, size_t number, bool own_first) const;
  Result<std::string> find_dimension(const Variable& variable, size_t number, const std::string& name, bool own_first,
                                     std::vector<Dimension>& added) const;
  void reserve(DimensionAdditions& added);
  void drop_dimension(const std::string& path) noexcept;
  Dimension* first_dimension_of(const Variable& variable) noexcept;  // by name; nullptr: it is none of the catalog's

  std::string path_;
  Catalog catalog_;
  FormatTraits traits_;
  std::map<std::string, int, std::less<>> variable_numbers_, group_numbers_, dimension_numbers_;
  std::map<std::string, std::string, std::less<>> link_targets_;  // by path
  int64_t records_ = -1;  // of all variables that grow as one; -1: they may differ
  bool may_grow_ = false;
};

}  // namespace windrow
