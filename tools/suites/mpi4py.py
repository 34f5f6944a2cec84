# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py's test_io, at 1, 2 and 3 ranks, initialised for one thread and, as mpi4py does by default, for several. The
module is PyPI's, which finds its MPI when it is loaded, of the version of the sources."""


def build(bench):
    version = bench.source("mpi4py-*").name.replace("mpi4py-", "mpi4py==")
    bench.shell(f"python3 -m venv venv; venv/bin/python -m pip install {version} numpy")
    # The name by which the module knows MPICH is not in Debian's package.
    bench.shell("mkdir -p lib; ln -sf $(gcc -print-file-name=libmpich.so.12) lib/libmpi.so.12")


def tests(bench):
    main = bench.source("mpi4py-*") / "test/main.py"
    bench.environment["MPI4PY_MPIABI"] = bench.family
    if bench.family == "mpich":
        bench.environment["LD_LIBRARY_PATH"] = f"{bench.build}/lib"
    for level in ("funneled", "multiple"):
        for ranks in (1, 2, 3):
            name, logs = f"test_io, {level}, {ranks} ranks", bench.build / f"logs-{level}-{ranks}"
            # -f: a rank that goes on where another has failed would wait for it.
            options = ["-v", "-f", "--no-builddir", "--thread-level", level]
            program = ["venv/bin/python", main] + options + ["test_io"]
            verdicts = all_say(name, logs, r"^test\w+ \((\S+?)\).* \.\.\. (\w+)")
            yield Test(name, bench.launch_apart(ranks, program, logs), bench.build, verdicts, 300)
