# SPDX-License-Identifier: BSD-3-Clause
"""What the objects of one open file share: the library's file, and the arrays that are on their way."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core


class Handle:
    """An open file as its groups, variables and attributes see it.

    Attributes
    ----------
    core : _core.File
    path, mode : str
    file : File
        Which owns this, and lives as long as any object of it.
    order : int
        Its number among the files of this program in the order in which they are opened, which is the same on all
        ranks.
    held, moving : list
        What is queued, until the flush; what ``flush_begin`` has begun to move.
    copied_bytes : int
    """

    def __init__(self, core: _core.File, path: str, mode: str, file: Any) -> None:
        self.core = core
        self.path = path
        self.mode = mode
        self.file = file
        self.order = 0
        self.held: list[Any] = []
        self.moving: list[Any] = []
        self.copied_bytes = 0

    @property
    def is_open(self) -> bool:
        return self.core.is_open

    @property
    def rank(self) -> int:
        return self.core.rank

    def queue(
        self, put: bool, variable: int, record: int, decomposition: Any, number: int, array: np.ndarray[Any, Any]
    ) -> None:
        """Queue an array, which is kept until the flush. `decomposition`: a `Decomposition`; `record`: -1 for none;
        `number`: of the array's type."""
        self.held.append((array, decomposition))
        self.core.queue(put, variable, record, decomposition._handle, number, array.ctypes.data)

    def flush(self) -> None:
        self.core.flush("")
        self.release()

    def flush_begin(self) -> None:
        self.core.flush_begin("")
        self.moving += self.held
        self.held = []

    def flush_end(self) -> None:
        self.core.flush_end("")
        self.moving = []

    def release(self) -> None:
        """After a call that has moved all. One that failed may never have been made, on ranks in different calls:
        then all is still queued."""
        self.held, self.moving = [], []

    def release_closed(self) -> None:
        if not self.is_open:
            self.release()
