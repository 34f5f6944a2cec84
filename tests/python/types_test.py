# SPDX-License-Identifier: BSD-3-Clause
"""The package's types are whole: mypy, strict, as pyproject.toml sets it. Argument: a folder for what mypy keeps. Exit code 77: there is no
mypy (Debian: python3-mypy)."""

import importlib.util
import subprocess
import sys
from pathlib import Path

if importlib.util.find_spec("mypy") is None:
    sys.exit(77)
sys.exit(subprocess.run([sys.executable, "-m", "mypy", f"--cache-dir={sys.argv[1]}"], cwd=Path(__file__).resolve().parents[2]).returncode)
