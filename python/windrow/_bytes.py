# SPDX-License-Identifier: BSD-3-Clause
"""Files of plain bytes: bytes.h."""

from __future__ import annotations

import os
from operator import index
from typing import Any

import numpy as np

from . import _core
from ._communicators import communicator_of, number_of_type
from ._decompositions import _integers
from ._ends import opened
from ._errors import attempt, counted, readable
from ._handle import ByteHandle
from ._open_files import OpenFile, agreed
from ._reports import Plan, Report
from ._selections import Integers

Array = np.ndarray[Any, Any]
_MODES = {"r": _core.READ, "r+": _core.UPDATE, "a": _core.UPDATE_OR_CREATE}


class ByteList:
    """Which bytes of a file this rank moves, and where they are in its memory. Local.

    If pieces overlap in the file, the later one is written, and a read fills each of them.

    Parameters
    ----------
    offsets : array_like of int, shape (n,)
        Bytes from the start of the file.
    lengths : array_like of int, shape (n,)
        Bytes.
    memory_offsets : array_like of int, shape (n,), optional
        Bytes from the start of the array that a call passes. None: the pieces are in memory one after another.

    Attributes
    ----------
    memory : tuple of int
        All bytes of the list are in the bytes [begin, end) of the array.

    Examples
    --------
    >>> windrow.ByteList([4096, 80000], [800, 800])
    """

    def __init__(self, offsets: Any, lengths: Any, memory_offsets: Any = None) -> None:
        places = np.zeros(0, np.int64) if memory_offsets is None else _column(memory_offsets, "memory_offsets")
        begins, sizes = _column(offsets, "offsets"), _column(lengths, "lengths")
        _check_sizes(begins, sizes, *([] if memory_offsets is None else [places]))
        self._handle = _core.ByteList.pieces(begins, sizes, places, memory_offsets is not None)

    @classmethod
    def runs(
        cls, offsets: Any, lengths: Any, memory_offsets: Any, counts: Any, strides: Any, memory_strides: Any
    ) -> ByteList:
        """A list of pieces that are repeated by nested loops, such as the block of an array. They are never expanded
        into pieces: a block costs as little as one of its rows.

        Parameters
        ----------
        offsets, lengths, memory_offsets : array_like of int, shape (n,), or int
            Of the first piece of each run.
        counts : array_like of int, shape (n, loops), or (loops,) for one run
            Steps of each loop, in any order of the loops.
        strides, memory_strides : array_like of int, the same shape
            Bytes from step to step, in the file and in memory; they may be negative.

        Examples
        --------
        >>> windrow.ByteList.runs(0, 8, 0, [100, 50], [64, 80000], [8, 800])
        """
        firsts = _column(offsets, "offsets"), _column(lengths, "lengths"), _column(memory_offsets, "memory_offsets")
        tables = _loops(counts, "counts"), _loops(strides, "strides"), _loops(memory_strides, "memory_strides")
        _check_sizes(*firsts, tables[0])
        for table in tables[1:]:
            if table.shape != tables[0].shape:
                raise ValueError(f"counts have the shape {tables[0].shape}, and strides {table.shape}")
        made = cls.__new__(cls)
        made._handle = _core.ByteList.runs(*firsts, *tables)
        return made

    @classmethod
    def types(
        cls, datatype: Any, count: int = 1, *, offset: int = 0, view: tuple[int, Any, Any] | None = None
    ) -> ByteList:
        """A list of elements of an MPI datatype in memory, for code that comes from MPI-IO. Vectors, subarrays and
        distributed arrays are not expanded into pieces.

        Parameters
        ----------
        datatype : mpi4py.MPI.Datatype
            Of the elements in memory.
        count : int
            Number of elements.
        offset : int
            Where they begin in the view, in etypes.
        view : (displacement, etype, filetype), optional
            As for ``MPI.File.Set_view``. None: all bytes of the file.

        Examples
        --------
        >>> windrow.ByteList.types(MPI.DOUBLE, 100, view=(4096, MPI.DOUBLE, subarray))
        """
        displacement, etype, filetype = (0, datatype, datatype) if view is None else view
        made = cls.__new__(cls)
        made._handle = _core.ByteList.types(
            number_of_type(datatype),
            index(count),
            index(offset),
            index(displacement),
            (number_of_type(etype), number_of_type(filetype)),
            view is not None,
        )
        return made

    @property
    def memory(self) -> tuple[int, int]:
        return self._handle.memory()

    def __repr__(self) -> str:
        return "<windrow.ByteList with memory [{}, {})>".format(*self.memory)


class ByteFile(OpenFile):
    """An open file of plain bytes. `windrow.open_bytes` makes one.

    In a ``with`` block it is closed at the end. If an exception leaves the block on any rank, all ranks close the file,
    and the other ranks get a `WindrowError` from their next call. What was written stays.

    Attributes
    ----------
    path : str
    mode : str
    rank, size : int
        Of this process in the file's communicator.
    """

    _handle: ByteHandle

    def __init__(self, path: str | os.PathLike[str], mode: str = "r", comm: Any = None, **options: Any) -> None:
        ranks = communicator_of(comm)
        name, number, settings = agreed(ranks, path, mode, _MODES, comm, options)
        self.path = name
        self.mode = mode
        self._handle = ByteHandle(_core.ByteFile(ranks, name, number, settings, ""), name, mode)
        opened(self._handle)

    def write(self, list: ByteList | None = None, array: Any = None) -> None:
        """Write the bytes of the lists of all ranks. Collective.

        Where the lists of several ranks have the same byte, the highest of these ranks writes it.

        Parameters
        ----------
        list : ByteList or None
            None: this rank writes nothing.
        array : C-contiguous array of any type, or another buffer such as bytes
            All bytes of the list are in it.
        """
        (core, data), problem, _kept = _ready(list, array, False)
        self._handle.core.write(core, data, problem)

    def read(self, list: ByteList | None = None, array: Any = None) -> int:
        """Read the bytes of the lists of all ranks into `array`. Collective.

        Bytes beyond the end of the file are not read, and their memory is not changed.

        Returns
        -------
        int
            Bytes of this rank's list before the end of the file.
        """
        (core, data), problem, _kept = _ready(list, array, True)
        return self._handle.core.read(core, data, problem)

    def explain(self, list: ByteList | None = None, *, reading: bool = False) -> Plan:
        """The plan by which a `write` of these lists, or a `read`, would move them: each choice and its reason.
        Collective."""
        found, problem = attempt(lambda: (_core_of(list), bool(reading)))
        core, reads = found or (None, False)
        explain = self._handle.core.explain
        return Plan(explain(reads, core, "text", problem), explain(reads, core, "json", problem))

    def report(self) -> Report:
        """What the last `write` or `read` did, over all ranks. Local."""
        return Report(self._handle.core.report("text"), self._handle.core.report("json"))

    def sync(self) -> None:
        """When this returns, everything that was written is on stable storage. Collective."""
        self._handle.core.sync("")

    def __repr__(self) -> str:
        if not self.is_open:
            return f"<windrow.ByteFile {self.path}, closed>"
        return readable(f'<windrow.ByteFile {self.path}, mode "{self.mode}", {counted(self.size, "rank")}>')


def open_bytes(path: str | os.PathLike[str], mode: str = "r", comm: Any = None, **options: Any) -> ByteFile:
    """Open a file of plain bytes, which is changed in place. Collective over `comm`.

    Parameters
    ----------
    path : str or path
    mode : {"r", "r+", "a"}
        Read; change; change, or make a file without bytes if there is none. Nothing is ever truncated.
    comm : mpi4py.MPI.Comm, "world", "self" or None
        The ranks of the file. None: this process alone. If several processes were started together, it may then only
        read.
    **options
        Strategy and settings: ``strategy="two-phase"``, ``access="list"``, ... (docs/settings.md).

    Raises
    ------
    WindrowError
        On every rank, if any rank's arguments are refused or the file cannot be opened.

    Examples
    --------
    >>> with windrow.open_bytes("field.dat", "a", comm=comm) as f:
    ...     f.write(windrow.ByteList([800 * comm.rank], [800]), np.zeros(100))
    """
    return ByteFile(path, mode, comm, **options)


def _column(values: Any, name: str) -> Integers:
    column = np.atleast_1d(_integers(values, name))
    if column.ndim != 1:
        raise ValueError(f"{name} has the shape {column.shape}, not (pieces,)")
    return column


def _loops(values: Any, name: str) -> Integers:
    table = np.atleast_2d(_integers(values, name))
    if table.ndim != 2:
        raise ValueError(f"{name} has the shape {table.shape}, not (runs, loops)")
    return table


def _check_sizes(*lists: Integers) -> None:
    if len({len(numbers) for numbers in lists}) > 1:
        raise ValueError(f"a list of bytes from arrays of {', '.join(str(len(numbers)) for numbers in lists)} entries")


def _core_of(list: ByteList | None) -> _core.ByteList | None:
    if list is not None and not isinstance(list, ByteList):
        raise TypeError(f"{type(list).__name__} instead of a ByteList")
    return None if list is None else list._handle


def _ready(list: ByteList | None, array: Any, reading: bool) -> tuple[tuple[_core.ByteList | None, int], str, Any]:
    """A list and the address of an array that has all its bytes, for a collective call; what is wrong with them; and
    the array, which must exist until the call has ended."""

    def arguments() -> tuple[_core.ByteList | None, Array]:
        core = _core_of(list)
        buffer = _buffer_of(array)
        begin, end = (0, 0) if list is None else list.memory
        if begin < 0 or end > buffer.nbytes:
            raise ValueError(
                f"the array has {counted(buffer.nbytes, 'byte')}, and the list has bytes from {begin} to {end}"
            )
        if reading and end > begin and not buffer.flags.writeable:
            raise ValueError("the array is read-only")
        return core, buffer

    found, problem = attempt(arguments)
    if found is None:
        return (None, 0), problem, None
    return (found[0], found[1].ctypes.data), problem, found[1]


def _buffer_of(array: Any) -> Array:
    if array is None:
        return np.zeros(0, np.uint8)
    if not isinstance(array, np.ndarray):
        view = memoryview(array)
        if not view.c_contiguous:
            raise ValueError("the buffer is not contiguous")
        return np.frombuffer(view, np.uint8) if view.nbytes else np.zeros(0, np.uint8)
    if array.dtype.hasobject:
        raise TypeError(f"an array of {array.dtype} has no bytes of its own")
    if not array.flags.c_contiguous:
        raise ValueError("the array is not C-contiguous; say in the list which bytes of the whole array count")
    return array
