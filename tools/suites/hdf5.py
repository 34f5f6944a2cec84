# SPDX-License-Identifier: BSD-3-Clause
"""HDF5's testpar at 4 ranks, compiled for the installed parallel HDF5 of the same version (pkg-config hdf5-openmpi,
hdf5-mpich). Not t_bigio (gigabytes), t_cache and t_cache_image (long, no collective transfer of data)."""

import re

LEAST_TAKEN = 0.9
SHARED = "h5test testframe cache_common swmr_common external_common"
# Each program, and what it says when all went well.
PROGRAMS = {
    "testphdf5": "PHDF5 tests finished (successfully|with no errors)",
    "t_filters_parallel": "All Parallel Filters tests passed",
    "t_shapesame": "tests finished (successfully|with no errors)",
    "t_mpi": "MPI tests finished (successfully|with no errors)",
    "t_pread": "PASSED",
    "t_pshutdown": "PASSED",
    "t_prestart": "PASSED",
    "t_init_term": "PASSED",
}


def sources_of(program, makefile):
    """A program has its own source alone, if Makefile.am does not list more."""
    listed = re.search(rf"^{program}_SOURCES=((?:.*\\\n)*.*)", makefile, re.M)
    return listed[1].replace("\\\n", " ").split() if listed else [f"{program}.c"]


def build(bench):
    source = bench.source("hdf5-*")
    (bench.build / "H5srcdir_str.h").write_text(
        'static const char *config_srcdir = ".";\n'
    )  # for tests that read files
    flags = f"$(pkg-config --cflags hdf5-{bench.family}) -I. -I{source}/src -I{source}/test -I{source}/testpar"
    libraries = f"$(pkg-config --libs hdf5-{bench.family})"
    bench.shell(f"for name in {SHARED}; do {bench.cc} -w {flags} -c {source}/test/$name.c; done; ar cr libh5test.a *.o")
    makefile = (source / "testpar/Makefile.am").read_text()
    for program in PROGRAMS:
        own = " ".join(f"{source}/testpar/{name}" for name in sources_of(program, makefile))
        bench.shell(f"{bench.cc} -w {flags} -o {program} {own} libh5test.a {libraries}")


def verdicts_of(program, pattern):
    """A program with several tests names each before it runs it, and ends at the first that fails. Verdicts of several
    ranks may be on one line."""

    def verdicts(output, code):
        finished = code == 0 and re.search(pattern, output) is not None
        names = re.findall(r"^Testing +(?:-- )?(.*?)(?: *(?:PASSED|\*FAILED\*|-SKIP-))*$", output, re.M)
        failed = set(names[-1:]) if not finished else set()
        return {program: finished, **{f"{program}: {name}": name not in failed for name in names}}

    return verdicts


def tests(bench):
    for program, pattern in PROGRAMS.items():
        command = bench.launch(4) + [f"./{program}"]
        yield Test(program, command, bench.build, verdicts_of(program, pattern), 900)
