# SPDX-License-Identifier: BSD-3-Clause
"""What files of all kinds have in common: how they are opened and closed, and how a rank leaves them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from types import TracebackType
from typing import Any, TypeVar

from . import _core
from ._communicators import communicator_to_write, refused_alone
from ._ends import leave, lost
from ._errors import WindrowError, attempt, readable
from ._handle import OpenHandle
from ._options import settings_of

Self = TypeVar("Self", bound="OpenFile")


def agreed(
    ranks: _core.Communicator,
    path: str | os.PathLike[str],
    mode: str,
    modes: Mapping[str, int],
    comm: Any,
    options: Mapping[str, Any],
) -> tuple[str, int, dict[str, str]]:
    """The path, the mode and the settings of an open, which the ranks have agreed on. Collective."""

    def arguments() -> tuple[str, int, dict[str, str]]:
        if mode not in modes:
            raise ValueError(f"mode {mode!r}: there are {', '.join(modes)}")
        if mode != "r":
            communicator_to_write(comm)
        return os.fsdecode(path), modes[mode], settings_of(options)

    ready, problem = attempt(arguments)
    try:
        ranks.agree(readable(f'open with mode "{mode}"'), problem)  # the modes are other calls after this
    except WindrowError as error:
        if comm is None:
            refused_alone(error, problem)
        raise
    assert ready is not None  # else all ranks have raised
    return ready


class OpenFile:
    """A file that is open, with its ``with`` block. Derived classes set `_handle`."""

    _handle: OpenHandle
    path: str
    mode: str

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._leave(_reason(error))
            return
        try:
            self.close()
        except BaseException as failure:
            # If the other ranks were in another call, the file is still open. They leave it as this rank must: none
            # waits for another.
            self._leave(_reason(failure))
            raise

    def __del__(self) -> None:
        handle = getattr(self, "_handle", None)
        if handle is not None and handle.is_open:
            warnings.warn(f"{self.path} was not closed", ResourceWarning, stacklevel=1)
            if self.size == 1:
                handle.core.abandon("not closed")
            else:
                lost(handle)

    @property
    def rank(self) -> int:
        return self._handle.rank

    @property
    def size(self) -> int:
        return self._handle.core.size

    @property
    def is_open(self) -> bool:
        return self._handle.is_open

    def close(self) -> None:
        """Close. Collective. A closed file is allowed."""
        try:
            self._handle.core.close("")
        finally:
            self._handle.release_closed()

    def _leave(self, reason: str) -> None:
        try:
            leave(self._handle, readable(reason))
        finally:
            self._handle.release_closed()


def _reason(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".rstrip(": ")
