// SPDX-License-Identifier: BSD-3-Clause
// bench-windrow: Windrow by its C interface. Systems: STRATEGY[:FORMAT][+KEY=VALUE], e.g. "auto", "two-phase:raw",
// "auto+gather=team(4)"; a strategy is what the option "strategy" takes, KEY any other option. The format is HDF5
// unless named. bench-windrow-libdeflate, bench-windrow-zlib: the same program, all of deflate by that library.
#include <windrow/windrow.h>

#include <algorithm>

#include "common/system.hpp"
#include "common/tools.hpp"

namespace bench {
namespace {

void check(int code) {
  if (code == WINDROW_UNSUPPORTED)
    throw NotApplicable(windrow_error_message());
  if (code != WINDROW_OK)
    throw std::runtime_error(windrow_error_message());
}

int type_of(ElementType type) {
  if (type == ElementType::float64)
    return WINDROW_FLOAT64;
  return type == ElementType::float32 ? WINDROW_FLOAT32 : WINDROW_INT32;
}

class Windrow : public System {
 public:
  explicit Windrow(const std::string& system) {
    size_t plus = system.find('+');
    const std::string name = system.substr(0, plus);
    const size_t colon = name.rfind(':');
    strategy_ = name.substr(0, colon);
    if (colon != std::string::npos)
      format_ = name.substr(colon + 1);
    while (plus != std::string::npos) {
      const size_t next = system.find('+', plus + 1);
      const std::string option = system.substr(plus + 1, next == std::string::npos ? next : next - plus - 1);
      const size_t equals = option.find('=');
      require(equals != std::string::npos, "system \"" + system + "\": KEY=VALUE behind the +");
      keys_.emplace_back(option.substr(0, equals), value_of(option.substr(equals + 1)));
      plus = next;
    }
  }
  ~Windrow() override {
    for (windrow_decomposition* decomposition : decompositions_)
      windrow_decomposition_free(decomposition);
    windrow_options_free(options_);
    windrow_options_free(compression_);
  }

  void prepare(const Job& job) override {
    path_ = job.directory + (format_ == "raw" ? "/shared.raw" : format_ == "netcdf" ? "/shared.nc" : "/shared.h5");
    check(windrow_options_create(&options_));
    check(windrow_options_set(options_, "strategy", strategy_.c_str()));
    check(windrow_options_set(options_, "format", format_.c_str()));
    for (const auto& [key, value] : keys_)
      check(windrow_options_set(options_, key.c_str(), value.c_str()));
    if (format_ == "netcdf")
      check(windrow_options_set(options_, "netcdf_version", "5"));
    if (job.durable)
      check(windrow_options_set(options_, "durable", "true"));
    for (const Variable& variable : job.data.variables)
      if (!variable.chunk.empty())
        compress(variable);
  }

  void describe(const Job& job) override {
    for (const Share& share : job.data.shares)
      decompositions_.push_back(make_decomposition(share));
  }

  void write(const Job& job) override {
    windrow_file* file = nullptr;
    check(windrow_create(MPI_COMM_WORLD, path_.c_str(), options_, &file));
    const size_t count = job.data.variables.size();
    std::vector<std::vector<int64_t>> shapes;
    std::vector<windrow_variable_definition> definitions;
    for (const Variable& variable : job.data.variables)
      shapes.push_back(job.data.shape_of(variable));
    for (size_t v = 0; v < count; ++v)
      definitions.push_back({job.data.variables[v].name.c_str(), type_of(job.data.variables[v].type),
                             static_cast<int>(shapes[v].size()), shapes[v].data(),
                             job.data.variables[v].chunk.empty() ? nullptr : compression_});
    std::vector<int> numbers(count);
    check(windrow_define_variables(file, static_cast<int>(count), definitions.data(), numbers.data()));
    const auto put = [&] {
      for (size_t v = 0; v < count; ++v)
        check(windrow_put(file, numbers[v], decompositions_[job.data.variables[v].share], job.buffers[v].data()));
      if (job.explain || job.rewrites > 0)
        check(windrow_flush(file));  // else closing does
    };
    put();
    job.rewrite(put);
    if (job.explain)
      written_ = told_by(file);
    check(windrow_close(file));
  }

  void read(const Job& job) override {
    windrow_file* file = nullptr;
    check(windrow_open(MPI_COMM_WORLD, path_.c_str(), WINDROW_READ, options_, &file));
    for (size_t v = 0; v < job.data.variables.size(); ++v) {
      const Variable& variable = job.data.variables[v];
      int number = 0;
      check(windrow_find_variable(file, variable.name.c_str(), &number));
      check(windrow_get(file, number, decompositions_[variable.share], job.buffers[v].data()));
    }
    check(windrow_flush(file));
    if (job.explain)
      read_ = told_by(file);
    check(windrow_close(file));
  }

  std::vector<Location> locate(const Job& job) override {
    windrow_file* file = nullptr;
    std::vector<Location> locations;
    check(windrow_open(MPI_COMM_WORLD, path_.c_str(), WINDROW_READ, options_, &file));
    for (const Variable& variable : job.data.variables) {
      windrow_variable_info info{};
      info.size = sizeof info;
      int number = 0;
      check(windrow_find_variable(file, variable.name.c_str(), &number));
      check(windrow_inquire_variable(file, number, &info));
      locations.push_back({is_set() && format_ != "hdf5" ? "" : path_, info.offset, info.big_endian != 0});
    }
    check(windrow_close(file));
    return is_set() && format_ == "hdf5" ? dumped(std::move(locations), job) : decoded(std::move(locations), job);
  }

  std::string format() const override { return format_; }
  std::string report() const override {
    if (written_.empty())
      return {};
    return R"({"write":)" + written_ + R"(,"read":)" + (read_.empty() ? "null" : read_) + "}";
  }

 private:
  // "ranks/4": a subfile for four ranks.
  static std::string value_of(const std::string& text) {
    if (!text.starts_with("ranks/"))
      return text;
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return "subfiles(" + std::to_string(std::max(1, ranks / std::stoi(text.substr(6)))) + ")";
  }

  bool is_set() const {
    return std::any_of(keys_.begin(), keys_.end(), [](const auto& key) { return key.first == "files"; });
  }

  // Chunks of one shape are enough for a scenario.
  void compress(const Variable& variable) {
    std::string shape;
    for (const int64_t extent : variable.chunk)
      shape += (shape.empty() ? "" : "x") + std::to_string(extent);
    if (compression_ == nullptr)
      check(windrow_options_create(&compression_));
    check(windrow_options_set(compression_, "chunks", shape.c_str()));
    check(windrow_options_set(compression_, "filters", "shuffle,deflate:1"));
  }

  static windrow_decomposition* make_decomposition(const Share& share) {
    windrow_decomposition* decomposition = nullptr;
    if (share.is_block())
      check(windrow_block(MPI_COMM_WORLD, static_cast<int>(share.shape.size()), share.shape.data(), share.start.data(),
                          share.count.data(), share.memory_shape.data(), share.memory_start.data(), &decomposition));
    else
      check(windrow_points(MPI_COMM_WORLD, product(share.shape), static_cast<int64_t>(share.points.size()),
                           share.points.data(), share.owned.data(), &decomposition));
    return decomposition;
  }

  static std::string told_by(windrow_file* file) {
    const char *plan = nullptr, *report = nullptr;
    check(windrow_explain(file, "json", &plan));
    std::string text = std::string("{\"plan\":") + plan;
    check(windrow_report(file, "json", &report));
    return text + ",\"report\":" + report + "}";
  }

  std::string strategy_, format_ = "hdf5", path_, written_, read_;
  std::vector<std::pair<std::string, std::string>> keys_;
  windrow_options *options_ = nullptr, *compression_ = nullptr;
  std::vector<windrow_decomposition*> decompositions_;
};

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::run_program(argc, argv, [](const std::string& name) { return std::make_unique<bench::Windrow>(name); });
}
