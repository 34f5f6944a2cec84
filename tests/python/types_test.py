# SPDX-License-Identifier: BSD-3-Clause
"""The package's types are whole: mypy, strict, as pyproject.toml sets it. Argument: a folder for what mypy keeps.
Exit code 77: there is no mypy (Debian: python3-mypy)."""

import importlib.util
import subprocess
import sys
from pathlib import Path

if importlib.util.find_spec("mypy") is None:
    sys.exit(77)
PROGRAM = """
import numpy as np
import windrow
with windrow.open("out.h5", "w", comm="world", strategy="list") as f:
    rows = windrow.rows("world", 3)
    v = f.create_variable("v", (3,), "float64")
    v[0:2] = np.zeros(2)
    f.put("v", np.zeros(rows.row_count), rows)
    print(f["v"][...] + 1, f["v"].attrs["units"], f.report()["bytes"], [found.shape for found in f.values()])
"""
mypy = [sys.executable, "-m", "mypy", f"--cache-dir={sys.argv[1]}"]
root = Path(__file__).resolve().parents[2]
package = subprocess.run(mypy, cwd=root).returncode
# What programs write is typed, too
program = subprocess.run([*mypy, "--strict", "-c", PROGRAM], cwd=root / "python").returncode
sys.exit(package or program)
