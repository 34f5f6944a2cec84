// SPDX-License-Identifier: BSD-3-Clause
#include "format/raw/raw_format.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "base/units.hpp"
#include "format/check.hpp"
#include "format/raw/raw_class.hpp"
#include "storage/file_system.hpp"
#include "storage/publish.hpp"

namespace windrow {
namespace {

// The sidecar of a file whose name is in capitals has an ending in capitals.
std::string sidecar_path(const std::string& path) {
  std::error_code ignored;
  const bool capitals =
      !std::filesystem::exists(path + ".json", ignored) && std::filesystem::exists(path + ".JSON", ignored);
  return path + (capitals ? ".JSON" : ".json");
}

Result<std::string> text_in(Store& sidecar, const std::string& path) {
  const Result<int64_t> size = sidecar.size();
  if (!size.ok())
    return size.status();
  if (size.value() > k_most_sidecar_bytes)
    return Status(Code::bad_file, fmt::format("\"{}\" has {}; a sidecar has at most {}", path,
                                              counted(size.value(), "byte"), k_most_sidecar_bytes));
  std::string text(static_cast<size_t>(size.value()), '\0');
  if (Status status = sidecar.read_at(0, std::as_writable_bytes(std::span(text))); !status.ok())
    return status;
  return text;
}

Result<std::string> text_of_file(const std::string& path) {
  const Result<std::unique_ptr<Store>> store = open_store(path, StoreMode::read, {});
  return store.ok() ? text_in(*store.value(), path) : store.status();
}

}  // namespace

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
  const Result<std::string> text = text_in(*sidecar_, sidecar_path(path));
  if (!text.ok())
    return text.status();
  const uint64_t number = file_number(data_->descriptor());
  Result<RawSidecar> parsed = parse_sidecar(text.value(), sidecar_path(path), data_bytes.value(), number);
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

// No program reads the sidecar of a temporary yet. That of a published file is replaced atomically, so that it
// describes older variables at any moment.
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
    // Other ranks write to the data file at the same time, up to end_ at most, so growing it to end_ removes nothing.
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
  if (before.status().code() == Code::io || before.status().code() == Code::out_of_memory)
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
