# SPDX-License-Identifier: BSD-3-Clause
"""MPICH's test/mpi: the folders io of C, Fortran 77, 90 and 2008. Not the tests that say they need gigabytes."""

# Each folder, and the seconds that a test may take: many in Fortran make thousands of calls of a few bytes.
FOLDERS = {"io": 180, "f77/io": 1800, "f90/io": 1800, "f08/io": 1800}


def build(bench):
    source = bench.source("mpich-*") / "test/mpi"
    fortran = f"mpif77.{bench.family}"
    bench.shell(
        f"{source}/configure --disable-cxx --disable-spawn --with-mpi=/usr CC={bench.cc} MPICC={bench.cc} "
        f"F77={fortran} MPIF77={fortran} FC={bench.fc} MPIFC={bench.fc} "
        f"FFLAGS=-fallow-argument-mismatch FCFLAGS=-fallow-argument-mismatch"
    )
    # MPI_LB of the data types' generator is not in Open MPI's header by default.
    bench.shell("make -C dtpools CPPFLAGS=-DOMPI_OMIT_MPI1_COMPAT_DECLS=0; make -C util -k || true")
    # configure finds no mpi_f08 of an MPI other than MPICH, so that this library would be empty.
    bench.shell(
        "rm -f util/libmtest_f08.la; " "make -C util libmtest_f08.la libmtest_f08_la_OBJECTS=mtest_f08.lo || true"
    )
    # What is not built, because the MPI lacks it or by other reasons, is a test that fails without the library too.
    for folder in FOLDERS:
        bench.shell(f"make -k -C {folder} $(awk '{{print $1}}' {folder}/testlist) || true")


def tests(bench):
    for folder, seconds in FOLDERS.items():
        for line in (bench.build / folder / "testlist").read_text().splitlines():
            if line.startswith("#"):
                continue
            program, ranks, *settings = line.split()
            if any(setting.startswith("mem=") for setting in settings):
                continue
            arguments = [setting[4:] for setting in settings if setting.startswith("arg=")]
            name = f"{folder}/{program}"
            yield Test(
                name,
                bench.launch(ranks) + [f"./{program}"] + arguments,
                bench.build / folder,
                says(name, r"No [Ee]rrors"),
                seconds,
            )
