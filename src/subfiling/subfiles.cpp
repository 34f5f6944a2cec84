// SPDX-License-Identifier: BSD-3-Clause
#include "subfiling/subfiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <set>

#include "base/checked.hpp"
#include "base/utf8.hpp"
#include "format/check.hpp"
#include "storage/file_system.hpp"
#include "storage/publish.hpp"
#include "storage/system_error.hpp"
#include "subfiling/map_attributes.hpp"

namespace windrow {

using namespace map;

bool is_plain_name(std::string_view name) noexcept {
  constexpr size_t k_longest = 255;
  if (name.empty() || name.size() > k_longest || name == "." || name == ".." || !is_utf8(name))
    return false;
  return std::none_of(name.begin(), name.end(),
                      [](char each) { return each == '/' || static_cast<unsigned char>(each) < ' '; });
}

std::string make_identity() {
  std::random_device source;
  std::string text;
  for (int i = 0; i < 4; ++i)
    text += fmt::format("{:08x}", source());
  for (const size_t at : {8u, 13u, 18u, 23u})
    text.insert(at, 1, '-');
  return text;
}

std::string folder_name(std::string_view base_name, std::string_view identity) {
  constexpr size_t k_longest = 200;
  size_t end = std::min(base_name.size(), k_longest);
  while (end > 1 && end < base_name.size() && (static_cast<unsigned char>(base_name[end]) & 0xc0) == 0x80)
    --end;
  return fmt::format("{}.subfiles-{}", base_name.substr(0, end), identity.substr(0, 8));
}

Result<Chunking> SplitVariable::chunking(int64_t part) const {
  Chunking made;
  if (!is_chunked())
    return made;
  const Box box = split.box(part);
  for (size_t i = 0; i < chunk.size(); ++i)
    made.shape.push_back(grows && i == 0 ? chunk[i] : std::min(chunk[i], box.count[i]));
  const auto elements = checked_product(made.shape);
  const auto bytes = elements ? checked_multiply(*elements, element_bytes) : std::nullopt;
  if (!bytes)
    return Status(Code::bad_argument, "a chunk exceeds the maximum size");
  auto parsed = parse_filters(filters, element_bytes, *bytes);
  if (!parsed.ok())
    return parsed.status();
  made.filters = std::move(parsed).value();
  return made;
}

std::vector<int64_t> SplitVariable::common_chunk() const {
  std::vector<int64_t> common = chunk;
  for (size_t i = 0; i < chunk.size(); ++i) {
    if (grows && i == 0)
      continue;  // it is not split
    const auto& ranges = split.bounds()[i];
    common[i] = std::min(chunk[i], ranges[1]);
    for (size_t range = 1; range < ranges.size(); ++range) {
      const bool begins_a_chunk = ranges[range - 1] % common[i] == 0;
      if (!begins_a_chunk || std::min(chunk[i], ranges[range] - ranges[range - 1]) != common[i])
        return {};
    }
  }
  return common;
}

const SplitVariable* Subfiles::find(int variable) const noexcept {
  const auto found = variables_.find(variable);
  return found == variables_.end() ? nullptr : &found->second;
}

int64_t Subfiles::used() const noexcept {
  int64_t used = 0;
  for (const auto& [number, variable] : variables_)
    used = std::max(used, variable.split.parts());
  return used;
}

bool Subfiles::fit_line(const Catalog& catalog, int64_t unit) {
  int64_t longest = end_of(catalog.variables);
  bool grows = false, chunked = false;
  for (const auto& [number, variable] : variables_) {
    grows = grows || variable.grows;
    chunked = chunked || variable.is_chunked();
    for (int64_t part = 0; part < variable.split.parts(); ++part)
      if (variable.has_place(part))
        longest = std::max(
            longest, variable.offsets[static_cast<size_t>(part)] + variable.length(part, variable.records).value_or(0));
  }
  int64_t room = FileLine::room_for(longest, unit);
  // The places of chunks are unknown.
  if (chunked)
    room = std::max(room, round_down(longest_file() / 2, unit));
  if (room <= line_.room)
    return false;
  // Includes records to come: plans refer to an address space, and another one needs another plan.
  if (grows)
    room = std::max(room, std::min(round_down(longest_file(), unit), FileLine::room_for(4 * longest, unit)));
  line_.room = room;
  return true;
}

// If a format has no memory for the name, it continues with the file that it has open.
void Subfiles::move_to(std::string folder) noexcept {
  names_.folder = std::move(folder);
  for (auto& [number, format] : formats_)
    (void)guard([&, number = number] {
      format->take_name(names_.path(number));
      return Status();
    });
}

// Closes subfiles if as many are open as may be. A close publishes an index. So a published subfile stays open while
// the bytes of its chunks may be missing.
Status Subfiles::limit_open(FormatMode mode) {
  constexpr size_t k_most_open = 32;
  const size_t most = files_kept_open(k_most_open);
  for (auto at = formats_.begin(); at != formats_.end() && formats_.size() >= most;) {
    if (!base_path_.empty() && at->second->is_placing()) {
      ++at;
      continue;
    }
    if (Status status = mode == FormatMode::read ? Status() : refuse_others(); !status.ok())
      return status;
    Status status = mode == FormatMode::read ? Status() : finish_format(at->first, *at->second);
    status.update(at->second->close());
    at = formats_.erase(at);
    lost_.update(status);
    if (!status.ok())
      return status;
  }
  return {};
}

Result<Format*> Subfiles::format(int64_t number, FormatMode mode) {
  if (const auto found = formats_.find(number); found != formats_.end())
    return found->second.get();
  if (Status status = limit_open(mode); !status.ok())
    return status;
  made_.resize(static_cast<size_t>(count()));
  uint8_t& made = made_[static_cast<size_t>(number)];
  const bool is_new = mode != FormatMode::read && made == 0 && number >= found_;
  const FormatMode first = is_new ? FormatMode::create : mode == FormatMode::create ? FormatMode::update : mode;
  if (Status status = is_new || mode == FormatMode::read ? Status() : check_name(number); !status.ok())
    return status;
  auto opened = open_format(format_, names_.path(number), first, options_.format);
  if (!opened.ok())
    return opened.status();
  if (is_new)
    set_file_number(number, file_number(names_.path(number)));
  made = is_new ? 1 : made;
  ++opens_;
  Format* format = formats_.emplace(number, std::move(opened).value()).first->second.get();
  if (Status status = is_new ? sign(*format, number) : Status(); !status.ok())
    return status;
  return format;
}

Status Subfiles::check_name(int64_t number) {
  const uint64_t known = file_number_of(number);
  if (known == 0 || file_number(names_.path(number)) == known)
    return {};
  if (const auto open = formats_.find(number); open != formats_.end())
    open->second->drop_changes();
  return replaced_by_others(names_.path(number));
}

void Subfiles::drop(int64_t number) {
  if (static_cast<size_t>(number) >= made_.size() || made_[static_cast<size_t>(number)] == 0)
    return;
  if (const auto open = formats_.find(number); open != formats_.end()) {
    (void)open->second->close();
    formats_.erase(open);
  }
  std::vector<std::string> files = format_sidecars(format_, names_.path(number));
  files.push_back(names_.path(number));
  (void)remove_files(files);
  made_[static_cast<size_t>(number)] = 0;
  set_file_number(number, 0);
}

Status Subfiles::finish_formats() {
  Status status;
  for (auto& [number, format] : formats_)
    status.update(finish_format(number, *format));
  return status;
}

Status Subfiles::close_formats() {
  Status status = lost_;
  for (auto& [number, format] : formats_)
    status.update(format->close());
  formats_.clear();
  return status;
}

void Subfiles::drop_formats() noexcept {
  for (auto& [number, format] : formats_) {
    format->drop_changes();
    (void)guard([&] { return format->close(); });
  }
  formats_.clear();
}

Status Subfiles::refuse_others() const {
  return base_path_.empty() ? Status() : refuse_others_at(format_, base_path_, base_number_, options_.format.durable);
}

Status Subfiles::flush_formats() {
  Status status = lost_;
  for (auto& [number, format] : formats_)
    status.update(format->flush());
  return status;
}

Status Subfiles::put_sum(Format& format, const std::string& path, const Sum& sum) const {
  return format.put_attribute(path, numbers(k_element_sum, sum));
}

Status Subfiles::drop_sum(Format& format, const std::string& path) const {
  Status status = format.delete_attribute(path, std::string(k_element_sum));
  return status.code() == Code::not_found ? Status{} : status;
}

Result<std::map<int, Subfiles::PartSum>> Subfiles::sums(int64_t number_in_set, const Catalog& base) {
  std::unique_ptr<Format> own;
  const auto open = formats_.find(number_in_set);
  if (open == formats_.end()) {
    auto opened = open_format(format_, names_.path(number_in_set), FormatMode::read, {});
    if (!opened.ok())
      return opened.status();
    own = std::move(opened).value();
  }
  auto read = own ? own->catalog() : open->second->catalog();
  if (own)
    (void)own->close();
  if (!read.ok())
    return read.status();
  std::map<int, PartSum> found;
  for (const Variable& part : read.value().variables) {
    const auto values = numbers_of(part.attributes, k_element_sum);
    if (values.size() != std::tuple_size_v<Sum>)
      continue;
    for (const auto& [variable, split] : variables_)
      if (base.variables[static_cast<size_t>(variable)].path == part.path)
        found[variable] = {{values[0], values[1]}, split.grows && !part.shape.empty() ? part.shape[0] : 1};
  }
  return found;
}

Status Subfiles::remove_unknown(int64_t number_in_set, Format& format) {
  const auto found = unknown_.find(number_in_set);
  if (found == unknown_.end())
    return {};
  for (size_t i = found->second.size(); i > 0; --i)
    if (Status status = format.undefine(found->second[i - 1], records());
        !status.ok() && status.code() != Code::not_found)
      return status;
  unknown_.erase(found);
  return {};
}

bool Subfiles::has_own_folder() const {
  std::error_code unknown;
  const auto kind = std::filesystem::symlink_status(names_.folder, unknown).type();
  return kind == std::filesystem::file_type::directory || kind == std::filesystem::file_type::not_found ||
         kind == std::filesystem::file_type::none;
}

std::vector<std::string> Subfiles::unexpected_files() const {
  if (!has_own_folder())
    return {};
  constexpr size_t k_most_told = 100;
  std::set<std::string> expected;
  for (int64_t number_in_set = 0; number_in_set < count(); ++number_in_set) {
    const std::string path = names_.path(number_in_set);
    expected.insert(std::filesystem::path(path).filename().string());
    for (const std::string& sidecar : format_sidecars(format_, path))
      expected.insert(std::filesystem::path(sidecar).filename().string());
  }
  std::vector<std::string> lines;
  std::error_code failed, error;
  const std::filesystem::directory_iterator entries(names_.folder, failed);
  for (const auto& entry : entries) {
    const std::string name = entry.path().filename().string();
    if (expected.contains(name) || is_temporary(name) || name == k_replaced_mark || lines.size() == k_most_told)
      continue;
    std::string what = "is not a file of its set";
    if (entry.is_regular_file(error)) {
      auto opened = open_format(format_, entry.path().string(), FormatMode::read, {});
      auto read = opened.ok() ? opened.value()->catalog() : Result<Catalog>(opened.status());
      if (read.ok() && word_of(read.value().groups.front().attributes, k_set) == identity_)
        what = fmt::format("is a subfile of the set under another name: number {}",
                           number_of(read.value().groups.front().attributes, k_number).value_or(-1));
      else if (read.ok() && !word_of(read.value().groups.front().attributes, k_set).empty())
        what = "belongs to another set of files";
    }
    lines.push_back(fmt::format("\"{}/{}\" {}", readable(folder_), readable(name), what));
  }
  if (failed && failed != std::errc::no_such_file_or_directory)
    lines.push_back(fmt::format("\"{}\" cannot be listed: {}", readable(folder_), text_of_errno(failed.value())));
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace windrow
