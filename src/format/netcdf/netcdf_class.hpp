// SPDX-License-Identifier: BSD-3-Clause
// The format netCDF classic on rank 0. The catalog is the intended state of the file. lay_out() makes a header from it.
// After take_layout() the next flush writes that header. netcdf_format.cpp reads and writes a file; definitions.cpp
// defines objects.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "format/check.hpp"
#include "format/format.hpp"
#include "format/netcdf/dimensions.hpp"
#include "format/netcdf/header.hpp"
#include "format/netcdf/places.hpp"

namespace windrow {

class NetcdfFormat final : public Format {
 public:
  NetcdfFormat(std::string path, FormatMode mode, const FormatOptions& options, std::unique_ptr<Store> file)
      : path_(std::move(path)),
        mode_(mode),
        options_(options),
        file_(std::move(file)),
        is_temporary_file_(mode == FormatMode::create) {
    catalog_.groups.push_back({.path = "/", .attributes = {}});
  }
  Status read();

  Status define_group(const std::string& path) override;
  Result<Placement> define_variable(const VariableDefinition& definition) override;
  Status undefine(const std::string& path, int64_t records) override;
  bool can_split() const noexcept override { return true; }
  Status define_split(const VariableDefinition& definition, std::span<const Part> parts) override;
  Status put_attribute(const std::string& object, const Attribute& attribute) override;
  Status delete_attribute(const std::string& object, const std::string& name) override;
  Status define_link(const SoftLink& link) override;
  Status define_dimension(const Dimension& dimension) override;
  Status name_dimensions(const std::string& variable, const std::vector<std::string>& dimensions) override;
  Result<std::vector<std::string>> read_texts(const std::string& path) override;
  Status write_texts(const std::string& path, const std::vector<std::string>& texts) override;
  Result<Catalog> catalog() override;
  Status extend(const std::string& path, std::span<const int64_t> shape) override;
  FormatTraits traits() const noexcept override {
    return {.places_late = true, .grows_as_one = true, .big_endian = true, .names_dimensions = true};
  }
  Status add_format_metadata(std::vector<Variable>& variables) override;
  Status cut(int64_t records) override;
  Result<Layout> lay_out() override;
  Status write_anew(std::unique_ptr<Store> file) override;
  void take_layout() noexcept override;
  void take_name(std::string) noexcept override { is_temporary_file_ = false; }
  void drop_changes() noexcept override { changed_ = false; }
  bool is_interrupted() const noexcept override { return is_interrupted_; }
  Status flush() override;
  Status close() override;

 private:
  Status writable(const char* what, const std::string& path) const;
  Status definable(const char* what, const std::string& path) const;
  int highest_version() const noexcept;
  Status check_type(ObjectName object, NetcdfType type) const;
  Status check_new(const VariableDefinition& definition);
  Status check_places();
  Result<int64_t> records_with(const VariableDefinition& definition) const;
  Status enter_new(Variable variable, int64_t records);
  Status enter_new(std::vector<Attribute>& attributes, Attribute attribute);
  Status name_coordinate(const std::string& path, int64_t length, bool is_unlimited);
  Status enter(const NetcdfContents& contents);
  Status enter_dimensions(const std::vector<NetcdfDimension>& dimensions);
  Status enter_variables(const NetcdfContents& contents);
  Placement place_in(const NetcdfPlaces& places, size_t number) const noexcept;
  Variable* find(const std::string& path);
  std::vector<Attribute>* find_attributes(const std::string& object);
  Result<NetcdfContents> contents() const;
  Status check_length(int64_t records, int64_t file_bytes);
  Status check_whole(const NetcdfPlaces& next);
  Status write_header_to(Store& file, bool is_temporary_file);
  void set_records(int64_t records);

  std::string path_;
  FormatMode mode_;
  FormatOptions options_;
  std::unique_ptr<Store> file_, rewritten_;  // null when closed; of the rewritten file
  Catalog catalog_;
  NetcdfDimensions dimensions_;
  std::unordered_map<std::string, size_t> numbers_;  // numbers of the variables, by path
  std::set<std::string> split_;                      // paths of split variables
  bool has_unsupported_ = false;                     // when the file was opened
  int64_t records_ = 0, stored_records_ = 0;         // intended, and in the header of the file
  NetcdfSum sum_;                                    // sum over the variables
  int64_t most_header_bytes_ = 1024;                 // upper bound of the size of the header
  NetcdfPlaces places_, next_;                       // in effect, and of the rewritten file
  int64_t missing_until_ = 0;       // intended end of an opened file that is shorter than its header states; else 0
  bool changed_ = false;            // the header of the file is outdated
  bool is_temporary_file_ = false;  // no other program has the file
  bool is_interrupted_ = false;     // it was when it was opened
};

}  // namespace windrow
