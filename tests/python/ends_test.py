# SPDX-License-Identifier: BSD-3-Clause
"""Programs that end without closing their files: nothing hangs, no file is left if all ranks end, and waiting ranks get
an error.

Arguments: the folder to work in, the launcher in one word. The programs need mpi4py.
"""

import shlex
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

BEGIN = """
import sys
import windrow
from mpi4py import MPI
comm = MPI.COMM_WORLD
sys.stderr = open(f"said by {comm.rank}", "w", buffering=1)  # lines of several ranks would come in pieces
last = comm.rank == comm.size - 1
def create(comm=comm):
    return windrow.open("out.h5", "w", comm=comm)
def define(f):
    return f.create_variable("x", (8,), "float64")
"""
# Each: the program, how it is started, whether it succeeds, how many drafts it leaves, what its ranks say and how
# many of them do ("": nothing).
CASES = {
    "never closed": ("f = create(); define(f)[...] = 1", [], True, 0, "", 0),
    "no longer reachable": ("define(create())[...] = 1", [], True, 0, "", 0),
    "begun to flush": (
        "f = create(); v = define(f); f.put(v, [1.0] * 8, windrow.same(comm)); f.flush_begin()",
        [],
        True,
        0,
        "",
        0,
    ),
    "several": (
        "fs = [windrow.open(f'{n}.h5', 'w', comm=comm) for n in range(3)] "
        "+ [windrow.open(f'alone {comm.rank}.h5', 'w', comm='self')]",
        [],
        True,
        0,
        "",
        0,
    ),
    "only read": ("with create() as f: define(f)\nf = windrow.open('out.h5', comm=comm)", [], True, 0, "", 0),
    "one fails, the others write": (
        "f = create(); v = define(f)\nif last: 1 / 0\nv[...] = 1",
        [],
        False,
        0,
        "windrow._errors.WindrowError: ZeroDivisionError",
        2,
    ),
    "one gives no communicator": (
        "create(None if last else comm)",
        [],
        False,
        0,
        "Error: one of 3 processes writes without a communicator",
        3,
    ),
    "one gives a wrong communicator": (
        "create(7 if last else comm)",
        [],
        False,
        0,
        'Error: comm is a communicator of mpi4py, "world" or "self", not int',
        3,
    ),
    "none gives a communicator": (
        "create(None)",
        [],
        False,
        0,
        "Error: one of 3 processes writes without a communicator",
        3,
    ),
    "the others are elsewhere": (
        "f = create()\nif last: 1 / 0\ncomm.barrier()",
        ["-m", "mpi4py"],
        False,
        1,
        "(not all ranks came to discard it)",
        1,
    ),
    "after MPI_Finalize": ("f = create(); MPI.Finalize()", [], True, 1, "MPI has been finalized): what was written", 3),
    "each for itself": ("with create('self') as f: define(f)[...] = comm.rank\n", [], True, 0, "", 0),
}


def main(folder: Path, launcher: str) -> None:
    for name, (program, options, succeeds, drafts, text, count) in CASES.items():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "program.py").write_text(BEGIN + textwrap.dedent(program) + "\n")
        command = [*shlex.split(launcher), "-n", "3", sys.executable, *options, "program.py"]
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=100)
        said = [(folder / f"said by {rank}").read_text() for rank in range(3)]
        assert (run.returncode == 0) == succeeds, f"{name}: {said} {run.stdout} {run.stderr}"
        assert len(list(folder.glob(".*.windrow-*"))) == drafts, f"{name}: {list(folder.iterdir())}"
        assert sum(text in each for each in said) == count if text else said == [""] * 3, f"{name}: {said}"


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
