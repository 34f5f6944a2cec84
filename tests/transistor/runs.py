# SPDX-License-Identifier: BSD-3-Clause
"""Runs of windrow-transistor for the tests, which CTest tells of it by WINDROW_TRANSISTOR, WINDROW_MESH and
WINDROW_MPIRUN."""

import os
import shlex
import subprocess
from pathlib import Path

PROGRAM = os.environ["WINDROW_TRANSISTOR"]
MESH_PROGRAM = os.environ["WINDROW_MESH"]
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "transistor"
LIMIT_S = 120  # a hang is a failure


def start(ranks: int, *words: object, **environment: str) -> "subprocess.CompletedProcess[str]":
    command = [*shlex.split(os.environ["WINDROW_MPIRUN"]), "-n", str(ranks), PROGRAM, *map(str, words)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=LIMIT_S, check=False, env={**os.environ, **environment}
    )


def run(ranks: int, *words: object) -> str:
    """What it prints; it must end well."""
    done = start(ranks, *words)
    if done.returncode != 0:
        raise AssertionError(f"{words} on {ranks} ranks: {done.stdout}{done.stderr}")
    return done.stdout
