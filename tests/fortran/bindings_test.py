# SPDX-License-Identifier: BSD-3-Clause
"""Every function of windrow.h has a procedure of the same name in the module windrow, and a test that uses it;
docs/fortran.md names the others.

Arguments: the Fortran compiler, the folder of the module files.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# What has another name or none in Fortran, and why. A name stays here only while it is not in the module.
EXCEPTIONS = {
    "windrow_advise": "the command windrow advise says it, after a run",
    "windrow_bytes_refuse": "the module's own checks end in it",
    "windrow_bytes_sum": "programs use MPI_Allreduce",
    "windrow_calibrate": "the command windrow calibrate does it, before a run",
    "windrow_name_dimensions_counted": "windrow_name_dimensions knows how long a list is",
    "windrow_put_texts_counted": "windrow_put_texts knows how long a list is",
    "windrow_define_variable_with": "windrow_define_variable has an optional argument for the options",
    "windrow_points_with": "windrow_points has an optional argument for the options",
    "windrow_put_attribute_text": "windrow_put_attribute takes text too",
    "windrow_link_is_hard": "the command windrow info says it",
    "windrow_interrupted": "the command windrow check says it",
    "windrow_inquire_written": "the commands windrow copy and check leave out what nobody has written",
    "windrow_remove_leftovers": "the command windrow check --clean does it",
    "windrow_refuse": "the module's own checks end in it",
    "windrow_set_numbering": "the module sets it for the time of each call",
}


def listed() -> list[str]:
    lines = (ROOT / "include/windrow/symbols.txt").read_text().splitlines()
    return [line for line in (raw.split("#")[0].strip() for raw in lines) if line]


def compiles(compiler: str, modules: str, names: list[str]) -> subprocess.CompletedProcess:
    with tempfile.TemporaryDirectory(prefix="windrow-bindings-") as folder:
        source = Path(folder, "names.f90")
        uses = "".join(f"use windrow, only: {name}\n" for name in names)
        source.write_text(f"program names\n{uses}implicit none\nend program names\n")
        return subprocess.run(
            [compiler, "-fsyntax-only", f"-I{modules}", str(source)], capture_output=True, text=True, cwd=folder
        )


def main(compiler: str, modules: str) -> None:
    symbols = listed()
    names = [name for name in symbols if name not in EXCEPTIONS]
    done = compiles(compiler, modules, names)
    if done.returncode != 0:
        sys.exit(f"the module windrow lacks a function of windrow.h; bind it, or say here why not:\n{done.stderr}")
    for name in EXCEPTIONS:
        if name not in symbols:
            sys.exit(f"{name} is an exception here and no function of windrow.h")
        if compiles(compiler, modules, [name]).returncode == 0:
            sys.exit(f"{name} is an exception here, and the module has it")
    page = (ROOT / "docs/fortran.md").read_text()
    left_out = set(re.findall(r"`(windrow_[a-z_]+)\(\)`", page[page.index("## What is not bound") :]))
    if left_out != EXCEPTIONS.keys():
        sys.exit(
            "docs/fortran.md says of other functions that they are not bound: "
            f"{' '.join(sorted(left_out ^ EXCEPTIONS.keys()))}"
        )
    tests = "".join(path.read_text() for path in sorted(Path(__file__).parent.glob("*_test.f90")))
    unused = [name for name in names if not re.search(rf"\b{name}\b", tests)]
    if unused:
        sys.exit(f"no Fortran test uses {' '.join(unused)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
