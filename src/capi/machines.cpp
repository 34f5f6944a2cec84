// SPDX-License-Identifier: BSD-3-Clause
// Machine files: calibration and advice.
#include <string_view>

#include "calibration/advice.hpp"
#include "calibration/calibrate.hpp"
#include "capi/handles.hpp"

extern "C" {

int windrow_calibrate(MPI_Comm comm, const char* directory, const windrow_options* options, const char* machine) {
  return enter([&]() -> Status {
    std::string folder, file;
    windrow::Settings settings;
    Status local = guard([&]() -> Status {
      if (directory == nullptr || machine == nullptr)
        return null_argument(directory == nullptr ? "the folder" : "the machine file");
      folder = directory;
      file = machine;
      if (options != nullptr)
        settings = options->settings;
      return {};
    });
    return windrow::calibrate(comm, folder, settings, file, std::move(local));
  });
}

int windrow_advise(const char* trace, const char* machine, const char* format, const char** text) {
  static thread_local std::string kept;
  return enter([&]() -> Status {
    if (text == nullptr)
      return null_argument("text");
    *text = nullptr;
    if (trace == nullptr || format == nullptr)
      return null_argument(trace == nullptr ? "the trace" : "the format");
    const std::string_view wanted(format);
    if (wanted != "text" && wanted != "json")
      return {Code::bad_argument, "the format is \"text\" or \"json\""};
    auto advice = windrow::advise(trace, machine == nullptr ? "" : machine, wanted == "json");
    if (!advice.ok())
      return advice.status();
    kept = std::move(advice).value();
    *text = kept.c_str();
    return {};
  });
}

}  // extern "C"
