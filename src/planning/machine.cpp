// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <utility>

#include "dataio/io_thread.hpp"
#include "decomposition/balance.hpp"
#include "model/defaults.hpp"
#include "model/weigh.hpp"
#include "planning/machine.hpp"
#include "storage/system_error.hpp"

namespace windrow {

Result<std::string> read_machine_file(const std::string& path) {
  // one more than parse_machine() accepts, so that it reports the size
  constexpr size_t k_most = (size_t{1} << 20) + 1;
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return Status{Code::bad_argument, fmt::format("machine file \"{}\": it is a folder", path)};
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    return system_status("open of machine file", path, errno);
  std::string text;
  std::array<char, 16384> part;
  while (stream && text.size() < k_most) {
    stream.read(part.data(), static_cast<std::streamsize>(std::min(part.size(), k_most - text.size())));
    text.append(part.data(), static_cast<size_t>(stream.gcount()));
  }
  if (stream.bad())
    return system_status("read of machine file", path, EIO);
  return text;
}

Result<std::shared_ptr<const Machine>> machine_of(const std::string& text, const std::string& path) {
  auto machine = parse_machine(text, path);
  if (!machine.ok())
    return machine.status();
  return std::make_shared<const Machine>(std::move(machine).value());
}

std::shared_ptr<const Machine> usual_machine(FileSystem kind, int64_t cores) {
  return std::make_shared<const Machine>(default_machine(name_of(kind), cores));
}

Result<int64_t> interval_weight(const Settings& settings) {
  constexpr int64_t k_interval_points = 32;  // typical of mesh boundaries: 4 to 100
  constexpr double k_most = 1 << 24;
  const std::string path = settings.text("machine");
  std::shared_ptr<const Machine> known;
  if (path.empty()) {
    known = usual_machine(FileSystem::unknown, usable_cores());
  } else {
    auto text = read_machine_file(path);
    if (!text.ok())
      return text.status();
    auto parsed = machine_of(text.value(), path);
    if (!parsed.ok())
      return parsed.status();
    known = std::move(parsed).value();
  }
  const int64_t point_bytes = std::min(settings.bytes("point_bytes"), int64_t{1} << 40);
  const WriteWeights weights = weigh_writing(*known, k_interval_points * point_bytes);
  const double points = weights.interval_s / (weights.byte_s * static_cast<double>(point_bytes));
  return static_cast<int64_t>(std::min(k_most, points * static_cast<double>(k_weight_of_point)));
}

}  // namespace windrow
