// SPDX-License-Identifier: BSD-3-Clause
// The command striped-store: docs/internals/test-beds/striped-store.md.
#include <cstdio>
#include <exception>

#include "arguments.hpp"
#include "life.hpp"

int main(int argc, char** argv) {
  try {
    const striped_store::Arguments arguments = striped_store::parse(argc, argv);
    switch (arguments.command) {
      case striped_store::Command::up:
        return striped_store::up(arguments.settings);
      case striped_store::Command::down:
        return striped_store::down(arguments.down);
      case striped_store::Command::none:
        std::fputs(arguments.text.c_str(), stdout);
    }
    return 0;
  } catch (const striped_store::Mistake& mistake) {
    std::fprintf(stderr, "striped-store: %s\n", mistake.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "striped-store: %s\n", error.what());
    return 1;
  }
}
