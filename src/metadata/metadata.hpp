// SPDX-License-Identifier: BSD-3-Clause
// Metadata: the catalog of an open file with its indexes. Every rank has a copy, and all ranks make the same changes in
// the same order, so the copies stay equal. No call communicates. A change has two steps: a check, which may fail and
// allocates the memory, and the entry of the change, which cannot fail. The ranks agree between the two.
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

// What a definition adds to the catalog. A check makes it, before the ranks agree, so that entering it cannot fail.
struct Additions {
  std::vector<std::string> groups;  // outermost first
  std::map<std::string, int, std::less<>> group_numbers, variables;
};

struct LinkAddition {
  Additions groups;
  SoftLink link;
  std::map<std::string, std::string, std::less<>> target;  // the entry of the index: path and target
};

struct DimensionAdditions {
  Additions groups;
  std::vector<Dimension> dimensions;
  std::map<std::string, int, std::less<>> numbers;  // of these dimensions, by path
  // Variables whose dimensions get names, with the paths of the names. The last is the variable of the call.
  std::vector<std::pair<int, std::vector<std::string>>> named;
};

class Metadata {
 public:
  explicit Metadata(std::string path);  // an empty file with its root group; `path` is for messages

  void take(Catalog catalog);  // sets the catalog of a file that was opened
  void set_traits(const FormatTraits& traits) noexcept { traits_ = traits; }

  const std::string& path() const noexcept { return path_; }
  const Catalog& catalog() const noexcept { return catalog_; }
  const FormatTraits& traits() const noexcept { return traits_; }
  const Variable& variable(int number) const noexcept { return catalog_.variables[static_cast<size_t>(number)]; }
  bool may_grow() const noexcept { return may_grow_; }  // whether a variable can grow, or may have no place yet
  int64_t records() const noexcept;                     // number of records of the longest variable that can grow
  int64_t element_count_of(int variable) const;

  // Look-ups of paths as users write them. All but find_group() follow links.
  Result<int> find_variable(std::string_view path) const;
  const Group* find_group(std::string_view path) const;
  ObjectKind kind_of(const std::string& path) const;
  const std::vector<Attribute>* attributes_of(std::string_view object) const;
  Result<std::string> resolve(const std::string& path) const;  // returns the full path
  // Look-ups of full paths; links are not followed.
  std::optional<int> variable_at(std::string_view path) const noexcept;
  const Dimension* dimension_at(const std::string& path, std::span<const Dimension> added = {}) const;
  // Returns the names of a variable's dimensions; a path if the name alone would mean another dimension.
  std::vector<std::string> dimension_names(const Variable& variable) const;

  // Checks of a definition. They return an error if it is invalid, the same on all ranks with the same arguments. They
  // do not change the content of the catalog, but allocate the memory that entering the change needs.
  Status check_group(const std::string& path, Additions& added);
  Status check_definition(VariableDefinition& definition, Additions& added) const;
  Status check_link(const std::string& path, const std::string& target, LinkAddition& added);
  Status check_dimension(const std::string& path, int64_t length, DimensionAdditions& added);
  Status check_names(int variable, const std::vector<std::string>& names, DimensionAdditions& added);
  Status check_put(const std::string& object);  // for an attribute; `object` is a full path
  // Sets `place` to the full path of the object.
  Status check_delete(const std::string& object, const std::string& name, std::string& place) const;
  Status check_whole(std::string_view verb, int variable) const;  // an error unless it is only moved as a whole
  void reserve(const Additions& added);                           // allocates memory for groups and variables

  void enter_groups(Additions& added) noexcept;
  const Variable& enter_variable(VariableDefinition definition, const Placement& placement) noexcept;
  void enter_index(Additions& added) noexcept;  // of the variables that were entered, with their groups
  void enter_link(LinkAddition& added) noexcept;
  void enter_dimensions(DimensionAdditions& added) noexcept;
  void put_attribute(const std::string& object, Attribute value) noexcept;  // replaces one of this name
  void delete_attribute(const std::string& object, const std::string& name) noexcept;

  void place(int variable, const Placement& placement) noexcept;
  void give_place(int variable, int64_t offset) noexcept;  // for a variable without a place
  void set_content(int variable, std::vector<std::byte> content) noexcept;
  void lengthen(int variable, int64_t records) noexcept;
  // If the format has one number of records for all extendible variables, all become as long as the longest. The
  // variables before number `first` have equal lengths already. Returns the number of bytes that were added.
  int64_t grow_as_one(size_t first) noexcept;

  // The places and lengths of all variables. space() may throw std::bad_alloc. restore() reverts place(), give_place(),
  // lengthen() and grow_as_one().
  struct Space {
    struct Of {
      Placement placement;
      int64_t rows = 0;  // length of the first dimension
      bool is_inline = false;
    };
    std::vector<Of> variables;
    std::vector<int64_t> dimensions;
    int64_t records = 0;
  };
  Space space() const;
  void restore(const Space& space) noexcept;

 private:
  bool is_taken(std::string_view path) const;  // by an object other than a dimension without a variable
  std::string follow(std::string path) const;  // follows soft links, up to a maximum number of them
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
  Dimension* first_dimension_of(
      const Variable& variable) noexcept;  // finds it by name; nullptr if the catalog does not have it

  std::string path_;
  Catalog catalog_;
  FormatTraits traits_;
  std::map<std::string, int, std::less<>> variable_numbers_, group_numbers_, dimension_numbers_;
  std::map<std::string, std::string, std::less<>> link_targets_;  // by path
  int64_t records_ = -1;  // common number of records; -1 if variables may have different numbers
  bool may_grow_ = false;
};

}  // namespace windrow
