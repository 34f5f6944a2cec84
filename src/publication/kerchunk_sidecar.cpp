// SPDX-License-Identifier: BSD-3-Clause
#include "publication/kerchunk_sidecar.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <span>

#include "kerchunk/kerchunk.hpp"
#include "publication/text_file.hpp"
#include "storage/store.hpp"

namespace windrow {
namespace {

Result<bool> is_by_windrow(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0)  // needs no descriptor
    return false;
  std::string begin(k_references_begin.size(), '\0');
  auto text = open_store(path, StoreMode::read, {});
  if (text.status().code() == Code::not_found)
    return false;
  if (!text.ok())
    return text.status();
  Status status = text.value()->read_at(0, std::as_writable_bytes(std::span(begin)));
  if (status.code() == Code::bad_file)  // it is shorter
    return false;
  if (!status.ok())
    return status;
  return begin == k_references_begin;
}

}  // namespace

Status KerchunkSidecar::start(const TemporaryFile& file) {
  if (!temporary_.temporary_path.empty())
    return {};
  // The name does not extend that of the temporary file: the text is written after the file has its name, and then
  // another program may use that temporary name.
  auto temporary = start_temporary_file(references_path(file.final_path));
  if (!temporary.ok())
    return temporary.status();
  temporary_ = std::move(temporary).value();
  std::error_code ignored;
  if (!std::filesystem::exists(temporary_.final_path, ignored))  // who can read the file can read the text
    std::filesystem::permissions(temporary_.temporary_path,
                                 std::filesystem::status(file.temporary_path, ignored).permissions(), ignored);
  return {};
}

Status KerchunkSidecar::make(const ReferenceSources& sources) {
  const std::filesystem::path file = is_new_ ? path_ : std::filesystem::canonical(path_).string();
  Catalog described = sources.catalog;
  if (Status status = sources.format.add_format_metadata(described.variables); !status.ok())
    return status;
  auto found =
      find_references({described, sources.subfiles, sources.chunks, sources.format}, file.filename().string(), "");
  if (found.ok())
    text_ = std::move(found.value().text);
  return found.status();
}

Status KerchunkSidecar::withdraw() {
  const std::string old = references_path(path_);
  const Result<bool> is_ours = wanted_ ? Result<bool>(true) : is_by_windrow(old);
  if (!is_ours.ok())
    return is_ours.status();
  return is_ours.value() ? remove_files(std::span(&old, 1)) : Status{};
}

Status KerchunkSidecar::publish(bool durable) {
  if (temporary_.temporary_path.empty()) {
    auto temporary = start_temporary_file(references_path(std::filesystem::canonical(path_).string()));
    if (!temporary.ok())
      return temporary.status();
    temporary_ = std::move(temporary).value();
  }
  Status status = write_text_file(temporary_.temporary_path, text_);
  const Rename rename{temporary_.temporary_path, temporary_.final_path, &temporary_.held};
  bool named = false;
  if (status.ok())
    status = windrow::publish(std::span(&rename, 1), durable, {}, &named);
  if (named)
    temporary_ = {};
  if (!status.ok())
    return {status.code(), fmt::format("\"{}\" is complete, but its references are not: {}", shown_, status.message())};
  text_.clear();
  return {};
}

void KerchunkSidecar::abandon() noexcept {
  if (!temporary_.temporary_path.empty())
    remove_temporary_file(temporary_);
  temporary_ = {};
}

}  // namespace windrow
