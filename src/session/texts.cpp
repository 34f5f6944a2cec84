// SPDX-License-Identifier: BSD-3-Clause
// Variables that are moved as a whole, through rank 0's format: texts of variable length, and the paths of object
// references.
#include <fmt/format.h>

#include "base/units.hpp"
#include "comm/agree.hpp"
#include "comm/same.hpp"
#include "format/check.hpp"
#include "session/file.hpp"

namespace windrow {
namespace {

// As a catalog, which is what ranks can send each other.
std::vector<std::byte> packed(std::vector<std::string> texts) {
  Catalog sent;
  sent.unsupported = std::move(texts);
  return serialize(sent);
}

}  // namespace

Status File::put_texts(int variable, std::vector<std::string> texts, Status local) {
  const CallScope call(*comm_, Call::put_texts, &identity_);
  if (Status before = end_pending(); !before.ok())
    return before;
  if (local.ok())
    local = guard([&]() -> Status {
      if (Status status = check_writable("put texts"); !status.ok())
        return status;
      if (Status status = metadata_.check_whole("put texts", variable); !status.ok())
        return status;
      int64_t characters = 0;
      for (const std::string& text : texts)
        characters += static_cast<int64_t>(text.size());
      return check_texts_fit(catalog_.variables[static_cast<size_t>(variable)].path, element_count_of(variable),
                             characters);
    });
  if (Status verdict =
          agree_same(*comm_, std::move(local), static_cast<uint64_t>(variable) << 2, "numbers of the variable",
                     [&] { return quoted({catalog_.variables[static_cast<size_t>(variable)].path}); });
      !verdict.ok())
    return verdict;
  local =
      comm_->rank() == 0
          ? guard([&] { return format_->write_texts(catalog_.variables[static_cast<size_t>(variable)].path, texts); })
          : Status{};
  return agree(*comm_, std::move(local));
}

Status File::get_texts(int variable, const std::function<void(std::span<const std::string>)>& take, Status local) {
  const CallScope call(*comm_, Call::get_texts, &identity_);
  if (Status before = end_pending(); !before.ok())
    return before;
  if (local.ok())
    local = guard([&] { return metadata_.check_whole("get texts", variable); });
  if (Status verdict =
          agree_same(*comm_, std::move(local), static_cast<uint64_t>(variable) << 2, "numbers of the variable",
                     [&] { return quoted({catalog_.variables[static_cast<size_t>(variable)].path}); });
      !verdict.ok())
    return verdict;
  const std::string& path = catalog_.variables[static_cast<size_t>(variable)].path;
  std::vector<std::byte> bytes;
  local = Status{};
  if (comm_->rank() == 0)
    local = guard([&]() -> Status {
      auto texts = format_->read_texts(path);
      if (!texts.ok())
        return texts.status();
      // The program has room for as many as it was told of.
      if (const int64_t told = element_count_of(variable); static_cast<int64_t>(texts.value().size()) != told)
        return {Code::bad_file,
                fmt::format("\"{}\": \"{}\" has {} but had {} when the file was opened: another program changed it",
                            path_, path, counted(texts.value().size(), "text"), told)};
      int64_t characters = 0;
      for (const std::string& text : texts.value())
        characters += static_cast<int64_t>(text.size());
      if (Status status = check_texts_fit(path, static_cast<int64_t>(texts.value().size()), characters); !status.ok())
        return status;
      bytes = packed(std::move(texts).value());
      return {};
    });
  local = share_from_root(*comm_, std::move(local), bytes);
  if (local.ok())
    local = guard([&]() -> Status {
      auto texts = deserialize(bytes);
      if (!texts.ok())
        return texts.status();
      take(texts.value().unsupported);
      return {};
    });
  return agree(*comm_, std::move(local));
}

}  // namespace windrow
