// SPDX-License-Identifier: BSD-3-Clause
// windrow copy: reads a batch of slices into the ranks' buffers, writes it while the next is read, and so on.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <set>

#include "base/units.hpp"
#include "base/utf8.hpp"
#include "cli/commands.hpp"
#include "cli/contents.hpp"
#include "cli/growth.hpp"
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

// Where the subfiles of a file are; empty when it has none.
fs::path folder_of_set(const windrow::File& file, const std::string& path) {
  const char* first = windrow_subfile_name(file.get(), 0);
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return first == nullptr || error ? fs::path() : real.parent_path() / fs::path(first).parent_path();
}

// For rank 0: whether OUT would take away what IN is read from: as one of its subfiles, or because a file that is replaced takes its subfiles along.
std::string problem_with_sets(const windrow::File& file, const std::string& input, const std::string& output) {
  std::error_code error;
  const fs::path out = fs::weakly_canonical(output, error);
  if (error) return "";
  const fs::path own = folder_of_set(file, input), home = fs::canonical(input, error).parent_path();
  if (!own.empty() && fs::equivalent(out.parent_path(), own, error) && !error) return fmt::format("\"{}\" lies among the subfiles of \"{}\"", output, input);
  const std::string head = out.filename().string() + ".subfiles-";
  const auto may_go = [&](const fs::path& folder) { return folder.filename().string().starts_with(head) && folder.parent_path() == out.parent_path(); };
  if (!fs::exists(out, error) || (!may_go(own) && !may_go(home))) return "";
  fs::path replaced;
  try {
    windrow::File old = windrow::File::open(MPI_COMM_SELF, output, windrow::Mode::read);
    replaced = folder_of_set(old, output);
    old.close();
  } catch (const windrow::Error&) {  // no set: it takes nothing along
    return "";
  }
  if (replaced.empty() || (replaced != own && replaced != home)) return "";
  return fmt::format("\"{}\" is a file of the set of \"{}\", whose subfiles would go when it is replaced", input, output);
}

void require_none(const World& world, const std::vector<std::string>& unsupported, const std::string& input) {
  if (unsupported.empty()) return;
  for (const std::string& line : unsupported) print_error_line(world, "cannot copy " + line);
  throw Failure(k_exit_unsupported, fmt::format("\"{}\" has {} that cannot be copied yet; nothing was written", input,
                                                windrow::counted(unsupported.size(), "part")));
}

// All that is no variable's bytes, made again in the output before data moves: what it cannot hold, such as a name or a large
// attribute, is found at once.
class Definitions {
 public:
  struct Ways {
    bool keeps_chunks = false;  // what is chunked stays so, where the output's format has chunks
    bool is_netcdf = false;     // classic: all that grows has one length, and a fill value is an attribute
  };
  Definitions(const windrow::File& input, windrow::File& output, const Growth& growth, Ways ways)
      : input_(input), output_(output), growth_(growth), ways_(ways) {}

  void define(const Contents& contents) {
    for (int group = 1; group < contents.groups; ++group) {
      const std::string& path = contents.objects[static_cast<size_t>(group)];
      attempt(path, [&] { output_.define_group(path); });
    }
    for (const Item& item : contents.items) numbers_.push_back(define_variable(item.variable));
    for (const int variable : contents.wholes) wholes_.push_back(define_variable(variable));
    const std::set<std::string> growing = growing_dimensions(contents);
    for (const auto& [path, length] : contents.dimensions)
      if (!growing.contains(path)) attempt(path, [&] { output_.define_dimension(path, length); });
    for (const auto& [path, target] : contents.links) attempt(path, [&] { output_.define_link(path, target); });
    for (const std::string& object : contents.objects)
      if (!refused_objects_.contains(object)) copy_attributes(object);
    for (const bool grows : {true, false})  // first those by which a dimension is made without a limit
      for (size_t i = 0; i < contents.items.size(); ++i)
        if (numbers_[i] >= 0 && (output_.variable(numbers_[i]).extendible != 0) == grows) copy_dimension_names(contents.items[i].variable, numbers_[i]);
    for (size_t i = 0; i < contents.wholes.size(); ++i) copy_dimension_names(contents.wholes[i], wholes_[i]);
  }
  const std::vector<int>& numbers() const noexcept { return numbers_; }  // of the items, in the output
  const std::vector<int>& wholes() const noexcept { return wholes_; }    // the same of Contents::wholes
  const std::vector<std::string>& refused() const noexcept { return refused_; }  // "path: reason"

 private:
  // Of a variable of netCDF classic, where all that grows has as many records.
  bool gets_longer(int variable) const {
    return input_.variable(variable).extendible != 0 && input_.shape(variable).front() < (growth_.is_main(variable) ? growth_.main_length() : growth_.length(variable));
  }
  // Those along which something grows in the output: they are made, without a limit, when that is named.
  std::set<std::string> growing_dimensions(const Contents& contents) const {
    std::set<std::string> growing;
    for (size_t i = 0; i < contents.items.size(); ++i) {
      const int from = contents.items[i].variable, to = numbers_[i];
      if (to < 0 || output_.variable(to).extendible == 0) continue;
      growing.insert(growth_.name_of(from));
    }
    return growing;
  }
  // How netCDF-4 keeps what netCDF classic has a place for in its header.
  static bool is_netcdf4s_own(const std::string& name) {
    return name == "_Netcdf4Dimid" || name == "_Netcdf4Coordinates" || name == "_NCProperties" || name == "_nc3_strict";
  }
  // What a subfile that is opened by itself shows of the map that it belongs to: a copy of it does not.
  static bool is_of_a_subfile(const std::string& name) {
    return name == "windrow_set" || name == "windrow_subfile" || name == "windrow_subfiles" || name == "windrow_map_checksum" || name == "windrow_split" ||
           name.starts_with("windrow_split_");
  }
  bool has_attribute(const std::string& object, const std::string& name) const {
    for (int i = 0; i < windrow_attribute_count(input_.get(), object.c_str()); ++i)
      if (name == attribute_of(input_, object, i).name) return true;
    return false;
  }
  // What the output refuses is the same on every rank, and the next definition goes on from there.
  template <class Define>
  bool attempt(const std::string& what, Define&& define) {
    try {
      define();
      return true;
    } catch (const windrow::Error& error) {
      if (error.code() != WINDROW_BAD_ARGUMENT && error.code() != WINDROW_UNSUPPORTED) throw;
      refused_.push_back(what + ": " + error.what());
      refused_objects_.insert(what);
      return false;
    }
  }
  int define_variable(int variable) {
    const windrow_variable_info info = input_.variable(variable);
    windrow::Options options;
    options.set("byte_order", info.big_endian != 0 ? "big" : "little");
    if (info.type == WINDROW_TEXT) options.set("text_characters", info.text_characters).set("text_padding", info.text_padding);
    if (info.type == WINDROW_TEXT || info.type == WINDROW_OPAQUE) options.set("element_bytes", std::to_string(info.element_bytes));
    options.set("opaque_tag", info.opaque_tag).set("enumeration", info.enumeration);
    options.set("null_space", info.is_null != 0 ? "true" : "false");
    // In netCDF classic it is an attribute, by which readers take values for missing. Where the input has none it is there only if something is missing.
    if (!ways_.is_netcdf || has_attribute(info.path, "_FillValue") || gets_longer(variable)) options.set("fill_value", info.fill_value);
    int number = -1;
    if (ways_.keeps_chunks && info.chunked != 0 && define_chunked(variable, options, number)) return number;
    if (info.extendible != 0 && define_growing(variable, options, number)) return number;
    std::vector<int64_t> shape = input_.shape(variable);
    if (info.extendible != 0) shape.front() = growth_.length(variable);
    attempt(info.path, [&] { number = output_.define_variable(info.path, info.type, shape, options); });
    return number;
  }
  // Where the output has none that grow, or others grow along another dimension than this one and there is one only, it is made without.
  bool define_growing(int variable, windrow::Options& options, int& number) {
    const windrow_variable_info info = input_.variable(variable);
    std::vector<int64_t> shape = input_.shape(variable);
    if (ways_.is_netcdf && !growth_.is_main(variable)) return false;
    if (ways_.is_netcdf) shape.front() = growth_.main_length();
    try {
      options.set("chunks", "auto").set("extendible", "true");
      number = output_.define_variable(info.path, info.type, shape, options);
      return true;
    } catch (const windrow::Error& error) {
      if (error.code() != WINDROW_UNSUPPORTED && error.code() != WINDROW_BAD_ARGUMENT) throw;
      options.set("chunks", "none").set("extendible", "false");
      return false;
    }
  }
  // One that is named through another variable's dimension may have its own name by now.
  void copy_dimension_names(int from, int to) {
    std::vector<std::string> names = input_.dimension_names(from);
    if (to < 0 || names == output_.dimension_names(to)) return;
    if (const std::string path = output_.variable(to).extendible != 0 ? growth_.name_of(from) : ""; !path.empty()) names.front() = path;
    attempt(std::string(input_.variable(from).path) + ", dimensions", [&] { output_.name_dimensions(to, names); });
  }
  // Where the output has neither chunks nor the filter, the variable is made without.
  bool define_chunked(int variable, windrow::Options& options, int& number) {
    const windrow_variable_info info = input_.variable(variable);
    options.set("chunks", fmt::format("{}", fmt::join(info.chunk, info.chunk + info.ndims, "x")));
    options.set("extendible", info.extendible != 0 ? "true" : "false");
    options.set("filters", *info.filters != '\0' ? info.filters : "none");
    try {
      number = output_.define_variable(info.path, info.type, input_.shape(variable), options);
      return true;
    } catch (const windrow::Error& error) {
      if (error.code() != WINDROW_UNSUPPORTED) throw;
      options.set("chunks", "none").set("filters", "none").set("extendible", "false");
      return false;
    }
  }
  void copy_attributes(const std::string& object) {
    for (int i = 0; i < windrow_attribute_count(input_.get(), object.c_str()); ++i) {
      const std::string name = attribute_of(input_, object, i).name;
      if (is_of_a_subfile(name) || (ways_.is_netcdf && is_netcdf4s_own(name))) continue;
      attempt(object + ", attribute " + name, [&] { output_.copy_attribute(object, input_, object, name); });
    }
  }

  const windrow::File& input_;
  windrow::File& output_;
  const Growth& growth_;
  Ways ways_;
  std::vector<int> numbers_, wholes_;
  std::vector<std::string> refused_;
  std::set<std::string> refused_objects_;
};

// By what the format is chosen by.
bool is_netcdf(const Arguments& arguments) {
  std::string format = arguments.format;
  for (const std::string& pair : arguments.settings.pairs)
    if (pair.starts_with("format=") && format.empty()) format = pair.substr(7);
  if (!format.empty() && format != "auto") return format == "netcdf";
  return windrow::has_ending(arguments.output, ".nc") || windrow::has_ending(arguments.output, ".cdf");
}

struct Copied {
  Totals reading, writing;
  std::string reading_plan, writing_plan;  // of the largest batch
  int64_t bytes = 0;
  double seconds = 0;
};

// Which items have one byte order in both files.
std::vector<bool> same_order(const windrow::File& input, const std::vector<Item>& items, const windrow::File& output, const std::vector<int>& numbers) {
  std::vector<bool> same;
  for (size_t i = 0; i < items.size(); ++i)
    same.push_back(input.variable(items[i].variable).big_endian == output.variable(numbers[i]).big_endian);
  return same;
}

std::vector<std::vector<int64_t>> shapes_of(const windrow::File& output, const std::vector<int>& numbers) {
  std::vector<std::vector<int64_t>> shapes;
  for (const int number : numbers) shapes.push_back(output.shape(number));
  return shapes;
}

void copy_data(const World& world, const Arguments& arguments, const Contents& contents, windrow::File& input,
               windrow::File& output, Copied& copied) {
  const bool asked = std::any_of(arguments.settings.pairs.begin(), arguments.settings.pairs.end(), [](const std::string& pair) {
    return pair.starts_with("chunks=") || pair.starts_with("filters=");
  });
  const Growth growth(input, contents);
  Definitions definitions(input, output, growth, {.keeps_chunks = !asked, .is_netcdf = is_netcdf(arguments)});
  definitions.define(contents);
  require_none(world, definitions.refused(), arguments.input);
  for (size_t i = 0; i < contents.wholes.size(); ++i) {
    const windrow_variable_info info = input.variable(contents.wholes[i]);
    if (info.is_null == 0) output.put_texts(definitions.wholes()[i], input.texts(contents.wholes[i]));
  }
  Transfer transfer(world, contents.items, arguments.settings.buffer_bytes, 2);
  transfer.keep_order(same_order(input, contents.items, output, definitions.numbers()));
  transfer.write_into(shapes_of(output, definitions.numbers()));
  Progress progress("copy", contents.bytes, shows_bar(arguments, world.rank));
  Slicer slices = transfer.slicer();
  const bool explains = arguments.explain || arguments.json, counts = arguments.json || !arguments.quiet;
  int64_t largest = 0, under_way = 0;
  const auto end_write = [&] {
    if (under_way == 0) return;
    transfer.end_write();
    if (counts) copied.writing.add(output);
    if (explains && under_way == largest) copied.writing_plan = output.explain(arguments.json ? "json" : "text");
    copied.bytes += under_way;
    progress.advance(under_way);
  };
  // While one batch goes out the next is read.
  for (Batch batch = slices.next(); !batch.empty(); batch = slices.next()) {
    transfer.read(input, batch);
    if (counts) copied.reading.add(input);
    end_write();
    under_way = transfer.bytes(batch);
    if (explains && under_way > largest) {
      largest = under_way;
      copied.reading_plan = input.explain(arguments.json ? "json" : "text");
    }
    transfer.begin_write(output, batch, definitions.numbers());
  }
  end_write();
}

// Everything between create and close: on an error the unfinished output is taken away again.
void fill(const World& world, const Arguments& arguments, const Contents& contents, windrow::File& input,
          windrow::File& output, Copied& copied) {
  try {
    copy_data(world, arguments, contents, input, output, copied);
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
                      {"variables", contents.items.size() + contents.wholes.size()},
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
  print_line(world, fmt::format("copied {}, {}, {}, {} in {} ({}/s; read {}, write {})",
                                windrow::counted(contents.items.size() + contents.wholes.size(), "variable"), windrow::counted(contents.groups, "group"), windrow::counted(contents.attributes, "attribute"), bytes_text(copied.bytes),
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
    require_on_rank_0(world, [&] {
      const std::string problem = problem_with_output(arguments.input, arguments.output);
      return problem.empty() ? problem_with_sets(input, arguments.input, arguments.output) : problem;
    });
    const Contents contents = contents_of(input);
    require_none(world, contents.unsupported, arguments.input);
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
