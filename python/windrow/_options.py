# SPDX-License-Identifier: BSD-3-Clause
"""Options as keyword arguments: the keys of docs/settings.md with values of Python."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _core
from ._errors import passable


def text_of(value: Any) -> str:
    """A value as text for windrow.h: True is ``true``, (64, 64) is ``64x64``, 1+2j is ``1,2``."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (tuple, list)):
        return "x".join(str(operator.index(part)) for part in value)
    if isinstance(value, complex):
        return f"{value.real!r},{value.imag!r}"
    if isinstance(value, bytes):
        return value.decode()
    return str(value)


def settings_of(options: Mapping[str, Any]) -> dict[str, str]:
    """Options as text, without those that are None. Raises ValueError for an unknown key or value."""
    settings = {key: text_of(value) for key, value in options.items() if value is not None}
    passable(settings)
    problem = _core.problem_of(settings)
    if problem:
        raise ValueError(problem)
    return settings


def fill_text(value: Any, dtype: np.dtype[Any]) -> str | None:
    """The option ``fill_value`` for a variable of `dtype`; None: it has none."""
    if value is None:
        return None
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if dtype.kind == "V" and isinstance(value, (bytes, bytearray, np.void)):
        return "0x" + bytes(value).hex()
    if dtype.kind in "iu" and isinstance(value, (float, np.floating)) and float(value).is_integer():
        value = int(value)
    return text_of(value)


def filters_of(compression: str | int | None, level: int | None, shuffle: bool, fletcher32: bool) -> str | None:
    """The option ``filters`` from the arguments of h5py."""
    if isinstance(compression, bool) or not isinstance(compression, (str, int, type(None))):
        raise TypeError(f"compression is a name or a level of deflate, not {compression!r}")
    if isinstance(compression, int):
        level = compression
    name = "deflate" if isinstance(compression, int) or compression == "gzip" else compression
    parts = ["shuffle"] if shuffle else []
    if name is not None:
        level = {"deflate": 4, "zstd": 3}.get(name) if level is None else level
        parts.append(name if level is None else f"{name}:{level}")
    elif level is not None:
        raise ValueError("a level of compression needs a compression")
    if fletcher32:
        parts.append("fletcher32")
    return ",".join(parts) or None
