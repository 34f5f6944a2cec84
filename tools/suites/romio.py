# SPDX-License-Identifier: BSD-3-Clause
"""ROMIO's own tests. Not coll_perf, large_array and large_file (gigabytes), perf and fperf (no verdict), and creat_excl
(for one test only)."""

# Ranks, and arguments other than -fname FILE; FILE is a new name for each test.
TESTS = {
    "simple": (4,), "async": (4,), "async-multiple": (4,), "atomicity": (4,), "coll_test": (4,), "excl": (4,),
    "file_info": (4,), "i_noncontig": (2,), "noncontig": (2,), "noncontig_coll": (2,), "noncontig_coll2": (4,),
    "aggregation1": (4, "-h", "-f", "FILE"), "aggregation2": (4, "FILE"), "hindexed": (4, "FILE"), "misc": (4,),
    "shared_fp": (4,), "ordered_fp": (4,), "split_coll": (4,), "psimple": (4,), "error": (1,), "status": (1,),
    "types_with_zeros": (2, "FILE"), "darray_read": (4, "FILE"), "syshints": (1, "test_hintfile"),
    "big_extents": (4, "FILE"), "external32": (4,), "fmisc": (4,), "fcoll_test": (4,), "pfcoll_test": (4,),
}  # fmt: skip


# Open MPI 4 has the markers of old data types for old binaries only.
MARKERS = """#include <mpi.h>
extern char ompi_mpi_lb[], ompi_mpi_ub[];
#define MPI_LB ((MPI_Datatype)ompi_mpi_lb)
#define MPI_UB ((MPI_Datatype)ompi_mpi_ub)
"""


def build(bench):
    source = bench.source("mpich-*") / "src/mpi/romio/test"
    bench.shell(f"cp {source}/test_hintfile .")
    (bench.build / "markers.h").write_text(MARKERS if bench.family == "openmpi" else "")
    for program in TESTS:
        c = next((path for path in (source / f"{program}.c", source / f"{program}.c.in") if path.exists()), None)
        text = (c or source / f"{program}.f.in").read_text()
        for name, value in {"F77IARGC": "iargc()", "F77GETARG": "call getarg(i, str)", "F77MPIOINC": "",
                            "FORTRAN_MPI_OFFSET": "integer*8", "LL": "lld"}.items():  # fmt: skip
            text = text.replace(f"@{name}@", value)
        (bench.build / f"{program}.{'c' if c else 'f'}").write_text(text)
        compiler = (
            f"{bench.cc} -w -DOMPI_OMIT_MPI1_COMPAT_DECLS=0 -include markers.h"
            if c
            else f"{bench.fc} -w -fallow-argument-mismatch"
        )
        bench.shell(f"{compiler} -o {program} {program}.{'c' if c else 'f'} || true")


def tests(bench):
    for program, (ranks, *arguments) in TESTS.items():
        words = [word.replace("FILE", f"{program}.data") for word in arguments or ("-fname", "FILE")]
        command = ["sh", "-c", f'rm -f {program}.data*; exec "$@"', "sh"] + bench.launch(ranks) + [f"./{program}"]
        yield Test(program, command + words, bench.build, says(program, r"No [Ee]rrors"))
