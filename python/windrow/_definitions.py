# SPDX-License-Identifier: BSD-3-Clause
"""Definitions of variables: the arguments of `Group.create_variable`, and those of windrow.h."""

from __future__ import annotations

import operator
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from ._errors import counted, passable
from ._options import fill_text, filters_of, settings_of, text_of
from ._types import dtype_of, enumeration_of, fill_value_of, is_masked, prepared, type_of, unmasked

# The options of windrow_define_variable_with(). It would ignore other options.
_OPTIONS = {
    "byte_order", "chunks", "element_bytes", "enumeration", "extendible", "fill_value", "filters", "null_space",
    "opaque_tag", "split", "split_parts", "text_characters", "text_in_memory", "text_padding",
}  # fmt: skip


# Names of filters in h5py and netCDF4.
_NAMES_ELSEWHERE = {
    "fillvalue": "fill_value=", "compression_opts": "compression_level=", "complevel": "compression_level=",
    "zlib": 'compression="deflate"', "maxshape": "extendible=True, with which the first dimension grows",
    "chunksizes": "chunks=", "dimensions": "dims=", "datatype": "dtype=",
}  # fmt: skip


@dataclass(frozen=True)
class Definition:
    """The definition of a variable in the form of windrow.h."""

    path: str = ""
    number: int = 0  # of its type
    extent: list[int] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)
    dims: list[str] | None = None

    @property
    def is_extendible(self) -> bool:
        return "extendible" in self.settings


@dataclass(frozen=True)
class Arguments:
    """The arguments of `create_variable`, without the name. They are documented there."""

    shape: Sequence[int] | int | None = None
    dtype: Any = None
    data: Any = None
    dims: Sequence[str | None] | None = None
    chunks: Sequence[int] | bool | None = None
    compression: str | int | None = None
    compression_level: int | None = None
    shuffle: bool = False
    fletcher32: bool = False
    fill_value: Any = None
    extendible: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, keywords: Mapping[str, Any]) -> Arguments:
        own = {each.name for each in fields(cls)} - {"options"}
        given = {key: value for key, value in keywords.items() if key in own}
        return cls(**given, options={key: value for key, value in keywords.items() if key not in own})

    def definition(self, path: str) -> Definition:
        """Raises if the arguments contradict each other."""
        self._check_options()
        values = None if self.data is None else np.asarray(self.data)
        wanted = self._type(values)
        extent = self._extent(values)
        number, bytes_each = type_of(wanted)
        settings = self._settings(wanted, number, bytes_each)
        dims = self._dims(extent)
        if values is not None:
            _check_data(self.data, values, extent, number, bytes_each, settings)
        return Definition(path, number, extent, settings, dims)

    def _check_options(self) -> None:
        for key in self.options:
            if key in _NAMES_ELSEWHERE:
                raise ValueError(f"{key} is no option of a variable; here that is {_NAMES_ELSEWHERE[key]}")
            if key not in _OPTIONS:
                raise ValueError(f"{key} is no option of a variable; there are {', '.join(sorted(_OPTIONS))}")

    def _type(self, values: np.ndarray[Any, Any] | None) -> Any:
        if self.dtype is not None:
            return self.dtype
        if values is None:
            raise TypeError("neither dtype nor data are given")
        return str if values.dtype.kind == "U" else values.dtype

    def _extent(self, values: np.ndarray[Any, Any] | None) -> list[int]:
        if self.shape is None and values is None:
            raise TypeError("neither shape nor data are given")
        given = (
            values.shape
            if self.shape is None and values is not None
            else np.atleast_1d(np.asarray(self.shape, object)).tolist()
        )
        return [operator.index(length) for length in given]

    def _settings(self, wanted: Any, number: int, bytes_each: int) -> dict[str, str]:
        filters = filters_of(self.compression, self.compression_level, self.shuffle, self.fletcher32)
        is_native = wanted is str or np.dtype(wanted).isnative
        settings = settings_of(
            {
                "chunks": None if self.chunks is None else "auto" if self.chunks is True else text_of(self.chunks),
                "filters": filters,
                "fill_value": fill_text(self.fill_value, dtype_of({"type": number, "element_bytes": bytes_each})),
                "extendible": self.extendible or None,
                "element_bytes": bytes_each or None,
                "enumeration": enumeration_of(wanted),
                "byte_order": None if is_native else "little" if sys.byteorder == "big" else "big",
                **self.options,
            }
        )
        if self.chunks is True and filters is None:
            raise ValueError("chunks=True chooses chunks for a compression; without one give their shape")
        return settings

    def _dims(self, extent: list[int]) -> list[str] | None:
        if self.dims is None:
            return None
        names = [name or "" for name in self.dims]
        if not all(isinstance(name, str) for name in names):
            raise TypeError("names of dimensions are str")
        if len(names) != len(extent):
            raise ValueError(f"{counted(len(names), 'name')} for {counted(len(extent), 'dimension')}")
        return names


def _check_data(
    data: Any,
    values: np.ndarray[Any, Any],
    extent: list[int],
    number: int,
    bytes_each: int,
    settings: Mapping[str, str],
) -> None:
    """Raise if `data` cannot be written to the variable, before it is defined: a definition cannot be reverted."""
    if settings.get("null_space") == "true":
        raise ValueError("a null space has no elements for data")
    shape = values.shape
    while len(shape) > len(extent) and shape[0] == 1:
        shape = shape[1:]
    fits = len(shape) <= len(extent) and all(
        here in (1, there) for here, there in zip(reversed(shape), reversed(extent))
    )
    if not fits:
        raise ValueError(f"data of {values.shape} does not fit the shape {tuple(extent)}")
    wanted = dtype_of({"type": number, "element_bytes": bytes_each})
    if is_masked(data):
        text = settings.get("fill_value")
        values = unmasked(data, None if text is None else fill_value_of(text, wanted), wanted, "data")
    if wanted.kind == "O":
        texts = np.asarray(data, object).ravel().tolist()  # unchanged, because numpy would convert numbers to text
        if not all(isinstance(text, str) for text in texts):
            raise TypeError("data: its elements are not all str")
        passable(texts)
        return
    prepared(values if wanted.kind == "S" else np.empty(min(values.size, 1), values.dtype), wanted, "data")
    if values.size and values.dtype.kind == "c" != wanted.kind:
        raise TypeError(f"data: elements are {values.dtype}, which cannot become {wanted}")
