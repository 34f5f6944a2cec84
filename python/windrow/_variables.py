# SPDX-License-Identifier: BSD-3-Clause
"""Variables: arrays of a file, of which each rank reads and writes its part."""

from __future__ import annotations

import operator
from functools import partial
from math import prod
from typing import Any, Literal

import numpy as np

from ._attributes import Attributes
from ._decompositions import Decomposition
from ._errors import Code, WindrowError, attempt, counted, readable
from ._handle import Handle
from ._selections import Selection, select, strides_of
from ._types import REFERENCE, TEXT, dtype_of, fill_value_of, is_masked, number_type, prepared, unmasked

Array = np.ndarray[Any, Any]
_NOWHERE = np.zeros((0, 0), np.int64)
_NOTHING = np.zeros(0)


class Variable:
    """An array in a file. ``v[...]`` reads and ``v[...] = array`` writes what each rank selects, which may be
    nothing. Both are collective. Each is a put or a get and a flush. So the queue is flushed too, and a flush that was
    begun is ended, without a `flush_end`.

    Selections are integers, slices with any step, ``...``, lists of integers and masks of one dimension. Several
    lists select in each dimension separately. ``v[0:0]`` is nothing. If several ranks write the same element, the
    highest rank's is stored.

    Masked elements of an array of `numpy.ma` are stored as the variable's fill value. Without a fill value they are an
    error.

    Arrays with any strides are written without a copy: parts of larger ones, with steps, in Fortran order, reversed.
    Arrays that are broadcast, have another byte order, or are a field of a structure are copied first.
    ``file.copied_bytes`` counts this.

    A null space has neither elements nor a shape. It reads as None, where h5py has an ``Empty``. Only None can be
    written to it."""

    def __init__(self, handle: Handle, number: int) -> None:
        self._handle = handle
        self._number = number

    @property
    def _info(self) -> dict[str, Any]:
        return self._handle.core.variable(self._number)

    @property
    def file(self) -> Any:
        """The `File` of this variable."""
        return self._handle.file

    @property
    def name(self) -> str:
        """Its path, from ``/`` on."""
        return str(self._info["path"])

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self._info["shape"])

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(self._info["elements"])

    @property
    def is_null(self) -> bool:
        """Whether it is a null space."""
        return bool(self._info["is_null"])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type in memory; object for text of any length."""
        return dtype_of(self._info)

    @property
    def dims(self) -> tuple[str, ...]:
        """Names of the dimensions; "" for none."""
        return tuple(self._info["dimensions"])

    @property
    def chunks(self) -> tuple[int, ...] | None:
        """Shape of a chunk; None: not chunked."""
        found = self._info["chunks"]
        return None if found is None else tuple(found)

    @property
    def filters(self) -> str:
        """Filters of chunks, in order: "shuffle,deflate:4"."""
        return str(self._info["filters"])

    @property
    def extendible(self) -> bool:
        return bool(self._info["extendible"])

    @property
    def attrs(self) -> Attributes:
        return Attributes(self._handle, self.name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Variable) and other._handle is self._handle and other._number == self._number

    def __hash__(self) -> int:
        return hash((id(self._handle), self._number))

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a scalar has no length")
        return self.shape[0]

    def __iter__(self) -> Any:
        raise TypeError("a variable is read by v[...]: each step of an iteration would be a collective call")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        values = self[...]
        return np.asarray(values, dtype)

    def __repr__(self) -> str:
        try:
            info = self._info
        except WindrowError:
            return "<windrow.Variable of a closed file>"
        kind = dtype_of(info) if info["type"] else info["unsupported"]
        dims = f" {info['dimensions']}" if any(info["dimensions"]) else ""
        chunks = f", chunks {info['chunks']} {info['filters']}".rstrip() if info["chunks"] else ""
        space = " null space" if info["is_null"] else f" {info['shape']}"
        return readable(f"<windrow.Variable {info['path']}: {kind}{space}{dims}{chunks}>")

    def __getitem__(self, key: Any) -> Any:
        if self._is_texts():
            return self._get_texts(key)
        selection, problem = attempt(lambda: self._select(key))
        read, chosen = (None, None) if selection is None else selection.hull()
        counts = (0,) if read is None else read.counts
        room, failed = attempt(lambda: np.empty(counts, self.dtype))
        out = _NOTHING if room is None else room
        self._move(False, read, out, problem or failed)
        out = out if chosen is None else out[..., chosen]
        assert selection is not None  # else all ranks have raised
        if self.is_null:
            return None
        result = np.flip(out, selection.flipped) if selection.flipped else out
        return result.reshape(selection.shape)[()]  # a scalar is not an array of numpy

    def __setitem__(self, key: Any, value: Any) -> None:
        if self._is_texts():
            self._put_texts(key, value)
            return

        def arguments() -> tuple[Selection, Array]:
            selection = self._select(key)
            if self.is_null:
                return selection, self._nothing(value)
            values = self._unmasked(value)
            self._handle.copied_bytes += values.nbytes if is_masked(value) else 0
            return selection, self._arranged(selection, values)

        ready, problem = attempt(arguments)
        selection, array = ready or (None, _NOTHING)
        self._move(True, selection, array, problem)

    def read(self, decomposition: Decomposition | None = None, out: Array | None = None) -> Array:
        """Read this rank's part of a decomposition. Collective.

        Parameters
        ----------
        decomposition : Decomposition, optional
            None: all of the variable on every rank.
        out : ndarray, optional
            The array to fill. With a decomposition it is contiguous and has the shape
            ``decomposition.array_shape(v.shape)``. Without one it may have any strides.

        Returns
        -------
        ndarray
        """
        if decomposition is None:
            if out is None or self._is_texts() or self.is_null:
                return self._into(out, self[...])
            room = out
            ready, problem = attempt(lambda: (self._select(...), array_to_read(self, self.shape, room, "any")))
            selection, array = ready or (None, _NOTHING)
            self._move(False, selection, array, problem)
            return array
        result, _ = attempt(partial(queue, False, self, out, decomposition))
        self._handle.flush()  # which reports errors of the get on all ranks
        assert result is not None
        return result

    def _into(self, out: Array | None, values: Any) -> Array:
        if values is None:
            raise ValueError(f"{self.name} has a null space: there are no elements to read")
        if out is None:
            return np.asarray(values)
        out[...] = values
        return out

    def write(self, array: Any, decomposition: Decomposition) -> None:
        """Write this rank's part of a decomposition. Collective.

        Parameters
        ----------
        array : array_like, shape ``decomposition.array_shape(v.shape)``
        """
        attempt(lambda: queue(True, self, array, decomposition))
        self._handle.flush()  # which reports errors of the put on all ranks

    def _is_texts(self) -> bool:
        info = self._info
        return bool(info["type"] == REFERENCE or (info["type"] == TEXT and info["element_bytes"] == 0))

    def _fill_value(self) -> Any:
        """The value of missing elements, or None."""
        text = self._info["fill_value"]
        if text:
            return fill_value_of(text, self.dtype)
        given: Any = self.attrs.get("_FillValue")  # as netCDF has it
        return None if given is None or np.size(given) != 1 else np.asarray(given).ravel().astype(self.dtype)[0]

    def _unmasked(self, value: Any) -> Array:
        return unmasked(value, self._fill_value(), self.dtype, self.name) if is_masked(value) else np.asarray(value)

    def _select(self, key: Any) -> Selection:
        try:
            return select(key, self.shape)
        except (IndexError, TypeError) as error:
            raise type(error)(f"{self.name}: {error}") from None

    def _nothing(self, value: Any) -> Array:
        if value is not None:
            raise ValueError(f"{self.name} has a null space: there are no elements to write")
        return _NOTHING

    def _arranged(self, selection: Selection, value: Array) -> Array:
        """`value` with the dimensions of the selection; a copy if windrow.h cannot describe its memory layout."""
        while value.ndim > len(selection.shape) and value.shape[0] == 1:
            value = value[0]
        try:
            whole = value if value.shape == selection.shape else np.broadcast_to(value, selection.shape)
        except ValueError:
            raise ValueError(
                f"{self.name}: an array of {value.shape} does not fit the selection of {selection.shape}"
            ) from None
        given = np.expand_dims(whole, selection.dropped) if selection.dropped else whole
        given = np.flip(given, selection.flipped) if selection.flipped else given
        array = prepared(given, self.dtype, self.name)
        if not array.flags.c_contiguous and strides_of(array) is None:
            array = np.ascontiguousarray(array)
        if not np.may_share_memory(array, value):
            self._handle.copied_bytes += array.nbytes
        return array

    def _move(self, put: bool, selection: Selection | None, array: Array, problem: str) -> None:
        starts, counts, places = (_NOWHERE, _NOWHERE, _NOWHERE) if selection is None else selection.pieces()
        offsets, strides, data = _NOWHERE, _NOWHERE, array.ctypes.data
        follows = array.flags.c_contiguous and (selection is None or selection.is_in_order)
        apart = None if follows or array.size == 0 else strides_of(array)
        if apart is not None:
            # The offset of the lowest element from the first one
            before = int((np.minimum(apart, 0) * (np.array(array.shape) - 1)).sum())
            data += before * array.itemsize
            offsets, strides = places @ apart - before, np.ascontiguousarray(np.broadcast_to(apart, starts.shape))
        kind = number_type(array.dtype)
        number = self._info["type"] if kind is None or array.size == 0 else kind
        self._handle.core.move(put, self._number, starts, counts, offsets, strides, number, data, problem)
        self._handle.release()

    def _write_all(self, data: Any) -> None:
        """Write data that all ranks have: rank 0's is written."""
        if self._is_texts():
            self[...] = data
        elif self._handle.rank == 0:
            self[...] = data
        else:
            self._move(True, None, _NOTHING, "")

    def _get_texts(self, key: Any) -> Any:
        shape, elements, is_null = self.shape, self.size, self.is_null
        selection, problem = attempt(lambda: self._select(key))
        texts = self._handle.core.get_texts(self._number, elements, problem)
        if is_null:
            return None
        assert selection is not None  # else all ranks have raised
        values = np.empty(prod(shape), object)
        values[:] = texts
        return selection.of(values.reshape(shape))[()]

    def _put_texts(self, key: Any, value: Any) -> None:
        def arguments() -> list[str]:
            selection = self._select(key)
            if not selection.is_all(self.shape):
                raise IndexError(f"{self.name}: text of any length is written as a whole: v[...] = texts")
            if self.is_null:
                self._nothing(value)
                return []
            if is_masked(value):
                unmasked(value, None, self.dtype, self.name)
            texts = np.broadcast_to(np.asarray(value, object), selection.shape).ravel().tolist()
            if not all(isinstance(text, str) for text in texts):
                raise TypeError(f"{self.name}: its elements are str")
            return list(texts)

        texts, problem = attempt(arguments)
        self._handle.core.put_texts(self._number, texts or [], problem)


class _Record(Variable):
    """One record of a variable, without the first dimension."""

    def __init__(self, variable: Variable) -> None:
        super().__init__(variable._handle, variable._number)

    @property
    def shape(self) -> tuple[int, ...]:
        return super().shape[1:]


def queue(put: bool, variable: Variable, value: Any, decomposition: Decomposition, record: int | None = None) -> Array:
    """Queue an array to be written or read. If it is refused here, the flush reports the error on the other ranks."""

    def arguments() -> tuple[Array, int]:
        array = array_to_queue(variable if record is None else _Record(variable), decomposition, value, put)
        number = -1 if record is None else operator.index(record)
        if record is not None and number < 0:
            raise ValueError(f"{variable.name}: there is no record {record}")
        return array, number

    handle = variable._handle
    ready, problem = attempt(arguments)
    if ready is None:
        raise refused(handle, problem)
    array, index = ready
    if put and not np.may_share_memory(array, np.asarray(value)):
        handle.copied_bytes += array.nbytes
    kind = number_type(array.dtype)
    handle.queue(put, variable._number, index, decomposition, variable._info["type"] if kind is None else kind, array)
    return array


def refused(handle: Handle, problem: str) -> WindrowError:
    """The error of a put or a get; the next flush reports it on the other ranks."""
    if handle.is_open:
        handle.core.refuse(problem)
    return WindrowError(problem, Code.BAD_ARGUMENT if handle.is_open else Code.BAD_STATE, handle.rank)


def array_to_queue(variable: Variable, decomposition: Decomposition, value: Any, put: bool) -> Array:
    """The array to queue, with the memory layout of the decomposition. Raises if it has another shape."""
    if variable.is_null:
        raise ValueError(f"{variable.name} has a null space: there are no elements to {'write' if put else 'read'}")
    if variable._is_texts():
        raise TypeError(
            f"{variable.name}: text of any length is read and written as a whole, by v[...], on all ranks; it has no "
            "decomposition"
        )
    shape = decomposition.array_shape(variable.shape)
    order = decomposition.order
    if order == "F" and len(variable.shape) != len(decomposition.shape):
        all_of_them, its = len(variable.shape), len(decomposition.shape)
        raise ValueError(
            f"{variable.name} has {counted(all_of_them, 'dimension')}; a decomposition in Fortran order is of all of "
            f"them, not of {its}"
        )
    if not put:
        return array_to_read(
            variable, shape, np.empty(shape, variable.dtype, order) if value is None else np.asarray(value), order
        )
    array = _of_shape(variable, shape, variable._unmasked(value))
    return np.require(prepared(array, variable.dtype, variable.name), requirements=order).reshape(shape, order=order)


def array_to_read(variable: Variable, shape: tuple[int, ...], array: Array, order: Literal["C", "F", "any"]) -> Array:
    """`array`, if elements can be read into it: it is contiguous in `order`, or has any strides. Raises otherwise."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{variable.name}: what is read into is an array of numpy, not {type(array).__name__}")
    _of_shape(variable, shape, array)
    fits = (
        strides_of(array) is not None
        if order == "any"
        else array.flags.c_contiguous
        if order == "C"
        else array.flags.f_contiguous
    )
    if not array.flags.writeable or not (fits or array.flags.c_contiguous and order == "any"):
        wanted = {"C": "contiguous", "F": "contiguous in Fortran order", "any": "of whole elements"}[order]
        raise ValueError(f"{variable.name}: what is read into must be {wanted} and writeable")
    if prepared(array, variable.dtype, variable.name) is not array:
        raise TypeError(f"{variable.name}: elements cannot be read as {array.dtype}")
    return array


def _of_shape(variable: Variable, shape: tuple[int, ...], array: Array) -> Array:
    if array.shape != shape:
        raise ValueError(f"{variable.name}: an array of {array.shape}, where {shape} is needed")
    return array
