// SPDX-License-Identifier: BSD-3-Clause
// Variables with text of variable length.
#include <fmt/format.h>

#include <optional>
#include <span>

#include "base/units.hpp"

#include "capi/handles.hpp"

using windrow::counted;

namespace {

bool is_whole(const windrow_file* file, int variable) {
  const auto& variables = file->file->catalog().variables;
  if (variable < 0 || variable >= static_cast<int>(variables.size()))
    return false;
  const windrow::Variable& described = variables[static_cast<size_t>(variable)];
  return windrow::is_moved_whole(described.type, described.details);
}

// `given`: number of texts; none: one per element of the variable.
int put_texts(windrow_file* file, int variable, std::optional<int64_t> given, const char* const* texts) {
  return enter([&]() -> Status {
    if (Status status = check_file(file); !status.ok())
      return status;
    std::vector<std::string> copies;
    Status local = guard([&]() -> Status {
      if (file->file->comm().rank() != 0)
        return {};
      if (!is_whole(file, variable))
        return {};  // reported below, with names
      const int64_t elements = file->file->element_count_of(variable);
      if (given.value_or(elements) != elements) {
        const std::string& path = file->file->catalog().variables[static_cast<size_t>(variable)].path;
        return {Code::bad_argument, fmt::format("put_texts: {} for \"{}\", which has {}", counted(*given, "text"), path,
                                                counted(elements, "element"))};
      }
      if (elements > 0 && texts == nullptr)
        return {Code::bad_argument, fmt::format("put_texts: no list of {} was given", counted(elements, "text"))};
      for (int64_t i = 0; i < elements; ++i) {
        if (texts[i] == nullptr)
          return null_argument("one of the texts");
        copies.emplace_back(texts[i]);
      }
      return {};
    });
    return file->file->put_texts(variable, std::move(copies), std::move(local));
  });
}

}  // namespace

extern "C" {

int windrow_put_texts(windrow_file* file, int variable, const char* const* texts) {
  return put_texts(file, variable, {}, texts);
}

int windrow_put_texts_counted(windrow_file* file, int variable, int64_t count, const char* const* texts) {
  return put_texts(file, variable, count, texts);
}

int windrow_get_texts(windrow_file* file, int variable, const char** texts) {
  return enter([&]() -> Status {
    if (Status status = check_file(file); !status.ok())
      return status;
    Status local = guard([&]() -> Status {
      const bool wanted = is_whole(file, variable) && file->file->element_count_of(variable) > 0;
      return wanted && texts == nullptr ? null_argument("the list of texts") : Status{};
    });
    const auto hand_out = [&](std::span<const std::string> read) {
      for (size_t i = 0; i < read.size(); ++i)
        texts[i] = keep(file, read[i]);
    };
    return file->file->get_texts(variable, hand_out, std::move(local));
  });
}

}  // extern "C"
