# SPDX-License-Identifier: BSD-3-Clause
"""Runs an example of examples/python on all ranks: the program, its file. Exit code 77: mpi4py is missing, or of another MPI."""

import runpy
import sys
from pathlib import Path

from windrow import _core

try:
    from mpi4py import MPI
except ImportError:
    sys.exit(77)
if MPI.Get_library_version().rstrip("\0\n ") != _core.mpi_library_version().rstrip("\0\n "):
    sys.exit(77)
program, file = sys.argv[1:]
Path(file).unlink(missing_ok=True)
MPI.COMM_WORLD.Barrier()
sys.argv = [program, file]
runpy.run_path(program, run_name="__main__")
