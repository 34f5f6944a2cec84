// SPDX-License-Identifier: BSD-3-Clause
// Runs a fuzz target over the files of a folder, without a fuzzer: each file, each of its beginnings, and each of its
// bytes changed a little.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

// A copy of its own size, so that sanitizers see what reads beyond it.
void run(const std::vector<uint8_t>& input, size_t length) {
  const std::vector<uint8_t> copy(input.begin(), input.begin() + static_cast<std::ptrdiff_t>(length));
  LLVMFuzzerTestOneInput(copy.data(), copy.size());
}

}  // namespace

int main(int count, char** arguments) {
  long files = 0, inputs = 0;
  for (int i = 1; i < count; ++i)
    for (const auto& entry : std::filesystem::directory_iterator(arguments[i])) {
      std::ifstream stream(entry.path(), std::ios::binary);
      std::vector<uint8_t> input(std::istreambuf_iterator<char>(stream), {});
      for (size_t length = 0; length <= input.size(); ++length, ++inputs)
        run(input, length);
      for (uint8_t& byte : input)
        for (const uint8_t flip : {uint8_t{1}, uint8_t{0x80}, uint8_t{0xff}}) {
          byte ^= flip;
          run(input, input.size());
          byte ^= flip;
          ++inputs;
        }
      ++files;
    }
  std::printf("%ld files, %ld inputs\n", files, inputs);
  return files > 0 ? 0 : 1;
}
