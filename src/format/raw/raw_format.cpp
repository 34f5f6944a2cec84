// SPDX-License-Identifier: BSD-3-Clause
#include "format/raw/raw_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <unordered_map>
#include <unordered_set>

#include "base/checked.hpp"
#include "base/units.hpp"
#include "format/check.hpp"
#include "format/raw/sidecar.hpp"
#include "storage/file_system.hpp"
#include "storage/publish.hpp"

namespace windrow {
namespace {

// Alignment of every variable, so that elements of any type are aligned in a mapped file.
constexpr int64_t k_least_alignment = 8;

// The sidecar of a file whose name is in capitals has an ending in capitals.
std::string sidecar_path(const std::string& path) {
  std::error_code ignored;
  const bool capitals =
      !std::filesystem::exists(path + ".json", ignored) && std::filesystem::exists(path + ".JSON", ignored);
  return path + (capitals ? ".JSON" : ".json");
}

Result<std::string> text_of_file(const std::string& path) {
  Result<std::unique_ptr<Store>> store = open_store(path, StoreMode::read, {});
  if (!store.ok())
    return store.status();
  const Result<int64_t> size = store.value()->size();
  if (!size.ok())
    return size.status();
  std::string text(static_cast<size_t>(size.value()), '\0');
  if (Status status = store.value()->read_at(0, std::as_writable_bytes(std::span(text))); !status.ok())
    return status;
  return text;
}

// Reserves space for one more element, so that appending it cannot fail and a call that runs out of memory leaves the
// catalog unchanged.
template <class T>
void make_room(std::vector<T>& list) {
  if (list.size() == list.capacity())
    list.reserve(2 * list.size() + 1);
}

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
  std::unique_ptr<Store> sidecar_;  // of a temporary
  std::string path_;                // of a published file, absolute; "": a temporary
  uint64_t sidecar_number_ = 0;     // file number of the sidecar, 0: unknown
  Catalog catalog_;
  TextLists texts_;
  PartLists parts_;
  std::unordered_map<std::string, Object> objects_;
  std::unordered_set<std::string> dimensions_;  // paths, which variables may share
  int64_t end_ = 0;                             // of the data file
  bool changed_ = false;
};

void RawFormat::start_empty() {
  catalog_.groups.push_back({.path = "/", .attributes = {}});
  remember("/", {Kind::group, 0});
  changed_ = true;
}

Status RawFormat::open_existing(const std::string& path) {
  return guard([&] {
    path_ = std::filesystem::absolute(path).string();
    sidecar_number_ = file_number(sidecar_->descriptor());
    Status status = read_sidecar(path);
    status.update(sidecar_->close());
    sidecar_.reset();
    return status;
  });
}

Status RawFormat::read_sidecar(const std::string& path) {
  const Result<int64_t> data_bytes = data_->size();
  if (!data_bytes.ok())
    return data_bytes.status();
  const Result<int64_t> text_bytes = sidecar_->size();
  if (!text_bytes.ok())
    return text_bytes.status();
  std::string text(static_cast<size_t>(text_bytes.value()), '\0');
  Status status = sidecar_->read_at(0, std::as_writable_bytes(std::span(text)));
  if (!status.ok())
    return status;
  const uint64_t number = file_number(data_->descriptor());
  Result<RawSidecar> parsed = parse_sidecar(text, sidecar_path(path), data_bytes.value(), number);
  if (!parsed.ok())
    return parsed.status();
  catalog_ = std::move(parsed.value().catalog);
  texts_ = std::move(parsed.value().texts);
  parts_ = std::move(parsed.value().parts);
  end_ = parsed.value().bytes;
  changed_ = parsed.value().is_interim && mode_ != FormatMode::read;  // when written it describes this file only
  for (size_t i = 0; i < catalog_.groups.size(); ++i)
    remember(catalog_.groups[i].path, {Kind::group, i});
  for (size_t i = 0; i < catalog_.variables.size(); ++i)
    remember(catalog_.variables[i].path, {Kind::variable, i});
  for (size_t i = 0; i < catalog_.links.size(); ++i)
    remember(catalog_.links[i].path, {Kind::link, i});
  for (const Dimension& dimension : catalog_.dimensions)
    dimensions_.insert(dimension.path);
  return {};
}

Status RawFormat::writable(const char* what, const std::string& path) const {
  if (data_ && mode_ != FormatMode::read)
    return {};
  return {Code::bad_state,
          fmt::format("{} \"{}\": the file is {}", what, path, data_ ? "open for reading only" : "closed")};
}

Status RawFormat::check_free(const std::string& path) const {
  Status status = check_object_path(path);
  if (!status.ok())
    return status;
  if (objects_.count(path) > 0)
    return {Code::exists, fmt::format("\"{}\" exists already", path)};
  return check_parent(path);
}

Status RawFormat::check_parent(const std::string& path) const {
  const auto parent = objects_.find(parent_of(path));
  if (parent != objects_.end() && parent->second.kind == Kind::group)
    return {};
  return {Code::not_found, fmt::format("\"{}\": there is no group \"{}\"", path, parent_of(path))};
}

Status RawFormat::define_group(const std::string& path) {
  return guard([&] {
    Status status = writable("group", path);
    status.update(check_free(path));
    if (!status.ok())
      return status;
    Group group{.path = path, .attributes = {}};
    make_room(catalog_.groups);
    remember(path, {Kind::group, catalog_.groups.size()});
    catalog_.groups.push_back(std::move(group));
    changed_ = true;
    return status;
  });
}

Result<Placement> RawFormat::define_variable(const VariableDefinition& definition) {
  if (!definition.chunking.empty())
    return Status(Code::unsupported,
                  fmt::format("variable \"{}\": the raw format has no chunks and no filters", definition.path));
  Placement placement{.big_endian = definition.big_endian};
  Status status = guard([&] {
    Status valid = writable("variable", definition.path);
    const Result<int64_t> bytes = check_definition(definition);
    valid.update(bytes.status());
    valid.update(check_free(definition.path));
    if (!valid.ok())
      return valid;
    placement.bytes = bytes.value();
    int64_t new_end = end_;
    if (placement.bytes > 0) {
      const bool wants_alignment = placement.bytes >= options_.alignment_threshold;
      const int64_t unit = wants_alignment ? std::max(options_.alignment, k_least_alignment) : k_least_alignment;
      const std::optional<int64_t> rounded = checked_add(end_, unit - 1);
      const std::optional<int64_t> end =
          rounded ? checked_add(round_down(*rounded, unit), placement.bytes) : std::nullopt;
      if (!end)
        return Status(Code::bad_argument, fmt::format("variable \"{}\": the file would be too large", definition.path));
      placement.offset = *end - placement.bytes;
      new_end = *end;
    }
    add_variable(definition, placement);
    end_ = new_end;
    return valid;
  });
  if (!status.ok())
    return status;
  return placement;
}

void RawFormat::add_variable(const VariableDefinition& definition, const Placement& placement) {
  Variable variable;
  variable.path = definition.path;
  variable.type = definition.type;
  variable.shape = definition.shape;
  variable.placement = placement;
  variable.details = definition.details;
  variable.null_space = definition.null_space;
  variable.fill = definition.fill;
  make_room(catalog_.variables);
  remember(definition.path, {Kind::variable, catalog_.variables.size()});
  catalog_.variables.push_back(std::move(variable));
  changed_ = true;
}

Status RawFormat::undefine(const std::string& path, int64_t) {
  return guard([&] {
    if (Status status = writable("definition of", path); !status.ok())
      return status;
    const bool is_variable = !catalog_.variables.empty() && catalog_.variables.back().path == path;
    if (!is_variable && (path == "/" || catalog_.groups.back().path != path))
      return Status(Code::not_found, fmt::format("\"{}\" was not defined last", path));
    const auto lies_below = [&](const std::string& other) {
      return other.size() > path.size() && other.starts_with(path) && other[path.size()] == '/';
    };
    if (std::any_of(objects_.begin(), objects_.end(), [&](const auto& each) { return lies_below(each.first); }))
      return Status(Code::bad_state, fmt::format("group \"{}\" has members", path));
    if (is_variable)
      catalog_.variables.pop_back();
    else
      catalog_.groups.pop_back();
    objects_.erase(path);
    parts_.erase(path);
    end_ = 0;
    for (const Variable& variable : catalog_.variables)
      if (variable.placement.offset >= 0)
        end_ = std::max(end_, variable.placement.offset + variable.placement.bytes);  // not a split variable
    changed_ = true;
    return Status();
  });
}

Status RawFormat::define_split(const VariableDefinition& definition, std::span<const Part> parts) {
  return guard([&] {
    Status status = writable("variable", definition.path);
    const Result<int64_t> bytes = check_definition(definition);
    status.update(bytes.status());
    status.update(check_free(definition.path));
    if (!status.ok())
      return status;
    parts_.insert_or_assign(definition.path, std::vector<Part>(parts.begin(), parts.end()));
    add_variable(definition, {.offset = -1, .bytes = bytes.value(), .big_endian = definition.big_endian});
    return status;
  });
}

Result<std::vector<Part>> RawFormat::parts_of(const std::string& path) {
  std::vector<Part> copy;
  Status status = guard([&] {
    if (const auto found = parts_.find(path); found != parts_.end())
      copy = found->second;
    return Status();
  });
  if (!status.ok())
    return status;
  return copy;
}

Status RawFormat::put_attribute(const std::string& object, const Attribute& attribute) {
  return guard([&] {
    Status status = writable("attribute of", object);
    status.update(check_attribute(object, attribute));
    if (!status.ok())
      return status;
    std::vector<Attribute>* found = find_attributes(object);
    if (!found)
      return Status(Code::not_found, fmt::format("there is no \"{}\"", object));
    std::vector<Attribute>& attributes = *found;
    const auto same = std::find_if(attributes.begin(), attributes.end(),
                                   [&](const Attribute& other) { return other.name == attribute.name; });
    Attribute copy = attribute;
    if (same == attributes.end())
      attributes.push_back(std::move(copy));
    else
      *same = std::move(copy);
    changed_ = true;
    return status;
  });
}

std::vector<Attribute>* RawFormat::find_attributes(const std::string& object) {
  const auto found = objects_.find(object);
  if (found == objects_.end() || (found->second.kind != Kind::group && found->second.kind != Kind::variable))
    return nullptr;
  const size_t number = found->second.number;
  return found->second.kind == Kind::group ? &catalog_.groups[number].attributes
                                           : &catalog_.variables[number].attributes;
}

Status RawFormat::delete_attribute(const std::string& object, const std::string& name) {
  return guard([&] {
    Status status = writable("attribute of", object);
    if (!status.ok())
      return status;
    std::vector<Attribute>* attributes = find_attributes(object);
    if (!attributes)
      return Status(Code::not_found, fmt::format("there is no \"{}\"", object));
    if (std::erase_if(*attributes, [&](const Attribute& attribute) { return attribute.name == name; }) == 0)
      return Status(Code::not_found, fmt::format("\"{}\" has no attribute \"{}\"", object, name));
    changed_ = true;
    return status;
  });
}

Status RawFormat::define_link(const SoftLink& link) {
  return guard([&] {
    Status status = writable("link", link.path);
    status.update(check_link(link));
    if (status.ok())
      status = check_free(link.path);
    if (!status.ok())
      return status;
    SoftLink copy = link;
    make_room(catalog_.links);
    remember(link.path, {Kind::link, catalog_.links.size()});
    catalog_.links.push_back(std::move(copy));
    changed_ = true;
    return status;
  });
}

Status RawFormat::define_dimension(const Dimension& dimension) {
  return guard([&] {
    Status status = writable("dimension", dimension.path);
    status.update(check_dimension(dimension));
    const auto same = objects_.find(dimension.path);
    const bool is_taken =
        dimensions_.contains(dimension.path) || (same != objects_.end() && same->second.kind != Kind::variable);
    if (status.ok() && is_taken)
      status = {Code::exists, fmt::format("\"{}\" exists already", dimension.path)};
    if (status.ok())
      status = check_parent(dimension.path);
    if (!status.ok())
      return status;
    Dimension copy = dimension;
    make_room(catalog_.dimensions);
    dimensions_.insert(dimension.path);
    catalog_.dimensions.push_back(std::move(copy));
    changed_ = true;
    return status;
  });
}

Status RawFormat::name_dimensions(const std::string& variable, const std::vector<std::string>& dimensions) {
  return guard([&] {
    if (Status status = writable("dimensions of", variable); !status.ok())
      return status;
    const auto find = [&](const std::string& path) -> Variable* {
      const auto found = objects_.find(path);
      return found == objects_.end() || found->second.kind != Kind::variable
                 ? nullptr
                 : &catalog_.variables[found->second.number];
    };
    Variable* named = find(variable);
    if (!named)
      return Status(Code::not_found, fmt::format("there is no variable \"{}\"", variable));
    std::vector<std::string> copy = dimensions;
    for (const std::string& path : dimensions) {
      if (path.empty() || path == variable || dimensions_.contains(path))
        continue;
      Variable* coordinate = find(path);
      if (!coordinate)
        return Status(Code::not_found, fmt::format("there is no dimension \"{}\"", path));
      if (coordinate->shape.size() == 1)
        coordinate->dimensions = {path};
    }
    named->dimensions = std::move(copy);
    // A variable with the name of its first dimension names it.
    if (!dimensions.empty() && dimensions.front() == variable && dimensions_.erase(variable) > 0)
      std::erase_if(catalog_.dimensions, [&](const Dimension& each) { return each.path == variable; });
    changed_ = true;
    return Status();
  });
}

Result<const Variable*> RawFormat::find_whole(const std::string& path) const {
  const auto found = objects_.find(path);
  if (found == objects_.end() || found->second.kind != Kind::variable)
    return Status(Code::not_found, fmt::format("there is no variable \"{}\"", path));
  const Variable* variable = &catalog_.variables[found->second.number];
  if (is_moved_whole(variable->type, variable->details))
    return variable;
  return Status(Code::bad_argument, fmt::format("\"{}\" has no texts of variable length", path));
}

Result<std::vector<std::string>> RawFormat::read_texts(const std::string& path) {
  std::vector<std::string> copy;
  Status status = guard([&] {
    const Result<const Variable*> variable = find_whole(path);
    if (!variable.ok())
      return variable.status();
    const int64_t elements = variable.value()->null_space ? 0 : *element_count(variable.value()->shape);
    if (Status fit = check_texts_fit(path, elements, 0); !fit.ok())
      return fit;
    copy.resize(static_cast<size_t>(elements));
    if (const auto written = texts_.find(path); written != texts_.end())
      copy = written->second;
    return Status();
  });
  if (!status.ok())
    return status;
  return copy;
}

Status RawFormat::write_texts(const std::string& path, const std::vector<std::string>& texts) {
  return guard([&] {
    if (Status status = writable("texts of", path); !status.ok())
      return status;
    const Result<const Variable*> variable = find_whole(path);
    if (!variable.ok())
      return variable.status();
    const int64_t elements = variable.value()->null_space ? 0 : *element_count(variable.value()->shape);
    if (std::cmp_not_equal(texts.size(), elements))
      return Status(Code::bad_argument,
                    fmt::format("\"{}\" has {}, not {}", path, counted(elements, "text"), texts.size()));
    std::vector<std::string> copy = texts;
    texts_.insert_or_assign(path, std::move(copy));
    changed_ = true;
    return Status();
  });
}

Result<Catalog> RawFormat::catalog() {
  Catalog copy;
  Status status = guard([&] {
    copy = catalog_;
    return Status();
  });
  if (!status.ok())
    return status;
  return copy;
}

void RawFormat::take_name(std::string path) noexcept {
  path_ = std::move(path);
  (void)guard([&] {
    sidecar_number_ = file_number(sidecar_path(path_));
    return Status();
  });
}

// Nobody reads the sidecar of a temporary yet. That of a published file is replaced atomically, so that it describes
// older variables at any moment.
Status RawFormat::write_sidecar() {
  const Result<std::string> text = sidecar_text(catalog_, texts_, parts_, end_);
  if (!text.ok())
    return text.status();
  if (!path_.empty()) {
    const std::string path = sidecar_path(path_);
    if (sidecar_number_ != 0 && file_number(path) != sidecar_number_)
      return replaced_by_others(path);
    Status status = replace_content(path, std::as_bytes(std::span(text.value())), options_.durable);
    sidecar_number_ = file_number(path);  // also if only its folder could not be synced
    return status;
  }
  Status status = sidecar_->write_at(0, std::as_bytes(std::span(text.value())));
  if (status.ok())
    status = sidecar_->resize(static_cast<int64_t>(text.value().size()));
  return status;
}

Status RawFormat::flush() {
  if (!data_)
    return {Code::bad_state, "flush: the file is closed"};
  if (!changed_)
    return {};
  return guard([&] {
    const Result<int64_t> size = data_->size();
    Status status = size.status();
    // Others write to the data file at the same time, up to end_ at most, so growing it to end_ removes nothing.
    if (status.ok() && size.value() < end_)
      status = data_->resize(end_);
    if (status.ok())
      status = write_sidecar();
    changed_ = changed_ && !status.ok();
    return status;
  });
}

Status RawFormat::close() {
  Status status = flush();
  if (!data_)
    return status;
  status.update(data_->close());
  if (sidecar_)
    status.update(sidecar_->close());
  data_.reset();
  sidecar_.reset();
  return status;
}

}  // namespace

Result<std::unique_ptr<Format>> open_raw_format(const std::string& path, FormatMode mode, const FormatOptions& options,
                                                std::unique_ptr<Store> opened) {
  Result<std::unique_ptr<Store>> data =
      opened ? Result<std::unique_ptr<Store>>(std::move(opened)) : open_store(path, store_mode(mode), {});
  if (!data.ok())
    return data.status();
  Result<std::unique_ptr<Store>> sidecar = open_store(sidecar_path(path), store_mode(mode), {});
  if (!sidecar.ok() && sidecar.status().code() == Code::not_found)  // the file exists, but its contents are unknown
    return Status(Code::bad_file,
                  fmt::format("raw file \"{}\": its sidecar is missing: {}", path, sidecar.status().message()));
  if (!sidecar.ok())
    return sidecar.status();
  auto format = std::make_unique<RawFormat>(mode, options, std::move(data).value(), std::move(sidecar).value());
  Status status;
  if (mode == FormatMode::create)
    format->start_empty();
  else
    status = format->open_existing(path);
  if (!status.ok())
    return status;
  return std::unique_ptr<Format>(std::move(format));
}

Result<bool> recognises_raw(const std::string& path, Store&) {
  const auto text = text_of_file(sidecar_path(path));
  if (!text.ok() && text.status().code() == Code::not_found)
    return false;
  if (!text.ok())
    return text.status();
  return is_sidecar(text.value());
}

std::vector<std::string> raw_sidecars(const std::string& path) {
  return {sidecar_path(path)};
}

Result<std::string> write_interim_sidecar(const TemporaryFile& temporary) {
  const std::string& final_path = temporary.final_path;
  const uint64_t replaced = file_number(final_path), replacing = file_number(temporary.temporary_path);
  if (replaced == 0 || replacing == 0)
    return std::string();
  const auto before = text_of_file(sidecar_path(final_path)),
             after = text_of_file(sidecar_path(temporary.temporary_path));
  if (!after.ok())
    return after.status();
  if (before.status().code() == Code::io)
    return before.status();
  if (!before.ok())
    return std::string();
  const std::string text = interim_sidecar_text({before.value(), replaced}, {after.value(), replacing});
  if (text.empty())
    return text;
  std::string path = temporary.temporary_path + ".interim.json";
  const Rename sidecar{path, sidecar_path(final_path)};
  if (Status status = start_sidecars(temporary, std::span(&sidecar, 1)); !status.ok())
    return status;
  auto store = open_store(path, StoreMode::update, {});
  if (!store.ok())
    return store.status();
  Status status = store.value()->write_at(0, std::as_bytes(std::span(text)));
  status.update(store.value()->close());
  if (status.ok())
    return path;
  (void)remove_files(std::span(&path, 1));
  return status;
}

}  // namespace windrow
