# SPDX-License-Identifier: BSD-3-Clause
"""The C program of README.md compiles without a warning, runs, and writes what it says, as h5py reads it.

Arguments: the C compiler, the library, the folder of windrow/windrow.h, the flags of MPI in one word, the launcher in one word.
"""

import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

README = Path(__file__).resolve().parents[2] / "README.md"
RANKS = 3


def example() -> str:
    (block,) = re.findall(r"^```c\n(.*?)^```$", README.read_text(), re.MULTILINE | re.DOTALL)
    lines = [line for line in block.splitlines() if line.strip()]
    if len(lines) > 24:
        sys.exit(f"the example has {len(lines)} lines; the README promises a short one")
    return block


def run(*command: str, folder: str) -> None:
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{shlex.join(command)}: exit code {result.returncode}\n{result.stdout}{result.stderr}")


def main(compiler: str, library: str, include: str, mpi_flags: str, launcher: str) -> None:
    import h5py

    with tempfile.TemporaryDirectory(prefix="windrow-readme-") as folder:
        Path(folder, "program.c").write_text(example())
        run(compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", "program.c", "-o", "program", f"-I{include}", library,
            f"-Wl,-rpath,{Path(library).parent}", *shlex.split(mpi_flags), folder=folder)  # fmt: skip
        run(*shlex.split(launcher), "-n", str(RANKS), "./program", folder=folder)
        left = sorted(path.name for path in Path(folder).iterdir())
        if left != ["out.h5", "program", "program.c"]:
            sys.exit(f"unexpected files: {left}")
        with h5py.File(Path(folder, "out.h5"), "r") as file:
            table = file["temperature"]
            if table.shape != (2 * RANKS, 8) or table.dtype != "float64" or table[()].ravel().tolist() != list(range(16 * RANKS)):
                sys.exit(f"out.h5 holds {table.shape} {table.dtype}: {table[()]}")


if __name__ == "__main__":
    main(*sys.argv[1:])
