# SPDX-License-Identifier: BSD-3-Clause
# The short way in. Everything is built by CMake with a preset of CMakePresets.json; this file installs what is missing,
# configures, builds and runs. `make help` lists the targets.

JOBS ?= $(shell tools/build-jobs)
PREFIX ?= /usr/local
# More settings for CMake, e.g. make test CMAKE_ARGS=-DWINDROW_HDF5=OFF BUILD=build-nohdf5
CMAKE_ARGS ?=
BUILD ?= build
# Loaded by tools/mpirun where it exists: tools/patient-yield/yield.c.
export WINDROW_PATIENT_YIELD ?= $(abspath $(BUILD)/lib/patient-yield.so)
FUZZ_SECONDS ?= 600
CONFIGURE = cmake --log-level=NOTICE
# Which tests `make test`, mpich, asan and tsan run.
TESTS ?= --label-regex quick
# Tests of several ranks count as two. Most of them compute for 0.3 s of the 0.6 s that they take, so three run at a
# time on two cores.
CTEST = TMPDIR="$(shell tools/test-folder)" \
  ctest --output-on-failure --no-tests=error --parallel $(shell expr 3 \* $(JOBS))

.DEFAULT_GOAL := help
.PHONY: help demo test test-full network bench sanitize asan tsan fuzz mpich minimal install clean
.PHONY: format format-check lint

help:
	@echo "make demo       a transistor solved on 4 ranks, restarted on 3, drawn; compares strategies with the limit"
	@echo "make test       the quick tests: 1 to 4 ranks"
	@echo "make test-full  all tests: odd, prime and larger numbers of ranks too"
	@echo "make network    the tests with 8 ranks on 4 hosts, joined by links of 1 Gbit/s on this machine (root, Linux)"
	@echo "make bench      compare with MPI-IO, parallel HDF5 and PnetCDF; results in $(BUILD)/bench/results.json"
	@echo "make sanitize   the quick tests under address+undefined and under thread sanitizers (make asan, make tsan)"
	@echo "make fuzz       give arbitrary bytes to the parsers, FUZZ_SECONDS ($(FUZZ_SECONDS)) each; needs Clang"
	@echo "make mpich      build and test with MPICH"
	@echo "make minimal    build without optional libraries and with each source by itself; some tests"
	@echo "make install    build and install under PREFIX ($(PREFIX))"
	@echo "make format     format the sources; make format-check only looks; make lint runs clang-tidy"
	@echo "make clean      remove what was built"
	@echo "Missing Debian packages are installed by apt-get where that is allowed."

demo:
	@tools/install-packages build demo
	$(CONFIGURE) --preset release -B $(BUILD) -DWINDROW_TESTS=OFF $(CMAKE_ARGS)
	cmake --build $(BUILD) --parallel $(JOBS) --target demo
	examples/demo/run $(BUILD)

test:
	@tools/install-packages build test network storage python
	@tools/install-nanobind $(BUILD)
	$(CONFIGURE) --preset release -B $(BUILD) $(CMAKE_ARGS)
	cmake --build $(BUILD) --parallel $(JOBS)
	$(CTEST) --test-dir $(BUILD) $(TESTS)

test-full:
	@tools/install-packages build test network storage python
	@tools/install-nanobind $(BUILD)
	$(CONFIGURE) --preset release -B $(BUILD) $(CMAKE_ARGS)
	cmake --build $(BUILD) --parallel $(JOBS)
	$(CTEST) --test-dir $(BUILD)

network:
	@tools/install-packages build test network storage
	$(CONFIGURE) --preset release -B $(BUILD) $(CMAKE_ARGS)
	cmake --build $(BUILD) --parallel $(JOBS)
	$(CTEST) --test-dir $(BUILD) --label-regex network

bench:
	@tools/install-packages build test bench
	$(CONFIGURE) --preset release -B $(BUILD) -DWINDROW_BENCH=ON $(CMAKE_ARGS)
	cmake --build $(BUILD) --parallel $(JOBS) --target tools/patient-yield/all bench/all examples/all
	@mkdir -p $(BUILD)/bench
	bench/run $(BUILD)

sanitize: asan tsan

asan tsan:
	@tools/install-packages build test network storage
	$(CONFIGURE) --preset $@ $(CMAKE_ARGS)
	cmake --build build-$@ --parallel $(JOBS)
	$(CTEST) --test-dir build-$@ $(TESTS)

# What was found to be worth keeping stays in build-fuzz/corpus and is where the next run begins; an input that fails,
# in build-fuzz/.
fuzz:
	@tools/install-packages build test fuzz
	$(CONFIGURE) --preset fuzz $(CMAKE_ARGS)
	cmake --build build-fuzz --parallel $(JOBS) --target fuzzers
	for name in codec.fuzz_frame exchange.fuzz_view model.fuzz_machine extent.fuzz_split layout.fuzz_layout \
	    format.fuzz_netcdf_header format.fuzz_sidecar format.fuzz_catalog storage.fuzz_undo_log; do \
	  mkdir -p build-fuzz/corpus/$$name && build-fuzz/tests/$$name.fuzzer \
	    -max_total_time=$(FUZZ_SECONDS) -artifact_prefix=build-fuzz/$$name- -print_final_stats=1 \
	    build-fuzz/corpus/$$name tests/$${name%%.*}/corpus || exit 1; \
	done

# Each source by itself, so that it must include the headers of the project that it needs. A part of the tests: those of
# the modules that use these libraries, and of files that no library is needed for.
minimal:
	@tools/install-packages build test
	$(CONFIGURE) --preset minimal $(CMAKE_ARGS)
	cmake --build build-minimal --parallel $(JOBS) --target to_install tests/codec/all tests/filter/all \
	  tests/format/all tests/bytefile/all tests/golden/all tests/fortran/all
	$(CTEST) --test-dir build-minimal $(TESTS) --tests-regex '^(codec|filter|format|bytefile|golden|fortran)[.]'

mpich:
	@tools/install-packages build test mpich python
	@tools/install-nanobind build-mpich
	$(CONFIGURE) --preset mpich $(CMAKE_ARGS)
	cmake --build build-mpich --parallel $(JOBS)
	$(CTEST) --test-dir build-mpich $(TESTS)

install:
	@tools/install-packages build fortran
	$(CONFIGURE) --preset release -B $(BUILD) -DWINDROW_TESTS=OFF -DCMAKE_INSTALL_PREFIX=$(PREFIX) $(CMAKE_ARGS)
	cmake --build $(BUILD) --parallel $(JOBS) --target to_install
	cmake --install $(BUILD)

clean:
	rm -rf $(BUILD) build build-debug build-asan build-tsan build-fuzz build-mpich build-minimal build-nohdf5

format format-check:
	@tools/install-packages format
	tools/format $@

lint:
	@tools/install-packages build test format
	$(CONFIGURE) --preset release -B $(BUILD) $(CMAKE_ARGS)
	tools/format lint $(BUILD)
