// SPDX-License-Identifier: BSD-3-Clause
// A file of many small variables: defined in one call or one by one, closed, opened. bench/names starts it.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>
#include <windrow/windrow.hpp>

namespace {

void make(const std::string& path, int variables, std::string_view way, bool named) {
  windrow::File file = windrow::File::create(MPI_COMM_WORLD, path);
  std::vector<std::string> names;
  for (int i = 0; i < variables; ++i)
    names.push_back("v" + std::to_string(i));
  const int64_t shape[3] = {2, 3, 4};
  const char* dimensions[3] = {"z", "y", "x"};
  std::vector<int> numbers(names.size());
  if (way == "together") {
    std::vector<windrow_variable_definition> definitions;
    for (const std::string& name : names)
      definitions.push_back({name.c_str(), WINDROW_FLOAT32, 3, shape, nullptr});
    windrow::check(
        windrow_define_variables(file.get(), static_cast<int>(definitions.size()), definitions.data(), numbers.data()));
  } else {
    for (size_t i = 0; i < names.size(); ++i)
      windrow::check(windrow_define_variable(file.get(), names[i].c_str(), WINDROW_FLOAT32, 3, shape, &numbers[i]));
  }
  for (const int number : numbers) {
    if (named)
      windrow::check(windrow_name_dimensions(file.get(), number, dimensions));
    if (way == "attributes")
      windrow::check(windrow_put_attribute_text(file.get(), names[static_cast<size_t>(number)].c_str(), "units", "K"));
  }
  file.close();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 5) {
    std::fprintf(stderr, "bench-names FILE VARIABLES together|single|attributes named|plain\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  try {
    const std::clock_t start = std::clock();
    make(argv[1], std::atoi(argv[2]), argv[3], std::string_view(argv[4]) == "named");
    const std::clock_t made = std::clock();
    windrow::File file = windrow::File::open(MPI_COMM_WORLD, argv[1], windrow::Mode::read);
    const std::clock_t opened = std::clock();
    if (file.variable_count() != std::atoi(argv[2]))
      throw std::runtime_error("variables are missing");
    file.close();
    constexpr auto k_second = static_cast<double>(CLOCKS_PER_SEC);
    std::printf("%.4f %.4f\n", static_cast<double>(made - start) / k_second,
                static_cast<double>(opened - made) / k_second);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
