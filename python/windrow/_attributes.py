# SPDX-License-Identifier: BSD-3-Clause
"""Attributes of a variable, a group or the file, as a mapping."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

import numpy as np

from ._errors import attempt, readable
from ._handle import Handle
from ._options import settings_of
from ._types import REFERENCE, TEXT, dtype_of, enumeration_of, is_masked, type_of


class Attributes(MutableMapping[str, Any]):
    """Attributes of one object. Reading is local. Setting and deleting are collective, and rank 0's value is stored.

    Values are numbers, text, arrays and lists of these. Text of fixed length is also str. A null space is None."""

    def __init__(self, handle: Handle, path: str) -> None:
        self._handle = handle
        self._path = path

    def __getitem__(self, name: str) -> Any:
        info = self._describe().get(name)
        if info is None:
            raise KeyError(f"{self._path} has no attribute {name!r}")
        core = self._handle.core
        if info["is_null"]:
            return None
        if info["type"] in (TEXT, REFERENCE):
            texts = core.get_attribute_texts(self._path, name, info["type"], info["elements"])
            return texts[0] if info["shape"] == () else np.array(texts, dtype=object).reshape(info["shape"])
        values = np.empty(info["shape"], dtype_of(info))
        core.get_attribute(self._path, name, info["type"], values.ctypes.data)
        return values[()]

    def __setitem__(self, name: str, value: Any) -> None:
        self.create(name, value)

    def create(self, name: str, value: Any, dtype: Any = None, **options: Any) -> None:
        """Set an attribute of a given type. Collective; rank 0's value and options are used.

        Parameters
        ----------
        value : number, text or array_like
            None: no elements, with ``null_space=True``.
        dtype : dtype, optional
            As for `create_variable`: "S8" is text of 8 bytes, ">f4" is stored in big-endian order. None: of `value`.
        **options
            "enumeration", "text_characters", "text_padding", "opaque_tag", "byte_order", "null_space"
            (docs/settings.md).
        """
        core = self._handle.core
        _, wrong = attempt(lambda: _name(name))
        made, problem = attempt(lambda: _stored(value, dtype, options))
        # Only rank 0's value is used; all ranks must make the same call.
        problem = wrong or (problem if core.rank == 0 else "")
        stored, number, settings = made or (np.zeros(()), 0, {})
        core.agree("set attribute", problem and f"attribute {name!r} of {self._path}: {problem}")
        if stored.dtype.kind == "O":
            core.put_attribute_texts(self._path, name, list(stored.shape), list(stored.ravel()), settings, "")
        else:
            core.put_attribute(self._path, name, number or 1, list(stored.shape), stored.ctypes.data, settings, "")

    def copy(self, source: Attributes, name: str) -> None:
        """Copy an attribute from another file as stored there. The file is open on every rank. Collective; rank 0's is
        copied."""

        def arguments() -> tuple[Attributes, str]:
            if not source._handle.is_open:
                raise ValueError(f"{source._handle.path} is closed")
            return source, _name(name)

        ready, problem = attempt(arguments)
        found, known = ready or (self, "")
        self._handle.core.copy_attribute(self._path, found._handle.core, found._path, known, problem)

    def __delitem__(self, name: str) -> None:
        if name not in self._describe():
            raise KeyError(f"{self._path} has no attribute {name!r}")
        self._handle.core.delete_attribute(self._path, name, "")

    def __contains__(self, name: object) -> bool:
        return name in self._describe()

    def __iter__(self) -> Iterator[str]:
        """The attributes that can be read, without those of an unknown type."""
        return (name for name, info in self._describe().items() if info["type"] or info["is_null"])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return readable(f"<attributes of {self._path}: {', '.join(self) or 'none'}>")

    def _describe(self) -> dict[str, dict[str, Any]]:
        core = self._handle.core
        described = (core.attribute(self._path, number) for number in range(core.attribute_count(self._path)))
        return {info["name"]: info for info in described}


def _name(name: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"names are str, not {type(name).__name__}")
    return name


def _stored(value: Any, dtype: Any, options: Mapping[str, Any]) -> tuple[np.ndarray[Any, Any], int, dict[str, str]]:
    """An array for windrow.h, of numbers or of str as objects, with the number of its type and its options."""
    if value is None and options.get("null_space"):
        return np.zeros(()), type_of(dtype)[0], settings_of(options)
    if is_masked(value):
        raise ValueError("its value is masked in part, and an attribute has no fill value: give values.filled(...)")
    array = np.asarray(value)
    wanted = np.dtype(object if dtype is str else array.dtype if dtype is None else dtype)
    if wanted.kind == "O":
        type_of(wanted)
    if wanted.kind == "S" and dtype is not None:
        return _texts(array), TEXT, settings_of({"element_bytes": wanted.itemsize, **options})
    if wanted.kind in "SUO":
        return _texts(array), TEXT, settings_of(options)
    number, bytes_each = type_of(wanted)
    order = None if wanted.isnative or dtype is None else "little" if sys.byteorder == "big" else "big"
    settings = settings_of(
        {"element_bytes": bytes_each or None, "byte_order": order, "enumeration": enumeration_of(wanted), **options}
    )
    return np.ascontiguousarray(_held(array, wanted.newbyteorder("="))).reshape(array.shape), number, settings


def _held(array: np.ndarray[Any, Any], wanted: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """`array` converted to another type. Raises if a value does not fit. Floating-point numbers are rounded."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy only warns of some errors
        made = array.astype(wanted, copy=False)
    if made.dtype == array.dtype or array.dtype.kind not in "biufc" or wanted.kind not in "biufc":
        return made
    for old, new in zip(array.ravel().tolist(), made.ravel().tolist()):
        is_lost = old != new if wanted.kind in "biu" else np.isfinite(old) and not np.isfinite(new)
        if is_lost or (wanted.kind != "c" and isinstance(old, complex) and old.imag != 0):
            raise ValueError(f"{old} does not fit into {wanted}")
    return made


def _texts(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8").reshape(array.shape)  # of some empty ones decode() loses the shape
    texts = np.empty(array.shape, object)
    for place in np.ndindex(array.shape):
        if not isinstance(array[place], str):
            raise TypeError(f"{type(array[place]).__name__} cannot be stored: there are numbers and text")
        texts[place] = str(array[place])
    return texts
