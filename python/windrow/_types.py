# SPDX-License-Identifier: BSD-3-Clause
"""numpy's types and those of windrow.h."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _core
from ._errors import counted

TEXT, OPAQUE, REFERENCE = _core.TEXT, _core.OPAQUE, _core.REFERENCE
_NUMBERS = (*range(1, TEXT), *range(TEXT + 1, OPAQUE), _core.FLOAT16)
_TYPES = {_core.type_name(number): number for number in _NUMBERS}
_masks: Any = np.ma  # which has no types
_SUPPORTED = ", ".join(_TYPES) + ', "S8" (text of 8 bytes), "V8" (opaque bytes), str (text of any length)'

# enum windrow_cell, by the names of meshio and of windrow.h.
CELLS = {
    "triangle": 4, "quad": 5, "quadrilateral": 5, "tetra": 6, "tetrahedron": 6, "pyramid": 7, "wedge": 8,
    "hexahedron": 9, "mixed": 112,
}  # fmt: skip


def type_of(dtype: Any) -> tuple[int, int]:
    """The number of the type of a new variable, and the bytes of text and opaque elements of fixed length, else 0."""
    if dtype is str:
        return TEXT, 0
    given = np.dtype(dtype)
    if given.kind == "O":
        _check_objects(given)
        return TEXT, 0
    if given.kind in "SV" and given.names is None and given.subdtype is None:
        if given.itemsize == 0:
            raise TypeError(f"{given!r} has no length: give one, as in 'S8', or str for text of any length")
        return (TEXT if given.kind == "S" else OPAQUE), given.itemsize
    if given.kind == "U":
        raise TypeError(
            f"{given!r}: text is stored as bytes: give dtype='S{max(given.itemsize, 4)}' and encode it, or str for "
            "text of any length"
        )
    if given.name not in _TYPES:
        raise TypeError(f"{given!r} cannot be stored; there are {_SUPPORTED}")
    return _TYPES[given.name], 0


def _said_of(dtype: np.dtype[Any]) -> dict[str, Any]:
    """Metadata of a type from h5py."""
    return {} if dtype.metadata is None else dict(dtype.metadata)


def _check_objects(dtype: np.dtype[Any]) -> None:
    """Raise if h5py's metadata declares objects as something other than text."""
    said = _said_of(dtype)
    base = said.get("vlen", str)
    if "ref" in said:
        raise TypeError(f"references ({said['ref'].__name__} of h5py) cannot be stored; there are {_SUPPORTED}")
    if base not in (str, bytes):
        raise TypeError(f"arrays of any length, of {np.dtype(base)!r}, cannot be stored; there are {_SUPPORTED}")


def enumeration_of(dtype: Any) -> str | None:
    """The option ``enumeration`` for an enumeration type of h5py; None for other types."""
    members = None if dtype is str else _said_of(np.dtype(dtype)).get("enum")
    if members is None:
        return None
    for name in members:
        if not isinstance(name, str) or "=" in name or "\n" in name:
            raise ValueError(f"{name!r} of the enumeration: its names are text without an equals sign and line ends")
    return "\n".join(f"{name}={int(value)}" for name, value in members.items())


def number_type(dtype: np.dtype[Any]) -> int | None:
    """The type of windrow.h for elements in memory; None: there is none, or the byte order is another."""
    return _TYPES.get(dtype.name) if dtype.isnative else None


def dtype_of(info: Mapping[str, Any]) -> np.dtype[Any]:
    """The type in memory for a type in a file. Text of any length and references are objects of str."""
    if info["type"] == TEXT and info["element_bytes"] > 0:
        return np.dtype(f"S{info['element_bytes']}")
    if info["type"] in (TEXT, REFERENCE):
        return np.dtype(object)
    if info["type"] == OPAQUE:
        return np.dtype(f"V{info['element_bytes']}")
    if info["type"] == 0:
        raise TypeError(f"elements cannot be read yet: {info['unsupported']}")
    return np.dtype(_core.type_name(info["type"]))


def prepared(array: np.ndarray[Any, Any], wanted: np.dtype[Any], name: str) -> np.ndarray[Any, Any]:
    """`array` if windrow.h accepts its elements for a variable of `wanted`, else a converted copy."""
    if array.size == 0 and array.dtype != wanted and (wanted.kind in "SV" or number_type(array.dtype) is None):
        return np.empty(array.shape, wanted)  # a plain [] has a default type
    if wanted.kind == "S":
        return _text(array, wanted, name)
    if wanted.kind == "V":
        if array.dtype != wanted:
            raise TypeError(f"{name}: elements are {array.dtype}, the variable has {wanted}")
        return array
    if number_type(array.dtype) is not None:
        return array
    if array.dtype.kind in "biufc" and array.dtype.newbyteorder("=").name in _TYPES:
        return array.astype(array.dtype.newbyteorder("="))
    raise TypeError(f"{name}: elements are {array.dtype}, which cannot become {wanted}")


def _text(array: np.ndarray[Any, Any], wanted: np.dtype[Any], name: str) -> np.ndarray[Any, Any]:
    if array.dtype.kind in "UO":
        others = [part for part in array.ravel().tolist() if not isinstance(part, (str, bytes))]
        if others:
            raise TypeError(f"{name}: an element is {type(others[0]).__name__}, the variable has text")
        array = np.char.encode(array.astype(str), "utf-8")
    if array.dtype.kind != "S":
        raise TypeError(f"{name}: elements are {array.dtype}, the variable has text")
    if array.dtype.itemsize > wanted.itemsize and array.size and np.char.str_len(array).max() > wanted.itemsize:
        raise ValueError(
            f"{name}: a text of {counted(np.char.str_len(array).max(), 'byte')} does not fit into {wanted.itemsize}"
        )
    return array if array.dtype == wanted else array.astype(wanted)


def fill_value_of(text: str, dtype: np.dtype[Any]) -> Any:
    """The element of the option ``fill_value``."""
    if dtype.kind == "V":
        return np.frombuffer(bytes.fromhex(text[2:]), dtype)[0]
    if dtype.kind == "S":
        return np.array(text.encode(), dtype)[()]
    if dtype.kind == "c":
        return dtype.type(complex(*map(float, text.split(","))))
    return np.bool_(text == "true") if dtype.kind == "b" else dtype.type(int(text) if dtype.kind in "iu" else text)


def is_masked(value: Any) -> bool:
    """Whether it is an array of `numpy.ma` with masked elements."""
    return bool(_masks.is_masked(value))


def unmasked(value: Any, fill_value: Any, wanted: np.dtype[Any], name: str) -> np.ndarray[Any, Any]:
    """`value` as an array, with the fill value of the variable where it is masked; `wanted` None: there is none."""
    if not is_masked(value):
        return np.asarray(value)
    data, mask = _masks.getdata(value), _masks.getmaskarray(value)
    if fill_value is None:
        missing = f"{mask.sum()} of {mask.size} elements are masked, and there is no fill value for them"
        raise ValueError(f"{name}: {missing}: give the variable one, or write values.filled(...)")
    if mask.all():
        return np.full(mask.shape, fill_value, wanted)
    if wanted.kind in "SV":
        filled: np.ndarray[Any, Any] = data.astype(object) if wanted.kind == "S" else data.copy()
        filled[mask] = fill_value.decode() if wanted.kind == "S" else fill_value
        return filled
    candidates = [data.dtype, np.promote_types(data.dtype, wanted)] if data.dtype.kind in "biufc" else []
    if data.dtype.kind in "iu" and wanted.kind in "iu":
        rest, limits = data[~mask], np.iinfo(wanted)
        candidates += [wanted] if limits.min <= int(rest.min()) and int(rest.max()) <= limits.max else []
    for dtype in candidates:
        if wanted.kind == "c" != dtype.kind:
            continue
        with np.errstate(all="ignore"):
            element = np.asarray(fill_value).astype(dtype)
        # NaN is not equal to NaN
        if (
            element.item() == fill_value.item()
            or element.item() != element.item()
            and fill_value.item() != fill_value.item()
        ):
            return np.where(mask, element, data.astype(dtype, copy=False))
    raise TypeError(
        f"{name}: elements are {data.dtype} and in part masked, which cannot hold the fill value {fill_value}: write "
        f"elements of {wanted}"
    )
