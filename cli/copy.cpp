// SPDX-License-Identifier: BSD-3-Clause
// windrow copy: reads a batch of slices into the ranks' buffers, writes it, and so on.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/commands.hpp"
#include "cli/contents.hpp"
#include "cli/progress.hpp"
#include "cli/transfer.hpp"

namespace cli {

namespace {

namespace fs = std::filesystem;

// For rank 0. The two names may differ and still be one file, through symbolic or hard links.
std::string problem_with_output(const std::string& input, const std::string& output) {
  std::error_code error;
  if (output.empty()) return "the name of the output file is empty";
  if (fs::equivalent(input, output, error) && !error)
    return fmt::format("\"{}\" and \"{}\" are the same file", input, output);
  const fs::file_status status = fs::status(output, error);
  if (status.type() == fs::file_type::directory)
    return fmt::format("\"{}\" is a folder; name the file to write", output);
  if (fs::exists(status) && status.type() != fs::file_type::regular)
    return fmt::format("\"{}\" is not a regular file", output);
  return "";
}

void require_all_supported(const World& world, const Contents& contents, const std::string& input) {
  if (contents.unsupported.empty()) return;
  for (const std::string& line : contents.unsupported) print_error_line(world, "cannot copy " + line);
  throw Failure(k_exit_unsupported,
                fmt::format("\"{}\" has {} part{} that cannot be copied yet; nothing was written", input,
                            contents.unsupported.size(), contents.unsupported.size() == 1 ? "" : "s"));
}

// Defines the items in `output`. Returns their numbers there.
std::vector<int> define_variables(const windrow::File& input, windrow::File& output, const std::vector<Item>& items) {
  std::vector<int> numbers;
  for (const Item& item : items) {
    const windrow_variable_info info = input.variable(item.variable);
    windrow::Options options;
    options.set("byte_order", info.big_endian != 0 ? "big" : "little");
    numbers.push_back(output.define_variable(info.path, info.type, item.shape, options));
  }
  return numbers;
}

struct Copied {
  Totals reading, writing;
  std::string reading_plan, writing_plan;  // of the largest batch
  int64_t bytes = 0;
  double seconds = 0;
};

void copy_data(const World& world, const Arguments& arguments, const Contents& contents, windrow::File& input,
               windrow::File& output, Copied& copied) {
  const std::vector<int> numbers = define_variables(input, output, contents.items);
  Transfer transfer(world, contents.items, arguments.settings.buffer_bytes);
  Progress progress("copy", contents.bytes, shows_bar(arguments, world.rank));
  Slicer slices = transfer.slicer();
  int64_t largest = 0;
  for (Batch batch = slices.next(); !batch.empty(); batch = slices.next()) {
    const int64_t bytes = transfer.bytes(batch);
    transfer.read(input, batch);
    transfer.write(output, batch, numbers);
    copied.reading.add(input);
    copied.writing.add(output);
    if ((arguments.explain || arguments.json) && bytes > largest) {
      largest = bytes;
      copied.reading_plan = input.explain(arguments.json ? "json" : "text");
      copied.writing_plan = output.explain(arguments.json ? "json" : "text");
    }
    copied.bytes += bytes;
    progress.advance(bytes);
  }
}

// Everything between create and close: on an error the unfinished output is taken away again.
void fill(const World& world, const Arguments& arguments, const Contents& contents, windrow::File& input,
          windrow::File& output, Copied& copied) {
  try {
    for (int group = 1; group < contents.groups; ++group)
      output.define_group(contents.objects[static_cast<size_t>(group)]);
    copy_data(world, arguments, contents, input, output, copied);
    for (const std::string& object : contents.objects)
      for (int i = 0; i < windrow_attribute_count(input.get(), object.c_str()); ++i)
        output.copy_attribute(object, input, object, attribute_of(input, object, i).name);
  } catch (const windrow::Error& error) {  // on every rank, so that discard() is too
    const Failure failure(k_exit_failed, error.what());
    output.discard();
    throw failure;
  } catch (const Failure&) {
    output.discard();
    throw;
  }
  output.close();
}

void print_result(const World& world, const Arguments& arguments, const Contents& contents, const Copied& copied) {
  if (!world.prints()) return;
  if (arguments.json) {
    using nlohmann::json;
    const auto plan = [](const std::string& text) { return text.empty() ? json(nullptr) : json::parse(text); };
    const json object{{"input", arguments.input},
                      {"output", arguments.output},
                      {"ranks", world.size},
                      {"variables", contents.items.size()},
                      {"groups", contents.groups},
                      {"attributes", contents.attributes},
                      {"bytes", copied.bytes},
                      {"seconds", copied.seconds},
                      {"plan", {{"read", plan(copied.reading_plan)}, {"write", plan(copied.writing_plan)}}},
                      {"report", {{"read", copied.reading.json()}, {"write", copied.writing.json()}}}};
    print_line(world, object.dump(2, ' ', false, json::error_handler_t::replace));
    return;
  }
  if (arguments.explain && !copied.writing_plan.empty())
    print_line(world, "reading:\n" + copied.reading_plan + "\nwriting:\n" + copied.writing_plan);
  if (arguments.quiet) return;
  const double rate = copied.seconds > 0 ? static_cast<double>(copied.bytes) / copied.seconds : 0;
  print_line(world, fmt::format("copied {} variables, {} groups, {} attributes, {} in {} ({}/s; read {}, write {})",
                                contents.items.size(), contents.groups, contents.attributes, bytes_text(copied.bytes),
                                seconds_text(copied.seconds), bytes_text(static_cast<int64_t>(rate)),
                                seconds_text(copied.reading.seconds()), seconds_text(copied.writing.seconds())));
}

}  // namespace

int copy(const World& world, const Arguments& arguments) {
  const double start = MPI_Wtime();
  const windrow::Options reading = options_from(arguments.settings);
  Settings writing_settings = arguments.settings;
  if (!arguments.format.empty()) writing_settings.pairs.push_back("format=" + arguments.format);
  const windrow::Options writing = options_from(writing_settings);

  windrow::File input = open_to_read(world, arguments.input, reading, k_exit_mistake);
  Copied copied;
  try {
    require_on_rank_0(world, [&] { return problem_with_output(arguments.input, arguments.output); });
    const Contents contents = contents_of(input);
    require_all_supported(world, contents, arguments.input);
    windrow::File output = [&] {
      try {
        return windrow::File::create(world.comm, arguments.output, writing);
      } catch (const windrow::Error& error) {
        throw failure_from(error);
      }
    }();
    fill(world, arguments, contents, input, output, copied);
    input.close();
    copied.seconds = MPI_Wtime() - start;
    print_result(world, arguments, contents, copied);
  } catch (const Failure&) {  // on every rank
    if (input.is_open()) input.discard();
    throw;
  }
  return k_exit_ok;
}

}  // namespace cli
