// SPDX-License-Identifier: BSD-3-Clause
// windrow references: writes a reference file for readers of Zarr.
#include <fmt/format.h>

#include <filesystem>
#include <sstream>

#include "cli/commands.hpp"
#include "cli/inputs.hpp"

namespace cli {

int references(const World& world, const Arguments& arguments) {
  const windrow::Options options;
  windrow::File file = open_to_read(world, arguments.input, options, k_exit_mistake);
  const char* left_out = "";
  const char* output = arguments.output.empty() ? nullptr : arguments.output.c_str();
  if (const int code = windrow_write_references(file.get(), output, arguments.prefix.c_str(), &left_out);
      code != WINDROW_OK) {
    const std::string message = windrow_error_message();
    file.discard();
    throw Failure(code == WINDROW_NOT_FOUND || code == WINDROW_NO_PERMISSION || code == WINDROW_BAD_ARGUMENT
                      ? k_exit_mistake
                      : k_exit_failed,
                  message);
  }
  std::vector<std::string> lines;
  std::istringstream text(left_out);
  for (std::string line; std::getline(text, line);)
    lines.push_back(one_line(line));
  file.close();
  for (const std::string& line : lines)
    print_error_line(world, "omitted: " + line);
  std::error_code unknown;
  const bool is_link =
      // the output is in the folder of the files that it refers to
      std::filesystem::is_symlink(arguments.input, unknown);
  const std::string file_name =
      is_link ? std::filesystem::canonical(arguments.input, unknown).string() : arguments.input;
  if (!arguments.quiet)
    print_line(world,
               fmt::format("wrote {}", arguments.output.empty() ? file_name + ".kerchunk.json" : arguments.output));
  return lines.empty() ? k_exit_ok : k_exit_unsupported;
}

}  // namespace cli
