# SPDX-License-Identifier: BSD-3-Clause
"""Files: opened, closed, and the queue of what is put and got."""

from __future__ import annotations

import operator
import os
import warnings
from types import TracebackType
from typing import Any

import numpy as np

from . import _core
from ._communicators import communicator_of, communicator_to_write
from ._decompositions import Decomposition
from ._ends import leave, lost, opened, refused_alone
from ._errors import Code, WindrowError, attempt, readable
from ._groups import Group
from ._options import settings_of
from ._reports import Plan, Report
from ._types import number_type
from ._variables import Variable, array_to_queue
from ._viewers import Viewers

Array = np.ndarray[Any, Any]
_MODES = {"r": _core.READ, "r+": _core.UPDATE, "w": _core.CREATE, "x": _core.CREATE, "a": _core.CREATE}


class File(Group):
    """An open file, and its root group. `windrow.open` makes one.

    In a ``with`` block it is closed at the end: then a new file appears under its name. An exception on any rank discards it: the file that stood
    there before is whole, and the other ranks get a `WindrowError` from their next call.

    Attributes
    ----------
    path : str
    mode : str
    rank, size : int
        Of this process in the file's communicator.
    copied_bytes : int
        How much of what was written had to be packed, because it does not lie in memory as windrow.h can be told.
    """

    def __init__(self, path: str | os.PathLike[str], mode: str = "r", comm: Any = None, **options: Any) -> None:
        ranks = communicator_of(comm)

        def arguments() -> tuple[str, int, dict[str, str]]:
            if mode not in _MODES:
                raise ValueError(f"mode {mode!r}: there are {', '.join(_MODES)}")
            if mode != "r":
                communicator_to_write(comm)
            return os.fsdecode(path), _MODES[mode], settings_of(options)

        ready, problem = attempt(arguments)
        name, number, settings = ready or ("", _core.READ, {})
        try:
            ranks.agree(readable(f'open with mode "{mode}"'), problem)  # the modes are other calls below
        except WindrowError as error:
            if comm is None:
                refused_alone(error, problem)
            raise
        if mode in ("x", "a"):
            exists = ranks.any(ranks.rank == 0 and os.path.exists(name))
            number = _core.UPDATE if exists and mode == "a" else number
            if exists and mode == "x":
                raise WindrowError(f'"{name}" exists', Code.EXISTS, 0)
        self.path = name
        self.mode = mode
        self.copied_bytes = 0
        self._held: list[Any] = []  # what is queued, until the flush
        self._moving: list[Any] = []  # what flush_begin has begun to move
        self._core = _core.File(ranks, name, number, settings, "")
        super().__init__(self, "/")
        self._order = opened(self)

    def __enter__(self) -> File:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is not None:
            self.discard(_reason(error))
            return
        try:
            self.close()
        except BaseException as failure:
            # Where the others were in another call the file is still open, and they leave it as this rank must: none waits for another.
            self.discard(_reason(failure))
            raise

    def __del__(self) -> None:
        core = getattr(self, "_core", None)
        if core is not None and core.is_open:
            warnings.warn(f"{self.path} was not closed", ResourceWarning, stacklevel=1)
            if core.size == 1:
                core.abandon("not closed")
            else:
                lost(self)

    @property
    def rank(self) -> int:
        return self._core.rank

    @property
    def size(self) -> int:
        return self._core.size

    @property
    def is_open(self) -> bool:
        return self._core.is_open

    @property
    def subfiles(self) -> list[str]:
        """The files that variables are split over; empty: it is one file."""
        return self._core.subfiles()

    @property
    def dimensions(self) -> dict[str, int]:
        """Paths and lengths of dimensions that no variable has the name of."""
        return self._core.dimensions()

    @property
    def xdmf(self) -> Viewers:
        """Describes grids, meshes and the fields on them for ParaView and VisIt."""
        return Viewers(self)

    @property
    def unsupported_objects(self) -> list[str]:
        """What of the file cannot be read yet, and why."""
        return self._core.unsupported_objects().splitlines()

    def close(self) -> None:
        """Flush what is queued, publish and close. Collective. A file that is closed stays closed."""
        try:
            self._core.close("")
        finally:
            self._release_closed()

    def discard(self, reason: str = "the file was discarded") -> None:
        """Close without publishing: a new file leaves no trace. The other ranks, in whatever call on the communicator, get `reason` as an error."""
        try:
            leave(self, readable(reason))
        finally:
            self._release_closed()

    def put(self, variable: Variable | str, array: Any, decomposition: Decomposition, *, record: int | None = None) -> None:
        """Queue an array to be written. Local: ranks may queue different variables in any order, or none.

        Parameters
        ----------
        variable : Variable or str
        array : array_like, shape ``decomposition.array_shape(variable.shape)``
            Stays unchanged until the flush, which it is kept for. One that is not contiguous in the order of the decomposition is copied, see
            `copied_bytes`.
        record : int, optional
            One index of the first dimension; the decomposition is of the others.

        Raises
        ------
        WindrowError
            On this rank; the next flush raises it on every rank.
        """
        self._queue(True, variable, array, decomposition, record)

    def get(  # type: ignore[override]  # a file is a mapping whose get is the queue's
        self, variable: Variable | str, decomposition: Decomposition, *, out: Array | None = None, record: int | None = None
    ) -> Array:
        """Queue an array to be read; the flush fills what is returned. Local, as `put`."""
        return self._queue(False, variable, out, decomposition, record)

    def flush(self) -> None:
        """Move everything queued, puts first, then gets, in one plan. Collective."""
        self._core.flush("")
        self._release()

    def flush_begin(self) -> None:
        """Begin a flush whose data goes out while the program computes; `flush_end` ends it. Collective."""
        self._core.flush_begin("")
        self._moving += self._held
        self._held = []

    def flush_end(self) -> None:
        """End what `flush_begin` has begun. Collective."""
        self._core.flush_end("")
        self._moving = []

    def sync(self) -> None:
        """Flush, and publish what has been flushed so far under the file's name. Collective."""
        self._core.sync("")
        self._release()

    def set_strategy(self, **options: Any) -> None:
        """Choose another strategy for the flushes that follow: ``set_strategy(gather="team(16)")``. Collective; nothing may be queued."""
        settings, problem = attempt(lambda: settings_of(options))
        self._core.set_strategy(settings or {}, problem)

    def explain(self) -> Plan:
        """The plan of what is queued or, with nothing queued, of the last flush: each choice and why. Collective."""
        return Plan(self._core.explain("text", ""), self._core.explain("json", ""))

    def report(self) -> Report:
        """What the last flush did, over all ranks. Local."""
        return Report(self._core.report("text"), self._core.report("json"))

    def check_subfiles(self) -> list[str]:
        """What is wrong with the set of the file and its subfiles; empty: nothing, or it is one file. Collective.

        Names subfiles that are missing, damaged, of another set or under another's name, strangers in their folder, and parts whose elements are
        not those of their checksum.
        """
        return self._core.check_subfiles("").splitlines()

    def write_references(self, path: str | os.PathLike[str] = "", prefix: str = "") -> list[str]:
        """Write a kerchunk reference file, by which xarray and zarr open this file and its subfiles lazily. Collective.

        Returns what Zarr cannot express, and why.
        """
        ready, problem = attempt(lambda: (os.fsdecode(path), str(prefix)))
        return self._core.write_references(*(ready or ("", "")), problem).splitlines()

    def _queue(self, put: bool, variable: Variable | str, value: Any, decomposition: Decomposition, record: int | None) -> Array:
        def arguments() -> tuple[Variable, Array, int]:
            found = self[variable] if isinstance(variable, str) else variable
            if not isinstance(found, Variable):
                raise TypeError(f"{variable!r} is a group")
            if found.file is not self:
                raise ValueError(f"{found.name} is of another file")
            one = found if record is None else _Record(found)
            array = array_to_queue(one, decomposition, value, put)
            number = -1 if record is None else operator.index(record)
            if record is not None and number < 0:
                raise ValueError(f"{found.name}: there is no record {record}")
            return found, array, number

        ready, problem = attempt(arguments)
        if ready is None:
            if self.is_open:
                self._core.refuse(problem)
            raise WindrowError(problem, Code.BAD_ARGUMENT if self.is_open else Code.BAD_STATE, self.rank)
        found, array, index = ready
        if put and not np.may_share_memory(array, np.asarray(value)):
            self.copied_bytes += array.nbytes
        kind = number_type(array.dtype)
        number = found._info["type"] if kind is None else kind
        self._held.append((array, decomposition))
        self._core.queue(put, found._number, index, decomposition._handle, number, array.ctypes.data)
        return array

    def _release(self) -> None:
        """After a call that has moved all. One that failed may never have been made, on ranks in different calls: then all is still queued."""
        self._held, self._moving = [], []

    def _release_closed(self) -> None:
        if not self.is_open:
            self._release()

    def __repr__(self) -> str:
        if not self.is_open:
            return f"<windrow.File {self.path}, closed>"
        return readable(f'<windrow.File {self.path}, mode "{self.mode}", {self.size} ranks: {", ".join(self) or "empty"}>')


class _Record(Variable):
    """A variable as one record sees it: without its first dimension."""

    def __init__(self, variable: Variable) -> None:
        super().__init__(variable.file, variable._number)

    @property
    def shape(self) -> tuple[int, ...]:
        return super().shape[1:]


def _reason(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".rstrip(": ")


def open(path: str | os.PathLike[str], mode: str = "r", comm: Any = None, **options: Any) -> File:
    """Open or create a file. Collective over `comm`.

    Parameters
    ----------
    path : str or path
        The format of a new file follows from its name: ``.h5``, ``.hdf5``, ``.nc4`` is HDF5, ``.nc`` and ``.cdf`` netCDF classic, ``.raw`` raw.
    mode : {"r", "r+", "w", "x", "a"}
        Read; change in place; write anew; the same, but only where nothing is; change what is there or write anew.
    comm : mpi4py.MPI.Comm, "world", "self" or None
        Who takes part. None: this process alone; when it is one of several started together it may then only read.
    **options
        Strategy and settings: ``strategy="two-phase"``, ``gather="team(16)"``, ``durable=True``, ... (docs/settings.md).

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
