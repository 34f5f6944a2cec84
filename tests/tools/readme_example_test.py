# SPDX-License-Identifier: BSD-3-Clause
"""A program of README.md compiles without a warning, runs, and writes what it says, as h5py reads it.

Arguments: c or fortran, the compiler, the folder of windrow.h or of the module files, the libraries' paths in one
word, the flags of MPI in one word, the launcher in one word.
"""

import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

README = Path(__file__).resolve().parents[2] / "README.md"
RANKS = 3


# The ending of a source's name, and what makes a compiler strict.
LANGUAGES = {
    "c": ("c", ["-std=c11", "-Wall", "-Wextra", "-Werror"]),
    "fortran": ("f90", ["-std=f2018", "-Wall", "-Wextra", "-Werror"]),
}


def example(language: str) -> str:
    (block,) = re.findall(rf"^```{language}\n(.*?)^```$", README.read_text(), re.MULTILINE | re.DOTALL)
    lines = [line for line in block.splitlines() if line.strip()]
    if len(lines) > 24:
        sys.exit(f"the example has {len(lines)} lines; the README promises a short one")
    return block


def run(*command: str, folder: str) -> None:
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{shlex.join(command)}: exit code {result.returncode}\n{result.stdout}{result.stderr}")


def main(language: str, compiler: str, include: str, libraries: str, mpi_flags: str, launcher: str) -> None:
    import h5py

    ending, strict = LANGUAGES[language]
    source = f"program.{ending}"
    with tempfile.TemporaryDirectory(prefix="windrow-readme-") as folder:
        Path(folder, source).write_text(example(language))
        paths = shlex.split(libraries)
        run(compiler, *strict, source, "-o", "program", f"-I{include}", *shlex.split(mpi_flags), *paths,
            f"-Wl,-rpath,{Path(paths[0]).parent}", *shlex.split(mpi_flags), folder=folder)  # fmt: skip
        run(*shlex.split(launcher), "-n", str(RANKS), "./program", folder=folder)
        left = sorted(path.name for path in Path(folder).iterdir())
        if left != ["out.h5", "program", source]:
            sys.exit(f"unexpected files: {left}")
        with h5py.File(Path(folder, "out.h5"), "r") as file:
            table = file["temperature"]
            if (
                table.shape != (2 * RANKS, 8)
                or table.dtype != "float64"
                or table[()].ravel().tolist() != list(range(16 * RANKS))
            ):
                sys.exit(f"out.h5 holds {table.shape} {table.dtype}: {table[()]}")


if __name__ == "__main__":
    main(*sys.argv[1:])
