# SPDX-License-Identifier: BSD-3-Clause
"""Runs an example of examples/python on all ranks: the program, its file."""

import runpy
import sys
from pathlib import Path

from mpi4py import MPI

program, file = sys.argv[1:]
Path(file).unlink(missing_ok=True)
MPI.COMM_WORLD.Barrier()
sys.argv = [program, file]
runpy.run_path(program, run_name="__main__")
