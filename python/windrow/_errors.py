# SPDX-License-Identifier: BSD-3-Clause
"""Errors, and how a rank's own errors reach all ranks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import IntEnum
from typing import Any, TypeVar

import numpy as np

Result = TypeVar("Result")


class Code(IntEnum):
    """Kind of the error; see ``enum windrow_code`` of windrow.h."""

    BAD_ARGUMENT = 1
    BAD_STATE = 2
    NOT_FOUND = 3
    EXISTS = 4
    UNSUPPORTED = 5
    BAD_FILE = 6
    NO_PERMISSION = 7
    NO_SPACE = 8
    IO = 9
    OUT_OF_MEMORY = 10
    MPI = 11
    INTERNAL = 12


class WindrowError(Exception):
    """A call failed. A collective call raises the same error on every rank.

    Attributes
    ----------
    code : Code
        The kind of the error.
    rank : int
        The rank of the error; -1: no rank, or all.
    """

    def __init__(self, message: str, code: int = Code.BAD_ARGUMENT, rank: int = -1) -> None:
        super().__init__(message)
        self.code = Code(code)
        self.rank = rank

    def __reduce__(self) -> tuple[type[WindrowError], tuple[str, int, int]]:
        return type(self), (str(self), int(self.code), self.rank)


def counted(number: int, noun: str, plural: str = "") -> str:
    """``1 rank``, ``4 ranks``; ``plural`` if it is not the noun and an s."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def readable(text: str) -> str:
    """`text` in a form that can be sent to other ranks and passed to C, with any content."""
    return text.encode("utf-8", "backslashreplace").decode()


def passable(value: Any) -> None:
    """Raise if C cannot represent an argument: integers of more than 64 bits, text with a NUL or with a lone
    surrogate."""
    if isinstance(value, str):
        if "\0" in value:
            raise ValueError(f"{value!r} has a NUL, which ends a text")
        if readable(value) != value:
            raise ValueError(f"{value!r} has half a character (a lone surrogate), which cannot be stored")
    elif isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise ValueError(f"{value} does not fit into 64 bits")
    elif is_dataclass(value):
        passable([getattr(value, each.name) for each in fields(value)])
    elif isinstance(value, dict):
        passable([*value.keys(), *value.values()])
    elif isinstance(value, (tuple, list)) or isinstance(value, np.ndarray) and value.dtype.kind == "O":
        for part in value.ravel() if isinstance(value, np.ndarray) else value:
            passable(part)


def attempt(action: Callable[[], Result]) -> tuple[Result | None, str]:
    """The result of `action`, or None and an error, which a collective call then reports on all ranks."""
    try:
        result = action()
        passable(result)
        return result, ""
    except KeyError as error:
        return None, readable(str(error.args[0])) if error.args else "a key is missing"
    # an argument may raise any exception, and the other ranks must not wait for this one
    except Exception as error:
        return None, readable(str(error)) or type(error).__name__
