// SPDX-License-Identifier: BSD-3-Clause
#include "hints.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace mpiio {
namespace {

std::string value_of(MPI_Info info, const char* key) {
  std::array<char, MPI_MAX_INFO_VAL + 1> value{};
  int is_there = 0;
  if (MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value.data(), &is_there) != MPI_SUCCESS || is_there == 0)
    return {};
  return value.data();
}

bool is_number(const std::string& text) {
  return !text.empty() && text.size() < 18 && text != "0" &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

void take_number(MPI_Info info, const char* key, std::string& number) {
  if (std::string value = value_of(info, key); is_number(value))
    number = std::move(value);
}

}  // namespace

void read_hints(MPI_Info info, Hints& hints) {
  if (info == MPI_INFO_NULL)
    return;
  const std::string wish = value_of(info, "windrow");
  if (!wish.empty())
    hints.is_off = wish == "off" || wish == "disable" || wish == "false";
  if (const std::string value = value_of(info, "romio_cb_write"); !value.empty())
    hints.writes_are_off = value == "disable";
  if (const std::string value = value_of(info, "romio_cb_read"); !value.empty())
    hints.reads_are_off = value == "disable";
  take_number(info, "cb_nodes", hints.writers);
  take_number(info, "cb_buffer_size", hints.buffer);
}

}  // namespace mpiio
