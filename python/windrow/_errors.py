# SPDX-License-Identifier: BSD-3-Clause
"""What can go wrong, and how a rank's own mistakes are handed to all."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import TypeVar

Result = TypeVar("Result")


class Code(IntEnum):
    """What kind of error it was; ``enum windrow_code`` of windrow.h says more of each."""

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
    """A call failed. One that is collective raises the same error on every rank.

    Attributes
    ----------
    code : Code
        What kind of error it was.
    rank : int
        The rank that it came from; -1 when it came from none or from all.
    """

    def __init__(self, message: str, code: int = Code.BAD_ARGUMENT, rank: int = -1) -> None:
        super().__init__(message)
        self.code = Code(code)
        self.rank = rank

    def __reduce__(self) -> tuple[type[WindrowError], tuple[str, int, int]]:
        return type(self), (str(self), int(self.code), self.rank)


def attempt(action: Callable[[], Result]) -> tuple[Result | None, str]:
    """The result of `action`, or None and what is wrong: an argument of a collective call that all ranks shall hear of."""
    try:
        return action(), ""
    except KeyError as error:
        return None, str(error.args[0]) if error.args else "a key is missing"
    except Exception as error:  # whatever an argument does when it is looked at, the other ranks must not wait for this one
        return None, str(error) or type(error).__name__
