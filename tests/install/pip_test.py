# SPDX-License-Identifier: BSD-3-Clause
"""`pip install .` in a clean folder of Python's own, as a user does it; the package writes and reads, alone and on
two ranks.

Arguments: the folder to work in, the launcher in one word. Exit code 77: pip cannot get what builds it
(scikit-build-core and nanobind, from PyPI).
"""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import windrow
with windrow.open("out.h5", "w", comm="world") as f:
    v = f.create_variable("x", (f.size, 2), "float64")
    v[f.rank] = f.rank
    assert v[...].tolist() == [[rank, rank] for rank in range(f.size)]
"""


def main(folder: Path, launcher: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    quiet = [python, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    if (
        subprocess.run([*quiet, "download", "--no-deps", "--dest", folder, "scikit-build-core", "nanobind"]).returncode
        != 0
    ):
        sys.exit(77)
    environment = os.environ | {"CMAKE_BUILD_PARALLEL_LEVEL": "2"}
    subprocess.run([*quiet, "install", str(ROOT)], check=True, env=environment)
    (folder / "program.py").write_text(PROGRAM)
    subprocess.run([python, "program.py"], check=True, cwd=folder)
    subprocess.run([*shlex.split(launcher), "-n", "2", python, "program.py"], check=True, cwd=folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
