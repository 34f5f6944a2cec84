// SPDX-License-Identifier: BSD-3-Clause
// Names of dimensions: HDF5's dimension scales as netCDF-4 uses them. A dimension is named by the variable of its name,
// or by a dataset without data that is marked as a dimension. A variable that has the name of a dimension but is not
// its coordinates is stored under another name.
#pragma once

#include <hdf5.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "format/format.hpp"
#include "format/hdf5/handle.hpp"

namespace windrow {

// Paths of objects by the addresses of their headers, which object references store.
using ObjectPaths = std::map<haddr_t, std::string>;

// The dimension scales of one open file.
class Scales {
 public:
  explicit Scales(hid_t file) noexcept : file_(file) {}

  // The stored path of the object `path`.
  const std::string& stored(const std::string& path) const;
  // The same for a new variable, if a dimension of its name exists.
  const std::string& place_of_new(const std::string& path);
  void forget(const std::string& path) { moved_.erase(path); }  // of a variable that does not exist any more

  // Registers `variable`, the catalog's entry `index`, of a file that is being opened, with all its attributes. True:
  // it is a dimension without a variable.
  bool take(hid_t dataset, haddr_t address, const Variable& variable, size_t index);
  // Called after all take() calls. Gives variables their names and those of their dimensions, and removes the
  // attributes that only encode these. `paths` has all objects, and gets the same names.
  void resolve(Catalog& catalog, ObjectPaths& paths);
  void give_own_names(ObjectPaths& paths) const;

  // As in Format.
  Status define_dimension(const Dimension& dimension);
  Status name_dimensions(const std::string& variable, const std::vector<std::string>& dimensions);
  // Scales list the datasets that use them. Adds missing entries; called before a flush.
  Status write_lists();

 private:
  struct Use {
    hobj_ref_t dataset = 0;
    int dimension = 0;
  };
  struct Scale {
    hobj_ref_t reference = 0;
    int id = -1;                 // netCDF's number of the dimension
    bool has_stored_id = false;  // it is stored in the file
    bool has_variable = false;
    bool in_use = false;  // it is in the list of a variable
    std::vector<Use> unlisted;
  };
  // A dataset of a file that is being opened.
  struct Found {
    size_t index = 0;  // index among the variables
    haddr_t address = HADDR_UNDEF;
    bool is_scale = false;
    std::vector<hobj_ref_t> list;  // DIMENSION_LIST; 0: none
    std::vector<int> ids;          // _Netcdf4Coordinates
  };

  void number_scales();
  void take_own_names(Catalog& catalog, ObjectPaths& paths);
  bool resolve_list(const Found& found, Variable& variable, const ObjectPaths& paths);
  bool resolve_ids(const Found& found, Variable& variable) const;
  Status write_missing_ids();
  Status rename_scale(const std::string& path);
  Status move_back(const std::string& path);
  Status take_place(const std::string& path, Scale& scale);
  Status take_own_place(const std::string& variable, const std::string& first_dimension);
  Status mark(hid_t dataset, const std::string& path, const std::string& name, Scale& scale);
  Result<Scale*> scale_of_variable(const std::string& path);
  Status write_list(hid_t dataset, const std::string& path, const std::vector<Scale*>& scales);
  Status write_ids(hid_t dataset, const std::string& path, const std::vector<Scale*>& scales);

  hid_t file_;
  std::map<std::string, Scale> scales_;  // by stored path
  std::vector<std::string> order_;       // order in which netCDF finds the scales of an opened file
  std::vector<Found> found_;
  std::map<int, std::string> paths_by_id_;    // of an opened file
  std::map<std::string, std::string> moved_;  // paths of variables that are stored under another path: that path
  int next_id_ = 0;
  bool ids_are_sound_ = true, ids_are_whole_ = true;  // scale ids are unique; each scale stores its own
};

}  // namespace windrow
