// SPDX-License-Identifier: BSD-3-Clause
#include "format/netcdf/netcdf_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/checked.hpp"
#include "base/units.hpp"
#include "format/check.hpp"
#include "format/netcdf/netcdf_class.hpp"
#include "format/netcdf/signature.hpp"
#include "format/netcdf/split.hpp"
#include "format/netcdf/types.hpp"
#include "storage/overwrite.hpp"

namespace windrow {

Status NetcdfFormat::writable(const char* what, const std::string& path) const {
  if (file_ && mode_ != FormatMode::read)
    return {};
  return {Code::bad_state,
          fmt::format("{} \"{}\": the file is {}", what, path, file_ ? "open for reading only" : "closed")};
}

Result<std::vector<std::string>> NetcdfFormat::read_texts(const std::string& path) {
  if (!find(path))
    return Status(Code::not_found, fmt::format("there is no variable \"{}\"", path));
  return Status(Code::bad_argument,
                fmt::format("\"{}\" is not text of variable length, which netCDF classic does not support", path));
}

Status NetcdfFormat::write_texts(const std::string& path, const std::vector<std::string>&) {
  return read_texts(path).status();
}

Result<Catalog> NetcdfFormat::catalog() {
  if (!file_)
    return Status(Code::bad_state, fmt::format("\"{}\" is closed", path_));
  Catalog copy;
  Status status = guard([&] {
    copy = catalog_;
    return Status();
  });
  if (!status.ok())
    return status;
  return copy;
}

Status NetcdfFormat::add_format_metadata(std::vector<Variable>& variables) {
  return guard([&] {
    std::vector<std::vector<int>> numbers;
    const std::vector<NetcdfDimension> dimensions = dimensions_.all(catalog_.variables, numbers);
    for (Variable& variable : variables) {
      const Variable* stored = find(variable.path);
      if (stored == nullptr)
        continue;
      const auto is_fill = [](const Attribute& each) { return each.name == k_fill_attribute; };
      const auto fill = std::find_if(stored->attributes.begin(), stored->attributes.end(), is_fill);
      if (fill != stored->attributes.end() &&
          std::none_of(variable.attributes.begin(), variable.attributes.end(), is_fill))
        variable.attributes.push_back(*fill);
      const std::vector<int>& own = numbers[static_cast<size_t>(stored - catalog_.variables.data())];
      variable.dimensions.resize(variable.shape.size());
      for (size_t i = 0; i < std::min(own.size(), variable.shape.size());
           ++i)  // a split variable of an opened file is a scalar here, with names
        if (variable.dimensions[i].empty())
          variable.dimensions[i] = "/" + dimensions[static_cast<size_t>(own[i])].name;
    }
    return Status();
  });
}

Status NetcdfFormat::extend(const std::string& path, std::span<const int64_t> shape) {
  return guard([&] {
    if (Status status = writable("variable", path); !status.ok())
      return status;
    const Variable* variable = find(path);
    if (!variable || !variable->extendible)
      return Status(Code::bad_argument, fmt::format("\"{}\" cannot grow", path));
    const int version = places_.version;
    if (version < 5 && shape.front() > INT32_MAX)
      return Status(
          Code::unsupported,
          fmt::format("\"{}\" with {}: version {} of netCDF classic allows at most {}; netcdf_version=5 allows more",
                      path, counted(shape.front(), "record"), version, INT32_MAX));
    if (places_.record_bytes > 0 &&
        shape.front() > (k_most_netcdf_bytes - places_.records_begin) / places_.record_bytes)
      return Status(Code::bad_argument, fmt::format("\"{}\" with {}: the file would have more than {} bytes", path,
                                                    counted(shape.front(), "record"), k_most_netcdf_bytes));
    if (shape.front() > records_)
      set_records(shape.front());
    return Status();
  });
}

// The header first: it must never describe data that is not there.
Status NetcdfFormat::cut(int64_t records) {
  return guard([&] {
    if (Status status = writable("records of", path_); !status.ok())
      return status;
    if (places_.header.empty())
      return Status();
    if (records < stored_records_) {
      if (records_ == stored_records_)
        set_records(records);
      put_records(places_, records);
      if (Status status = file_->write_at(int64_t{k_records_at}, records_in(places_)); !status.ok())
        return status;
      stored_records_ = records;
    }
    const Result<int64_t> size = file_->size();
    if (!size.ok())
      return size.status();
    const int64_t end = end_of(places_, stored_records_);
    return size.value() > end ? file_->resize(end) : Status();
  });
}

Result<NetcdfContents> NetcdfFormat::contents() const {
  NetcdfContents out;
  out.records = records_;
  std::vector<std::vector<int>> numbers;
  out.dimensions = dimensions_.all(catalog_.variables, numbers);
  const auto convert = [](const std::string& object, const std::vector<Attribute>& attributes,
                          std::vector<NetcdfAttribute>& into) {
    for (const Attribute& each : attributes) {
      auto stored = to_netcdf(object, each);
      if (!stored.ok())
        return stored.status();
      into.push_back(std::move(stored).value());
    }
    return Status();
  };
  if (Status status = convert("/", catalog_.groups.front().attributes, out.attributes); !status.ok())
    return status;
  out.variables.reserve(catalog_.variables.size());
  for (size_t i = 0; i < catalog_.variables.size(); ++i) {
    const Variable& variable = catalog_.variables[i];
    const bool split = split_.contains(variable.path);
    out.variables.push_back({.name = variable.path.substr(1),
                             .type = netcdf_type(variable.type),
                             .dimensions = numbers[i],
                             .attributes = {}});
    if (Status status = convert(variable.path, variable.attributes, out.variables.back().attributes); !status.ok())
      return status;
    if (split)
      make_scalar(out.variables.back(), variable.shape.size(), out.dimensions);
  }
  return out;
}

Placement NetcdfFormat::place_in(const NetcdfPlaces& places, size_t number) const noexcept {
  const Variable& variable = catalog_.variables[number];
  if (split_.contains(variable.path))
    return {.offset = -1, .bytes = variable.placement.bytes, .big_endian = true};
  return {.offset = places.offsets[number],
          .bytes = variable.placement.bytes,
          .big_endian = true,
          .stride = variable.extendible ? places.record_bytes : 0};
}

Result<Layout> NetcdfFormat::lay_out() {
  Layout layout;
  Status status = guard([&] {
    if (Status ready = definable("places in", path_); !ready.ok())
      return ready;
    rewritten_.reset();  // left by a change that failed
    auto all = contents();
    if (!all.ok())
      return all.status();
    const int version = std::max(places_.version, options_.netcdf_version);
    auto found = find_places(all.value(), places_, version, highest_version(), options_);
    if (!found.ok())  // the user does not know the temporary name
      return is_temporary_file_
                 ? found.status()
                 : Status(found.status().code(), fmt::format("\"{}\": {}", path_, found.status().message()));
    next_ = std::move(found).value();
    for (size_t i = 0; i < catalog_.variables.size(); ++i) {
      layout.placements.push_back(place_in(next_, i));
    }
    layout.moves = moves(places_, next_);
    return check_whole(next_);
  });
  if (!status.ok())
    return status;
  return layout;
}

// A foreign file may end before variables that were never written, and a truncated file does so too. The missing part
// would become zeros, with the length that the header states.
Status NetcdfFormat::check_whole(const NetcdfPlaces& next) {
  if (missing_until_ == 0 || (next.offsets.size() == places_.offsets.size() && !moves(places_, next)))
    return {};
  const Result<int64_t> size = file_->size();
  if (!size.ok())
    return size.status();
  if (size.value() >= missing_until_)
    return missing_until_ = 0, Status();
  return {Code::bad_file, fmt::format("\"{}\" ends at byte {}, but its variables at byte {}: it is truncated, or they "
                                      "were never written; nothing can be defined before they are written",
                                      path_, size.value(), missing_until_)};
}

Status NetcdfFormat::write_anew(std::unique_ptr<Store> file) {
  return guard([&] {
    rewritten_ = std::move(file);
    std::swap(places_, next_);
    Status status = write_header_to(*rewritten_, true);
    std::swap(places_, next_);
    return status;
  });
}

void NetcdfFormat::take_layout() noexcept {
  if (rewritten_) {
    (void)file_->close();
    file_ = std::move(rewritten_);
    missing_until_ = 0;
  }
  places_ = std::move(next_);
  for (size_t i = 0; i < catalog_.variables.size(); ++i) {
    catalog_.variables[i].placement = place_in(places_, i);
  }
  changed_ = true;
}

// The file gets its full length first: a header must never describe data that is not there, except for what it
// described when the file was opened. Other programs find the old header or the new one.
Status NetcdfFormat::write_header_to(Store& file, bool is_temporary_file) {
  const int64_t end = end_of(places_, records_);
  const bool as_opened = &file == file_.get() && end <= missing_until_;
  const Result<int64_t> size = file.size();
  if (!size.ok())
    return size.status();
  if (size.value() < end && !as_opened)
    if (Status status = file.resize(end); !status.ok())
      return status;
  put_records(places_, records_);
  const std::array header{Overwrite{0, places_.header}};
  Status status = is_temporary_file ? file.write_at(0, places_.header)
                                    : overwrite(file, header, as_opened ? size.value() : std::max(end, size.value()),
                                                options_.durable, k_mark_of_netcdf);
  if (status.ok())
    stored_records_ = records_;
  return status;
}

Status NetcdfFormat::flush() {
  return guard([&] {
    if (!file_)
      return Status(Code::bad_state, fmt::format("\"{}\" is closed", path_));
    if (mode_ == FormatMode::read || !changed_ || places_.header.empty())
      return Status();
    Status status = write_header_to(*file_, is_temporary_file_);
    changed_ = !status.ok();
    return status;
  });
}

Status NetcdfFormat::close() {
  Status status = flush();
  if (!file_)
    return status;
  status.update(file_->close());
  file_.reset();
  return status;
}

Status NetcdfFormat::enter_dimensions(const std::vector<NetcdfDimension>& dimensions) {
  for (const NetcdfDimension& each : dimensions) {
    if (dimensions_.has(each.name))
      return {Code::bad_file, fmt::format("\"{}\": two dimensions have the name \"{}\"", path_, each.name)};
    dimensions_.add(each.name, each.unlimited ? 0 : each.length, each.unlimited);
  }
  return {};
}

Status NetcdfFormat::enter_variables(const NetcdfContents& from) {
  catalog_.variables.reserve(from.variables.size());
  for (const NetcdfVariable& each : from.variables) {
    Variable variable = variable_of(each, from, places_.record_bytes);
    const bool is_split = take_split(variable, from);
    if (is_split)
      split_.insert(variable.path);
    if (!numbers_.emplace(variable.path, catalog_.variables.size()).second)
      return {Code::bad_file, fmt::format("\"{}\": two variables have the name \"{}\"", path_, each.name)};
    has_unsupported_ = has_unsupported_ || (!variable.unsupported.empty() && !is_split);
    catalog_.variables.push_back(std::move(variable));
  }
  return {};
}

// Makes the catalog from an untrusted header. Code::bad_file: two variables or dimensions with one name.
Status NetcdfFormat::enter(const NetcdfContents& from) {
  if (Status status = enter_dimensions(from.dimensions); !status.ok())
    return status;
  for (const NetcdfAttribute& each : from.attributes)
    catalog_.groups.front().attributes.push_back(from_netcdf(each));
  if (Status status = enter_variables(from); !status.ok())
    return status;
  // The number of records is meaningless without variables that have any.
  const bool grows = std::any_of(catalog_.variables.begin(), catalog_.variables.end(),
                                 [](const Variable& each) { return each.extendible; });
  records_ = stored_records_ = grows ? from.records : 0;
  std::set<std::string_view> coordinates;  // names of variables that name their first dimension
  for (const Variable& variable : catalog_.variables)
    if (!variable.dimensions.empty() && variable.dimensions.front() == variable.path)
      coordinates.insert(std::string_view(variable.path).substr(1));
  for (const NetcdfDimension& each : from.dimensions)
    if (!coordinates.contains(each.name))
      catalog_.dimensions.push_back({"/" + each.name, each.length});
  for (const Variable& variable : catalog_.variables)
    if (Status status = dimensions_.name(variable, variable.dimensions); !status.ok())
      return status;
  return {};
}

Status NetcdfFormat::read() {
  const Result<UndoLog> log = find_undo_log(*file_, path_, k_mark_of_netcdf);  // the log of a killed process
  if (!log.ok())
    return log.status();
  is_interrupted_ = log.value().found || log.value().marked;
  if (mode_ == FormatMode::update)
    if (Status status = roll_back(*file_, path_, options_.durable, k_mark_of_netcdf); !status.ok())
      return status;
  const Result<int64_t> file_bytes = file_->size();
  if (!file_bytes.ok())
    return file_bytes.status();
  std::vector<std::byte> bytes;
  DecodedHeader header;
  constexpr int64_t k_first = int64_t{64} << 10;
  for (int64_t some = k_first; header.bytes == 0; some *= 4) {
    bytes.resize(static_cast<size_t>(std::min(some, file_bytes.value())));
    if (Status status = file_->read_at(0, bytes); !status.ok())
      return status;
    apply(log.value(), 0, bytes);
    hide_mark(k_mark_of_netcdf, 0, bytes);
    auto decoded = decode_header(bytes, file_bytes.value(), path_);
    if (!decoded.ok())
      return decoded.status();
    header = std::move(decoded).value();
  }
  bytes.resize(static_cast<size_t>(header.bytes));
  places_ = places_of(header.contents, std::move(bytes));
  most_header_bytes_ += 2 * header.bytes;  // version 5 has longer numbers
  if (options_.netcdf_version != 0 && options_.netcdf_version < places_.version && mode_ == FormatMode::update)
    return {
        Code::bad_argument,
        fmt::format("\"{}\" is of version {} of netCDF classic, and netcdf_version is {}: a copy can have a lower one",
                    path_, places_.version, options_.netcdf_version)};
  if (mode_ == FormatMode::update)
    if (Status status = check_length(header.contents.records, file_bytes.value()); !status.ok())
      return status;
  return enter(header.contents);
}

// Checked before a file is changed. A writer of the number of records has written a part of the last one. A header with
// more records is damaged, or the file is truncated; trusting it would extend the file to the stated length.
Status NetcdfFormat::check_length(int64_t records, int64_t file_bytes) {
  const int64_t last = places_.records_begin + (records - 1) * places_.record_bytes;
  if (records > 0 && places_.record_bytes > 0 && file_bytes <= last)
    return {Code::bad_file, fmt::format("\"{}\" ends at byte {}, but its header has {}, the last beginning at byte {}: "
                                        "it is truncated or damaged, and can be read but not changed",
                                        path_, file_bytes, counted(records, "record"), last)};
  const int64_t end = end_of(places_, records);
  missing_until_ = file_bytes < end ? end : 0;
  return {};
}

Result<std::unique_ptr<Format>> open_netcdf_format(const std::string& path, FormatMode mode,
                                                   const FormatOptions& options, std::unique_ptr<Store> opened) {
  if (!opened) {
    Result<std::unique_ptr<Store>> file = open_store(path, store_mode(mode), {});
    if (!file.ok())
      return file.status();
    opened = std::move(file).value();
  }
  if (mode != FormatMode::create) {
    const Result<bool> is_it = recognises_netcdf(path, *opened);
    if (!is_it.ok())
      return is_it.status();
    if (!is_it.value())
      return Status(Code::bad_file, fmt::format("\"{}\" is not a netCDF classic file", path));
  }
  auto format = std::make_unique<NetcdfFormat>(path, mode, options, std::move(opened));
  if (mode != FormatMode::create)
    if (Status status = format->read(); !status.ok())
      return status;
  return std::unique_ptr<Format>(std::move(format));
}

}  // namespace windrow
