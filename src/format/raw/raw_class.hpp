// SPDX-License-Identifier: BSD-3-Clause
// The format raw on rank 0. raw_format.cpp reads and writes the sidecar; definitions.cpp defines objects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "format/format.hpp"
#include "format/raw/sidecar.hpp"

namespace windrow {

class RawFormat final : public Format {
 public:
  RawFormat(FormatMode mode, const FormatOptions& options, std::unique_ptr<Store> data, std::unique_ptr<Store> sidecar)
      : mode_(mode), options_(options), data_(std::move(data)), sidecar_(std::move(sidecar)) {}

  void start_empty();
  Status open_existing(const std::string& path);

  Status define_group(const std::string& path) override;
  Result<Placement> define_variable(const VariableDefinition& definition) override;
  Status undefine(const std::string& path, int64_t records) override;
  bool can_split() const noexcept override { return true; }
  Status define_split(const VariableDefinition& definition, std::span<const Part> parts) override;
  Result<std::vector<Part>> parts_of(const std::string& path) override;
  Status put_attribute(const std::string& object, const Attribute& attribute) override;
  Status delete_attribute(const std::string& object, const std::string& name) override;
  Status define_link(const SoftLink& link) override;
  Status define_dimension(const Dimension& dimension) override;
  Status name_dimensions(const std::string& variable, const std::vector<std::string>& dimensions) override;
  Result<std::vector<std::string>> read_texts(const std::string& path) override;
  Status write_texts(const std::string& path, const std::vector<std::string>& texts) override;
  Result<Catalog> catalog() override;
  void take_name(std::string path) noexcept override;
  void drop_changes() noexcept override { changed_ = false; }
  Status flush() override;
  Status close() override;

 private:
  enum class Kind {
    group,
    variable,
    link
  };
  struct Object {
    Kind kind = Kind::group;
    size_t number = 0;  // index in its list of the catalog
  };
  Status writable(const char* what, const std::string& path) const;
  Status read_sidecar(const std::string& path);
  Status check_free(const std::string& path) const;  // the name is free, and the parent group exists
  Status check_parent(const std::string& path) const;
  Status write_sidecar();
  void add_variable(const VariableDefinition& definition, const Placement& placement);
  Result<const Variable*> find_whole(const std::string& path) const;   // a variable with text of variable length
  std::vector<Attribute>* find_attributes(const std::string& object);  // null: no group or variable
  void remember(const std::string& path, Object object) { objects_.emplace(path, object); }

  FormatMode mode_;
  FormatOptions options_;
  // Kept open instead of reopened by name, because a temporary is renamed while it is written.
  std::unique_ptr<Store> data_;     // null when closed
  std::unique_ptr<Store> sidecar_;  // sidecar of a temporary file
  std::string path_;                // absolute path of a published file; "" for a temporary file
  uint64_t sidecar_number_ = 0;     // file number of the sidecar, 0: unknown
  Catalog catalog_;
  TextLists texts_;
  PartLists parts_;
  std::unordered_map<std::string, Object> objects_;
  std::unordered_set<std::string> dimensions_;  // paths, which variables may share
  int64_t end_ = 0;                             // end of the data file
  bool changed_ = false;
};

}  // namespace windrow
