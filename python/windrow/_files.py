# SPDX-License-Identifier: BSD-3-Clause
"""Files: open, close, and the queue of puts and gets."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from . import _core
from ._communicators import communicator_of
from ._decompositions import Decomposition
from ._ends import opened
from ._errors import Code, WindrowError, attempt, counted, readable
from ._groups import Group
from ._handle import Handle
from ._open_files import OpenFile, agreed
from ._options import settings_of
from ._reports import Plan, Report
from ._variables import Variable, queue, refused
from ._viewers import Viewers

Array = np.ndarray[Any, Any]
_MODES = {"r": _core.READ, "r+": _core.UPDATE, "w": _core.CREATE, "x": _core.CREATE, "a": _core.CREATE}


class File(OpenFile, Group):
    """An open file, and its root group. `windrow.open` makes one.

    In a ``with`` block it is closed at the end, and a new file then appears under its name. An exception on any rank
    discards it: a previous file of that name is unchanged, and the other ranks get a `WindrowError` from their next
    call.

    Attributes
    ----------
    path : str
    mode : str
    rank, size : int
        Of this process in the file's communicator.
    copied_bytes : int
        Bytes that were copied before they were written, because windrow.h cannot describe their layout in memory.
    """

    _handle: Handle

    def __init__(self, path: str | os.PathLike[str], mode: str = "r", comm: Any = None, **options: Any) -> None:
        ranks = communicator_of(comm)
        name, number, settings = agreed(ranks, path, mode, _MODES, comm, options)
        if mode in ("x", "a"):
            exists = ranks.any(ranks.rank == 0 and os.path.exists(name))
            number = _core.UPDATE if exists and mode == "a" else number
            if exists and mode == "x":
                raise WindrowError(f'"{name}" exists', Code.EXISTS, 0)
        self.path = name
        self.mode = mode
        Group.__init__(self, Handle(_core.File(ranks, name, number, settings, ""), name, mode, self), "/")
        opened(self._handle)

    @property
    def copied_bytes(self) -> int:
        return self._handle.copied_bytes

    @property
    def subfiles(self) -> list[str]:
        """The files over which variables are split; empty: it is one file."""
        return self._handle.core.subfiles()

    @property
    def dimensions(self) -> dict[str, int]:
        """Paths and lengths of dimensions without a variable for their coordinates."""
        return self._handle.core.dimensions()

    @property
    def xdmf(self) -> Viewers:
        """Describes grids, meshes and the fields on them for ParaView and VisIt."""
        return Viewers(self._handle)

    @property
    def unsupported_objects(self) -> list[str]:
        """The objects of the file that cannot be read yet, and why."""
        return self._handle.core.unsupported_objects().splitlines()

    def close(self) -> None:
        """Flush the queue, publish and close. Collective. A closed file is allowed."""
        super().close()

    def discard(self, reason: str = "the file was discarded") -> None:
        """Close without publishing: a new file leaves no trace. The other ranks may be in any call on the
        communicator, and get `reason` as an error."""
        self._leave(reason)

    def put(
        self, variable: Variable | str, array: Any, decomposition: Decomposition, *, record: int | None = None
    ) -> None:
        """Queue an array to be written. Local: ranks may queue different variables in any order, or none.

        Parameters
        ----------
        variable : Variable or str
        array : array_like, shape ``decomposition.array_shape(variable.shape)``
            It must not be changed until the flush, and is kept until then. An array that is not contiguous in the order
            of the decomposition is copied, see `copied_bytes`.
        record : int, optional
            One index of the first dimension; the decomposition has the other dimensions.

        Raises
        ------
        WindrowError
            On this rank; the next flush raises it on every rank.
        """
        self._queue(True, variable, array, decomposition, record)

    def get(  # type: ignore[override]  # a file is a mapping whose get is the queue's
        self,
        variable: Variable | str,
        decomposition: Decomposition,
        *,
        out: Array | None = None,
        record: int | None = None,
    ) -> Array:
        """Queue an array to be read; the flush fills the returned array. Local, like `put`."""
        return self._queue(False, variable, out, decomposition, record)

    def flush(self) -> None:
        """Move everything queued, puts first, then gets, in one plan. Collective."""
        self._handle.flush()

    def flush_begin(self) -> None:
        """Begin a flush whose data is written while the program computes; `flush_end` ends it. Collective."""
        self._handle.flush_begin()

    def flush_end(self) -> None:
        """End the flush of `flush_begin`. Collective."""
        self._handle.flush_end()

    def sync(self) -> None:
        """Flush, and publish what has been flushed so far under the file's name. Collective."""
        self._handle.core.sync("")
        self._handle.release()

    def set_strategy(self, **options: Any) -> None:
        """Choose another strategy for the flushes that follow: ``set_strategy(gather="team(16)")``. Collective;
        nothing may be queued."""
        settings, problem = attempt(lambda: settings_of(options))
        self._handle.core.set_strategy(settings or {}, problem)

    def explain(self) -> Plan:
        """The plan of the queue or, if it is empty, of the last flush: each choice and its reason. Collective."""
        return Plan(self._handle.core.explain("text", ""), self._handle.core.explain("json", ""))

    def report(self) -> Report:
        """What the last flush did, over all ranks. Local."""
        return Report(self._handle.core.report("text"), self._handle.core.report("json"))

    def check_subfiles(self) -> list[str]:
        """The errors in the set of a file and its subfiles; empty: none, or it is one file. Collective.

        Names subfiles that are missing, damaged, of another set or under the name of another subfile, unexpected files
        in their folder, and parts whose elements do not match their checksum.
        """
        return self._handle.core.check_subfiles("").splitlines()

    def write_references(self, path: str | os.PathLike[str] = "", prefix: str = "") -> list[str]:
        """Write a kerchunk reference file, with which xarray and zarr open this file and its subfiles lazily.
        Collective.

        Returns the objects that Zarr cannot express, and the reasons.
        """
        ready, problem = attempt(lambda: (os.fsdecode(path), str(prefix)))
        return self._handle.core.write_references(*(ready or ("", "")), problem).splitlines()

    def _queue(
        self, put: bool, variable: Variable | str, value: Any, decomposition: Decomposition, record: int | None
    ) -> Array:
        def arguments() -> Variable:
            found = self[variable] if isinstance(variable, str) else variable
            if not isinstance(found, Variable):
                raise TypeError(f"{variable!r} is a group")
            if found.file is not self:
                raise ValueError(f"{found.name} is of another file")
            return found

        found, problem = attempt(arguments)
        if found is None:
            raise refused(self._handle, problem)
        return queue(put, found, value, decomposition, record)

    def __repr__(self) -> str:
        if not self.is_open:
            return f"<windrow.File {self.path}, closed>"
        ranks = counted(self.size, "rank")
        return readable(f'<windrow.File {self.path}, mode "{self.mode}", {ranks}: {", ".join(self) or "empty"}>')


def open(path: str | os.PathLike[str], mode: str = "r", comm: Any = None, **options: Any) -> File:
    """Open or create a file. Collective over `comm`.

    Parameters
    ----------
    path : str or path
        The format of a new file follows from its name: ``.h5``, ``.hdf5``, ``.nc4`` is HDF5, ``.nc`` and ``.cdf``
        netCDF classic, ``.raw`` raw.
    mode : {"r", "r+", "w", "x", "a"}
        Read; change in place; create; create unless it exists; change an existing file or create one.
    comm : mpi4py.MPI.Comm, "world", "self" or None
        The ranks of the file. None: this process alone. If several processes were started together, it may then only
        read.
    **options
        Strategy and settings: ``strategy="two-phase"``, ``gather="team(16)"``, ``durable=True``, ...
        (docs/settings.md).

    Returns
    -------
    File

    Raises
    ------
    WindrowError
        On every rank, if any rank's arguments are refused or the file cannot be opened.

    Examples
    --------
    >>> with windrow.open("out.h5", "w") as f:
    ...     f.create_variable("x", data=[1.0, 2.0])
    """
    return File(path, mode, comm, **options)
