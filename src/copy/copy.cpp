// SPDX-License-Identifier: BSD-3-Clause
// Reads a batch of slices into the ranks' buffers, and writes it while the next is read.
#include "copy/copy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <filesystem>
#include <set>

#include "base/units.hpp"
#include "copy/contents.hpp"
#include "copy/growth.hpp"
#include "copy/transfer.hpp"

namespace copying {

namespace {

namespace fs = std::filesystem;

// For rank 0. Two names may refer to one file through symbolic or hard links.
std::string problem_with_output(const std::string& input, const std::string& output) {
  std::error_code error;
  if (output.empty())
    return "the name of the output file is empty";
  if (fs::equivalent(input, output, error) && !error)
    return fmt::format("\"{}\" and \"{}\" are the same file", input, output);
  const fs::file_status status = fs::status(output, error);
  if (status.type() == fs::file_type::directory)
    return fmt::format("\"{}\" is a folder; name the file to write", output);
  if (fs::exists(status) && status.type() != fs::file_type::regular)
    return fmt::format("\"{}\" is not a regular file", output);
  return "";
}

// Folder of a file's subfiles; empty: none.
fs::path folder_of_set(const windrow::File& file, const std::string& path) {
  const char* first = windrow_subfile_name(file.get(), 0);
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return first == nullptr || error ? fs::path() : real.parent_path() / fs::path(first).parent_path();
}

// For rank 0: whether OUT would remove files that IN is read from: if it is one of the subfiles, or if replacing a file
// removes its subfiles.
std::string problem_with_sets(const windrow::File& file, const std::string& input, const std::string& output) {
  std::error_code error;
  const fs::path out = fs::weakly_canonical(output, error);
  if (error)
    return "";
  const fs::path own = folder_of_set(file, input), home = fs::canonical(input, error).parent_path();
  if (!own.empty() && fs::equivalent(out.parent_path(), own, error) && !error)
    return fmt::format("\"{}\" lies among the subfiles of \"{}\"", output, input);
  const std::string head = out.filename().string() + ".subfiles-";
  const auto may_go = [&](const fs::path& folder) {
    return folder.filename().string().starts_with(head) && folder.parent_path() == out.parent_path();
  };
  if (!fs::exists(out, error) || (!may_go(own) && !may_go(home)))
    return "";
  fs::path replaced;
  try {
    windrow::File old = windrow::File::open(MPI_COMM_SELF, output, windrow::Mode::read);
    replaced = folder_of_set(old, output);
    old.close();
  } catch (const windrow::Error&) {  // not a set: nothing else is removed
    return "";
  }
  if (replaced.empty() || (replaced != own && replaced != home))
    return "";
  return fmt::format("\"{}\" belongs to the set of \"{}\", whose subfiles would be removed when it is replaced", input,
                     output);
}

void require_none(const std::vector<std::string>& refused, const std::string& source, Outcome& outcome) {
  if (refused.empty())
    return;
  outcome.refused = fmt::format("{}\n", fmt::join(refused, "\n"));
  throw windrow::Error(WINDROW_UNSUPPORTED, -1,
                       fmt::format("\"{}\" has {} that cannot be copied yet; nothing was written", source,
                                   windrow::counted(refused.size(), "part")));
}

// Repeats all metadata in the output before data moves, so that what it cannot hold, such as a name or a large
// attribute, is found at once.
class Definitions {
 public:
  struct Made {
    std::vector<int64_t> shape;
    bool big_endian = false, extendible = false;
  };
  struct Ways {
    bool keeps_chunks = false;  // keeps chunking if the output's format supports it
    // netCDF classic: all extendible variables have one length, and a fill value is an attribute
    bool is_netcdf = false;
    bool has_unlimited = true;  // the output's format supports extendible variables
  };
  Definitions(const windrow::File& input, const Contents& contents, windrow::File& output, const Growth& growth,
              Ways ways)
      : input_(input), contents_(contents), output_(output), growth_(growth), ways_(ways) {}

  void define() {
    for (int group = 1; group < contents_.groups; ++group) {
      const std::string& path = contents_.objects[static_cast<size_t>(group)];
      attempt(path, [&] { output_.define_group(path); });
    }
    // Dimensions first: then a variable that has the name of one but is not its coordinates gets another place.
    const std::set<std::string> unlimited = unlimited_dimensions();
    for (const auto& [path, length] : contents_.dimensions)
      attempt(path, [&] { output_.define_dimension(path, unlimited.contains(path) ? 0 : length); });
    define_variables();
    for (const Link& link : contents_.links)
      attempt(link.path, [&] { output_.define_link(link.path, link.target); });
    for (const std::string& object : contents_.objects)
      if (!refused_objects_.contains(object))
        copy_attributes(object);
    copy_all_dimension_names();
  }
  const std::vector<int>& numbers() const noexcept { return numbers_; }          // indexes of the items in the output
  const std::vector<int>& wholes() const noexcept { return wholes_; }            // the same for Contents::wholes
  const std::vector<std::string>& refused() const noexcept { return refused_; }  // "path: reason"
  // A variable of the output, by its number.
  const Made& made(int variable) const { return made_[static_cast<size_t>(variable)]; }

 private:
  const windrow_variable_info& in(int variable) const { return contents_.variables[static_cast<size_t>(variable)]; }
  // Whether a variable gets more records in netCDF classic, where all extendible variables have the same number.
  bool gets_longer(int variable) const {
    return in(variable).extendible != 0 &&
           in(variable).shape[0] < (growth_.is_main(variable) ? growth_.main_length() : growth_.length(variable));
  }
  void define_variables() {
    for (const Item& item : contents_.items)
      numbers_.push_back(define_variable(item.variable));
    for (const int variable : contents_.wholes)
      wholes_.push_back(define_variable(variable));
    for (int number = 0; number < output_.variable_count(); ++number) {
      const windrow_variable_info info = output_.variable(number);
      made_.push_back({shape_of(info), info.big_endian != 0, info.extendible != 0});
    }
  }
  // Paths of dimensions along which variables are extendible in the output.
  std::set<std::string> unlimited_dimensions() const {
    std::set<std::string> unlimited;
    for (const Item& item : contents_.items)
      if (in(item.variable).extendible != 0 && ways_.has_unlimited &&
          (!ways_.is_netcdf || growth_.is_main(item.variable)))
        unlimited.insert(growth_.name_of(item.variable));
    return unlimited;
  }
  // First variables that name their own dimension, then those that create an unlimited dimension.
  void copy_all_dimension_names() {
    std::array<std::vector<std::pair<int, int>>, 3> in_turn;
    const auto add = [&](int from, int to) {
      const size_t turn = names_itself(from) ? 0 : to >= 0 && made(to).extendible ? 1 : 2;
      in_turn[turn].emplace_back(from, to);
    };
    for (size_t i = 0; i < contents_.items.size(); ++i)
      add(contents_.items[i].variable, numbers_[i]);
    for (size_t i = 0; i < contents_.wholes.size(); ++i)
      add(contents_.wholes[i], wholes_[i]);
    for (const auto& turn : in_turn)
      for (const auto& [from, to] : turn)
        copy_dimension_names(from, to);
  }
  // Whether a variable has the name of its first dimension, in its group.
  bool names_itself(int variable) const {
    const std::vector<std::string> names = dimension_names_of(in(variable));
    const std::string path = in(variable).path;
    return !names.empty() && !names.front().empty() &&
           (names.front() == path || names.front() == path.substr(path.rfind('/') + 1));
  }
  // How netCDF-4 stores what netCDF classic has in its header, and its numbers of dimensions, which differ between
  // files.
  bool is_netcdf4s_own(const std::string& name) const {
    return name == "_Netcdf4Dimid" || name == "_Netcdf4Coordinates" ||
           (ways_.is_netcdf && (name == "_NCProperties" || name == "_nc3_strict"));
  }
  // Attributes of a map that show if a subfile is opened by itself. They are not copied.
  static bool is_of_a_subfile(const std::string& name) {
    return name == "windrow_set" || name == "windrow_subfile" || name == "windrow_subfiles" ||
           name == "windrow_map_checksum" || name == "windrow_split" || name.starts_with("windrow_split_");
  }
  bool has_attribute(const std::string& object, const std::string& name) const {
    for (int i = 0; i < windrow_attribute_count(input_.get(), object.c_str()); ++i)
      if (name == attribute_of(input_, object, i).name)
        return true;
    return false;
  }
  // What the output refuses is the same on every rank, and the next definition continues.
  template <class Define>
  bool attempt(const std::string& what, Define&& define) {
    try {
      define();
      return true;
    } catch (const windrow::Error& error) {
      if (error.code() != WINDROW_BAD_ARGUMENT && error.code() != WINDROW_UNSUPPORTED)
        throw;
      refused_.push_back(what + ": " + error.what());
      refused_objects_.insert(what);
      return false;
    }
  }
  windrow::Options options_of(int variable) const {
    const windrow_variable_info& info = in(variable);
    windrow::Options options;
    if (!ways_.is_netcdf)  // its byte order is always the same
      options.set("byte_order", info.big_endian != 0 ? "big" : "little");
    if (info.type == WINDROW_TEXT)
      options.set("text_characters", info.text_characters).set("text_padding", info.text_padding);
    if (info.type == WINDROW_TEXT || info.type == WINDROW_OPAQUE)
      options.set("element_bytes", std::to_string(info.element_bytes));
    if (*info.opaque_tag != '\0')
      options.set("opaque_tag", info.opaque_tag);
    if (*info.enumeration != '\0')
      options.set("enumeration", info.enumeration);
    if (info.is_null != 0)
      options.set("null_space", "true");
    // In netCDF classic it is an attribute, whose value readers treat as missing data. If the input has none, it is
    // only added if something is missing.
    if (*info.fill_value != '\0' &&
        (!ways_.is_netcdf || has_attribute(info.path, "_FillValue") || gets_longer(variable)))
      options.set("fill_value", info.fill_value);
    return options;
  }
  int define_variable(int variable) {
    const windrow_variable_info& info = in(variable);
    windrow::Options options = options_of(variable);
    int number = -1;
    if (ways_.keeps_chunks && info.chunked != 0 && define_chunked(variable, options, number))
      return number;
    if (info.extendible != 0 && define_growing(variable, options, number))
      return number;
    std::vector<int64_t> shape = shape_of(info);
    if (info.extendible != 0)
      shape.front() = growth_.length(variable);
    attempt(info.path, [&] { number = output_.define_variable(info.path, info.type, shape, options); });
    return number;
  }
  // If the output has no extendible variables, or its only unlimited dimension is another one, the variable gets a
  // fixed shape.
  bool define_growing(int variable, windrow::Options& options, int& number) {
    const windrow_variable_info& info = in(variable);
    std::vector<int64_t> shape = shape_of(info);
    if (ways_.is_netcdf && !growth_.is_main(variable))
      return false;
    if (ways_.is_netcdf)
      shape.front() = growth_.main_length();
    try {
      options.set("chunks", "auto").set("extendible", "true");
      number = output_.define_variable(info.path, info.type, shape, options);
      return true;
    } catch (const windrow::Error& error) {
      if (error.code() != WINDROW_UNSUPPORTED && error.code() != WINDROW_BAD_ARGUMENT)
        throw;
      options.set("chunks", "none").set("extendible", "false");
      return false;
    }
  }
  // A dimension that was named through another variable may have a name already.
  void copy_dimension_names(int from, int to) {
    std::vector<std::string> names = dimension_names_of(in(from));
    if (to < 0 || names == output_.dimension_names(to))
      return;
    if (const std::string path = made(to).extendible ? growth_.name_of(from) : ""; !path.empty())
      names.front() = path;
    attempt(std::string(in(from).path) + ", dimensions", [&] { output_.name_dimensions(to, names); });
  }
  // If the output does not support chunks or the filter, the variable gets neither.
  bool define_chunked(int variable, windrow::Options& options, int& number) {
    const windrow_variable_info& info = in(variable);
    options.set("chunks", fmt::format("{}", fmt::join(info.chunk, info.chunk + info.ndims, "x")));
    options.set("extendible", info.extendible != 0 ? "true" : "false");
    options.set("filters", *info.filters != '\0' ? info.filters : "none");
    try {
      number = output_.define_variable(info.path, info.type, shape_of(info), options);
      return true;
    } catch (const windrow::Error& error) {
      if (error.code() != WINDROW_UNSUPPORTED)
        throw;
      options.set("chunks", "none").set("filters", "none").set("extendible", "false");
      return false;
    }
  }
  void copy_attributes(const std::string& object) {
    const int count = windrow_attribute_count(input_.get(), object.c_str());
    for (int i = 0; i < count; ++i) {
      const std::string name = attribute_of(input_, object, i).name;
      if (is_of_a_subfile(name) || is_netcdf4s_own(name))
        continue;
      attempt(object + ", attribute " + name, [&] { output_.copy_attribute(object, input_, object, name); });
    }
  }

  const windrow::File& input_;
  const Contents& contents_;
  windrow::File& output_;
  const Growth& growth_;
  Ways ways_;
  std::vector<int> numbers_, wholes_;
  std::vector<Made> made_;
  std::vector<std::string> refused_;
  std::set<std::string> refused_objects_;
};

// Items that have the same byte order in both files.
std::vector<bool> same_order(const Contents& contents, const Definitions& definitions) {
  std::vector<bool> same;
  for (size_t i = 0; i < contents.items.size(); ++i)
    same.push_back((contents.variables[static_cast<size_t>(contents.items[i].variable)].big_endian != 0) ==
                   definitions.made(definitions.numbers()[i]).big_endian);
  return same;
}

std::vector<std::vector<int64_t>> shapes_of(const Definitions& definitions) {
  std::vector<std::vector<int64_t>> shapes;
  for (const int number : definitions.numbers())
    shapes.push_back(definitions.made(number).shape);
  return shapes;
}

nlohmann::json plan_of(windrow::File& file) {
  return nlohmann::json::parse(file.explain("json"));
}

// Whether elements that are never written have the same value in both files.
bool has_same_fill(const windrow_variable_info& a, const windrow_variable_info& b) {
  return std::string_view(a.fill_value) == b.fill_value;
}

// What all steps of a copy use.
struct CopyContext {
  const Ranks& ranks;
  const Request& request;
  windrow::File& input;
  windrow::File& output;
  Outcome& outcome;
};

// Moves the batches of a copy: reads the next while one is written.
class Moving {
 public:
  Moving(const CopyContext& context, int64_t all_bytes, Transfer& transfer)
      : request_(context.request),
        all_bytes_(all_bytes),
        transfer_(transfer),
        input_(context.input),
        output_(context.output),
        outcome_(context.outcome) {}

  void move_all(const std::vector<int>& numbers) {
    Slicer slices = transfer_.slicer();
    for (Batch batch = slices.next(); !batch.empty(); batch = slices.next()) {
      read(batch);
      end_write();
      under_way_ = transfer_.bytes(batch);
      if (request_.explains && under_way_ > largest_) {
        largest_ = under_way_;
        explain("read", input_);
      }
      transfer_.begin_write(output_, batch, numbers);
    }
    end_write();
  }

  nlohmann::json details() const {
    return {{"plan", plans_},
            {"explanation", explanations_},
            {"report", {{"read", reading_.json()}, {"write", writing_.json()}}}};
  }

 private:
  void read(Batch& batch) {
    transfer_.read(input_, batch);
    if (request_.reports)
      reading_.add(input_);
  }
  void end_write() {
    if (under_way_ == 0)
      return;
    transfer_.end_write();
    if (request_.reports)
      writing_.add(output_);
    if (request_.explains && under_way_ == largest_)
      explain("write", output_);
    outcome_.bytes += under_way_;
    if (request_.progress)
      request_.progress(outcome_.bytes, all_bytes_);
  }
  void explain(const char* direction, windrow::File& file) {
    plans_[direction] = plan_of(file);
    explanations_[direction] = file.explain("text");
  }

  const Request& request_;
  int64_t all_bytes_;
  Transfer& transfer_;
  windrow::File& input_;
  windrow::File& output_;
  Outcome& outcome_;
  Totals reading_, writing_;
  nlohmann::json plans_ = nullptr, explanations_ = nullptr;  // of the largest batch
  int64_t largest_ = 0, under_way_ = 0;                      // bytes of batches
};

void copy_data(const CopyContext& context, Contents& contents) {
  const Request& request = context.request;
  windrow::File& input = context.input;
  windrow::File& output = context.output;
  const Growth growth(contents);
  Definitions definitions(
      input, contents, output, growth,
      {.keeps_chunks = request.keeps_chunks, .is_netcdf = request.is_netcdf, .has_unlimited = request.has_unlimited});
  definitions.define();
  require_none(definitions.refused(), request.source, context.outcome);
  for (size_t i = 0; i < contents.wholes.size(); ++i) {
    if (contents.variables[static_cast<size_t>(contents.wholes[i])].is_null == 0)
      output.put_texts(definitions.wholes()[i], input.texts(contents.wholes[i]));
  }
  leave_out_unwritten(input, contents, [&](size_t i) {
    return has_same_fill(contents.variables[static_cast<size_t>(contents.items[i].variable)],
                         output.variable(definitions.numbers()[i]));
  });
  Transfer transfer(context.ranks, contents.items, request.buffer_bytes, 2);
  transfer.keep_order(same_order(contents, definitions));
  transfer.write_into(shapes_of(definitions));
  Moving moving(context, contents.bytes, transfer);
  moving.move_all(definitions.numbers());
  if (request.reports)
    context.outcome.details = moving.details().dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// An error that ends the copy is the same on every rank, so discard() is called on every rank, too. If one rank alone
// runs out of memory, it abandons both files, and the others learn of it in their next call.
void leave(windrow::File& file) noexcept {
  try {
    if (file.is_open())
      file.discard();
  } catch (const std::exception&) {  // the first error is reported
  }
}

// All steps between create and close. On an error the unfinished target is removed.
void fill(const CopyContext& context, Contents& contents) {
  try {
    copy_data(context, contents);
  } catch (...) {
    leave(context.output);
    throw;
  }
  context.output.close();
}

windrow::Options options_of(const Request& request, const std::string& format) {
  windrow::Options options;
  for (const auto& [key, value] : request.options)
    options.set(key, value);
  if (!format.empty())
    options.set("format", format);
  return options;
}

void copy_file(const Ranks& ranks, const Request& request, Outcome& outcome) {
  windrow::File input = windrow::File::open(ranks.comm, request.source, windrow::Mode::read, options_of(request, ""));
  try {
    const std::string problem = problem_on_root(ranks, [&] {
      const std::string wrong = problem_with_output(request.source, request.target);
      return wrong.empty() ? problem_with_sets(input, request.source, request.target) : wrong;
    });
    if (!problem.empty())
      throw windrow::Error(WINDROW_BAD_ARGUMENT, 0, problem);
    Contents contents = contents_of(input);
    require_none(contents.unsupported, request.source, outcome);
    windrow::File output = windrow::File::create(ranks.comm, request.target, options_of(request, request.format));
    outcome.begun = true;
    fill({ranks, request, input, output, outcome}, contents);
    for (const Link& link : contents.links)
      if (link.is_hard)
        outcome.changed += fmt::format("{}: a hard link, copied as a soft link to {}\n", link.path, link.target);
    outcome.variables = static_cast<int64_t>(contents.items.size() + contents.wholes.size());
    outcome.groups = contents.groups;
    outcome.attributes = contents.attributes;
    input.close();
  } catch (...) {
    leave(input);
    throw;
  }
}

}  // namespace

Outcome copy(const Ranks& ranks, const Request& request) {
  Outcome outcome;
  try {
    copy_file(ranks, request, outcome);
  } catch (const windrow::Error& error) {
    outcome.code = error.code();
    outcome.rank = error.rank();
    outcome.message = error.what();
  }
  return outcome;
}

}  // namespace copying
