# SPDX-License-Identifier: BSD-3-Clause
"""Windrow: parallel I/O for MPI programs.

    with windrow.open("out.h5", "w", comm=MPI.COMM_WORLD) as f:
        v = f.create_variable("temperature", (4 * comm.size, 8), "float64", dims=("y", "x"))
        v[4 * comm.rank : 4 * comm.rank + 4] = array      # each rank its rows; collective

`open` makes a `File`; variables are read and written by ``v[...]``, or queued with a decomposition (`block`,
`blocks`, `rows`, `points`, `same`) and moved together by ``flush``. `open_bytes` opens a file of a format of your own.
docs/python.md is the guide.
"""

from . import _core
from ._bytes import ByteFile, ByteList, open_bytes
from ._copies import copy
from ._decompositions import Decomposition, block, blocks, points, rows, same
from ._errors import Code, WindrowError
from ._files import File, open
from ._groups import Group
from ._machines import advise, calibrate
from ._reports import Advice, Plan, Report
from ._variables import Variable
from ._viewers import Grid

__version__ = _core.version()


def has(feature: str) -> bool:
    """Whether something is built in: "hdf5", "netcdf", "filter=zstd", ..."""
    return _core.has(feature)


__all__ = [
    "Advice",
    "ByteFile",
    "ByteList",
    "Code",
    "Decomposition",
    "File",
    "Grid",
    "Group",
    "Plan",
    "Report",
    "Variable",
    "WindrowError",
    "advise",
    "block",
    "blocks",
    "calibrate",
    "copy",
    "has",
    "open",
    "open_bytes",
    "points",
    "rows",
    "same",
]
