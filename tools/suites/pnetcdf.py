# SPDX-License-Identifier: BSD-3-Clause
"""PnetCDF: `make check` (one process) and `make ptest` (4) in each folder that was built. From 1.15 on only
PNETCDF_HINTS=nc_driver=mpiio writes through MPI-IO; the variable does nothing before."""

import re

LEAST_TAKEN = 0.9


def build(bench):
    bench.shell(f"cp -r {bench.source('pnetcdf-*')}/. . && autoreconf -i")
    bench.shell(
        f"./configure --disable-cxx MPICC={bench.cc} MPIF77=mpif77.{bench.family} MPIF90={bench.fc} "
        f"FFLAGS=-fallow-argument-mismatch FCFLAGS=-fallow-argument-mismatch"
    )
    bench.shell("make; make tests")


def verdicts_of(target):
    def verdicts(output, code):
        found = {f"{target}: ends well": code == 0}
        for word, name in re.findall(r"^(PASS|FAIL|XFAIL|XPASS|ERROR): (.*)", output, re.M):
            found[f"{target}: {name}"] = word in ("PASS", "XFAIL")
        for name, word in re.findall(r"^\*\*\* TESTING (.*?) *-+ (\w+)", output, re.M):
            found[f"{target}: {' '.join(name.split())}"] = word in ("pass", "skip")
        return found

    return verdicts


def tests(bench):
    bench.environment["PNETCDF_HINTS"] = "nc_driver=mpiio"
    launchers = [f"TESTSEQRUN={' '.join(bench.preload)}", f"TESTMPIRUN={' '.join(bench.launch('NP'))}"]
    for target, rule in {"check": "check-TESTS", "ptest": "ptest"}.items():
        for makefile in sorted(bench.build.glob("*/*/Makefile")):
            folder = makefile.parent
            if re.search(rf"^{rule}\b", makefile.read_text(), re.M) and any(folder.glob("*.o")):
                name = f"{target} {folder.relative_to(bench.build)}"
                yield Test(name, ["make", "-k", target] + launchers, folder, verdicts_of(name), 900)
