// SPDX-License-Identifier: BSD-3-Clause
// Names of dimensions, as HDF5's dimension scales the way netCDF-4 has them: a dimension is named by the variable of
// its name, or by a dataset without data that says so of itself. A variable that is called like a dimension and is not
// its coordinates lies under another name in the file.
#pragma once

#include <hdf5.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "format/format.hpp"
#include "format/hdf5/handle.hpp"

namespace windrow {

// Paths of objects by where their headers lie, which is what object references store.
using ObjectPaths = std::map<haddr_t, std::string>;

// The dimension scales of one open file.
class Scales {
 public:
  explicit Scales(hid_t file) noexcept : file_(file) {}

  // Where the object lies that is called `path`.
  const std::string& stored(const std::string& path) const;
  // The same of a variable that is to be made, which a dimension of its name may be there for.
  const std::string& place_of_new(const std::string& path);
  void forget(const std::string& path) { moved_.erase(path); }  // a variable that is not there

  // Of a file that is opened: `variable`, the number `index` among the catalog's, with all its attributes. True: it is
  // a dimension without a variable.
  bool take(hid_t dataset, haddr_t address, const Variable& variable, size_t index);
  // When all have been taken: variables get their own names and those of their dimensions, and lose the attributes that
  // say nothing else. `paths` has all objects, and gets the same names.
  void resolve(Catalog& catalog, ObjectPaths& paths);
  void give_own_names(ObjectPaths& paths) const;

  // As in Format.
  Status define_dimension(const Dimension& dimension);
  Status name_dimensions(const std::string& variable, const std::vector<std::string>& dimensions);
  // Scales list the datasets that they belong to: what is not listed yet is added. Before a flush.
  Status write_lists();

 private:
  struct Use {
    hobj_ref_t dataset = 0;
    int dimension = 0;
  };
  struct Scale {
    hobj_ref_t reference = 0;
    int id = -1;           // netCDF's number of the dimension
    bool says_id = false;  // in the file
    bool has_variable = false;
    bool in_use = false;  // a variable has it in its list
    std::vector<Use> unlisted;
  };
  // A dataset of a file that is opened.
  struct Found {
    size_t index = 0;  // among the variables
    haddr_t address = HADDR_UNDEF;
    bool is_scale = false;
    std::vector<hobj_ref_t> list;  // DIMENSION_LIST; 0: nothing
    std::vector<int> ids;          // _Netcdf4Coordinates
  };

  void number_scales();
  void take_own_names(Catalog& catalog, ObjectPaths& paths);
  bool resolve_list(const Found& found, Variable& variable, const ObjectPaths& paths);
  bool resolve_ids(const Found& found, Variable& variable) const;
  Status write_missing_ids();
  Status move_aside(const std::string& path);
  Status move_back(const std::string& path);
  Status take_place(const std::string& path, Scale& scale);
  Status mark(hid_t dataset, const std::string& path, const std::string& name, Scale& scale);
  Result<Scale*> scale_of_variable(const std::string& path);
  Status write_list(hid_t dataset, const std::string& path, const std::vector<Scale*>& scales);
  Status write_ids(hid_t dataset, const std::string& path, const std::vector<Scale*>& scales);

  hid_t file_;
  std::map<std::string, Scale> scales_;  // by path, which is where each lies
  std::vector<std::string> order_;       // in which netCDF finds those of a file that is opened
  std::vector<Found> found_;
  std::map<int, std::string> paths_by_id_;    // of a file that is opened
  std::map<std::string, std::string> moved_;  // paths of variables that lie under another: that one
  int next_id_ = 0;
  bool ids_are_sound_ = true, ids_are_whole_ = true;  // no two scales have one id; each scale says its own
};

}  // namespace windrow
