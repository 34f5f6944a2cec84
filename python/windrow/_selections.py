# SPDX-License-Identifier: BSD-3-Clause
"""Selections of ``v[...]``: which elements of a variable, in which order in memory. Pure."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._errors import counted

Integers = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Axis:
    """Elements along one dimension: runs of consecutive ones, in their order in memory."""

    starts: Integers
    counts: Integers
    dropped: bool = False  # by an integer: the result has no such dimension
    flipped: bool = False  # by a negative step: reversed in memory

    @property
    def count(self) -> int:
        return int(self.counts.sum())

    @property
    def is_run(self) -> bool:
        return len(self.starts) == 1

    def places(self) -> Integers:
        """The position of each run among the selected elements."""
        return _integers(np.cumsum(self.counts) - self.counts)

    def singles(self) -> Integers:
        """The same with one run for each element."""
        return np.concatenate(
            [np.arange(start, start + count) for start, count in zip(self.starts, self.counts)] or [_integers([])]
        )


@dataclass(frozen=True)
class Selection:
    """Elements of a variable, by dimension."""

    axes: tuple[Axis, ...]

    @property
    def counts(self) -> tuple[int, ...]:
        """The number of elements along each dimension, including dropped dimensions."""
        return tuple(axis.count for axis in self.axes)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape in numpy: without the dimensions that an integer selects from."""
        return tuple(axis.count for axis in self.axes if not axis.dropped)

    @property
    def dropped(self) -> tuple[int, ...]:
        return tuple(number for number, axis in enumerate(self.axes) if axis.dropped)

    @property
    def flipped(self) -> tuple[int, ...]:
        return tuple(number for number, axis in enumerate(self.axes) if axis.flipped)

    def is_all(self, shape: Sequence[int]) -> bool:
        """Whether it selects all of an array of `shape`, in order."""
        return self.counts == tuple(shape) and not self.flipped and all(axis.is_run for axis in self.axes)

    def of(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The selected elements of an array in memory."""
        chosen: np.ndarray[Any, Any] = (
            array[np.ix_(*(axis.singles()[:: -1 if axis.flipped else 1] for axis in self.axes))] if self.axes else array
        )
        return chosen.reshape(self.shape)

    def hull(self) -> tuple[Selection, Integers | None]:
        """What to read instead, and the elements of that to select along the last dimension; None: all.

        Elements that are not adjacent along the last dimension would be separate blocks. Everything between them is
        read if this is at most eight times as much."""
        if not self.axes or self.axes[-1].is_run or 0 in self.counts:
            return self, None
        chosen = self.axes[-1].singles()
        first, length = chosen.min(), chosen.max() - chosen.min() + 1
        if length > 8 * len(chosen):
            return self, None
        return Selection((*self.axes[:-1], Axis(_integers([first]), _integers([length])))), chosen - first

    def pieces(self) -> tuple[Integers, Integers, Integers]:
        """Starts, counts and places, shape (blocks, ndim), of the blocks of the runs. The place of a block is its
        position among the selected elements."""
        if 0 in self.counts:
            return _nothing(len(self.axes)), _nothing(len(self.axes)), _nothing(len(self.axes))
        if all(axis.is_run for axis in self.axes):  # nearly always
            starts, counts = _integers([[axis.starts[0] for axis in self.axes]]), _integers(
                [[axis.counts[0] for axis in self.axes]]
            )
            return starts, counts, np.zeros_like(starts)
        return (
            _product([axis.starts for axis in self.axes]),
            _product([axis.counts for axis in self.axes]),
            _product([axis.places() for axis in self.axes]),
        )

    @property
    def is_in_order(self) -> bool:
        """Whether its blocks are consecutive in an array in C order. So dimensions after the last one with several runs
        are selected as a whole, and dimensions before it have one element."""
        several = [number for number, axis in enumerate(self.axes) if not axis.is_run]
        return not several or all(bool((axis.counts == 1).all()) for axis in self.axes[: several[-1]])


def select(key: Any, shape: Sequence[int]) -> Selection:
    """The selection of `key` in an array of `shape`. A key has integers, slices, ..., lists of integers and masks of
    one dimension.

    Several lists select in each dimension separately, as in ``numpy.ix_``.
    """
    keys = list(key) if isinstance(key, tuple) else [key]
    given = [number for number, part in enumerate(keys) if part is Ellipsis]
    if len(given) > 1:
        raise IndexError("a selection has one ... at most")
    if len(keys) - len(given) > len(shape):
        raise IndexError(
            f"{counted(len(keys) - len(given), 'index', 'indices')} for {counted(len(shape), 'dimension')}"
        )
    rest = [slice(None)] * (len(shape) - len(keys) + len(given))
    place = given[0] if given else len(keys)
    keys[place : place + len(given)] = rest
    return Selection(tuple(_axis(part, number, length) for number, (part, length) in enumerate(zip(keys, shape))))


def strides_of(array: np.ndarray[Any, Any]) -> Integers | None:
    """The strides along each dimension, in elements. None: a stride is not a multiple of the element size, or 0."""
    apart = [stride if count > 1 else 0 for count, stride in zip(array.shape, array.strides)]
    if any(count > 1 and (stride == 0 or stride % array.itemsize != 0) for count, stride in zip(array.shape, apart)):
        return None
    return _integers(apart) // array.itemsize


def _nothing(ndim: int) -> Integers:
    return np.zeros((0, ndim), np.int64)


def _integers(values: Any) -> Integers:
    return np.asarray(values, dtype=np.int64)


def _product(parts: list[Integers]) -> Integers:
    return np.ascontiguousarray(np.stack(np.meshgrid(*parts, indexing="ij"), axis=-1).reshape(-1, len(parts)))


def _axis(part: Any, number: int, length: int) -> Axis:
    if isinstance(part, slice):
        return _slice(part, length)
    if isinstance(part, (list, np.ndarray)) and np.ndim(part) == 1:
        return _list(np.asarray(part), number, length)
    try:
        if isinstance(part, (bool, np.bool_)):  # numpy adds a dimension for it
            raise TypeError
        index = operator.index(part)
    except TypeError:
        raise TypeError(
            f"dimension {number} is selected by {part!r}; there are integers, slices, ... and lists of integers"
        ) from None
    return Axis(_integers([_within(index, number, length)]), _integers([1]), dropped=True)


def _slice(part: slice, length: int) -> Axis:
    start, stop, step = part.indices(length)
    chosen = range(start, stop, step)
    if step < 0:
        chosen = chosen[::-1]
    if len(chosen) == 0:
        return Axis(_integers([0]), _integers([0]))
    if chosen.step == 1:
        return Axis(_integers([chosen.start]), _integers([len(chosen)]), flipped=step < 0)
    starts = np.arange(chosen.start, chosen.stop, chosen.step)
    return Axis(starts, np.ones_like(starts), flipped=step < 0)


def _list(part: np.ndarray[Any, Any], number: int, length: int) -> Axis:
    if part.dtype == bool:
        if len(part) != length:
            raise IndexError(
                f"the mask of dimension {number} has {counted(len(part), 'entry', 'entries')}, the dimension {length}"
            )
        part = np.flatnonzero(part)
    elif part.size and part.dtype.kind not in "iu":
        raise TypeError(f"dimension {number} is selected by a list of {part.dtype}, not of integers")
    if part.dtype.kind == "u" and part.size:
        _within(int(part.max()), number, length)  # before numpy converts it to another number
    part = part.astype(np.int64)
    for index in part[(part < -length) | (part >= length)][:1]:
        _within(int(index), number, length)
    part = np.where(part < 0, part + length, part)
    if part.size == 0:
        return Axis(_integers([0]), _integers([0]))
    begins = np.flatnonzero(np.concatenate(([True], np.diff(part) != 1)))
    return Axis(part[begins], np.diff(np.append(begins, len(part))))


def _within(index: int, number: int, length: int) -> int:
    if not -length <= index < length:
        raise IndexError(f"index {index} of dimension {number} is out of range: it has {counted(length, 'element')}")
    return index + length if index < 0 else index
