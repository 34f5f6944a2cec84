# SPDX-License-Identifier: BSD-3-Clause
"""Decompositions: which elements each rank holds. Made once, collectively, and used for many variables and time
steps."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Literal

import numpy as np

from . import _core
from ._communicators import communicator_of
from ._errors import attempt, counted, readable
from ._options import settings_of
from ._selections import Integers

Array = np.ndarray[Any, Any]
_NO_BOX = np.zeros((0, 0), np.int64)


class Decomposition:
    """Which elements of an array each rank holds, and where they are in its memory.

    It applies to every variable whose first dimensions are `shape`. Each element stands for all trailing elements of
    the variable.

    Attributes
    ----------
    kind : str
        "block", "blocks", "rows", "points" or "same".
    shape : tuple of int
        Of the whole array. Empty for ``same`` of all of any variable.
    local_shape : tuple of int
        Of this rank's array, without the trailing dimensions; ghost cells included.
    order : {"C", "F"}
        The order of this rank's array in memory.
    """

    def __init__(
        self,
        kind: str,
        handle: _core.Decomposition,
        shape: Sequence[int],
        local_shape: Sequence[int],
        order: Literal["C", "F"] = "C",
    ) -> None:
        self.kind = kind
        self.order: Literal["C", "F"] = order
        self.shape = tuple(shape)
        self.local_shape = tuple(local_shape)
        self._handle = handle

    def array_shape(self, variable_shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of this rank's array for a variable of `variable_shape`, including trailing dimensions."""
        if self.kind == "same" and not self.shape:
            return tuple(variable_shape)
        if self.kind != "points":
            return self.local_shape + tuple(variable_shape[len(self.shape) :])
        leading = next((n for n in range(1, len(variable_shape) + 1) if prod(variable_shape[:n]) == self.shape[0]), 1)
        return self.local_shape + tuple(variable_shape[leading:])

    @property
    def first_row(self) -> int:
        """The first row of this rank, in a decomposition by rows."""
        return self._handle.rows()[0]

    @property
    def row_count(self) -> int:
        """The number of rows of this rank, in a decomposition by rows."""
        return self._handle.rows()[1]

    def owned(self, owner: str = "auto") -> tuple[Integers, int]:
        """The points that this rank writes, ascending, and the number of their intervals, in a decomposition by
        points."""
        points, intervals = self._handle.owned(readable(str(owner)))
        return np.asarray(points, np.int64), intervals

    @property
    def holes(self) -> int:
        """The number of points that no rank holds, in a decomposition by points."""
        return self._handle.holes()

    def __repr__(self) -> str:
        return f"<windrow.{self.kind} of {self.shape or 'any shape'}: {self.local_shape} here>"


def _make(comm: Any, call: str, arguments: Callable[[], Any], make: Callable[..., Any]) -> tuple[Any, Any]:
    """Agree on arguments, then make a decomposition of them: (handle, arguments)."""
    ranks = communicator_of(comm)
    ready, problem = attempt(arguments)
    ranks.agree(call, problem and f"{call}: {problem}")
    return make(ranks, ready), ready


def _integers(values: Any, name: str) -> Integers:
    given = np.asarray(values)
    if given.size and given.dtype.kind not in "iu":
        raise TypeError(f"{name}: {given.dtype} instead of integers")
    if given.size and given.max() >= 2**63:  # which would become another number
        raise ValueError(f"{name}: {given.max()} does not fit into 64 bits")
    return np.ascontiguousarray(given, dtype=np.int64)


def _shape(values: Sequence[int]) -> list[int]:
    return [int(value) for value in _integers(values, "shape")]


def _table(values: Any, ndims: int, name: str) -> Integers:
    table = _integers(values, name)
    if table.size == 0:
        return np.zeros((0, ndims), np.int64)
    if table.ndim != 2 or table.shape[1] != ndims:
        raise ValueError(f"{name} has the shape {table.shape}, not (blocks, {ndims})")
    return table


def block(
    comm: Any,
    shape: Sequence[int],
    start: Sequence[int],
    count: Sequence[int],
    memory_shape: Sequence[int] | None = None,
    memory_start: Sequence[int] | None = None,
    order: Literal["C", "F"] = "C",
) -> Decomposition:
    """One block on each rank. Collective.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm, "world", "self" or None
        The file's communicator.
    shape : sequence of int, shape (ndim,)
        Of the whole array; the same on every rank.
    start, count : sequence of int, shape (ndim,)
        This rank's block; with a count of 0 it holds nothing.
    memory_shape, memory_start : sequence of int, shape (ndim,), optional
        The box in this rank's memory around the block, including ghost cells, and the place of the block in it.
    order : {"C", "F"}
        "F": this rank's arrays are in Fortran order. Then the variables have no dimensions beyond `shape`.

    Raises
    ------
    WindrowError
        On every rank, if a block exceeds the shape or its box.
    """

    def one(values: Sequence[int], name: str) -> Integers:
        if len(values) != len(shape):
            raise ValueError(f"{name} has {counted(len(values), 'number')} for {counted(len(shape), 'dimension')}")
        numbers = _integers(values, name)
        if numbers.ndim != 1:
            raise ValueError(f"{name} has the shape {numbers.shape}, not ({len(shape)},)")
        return numbers.reshape(1, len(shape))

    def arguments() -> tuple[Any, ...]:
        box = count if memory_shape is None else memory_shape
        within = [0] * len(shape) if memory_start is None else memory_start
        if order not in ("C", "F"):
            raise ValueError(f'order is "C" or "F", not {order!r}')
        parts = (
            _shape(shape),
            one(start, "start"),
            one(count, "count"),
            one(box, "memory_shape"),
            one(within, "memory_start"),
        )
        if order == "F":
            _check_box(*parts[2:])
        return parts

    def make(ranks: _core.Communicator, parts: Any) -> _core.Decomposition:
        if order == "C":
            return _core.blocks(ranks, *parts)
        whole, begin, length, box, within = parts
        strides = np.concatenate((np.ones((1, 1), np.int64), np.cumprod(box, axis=1)), axis=1)[:, :-1]
        return _core.strided_blocks(
            ranks, whole, begin, length, (within * strides).sum(axis=1), np.ascontiguousarray(strides)
        )

    handle, ready = _make(comm, "block", arguments, make)
    return Decomposition("block", handle, ready[0], ready[3][0].tolist(), order)


def _check_box(count: Integers, box: Integers, within: Integers) -> None:
    """Raise if a block exceeds its box in memory."""
    for number in np.flatnonzero(
        (within < 0) | (within + count > box) if (count > 0).all() else np.zeros(box.shape, bool)
    ):
        raise ValueError(
            f"the block has {counted(count[0, number], 'element')} from {within[0, number]} on in dimension {number} "
            f"of its memory box of {box[0, number]}"
        )


def blocks(
    comm: Any, shape: Sequence[int], starts: Any, counts: Any, memory_shapes: Any = None, memory_starts: Any = None
) -> Decomposition:
    """Several blocks on each rank, consecutive in its memory, each in its own box. Collective.

    Parameters
    ----------
    starts, counts : array_like of int, shape (blocks, ndim)
        This rank's; ``[]`` for none.
    memory_shapes, memory_starts : array_like of int, shape (blocks, ndim), optional
        As for `block`.
    """

    def arguments() -> tuple[Any, ...]:
        boxes = _NO_BOX if memory_shapes is None else _table(memory_shapes, len(shape), "memory_shapes")
        within = _NO_BOX if memory_starts is None else _table(memory_starts, len(shape), "memory_starts")
        tables = [_table(starts, len(shape), "starts"), _table(counts, len(shape), "counts"), boxes, within]
        if any(len(table) != len(tables[0]) for table in tables[1:2] + [t for t in tables[2:] if t.size]):
            raise ValueError(f"{counted(len(tables[0]), 'start')}, {counted(len(tables[1]), 'count')}")
        return (_shape(shape), *tables)

    handle, ready = _make(comm, "blocks", arguments, lambda ranks, parts: _core.blocks(ranks, *parts))
    held = ready[3] if ready[3].size else ready[2]
    return Decomposition("blocks", handle, ready[0], [int(np.prod(held, axis=1).sum())])


def rows(comm: Any, rows: int, count: int | None = None) -> Decomposition:
    """A contiguous range of rows on each rank, in rank order. Rows are along the slowest dimension. Collective.

    Parameters
    ----------
    rows : int
        Of the whole array; the same on every rank.
    count : int, optional
        The number of this rank; the sum over all ranks is `rows`. None, on every rank: divided evenly.
    """
    number = _core.EVEN if count is None else count
    handle, ready = _make(
        comm,
        "rows",
        lambda: (operator.index(rows), operator.index(number)),
        lambda ranks, parts: _core.rows(ranks, *parts),
    )
    return Decomposition("rows", handle, [ready[0]], [handle.rows()[1]])


def points(
    comm: Any,
    points: int,
    list: Any,
    owned: Any = None,
    *,
    imbalance: float | None = None,
    point_bytes: int | None = None,
) -> Decomposition:
    """Elements by their numbers along one dimension, in any order, each with its trailing elements; for meshes.
    Collective.

    Parameters
    ----------
    points : int
        Of the whole array; the same on every rank. A variable may have several dimensions with this product.
    list : array_like of int, shape (n,)
        The numbers of this rank's points, in their order in memory.
    owned : array_like of bool, shape (n,), optional
        Whether this rank owns a point; False for a replica. Given on all ranks that have points, or on none.
    imbalance : float, optional
        For ``owner="balanced"``: the maximum difference in work between two ranks, in per cent.
    point_bytes : int, optional
        For ``owner="balanced"``: bytes of a point, with all its values, in the variables that are written most; default
        8.
    """

    def arguments() -> tuple[Any, ...]:
        numbers = _integers(list, "list").ravel()
        flags = np.ascontiguousarray([] if owned is None else owned, dtype=bool).ravel().view(np.uint8)
        if owned is not None and len(flags) != len(numbers):
            raise ValueError(f"{counted(len(flags), 'owner flag')} for {counted(len(numbers), 'point')}")
        return (
            operator.index(points),
            numbers,
            flags,
            owned is not None,
            settings_of({"imbalance": imbalance, "point_bytes": point_bytes}),
        )

    handle, ready = _make(comm, "points", arguments, lambda ranks, parts: _core.points(ranks, *parts))
    return Decomposition("points", handle, [ready[0]], [len(ready[1])])


def same(
    comm: Any, shape: Sequence[int] = (), start: Sequence[int] | None = None, count: Sequence[int] | None = None
) -> Decomposition:
    """The same part on every rank. The lowest rank's data is written, and all ranks read it. Collective.

    Parameters
    ----------
    shape : sequence of int, optional
        None: all of any variable.
    start, count : sequence of int, shape (ndim,), optional
        The part; None: everything.
    """

    def arguments() -> tuple[Any, ...]:
        begin = [0] * len(shape) if start is None else start
        length = [s - b for s, b in zip(shape, begin)] if count is None else count
        if len(begin) != len(shape) or len(length) != len(shape):
            raise ValueError(
                f"{counted(len(begin), 'start')} and {counted(len(length), 'count')} for "
                f"{counted(len(shape), 'dimension')}"
            )
        return tuple([operator.index(value) for value in values] for values in (shape, begin, length))

    handle, ready = _make(comm, "same", arguments, lambda ranks, parts: _core.same(ranks, *parts))
    return Decomposition("same", handle, ready[0], ready[2])
